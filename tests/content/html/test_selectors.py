"""Selectors weigh what the standard says, and are about what browsers take them to be about."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.selectors import Matcher, decorated, may_fit, parse_selector

TREE = LexborHTMLParser(
    "<div id=d class='a x'><p class=b>1</p>text<p class='b c' data-k='v w'>2</p>"
    "<section><p class='md:h' lang=en>3</p><i>4</i></section><p>5</p></div>"
)


def about(selector: str) -> str:
    read = parse_selector(selector)
    if read is None:
        return "none"
    matcher = Matcher(TREE)
    return "".join(
        node.text(deep=False).strip() or str(node.tag)
        for node in TREE.css("body *")
        if matcher.fits(node, read)
    )


@pytest.mark.parametrize(
    ("selector", "texts"),
    [
        ("i", "4"),
        (".b", "12"),
        ("p.b.c", "2"),
        ("#d > p", "125"),
        ("#d p", "1235"),
        (".b + .b", "2"),
        (".b ~ p", "25"),
        (".a section p", "3"),
        (".b section p", ""),
        ("div > section > i", "4"),
        ("p + section i", "4"),
        (r".md\:h", "3"),
        ("[data-k]", "2"),
        ("[data-k~=w]", "2"),
        ("p[lang|=en]", "3"),
        ("p:not(.b)", "35"),
        (":is(.c,i)", "24"),
        (":where(p.c)", "2"),
        ("p:first-child", "13"),
        ("div>p:nth-child(2n)", "25"),
        ("div > p:nth-child( -n + 2 )", "12"),
        ("p:nth-child(1)", "13"),
        ("div p:nth-child(odd)", "13"),
        (":root .c", "2"),
        (".b:not(:hover)", "12"),
        (".b:hover", "none"),
        (".b::before", "none"),
        (".b:has(i)", "none"),
        ("p:not(.a .b)", "none"),
        ("p >", "none"),
        (r"\.b", "none"),
        (r"\[data-k", "none"),
        ("#d#e", ""),
        ("", "none"),
        ("p" + " p" * 40, "none"),
    ],
)
def test_a_selector_is_about(selector: str, texts: str):
    assert about(selector) == texts


@pytest.mark.parametrize(
    ("selector", "weight"),
    [
        ("p", (0, 0, 1)),
        ("*", (0, 0, 0)),
        (".a.a", (0, 2, 0)),
        ("#i .a > p", (1, 1, 1)),
        ("[x=y]", (0, 1, 0)),
        ("p:first-child", (0, 1, 1)),
        ("p:nth-child(2n)", (0, 1, 1)),
        (":is(#i,.a) p", (1, 0, 1)),
        (":where(#i)", (0, 0, 0)),
        ("p:not(.a,b)", (0, 1, 1)),
        (":not(:is(#i))", (1, 0, 0)),
    ],
)
def test_a_selector_weighs(selector: str, weight: tuple[int, int, int]):
    read = parse_selector(selector)
    assert read is not None
    assert read.weight == weight


def test_what_a_page_has_not_is_told_from_names():
    assert may_fit("p:not(.z) .a[class='.y']", {"a"})
    assert may_fit(r".md\:h", {"md:h"})
    assert not may_fit(".a .z", {"a"})


def test_the_decoration_of_an_element_is_told():
    assert decorated("p .a::before") == "p .a"
    assert decorated("p:after") == "p"
    assert decorated("p::marker") is None


def test_too_many_questions_are_noticed():
    deep = LexborHTMLParser("<p>" * 100)
    matcher = Matcher(deep)
    selectors = [read for number in range(400) if (read := parse_selector(f"p:not(.c{number})"))]
    nodes = deep.css("p")
    found = [matcher.fits(nodes[0], selector) for selector in selectors]
    assert found[:200] == [True] * 200
    assert not found[-1]
    assert matcher.is_exhausted

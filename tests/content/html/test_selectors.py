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


SELECTORS = {
    "4": ["i", "div > section > i", "p + section i"],
    "12": [".b", "div > p:nth-child( -n + 2 )", ".b:not(:hover)"],
    "2": ["p.b.c", ".b + .b", "[data-k]", "[data-k~=w]", ":where(p.c)", ":root .c"],
    "125": ["#d > p"],
    "1235": ["#d p"],
    "25": [".b ~ p", "div>p:nth-child(2n)"],
    "3": [".a section p", r".md\:h", "p[lang|=en]"],
    "": [".b section p", "#d#e"],
    "35": ["p:not(.b)"],
    "24": [":is(.c,i)"],
    "section": ["section:has(i)", "section:has(> i)"],
    "13": ["p:first-child", "p:nth-child(1)", "div p:nth-child(odd)"],
    "none": [
        ".b:hover", ".b::before", "p:has(~ i)", "p:has(.a .b)", "div:has(p:has(i))", "p:not(.a .b)", "p >", r"\.b", r"\[data-k", "",
        "p" + " p" * 40,
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "texts"),
    [(selector, texts) for texts, selectors in SELECTORS.items() for selector in selectors],
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
        ("p:has(> #i)", (1, 0, 1)),
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

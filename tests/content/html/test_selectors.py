"""The specificity of selectors, and the elements that they match."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.selectors import MAX_VISITS, Matcher, key_of, may_fit, weigh

TREE = LexborHTMLParser(
    "<div id=d class='a x'><p class=b>1</p>text<p class='b c' data-k='v w'>2</p>"
    "<section><p class='md:h' lang=en>3</p><i>4</i></section><p>5</p></div>"
)


def about(selector: str) -> str:
    found = Matcher(TREE).find(selector)
    return "".join(
        node.text(deep=False).strip() or str(node.tag)
        for node in TREE.css("body *")
        if node.mem_id in found
    )


SELECTORS = {
    "4": ["i", "div > section > i", "p + section i"],
    "12": [".b", "div > p:nth-child( -n + 2 )", ".b:not(:hover)"],
    "2": ["p.b.c", ".b + .b", "[data-k]", "[data-k~=w]", ":where(p.c)", ":root .c"],
    "125": ["#d > p"],
    "1235": ["#d p"],
    "25": [".b ~ p", "div>p:nth-child(2n)"],
    "3": [".a section p", r".md\:h", "p[lang|=en]"],
    "35": ["p:not(.b)"],
    "24": [":is(.c,i)"],
    "5": ["div > p:last-child", ".b ~ p:not(.b)", "div > p:nth-last-child(1)", ".b + section ~ p"],
    "section": ["section:has(i)", "section:has(> i)"],
    "13": ["p:first-child", "p:nth-child(1)", "div p:nth-child(odd)"],
    "": [
        ".b section p", "#d#e",
        ".b:hover", ".b::before", "p:has(~ i)", "p:has(.a .b)", "div:has(p:has(i))", "p:not(.a .b)", "p >", r"\.b", r"\[data-k", "",
        "p" + " p" * 40, "#d section:nth-child(n+) i",
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
    assert weigh(selector) == weight


def test_what_a_page_has_not_is_told_from_names():
    assert may_fit("p:not(.z) .a[class='.y']", {"a"})
    assert may_fit(r".md\:h", {"md:h"})
    assert not may_fit(".a .z", {"a"})


@pytest.mark.parametrize(
    ("selector", "key"),
    [
        ("#x p.b.a", ".a"),
        ("p .a#i", "#i"),
        ("div > P", "p"),
        (".a:not(.b)", ".a"),
        (".a:first-child > *", "*"),
        ("[x=y]", "*"),
        (r".md\:h", "*"),
        (".a:hover", ""),
        (".a::before", ""),
    ],
)
def test_a_key_is_what_all_that_a_selector_is_about_have(selector: str, key: str):
    assert key_of(selector) == key


def test_too_many_questions_are_noticed():
    matcher = Matcher(LexborHTMLParser("<p>" * 1_000))
    many = MAX_VISITS // 1_000
    found = [bool(matcher.find(f"p:not(.c{number})")) for number in range(2)]
    assert found == [True, True]
    assert not matcher.is_exhausted
    assert not matcher.spend(many * 1_000)
    assert not matcher.find("p:not(.late)")
    assert matcher.is_exhausted

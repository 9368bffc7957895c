"""The measures of elements, and how they are kept up to date."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.main import text_density as measuring
from searx_mcp.content.main.boilerplate import take_out_chrome, take_out_named
from searx_mcp.content.main.sections import take_out_sections
from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import Element, live, measure
from searx_mcp.content.tree import RemovalRule
from searx_mcp.models.page import PageKind

LONG = "A sentence that is long enough to read as prose. "


def elements(html: str) -> tuple[LexborHTMLParser, list[Element]]:
    tree = LexborHTMLParser(html)
    assert tree.body is not None
    return tree, measure(tree.body)


@pytest.mark.parametrize(
    ("html", "text", "linked", "links", "prose"),
    [
        pytest.param("<p>abc</p>", 3, 0, 0, 0, id="label"),
        pytest.param(f"<p>{'x' * 30}</p>", 30, 0, 0, 30, id="prose"),
        pytest.param(f"<div>{'x' * 30}<br>{'x' * 30}</div>", 60, 0, 0, 60, id="bare text"),
        pytest.param(f"<p>{'x' * 20}<b>{'x' * 20}</b></p>", 40, 0, 0, 40, id="inline"),
        pytest.param(f"<p><a>{'x' * 30}</a></p>", 30, 30, 1, 0, id="link"),
        pytest.param("<p>ab <a>cd</a> <a></a></p>", 4, 2, 1, 0, id="empty link"),
        pytest.param(f"<a><div>{'x' * 30}</div></a>", 30, 30, 1, 0, id="block in a link"),
        pytest.param("<p>  \n </p><!-- x -->", 0, 0, 0, 0, id="blank"),
    ],
)
def test_what_an_element_holds(html: str, text: int, linked: int, links: int, prose: int):
    _, found = elements(html)
    page = found[0]
    assert (page.text, page.linked, page.links, page.prose) == (text, linked, links, prose)


def test_what_is_taken_out_no_longer_counts_and_can_be_put_back():
    _, found = elements(f"<div><p>{LONG}</p><ul><li><a>one</a><li>two</ul></div>")
    names = ("text", "linked", "links", "prose", "elements")
    before = [[getattr(element, name) for name in names] for element in found]
    inner, outer = found[5], found[1]
    assert inner.take_out(RemovalRule.NAMED)
    assert outer.take_out(RemovalRule.NAMED)
    assert found[0].text == found[0].elements == 0
    assert not inner.take_out(RemovalRule.NAMED)
    assert not found[2].take_out(RemovalRule.NAMED)
    outer.put_back()
    inner.put_back()
    assert [[getattr(element, name) for name in names] for element in found] == before


def test_live_elements_may_be_taken_out_on_the_way():
    _, found = elements("<div><p>a</p><nav><b>b</b></nav><p>c</p></div>")
    seen = []
    for element in live(found):
        seen.append(element.tag)
        if element.tag == "nav":
            element.take_out(RemovalRule.NAMED)
    assert seen == ["body", "div", "p", "nav", "p"]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("<div class=card><h3><a href=/>Mill</a></h3></div>", id="cards"),
        pytest.param("<h3>Related posts</h3><p>x</p>", id="headings that lead away"),
        pytest.param("<p class=byline>x</p>", id="names"),
        pytest.param("<header><b>x</b></header>", id="headers"),
    ],
)
def test_the_work_grows_with_the_page_and_not_faster(part: str, monkeypatch):
    steps = 0

    def counted(self: Element):
        nonlocal steps
        above = self.parent
        while above is not None:
            steps += 1
            yield above
            above = above.parent

    monkeypatch.setattr(measuring.Element, "ancestors", counted)

    def work(count: int) -> int:
        nonlocal steps
        steps = 0
        tree, found = elements(f"<main>{f'<p>{LONG * 3}</p>' * count}{part * count}</main>")
        shapes = Shapes(found, "")
        take_out_chrome(found, shapes, is_forum=False)
        take_out_named(found, PageKind.ARTICLE, shapes)
        take_out_sections(found, PageKind.ARTICLE, shapes)
        del tree
        return steps

    assert work(400) <= 4.5 * work(100) + 100

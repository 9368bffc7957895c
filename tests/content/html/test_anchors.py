"""Which fragment leads to a heading."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.anchors import MARK, mark_anchors


def anchors(html: str) -> list[str]:
    tree = LexborHTMLParser(html)
    mark_anchors(tree)
    assert tree.body is not None
    return [node.attributes.get(MARK) or "" for node in tree.css(f"[{MARK}]")]


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        pytest.param("<h2 id=a>T</h2>", "a", id="on the heading"),
        pytest.param("<h2><span id=a>T</span></h2>", "a", id="on a child, as MediaWiki did"),
        pytest.param("<h2><a name=a></a>T</h2>", "a", id="a named link in it"),
        pytest.param("<a id=a></a><h2>T</h2>", "a", id="an empty link before"),
        pytest.param("<a name=a></a>\n<h2>T</h2>", "a", id="a named one"),
        pytest.param("<p><a id=a></a></p>\n<h2>T</h2>", "a", id="in a paragraph"),
        pytest.param("x<span id=a></span> <h2>T</h2>", "a", id="an empty span before"),
        pytest.param("<section id=a><h2>T</h2></section>", "a", id="a section around"),
        pytest.param("<div id=a>\n<header><h2>T</h2></header></div>", "a", id="farther around"),
        pytest.param(
            '<h2 id=user-content-a>T<a class=anchor href="#a"></a></h2>', "a", id="as on GitHub"
        ),
        pytest.param(
            '<section id=b><h2>T<a class=headerlink href="#%C3%A9">¶</a></h2></section>',
            "é",
            id="its own link",
        ),
        pytest.param('<h2 id=a><a href="#toc">T</a></h2>', "a", id="a link elsewhere"),
        pytest.param("<section id=a><p>x</p><h2>T</h2></section>", "", id="not the beginning"),
        pytest.param("<a id=a>text</a><h2>T</h2>", "", id="a link with text"),
        pytest.param("<p>x</p><h2>T</h2>", "", id="none"),
        pytest.param("<h2 id='a b'>T</h2>", "", id="no fragment"),
        pytest.param(f"<h2 id={'a' * 500}>T</h2>", "", id="too long"),
        pytest.param("<h2 data-anchor=a>T</h2>", "", id="not what the page puts in our place"),
    ],
)
def test_a_heading_is_found_by(html: str, anchor: str):
    assert anchors(html) == [anchor]


def test_only_the_first_heading_of_a_section_is_its_own():
    assert anchors("<section id=a><h2>T</h2><h3>U</h3><h3 id=c>V</h3></section>") == ["a", "", "c"]


def test_headings_keep_what_was_noted_when_their_links_are_gone():
    tree = LexborHTMLParser('<h1>A<a href="#x">#</a></h1><h2>B</h2>')
    mark_anchors(tree)
    for link in tree.css("a"):
        link.decompose()
    assert tree.body is not None
    assert [node.attributes.get(MARK) for node in tree.css(f"[{MARK}]")] == ["x", ""]


@pytest.mark.parametrize(
    ("unit", "headings"),
    [
        ("<h2>", 3_000),
        ("<div><h2>", 1),  # the parser puts what follows into the first
        ("<a id=x></a>", 0),
        ("<span><h1>x", 1),
        ("<section>", 0),
    ],
)
def test_many_elements_are_walked_through(unit: str, headings: int):
    assert len(anchors(unit * 3_000)) == headings

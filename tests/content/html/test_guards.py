"""What is taken from a page before the parser sees it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.guards import MAX_ATTRIBUTES, MAX_DEPTH, MAX_FORMATTING, guard


def depth_of(html: str) -> int:
    """The deepest nesting that the parser makes of a page."""
    deepest = depth = 0
    node: LexborNode | None = LexborHTMLParser(html).root
    while node is not None:
        deepest = max(deepest, depth)
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None
    return deepest


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("", id="empty"),
        pytest.param("<!doctype html><p>a<br>b<img src=x>", id="void elements"),
        pytest.param("<p>x" * 3_000, id="paragraphs without an end"),
        pytest.param("<ul>" + "<li><p>x" * 3_000, id="items without an end"),
        pytest.param("<dl>" + "<dt>a<dd>b" * 3_000, id="terms without an end"),
        pytest.param("<table>" + "<tr><td>x<td>y" * 3_000, id="rows without an end"),
        pytest.param("<select>" + "<option>x" * 3_000, id="options without an end"),
        pytest.param("<div><span>x</div>" * 3_000, id="inner elements without an end"),
        pytest.param("<script>" + "'<div>';" * 3_000 + "</script>x", id="markup in a script"),
        pytest.param("<style>" + "<div>" * 3_000, id="a style without an end"),
        pytest.param("<!--" + "<div>" * 3_000 + "-->x", id="markup in a comment"),
        pytest.param("<!--" + "<div>" * 3_000, id="a comment without an end"),
        pytest.param(f"<a title='{'>' * 9_000}'>x</a>", id="a long attribute"),
        pytest.param("<b>x</b><i>y</i>" * 3_000, id="formatting"),
        pytest.param("a < b && b > c", id="signs that are no markup"),
    ],
)
def test_ordinary_pages_pass_unchanged(html: str):
    assert guard(html) is html or guard(html) == html


@pytest.mark.parametrize(
    "unit",
    [
        *("<div>", "<ul><li>", "<blockquote>", "<table><tr><td>", "<li><dd>", "<x/>"),
        *("<DIV class='a>b'>", "<span><p>", "<font><p>", "<a><b><i>", "</p><div></br>"),
    ],
)
def test_nesting_is_bounded(unit: str):
    assert depth_of(guard(unit * 3_000 + "end")) <= 3 * MAX_DEPTH
    assert "end" in guard(unit * 3_000 + "end")


def test_formatting_that_is_never_closed_does_not_multiply():
    page = "".join(f"<div><b id={number}>x</div>" for number in range(300))
    tree = LexborHTMLParser(guard(page))
    assert len(tree.css("b")) <= MAX_FORMATTING * 300
    assert tree.text().count("x") == 300


def test_a_tag_of_very_many_attributes_keeps_its_name_only():
    attributes = " ".join(f"attribute{number}=1" for number in range(MAX_ATTRIBUTES + 200))
    assert guard(f"<p {attributes}>text</p>") == "<p>text</p>"


def test_a_svg_goes_whole():
    assert guard("a<svg><svg/><path d='>'/></svg><text>t</text></SVG >b") == "ab"
    assert guard("a<svg><svg>b") == "ab"
    assert guard("a<svg>b</svg x") == "a"


def test_a_tag_without_an_end_ends_the_page():
    assert guard('text<a href="x') == "text"


def test_nul_and_surrogates_are_dropped():
    assert guard("a\0b\ud800c") == "abc"


@given(st.text(alphabet="<>/!-=\"' adivp\0\n", max_size=200))
def test_only_markup_is_dropped(text: str):
    assert len(guard(text)) <= len(text)
    if not re.search(r"<", text):
        assert guard(text) == text.replace("\0", "")

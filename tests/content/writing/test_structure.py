"""Ordinary trees survive the way to Markdown and back."""

from typing import TypeAlias

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.fragments import fragment_markdown
from searx_mcp.content.words import words
from searx_mcp.content.writing.write import write
from searx_mcp.models.style import Style

Shape: TypeAlias = "str | tuple[object, ...]"

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
WORDS = st.lists(
    st.sampled_from(["a", "b1", "1.", "-", "#", "*", "_c_", "d_e", "&lt;f", "[g]", "(h)", "|", "é", "漢字", ">", "`", "~~", "+", "!", "\\"]),
    min_size=1,
    max_size=5,
).map(" ".join)  # fmt: skip
SPANS = st.one_of(
    WORDS,
    st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["strong", "em", "s", "code"]), WORDS),
    st.builds('<a href="https://e.org/x">{}</a>'.format, WORDS),
    st.builds("<strong>{} <em>{}</em> {}</strong>".format, WORDS, WORDS, WORDS),
)
LINES = st.lists(SPANS, min_size=1, max_size=3).map(" x ".join)
CELLS = st.lists(st.builds("<td>{}</td>".format, LINES), min_size=2, max_size=2).map("".join)
LEAVES = st.one_of(
    st.builds("<p>{}</p>".format, LINES),
    st.builds("<p>{}<br>{}</p>".format, LINES, LINES),
    st.builds(
        "<h{0}>{1}</h{0}>".format,
        st.integers(1, 6),
        LINES.filter(lambda line: "<strong" not in line),
    ),
    st.builds(
        "<pre><code class=language-x>{}</code></pre>".format,
        st.lists(WORDS, min_size=1, max_size=4).map("\n\n".join),
    ),
    st.builds("<table><tr><th>h</th><th>{}</th></tr><tr>{}</tr></table>".format, LINES, CELLS),
)


def items(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[str]:
    """Items that hold blocks."""
    one = inner.map("".join).map("<li>{}</li>".format)
    return st.lists(one, min_size=1, max_size=3).map("".join)


BLOCKS = st.recursive(
    st.lists(LEAVES, min_size=1, max_size=3),
    lambda inner: st.lists(
        st.one_of(
            LEAVES,
            inner.map("".join).map("<blockquote>{}</blockquote>".format),
            # A list of nothing but headings with what follows them is sections.
            st.builds("<ul><li>a</li>{}</ul>".format, items(inner)),
            st.builds("<ol start={}>{}</ol>".format, st.integers(0, 12), items(inner)),
        ),
        min_size=1,
        max_size=3,
    ),
    max_leaves=8,
)


def shape(node: LexborNode) -> Shape:
    """Names, texts, and the attributes that count; a paragraph that is alone in an item is its text."""
    tag = node.tag
    if tag == "-text":
        return " ".join((node.text_content or "").split())
    if tag == "pre":
        return ("pre", node.text().strip("\n"))
    parts = [shape(child) for child in node.iter(include_text=True)]
    parts = [part for part in parts if part]
    if tag in {"thead", "tbody", "p"} and (
        tag != "p" or (node.parent is not None and node.parent.tag == "li")
    ):
        return ("", *parts)
    attributes = [
        f"{name}={value}"
        for name, value in node.attributes.items()
        if name in {"href", "start"} and value != "1"
    ]
    flat: list[object] = []
    for part in parts:
        flat += part[1:] if isinstance(part, tuple) and part[0] == "" else [part]
    return (tag, *attributes, *flat)


def body(html: str) -> LexborNode:
    found = LexborHTMLParser(html).body
    assert found is not None
    return found


def markdown(html: str) -> str:
    return write([body(html)], base="https://e.org/", style=Style()).markdown


@settings(deadline=None)
@given(BLOCKS.map("".join))
@example("<ul><li>a</li></ul>" * 3)
@example("<ol><li>a</li></ol>" * 4)
def test_a_page_comes_back_from_its_markdown(html: str):
    assert shape(body(READER.render(markdown(html)))) == shape(body(html))


@settings(deadline=None)
@given(BLOCKS.map("".join))
def test_the_words_are_those_that_the_other_converter_writes(html: str):
    page = html.replace("_", "").replace("\\", "").replace("start=0", "start=1")
    numbered = {word for word in words(markdown(page)) if not word.isdigit()}
    assert numbered == {
        word
        for word in words(fragment_markdown(page, url="https://ex.org/", config=ContentConfig()))
        if not word.isdigit()
    }

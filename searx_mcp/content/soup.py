"""The tree that markdownify is given: what it would get wrong is rewritten before."""

from typing import Final

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

BLOCKS: Final = frozenset({
    "article", "blockquote", "body", "br", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "li", "ol", "p", "pre", "section", "table", "ul",
})  # fmt: skip
"""Text behind or inside one of these starts a line, where `-` and `#` mean something."""

_LINE_NUMBERS: Final = ("linenos", "lineno", "linenodiv", "gutter", "line-numbers-rows")
_LAYOUT_CONTENT: Final = ("table", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
_TABLE_PARTS: Final = ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption")
_CODE: Final = ("code", "kbd", "samp")
_MARKED: Final = {
    **dict.fromkeys(("b", "del", "em", "i", "q", "s", "strong", *_CODE), "span"),
    "dd": "div",
}
"""Elements that put a mark in front of their content, and what they become around code."""

_AS_DIV: Final = (
    "address", "details", "fieldset", "figure", "footer", "form", "header", "main", "nav",
    "summary",
)  # fmt: skip

_PARAGRAPHS: Final = BLOCKS.union(_AS_DIV, _TABLE_PARTS, ["figcaption"]) - {"br"}
"""What ends a paragraph."""


def prepare(soup: BeautifulSoup) -> None:
    """Rewrite what the converter would get wrong, or would need quadratic time for.

    Elements are emptied and renamed, not removed: bs4 looks for an element among all its siblings
    before it takes it out, and 100,000 <br> in one <pre> took minutes.
    """
    for numbers in soup.find_all(class_=_LINE_NUMBERS):
        numbers.clear()
    _prepare_code(soup)
    for item in soup.find_all(["li", "dd"]):
        if not _is_in_place(item):
            item.name = "div"
    for ordered in soup.find_all("ol"):
        # markdownify counts the siblings before each item.
        start = number(ordered.get("start"), default=1, most=999_999_999)
        for offset, item in enumerate(ordered.find_all("li", recursive=False)):
            item["value"] = str(start + offset)
    for block in soup.find_all(_AS_DIV):
        block.name = "div"
    _flatten_layout(soup)


def _prepare_code(soup: BeautifulSoup) -> None:
    in_pre: set[int] = set()
    around: set[int] = set()
    for pre in soup.find_all("pre"):
        _keep_at_margin(pre, around)
        in_pre.update(map(id, pre.find_all(_CODE)))
        for line_break in pre.find_all("br"):
            line_break.append("\n")
        for line in pre.find_all(["div", "p", "li", "tr"]):
            line.append("\n")
    for code in soup.find_all(_CODE):
        if id(code) not in in_pre:
            _keep_on_line(code)


def _keep_at_margin(pre: Tag, seen: set[int]) -> None:
    """Let nothing stand on the line of a fence but the marks of quotes and lists: it would be none.

    Args:
        pre: the block of code.
        seen: ids of the elements around others that were looked at; added to.
    """
    for parent in pre.parents:
        if id(parent) in seen:
            return
        seen.add(id(parent))
        if parent.name in _MARKED:
            parent.name = _MARKED[parent.name]


def _keep_on_line(code: Tag) -> None:
    """Let nothing end a paragraph in code: the rest of it would be markup."""
    if code.find(_PARAGRAPHS) is not None:
        code.name = "span"
        return
    for line_break in code.find_all("br"):
        line_break.name = "span"
        line_break.append(" ")


def _is_in_place(item: Tag) -> bool:
    """Whether the mark of an item would begin a line: it stands in a block, and not behind text."""
    if item.parent is None or item.parent.name not in _PARAGRAPHS:
        return False
    before = item.previous_sibling
    while isinstance(before, NavigableString) and not before.strip():
        before = before.previous_sibling
    return before is None or (isinstance(before, Tag) and before.name in _PARAGRAPHS)


def _flatten_layout(soup: BeautifulSoup) -> None:
    """Turn tables that lay out blocks into blocks: their cells do not fit on a line."""
    layout: set[int] = set()
    for content in soup.find_all(_LAYOUT_CONTENT):
        table = content.find_parent("table")
        # Once a table is known, so are the tables around it.
        while table is not None and id(table) not in layout:
            layout.add(id(table))
            table = table.find_parent("table")
    parts = [
        part
        for part in soup.find_all(_TABLE_PARTS)
        if id(part if part.name == "table" else part.find_parent("table")) in layout
    ]
    for part in parts:
        part.name = "div"


def number(value: object, *, default: int, most: int) -> int:
    """A number out of an attribute; anything else is the default."""
    if (
        isinstance(value, str)
        and value.isascii()
        and value.isdigit()
        and len(value) <= len(str(most))
    ):
        return min(int(value), most)
    return default

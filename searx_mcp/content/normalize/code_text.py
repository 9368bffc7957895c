"""The text of a block of code, without what is shown beside it."""

import re
from textwrap import dedent
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.tree import (
    children,
    classes,
    is_blank,
    is_hidden,
    solid,
    style,
    text_of,
)

MAX_DEPTH: Final = 64
"""Elements inside each other in one block; deeper ones are taken as plain text."""

_UNSEEN: Final = frozenset({
    "button", "style", "script", "svg", "template", "input", "select", "textarea", "noscript",
    "audio", "video", "iframe", "img", "clipboard-copy",
})  # fmt: skip
_BLOCKS: Final = frozenset({
    "div", "p", "li", "tr", "pre", "section", "article", "h1", "h2", "h3", "h4", "h5", "h6", "dd",
})  # fmt: skip
_TABLE: Final = frozenset({"table", "tbody", "thead", "tr"})
_LINE_CLASSES: Final = frozenset({
    "line", "code-line", "view-line", "cm-line", "ace_line", "token-line", "codeline", "code__line",
    "ec-line", "react-code-line",
})  # fmt: skip
_NUMBER_CLASSES: Final = frozenset({
    "linenos", "lineno", "linenumber", "line-number", "line-numbers", "linenumbers", "gutter", "ln",
    "lnt", "line-num", "line-nums", "hljs-ln-numbers", "hljs-ln-n", "blob-num", "rouge-gutter", "gl",
    "react-syntax-highlighter-line-number", "codemirror-linenumber", "codemirror-gutter-wrapper",
    "line-numbers-rows", "line-numbers-wrapper", "linenodiv", "lntd", "crayon-nums", "code-line-number",
    "react-line-number", "cm-gutters", "row-number", "ltx_tag_listingline", "line_number", "line_numbers",
})  # fmt: skip
"""Classes of what holds line numbers; only what is nothing but numbers is taken out."""

_OVER = re.compile(r"tooltip|popover|popup|hover-info|twoslash-meta")
"""In a class: what is shown over code when a reader points at it."""

_BESIDE = re.compile(
    r"copy|clipboard|toolbar|sr-only|visually-hidden|file-?name"
    r"|(?:^|[\s_-])(?:header|caption|lang-label|language-label|code-lang)(?:$|[\s_-])"
)
"""In a class: what stands above or beside code; only what is short is taken out."""

_BESIDE_CHARS: Final = 80
_NUMBERS = re.compile(r"[\s\d.:|]*")
_NOT_SELECTED = re.compile(r"user-select\s*:\s*none")
_SHOWN_AS_LINE = re.compile(r"display\s*:\s*(?:flex|block|grid|table-row)")
_LEADING = re.compile(r"\A(?:[ \t]*\n)+")
_NEWLINES = re.compile(r"\r\n?")


def code_text(root: LexborNode, *, is_indented: bool = False) -> str:
    """The text of a block of code, without empty lines before and behind it.

    Args:
        root: the element that holds it.
        is_indented: whether the page indents it like the rest of its source, so that what all
            lines begin with is no part of it.
    """
    text = _LEADING.sub("", raw_text(root)).rstrip()
    return dedent(text).strip() if is_indented else text


def raw_text(root: LexborNode) -> str:
    """The text of a block of code with the white space it begins and ends with."""
    counted, lines = _counted(root), _Lines()
    todo: list[tuple[LexborNode | None, int]] = [(child, 1) for child in reversed(children(root))]
    while todo:
        node, depth = todo.pop()
        if node is None:
            lines.close()
        elif node.is_text_node:
            lines.text("" if _is_layout(node) else node.text_content or "")
        elif node.tag == "br":
            lines.text("\n")
        elif depth >= MAX_DEPTH:
            lines.text(node.text())
        elif node.is_element_node and not _is_beside(node, counted):
            if is_line(node):
                lines.open(is_block=node.tag in _BLOCKS)
                todo.append((None, depth))
            todo += [(child, depth + 1) for child in reversed(children(node))]
    return _NEWLINES.sub("\n", lines.value()).replace("\xa0", " ")


class _Lines:
    """Text that grows; a line of which only its element says that it ends gets its newline."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._opened: list[int] = []
        self._is_due = False

    def open(self, *, is_block: bool) -> None:
        """A line begins; one that is a block always begins on a line of its own."""
        if self._is_due or (is_block and not self._is_at_start()):
            self._parts.append("\n")
            self._is_due = False
        self._opened.append(len(self._parts))

    def close(self) -> None:
        """The line ends; the next one needs a newline, unless this one has brought it."""
        is_empty = self._opened.pop() == len(self._parts)
        self._is_due = self._is_due or is_empty or not self._is_at_start()

    def text(self, text: str) -> None:
        """Text as it stands."""
        if not text:
            return
        if self._is_due:
            if not text.startswith(("\n", "\r")):
                if text.isspace():
                    return
                self._parts.append("\n")
            self._is_due = False
        self._parts.append(text)

    def value(self) -> str:
        """All of it."""
        return "".join(self._parts)

    def _is_at_start(self) -> bool:
        return not self._parts or self._parts[-1].endswith(("\n", "\r"))


def is_line(node: LexborNode) -> bool:
    """Tell whether an element in code is a line of it."""
    if node.tag in _BLOCKS:
        return True
    if node.tag not in {"span", "code"}:
        return False
    attributes = node.attributes
    return (
        "data-line" in attributes
        or not _LINE_CLASSES.isdisjoint(classes(node))
        or _SHOWN_AS_LINE.search(style(node)) is not None
    )


def _is_layout(node: LexborNode) -> bool:
    """White space between the cells and rows of a table, which nobody sees."""
    parent = node.parent
    return parent is not None and parent.tag in _TABLE and is_blank(node)


def _is_beside(node: LexborNode, counted: set[int]) -> bool:
    """Tell whether an element in code is no code."""
    if node.tag in _UNSEEN or node.mem_id in counted or is_hidden(node):
        return True
    words = classes(node)
    named = " ".join(words)
    if _OVER.search(named):
        return True
    if _BESIDE.search(named) and len(text_of(node)) <= _BESIDE_CHARS:
        return True
    return _is_number(node, words)


def _is_number(node: LexborNode, words: list[str]) -> bool:
    """Tell whether an element says that it numbers lines, and holds nothing but numbers."""
    attributes = node.attributes
    text = node.text()
    if not _NUMBER_CLASSES.isdisjoint(words):
        return _NUMBERS.fullmatch(text) is not None
    says = (
        "data-line-number" in attributes
        or attributes.get("aria-hidden") == "true"
        or _NOT_SELECTED.search(style(node)) is not None
    )
    return says and bool(text.strip()) and _NUMBERS.fullmatch(text) is not None


def _counted(root: LexborNode) -> set[int]:
    """The first element of every line, where these count the lines and do not say so."""
    node = root
    for _ in range(MAX_DEPTH):
        inside = solid(node)
        if len(inside) != 1 or not inside[0].is_element_node:
            break
        node = inside[0]
    found: set[int] = set()
    count = None
    lines = [child for child in solid(node) if child.is_element_node and is_line(child)]
    for line in lines if len(lines) > 1 else ():
        first = next(iter(solid(line)), None)
        if first is None or not first.is_element_node:
            return set()
        number = first.text().strip()
        is_number = number.isascii() and number.isdigit()
        if not is_number or (count is not None and int(number) != count):
            return set()
        count = int(number) + 1
        found.add(first.mem_id)
    return found

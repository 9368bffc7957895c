"""Converts code, however a page shows it, to `<pre><code class="language-x">` that contains only text."""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.code_language import label_inside, language_of, take_labels
from searx_mcp.content.tree import (
    MATH,
    Dialect,
    RemovalRule,
    Removals,
    ancestors,
    children,
    classes,
    empty,
    has_text,
    is_alone,
    is_attached,
    is_blank,
    is_hidden,
    neighbour,
    new,
    put_in_place,
    solid,
    style,
    text_of,
)

_EDITORS: Final = ".CodeMirror-code,.cm-content,.monaco-editor .view-lines,.ace_text-layer"
_FRAMES: Final = frozenset({"codemirror", "cm-editor", "monaco-editor", "ace_editor"})
_TABLES: Final = (
    "td.code,td.lntd,td.rouge-code,td.blob-code,td.hljs-ln-code,td.linenos,td.gutter,td.crayon-code"
)
_CODE_CELLS: Final = frozenset({"code", "lntd", "rouge-code", "gutter"})
_LISTINGS: Final = "div.ltx_listing,div.fragment"
"""Code as LaTeXML and Doxygen write it: an element for each line, with its number first; also LaTeXML's algorithms."""

_FOLDS: Final = "div.foldopen"
_FRAGMENT_LINES: Final = frozenset({"line", "ttc"})
"""The content of a Doxygen fragment: lines, some of them in an element that folds, and tooltips of names."""

_PLAIN: Final = "div.code-block,div.codeblock,div.code-sample,div.highlight"
_IN_CODE: Final = frozenset({"pre", "code", "samp", "kbd"})
_BLOCK_CODE: Final = frozenset({"block", "code-block", "codeblock", "hljs"})
_SHOWN_AS_BLOCK = re.compile(
    r"(?:display\s*:\s*(?:block|grid|table))|white-space\s*:\s*(?:pre|break-spaces)"
)
_AROUND: Final = 4
"""Ancestors of a block that may be mere wrappers."""

_MAX_BLOCKS: Final = 5_000

_MAX_DEPTH: Final = 64
"""Nested elements in one block; deeper ones are read as plain text."""

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
"""Classes of elements with line numbers; only those that contain nothing but numbers are removed."""

_OVER = re.compile(r"tooltip|popover|popup|hover-info|twoslash-meta|(?:^|\s)ttc(?:\s|$)")
"""In a class: shown over code when a reader points at it."""

_BESIDE = re.compile(
    r"copy|clipboard|toolbar|sr-only|visually-hidden|file-?name"
    r"|(?:^|[\s_-])(?:header|caption|lang-label|language-label|code-lang)(?:$|[\s_-])"
)
"""In a class: above or next to code; only short elements are removed."""

_BESIDE_CHARS: Final = 80
_NUMBERS = re.compile(r"[\s\d.:|]*")
_NOT_SELECTED = re.compile(r"user-select\s*:\s*none")
_SHOWN_AS_LINE = re.compile(r"display\s*:\s*(?:flex|block|grid|table-row)")
_LEADING = re.compile(r"\A(?:[ \t]*\n)+")
_NEWLINES = re.compile(r"\r\n?")


def _normalize_code(tree: LexborHTMLParser, removals: Removals) -> None:
    """Rewrite every block of code, and remove the labels and buttons around it.

    A language label or a button before a block is removed; a file name stays as it is, before the block.

    Args:
        tree: without hidden elements: everything in a block becomes text.
        removals: of this page.
    """
    for editor in _attached(tree, _EDITORS):
        _rewrite(tree, removals, _frame(editor), editor)
    for listing in _attached(tree, _LISTINGS):
        _rewrite_listing(tree, removals, listing)
    for table in _tables(tree):
        # An excerpt of a file is indented as a whole.
        _rewrite(tree, removals, table, table, is_indented=True)
    for code in _attached(tree, "code"):
        if _is_block(code):
            _join(_pieces(code), removals)
            _rewrite(tree, removals, code, code, is_indented=True)
    for block in _attached(tree, "pre"):
        if has_text(block) or block.css_first("img,video,iframe") is None:
            _rewrite(tree, removals, block, block)
    for block in _attached(tree, _PLAIN):
        if _is_bare(block):
            _rewrite(tree, removals, block, block)


CODE: Final = Dialect(
    {
        "pre": "",
        "code": "",
        "td": ".blob-code",
        "div": ":is(.cm-content,.view-lines,.ace_text-layer,.ltx_listing,.fragment,.code-block,.codeblock,"
        ".code-sample,.highlight)",
    },
    _normalize_code,
)


def _attached(tree: LexborHTMLParser, selector: str) -> Iterator[LexborNode]:
    """Elements that are still in the tree when it is their turn."""
    return filter(is_attached, tree.css(selector)[:_MAX_BLOCKS])


def _rewrite(
    tree: LexborHTMLParser,
    removals: Removals,
    block: LexborNode,
    root: LexborNode,
    *,
    is_indented: bool = False,
) -> None:
    """Rewrite one block, and replace the outermost element that shows nothing else.

    If the page indents the code like the rest of its source, the common indentation of all lines is removed.
    """
    inner = _inner(root)
    block = _outermost(block)
    language = language_of(block, inner) or label_inside(block, root)
    text = _LEADING.sub("", _raw_text(root, removals)).rstrip()
    if is_indented and "pre" not in style(root):
        text = dedent(text).strip()
    if not text:
        removals.remove(block, RemovalRule.CODE)
        return
    pre, code = new(tree, "pre"), new(tree, "code", text)
    pre.insert_child(code, move=True)
    put_in_place(block, pre)
    label = take_labels(pre, removals)
    language = language or label
    if language:
        code.attrs["class"] = f"language-{language}"
    for around in list(ancestors(pre, _AROUND)):
        if around.tag in _IN_CODE:
            around.unwrap()


def _rewrite_listing(tree: LexborHTMLParser, removals: Removals, listing: LexborNode) -> None:
    """Rewrite a listing; an algorithm, which has formulas, stays text, line by line."""
    if "fragment" in classes(listing):
        _rewrite_fragment(tree, removals, listing)
        return
    removals.remove_all(listing.css(".ltx_listing_data"), RemovalRule.CODE)
    if listing.css_first(MATH) is None:
        _rewrite(tree, removals, listing, listing)
        return
    for line in listing.css(".ltx_listingline")[:_MAX_BLOCKS]:
        for number in line.css(".ltx_tag_listingline"):
            number.insert_after(" ")
        line.insert_after(new(tree, "br"), move=True)
        line.unwrap()


def _rewrite_fragment(tree: LexborHTMLParser, removals: Removals, fragment: LexborNode) -> None:
    """Rewrite a fragment, if it contains only lines."""
    for fold in fragment.css(_FOLDS)[:_MAX_BLOCKS]:
        fold.unwrap()
    lines = solid(fragment)
    if any(line.is_text_node or _FRAGMENT_LINES.isdisjoint(classes(line)) for line in lines):
        return
    for between in children(fragment):
        if is_blank(between):
            between.decompose()
    # A line's number may be followed by a space that does not belong to the code.
    _rewrite(tree, removals, fragment, fragment, is_indented=True)


def _inner(root: LexborNode) -> LexborNode | None:
    """The element in a block on which its highlighter writes the language."""
    if root.tag == "code":
        return None
    return root.css_first("code[class],code[data-lang],code[data-language],code[language]") or (
        root.css_first("pre[class],pre[lang]") if root.tag != "pre" else None
    )


def _outermost(block: LexborNode) -> LexborNode:
    """The outermost element of code, or of a table of code, that contains only the block."""
    found = inner = block
    for node in ancestors(block, 6):
        if node.tag not in _IN_CODE and node.tag not in {"tbody", "tr", "td", "table"}:
            break
        if node.tag == "td" and _CODE_CELLS.isdisjoint(classes(node)):
            break
        if not is_alone(inner):
            break
        inner = node
        if node.tag in _IN_CODE or node.tag == "table":
            found = node
    return found


def _frame(editor: LexborNode) -> LexborNode:
    """The whole of an editor; or the `pre` that contains only it, if there is one."""
    found = editor
    for node in ancestors(editor, 24):
        if not _FRAMES.isdisjoint(classes(node)):
            found = node
        elif node.tag == "pre":
            return node
    return found


def _tables(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """The tables that lay out code: lines next to their numbers."""
    seen: set[int] = set()
    for cell in _attached(tree, _TABLES):
        table = next((node for node in ancestors(cell, 4) if node.tag == "table"), None)
        if table is not None and table.mem_id not in seen:
            seen.add(table.mem_id)
            if table.css_first("pre,code,.blob-code,.line,.hljs-ln-code") is not None:
                yield table


def _is_block(code: LexborNode) -> bool:
    """Whether a `code` outside `pre` is shown as a block."""
    parent = code.parent
    if parent is None or any(node.tag in _IN_CODE for node in ancestors(code, 4)):
        return False
    if code.css_first("pre") is not None:
        return False
    is_many = "\n" in code.text().strip() or code.css_first("br,div,[data-line],.line") is not None
    if not is_many:
        return "block" in classes(code)
    if _SHOWN_AS_BLOCK.search(style(code)) or not _BLOCK_CODE.isdisjoint(classes(code)):
        return True
    if _SHOWN_AS_BLOCK.search(style(parent)) and "white-space" in style(parent):
        return True
    is_whole = is_alone(code) and parent.tag != "p"
    has_lines = code.css_first("br,div,[data-line]") is not None
    return is_whole and (has_lines or any("language-" in word for word in classes(code)))


def _pieces(code: LexborNode) -> list[LexborNode]:
    """A listing that is split by its output: all pieces in its parent."""
    parent = code.parent
    if parent is None or neighbour(code, forward=False) is not None:
        return []
    inside, words = solid(parent), set(classes(code))
    is_cut = len(inside) > 1 and all(
        node.tag in {"code", "pre"} and words & set(classes(node)) for node in inside
    )
    return inside if is_cut else []


def _join(pieces: list[LexborNode], removals: Removals) -> None:
    """Move the text of all pieces into the first one."""
    if not pieces:
        return
    texts = [_raw_text(piece, removals).removesuffix("\n") for piece in pieces]
    first = pieces[0]
    empty(first)
    first.insert_child("\n".join(texts))
    first.attrs["style"] = "white-space: pre"
    for piece in pieces[1:]:
        piece.decompose()


def _is_bare(block: LexborNode) -> bool:
    """Whether an element is code only by its class or language, and contains only text."""
    inside = solid(block)
    if not inside or not all(
        node.is_text_node or _is_line(node) or node.tag == "span" for node in inside
    ):
        return False
    if block.css_first("p,ul,ol,table,h1,h2,h3,h4,pre,code,img,a") is not None:
        return False
    return bool(language_of(block)) and "\n" in block.text().strip()


def _raw_text(root: LexborNode, removals: Removals) -> str:
    """The text of a block of code with its leading and trailing white space."""
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
        elif depth >= _MAX_DEPTH:
            lines.text(node.text())
        elif node.is_element_node and _is_beside(node, counted):
            removals.note(node, RemovalRule.CODE)
        elif node.is_element_node:
            if _is_line(node):
                lines.open(is_block=node.tag in _BLOCKS)
                todo.append((None, depth))
            todo += [(child, depth + 1) for child in reversed(children(node))]
    return _NEWLINES.sub("\n", lines.value()).replace("\xa0", " ")


class _Lines:
    """Builds a text; a line that only its element ends gets a newline."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._opened: list[int] = []
        self._is_due = False

    def open(self, *, is_block: bool) -> None:
        """Begin a line; a block element always begins on a new line."""
        if self._is_due or (is_block and not self._is_at_start()):
            self._parts.append("\n")
            self._is_due = False
        self._opened.append(len(self._parts))

    def close(self) -> None:
        """End the line; the next one needs a newline, unless this one already ends with one."""
        is_empty = self._opened.pop() == len(self._parts)
        self._is_due = self._is_due or is_empty or not self._is_at_start()

    def text(self, text: str) -> None:
        """Add text unchanged."""
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
        """The whole text."""
        return "".join(self._parts)

    def _is_at_start(self) -> bool:
        return not self._parts or self._parts[-1].endswith(("\n", "\r"))


def _is_line(node: LexborNode) -> bool:
    """Whether an element in code is one of its lines."""
    if node.tag in _BLOCKS or _is_variant(node):
        return True
    if node.tag not in {"span", "code"}:
        return False
    attributes = node.attributes
    return (
        "data-line" in attributes
        or not _LINE_CLASSES.isdisjoint(classes(node))
        or _SHOWN_AS_LINE.search(style(node)) is not None
    )


def _is_variant(node: LexborNode) -> bool:
    """Whether it is one of several adjacent pieces of code from which readers choose."""
    return node.tag == "code" and any(
        beside is not None and beside.tag == "code" for beside in (node.prev, node.next)
    )


def _is_layout(node: LexborNode) -> bool:
    """Whether it is invisible white space between the cells and rows of a table."""
    parent = node.parent
    return parent is not None and parent.tag in _TABLE and is_blank(node)


def _is_beside(node: LexborNode, counted: set[int]) -> bool:
    """Whether an element inside code is not code."""
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
    """Whether an element is marked as line numbers, and contains only numbers."""
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
    """The first element of every line, if these elements number the lines without being marked as such."""
    node = root
    for _ in range(_MAX_DEPTH):
        inside = solid(node)
        if len(inside) != 1 or not inside[0].is_element_node:
            break
        node = inside[0]
    found: set[int] = set()
    count = None
    lines = [child for child in solid(node) if child.is_element_node and _is_line(child)]
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

"""Markup of documentation and wikis: callouts, and unusual forms of tables, declarations and contents."""

import re
from collections.abc import Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.tree import (
    CALLOUT,
    Dialect,
    Removals,
    ancestors,
    children,
    classes,
    few,
    first_solid,
    has_text,
    is_attached,
    move_children,
    new,
    put_in_place,
    short_text,
    text_of,
)

_KIND_NAMES: Final = (
    "note info information tip hint important warning warn caution danger error attention success"
    " question help faq example quote abstract summary tldr todo bug failure fail missing check done"
    " cite seealso deprecated alert critical notice experimental memo remark"
)
_KINDS: Final = frozenset(_KIND_NAMES.split())
_SAID: Final[dict[str, str]] = {
    "information": "info", "warn": "warning", "seealso": "note", "notice": "note", "memo": "note",
    "remark": "note", "alert": "warning", "critical": "danger",
}  # fmt: skip
"""Kinds of some dialects, mapped to kinds that all dialects have."""

_STRONG: Final = frozenset({
    "admonition", "theme-admonition", "markdown-alert", "callout", "custom-block", "hint-container",
    "starlight-aside", "confluence-information-macro", "admonitionblock", "notecard", "book-hint", "hint",
})  # fmt: skip
"""Classes that only callouts have, if another class names a kind."""
_PLAIN: Final[Mapping[str | None, frozenset[str]]] = {
    "div": frozenset({"note", "warning", "tip", "important", "caution", "danger"}),
    "section": frozenset({"note", "warning"}),
}
"""Classes that alone mark a callout; `info` is as often the line with author and date."""
_LEAST_WORDS: Final = 4
_LEAST_CHARS: Final = 80
"""Chosen: no word is so long that four of them need more."""

_BOXES: Final[Mapping[str, str]] = {
    "div": "[class]:is(.admonition,.theme-admonition,.markdown-alert,.callout,.custom-block,.hint-container,"
    ".confluence-information-macro,.admonitionblock,.notecard,.hint,.alert,.note,.warning,.tip,.info,"
    ".important,.caution,.danger,.NOTE,.WARNING,.TIP,.IMPORTANT,.CAUTION)",
    "aside": "",
    "details": "[class]",
    "section": ":is(.note,.warning)",
    "blockquote": "[class]",
}
"""Elements that may be callouts."""

_BOX: Final = re.compile(
    r"(?:admonition|theme-admonition|markdown-alert|callout|custom-block|hint|book-hint|alert"
    r"|starlight-aside-|confluence-information-macro|blockquote-tag|td-alert|usa-alert-|panel)-(.+)"
)
_TITLE: Final = re.compile(
    r"(?:title|heading|summary|header|label|indicator)(?:$|[-_\s])|admonitionheading", re.IGNORECASE
)
_TITLES: Final = frozenset(
    {"p", "div", "span", "strong", "b", "h2", "h3", "h4", "h5", "h6", "summary", "header"}
)
_NOT_CONTENT: Final = frozenset({"form", "nav", "header", "footer", "dialog", "button", "label"})
_BANNER = re.compile(
    r"cookie|consent|dismissible|banner|toast|modal|newsletter|subscribe|popup|flash"
)
_TITLE_CHARS: Final = 200
_KIND_CHARS: Final = 40
_MAX_CALLOUTS: Final = 5_000
_AROUND: Final = 40
_FEW: Final = 8
_ICON_AND_TEXT: Final = 2
"""Cells of a callout that is a table, without its title."""


def _unfold(tree: LexborHTMLParser, _: Removals) -> None:
    """Show the folded content of a callout, as Obsidian writes it.

    Like closed `details` it is one click away, under a visible title. Only the callout's own inline style is
    removed; if the callout itself is hidden, so is its content.
    """
    for box in tree.css(FOLDED_CALLOUTS.selector)[:_MAX_CALLOUTS]:
        if "callout" not in classes(box):
            continue
        for part in box.iter():
            if "callout-content" in classes(part) and "style" in part.attributes:
                del part.attrs["style"]


FOLDED_CALLOUTS: Final = Dialect({"div": ".is-collapsed", "details": ".callout"}, _unfold)


def _normalize_callouts(tree: LexborHTMLParser, _: Removals) -> None:
    """Rewrite every callout.

    Args:
        tree: without hidden elements: icons and titles are recognised by their position.
    """
    for box in filter(is_attached, tree.css(CALLOUTS.selector)[:_MAX_CALLOUTS]):
        kind = _kind(box)
        if kind and _is_content(box):
            _rewrite(tree, box, kind)


CALLOUTS: Final = Dialect(_BOXES, _normalize_callouts)


def _kind(box: LexborNode) -> str:
    """The kind in the classes of a block; empty if it is not a callout."""
    words = classes(box)
    if stated := (box.attributes.get("data-callout") or "").strip().lower():
        return stated if stated.isalnum() else "note"
    for word in words:
        match = _BOX.fullmatch(word)
        name = match[1].lstrip("-").removesuffix("-macro") if match else ""
        if name in _KINDS:
            return _SAID.get(name, name)
    for word in words:
        if word in _KINDS and word != "alert":
            return _SAID.get(word, word)
    title = _title(box) or next(iter(_icon_and_text(box)), None)
    if not {"admonition", "admonitionblock"}.isdisjoint(words) or (
        title is not None and {"callout", "hint"} & set(words)
    ):
        return _named(title) or "note"
    return ""


def _is_content(box: LexborNode) -> bool:
    """Whether a block belongs to the text: forms, shops and banners have similar boxes."""
    if not has_text(box):
        return False
    if _BANNER.search(" ".join([*classes(box), (box.attributes.get("id") or "").lower()])):
        return False
    is_inside = False
    for around in ancestors(box, _AROUND):
        is_inside = is_inside or around.tag in {"article", "main"}
        if around.tag in _NOT_CONTENT and not is_inside and not _holds_page(around):
            return False
        if around.attributes.get("role") in {"dialog", "alertdialog", "navigation"}:
            return False
    if box.tag == "details" or not _STRONG.isdisjoint(classes(box)) or _icon_and_text(box):
        return True
    is_labelled = (is_inside and "alert" in classes(box)) or bool(_named(_title(box)))
    return is_labelled or (is_inside and _is_said(box))


def _is_said(box: LexborNode) -> bool:
    """Whether a block marked by a class alone contains a text: it may also be a rating or a figure."""
    if _PLAIN.get(box.tag, frozenset()).isdisjoint(classes(box)):
        return False
    return len(short_text(box, _LEAST_CHARS).split()) >= _LEAST_WORDS


def _holds_page(form: LexborNode) -> bool:
    """Whether a form is the whole page, as some servers write it."""
    parent = form.parent
    return form.tag == "form" and parent is not None and parent.tag == "body"


def _title(box: LexborNode) -> LexborNode | None:
    """The first element of a block, if it is the title."""
    first = first_solid(box)
    for _ in range(3):
        if first is None or not first.is_element_node or first.tag not in _TITLES:
            return None
        if _TITLE.search(" ".join(classes(first))) or first.tag in {"summary", "header"}:
            return first
        if _named(first):
            return first
        first = first_solid(first)
    return None


def _named(title: LexborNode | None) -> str:
    """The kind, if a title is only the name of one."""
    if title is None:
        return ""
    word = short_text(title, _KIND_CHARS).lower().strip(" :!.\u26a0\ufe0f\u2139").replace(" ", "")
    return _SAID.get(word, word) if word in _KINDS else ""


def _rewrite(tree: LexborHTMLParser, box: LexborNode, kind: str) -> None:
    cells = _icon_and_text(box)
    title = box.css_first("th") if cells else _title(box)
    said = ""
    if title is not None:
        said = text_of(title).rstrip(":")[:_TITLE_CHARS]
        title.decompose()
    callout = new(tree, CALLOUT, kind=kind)
    word = said.lower().strip(" :!.")
    if said and kind not in {word, _SAID.get(word)}:
        callout.attrs["title"] = said
    move_children(cells[1] if cells else box, callout)
    put_in_place(box, callout)


def _icon_and_text(box: LexborNode) -> list[LexborNode]:
    """The two cells of a callout that is a table of an icon, with or without a title, and its text."""
    inside = few(box, _FEW)
    rows = first_solid(inside[0]) if len(inside) == 1 and inside[0].tag == "table" else None
    if rows is None:
        return []
    cells = [cell for row in few(rows, _FEW) for cell in few(row, _FEW) if cell.tag == "td"]
    return cells if len(cells) == _ICON_AND_TEXT else []


_GRIDS: Final = "div.summary-table"
"""Cells in sequence, the first of them the headers: javadoc's tables since version 16."""

_GRID_HEAD: Final = "table-header"
_SIGNATURES: Final = "div.member-signature,div.type-signature,div.package-signature"
_PROTOTYPES: Final = "table.memname"
"""A declaration in Doxygen: a row for each parameter, with type, name and comma in separate cells."""

_MOST_TERMS: Final = 2_000
_BLANKS = re.compile(r"[ \t\xa0]+")
_AFTER_BRACKET = re.compile(r"\( ")
_BEFORE_BRACKET = re.compile(r" (?=[),])")
_MAX_DECLARATIONS: Final = 5_000
_DECLARATION_CHARS: Final = 4_000
_ENTRY_CHARS: Final = 200
"""Characters of a declaration, and of an entry of contents; longer ones stay as they are."""


def _normalize_declarations(tree: LexborHTMLParser, _removals: Removals) -> None:
    """Write tables as tables, declarations as code, and tables of contents as lists.

    Args:
        tree: without hidden elements.
    """
    # From the inside out, since each replaces its content.
    for grid in tree.css(_GRIDS)[:_MAX_DECLARATIONS][::-1]:
        _rewrite_grid(tree, grid)
    for signature in tree.css(_SIGNATURES)[:_MAX_DECLARATIONS][::-1]:
        if short_text(signature, _DECLARATION_CHARS):
            _put_code(tree, signature, _BLANKS.sub(" ", signature.text()).strip())
    for prototype in tree.css(_PROTOTYPES)[:_MAX_DECLARATIONS][::-1]:
        if short_text(prototype, _DECLARATION_CHARS):
            _rewrite_prototype(tree, prototype)
    for terms in tree.css("dl")[:_MAX_DECLARATIONS][::-1]:
        if _is_contents(terms):
            _rewrite_contents(tree, terms)


DECLARATIONS: Final = Dialect(
    {
        "div": ":is(.summary-table,.member-signature,.type-signature,.package-signature)",
        "table": ".memname",
        "dl": "",
    },
    _normalize_declarations,
)


def _rewrite_grid(tree: LexborHTMLParser, grid: LexborNode) -> None:
    cells = [child for child in children(grid) if child.is_element_node]
    width = sum(_GRID_HEAD in classes(cell) for cell in cells)
    if not width or len(cells) % width:
        return
    table = new(tree, "table")
    for start in range(0, len(cells), width):
        row = new(tree, "tr")
        for cell in cells[start : start + width]:
            made = new(tree, "td" if start else "th")
            move_children(cell, made)
            row.insert_child(made, move=True)
        table.insert_child(row, move=True)
    put_in_place(grid, table)


def _is_contents(terms: LexborNode) -> bool:
    """Whether all terms are links, and the definitions lists of links below them, as in DocBook's table of contents."""
    parts = few(terms, _MOST_TERMS)
    return len(parts) > 1 and all(
        (part.tag == "dt" and _is_link(part))
        or (part.tag == "dd" and [inner.tag for inner in few(part, 4)] == ["ul"])
        for part in parts
    )


def _is_link(term: LexborNode) -> bool:
    """Whether it is one link, perhaps after a number."""
    title = short_text(term, _ENTRY_CHARS)
    link = term.css_first("a[href]") if title else None
    return link is not None and not any(map(str.isalpha, title.replace(text_of(link), "", 1)))


def _rewrite_contents(tree: LexborHTMLParser, terms: LexborNode) -> None:
    listed = new(tree, "ul")
    item = None
    for part in few(terms, _MOST_TERMS):
        if part.tag == "dt" or item is None:
            item = new(tree, "li")
            listed.insert_child(item, move=True)
            item = listed.last_child or item
        move_children(part, item)
    put_in_place(terms, listed)


def _rewrite_prototype(tree: LexborHTMLParser, prototype: LexborNode) -> None:
    code = "\n    ".join(filter(None, map(_prototype_line, prototype.css("tr"))))
    around = next((node for node in ancestors(prototype, 4) if node.tag == "table"), None)
    if around is None:
        _put_code(tree, prototype, code)
        return
    # The labels of the declaration are next to it, in a separate table.
    place = new(tree, "div")
    around.insert_before(place, move=True)
    prototype.decompose()
    _put_code(tree, place, code)


def _prototype_line(row: LexborNode) -> str:
    line = " ".join(filter(None, map(text_of, row.css("td"))))
    return _BEFORE_BRACKET.sub("", _AFTER_BRACKET.sub("(", line))


def _put_code(tree: LexborHTMLParser, node: LexborNode, code: str) -> None:
    if code:
        pre = new(tree, "pre")
        pre.insert_child(new(tree, "code", code), move=True)
        put_in_place(node, pre)

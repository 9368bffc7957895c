"""Unusual markup of documentation generators: for tables, declarations, and contents as definitions."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.tree import (
    Dialect,
    ancestors,
    children,
    classes,
    few,
    move_children,
    new,
    put_in_place,
    short_text,
    text_of,
)
from searx_mcp.content.removals import Removals

_GRIDS: Final = "div.summary-table"
"""Cells in sequence, the first of them the headers: javadoc's tables since version 16."""

_HEAD: Final = "table-header"
_SIGNATURES: Final = "div.member-signature,div.type-signature,div.package-signature"
_PROTOTYPES: Final = "table.memname"
"""A declaration in Doxygen: a row for each parameter, with type, name and comma in separate cells."""

_MOST_TERMS: Final = 2_000
_BLANKS = re.compile(r"[ \t\xa0]+")
_AFTER_BRACKET = re.compile(r"\( ")
_BEFORE_BRACKET = re.compile(r" (?=[),])")
_MAX: Final = 5_000
_LONGEST: Final = 4_000
_LONGEST_TITLE: Final = 200
"""Characters of a declaration, and of an entry of contents; longer ones stay as they are."""


def _normalize_declarations(tree: LexborHTMLParser, _removals: Removals) -> None:
    """Write tables as tables, declarations as code, and tables of contents as lists.

    Args:
        tree: without hidden elements.
    """
    # From the inside out, since each replaces its content.
    for grid in tree.css(_GRIDS)[:_MAX][::-1]:
        _rewrite_grid(tree, grid)
    for signature in tree.css(_SIGNATURES)[:_MAX][::-1]:
        if short_text(signature, _LONGEST):
            _put_code(tree, signature, _BLANKS.sub(" ", signature.text()).strip())
    for prototype in tree.css(_PROTOTYPES)[:_MAX][::-1]:
        if short_text(prototype, _LONGEST):
            _rewrite_prototype(tree, prototype)
    for terms in tree.css("dl")[:_MAX][::-1]:
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
    width = sum(_HEAD in classes(cell) for cell in cells)
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
    title = short_text(term, _LONGEST_TITLE)
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

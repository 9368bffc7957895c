"""What generators of documentation draw with other elements: tables of cells in rows, and declarations as code."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.tree import (
    Dialect,
    ancestors,
    children,
    classes,
    move_children,
    new,
    put_in_place,
    text_of,
)

_GRIDS: Final = "div.summary-table"
"""A cell after the other, the first of them heads: as javadoc writes tables since version 16."""

_HEAD: Final = "table-header"
_SIGNATURES: Final = "div.member-signature,div.type-signature,div.package-signature"
_PROTOTYPES: Final = "table.memname"
"""A declaration in Doxygen: a row for each parameter, with type, name and comma in cells of their own."""

_BLANKS = re.compile(r"[ \t\xa0]+")
_AFTER_BRACKET = re.compile(r"\( ")
_BEFORE_BRACKET = re.compile(r" (?=[),])")
_MAX: Final = 5_000


def _normalize_declarations(tree: LexborHTMLParser) -> None:
    """Write tables as tables, and declarations as code.

    Args:
        tree: without what is hidden.
    """
    for grid in tree.css(_GRIDS)[:_MAX]:
        _rewrite_grid(tree, grid)
    for signature in tree.css(_SIGNATURES)[:_MAX]:
        _put_code(tree, signature, _BLANKS.sub(" ", signature.text()).strip())
    for prototype in tree.css(_PROTOTYPES)[:_MAX]:
        _rewrite_prototype(tree, prototype)


DECLARATIONS: Final = Dialect(
    {
        "div": ":is(.summary-table,.member-signature,.type-signature,.package-signature)",
        "table": ".memname",
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


def _rewrite_prototype(tree: LexborHTMLParser, prototype: LexborNode) -> None:
    code = "\n    ".join(filter(None, map(_prototype_line, prototype.css("tr"))))
    around = next((node for node in ancestors(prototype, 4) if node.tag == "table"), None)
    if around is None:
        _put_code(tree, prototype, code)
        return
    # What labels the declaration stands beside it, in a table of its own.
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

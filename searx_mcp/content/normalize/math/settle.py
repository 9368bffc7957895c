"""Formulas in their last place: out of what drew them, and out of tables that only lay them out."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.elements import ancestors, has_text, is_alone, is_attached, new
from searx_mcp.content.normalize.names import MATH

_WRAPPERS: Final = frozenset({"span", "math", "mjx-container", "mjx-assistive-mml", "nobr"})
_TABLES: Final = 'table[class*="equation" i],table[class*="eqn" i],table[class*="formula" i],table[class*="align" i]'
_NUMBER = re.compile(r"\(?\s*([A-Za-z]?[\d.]{1,8}[a-z]?)\s*\)?|")
_MAX_ROWS: Final = 500


def settle_formulas(tree: LexborHTMLParser) -> None:
    """Take formulas out of the elements they were put into, once what is hidden is gone."""
    for formula in tree.css(MATH):
        if not has_text(formula):
            formula.decompose()
            continue
        for name in formula.attributes.keys() - {"display"}:
            del formula.attrs[name]
        while (parent := formula.parent) is not None and parent.tag in _WRAPPERS:
            if not is_alone(formula):
                break
            parent.unwrap()
    for table in tree.css(_TABLES):
        if is_attached(table) and table.css_first(MATH) is not None:
            _untable(tree, table)


def _untable(tree: LexborHTMLParser, table: LexborNode) -> None:
    """Write each row of a table of nothing but formulas and their numbers as one formula."""
    rows = table.css("tr")
    if not rows or len(rows) > _MAX_ROWS or len(table.css("table")) > 1:
        return
    written = []
    for row in rows:
        formulas = [formula.text() for formula in row.css(MATH)]
        number = _NUMBER.fullmatch(_beside(row))
        if number is None:
            return
        if formulas:
            tag = f" \\tag{{{number[1]}}}" if number[1] and "\\tag" not in formulas[-1] else ""
            written.append(" ".join(formulas) + tag)
    for tex in written:
        table.insert_before(new(tree, MATH, tex, display="block"), move=True)
    table.decompose()


def _beside(row: LexborNode) -> str:
    """The text of a row that is in no formula."""
    parts = [
        part.text_content or ""
        for part in row.traverse(include_text=True)
        if part.is_text_node and not any(around.tag == MATH for around in ancestors(part, 1))
    ]
    return " ".join("".join(parts).split())

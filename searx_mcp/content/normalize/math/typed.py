"""Formulas that a page leaves in its text for a script to draw."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.elements import ancestors, new
from searx_mcp.content.normalize.math.tex import cleaned
from searx_mcp.content.normalize.names import MATH

DRAWING: Final = 'script[src*="mathjax" i],script[src*="katex" i]'
"""Scripts that draw such formulas. Without one, brackets with backslashes may be of a regular expression."""

_TYPED = re.compile(
    r"\\\((?P<inline>(?:[^\\]|\\(?![()\[\]])){1,500}+)\\\)"
    r"|\\\[(?P<block>(?:[^\\]|\\(?![()\[\]])){1,2000}+)\\\]"
)
_AS_WRITTEN: Final = frozenset({"script", "style", "textarea", "pre", "code", "noscript", MATH})
"""What these scripts pass over."""

_MAX_TEXTS: Final = 20_000


def standardise_typed(tree: LexborHTMLParser) -> None:
    r"""Put `\(x\)` and `\[x\]` in the form of formulas; dollar signs are Markdown's own."""
    if tree.body is None or tree.css_first(DRAWING) is None:
        return
    texts = [
        node
        for node in tree.body.traverse(include_text=True)
        if node.is_text_node and _TYPED.search(node.text_content or "")
    ]
    for text in texts[:_MAX_TEXTS]:
        if not any(node.tag in _AS_WRITTEN for node in ancestors(text, 3)):
            _rewrite(tree, text)


def _rewrite(tree: LexborHTMLParser, node: LexborNode) -> None:
    text = node.text_content or ""
    end = 0
    for found in _TYPED.finditer(text):
        is_block = found["block"] is not None
        tex = cleaned(found["block"] if is_block else found["inline"], is_block=is_block)
        if not tex:
            continue
        if before := text[end : found.start()]:
            node.insert_before(before)
        block = {"display": "block"} if is_block else {}
        node.insert_before(new(tree, MATH, tex, **block), move=True)
        end = found.end()
    if end:
        if rest := text[end:]:
            node.insert_before(rest)
        node.decompose()

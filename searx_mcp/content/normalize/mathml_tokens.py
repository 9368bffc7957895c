"""The leaves of MathML as TeX: names, numbers, signs, words and spaces; and which element is which."""

import unicodedata
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.tex import (
    FUNCTIONS,
    VARIANTS,
    escaped,
    variant_of,
)
from searx_mcp.content.normalize.tree import children

_LAYOUT: Final = frozenset({"g", "svg", "defs", "path", "use", "rect", "title"})
_DRAWN: Final = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "ms", "msup", "msub", "msubsup", "mfrac", "msqrt",
    "mroot", "mover", "munder", "munderover", "mtable", "mtr", "mlabeledtr", "mtd", "mfenced",
    "menclose", "mmultiscripts", "mstyle", "mpadded", "mphantom", "mspace", "merror", "semantics",
    "maction", "none", "mprescripts", "texatom",
})  # fmt: skip
"""Elements that MathJax draws; its others (`mjx-base`, `mjx-box`, …) only lay them out."""
_FIRST_CODE: Final = 0x20
_LAST_CODE: Final = 0x1FFFF
_QUAD: Final = 0.9
"""Width in em from which a space is written."""
_TEXT: Final = str.maketrans(
    {"\\": "\\textbackslash ", **{sign: f"\\{sign}" for sign in "$%&#_{}"}}
)
"""What is special in text."""


def identifier_or_number(node: LexborNode, _depth: int) -> str:
    """A name or number: a function by its command, letters of another style in theirs."""
    text = token_text(node)
    plain = unicodedata.normalize("NFKC", text)
    if plain in FUNCTIONS:
        return "\\" + plain
    variant = node.attributes.get("mathvariant") or ""
    if not variant and len(text) == 1:
        variant = variant_of(text)
    if variant == "normal" and (len(plain) != 1 or not plain.isascii() or not plain.isalpha()):
        variant = ""
    body = escaped(text if variant == "" and len(text) == 1 else plain)
    command = VARIANTS.get(variant)
    return f"\\{command}{{{body}}}" if command and body else body


def operator_sign(node: LexborNode, _depth: int) -> str:
    """An operator, by its command if it has one."""
    text = token_text(node)
    if text in FUNCTIONS:
        return "\\" + text
    if len(text) > 1 and text.isalpha():
        return f"\\operatorname{{{text}}}"
    return escaped(text)


def quoted_words(node: LexborNode, _depth: int) -> str:
    """Text within a formula, with the spaces around it."""
    raw = node.text() if not node.attributes.get("data-mml-node") else token_text(node)
    text = " ".join(raw.split()) or (" " if raw else "")
    if not text.strip():
        return "\\text{ }" if text else ""
    padded = (" " if raw[:1].isspace() or raw[:1] == "\xa0" else "") + text
    padded += " " if raw[-1:].isspace() else ""
    return f"\\text{{{padded.translate(_TEXT)}}}"


def wide_space(node: LexborNode) -> str:
    """A space that is wide enough to mean something."""
    width = (node.attributes.get("width") or "").strip()
    try:
        return "\\quad" if width.endswith("em") and float(width[:-2]) >= _QUAD else ""
    except ValueError:
        return ""


def parts_of(node: LexborNode) -> list[LexborNode]:
    """The elements in an element that mean something; MathJax's boxes are passed through."""
    found: list[LexborNode] = []
    todo = list(reversed(children(node)))
    while todo:
        child = todo.pop()
        if child.is_element_node:
            if element_name(child):
                found.append(child)
            else:
                todo.extend(reversed(children(child)))
    return found


def element_name(node: LexborNode) -> str:
    """The MathML element that an element is or draws; empty if it only lays out."""
    if (drawn := node.attributes.get("data-mml-node")) is not None:
        return drawn.lower()
    tag = (node.tag or "").lower()
    if tag.startswith("mjx-"):
        tag = tag[4:]
        return tag if tag in _DRAWN else ""
    return "" if tag in _LAYOUT else tag


def token_text(node: LexborNode) -> str:
    """The text of a token; of a drawing in SVG, that of the characters it uses."""
    said = " ".join(node.text().split())
    if said or not node.attributes.get("data-mml-node"):
        return said
    codes = [part.attributes.get("data-c") or "" for part in node.css("[data-c]")]
    return "".join(chr(int(code, 16)) for code in codes if _is_code(code))


def _is_code(code: str) -> bool:
    try:
        return _FIRST_CODE <= int(code, 16) <= _LAST_CODE
    except ValueError:
        return False

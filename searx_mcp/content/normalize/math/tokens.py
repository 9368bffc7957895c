"""Names, numbers, operators and words of formulas as LaTeX."""

import unicodedata
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.math import symbols
from searx_mcp.content.normalize.math.drawn import token

_QUAD: Final = 0.9
"""Width in em from which a space is written."""

_SPECIAL: Final = "$%&#_{}"
_BEYOND_LATIN: Final = 0x2000


def identifier(node: LexborNode, _: int = 0) -> str:
    """A name or number: a function by its command, letters of another style in theirs."""
    text = token(node)
    plain = unicodedata.normalize("NFKC", text)
    if plain in symbols.FUNCTIONS:
        return "\\" + plain
    variant = node.attributes.get("mathvariant") or ""
    if not variant and len(text) == 1:
        variant = symbols.variant_of(text)
    if variant == "normal" and (len(plain) != 1 or not plain.isascii() or not plain.isalpha()):
        variant = ""
    body = escaped(text if variant == "" and len(text) == 1 else plain)
    command = symbols.VARIANTS.get(variant)
    return f"\\{command}{{{body}}}" if command and body else body


def operator(node: LexborNode, _: int = 0) -> str:
    """An operator, by its command if it has one."""
    text = token(node)
    if text in symbols.FUNCTIONS:
        return "\\" + text
    if len(text) > 1 and text.isalpha():
        return f"\\operatorname{{{text}}}"
    return escaped(text)


def escaped(text: str) -> str:
    """Characters as LaTeX writes them outside of text."""
    if text.isalnum() and text.isascii():
        return text
    found = []
    for character in text:
        if character in symbols.COMMANDS:
            found.append(symbols.COMMANDS[character] + " ")
            continue
        plain = symbols.PLAIN.get(character)
        if plain is None and ord(character) > _BEYOND_LATIN and not symbols.COMMANDS.get(character):
            normal = unicodedata.normalize("NFKC", character)
            plain = symbols.COMMANDS.get(normal, normal)
        found.append(character if plain is None else plain)
    return "".join(found).strip()


def words(node: LexborNode, _: int = 0) -> str:
    """Text within a formula, with the spaces around it."""
    raw = node.text() if not node.attributes.get("data-mml-node") else token(node)
    text = " ".join(raw.split()) or (" " if raw else "")
    if not text.strip():
        return "\\text{ }" if text else ""
    padded = (" " if raw[:1].isspace() or raw[:1] == "\xa0" else "") + text
    padded += " " if raw[-1:].isspace() else ""
    body = "".join(
        "\\" + character
        if character in "$%&#_{}"
        else "\\textbackslash "
        if character == "\\"
        else character
        for character in padded
    )
    return f"\\text{{{body}}}"


def space(node: LexborNode) -> str:
    """A space that is wide enough to mean something."""
    width = (node.attributes.get("width") or "").strip()
    try:
        return "\\quad" if width.endswith("em") and float(width[:-2]) >= _QUAD else ""
    except ValueError:
        return ""

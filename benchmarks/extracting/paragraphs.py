"""Whether paragraphs of a page are whole in its text: no rule takes a part out of a sentence."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.decode import decode

_BLOCKS: Final = "p, li, dd, td"
_INLINE: Final = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font",
    "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
})  # fmt: skip
_UNREAD: Final = ["script", "style", "noscript", "template"]
_HIDDEN: Final = '.screen-reader-text, .sr-only, .visually-hidden, [hidden], [aria-hidden="true"]'
_LETTERS = re.compile(r"\w+")

_LEAST: Final = 40
_BEGINNING: Final = 30
"""Letters and digits of a paragraph, and of its beginning, by which it is found in the text."""


def cut_paragraphs(body: bytes, text: str) -> list[str]:
    """The paragraphs of which a text holds the beginning and not the rest.

    Args:
        body: a page; what it hides in the usual ways is no part of its paragraphs.
        text: what was found, without marks.
    """
    tree = LexborHTMLParser(decode(body, charset=None)[0])
    tree.strip_tags(_UNREAD)
    for hidden in tree.css(_HIDDEN):
        hidden.decompose()
    shown = _letters(text)
    found = {
        " ".join(block.text().split()): _letters(block.text())
        for block in tree.css(_BLOCKS)
        if _is_paragraph(block)
    }
    return [
        paragraph
        for paragraph, letters in found.items()
        if len(letters) >= _LEAST and letters[:_BEGINNING] in shown and letters not in shown
    ]


def _is_paragraph(block: LexborNode) -> bool:
    return all(part.mem_id == block.mem_id or part.tag in _INLINE for part in block.css("*"))


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(text.lower()))

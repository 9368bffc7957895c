"""What the readers of HTML ask of an element that may be missing."""

from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.sources.searxng.fields import MAX_NAMES

_MAX_TEXT: Final = 100_000
"""Characters of one element that are read; the longest, a listing of code, had 6,000."""


def several(
    place: LexborHTMLParser | LexborNode, selector: str, most: int = MAX_NAMES
) -> list[LexborNode]:
    """The first elements that a selector finds, but for those inside of others.

    A page that nests them would else be read once for each: 160 <div class=answer> inside each other
    around 3 MB of text took 4 s.

    Args:
        place: where to look.
        selector: of CSS.
        most: how many of those found are looked at.
    """
    kept: list[LexborNode] = []
    for node in place.css(selector)[:most]:
        # In the order of the page, only the last one can be around it.
        if not kept or not _is_inside(node, kept[-1]):
            kept.append(node)
    return kept


def _is_inside(node: LexborNode, other: LexborNode) -> bool:
    around = node.parent
    while around is not None and around.mem_id != other.mem_id:
        around = around.parent
    return around is not None


def text(node: LexborNode | None) -> str:
    """The text of an element and all below it; empty without an element."""
    return node.text()[:_MAX_TEXT] if node is not None else ""


def attribute(node: LexborNode | None, name: str) -> str:
    """The value of an attribute; empty without one, or without an element."""
    return (node.attributes.get(name) or "") if node is not None else ""


def labelled(node: LexborNode | None) -> str:
    """The text of a line that begins with its label in a `span`."""
    label = text(node.css_first("span")) if node is not None else ""
    return text(node).strip().removeprefix(label)


def after_colon(words: str) -> str:
    """What follows the label of a line; all of it without a colon."""
    label, colon, value = words.partition(":")
    return value if colon else label

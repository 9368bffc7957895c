"""Which fragment of the address leads to which heading of a page."""

import re
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

_HEADING_TAGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADINGS: Final = ",".join(_HEADING_TAGS)
MARK: Final = "data-anchor"
"""The attribute in which it is noted."""

_MAX_HEADINGS: Final = 5_000
_MAX_CHARS: Final = 200
_MAX_STEPS: Final = 8
"""Elements looked at before and around a heading."""

_FRAGMENT = re.compile(r"[^\s#]+")
_WRAPPERS: Final = frozenset({"section", "div", "article", "header", "hgroup", "li", "dt"})
_MARKERS: Final = frozenset({"a", "span"})


def mark_anchors(tree: LexborHTMLParser) -> None:
    """Note on every heading what leads to it, before the elements that say so are taken out.

    In this order: a link of the heading to itself, as documentation generators write it, an id on
    the heading, one on an element in it, an empty `<a>` or `<span>` before it, and an id of what it
    is the beginning of.
    """
    if tree.body is not None:
        for heading in _headings(tree.body):
            heading.attrs[MARK] = _anchor(heading)


def _headings(root: LexborNode) -> list[LexborNode]:
    """Headings, without those that hold others: looking into each would be quadratic."""
    found = root.css(_HEADINGS)[:_MAX_HEADINGS]
    holding: set[int] = set()
    for heading in found:
        node = heading.parent
        for _ in range(_MAX_STEPS):
            if node is None:
                break
            if node.tag in _HEADING_TAGS:
                holding.add(node.mem_id)
                break
            node = node.parent
    return [heading for heading in found if heading.mem_id not in holding]


def _anchor(heading: LexborNode) -> str:
    # Of a heading that holds only text the parser need not be asked, which takes 2 µs each time.
    holds = next(heading.iter(), None) is not None
    return (
        (holds and _self_link(heading))
        or _id(heading)
        or (holds and _inside(heading))
        or _before(heading)
        or _around(heading)
    )


def _self_link(heading: LexborNode) -> str:
    for link in heading.css('a[href^="#"]'):
        if not any(character.isalnum() for character in link.text()):
            return _fragment(unquote((link.attributes.get("href") or "")[1 : 3 * _MAX_CHARS]))
    return ""


def _inside(heading: LexborNode) -> str:
    return next(filter(None, map(_id, heading.css("[id],a[name]")[:_MAX_STEPS])), "")


def _before(heading: LexborNode) -> str:
    """An empty element in front of the heading, alone or in a paragraph."""
    node = heading.prev
    for _ in range(_MAX_STEPS):
        if node is None or (node.is_text_node and not node.is_empty_text_node):
            return ""
        if node.is_element_node:
            if node.text().strip():
                return ""
            if node.tag in _MARKERS and (anchor := _id(node)):
                return anchor
            if inner := node.css_first("a[id],a[name],span[id]"):
                return _id(inner)
            return ""
        node = node.prev
    return ""


def _around(heading: LexborNode) -> str:
    """The id of an element that begins with the heading."""
    node: LexborNode | None = heading
    for _ in range(_MAX_STEPS):
        if node is None or not _is_first(node):
            return ""
        node = node.parent
        if node is None or node.tag not in _WRAPPERS:
            return ""
        if anchor := _id(node):
            return anchor
    return ""


def _is_first(node: LexborNode) -> bool:
    """Whether no text stands before it in its parent."""
    before = node.prev
    for _ in range(_MAX_STEPS):
        if before is None:
            return True
        if not before.is_comment_node and before.text().strip():
            return False
        before = before.prev
    return False


def _id(node: LexborNode) -> str:
    attributes = node.attributes
    return _fragment(attributes.get("id") or "") or _fragment(attributes.get("name") or "")


def _fragment(text: str) -> str:
    return text if len(text) <= _MAX_CHARS and _FRAGMENT.fullmatch(text) else ""

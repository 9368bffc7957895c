"""Content that a page holds apart for its scripts, or for readers without them."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.panels import show_panels

_PARTS: Final = 'div[hidden][id^="S:"]'
_MAX_PARTS: Final = 500
_CALLS = re.compile(r"\$R[CRSX]\b")
_SCRIPTS: Final = "script,style,template"
_NOSCRIPT_CHARS: Final = 500
"""Below this a `<noscript>` only asks for scripts, or holds an image that is loaded later."""


def show_unscripted(tree: LexborHTMLParser) -> bool:
    """Show what scripts would show, and what is there for readers without scripts.

    To be called before hidden elements, templates and `<noscript>` are taken out.

    Args:
        tree: the whole page; it is changed.

    Returns:
        Whether panels were shown, so that `drop_unlabelled` is to be called once it is known what
        styles hide.
    """
    if tree.body is None:
        return False
    _place_streamed(tree)
    _open_noscript(tree.body)
    return show_panels(tree)


def _place_streamed(tree: LexborHTMLParser) -> None:
    """Put what React streams where its scripts would put it.

    React 18 writes `<template id="B:0">` (or `P:0`) where a part is missing, and later the part in a
    hidden `<div id="S:0">`, and a call of `$RC` that puts it there.
    """
    parts = tree.css(_PARTS)[:_MAX_PARTS]
    if not parts:
        return
    places = {
        node.attributes.get("id"): node
        for node in tree.css('template[id^="B:"],template[id^="P:"]')
    }
    has_script = any(_CALLS.search(node.text()) for node in tree.css("script"))
    for part in parts:
        number = (part.attributes.get("id") or "")[2:]
        place = places.get(f"B:{number}") or places.get(f"P:{number}")
        if place is None and not has_script:
            # Hidden text stays hidden where nothing of React would show it.
            continue
        del part.attrs["hidden"]
        if place is not None and not _is_inside(place, part):
            place.insert_before(part, move=True)


def _is_inside(node: LexborNode, other: LexborNode) -> bool:
    above: LexborNode | None = node
    while above is not None:
        if above.mem_id == other.mem_id:
            return True
        above = above.parent
    return False


def _open_noscript(body: LexborNode) -> None:
    """Unwrap `<noscript>` that holds more than the rest of the page, as Discourse's does."""
    held = [(node, len(node.text())) for node in body.css("noscript")]
    large = [(node, size) for node, size in held if size >= _NOSCRIPT_CHARS]
    if not large:
        return
    unseen = sum(len(node.text()) for node in body.css(_SCRIPTS))
    rest = len(body.text()) - unseen - sum(size for _, size in held)
    for node, size in large:
        if size > rest:
            node.unwrap()

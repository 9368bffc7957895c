"""Pages that rely on scripts: content they keep for their scripts, and whether they are empty without them."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.guards import Guarded, parse

_PARTS: Final = 'div[hidden][id^="S:"]'
_MAX_PARTS: Final = 500
_CALLS = re.compile(r"\$R[CRSX]\b")
_SCRIPTS: Final = "script,style,template"
_NOSCRIPT_CHARS: Final = 500
"""A shorter `<noscript>` only asks for scripts, or contains an image that is loaded later."""

_ROOTS: Final = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#main-app,#app-root,#react-root,#q-app,#mount,"
    "#ember-app,app-root,my-app,ng-app,[ng-app],[data-reactroot],[data-v-app]"
)
"""The elements that frameworks draw into, by the names in their templates."""

_ASKS = re.compile(r"java\s?script", re.IGNORECASE)
_ROOT_CHARS: Final = 40
"""An app's root with less text contains only a word such as "Loading…"."""

_FEW_CHARS: Final = 200
"""Most text of a page that asks for scripts, or has an empty root."""

_SCANT_CHARS: Final = 80
"""Most text of a page that has scripts and no other sign."""

_SCRIPT_CHARS: Final = 2_000
"""This many characters of inline scripts, or `_SCRIPT_FILES` script files, draw more than a visit counter does."""

_SCRIPT_FILES: Final = 2


def show_unscripted(tree: LexborHTMLParser) -> None:
    """Show what scripts would show, and what is meant for readers without scripts.

    Call it before hidden elements, templates and `<noscript>` are removed.

    Args:
        tree: the whole page; changed in place.
    """
    if tree.body is None:
        return
    if parts := tree.css(_PARTS)[:_MAX_PARTS]:
        _place_streamed(tree, parts)
    if held := [(node, len(node.text())) for node in tree.body.css("noscript")]:
        _open_noscript(tree.body, held)


def _place_streamed(tree: LexborHTMLParser, parts: list[LexborNode]) -> None:
    """Put the parts that React streams where its scripts would put them.

    React 18 writes `<template id="B:0">` (or `P:0`) in place of a missing part, and later the part in a hidden
    `<div id="S:0">`, and a call of `$RC` that puts it there.
    """
    places = {
        node.attributes.get("id"): node
        for node in tree.css('template[id^="B:"],template[id^="P:"]')
    }
    has_script = any(_CALLS.search(node.text()) for node in tree.css("script"))
    for part in parts:
        number = (part.attributes.get("id") or "")[2:]
        place = places.get(f"B:{number}") or places.get(f"P:{number}")
        if place is None and not has_script:
            # Hidden text stays hidden where nothing in React would show it.
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


def _open_noscript(body: LexborNode, held: list[tuple[LexborNode, int]]) -> None:
    """Unwrap `<noscript>` that contains more than the rest of the page, such as Discourse's."""
    large = [(node, size) for node, size in held if size >= _NOSCRIPT_CHARS]
    if not large:
        return
    unseen = sum(len(node.text()) for node in body.css(_SCRIPTS))
    rest = len(body.text()) - unseen - sum(size for _, size in held)
    for node, size in large:
        if size > rest:
            node.unwrap()


def is_skeleton(html: Guarded, text: str) -> bool:
    """Whether a page has no content without its scripts.

    Args:
        html: the whole page; read only if there is next to no text.
        text: what a reader without scripts sees.
    """
    if len(text) >= _FEW_CHARS:
        return False
    tree = parse(html)
    chars, files = _scripts(tree)
    if not chars and not files:
        return False
    if _has_empty_root(tree) or _asks_for_scripts(tree) or _ASKS.search(text):
        return True
    draws = chars >= _SCRIPT_CHARS or files >= _SCRIPT_FILES
    return draws and len(text) < _SCANT_CHARS


def _scripts(tree: LexborHTMLParser) -> tuple[int, int]:
    """Count characters of inline scripts, and script files; a module counts twice."""
    chars = files = 0
    for script in tree.css("script"):
        attributes = script.attributes
        kind = (attributes.get("type") or "").lower()
        if kind and "javascript" not in kind and kind != "module":
            continue
        if attributes.get("src"):
            files += 2 if kind == "module" else 1
        else:
            chars += len(script.text())
    return chars, files


def _has_empty_root(tree: LexborHTMLParser) -> bool:
    """Whether an app's root has next to no text."""
    return any(len(root.text().strip()) < _ROOT_CHARS for root in tree.css(_ROOTS))


def _asks_for_scripts(tree: LexborHTMLParser) -> bool:
    """Whether readers without scripts are asked to enable them."""
    return any(_ASKS.search(node.text()) for node in tree.css("noscript"))

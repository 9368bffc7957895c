"""Whether a page is empty until its scripts have run."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.guards import Guarded, parse

_ROOTS: Final = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#main-app,#app-root,#react-root,#q-app,#mount,"
    "#ember-app,app-root,my-app,ng-app,[ng-app],[data-reactroot],[data-v-app]"
)
"""Where frameworks put what they draw: their templates' names for it."""

_ASKS = re.compile(r"java\s?script", re.IGNORECASE)
_ROOT_CHARS: Final = 40
"""An app's root with less text holds a word such as "Loading…"."""

_FEW_CHARS: Final = 200
"""Text of a page that asks for scripts, or has an empty root."""

_SCANT_CHARS: Final = 80
"""Text of a page that has scripts and gives no other sign."""

_SCRIPT_CHARS: Final = 2_000
"""Characters of scripts in the page, or as many of them in files as `_SCRIPT_FILES`, draw more than
a counter of visits does."""

_SCRIPT_FILES: Final = 2


def is_skeleton(html: Guarded, text: str) -> bool:
    """Whether a page needs its scripts to say anything.

    Args:
        html: the whole page; it is looked into only if there is next to no text.
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
    """Characters of scripts in the page, and files of others; a module counts twice."""
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
    """Whether readers without scripts are asked to allow them."""
    return any(_ASKS.search(node.text()) for node in tree.css("noscript"))

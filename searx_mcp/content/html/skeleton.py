"""Whether a page is empty until its scripts have run."""

import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser

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


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for a skeleton, read before scripts are taken out.

    Attributes:
        script_chars: in the page itself.
        script_files: loaded from elsewhere; a module counts twice.
        has_empty_root: whether an app's root has next to no text.
        asks_for_scripts: whether readers without scripts are asked to allow them.
    """

    script_chars: int = 0
    script_files: int = 0
    has_empty_root: bool = False
    asks_for_scripts: bool = False


def signs(tree: LexborHTMLParser) -> Signs:
    """Read the signs off a page."""
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
    return Signs(
        script_chars=chars,
        script_files=files,
        has_empty_root=any(len(root.text().strip()) < _ROOT_CHARS for root in tree.css(_ROOTS)),
        asks_for_scripts=any(_ASKS.search(node.text()) for node in tree.css("noscript")),
    )


def is_skeleton(found: Signs, text: str) -> bool:
    """Whether the page needs its scripts to say anything.

    Args:
        found: its signs.
        text: what a reader without scripts sees.
    """
    has_scripts = found.script_chars > 0 or found.script_files > 0
    if not has_scripts:
        return False
    if found.has_empty_root or found.asks_for_scripts or _ASKS.search(text[:_FEW_CHARS]):
        return len(text) < _FEW_CHARS
    draws = found.script_chars >= _SCRIPT_CHARS or found.script_files >= _SCRIPT_FILES
    return draws and len(text) < _SCANT_CHARS

"""Lists of CSS declarations, as far as they can hide text."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from searx_mcp.content.html.style.colours import is_colour


class Value(NamedTuple):
    """A property's value in lower case, and whether it is `!important`."""

    text: str
    is_important: bool = False


_EDGES: Final = ("top", "right", "bottom", "left")
_SINGLE: Final = frozenset({
    "display", "content-visibility", "visibility", "opacity", "filter", "font-size", "position",
    *_EDGES, "text-indent", *(f"margin-{edge}" for edge in _EDGES), "letter-spacing", "clip", "clip-path",
    "overflow", "contain", "width", "height", "transform", "translate", "scale", "rotate", "zoom",
    "color", "text-fill-color", "text-shadow", "text-stroke", "background-color", "background-image",
    "background-clip", "mask-image", "mask-size",
})  # fmt: skip
_OTHER_NAMES: Final = {
    "overflow-x": "overflow", "overflow-y": "overflow", "overflow-inline": "overflow", "overflow-block": "overflow",
    "font": "font-size", "mask": "mask-image", "block-size": "height", "inline-size": "width",
    "text-stroke-width": "text-stroke",
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-inline-end": "margin-right",
    "margin-block-start": "margin-top", "margin-block-end": "margin-bottom",
}  # fmt: skip
"""Left to right and top to bottom is assumed."""

_FOURFOLD: Final = {
    "inset": _EDGES, "inset-inline": ("left", "right"), "inset-block": ("top", "bottom"),
    "margin": tuple(f"margin-{edge}" for edge in _EDGES),
    "margin-inline": ("margin-left", "margin-right"), "margin-block": ("margin-top", "margin-bottom"),
    "background": ("background-color", "background-image"),
}  # fmt: skip
_KNOWN: Final = _SINGLE | _OTHER_NAMES.keys() | _FOURFOLD.keys() | {"all"}

SPACE: Final = r"[ \t\r\n\f]*+"
_UNUSUAL = re.compile(r"[\"'\\{}\[\]]|/\*")
_PART = re.compile(
    r"(?:[^;\"'()]|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'"
    r"|\([^()]*+(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)[^()]*+)*+\)|[\"'()])++",
    re.DOTALL,
)
_OPEN = re.compile(r"\([^()]*+\Z")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|([^\r\n\f]))")
_IMPORTANT = re.compile(rf"!{SPACE}important$")
_VALID: Final = {
    "display": re.compile(
        r"none|contents|(?:inline-|-webkit-)?(?:block|flex|grid|table|box)|inline|flow-root|list-item|run-in|flow"
        r"|table-[a-z-]+|ruby[a-z-]*|-webkit-inline-\w+|(?:block|inline) [a-z -]+|math"
    ),
    "visibility": re.compile("visible|hidden|collapse"),
    "opacity": re.compile(r"[-+0-9.][-+0-9.e]*%?|(?:calc|min|max|clamp)\(.*"),
}
_SHORT: Final = 100
"""Characters of a declaration that is kept once it was read."""

_WIDE: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})


def parse(style: str) -> dict[str, Value]:
    """Read a list of declarations, such as a `style` attribute.

    Args:
        style: without braces; comments and escapes are understood. Linear in its length.

    Returns:
        The properties that can hide or show text, shorthands taken apart, and the page's own (`--x`), the
        last or important one of several. What browsers do not understand is left out. Names are in lower case,
        which takes variables for the same that differ only in that.
    """
    found: dict[str, Value] = {}
    for part in _parts(style):
        for single, value in _read(part) if len(part) <= _SHORT else _read.__wrapped__(part):
            if value.is_important or single not in found or not found[single].is_important:
                found[single] = value
    return found


@lru_cache(maxsize=2_048)
def _read(declaration: str) -> tuple[tuple[str, Value], ...]:
    """What one declaration sets; the same ones are written again and again."""
    name, _, text = declaration.partition(":")
    name = name.strip().lower().removeprefix("-webkit-")
    if name not in _KNOWN and not name.startswith("--"):
        return ()
    text = text.strip().lower()
    is_important = text.endswith("important") and _IMPORTANT.search(text) is not None
    if is_important:
        text = _IMPORTANT.sub("", text).rstrip()
    return tuple((single, Value(value, is_important)) for single, value in _singles(name, text))


def unescaped(css: str) -> str:
    """CSS without comments, and with escaped characters as what they mean."""
    if "/*" in css:
        css = _COMMENT.sub("", css)
    return _ESCAPE.sub(_character, css) if "\\" in css else css


def _parts(style: str) -> list[str]:
    if _UNUSUAL.search(style) is None:
        parts = style.split(";")
        if "(" not in style or all(part.count("(") == part.count(")") for part in parts):
            return parts
    return _PART.findall(unescaped(style))


def _singles(name: str, text: str) -> list[tuple[str, str]]:
    """The properties that a declaration sets."""
    if name == "all":
        return [(each, text) for each in _SINGLE]
    if name in _FOURFOLD:
        names = _FOURFOLD[name]
        if name == "background" or "(" in text or len(words := text.split()) < 2:  # noqa: PLR2004 - one for all
            return [(each, text) for each in names]
        # Top, right, bottom, left: what is not said is as on the other side.
        sides = [*words, words[1]] if len(words[:4]) == len(_EDGES) - 1 else words * 2
        return list(zip(names, sides, strict=False))
    return [(_OTHER_NAMES.get(name, name), text)] if _is_valid(name, text) else []


def _is_valid(name: str, text: str) -> bool:
    if "var(" in text or text in _WIDE:
        return True
    if name in {"color", "text-fill-color"}:
        return is_colour(text)
    return name not in _VALID or _VALID[name].fullmatch(text) is not None


def _character(match: re.Match[str]) -> str:
    if match[2]:
        return match[2]
    code = int(match[1], 16)
    is_character = 0 < code < 0x110000 and not 0xD800 <= code < 0xE000  # noqa: PLR2004 - Unicode
    return chr(code) if is_character else "\ufffd"

"""What CSS declarations do to the text of an element: whether a reader sees it.

A style can hide text in more ways than can be listed. These are the ways that are used: to hide what
a script shows later, to speak to screen readers only, to replace text by a picture, and to speak to
machines behind the reader's back. Text behind other boxes, in the colour of a background that another
element paints, or folded to `max-height: 0` until a click, is taken for visible.
"""

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

from searx_mcp.content.html.style.colours import Colour, colour, is_same, is_transparent


class Hidden(Enum):
    """How an element is hidden. What is inherited, an element inside can undo."""

    BOX = auto()
    """The element with everything in it."""
    VISIBILITY = auto()
    SIZE = auto()
    COLOUR = auto()


class Value(NamedTuple):
    """A property's value in lower case, and whether it is `!important`."""

    text: str
    is_important: bool = False


Declarations = Mapping[str, Value]

_PROPERTIES: Final = {
    **dict.fromkeys(
        (
            *("display", "content-visibility", "visibility", "opacity", "font-size", "position"),
            *("left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top"),
            *("clip", "clip-path", "overflow", "width", "height", "transform", "scale"),
            *("color", "background-color", "background-clip"),
        )
    ),
    "overflow-x": "overflow",
    "overflow-y": "overflow",
    "background": "background-color",
    "-webkit-background-clip": "background-clip",
    "-webkit-clip-path": "clip-path",
    "-webkit-transform": "transform",
    "font": "font-size",
}
"""The properties looked at; a value names the property it is read as."""

_DECLARATION = re.compile(
    r"(?<![-\w])([-a-zA-Z]++)[ \t\r\n\f]*+:"
    r"((?:[^;\"'()]|\"[^\"]*+\"|'[^']*+'|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|[\"'()])*+)"
)
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|([^\r\n\f]))")
_IMPORTANT = re.compile(r"[ \t\r\n\f]*+![ \t\r\n\f]*+important$")
_LENGTH = re.compile(r"([+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}))([a-z%]*+)")
_CALL = re.compile(r"([a-z0-9]++)\(([^()]*+)\)")
_SEPARATOR = re.compile(r"[ \t\r\n\f,/]+")

_MATTERS = re.compile("|".join(sorted(_PROPERTIES, key=len)), re.IGNORECASE)
_MAY_HIDE = re.compile(
    r"display[^;]*:[^;]*none|visibility[^;]*:[^;]*(?:hidden|collapse)|clip[^;]*:[^;]*\(|scale"
    r"|opacity[^;]*:[^;]*(?<![0-9])[-+]?(?:[0.]|[0-9.]+%)"
    r"|-(?:[0-9.]{3}|[0-9]{2}(?:em|rem|pc|in|cm))"
    r"|font[^;]*:[^;]*(?<![0-9.])(?:[0.]|1(?![0-9])(?!(?:em|rem|ex|ch|v|in|cm|mm|pc))|1?[0-9](?:\.[0-9]*)?%)"
    r"|(?:width|height)[^;]*:[^;]*(?<![0-9.])(?:[-0.]|1(?![0-9]))"
    r"|(?<![-\w])color[^;]*:[^;]*(?:transparent|\(|\#(?:[0-9a-f]{4}){1,2}(?![0-9a-f]))"
    r"|background.*(?<![-\w])color[ \t\r\n\f]*:|(?<![-\w])color[ \t\r\n\f]*:.*background",
    re.IGNORECASE | re.DOTALL,
)
"""What a style must have in it to hide anything. It is looked for before the style is read."""

_PIXELS: Final = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "em": 16.0,
    "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 10.0, "vh": 10.0, "vmin": 10.0, "vmax": 10.0,
}  # fmt: skip
"""CSS Values 4, section 6; letters of 16 pixels in a window of 1,000 are assumed."""

_OFF_SCREEN: Final = -999.0
"""Pixels; nobody moves text that is to be read that far to the left or up."""

_LEAST_SIZE: Final = 2.0
"""Pixels; smaller letters are not letters."""

_LEAST_BOX: Final = 1.0
"""Pixels; a box of 1 by 1 with `overflow: hidden` is the idiom for text only screen readers see."""

_RELATIVE_SIZES: Final = ("%", "em", "smaller", "larger", "inherit", "unset")
_LEAST_OPACITY: Final = 0.05
_FULL: Final = 100.0


def may_matter(style: str) -> bool:
    """Whether a list of declarations can have one that is looked at; true for some that have not."""
    return _MATTERS.search(style) is not None


def may_hide(style: str) -> bool:
    """Whether a list of declarations can hide anything, with the help of others; never falsely no.

    Args:
        style: without comments and escapes, as `plain` gives it.
    """
    return _MAY_HIDE.search(style) is not None


def parse(style: str) -> dict[str, Value]:
    """Read a list of declarations, such as a `style` attribute.

    Args:
        style: without braces; comments and escapes are understood. Linear in its length.

    Returns:
        The properties that can hide text, under one name each, the last or important one of several.
    """
    found: dict[str, Value] = {}
    for match in _DECLARATION.finditer(plain(style)):
        name = match[1].lower()
        if name not in _PROPERTIES:
            continue
        name = _PROPERTIES[name] or name
        text = match[2].strip().lower()
        is_important = text.endswith("important") and _IMPORTANT.search(text) is not None
        value = Value(_IMPORTANT.sub("", text) if is_important else text, is_important)
        if is_important or name not in found or not found[name].is_important:
            found[name] = value
    return found


def plain(css: str) -> str:
    """CSS without comments, and with escaped characters as what they mean."""
    if "/*" in css:
        css = _COMMENT.sub("", css)
    return _ESCAPE.sub(_unescaped, css) if "\\" in css else css


def hidden(style: Declarations) -> frozenset[Hidden]:
    """In which ways declarations hide the element they hold for."""
    found = set()
    if _hides_box(style):
        found.add(Hidden.BOX)
    if _text(style, "visibility") in {"hidden", "collapse"}:
        found.add(Hidden.VISIBILITY)
    size = _font_size(style)
    if size is not None and size < _LEAST_SIZE:
        found.add(Hidden.SIZE)
    if _hides_by_colour(style):
        found.add(Hidden.COLOUR)
    return frozenset(found)


def shown(style: Declarations) -> frozenset[Hidden]:
    """Which inherited ways of hiding the declarations undo."""
    found = set()
    if _text(style, "visibility") == "visible":
        found.add(Hidden.VISIBILITY)
    size = _text(style, "font-size") or "inherit"
    # Relative to nothing is nothing.
    if size.endswith("rem") or not size.endswith(_RELATIVE_SIZES):
        found.add(Hidden.SIZE)
    if (_text(style, "color") or "inherit") != "inherit":
        found.add(Hidden.COLOUR)
    return frozenset(found) - hidden(style)


def _hides_box(style: Declarations) -> bool:
    return (
        _text(style, "display") == "none"
        or _text(style, "content-visibility") == "hidden"
        or _is_faint(_text(style, "opacity"))
        or _is_off_screen(style)
        or _is_clipped(style)
        or _is_empty_box(style)
        or _is_moved_away(style)
    )


def _is_faint(opacity: str) -> bool:
    found = _LENGTH.fullmatch(opacity)
    if found is None or found[2] not in {"", "%"}:
        return False
    return float(found[1]) / (_FULL if found[2] else 1) <= _LEAST_OPACITY


def _is_off_screen(style: Declarations) -> bool:
    offsets = ["text-indent", "margin-left", "margin-top"]
    if _is_positioned(style):
        offsets += ["left", "right", "top", "bottom"]
    return any(_is_far(_pixels(_text(style, name))) for name in offsets)


def _is_moved_away(style: Declarations) -> bool:
    if (scale := _text(style, "scale")) and _is_zero(_SEPARATOR.split(scale)[0]):
        return True
    for name, arguments in _CALL.findall(_text(style, "transform")):
        values = _SEPARATOR.split(arguments.strip())
        if name.startswith("scale") and any(map(_is_zero, values[:2])):
            return True
        if name.startswith("translate") and any(_is_far(_pixels(value)) for value in values[:2]):
            return True
    return False


def _is_clipped(style: Declarations) -> bool:
    found = _CALL.search(_text(style, "clip-path"))
    if found is not None and _is_clipped_by(found[1], _SEPARATOR.split(found[2].strip())):
        return True
    found = _CALL.search(_text(style, "clip"))
    if found is None or found[1] != "rect" or not _is_positioned(style):
        return False
    edges = [_pixels(value) for value in _SEPARATOR.split(found[2].strip())]
    if len(edges) != 4:  # noqa: PLR2004 - top, right, bottom, left
        return False
    top, right, bottom, left = edges
    return _is_thin(top, bottom) or _is_thin(left, right)


def _is_clipped_by(shape: str, values: list[str]) -> bool:
    if shape in {"circle", "ellipse"}:
        return _is_zero(values[0])
    if shape == "polygon":
        return all(map(_is_zero, values))
    if shape != "inset":
        return False
    shares = [_share(value) for value in values[:4]]
    top, right, bottom, left = (shares * 4)[:4] if len(shares) != 3 else (*shares, shares[1])  # noqa: PLR2004 - CSS Shapes: top, both sides, bottom
    return top + bottom >= _FULL or right + left >= _FULL


def _is_empty_box(style: Declarations) -> bool:
    if _text(style, "overflow") not in {"hidden", "clip"}:
        return False
    sizes = (_pixels(_text(style, name)) for name in ("width", "height"))
    return any(size is not None and size <= _LEAST_BOX for size in sizes)


def _hides_by_colour(style: Declarations) -> bool:
    ink = _colour(style, "color")
    # Letters cut out of a background are seen in its colours.
    if ink is None or "text" in _text(style, "background-clip"):
        return False
    ground = _colour(style, "background-color")
    return is_transparent(ink) or (ground is not None and is_same(ink, ground))


def _colour(style: Declarations, name: str) -> Colour | None:
    return colour(_text(style, name))


def _text(style: Declarations, name: str) -> str:
    value = style.get(name)
    return "" if value is None else value.text


def _font_size(style: Declarations) -> float | None:
    # Of the shorthand `font`, the size is the first length.
    for part in _SEPARATOR.split(_text(style, "font-size")):
        if part.endswith("%") and (found := _LENGTH.fullmatch(part)):
            return float(found[1]) / _FULL * _PIXELS["em"]
        if not part.isdigit() or part == "0":
            size = _pixels(part)
            if size is not None:
                return size
    return None


def _is_positioned(style: Declarations) -> bool:
    return _text(style, "position") in {"absolute", "fixed"}


def _pixels(length: str) -> float | None:
    found = _LENGTH.fullmatch(length)
    return float(found[1]) * _PIXELS[found[2]] if found and found[2] in _PIXELS else None


def _share(value: str) -> float:
    """Percent; a length is none."""
    found = _LENGTH.fullmatch(value)
    return float(found[1]) if found and found[2] == "%" else 0.0


def _is_zero(value: str) -> bool:
    found = _LENGTH.fullmatch(value)
    return found is not None and float(found[1]) == 0


def _is_far(offset: float | None) -> bool:
    return offset is not None and offset <= _OFF_SCREEN


def _is_thin(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and high - low <= _LEAST_BOX


def _unescaped(match: re.Match[str]) -> str:
    if match[2]:
        return match[2]
    code = int(match[1], 16)
    is_character = 0 < code < 0x110000 and not 0xD800 <= code < 0xE000  # noqa: PLR2004 - Unicode
    return chr(code) if is_character else "\ufffd"

"""CSS declarations that can hide text, with their lengths and colours.

CSS Values 4 and CSS Color 4 define the syntax.
"""

import colorsys
import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

_EDGES: Final = ("top", "right", "bottom", "left")
_SINGLE: Final = frozenset({
    "display", "content-visibility", "visibility", "opacity", "filter", "font-size", "position",
    *_EDGES, "text-indent", *(f"margin-{edge}" for edge in _EDGES), "letter-spacing", "clip", "clip-path",
    "overflow", "contain", "padding-top", "padding-bottom", "width", "height", "max-height", "transition", "transform", "translate", "scale", "rotate", "zoom",
    "color", "text-fill-color", "text-shadow", "text-stroke", "background-color", "background-image",
    "background-clip", "mask-image", "mask-size",
})  # fmt: skip
_OTHER_NAMES: Final = {
    "overflow-x": "overflow", "overflow-y": "overflow", "overflow-inline": "overflow", "overflow-block": "overflow",
    "font": "font-size", "mask": "mask-image", "max-block-size": "max-height", "block-size": "height", "inline-size": "width",
    "text-stroke-width": "text-stroke", "transition-duration": "transition",
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-inline-end": "margin-right",
    "padding-block-start": "padding-top", "padding-block-end": "padding-bottom",
    "margin-block-start": "margin-top", "margin-block-end": "margin-bottom",
}  # fmt: skip
"""Assumes text from left to right and from top to bottom."""

_FOURFOLD: Final = {
    "inset": _EDGES, "inset-inline": ("left", "right"), "inset-block": ("top", "bottom"),
    "margin": tuple(f"margin-{edge}" for edge in _EDGES),
    "margin-inline": ("margin-left", "margin-right"), "margin-block": ("margin-top", "margin-bottom"),
    "padding": ("padding-top", "", "padding-bottom", ""), "padding-block": ("padding-top", "padding-bottom"),
    "background": ("background-color", "background-image"),
}  # fmt: skip
KNOWN: Final = _SINGLE | _OTHER_NAMES.keys() | _FOURFOLD.keys() | {"all"}

SPACE: Final = r"[ \t\r\n\f]*+"
_UNUSUAL = re.compile(r"[\"'\\{}\[\]]|/\*")
_PART = re.compile(
    r"(?:[^;\"'()]|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'"
    r"|\([^()]*+(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)[^()]*+)*+\)|[\"'()])++",
    re.DOTALL,
)
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
_Answer = TypeVar("_Answer")
_SHORT: Final = 100
"""Characters of a declaration that is cached once it is parsed."""

_WIDE: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})

_NAMES: Final = dict(zip(*[iter(
    ["aliceblue", "f0f8ff", "antiquewhite", "faebd7", "aqua", "00ffff", "aquamarine", "7fffd4", "azure", "f0ffff", "beige", "f5f5dc", "bisque", "ffe4c4", "black", "000000", "blanchedalmond", "ffebcd", "blue", "0000ff", "blueviolet", "8a2be2", "brown", "a52a2a", "burlywood", "deb887", "cadetblue", "5f9ea0", "chartreuse", "7fff00", "chocolate", "d2691e", "coral", "ff7f50", "cornflowerblue", "6495ed", "cornsilk", "fff8dc", "crimson", "dc143c", "cyan", "00ffff", "darkblue", "00008b", "darkcyan", "008b8b", "darkgoldenrod", "b8860b", "darkgray", "a9a9a9", "darkgreen", "006400", "darkgrey", "a9a9a9", "darkkhaki", "bdb76b", "darkmagenta", "8b008b", "darkolivegreen", "556b2f", "darkorange", "ff8c00", "darkorchid", "9932cc", "darkred", "8b0000", "darksalmon", "e9967a", "darkseagreen", "8fbc8f", "darkslateblue", "483d8b", "darkslategray", "2f4f4f", "darkslategrey", "2f4f4f", "darkturquoise", "00ced1", "darkviolet", "9400d3", "deeppink", "ff1493", "deepskyblue", "00bfff", "dimgray", "696969", "dimgrey", "696969", "dodgerblue", "1e90ff", "firebrick", "b22222", "floralwhite", "fffaf0", "forestgreen", "228b22", "fuchsia", "ff00ff", "gainsboro", "dcdcdc", "ghostwhite", "f8f8ff", "gold", "ffd700", "goldenrod", "daa520", "gray", "808080", "green", "008000", "greenyellow", "adff2f", "grey", "808080", "honeydew", "f0fff0", "hotpink", "ff69b4", "indianred", "cd5c5c", "indigo", "4b0082", "ivory", "fffff0", "khaki", "f0e68c", "lavender", "e6e6fa", "lavenderblush", "fff0f5", "lawngreen", "7cfc00", "lemonchiffon", "fffacd", "lightblue", "add8e6", "lightcoral", "f08080", "lightcyan", "e0ffff", "lightgoldenrodyellow", "fafad2", "lightgray", "d3d3d3", "lightgreen", "90ee90", "lightgrey", "d3d3d3", "lightpink", "ffb6c1", "lightsalmon", "ffa07a", "lightseagreen", "20b2aa", "lightskyblue", "87cefa", "lightslategray", "778899", "lightslategrey", "778899", "lightsteelblue", "b0c4de", "lightyellow", "ffffe0", "lime", "00ff00", "limegreen", "32cd32", "linen", "faf0e6", "magenta", "ff00ff", "maroon", "800000", "mediumaquamarine", "66cdaa", "mediumblue", "0000cd", "mediumorchid", "ba55d3", "mediumpurple", "9370db", "mediumseagreen", "3cb371", "mediumslateblue", "7b68ee", "mediumspringgreen", "00fa9a", "mediumturquoise", "48d1cc", "mediumvioletred", "c71585", "midnightblue", "191970", "mintcream", "f5fffa", "mistyrose", "ffe4e1", "moccasin", "ffe4b5", "navajowhite", "ffdead", "navy", "000080", "oldlace", "fdf5e6", "olive", "808000", "olivedrab", "6b8e23", "orange", "ffa500", "orangered", "ff4500", "orchid", "da70d6", "palegoldenrod", "eee8aa", "palegreen", "98fb98", "paleturquoise", "afeeee", "palevioletred", "db7093", "papayawhip", "ffefd5", "peachpuff", "ffdab9", "peru", "cd853f", "pink", "ffc0cb", "plum", "dda0dd", "powderblue", "b0e0e6", "purple", "800080", "rebeccapurple", "663399", "red", "ff0000", "rosybrown", "bc8f8f", "royalblue", "4169e1", "saddlebrown", "8b4513", "salmon", "fa8072", "sandybrown", "f4a460", "seagreen", "2e8b57", "seashell", "fff5ee", "sienna", "a0522d", "silver", "c0c0c0", "skyblue", "87ceeb", "slateblue", "6a5acd", "slategray", "708090", "slategrey", "708090", "snow", "fffafa", "springgreen", "00ff7f", "steelblue", "4682b4", "tan", "d2b48c", "teal", "008080", "thistle", "d8bfd8", "tomato", "ff6347", "turquoise", "40e0d0", "violet", "ee82ee", "wheat", "f5deb3", "white", "ffffff", "whitesmoke", "f5f5f5", "yellow", "ffff00", "yellowgreen", "9acd32", "transparent", "00000000"]
)] * 2, strict=True))  # fmt: skip

_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_CALL = re.compile(r"([a-z-]++)\(([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)")
_MIXED = re.compile(r"in [a-z0-9 -]+,\s*(.+?)\s*,\s*(.+)")
_SHARE = re.compile(r"\s*([0-9.]+)%\s*")
_SEPARATOR = re.compile(r"[ \t\r\n\f,/]+")
_FUNCTIONS: Final = frozenset({
    "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix",
    "light-dark", "device-cmyk", "contrast-color",
})  # fmt: skip
_SYSTEM = re.compile(
    r"currentcolor|canvas(?:text)?|(?:visited|active)?(?:link)?text|linktext|(?:button|field|highlight|mark|graytext)[a-z]*"
)
_SHORT_HEX: Final = (3, 4)
_FULL: Final = 255.0
NEAR: Final = 8
"""Invisible difference in a channel: 3 % of its range."""

_LEAST_ALPHA: Final = 0.05

_PIXELS: Final = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "rem": 16.0, "rlh": 20.0, "em": 16.0, "ex": 8.0, "ch": 8.0, "lh": 20.0, "cap": 11.0, "ic": 16.0,
    **{f"{size}{side}": 10.0 for size in ("", "s", "l", "d") for side in ("vw", "vh", "vi", "vb", "vmin", "vmax")},
    "cqw": 10.0, "cqh": 10.0, "cqi": 10.0, "cqb": 10.0, "cqmin": 10.0, "cqmax": 10.0,
}  # fmt: skip
"""Assumes letters of 16 pixels in a window of 1,000."""

_OTHER: Final = {"": 1.0, "deg": 1.0, "turn": 360.0, "grad": 0.9, "rad": 180 / math.pi}
_UNITS: Final = _PIXELS | _OTHER
LETTERS: Final = 16.0

_NUMBER: Final = r"[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:e[+-]?[0-9]{1,3}(?![a-z%]))?"
_LENGTH = re.compile(rf"({_NUMBER})([a-z%]*+)")
_INNERMOST = re.compile(r"([a-z-]*+)\(([^()]*+)\)")
_CALLS: Final[dict[str, Callable[[list[float]], float]]] = {
    "min": min, "max": max, "": sum, "calc": sum, "-webkit-calc": sum,
    "clamp": lambda three: max(three[0], min(three[1:])), "abs": lambda one: abs(one[0]),
}  # fmt: skip
_MAX_CALCULATION: Final = 500
"""Characters."""


class Value(NamedTuple):
    """A property's value in lower case, and whether it is `!important`."""

    text: str
    is_important: bool = False


def cached_if_short(function: Callable[..., _Answer]) -> Callable[..., _Answer]:
    """Keep the answers to short texts, since declarations repeat."""
    cached = lru_cache(maxsize=4_096)(function)

    def answer(*texts: str) -> _Answer:
        return (cached if len(texts[-1]) <= _SHORT else function)(*texts)

    return answer


def parse_declarations(style: str) -> dict[str, Value]:
    """Read a list of declarations, such as a `style` attribute.

    Args:
        style: without braces; comments and escapes are understood. Linear in its length.

    Returns:
        The properties that can hide or show text, with shorthands expanded, and the custom properties (`--x`);
        of duplicates, the last or important one. What browsers do not understand is left out. Names are in lower
        case, so variables that differ only in case are treated as the same.
    """
    found: dict[str, Value] = {}
    for part in _parts(style):
        for single, value in _read(part):
            if value.is_important or single not in found or not found[single].is_important:
                found[single] = value
    return found


def name_of(declaration: str) -> str:
    """The name of the property that a declaration sets, without the prefix of browsers."""
    if "\\" in declaration:
        declaration = unescaped(declaration)
    return declaration.partition(":")[0].strip().lower().removeprefix("-webkit-")


def names_for(single: str) -> Iterator[str]:
    """The names of the properties that set a property of `parse_declarations`, itself among them."""
    yield single
    yield "all"
    yield from (name for name, other in _OTHER_NAMES.items() if other == single)
    yield from (name for name, others in _FOURFOLD.items() if single in others)


@cached_if_short
def _read(declaration: str) -> tuple[tuple[str, Value], ...]:
    """Return what one declaration sets; cached, since declarations repeat."""
    name, _, text = declaration.partition(":")
    name = name.strip().lower().removeprefix("-webkit-")
    if name not in KNOWN and not name.startswith("--"):
        return ()
    text = text.strip().lower()
    is_important = text.endswith("important") and _IMPORTANT.search(text) is not None
    if is_important:
        text = _IMPORTANT.sub("", text).rstrip()
    return tuple((single, Value(value, is_important)) for single, value in _singles(name, text))


def unescaped(css: str) -> str:
    """CSS without comments, and with escapes decoded."""
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
        # Top, right, bottom, left: a missing side is like the opposite one.
        sides = [*words, words[1]] if len(words[:4]) == len(_EDGES) - 1 else words * 2
        return list(zip(names, sides, strict=False))
    return [(_OTHER_NAMES.get(name, name), text)] if _is_valid(name, text) else []


def _is_valid(name: str, text: str) -> bool:
    if "var(" in text or text in _WIDE:
        return True
    if name in {"color", "text-fill-color"}:
        return _is_colour(text)
    return name not in _VALID or _VALID[name].fullmatch(text) is not None


def _character(match: re.Match[str]) -> str:
    if match[2]:
        return match[2]
    code = int(match[1], 16)
    is_character = 0 < code < 0x110000 and not 0xD800 <= code < 0xE000  # noqa: PLR2004 - Unicode
    return chr(code) if is_character else "\ufffd"


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, and alpha from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


WHITE: Final = Colour(255, 255, 255)


def colour(text: str) -> Colour | None:
    """Parse a colour in lower case: a name, `#rgb`, `rgb()`, `hsl()`, `hwb()`, transparent.

    Returns:
        `None` for anything else, such as a gradient, an image or a colour in another space.
    """
    text = text.strip()
    if text in _NAMES:
        return _of_digits(_NAMES[text])
    if text.startswith("#"):
        return _of_digits(text[1:]) if _HEX.fullmatch(text) else None
    found = _CALL.fullmatch(text)
    return _of_call(found[1], found[2]) if found else None


def _is_colour(text: str) -> bool:
    """Whether browsers accept a text as a colour; true for some that they reject."""
    return (
        colour(text) is not None
        or text.partition("(")[0] in _FUNCTIONS
        or _SYSTEM.fullmatch(text) is not None
    )


def is_transparent(ink: Colour) -> bool:
    """Whether it is invisible."""
    return ink.alpha <= _LEAST_ALPHA


def is_same(ink: Colour, ground: Colour) -> bool:
    """Whether text of one colour cannot be distinguished from a background of the other."""
    return (
        abs(ink[0] - ground[0]) <= NEAR
        and abs(ink[1] - ground[1]) <= NEAR
        and abs(ink[2] - ground[2]) <= NEAR
    )


def _of_digits(digits: str) -> Colour:
    if len(digits) in _SHORT_HEX:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, alpha = (int(pair, 16) for pair in re.findall("..", f"{digits}ff")[:4])
    return Colour(red, green, blue, alpha / _FULL)


def _of_call(name: str, text: str) -> Colour | None:
    if name == "color-mix":
        return _mixed(text)
    if name not in _FUNCTIONS:
        return None
    parts = _SEPARATOR.split(text.strip())
    if len(parts) not in {3, 4, 5}:
        return None
    alpha = 1.0
    if len(parts) > 3 and name != "color":  # noqa: PLR2004 - three channels
        found = number(parts[3].replace("none", "0"), share=1)
        alpha = 1.0 if found is None else found
    elif name == "color":
        alpha = (number(parts[4], share=1) if len(parts) > 4 else 1.0) or 0.0  # noqa: PLR2004 - a space, three channels
    if name.startswith("rgb"):
        channels = [number(part.replace("none", "0"), share=_FULL) for part in parts[:3]]
    else:
        channels = _other_channels(name, parts)
    if None not in channels:
        red, green, blue = (channel or 0.0 for channel in channels)
        return Colour(red, green, blue, alpha)
    # For a colour in another space, only whether it is invisible matters.
    return Colour(0, 0, 0, 0) if alpha <= _LEAST_ALPHA else None


def _other_channels(name: str, parts: list[str]) -> list[float | None]:
    hue, one, two = (number(part.replace("none", "0"), share=100) for part in parts[:3])
    if hue is None or one is None or two is None:
        return [None]
    one, two = one / 100, two / 100
    if name.startswith("hsl"):
        return [_FULL * channel for channel in colorsys.hls_to_rgb(hue / 360 % 1, two, one)]
    if name == "hwb":
        scale = max(one + two, 1.0)
        pure = colorsys.hls_to_rgb(hue / 360 % 1, 0.5, 1)
        return [_FULL * (channel * (1 - (one + two) / scale) + one / scale) for channel in pure]
    return [None]


def _mixed(text: str) -> Colour | None:
    """A mix of two colours, of which one is transparent or has no share."""
    found = _MIXED.fullmatch(text)
    if found is None:
        return None
    shares = [_SHARE.search(part) for part in found.groups()]
    pair = [colour(_SHARE.sub("", part)) for part in found.groups()]
    first = (
        float(shares[0][1]) / 100
        if shares[0]
        else 1 - float(shares[1][1]) / 100
        if shares[1]
        else 0.5
    )
    for ink, part in zip(pair, (first, 1 - first), strict=True):
        if part >= 1 - _LEAST_ALPHA:
            return ink
    return None


def number(text: str, *, share: float | None = None, letters: float = LETTERS) -> float | None:
    """Parse a number, an angle in degrees or a length in pixels; calculations are evaluated.

    Args:
        text: in lower case.
        share: the value of 100 %; `None` if percentages are not supported.
        letters: pixels of an `em`.

    Returns:
        `None` for anything else, such as a keyword.
    """
    if found := _LENGTH.fullmatch(text):
        return _amount(found[1], found[2], share, letters)
    if not text.endswith(")") or len(text) > _MAX_CALCULATION:
        return None
    try:
        while (call := _INNERMOST.search(text)) is not None:
            values = [_sum(part, share, letters) for part in call[2].split(",")]
            text = f"{text[: call.start()]}{_CALLS[call[1]](values)!r}{text[call.end() :]}"
        value = float(text)
    except (KeyError, ValueError, IndexError, ZeroDivisionError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _amount(digits: str, unit: str, share: float | None, letters: float) -> float | None:
    if unit == "%":
        return None if share is None else float(digits) / 100 * share
    if unit == "em":
        return float(digits) * letters
    return float(digits) * _UNITS[unit] if unit in _UNITS else None


def _sum(text: str, share: float | None, letters: float) -> float:
    """Evaluate a sum of products (CSS Values 4, section 10)."""
    total = 0.0
    terms = re.split(r"\s([+-])\s", text)
    for sign, term in zip(["+", *terms[1::2]], terms[::2], strict=True):
        product = 1.0
        for operator, factor in re.findall(r"(?:^|([*/]))([^*/]*)", term):
            found = _LENGTH.fullmatch(factor.strip())
            amount = _amount(found[1], found[2], share, letters) if found else None
            if amount is None:
                raise ValueError(factor)
            product = product / amount if operator == "/" else product * amount
        total += -product if sign == "-" else product
    return total

"""Colours of CSS, as far as text can be hidden with them (CSS Color 4)."""

import colorsys
import re
from typing import Final, NamedTuple

from searx_mcp.content.html.style.lengths import number


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, and alpha from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


WHITE: Final = Colour(255, 255, 255)

_NAMES: Final = dict(zip(*[iter(
    ["aliceblue", "f0f8ff", "antiquewhite", "faebd7", "aqua", "00ffff", "aquamarine", "7fffd4", "azure", "f0ffff", "beige", "f5f5dc", "bisque", "ffe4c4", "black", "000000", "blanchedalmond", "ffebcd", "blue", "0000ff", "blueviolet", "8a2be2", "brown", "a52a2a", "burlywood", "deb887", "cadetblue", "5f9ea0", "chartreuse", "7fff00", "chocolate", "d2691e", "coral", "ff7f50", "cornflowerblue", "6495ed", "cornsilk", "fff8dc", "crimson", "dc143c", "cyan", "00ffff", "darkblue", "00008b", "darkcyan", "008b8b", "darkgoldenrod", "b8860b", "darkgray", "a9a9a9", "darkgreen", "006400", "darkgrey", "a9a9a9", "darkkhaki", "bdb76b", "darkmagenta", "8b008b", "darkolivegreen", "556b2f", "darkorange", "ff8c00", "darkorchid", "9932cc", "darkred", "8b0000", "darksalmon", "e9967a", "darkseagreen", "8fbc8f", "darkslateblue", "483d8b", "darkslategray", "2f4f4f", "darkslategrey", "2f4f4f", "darkturquoise", "00ced1", "darkviolet", "9400d3", "deeppink", "ff1493", "deepskyblue", "00bfff", "dimgray", "696969", "dimgrey", "696969", "dodgerblue", "1e90ff", "firebrick", "b22222", "floralwhite", "fffaf0", "forestgreen", "228b22", "fuchsia", "ff00ff", "gainsboro", "dcdcdc", "ghostwhite", "f8f8ff", "gold", "ffd700", "goldenrod", "daa520", "gray", "808080", "green", "008000", "greenyellow", "adff2f", "grey", "808080", "honeydew", "f0fff0", "hotpink", "ff69b4", "indianred", "cd5c5c", "indigo", "4b0082", "ivory", "fffff0", "khaki", "f0e68c", "lavender", "e6e6fa", "lavenderblush", "fff0f5", "lawngreen", "7cfc00", "lemonchiffon", "fffacd", "lightblue", "add8e6", "lightcoral", "f08080", "lightcyan", "e0ffff", "lightgoldenrodyellow", "fafad2", "lightgray", "d3d3d3", "lightgreen", "90ee90", "lightgrey", "d3d3d3", "lightpink", "ffb6c1", "lightsalmon", "ffa07a", "lightseagreen", "20b2aa", "lightskyblue", "87cefa", "lightslategray", "778899", "lightslategrey", "778899", "lightsteelblue", "b0c4de", "lightyellow", "ffffe0", "lime", "00ff00", "limegreen", "32cd32", "linen", "faf0e6", "magenta", "ff00ff", "maroon", "800000", "mediumaquamarine", "66cdaa", "mediumblue", "0000cd", "mediumorchid", "ba55d3", "mediumpurple", "9370db", "mediumseagreen", "3cb371", "mediumslateblue", "7b68ee", "mediumspringgreen", "00fa9a", "mediumturquoise", "48d1cc", "mediumvioletred", "c71585", "midnightblue", "191970", "mintcream", "f5fffa", "mistyrose", "ffe4e1", "moccasin", "ffe4b5", "navajowhite", "ffdead", "navy", "000080", "oldlace", "fdf5e6", "olive", "808000", "olivedrab", "6b8e23", "orange", "ffa500", "orangered", "ff4500", "orchid", "da70d6", "palegoldenrod", "eee8aa", "palegreen", "98fb98", "paleturquoise", "afeeee", "palevioletred", "db7093", "papayawhip", "ffefd5", "peachpuff", "ffdab9", "peru", "cd853f", "pink", "ffc0cb", "plum", "dda0dd", "powderblue", "b0e0e6", "purple", "800080", "rebeccapurple", "663399", "red", "ff0000", "rosybrown", "bc8f8f", "royalblue", "4169e1", "saddlebrown", "8b4513", "salmon", "fa8072", "sandybrown", "f4a460", "seagreen", "2e8b57", "seashell", "fff5ee", "sienna", "a0522d", "silver", "c0c0c0", "skyblue", "87ceeb", "slateblue", "6a5acd", "slategray", "708090", "slategrey", "708090", "snow", "fffafa", "springgreen", "00ff7f", "steelblue", "4682b4", "tan", "d2b48c", "teal", "008080", "thistle", "d8bfd8", "tomato", "ff6347", "turquoise", "40e0d0", "violet", "ee82ee", "wheat", "f5deb3", "white", "ffffff", "whitesmoke", "f5f5f5", "yellow", "ffff00", "yellowgreen", "9acd32", "transparent", "00000000"]
)] * 2, strict=True))  # fmt: skip

_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_CALL = re.compile(r"([a-z-]++)\(([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)")
_MIXED = re.compile(r"in [a-z0-9 -]+,\s*(.+?)\s*,\s*(.+)")
_SHARE = re.compile(r"\s*([0-9.]+)%\s*")
_SEPARATOR = re.compile(r"[ \t\r\n\f,/]+")
_FUNCTIONS: Final = frozenset(
    [
        "rgb",
        "rgba",
        "hsl",
        "hsla",
        "hwb",
        "lab",
        "lch",
        "oklab",
        "oklch",
        "color",
        "color-mix",
        "light-dark",
        "device-cmyk",
        "contrast-color",
    ]
)
_SYSTEM = re.compile(
    r"currentcolor|canvas(?:text)?|(?:visited|active)?(?:link)?text|linktext|(?:button|field|highlight|mark|graytext)[a-z]*"
)
_SHORT: Final = (3, 4)
_FULL: Final = 255.0
_NEAR: Final = 8
"""Difference of a channel that nobody sees: 3 % of its range."""

_LEAST_ALPHA: Final = 0.05


def colour(text: str) -> Colour | None:
    """A colour in lower case, where it can be told: a name, `#rgb`, `rgb()`, `hsl()`, `hwb()`, nothing at all.

    Returns:
        `None` for anything else, such as a gradient, a picture or a colour of another space.
    """
    text = text.strip()
    if text in _NAMES:
        return _of_digits(_NAMES[text])
    if text.startswith("#"):
        return _of_digits(text[1:]) if _HEX.fullmatch(text) else None
    found = _CALL.fullmatch(text)
    return _of_call(found[1], found[2]) if found else None


def is_colour(text: str) -> bool:
    """Whether browsers take a text for a colour; true for some that they do not."""
    return (
        colour(text) is not None
        or text.partition("(")[0] in _FUNCTIONS
        or _SYSTEM.fullmatch(text) is not None
    )


def is_transparent(ink: Colour) -> bool:
    """Whether nothing is seen of it."""
    return ink.alpha <= _LEAST_ALPHA


def is_same(ink: Colour, ground: Colour) -> bool:
    """Whether letters of one colour cannot be told from a ground of the other."""
    return all(abs(one - other) <= _NEAR for one, other in zip(ink[:3], ground[:3], strict=True))


def _of_digits(digits: str) -> Colour:
    if len(digits) in _SHORT:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, alpha = (int(pair, 16) for pair in re.findall("..", f"{digits}ff")[:4])
    return Colour(red, green, blue, alpha / _FULL)


def _of_call(name: str, text: str) -> Colour | None:
    if name == "color-mix":
        return _mixed(text)
    if name not in _FUNCTIONS:
        return None
    parts = [part for part in _SEPARATOR.split(text.strip()) if part]
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
    # Of a colour in another space it is enough to know that nothing is seen of it.
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
    """Two colours of which one is nothing, or of which one has no share."""
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

"""Colours of CSS, as far as text can be hidden with them."""

import re
from typing import Final, NamedTuple


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, and alpha from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


_NAMES: Final = {
    "transparent": Colour(0, 0, 0, 0),
    "black": Colour(0, 0, 0),
    "white": Colour(255, 255, 255),
    "snow": Colour(255, 250, 250),
    "ivory": Colour(255, 255, 240),
    "whitesmoke": Colour(245, 245, 245),
    "gray": Colour(128, 128, 128),
    "grey": Colour(128, 128, 128),
    "silver": Colour(192, 192, 192),
    "lightgray": Colour(211, 211, 211),
    "lightgrey": Colour(211, 211, 211),
    "red": Colour(255, 0, 0),
    "green": Colour(0, 128, 0),
    "blue": Colour(0, 0, 255),
    "navy": Colour(0, 0, 128),
    "yellow": Colour(255, 255, 0),
}
"""Those that grounds are painted in; another name is equal to itself only."""

_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB = re.compile(
    r"rgba?\([ ]*+([0-9.]{1,9})[ ,]++([0-9.]{1,9})[ ,]++([0-9.]{1,9})"
    r"(?:[ ,/]++([0-9.]{1,9})(%?))?[ ]*+\)"
)
_SHORT: Final = (len("#rgb"), len("#rgba"))
_NEAR: Final = 8
"""Difference of a channel that nobody sees: 3 % of its range."""

_LEAST_ALPHA: Final = 0.05


def colour(text: str) -> Colour | None:
    """A colour in lower case: a name, `#rgb`, `#rrggbb`, `rgb()` or `rgba()`.

    Returns:
        `None` for anything else, such as a gradient or a picture.
    """
    text = text.strip()
    if text in _NAMES:
        return _NAMES[text]
    if _HEX.fullmatch(text):
        width = 1 if len(text) in _SHORT else 2
        digits = [text[start : start + width] * (3 - width) for start in range(1, len(text), width)]
        red, green, blue, alpha = (int(pair, 16) for pair in [*digits, "ff"][:4])
        return Colour(red, green, blue, alpha / 255)
    if found := _RGB.fullmatch(text):
        try:
            opacity = float(found[4] or 1) / (100 if found[5] else 1)
            return Colour(float(found[1]), float(found[2]), float(found[3]), opacity)
        except ValueError:
            # Two points in a number.
            return None
    return None


def is_transparent(ink: Colour) -> bool:
    """Whether nothing is seen of it."""
    return ink.alpha <= _LEAST_ALPHA


def is_same(ink: Colour, ground: Colour) -> bool:
    """Whether letters of one colour cannot be told from a ground of the other."""
    if is_transparent(ground):
        return False
    return all(abs(one - other) <= _NEAR for one, other in zip(ink[:3], ground[:3], strict=True))

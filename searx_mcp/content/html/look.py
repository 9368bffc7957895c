"""How declarations change the look of an element's text: whether a reader sees it.

A style can hide text in more ways than can be listed. These are the common ones, which hide what a script shows
later, text for screen readers only, text replaced by an image, and text for machines that readers must not see.
Text behind other boxes, on images, or folded with a transition until a click counts as visible.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from searx_mcp.content.html.declarations import (
    LETTERS,
    Colour,
    colour,
    is_same,
    is_transparent,
    number,
)

Style = Mapping[str, str]
"""Values in lower case by the property names of `declarations.parse`."""

_OFF_SCREEN: Final = -999.0
"""Pixels; readable text is not moved that far to the left or up."""

_FAR_RIGHT: Final = 9_000.0
"""Pixels; waiting slides are further to the left than that."""

_LEAST_SIZE: Final = 2.0
"""Pixels; smaller letters are not readable."""

_LEAST_BOX: Final = 1.0
"""Pixels; a box of 1 by 1 with `overflow: hidden` is the idiom for text only for screen readers."""

_LEAST_OPACITY: Final = 0.05
_LEAST_SCALE: Final = 0.05
_MOST_BLUR: Final = 15.0
"""Pixels, about the size of a letter."""

_EDGE_ON: Final = (90.0, 270.0)
_FULL: Final = 100.0
_SIZES: Final = frozenset({
    "xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "initial",
})  # fmt: skip
"""All of them are readable, so they count as one."""

_KEPT: Final = frozenset({"", "inherit", "unset", "revert", "revert-layer"})
_NOTHING: Final = _KEPT | {"none", "initial"}
_PLACED: Final = frozenset({"absolute", "fixed"})
_MOVED: Final = _PLACED | {"relative", "sticky"}
_CALL = re.compile(r"(?<![a-z0-9-])([a-z0-9-]++)\(((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+)\)")
_WORD = re.compile(r"(?:[^ \t\r\n\f,/()]|\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\))++")
_DIRECTIONS: Final = frozenset({"to", "circle", "ellipse", "at", "from", "in"})
_STOP = re.compile(r"(?:[^,()]|\([^()]*+\))++")

_OPAQUE: Final = 0.9
"""Alpha of a background that hides everything behind it."""


class Look(NamedTuple):
    """The look of an element's text, as far as it is known.

    Attributes:
        is_gone: not shown, and nothing inside can undo that.
        opacity: of the element and all its ancestors together.
        is_invisible: until something inside is visible again.
        size: of the letters, in pixels.
        ink: colour of the letters; `None` if unknown.
        ground: colour behind them; `None` if unknown.
    """

    is_gone: bool = False
    opacity: float = 1.0
    is_invisible: bool = False
    size: float = LETTERS
    ink: Colour | None = None
    ground: Colour | None = None

    @property
    def is_box_hidden(self) -> bool:
        """Whether the element is hidden with all its content."""
        return self.is_gone or self.opacity <= _LEAST_OPACITY

    @property
    def is_hidden(self) -> bool:
        """Whether its own text is hidden."""
        if self.is_box_hidden or self.is_invisible or self.size < _LEAST_SIZE:
            return True
        if self.ink is None:
            return False
        return is_transparent(self.ink) or (
            self.ground is not None and is_same(self.ink, self.ground)
        )


def look(style: Style, around: Look, *, is_inert: bool = False) -> Look:
    """Return the look of an element's text.

    Args:
        style: the values that apply to the element.
        around: the look of its parent's text.
        is_inert: whether no one can click in it, so that it does not unfold.
    """
    if not style:
        return around
    letters = _size(style.get("font-size", ""), around.size)
    return Look(
        around.is_gone or _is_gone(style, letters, is_inert=is_inert),
        around.opacity * _opacity(style),
        _is_invisible(style.get("visibility", ""), is_invisible=around.is_invisible),
        letters,
        ink_of(style, around.ink),
        ground_of(style, around.ground),
    )


def _is_gone(style: Style, letters: float, *, is_inert: bool) -> bool:
    return (
        style.get("display") == "none"
        or style.get("content-visibility") == "hidden"
        or _is_moved_away(style, letters)
        or _is_transformed_away(style)
        or _is_clipped(style, letters)
        or _is_masked(style)
        or _is_empty_box(style, letters, is_inert=is_inert)
    )


def _opacity(style: Style) -> float:
    found = number(style["opacity"], share=1) if "opacity" in style else None
    opacity = 1.0 if found is None else found
    for name, text in _CALL.findall(style["filter"]) if "filter" in style else ():
        amount = number(text.strip() or "1", share=1)
        if amount is None:
            continue
        if name == "opacity":
            opacity *= amount
        elif name == "blur" and amount > _MOST_BLUR:
            opacity = 0.0
    return max(0.0, min(1.0, opacity))


def _is_invisible(visibility: str, *, is_invisible: bool) -> bool:
    if visibility in _KEPT:
        return is_invisible
    return visibility in {"hidden", "collapse"}


def _size(text: str, around: float) -> float:
    if text in _KEPT:
        return around
    # In the shorthand `font`, the size is the first length; weights are numbers without a unit.
    for part in _WORD.findall(text):
        if part in _SIZES:
            return LETTERS
        if part in {"smaller", "larger"}:
            return around
        if not part.isdigit() or part == "0":
            size = number(part, share=around, letters=around)
            if size is not None:
                return max(0.0, size)
    return around


def _is_moved_away(style: Style, letters: float) -> bool:
    if _is_far_off(style, ("text-indent", "margin-left", "margin-top", "letter-spacing"), letters):
        return True
    if style.get("overflow") and (number(style.get("text-indent", ""), share=_FULL) or 0) >= _FULL:
        return "%" in style["text-indent"] and _clips(style)
    if style.get("position") not in _MOVED:
        return False
    left = number(style.get("left", ""))
    return (left is not None and left >= _FAR_RIGHT) or _is_far_off(
        style, ("left", "right", "top", "bottom"), letters
    )


def _is_far_off(style: Style, names: tuple[str, ...], letters: float) -> bool:
    return any(
        _is_far(number(style[name], letters=max(letters, 1.0))) for name in names if name in style
    )


def _is_transformed_away(style: Style) -> bool:
    if "scale" in style and any(map(_is_small, _words(style["scale"])[:2])):
        return True
    if "zoom" in style and 0 < (number(style["zoom"], share=1) or 0) <= _LEAST_SCALE:
        return True
    if "translate" in style and _is_translated(_words(style["translate"])):
        return True
    if "rotate" in style and len(words := _words(style["rotate"])) > 1 and "z" not in words:
        return number(words[-1]) in _EDGE_ON
    return "transform" in style and any(
        _is_transform_away(name, _words(text)) for name, text in _CALL.findall(style["transform"])
    )


def _is_transform_away(name: str, values: list[str]) -> bool:
    if name in {"scale", "scalex", "scaley", "scale3d"}:
        return any(map(_is_small, values[:2]))
    if name in {"translate", "translatex", "translatey", "translate3d"}:
        return _is_translated(values if name != "translatey" else ["0", *values])
    if name in {"rotatex", "rotatey", "skew", "skewx", "skewy"}:
        return any(abs(number(value) or 0) % 360 in _EDGE_ON for value in values)
    if name == "matrix" and len(values) == 6:  # noqa: PLR2004 - CSS Transforms: a 3 by 3 matrix without its last row
        a, b, c, d, x, y = (number(value) for value in values)
        return abs((a or 0) * (d or 0) - (b or 0) * (c or 0)) <= _LEAST_SCALE**2 or (
            _is_far(x) or _is_far(y) or (x or 0) >= _FAR_RIGHT
        )
    return False


def _is_translated(values: list[str]) -> bool:
    lengths = [number(value) for value in values[:2]]
    return any(map(_is_far, lengths)) or (bool(lengths) and (lengths[0] or 0) >= _FAR_RIGHT)


def _is_clipped(style: Style, letters: float) -> bool:
    found = _CALL.search(style["clip-path"]) if "clip-path" in style else None
    if found is not None and _is_clipped_by(found[1], _words(found[2])):
        return True
    found = _CALL.search(style["clip"]) if "clip" in style else None
    if found is None or found[1] != "rect" or style.get("position") not in _PLACED:
        return False
    edges = [number(value, letters=letters) for value in _words(found[2])]
    if len(edges) != 4:  # noqa: PLR2004 - top, right, bottom, left
        return False
    top, right, bottom, left = edges
    return _is_thin(top, bottom) or _is_thin(left, right)


def _is_clipped_by(shape: str, values: list[str]) -> bool:
    if not values:
        return False
    if shape in {"circle", "ellipse"}:
        return _is_zero(values[0])
    if shape == "polygon":
        return all(map(_is_zero, values))
    if shape == "rect" and len(values) >= 4:  # noqa: PLR2004 - top, right, bottom, left
        top, right, bottom, left = (number(value, share=_FULL) for value in values[:4])
        return _is_thin(top, bottom) or _is_thin(left, right)
    if shape != "inset":
        return False
    # A plain length counts as zero.
    shares = [number(value, share=_FULL) or 0.0 if "%" in value else 0.0 for value in values[:4]]
    top, right, bottom, left = (shares * 4)[:4] if len(shares) != 3 else (*shares, shares[1])  # noqa: PLR2004 - CSS Shapes: top, both sides, bottom
    return top + bottom >= _FULL or right + left >= _FULL


def _is_masked(style: Style) -> bool:
    mask = style.get("mask-image", "")
    if not mask or mask == "none":
        return False
    if any(map(_is_zero, _words(style.get("mask-size", "")))):
        return True
    paints = _gradient(mask)
    return bool(paints) and all(paint is not None and is_transparent(paint) for paint in paints)


def _is_empty_box(style: Style, letters: float, *, is_inert: bool) -> bool:
    if not _clips(style):
        return False
    # A box that unfolds has a transition, and can be clicked.
    is_folded = is_inert or style.get("transition", "") in _NOTHING
    names = ["width"]
    # Boxes that keep the ratio of their sides have padding instead of a height.
    if not any(number(style.get(f"padding-{edge}", ""), share=_FULL) for edge in ("top", "bottom")):
        names += ["height", "max-height"] if is_folded else ["height"]
    # What is calculated from the width of something else is not known.
    sizes = [
        number(text, share=_FULL, letters=letters)
        for name in names
        if "%" not in (text := style.get(name, "")) or "(" not in text
    ]
    return any(size is not None and size <= _LEAST_BOX for size in sizes)


def _clips(style: Style) -> bool:
    if "overflow" not in style and "contain" not in style:
        return False
    overflow = style.get("overflow", "").split()
    contained = style.get("contain", "").split()
    return not {"hidden", "clip"}.isdisjoint(overflow) or not {
        "paint", "content", "strict",
    }.isdisjoint(contained)  # fmt: skip


def ink_of(style: Style, around: Colour | None = None) -> Colour | None:
    """The text colour, `around` if none is declared; `None` if it is not known."""
    shadow, stroke = style.get("text-shadow", ""), style.get("text-stroke", "")
    is_drawn = shadow not in _NOTHING or (stroke not in _NOTHING and not stroke.startswith("0"))
    if is_drawn or "text" in style.get("background-clip", ""):
        # The letters show in the colours of their shadow, outline or background.
        return None
    for name in ("text-fill-color", "color"):
        text = style.get(name, "")
        if text and text not in _KEPT and text != "currentcolor":
            return colour(text)
    return around


def ground_of(style: Style, around: Colour | None = None) -> Colour | None:
    """The colour behind the text, `around` if the element paints none; `None` if it is not known."""
    if "background-color" not in style and "background-image" not in style:
        return _behind(style, around)
    image = style.get("background-image", "")
    paints = _gradient(image)
    if paints:
        first = paints[0]
        return (
            first
            if first and all(paint == first for paint in paints) and first.alpha == 1
            else None
        )
    if "(" in image and _CALL.search(_without_colours(image)):
        return None
    text = style.get("background-color", "")
    # In the shorthand, the colour is one word of several.
    painted = [found for word in _WORD.findall(text) if (found := colour(word)) is not None]
    if not painted:
        return None if text and text not in _NOTHING else _behind(style, around)
    if is_transparent(painted[-1]):
        return _behind(style, around)
    return painted[-1] if painted[-1].alpha >= _OPAQUE else None


def _behind(style: Style, around: Colour | None) -> Colour | None:
    """The background of the parent, unless this element may lie on something else."""
    return None if style.get("position") in _MOVED else around


def _without_colours(image: str) -> str:
    return _CALL.sub(lambda call: "" if colour(call[0]) else call[0], image)


def _gradient(image: str) -> list[Colour | None]:
    """The colours of the gradients in an image."""
    paints: list[Colour | None] = []
    for name, text in _CALL.findall(image):
        if not name.endswith("gradient"):
            continue
        stops = [_words(stop) for stop in _STOP.findall(text)]
        if stops and stops[0] and (stops[0][0] in _DIRECTIONS or number(stops[0][0]) is not None):
            del stops[0]
        paints += [colour(words[0]) for words in stops if words]
    return paints


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _is_small(value: str) -> bool:
    found = number(value, share=1)
    return found is not None and abs(found) <= _LEAST_SCALE


def _is_zero(value: str) -> bool:
    found = number(value, share=_FULL)
    return found is not None and found == 0


def _is_far(offset: float | None) -> bool:
    return offset is not None and offset <= _OFF_SCREEN


def _is_thin(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and high - low <= _LEAST_BOX

"""Which declarations may hide text: most do not, and elements that no other names cost nothing."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from searx_mcp.content.html.style.colours import WHITE, Colour, colour, is_same
from searx_mcp.content.html.style.declarations import Value
from searx_mcp.content.html.style.look import Look, ground_of, look
from searx_mcp.content.html.style.stylesheet import StyleSheet

_HALVES: Final = {"position": "absolute", "overflow": "hidden"}
"""What makes some declarations hide that stand in another rule."""

_SOME_OPACITY: Final = 0.3
"""Seen, but not if it lies in something else that is hardly seen."""

_SOME_SIZE: Final = 5.0
_ANY: Final = ""
_FAR: Final = r"-(?:[0-9]{3}|[0-9.]+(?!px)[a-z])|\(|[0-9]{4}"
_HINTS: Final = {name: re.compile(hint) for names, hint in {
    "content-visibility clip clip-path transform translate scale rotate zoom mask-image": _ANY,
    "display": r"none|\(",
    "visibility": r"hidden|collapse|\(",
    "opacity": r"^(?!1(?:\.0*)?$)",
    "filter": r"opacity|blur|var",
    "font-size": r"(?<![0-9.])(?:-|0?\.[0-5]|0(?![.0-9])|[1-9](?:\.[0-9]*)?(?:px|pt|q|mm|v|%)|[1-4][0-9]%)|\(|e-",
    "letter-spacing margin-left margin-top left right top bottom": _FAR,
    "text-indent": rf"{_FAR}|%",
    "width height": r"(?<![0-9.])[-.01](?![0-9])|\(",
    "color text-fill-color": r"transparent|\(|#(?:[0-9a-f]{4}|[0-9a-f]{8})\b",
}.items() for name in names.split()}  # fmt: skip
"""What a value must have in it to hide anything; it is looked for before the value is read."""

_MAX_GROUNDS: Final = 256
"""Colours of grounds that an ink is compared with; with more, every ink is looked at where it is used."""

_ANYWHERE: Final = frozenset({"*"})


class Suspicion:
    """Which declarations may hide text, with those of other rules or of elements around.

    Args:
        sheet: the rules of the page.
        own: what elements declare themselves.
    """

    def __init__(self, sheet: StyleSheet, own: Iterable[Mapping[str, Value]]) -> None:
        self._found: dict[int, tuple[bool, frozenset[str] | None]] = {}
        self._inks: dict[str, frozenset[str]] = {}
        self._grounds: dict[Colour, set[str]] = defaultdict(set)
        """The keys of the elements that paint a colour behind them."""
        if sheet.is_alone:
            self._grounds[WHITE].add("*")
        known: dict[tuple[str, str], Colour | None] = {}
        for style, rule in [
            *((rule.block.style, rule) for rule in sheet.rules),
            *((style, None) for style in own),
        ]:
            for name in ("background-color", "background-image"):
                if name not in style:
                    continue
                declared = name, style[name].text
                if declared not in known:
                    known[declared] = ground_of({name: declared[1]})
                ground = known[declared]
                if ground is None:
                    continue
                if rule is None:
                    self._grounds[ground].add("*")
                else:
                    self._grounds[ground].add(rule.key)

    def judged(self, style: Mapping[str, Value]) -> tuple[bool, frozenset[str] | None]:
        """Whether declarations may hide something, and by what.

        Args:
            style: of a rule or an element; the same object each time.

        Returns:
            If only the colour of the letters may, the keys of elements that are painted in it.
        """
        found = self._found.get(id(style))
        if found is None:
            found = self._found[id(style)] = self._judge(style)
        return found

    def _judge(self, style: Mapping[str, Value]) -> tuple[bool, frozenset[str] | None]:
        hints = [
            value.text
            for name, value in style.items()
            if name in _HINTS and _HINTS[name].search(value.text)
        ]
        if any("var(" in text for text in hints):
            return True, None
        if hints:
            seen = look(texts(style) | _HALVES, Look())
            if seen.is_hidden or seen.opacity <= _SOME_OPACITY or seen.size <= _SOME_SIZE:
                return True, None
        inks = [style[name].text for name in ("color", "text-fill-color") if name in style]
        places = frozenset[str]().union(*map(self._places, inks))
        return bool(places), places

    def _places(self, ink: str) -> frozenset[str]:
        found = self._inks.get(ink)
        if found is None:
            paint = colour(ink)
            if paint is None:
                found = frozenset()
            elif len(self._grounds) > _MAX_GROUNDS:
                found = _ANYWHERE
            else:
                near = [keys for ground, keys in self._grounds.items() if is_same(paint, ground)]
                found = frozenset[str]().union(*near)
            self._inks[ink] = found
        return found


def texts(style: Mapping[str, Value]) -> dict[str, str]:
    """The values of declarations."""
    return {name: value.text for name, value in style.items()}

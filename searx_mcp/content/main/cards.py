"""Cards: siblings that look alike and each lead somewhere, as in grids of products and of teasers."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.main.measure import Element, live

_TAGS: Final = frozenset({"div", "li", "article", "section", "a", "figure"})
_DIGITS: Final = re.compile(r"[0-9]+")

MIN_CARDS: Final = 3
"""Siblings that make a row of cards."""

_SHARE: Final = 0.7
"""Share of the siblings of one name that must be cards."""

_SIGNS: Final = 2
"""Characters between two links of a row, such as a bar or a comma."""

_MAX_CHARS: Final = 600
_MAX_PROSE: Final = 350
_MIN_CHARS: Final = 15
_MIN_LINKED: Final = 12
_SHORT: Final = 250
_LINKED: Final = 0.25
"""A card has at most so much text and prose; at least so much of it is linked, or it is short."""


def rows_of_cards(elements: list[Element], root: Element | None = None) -> Iterator[list[Element]]:
    """The rows of cards in what is left of a page, or of an element of it."""
    for element in live(elements, root):
        if len(element.children) >= MIN_CARDS:
            yield from _rows(element)


def _rows(parent: Element) -> Iterator[list[Element]]:
    alike: dict[tuple[str, str], list[Element]] = defaultdict(list)
    for child in parent.children:
        if child.text and not child.is_out and child.tag in _TAGS:
            first = child.names.partition(" ")[0]
            alike[child.tag, _DIGITS.sub("", first)].append(child)
    for siblings in alike.values():
        if len(siblings) >= MIN_CARDS:
            cards = [child for child in siblings if _is_card(child)]
            if len(cards) >= max(MIN_CARDS, _SHARE * len(siblings)) and not _is_line(parent, cards):
                yield cards


def _is_line(parent: Element, cards: list[Element]) -> bool:
    """Whether words and not only signs stand between links: "see A, B and C"."""
    between = parent.run - parent.run_linked
    return cards[0].tag == "a" and between > _SIGNS * len(cards)


def _is_card(element: Element) -> bool:
    return (
        _MIN_CHARS <= element.text <= _MAX_CHARS
        and element.prose <= _MAX_PROSE
        and element.linked >= _MIN_LINKED
        and (element.linked >= _LINKED * element.text or element.text < _SHORT)
    )

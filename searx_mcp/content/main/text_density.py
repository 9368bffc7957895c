"""One pass over a page that measures all its elements; what is removed later is subtracted.

The rules of this package read and change these measures and not the tree: reading the tree costs more than reading
an attribute, and extracting the text of every element is quadratic. Cards, which many rules need, are recognised
by the measures alone: similar siblings that are each linked, such as grids of products and of teasers.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.main.class_names import HEARD, signs_of
from searx_mcp.content.tree import HEADINGS, RemovalRule

INLINE: Final = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    "x-math", "x-reference", "x-task",
})  # fmt: skip
"""Elements whose text belongs to the line around them (HTML §4.5, and our canonical elements)."""

_PROSE_CHARS: Final = 25
"""A run of text of this length is prose and not a label, if less than half of it is linked."""

LONG_CHARS: Final = 140
"""A run of prose of this length is a paragraph of an article and not a line of a card: in the pages of WCXB dev, the
element with most of such text has 4,600 characters of it in the median article, and 250 to 570 in the median
listing, collection, product and service."""

_TAGS: Final = frozenset({"div", "li", "article", "section", "a", "figure"})
_DIGITS: Final = re.compile(r"[0-9]+")

MIN_CARDS: Final = 3
"""Siblings that make a row of cards."""

_SHARE: Final = 0.7
"""Share of the siblings with the same name that must be cards."""

_SIGNS: Final = 2
"""Characters between two links of a row, such as a bar or a comma."""

_MAX_CHARS: Final = 600
_MAX_PROSE: Final = 350
_MIN_CHARS: Final = 15
_MIN_LINKED: Final = 12
_SHORT: Final = 250
_LINKED: Final = 0.25
"""A card has at most this much text and prose; at least this much of it is linked, or it is short."""


class Element:
    """An element of the page with its measures; no count includes what has been removed.

    Attributes:
        node: the element of the tree.
        tag: its name in lower case.
        attributes: as the page wrote them.
        names: its classes, separated by spaces.
        parent: the element around it; `None` for the body.
        children: its child elements, in order.
        start: its position among all elements, in document order.
        end: the position after its last descendant.
        text: characters of text.
        linked: of these, the characters inside links.
        links: links with text.
        prose: characters of text in runs that read as prose; see `_PROSE_CHARS`.
        elements: descendants.
        run: characters of its own text, including the inline elements in it, as written.
        run_linked: of these, the characters inside links, as written.
        long: characters of the long paragraphs directly inside it, as written; see `LONG_CHARS`.
        is_out: whether it has been removed; descendants of such an element are not marked.
        rule: that removed it.
    """

    __slots__ = (
        "address", "attributes", "children", "elements", "end", "is_out", "linked", "links", "long", "names",
        "node", "parent", "prose", "rule", "run", "run_linked", "start", "tag", "text",
    )  # fmt: skip

    def __init__(
        self,
        node: LexborNode,
        tag: str,
        attributes: Mapping[str, str | None],
        parent: "Element | None",
        start: int,
    ) -> None:
        self.node = node
        self.tag = tag
        self.attributes = attributes
        self.names = attributes.get("class") or ""
        self.address = attributes.get("id") or ""
        self.parent = parent
        self.children: list[Element] = []
        self.start = start
        self.end = start + 1
        self.text = self.linked = self.links = self.prose = self.elements = 0
        self.run = self.run_linked = self.long = 0
        self.is_out = False
        self.rule = RemovalRule.BESIDE

    def is_inside(self, tags: frozenset[str]) -> bool:
        """Whether it has an ancestor with one of these names."""
        return any(above.tag in tags for above in self.ancestors())

    def ancestors(self) -> "Iterator[Element]":
        """Its ancestors, the innermost first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    @property
    def is_in_sentence(self) -> bool:
        """Whether it is part of running text: a link, a name or a date with other words around it.

        An element with most of a heading is the heading. Words in a link for screen readers ("Read more *about
        rivers*") are not part of the visible text.
        """
        if self.tag not in INLINE or self._is_only_heard:
            return False
        line = next((above for above in self.ancestors() if above.tag not in INLINE), self)
        if line.tag in HEADINGS:
            return self.run * 2 >= line.run
        return line.run - line.run_linked >= self.run - self.run_linked + _PROSE_CHARS

    @property
    def _is_only_heard(self) -> bool:
        link = self.parent
        return (
            link is not None
            and link.tag == "a"
            and link.run > self.run
            and bool(self.names)
            and signs_of(self.names) & HEARD != 0
        )

    def take_out(self, rule: RemovalRule) -> bool:
        """Remove it, and subtract its content from the counts of its ancestors.

        A part of a sentence stays: the rules of this package are about blocks.

        Args:
            rule: the reason.

        Returns:
            Whether it was there before, and is removed now.
        """
        if self.is_out or any(above.is_out for above in self.ancestors()) or self.is_in_sentence:
            return False
        self.is_out, self.rule = True, rule
        self._count(-1)
        return True

    def put_back(self) -> None:
        """Undo `take_out`; what was removed last is put back first."""
        self.is_out = False
        self._count(1)

    def _count(self, sign: int) -> None:
        for above in self.ancestors():
            above.text += sign * self.text
            above.linked += sign * self.linked
            above.links += sign * self.links
            above.prose += sign * self.prose
            above.elements += sign * (self.elements + 1)


def measure(body: LexborNode) -> list[Element]:
    """Measure the elements of a page, in document order; the body is the first."""
    elements: list[Element] = []
    known: dict[int, Element] = {}
    for node in body.traverse(include_text=True, skip_empty=True):
        tag = node.tag or "-"
        if tag == "-text":
            above = node.parent
            if above is not None and (parent := known.get(above.mem_id)) is not None:
                parent.run += len((node.text_content or "").strip())
        elif tag[0] not in "-!_":
            above = node.parent
            parent = known.get(above.mem_id) if elements and above is not None else None
            element = Element(node, tag, node.attributes, parent, len(elements))
            if parent is not None:
                parent.children.append(element)
            elements.append(element)
            known[node.mem_id] = element
    _add_up(elements)
    return elements


def live(elements: list[Element], root: Element | None = None) -> Iterator[Element]:
    """Iterate over what is left of a page, or of an element of it; elements may be removed meanwhile.

    Args:
        elements: all elements of the page.
        root: the element, which is not included; by default everything, including the body.
    """
    place, end = (0, len(elements)) if root is None else (root.start + 1, root.end)
    while place < end:
        element = elements[place]
        if not element.is_out:
            yield element
        place = element.end if element.is_out else place + 1


def mains(elements: list[Element]) -> list[Element]:
    """The elements that say that they contain the main content, without what has been removed."""
    named = (e for e in elements if e.tag == "main" or e.attributes.get("role") == "main")
    return [e for e in named if not e.is_out and not any(each.is_out for each in e.ancestors())]


def holds(element: Element, places: list[int]) -> bool:
    """Whether one of some elements, given by their sorted positions, is inside an element."""
    following = bisect_right(places, element.start)
    return following < len(places) and places[following] < element.end


def _add_up(elements: list[Element]) -> None:
    """Add the measures of every element to its parent; those of its descendants come first."""
    for element in reversed(elements):
        parent = element.parent
        run = element.run
        element.text += run
        if element.tag == "a":
            element.linked, element.run_linked, element.prose = element.text, run, 0
            element.links = 1 if element.text else 0
        if parent is None:
            _add_prose(element)
            return
        parent.text += element.text
        if element.tag in INLINE:
            # It is counted with the run of the parent.
            parent.text -= run
            parent.run += run
            parent.run_linked += element.run_linked
        elif run >= _PROSE_CHARS:
            _add_prose(element)
        parent.linked += element.linked
        parent.links += element.links
        parent.prose += element.prose
        parent.elements += element.elements + 1
        parent.end = max(parent.end, element.end)


def _add_prose(element: Element) -> None:
    """Count the run of a block, if it reads as prose."""
    if element.run >= _PROSE_CHARS and element.run_linked * 2 < element.run:
        element.prose += element.run
        if element.parent is not None and element.run >= LONG_CHARS:
            element.parent.long += element.run


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
    """Whether words, and not only separators, are between links: "see A, B and C"."""
    between = parent.run - parent.run_linked
    return cards[0].tag == "a" and between > _SIGNS * len(cards)


def _is_card(element: Element) -> bool:
    return (
        _MIN_CHARS <= element.text <= _MAX_CHARS
        and element.prose <= _MAX_PROSE
        and element.linked >= _MIN_LINKED
        and (element.linked >= _LINKED * element.text or element.text < _SHORT)
    )

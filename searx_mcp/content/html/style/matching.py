"""Which elements of a page selectors are about.

What a tag, a class and an id ask is looked up here, since they ask it of thousands of elements; attributes
and pseudo-classes are left to the parser. It is never given a combinator: it tries every way through the
elements around, and `b div div div p` in 500 nested `<div>` takes it 10 s; nor `:nth-child()`, which takes
it more than a minute for 60,000 siblings.
"""

from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from searx_mcp.content.html.style.selectors import Compound, Selector

MAX_STEPS: Final = 100_000
"""Comparisons of an element with a selector, about 0.3 s. Of 415 pages none needs more than 21,000; a page
that does is a trap."""

_KEYS: Final = 8
"""What is copied in the time of a comparison."""

_QUERY: Final = 300
"""What it costs to ask the parser for all elements that fit, in comparisons."""


class Matcher:
    """Tells which elements of a page selectors are about; each question is answered once.

    The time is linear in the elements and compounds asked about, and ends after `MAX_STEPS`.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._steps = 0
        self._keys: dict[int, frozenset[str]] = {}
        self._alike: dict[tuple[str | None, ...], frozenset[str]] = {}
        """The keys of elements that have the same: of ten elements that are asked about, six are like another."""
        self._answers: dict[tuple[int, int, int], bool] = {}
        self._reached: dict[tuple[int, int, int], bool] = {}
        self._asked: dict[str, frozenset[int]] = {}
        self._places: dict[int, int] = {}
        self._around: dict[int, frozenset[str]] = {}
        self._last: tuple[int, frozenset[str]] = 0, frozenset()
        """The element that was asked about last, with the keys around it: many rules ask about one."""

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing fits any more, since too much was asked."""
        return self._steps > MAX_STEPS

    def spend(self, steps: int) -> bool:
        """Take from what may be asked; whether there is something left."""
        self._steps += steps
        return not self.is_exhausted

    def keys(self, element: LexborNode) -> frozenset[str]:
        """What compounds may ask of an element that it has (see `Compound.keys`), and `*`."""
        mem_id = element.mem_id
        found = self._keys.get(mem_id)
        if found is None:
            attributes = element.attributes
            tag, classes, identifier = element.tag, attributes.get("class"), attributes.get("id")
            like = (tag, classes, identifier, *attributes)
            found = self._alike.get(like)
            if found is None:
                keys = ["*", tag or "", *[f"[{name}" for name in attributes]]
                keys += [f".{name}" for name in (classes or "").split()]
                found = frozenset([*keys, f"#{identifier}"] if identifier else keys)
                self._alike[like] = found
            self._keys[mem_id] = found
        return found

    def fits(self, element: LexborNode, selector: Selector) -> bool:
        """Whether a selector is about an element."""
        self._steps += 1
        if not selector.compounds or self._steps > MAX_STEPS:
            return False
        if selector.around and not selector.around <= self.keys_around(element):
            return False
        return self._fits(element, selector, len(selector.compounds) - 1)

    def keys_around(self, element: LexborNode) -> frozenset[str]:
        """The keys of all elements around one."""
        mem_id, keys = self._last
        if mem_id == element.mem_id:
            return keys
        path: list[LexborNode] = []
        keys = frozenset[str]()
        node = _parent(element)
        while node is not None:
            known = self._around.get(node.mem_id)
            if known is not None:
                keys = known
                break
            path.append(node)
            node = _parent(node)
        for node in reversed(path):
            keys = self._around[node.mem_id] = keys | self.keys(node)
            self._steps += len(keys) // _KEYS
        self._last = element.mem_id, keys
        return keys

    def _fits(self, element: LexborNode, selector: Selector, at: int) -> bool:
        compound = selector.compounds[at]
        if not self._is(element, compound):
            return False
        if at == 0:
            return True
        key = (element.mem_id, id(selector), at)
        answer = self._answers.get(key)
        if answer is None:
            step = _before if compound.combinator in {"+", "~"} else _parent
            if compound.combinator in {"+", ">"}:
                other = step(element)
                answer = other is not None and self._fits(other, selector, at - 1)
            else:
                answer = self._reaches(element, selector, at, step)
            self._answers[key] = answer
        return answer

    def _reaches(
        self,
        element: LexborNode,
        selector: Selector,
        at: int,
        step: Callable[[LexborNode], LexborNode | None],
    ) -> bool:
        """Whether one of those around or before an element fits the compound before."""
        passed: list[tuple[int, int, int]] = []
        found, other = False, step(element)
        while other is not None and not self.is_exhausted:
            key = (other.mem_id, id(selector), at)
            known = self._reached.get(key)
            if known is not None:
                found = known
                break
            passed.append(key)
            if self._fits(other, selector, at - 1):
                found = True
                break
            other = step(other)
        self._reached.update(dict.fromkeys(passed, found))
        return found

    def _is(self, element: LexborNode, compound: Compound) -> bool:
        self._steps += 1
        if self._steps > MAX_STEPS or not compound.keys <= self.keys(element):
            return False
        if compound.nth is not None and not _is_nth(self._place(element), *compound.nth):
            return False
        return not compound.text or self._asks(element, compound.text)

    def _asks(self, element: LexborNode, text: str) -> bool:
        found = self._asked.get(text)
        if found is None:
            self._steps += _QUERY
            try:
                elements = self._tree.css(text)
            except SelectolaxError:
                elements = []
            self._steps += len(elements)
            found = self._asked[text] = frozenset(each.mem_id for each in elements)
        return element.mem_id in found

    def _place(self, element: LexborNode) -> int:
        """Which child of its parent an element is, from 1 on."""
        if element.mem_id not in self._places and (parent := element.parent) is not None:
            for place, child in enumerate(parent.iter(include_text=False), 1):
                self._places[child.mem_id] = place
                self._steps += 1
        return self._places.get(element.mem_id, 1)


def _is_nth(place: int, each: int, offset: int) -> bool:
    if each == 0:
        return place == offset
    return (place - offset) % each == 0 and (place - offset) // each >= 0


def _parent(element: LexborNode) -> LexborNode | None:
    parent = element.parent
    return parent if parent is not None and parent.is_element_node else None


def _before(element: LexborNode) -> LexborNode | None:
    other = element.prev
    while other is not None and not other.is_element_node:
        other = other.prev
    return other

"""Which elements of a page the rules of a style sheet are about."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from searx_mcp.content.html.style.stylesheet import Compound, Rule

_SKELETON: Final = frozenset({"html", "body"})
_MATCH_STEPS: Final = 3
"""What a match costs, in comparisons."""

_MAX_STEPS: Final = 300_000
"""Comparisons of an element with a compound, about 0.3 s; a page that needs more is a trap, and the
rules do not count for the elements that are left."""


class _Traits(NamedTuple):
    """What selectors ask of an element."""

    tag: str
    identifier: str
    classes: frozenset[str]


class _Known:
    """What is known of elements, each read once: the ones around are asked of again and again."""

    def __init__(self) -> None:
        self._traits: dict[int, _Traits] = {}
        self._inside: dict[tuple[int, int], bool] = {}

    def traits(self, element: LexborNode) -> _Traits:
        """What selectors ask of an element."""
        found = self._traits.get(element.mem_id)
        if found is None:
            attributes = element.attributes
            classes = frozenset((attributes.get("class") or "").split())
            found = _Traits(element.tag or "", attributes.get("id") or "", classes)
            self._traits[element.mem_id] = found
        return found

    def is_inside(self, element: LexborNode, compound: Compound) -> tuple[bool, int]:
        """Whether an element is inside one that fits, and how many elements were looked at."""
        passed: list[tuple[int, int]] = []
        found, parent = False, element.parent
        while parent is not None:
            key = (parent.mem_id, id(compound))
            known = self._inside.get(key)
            if known is not None:
                found = known
                break
            passed.append(key)
            if _fits(self.traits(parent), compound):
                found = True
                break
            parent = parent.parent
        self._inside.update(dict.fromkeys(passed, found))
        return found, len(passed)


def matches(tree: LexborHTMLParser, style: Iterable[Rule]) -> Iterator[tuple[LexborNode, Rule]]:
    """Which element of the body which rule is about.

    The parser finds the elements that have the rarest thing a rule asks for; the rest is looked at
    here, so that elements no rule names cost nothing.

    Args:
        tree: the page.
        style: rules.
    """
    by_key = _by_key(style).items()
    found = ((element, rules) for key, rules in by_key for element in _elements(tree, key))
    return _matching(found, _Known())


def about(
    elements: Iterable[LexborNode], style: Iterable[Rule]
) -> Iterator[tuple[LexborNode, Rule]]:
    """Which of some elements which rule is about."""
    index, known = _by_key(style), _Known()
    found = ((element, _candidates(index, known.traits(element))) for element in elements)
    return _matching(found if index else (), known)


def _matching(
    found: Iterable[tuple[LexborNode, list[Rule]]], known: _Known
) -> Iterator[tuple[LexborNode, Rule]]:
    """Elements with those of the rules that may be about them which are, up to `_MAX_STEPS`."""
    steps = 0
    for element, rules in found:
        for rule in rules:
            is_match, cost = _match(element, rule, known)
            steps += cost
            if steps > _MAX_STEPS:
                return
            if is_match:
                yield element, rule


def _by_key(style: Iterable[Rule]) -> dict[str, list[Rule]]:
    index: dict[str, list[Rule]] = defaultdict(list)
    for rule in style:
        index[_key(rule.target)].append(rule)
    return index


def _elements(tree: LexborHTMLParser, key: str) -> list[LexborNode]:
    try:
        found = tree.css(key)
    except SelectolaxError:
        return []  # such as `.1st`, which is no selector to browsers either
    return [element for element in found if element.tag not in _SKELETON]


def _key(target: Compound) -> str:
    """What an element has that a rule is about: mostly rare, so that few others have it."""
    if target.identifier:
        return f"#{target.identifier}"
    return f".{min(target.classes)}" if target.classes else target.tag


def _candidates(index: Mapping[str, list[Rule]], traits: _Traits) -> list[Rule]:
    names = {traits.tag, f"#{traits.identifier}", *(f".{name}" for name in traits.classes)}
    return [rule for name in names if name in index for rule in index[name]]


def _match(element: LexborNode, rule: Rule, known: _Known) -> tuple[bool, int]:
    """Whether a rule is about an element, and how much that cost."""
    if not _fits(known.traits(element), rule.target):
        return False, 1
    if rule.around is None:
        return True, _MATCH_STEPS
    if not rule.is_child:
        is_inside, steps = known.is_inside(element, rule.around)
        return is_inside, _MATCH_STEPS + steps
    parent = element.parent
    return parent is not None and _fits(known.traits(parent), rule.around), _MATCH_STEPS + 1


def _fits(traits: _Traits, compound: Compound) -> bool:
    return (
        compound.tag in {"", traits.tag}
        and compound.identifier in {"", traits.identifier}
        and compound.classes <= traits.classes
    )

"""Which elements of a page the rules of a style sheet are about."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.style.stylesheet import Compound, Rule

_SKELETON: Final = frozenset({"html", "body"})
_MATCH_STEPS: Final = 3
"""What a match costs, in comparisons."""

_MAX_STEPS: Final = 300_000
"""Comparisons of an element with a compound, about 0.3 s; a page that needs more is a trap, and the
rules do not count for the elements that are left."""

_Attributes = Mapping[str, str | None]


class _Traits(NamedTuple):
    """What selectors ask of an element."""

    tag: str
    identifier: str
    classes: frozenset[str]


class _Known:
    """The traits of elements, each read once: the ones around are asked of again and again."""

    def __init__(self) -> None:
        self._traits: dict[int, _Traits] = {}

    def traits(self, element: LexborNode) -> _Traits:
        """What selectors ask of an element."""
        found = self._traits.get(element.mem_id)
        if found is None:
            attributes = element.attributes
            classes = frozenset((attributes.get("class") or "").split())
            found = _Traits(element.tag or "", attributes.get("id") or "", classes)
            self._traits[element.mem_id] = found
        return found


def matches(
    tree: LexborHTMLParser, style: Iterable[Rule], *, only: Container[int] | None = None
) -> Iterator[tuple[int, Rule]]:
    """Which element of the body which rule is about.

    Args:
        tree: the page.
        style: rules.
        only: ids in memory of the elements that matter; `None` for all.

    Yields:
        An element's id in memory, and a rule.
    """
    index: dict[str, list[Rule]] = defaultdict(list)
    for rule in style:
        index[_key(rule.target)].append(rule)
    if not index or tree.body is None:
        return
    steps, known = 0, _Known()
    for element in tree.body.traverse():
        if only is not None and element.mem_id not in only:
            continue
        tag, attributes = element.tag or "", element.attributes
        candidates = _candidates(index, tag, attributes)
        if not candidates or tag in _SKELETON:
            continue
        for rule in candidates:
            is_match, cost = _match(element, rule, known)
            steps += cost
            if steps > _MAX_STEPS:
                return
            if is_match:
                yield element.mem_id, rule


def _key(target: Compound) -> str:
    """What an element has that a rule is about: mostly rare, so that few others have it."""
    if target.identifier:
        return f"#{target.identifier}"
    return f".{min(target.classes)}" if target.classes else target.tag


def _candidates(index: Mapping[str, list[Rule]], tag: str, attributes: _Attributes) -> list[Rule]:
    names = {tag}
    if identifier := attributes.get("id"):
        names.add(f"#{identifier}")
    if classes := attributes.get("class"):
        names.update(f".{name}" for name in classes.split())
    return [rule for name in names if name in index for rule in index[name]]


def _match(element: LexborNode, rule: Rule, known: _Known) -> tuple[bool, int]:
    """Whether a rule is about an element, and how many comparisons that took."""
    if not _fits(known.traits(element), rule.target):
        return False, 1
    if rule.around is None:
        return True, _MATCH_STEPS
    steps, parent = _MATCH_STEPS, element.parent
    while parent is not None:
        steps += 1
        if _fits(known.traits(parent), rule.around):
            return True, steps
        if rule.is_child:
            break
        parent = parent.parent
    return False, steps


def _fits(traits: _Traits, compound: Compound) -> bool:
    return (
        compound.tag in {"", traits.tag}
        and compound.identifier in {"", traits.identifier}
        and compound.classes <= traits.classes
    )

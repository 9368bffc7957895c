"""The rules of a page's own `<style>` elements that can hide text.

A small part of CSS: selectors of one or two compounds such as `p`, `.note`, `div.a.b`, `#x .y` and
`.tabs > .tab`, in comma lists; no pseudo-classes and no attributes. Rules inside `@media` count if it
is for all or for screens, without conditions; other blocks do not. Style sheets of other addresses
are not fetched.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from searx_mcp.content.html.style.declarations import (
    Hidden,
    Value,
    hidden,
    may_hide,
    may_matter,
    parse,
    plain,
)

MAX_CSS: Final = 200_000
"""Characters of style sheets read."""

MAX_RULES: Final = 500
"""Selectors kept of rules that hide, and as many of the others."""

_EDGE = re.compile(r"[{};]")
_BRACE = re.compile(r"[{}]")
_BODY = re.compile(r"(?:[^{}\"']|\"[^\"\n]*+\"|'[^'\n]*+'|[\"'])*+")
_MEDIA = re.compile(
    r"@media[ \t\r\n\f]+(?:only[ \t\r\n\f]+)?(?:all|screen)[ \t\r\n\f]*", re.IGNORECASE
)
_NAME: Final = r"[-\w\u0080-\U0010ffff]++"
_COMPOUND: Final = rf"(?:{_NAME}|\*)?+(?:[.#]{_NAME})*+"
_SELECTOR = re.compile(
    rf"(?:(?P<around>{_COMPOUND})(?:[ \t\r\n\f]*+(?P<child>>)[ \t\r\n\f]*+|[ \t\r\n\f]++))??"
    rf"(?P<target>{_COMPOUND})"
)
_TAG = re.compile(_NAME)
_NAMED = re.compile(rf"[.#]({_NAME})")
_PART = re.compile(rf"([.#])({_NAME})")
_COMMENT_MARKS = re.compile(r"<!--|-->")
_OTHER_HALVES: Final = {"position": Value("absolute"), "overflow": Value("hidden")}
"""What makes some declarations hide that stand in another rule."""

_MAX_SELECTOR: Final = 200
_MAX_BODY: Final = 2_000


@dataclass(frozen=True, slots=True)
class Compound:
    """What one element must be: a tag, classes, an id; empty ones do not matter."""

    tag: str
    identifier: str
    classes: frozenset[str]

    @property
    def specificity(self) -> tuple[int, int, int]:
        """Selectors 4, section 17: ids, classes, tags."""
        return (bool(self.identifier), len(self.classes), bool(self.tag))


Selector = tuple[Compound, Compound | None, bool]
"""What an element must be, what one around it must be, and whether that is its parent."""


class Block:
    """The declarations that some selectors share; read when they are needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def style(self) -> dict[str, Value]:
        """The declarations that can hide or show."""
        return parse(self._text)

    @cached_property
    def ways(self) -> frozenset[Hidden]:
        """How they hide, if other rules do the rest."""
        return hidden(self.style | _OTHER_HALVES) if may_hide(self._text) else frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One selector with its declarations; each is equal to itself only.

    Attributes:
        target: the element it is about.
        around: what an element around that one must be, or `None`.
        is_child: whether the element around must be the parent.
        block: its declarations.
        rank: what a rule of higher rank declares too, counts instead.
    """

    target: Compound
    around: Compound | None
    is_child: bool
    block: Block
    rank: tuple[int, int, int, int]

    @property
    def selector(self) -> Selector:
        """What equal selectors have in common."""
        return self.target, self.around, self.is_child


class StyleSheet:
    """The rules of a style sheet that can hide text, or show what another hides.

    Args:
        css: style sheets, one after the other; what is longer than `MAX_CSS` is left out.
        names: the classes and ids that the page has; rules for others are left out. `None` leaves out
            none.
    """

    def __init__(self, css: str = "", names: AbstractSet[str] | None = None) -> None:
        self._others: list[tuple[list[str], str, int]] = []
        self.hiding: list[Rule] = []
        """At most `MAX_RULES` that hide, if others do the rest."""
        for order, (selectors, body) in enumerate(
            _blocks(_COMMENT_MARKS.sub("", plain(css[:MAX_CSS])))
        ):
            parts = [part for part in selectors.split(",") if _may_fit(part, names)]
            if not parts:
                continue
            text = body[:_MAX_BODY]
            block = Block(text)
            if block.ways:
                _add(self.hiding, parts, block, order)
            else:
                self._others.append((parts, text, order))

    @cached_property
    def others(self) -> list[Rule]:
        """At most `MAX_RULES` that can undo what others do, or do the other half of it."""
        rules: list[Rule] = []
        for parts, text, order in self._others:
            if len(rules) == MAX_RULES:
                break
            if may_matter(text):
                _add(rules, parts, Block(text), order)
        return rules


def _may_fit(selector: str, names: AbstractSet[str] | None) -> bool:
    """Whether a selector can be read, and the page has what it names."""
    if ":" in selector or "[" in selector:
        return False
    return names is None or all(name in names for name in _NAMED.findall(selector))


def _add(rules: list[Rule], selectors: list[str], block: Block, order: int) -> None:
    for selector in selectors:
        if len(rules) < MAX_RULES and (rule := _rule(selector.strip(), block, order)):
            rules.append(rule)


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """Selector lists with their declarations; `@media` for screens is looked into."""
    position = 0
    while edge := _EDGE.search(css, position):
        prelude = css[position : edge.start()].strip()
        position = edge.end()
        if edge[0] != "{" or (prelude.startswith("@") and _MEDIA.fullmatch(prelude)):
            continue
        if prelude.startswith("@"):
            position = _end_of_block(css, position)
            continue
        body = _BODY.match(css, position)
        end = position if body is None else body.end()
        yield prelude, css[position:end]
        position = end + 1 if css[end : end + 1] == "}" else _end_of_block(css, position)


def _end_of_block(css: str, position: int) -> int:
    depth = 1
    for brace in _BRACE.finditer(css, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(css)


def _rule(selector: str, block: Block, order: int) -> Rule | None:
    found = _SELECTOR.fullmatch(selector) if 0 < len(selector) <= _MAX_SELECTOR else None
    if found is None:
        return None
    target = _compound(found["target"])
    around = _compound(found["around"]) if found["around"] else None
    if not any(target.specificity):  # `*`: of everything, it can only hide everything
        return None
    ids, classes, tags = target.specificity
    if around is not None:
        ids += around.specificity[0]
        classes += around.specificity[1]
        tags += around.specificity[2]
    rank = (ids, classes, tags, order)
    return Rule(target, around, found["child"] is not None, block, rank)


def _compound(text: str) -> Compound:
    tag = _TAG.match(text)
    parts = _PART.findall(text)
    return Compound(
        tag=tag[0].lower() if tag else "",
        identifier=next((name for mark, name in parts if mark == "#"), ""),
        classes=frozenset(name for mark, name in parts if mark == "."),
    )

"""The rules of a page's own `<style>` elements that can hide text.

A small part of CSS: selectors of one or two compounds such as `p`, `.note`, `div.a.b`, `#x .y` and
`.tabs > .tab`, in comma lists; no pseudo-classes and no attributes. Rules inside `@media` count if it
is for all or for screens, without conditions; other blocks do not. Style sheets of other addresses
are not fetched.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.html.style.declarations import Hidden, Value, hidden, parse, plain

MAX_CSS: Final = 200_000
"""Characters of style sheets read."""

MAX_RULES: Final = 500
"""Selectors kept: first those of rules that hide, then those of the others."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One selector with its declarations; each is equal to itself only.

    Attributes:
        target: the element it is about.
        around: what an element around that one must be, or `None`.
        is_child: whether the element around must be the parent.
        style: the declarations that can hide or show.
        ways: how they hide, if other rules do the rest.
        rank: what a rule of higher rank declares too, counts instead.
    """

    target: Compound
    around: Compound | None
    is_child: bool
    style: dict[str, Value]
    ways: frozenset[Hidden]
    rank: tuple[int, int, int, int]

    @property
    def selector(self) -> tuple[Compound, Compound | None, bool]:
        """What equal selectors have in common."""
        return self.target, self.around, self.is_child


def rules(css: str) -> list[Rule]:
    """The rules of a style sheet that can hide text, or show what another hides.

    Args:
        css: style sheets, one after the other; what is longer than `MAX_CSS` is left out.

    Returns:
        At most `MAX_RULES`; none if no rule hides anything.
    """
    hiding: list[Rule] = []
    others: list[Rule] = []
    for order, (selectors, body) in enumerate(
        _blocks(_COMMENT_MARKS.sub("", plain(css[:MAX_CSS])))
    ):
        style = parse(body[:_MAX_BODY])
        if not style:
            continue
        ways = hidden(style | _OTHER_HALVES)
        kept = hiding if ways else others
        for selector in selectors.split(","):
            if len(kept) < MAX_RULES and (rule := _rule(selector.strip(), style, ways, order)):
                kept.append(rule)
    if not hiding:
        return []
    return [*hiding, *others][:MAX_RULES]


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


def _rule(
    selector: str, style: dict[str, Value], ways: frozenset[Hidden], order: int
) -> Rule | None:
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
    return Rule(target, around, found["child"] is not None, style, ways, rank)


def _compound(text: str) -> Compound:
    tag = _TAG.match(text)
    parts = _PART.findall(text)
    return Compound(
        tag=tag[0].lower() if tag else "",
        identifier=next((name for mark, name in parts if mark == "#"), ""),
        classes=frozenset(name for mark, name in parts if mark == "."),
    )

"""The elements of a page that may be hidden, by its style sheets or by their own declarations.

Most declarations hide nothing, so those that may are found first, in the text of the style sheets: each different one
is judged once, for all values that its variables may have. Afterwards, only the properties involved in these are read.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.declarations import (
    KNOWN,
    NEAR,
    WHITE,
    Colour,
    Value,
    cached_if_short,
    colour,
    is_same,
    is_transparent,
    names_for,
    parse_declarations,
)
from searx_mcp.content.html.look import Look, ground_of, ink_of, look
from searx_mcp.content.html.selectors import Matcher
from searx_mcp.content.html.stylesheet import StyleRule, StyleSheet

_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+))?\)")
_MAX_VARIABLES: Final = 64
"""Replaced in one value; replacing also stops when it is longer than `_MAX_VALUE` characters."""

_MAX_VALUE: Final = 1_000
_MAX_WAYS: Final = 256
"""Values that a property may take through its variables; with more, it may hide."""

ASKED: Final = 20
"""Steps counted for looking up a variable, or the rules with a declaration."""

Scope = Mapping[str, str | None]
"""The variables of an element, inherited ones included; `None` for one that was reset."""

Spend = Callable[[int], bool]
"""Counts steps that a page can cause; returns whether any are left."""


class Ways(NamedTuple):
    """The values that a value may become, `None` for too many, and the variables in it."""

    texts: list[str] | None
    variables: AbstractSet[str]


def is_variable(name: str) -> bool:
    """Whether the name of a property is that of a variable."""
    return name[:2] == "--"


def depends(text: str) -> bool:
    """Whether a value has variables in it."""
    return "var(" in text


def replaced(text: str, scope: Scope, spend: Spend) -> str | None:
    """Return a value with its variables replaced; `None` if that is not possible."""
    for _ in range(_MAX_VARIABLES):
        if (found := _VARIABLE.search(text)) is None or not spend(1):
            break
        value = scope.get(found[1])
        if value is None:
            value = found[2]
        if value is None:
            return None
        text = f"{text[: found.start()]}{value.strip()}{text[found.end() :]}"
        if len(text) > _MAX_VALUE:
            return None
    return None if depends(text) else text.strip()


class Variables:
    """The values that the variables of a page may have.

    Args:
        values: everything that each is set to, anywhere.
        spend: counts the steps.
    """

    def __init__(self, values: Mapping[str, AbstractSet[str]], spend: Spend) -> None:
        self._values = values
        self._spend = spend
        self._known: dict[str, Ways] = {}

    def ways(self, text: str) -> Ways:
        """Return what a value may become; computed once for each."""
        if text not in self._known:
            self._known[text] = self._ways(text)
        return self._known[text]

    def _ways(self, text: str) -> Ways:
        texts, left, variables = list[str](), [text], set[str]()
        for _ in range(_MAX_WAYS):
            text = left.pop()
            if not depends(text) or (variable := _VARIABLE.search(text)) is None:
                texts.append(text)
            elif len(text) <= _MAX_VALUE:
                name, fallback = variable.groups()
                variables.add(name)
                values = {
                    *self._values.get(name, ()),
                    *([] if fallback is None else [fallback.strip()]),
                }
                begun, rest = text[: variable.start()], text[variable.end() :]
                left += [f"{begun}{each}{rest}" for each in values]
            if not left:
                return Ways(texts, variables)
            if not self._spend(ASKED):
                break
        return Ways(None, variables)


SKELETON: Final = frozenset({"html", "head", "body"})
"""Elements that are never hidden."""

_HALVES: Final = {
    "position": "absolute", "overflow": "hidden", "transition": "", "mask-image": "url()",
}  # fmt: skip
"""Declarations that, in another rule or on an element, complete some declarations to hiding ones."""

_CLIPPED: Final = ("overflow", "contain")
_PARTNERS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("left", "right", "top", "bottom", "clip"), ("position",)),
    **dict.fromkeys(("text-indent", "width"), _CLIPPED),
    "height": (*_CLIPPED, "padding-top", "padding-bottom"),
    "max-height": (*_CLIPPED, "padding-top", "padding-bottom", "transition"),
    "mask-size": ("mask-image",),
}
"""Properties that decide whether others hide."""

_SOME_OPACITY: Final = 0.3
"""Visible, but not inside something else that is almost transparent."""

_SOME_SIZE: Final = 5.0
INKS: Final = ("color", "text-fill-color")
GROUNDS: Final = ("background-color", "background-image")
_PAINT: Final = frozenset({
    *INKS, *GROUNDS, "text-shadow", "text-stroke", "background-clip", "position",
})  # fmt: skip
_NO_WAYS: Final = frozenset[str]()

MAX_INLINE: Final = 1_000_000
"""Characters in all `style` attributes of a page."""

_BY_ATTRIBUTE: Final = "font[color],[bgcolor],body[text],[background]"
WITH_OWN_STYLE: Final = f"[style],{_BY_ATTRIBUTE}"
_COLOURS: Final = {"bgcolor": "background-color", "color": "color", "text": "color"}


class OwnStyle(NamedTuple):
    """An element's own declarations; those of presentational attributes are weaker than all rules."""

    element: LexborNode
    style: dict[str, Value]
    is_attribute: bool


class Suspect(NamedTuple):
    """An element that may be hidden.

    Attributes:
        element: may be in several of them.
        rule: the rule that may hide it; `None` for its own style.
        is_painted: whether only the colour of its text may hide it.
    """

    element: LexborNode
    rule: StyleRule | None
    is_painted: bool


class Suspects:
    """Finds the elements that may be hidden, by the rules of a page and by its elements' own declarations."""

    def __init__(self, sheet: StyleSheet, matcher: Matcher, own: Sequence[OwnStyle]) -> None:
        self._sheet = sheet
        self._matcher = matcher
        self._own = own
        self.involved: set[str] = set()
        """The properties and variables that decide whether the elements found are hidden."""

        self.found = [each for each in self._found() if each.element.tag not in SKELETON]

    @cached_property
    def _variables(self) -> Variables:
        values: dict[str, set[str]] = defaultdict(set)
        for _, style in self._declared(filter(is_variable, self._sheet.declarations)):
            for name, value in style.items():
                if is_variable(name):
                    values[name].add(value.text)
        return Variables(values, self._matcher.spend)

    def _found(self) -> Iterator[Suspect]:
        for own in self._own:
            if ways := self._ways(own.style):
                self.involved |= ways
                yield Suspect(own.element, None, is_painted=False)
        texts = [text for name in KNOWN for text in self._sheet.declarations.get(name, ())]
        for rule in self._sheet.having([t for t in texts if self._ways(parse_declarations(t))]):
            ways = self._ways(rule.style)
            for element in self._matcher.find(rule.text).values() if ways else ():
                self.involved |= ways
                yield Suspect(element, rule, is_painted=False)
        yield from self._inked()

    def _ways(self, style: Mapping[str, Value]) -> set[str]:
        """The properties involved if some declarations may hide text."""
        found = set[str]()
        for name, value in style.items():
            if not depends(value.text):
                found |= _ways(name, value.text)
            elif not is_variable(name) and (name not in _PAINT or name in INKS):
                texts, variables = self._variables.ways(value.text)
                if texts is None:
                    found |= _involved(name) | variables
                elif ways := set[str]().union(*(_ways(name, text) for text in texts)):
                    found |= ways | variables
        return found

    def _inked(self) -> Iterator[Suspect]:
        """The elements whose text may have the colour of their background."""
        (inks, of_inks), (grounds, of_grounds) = self._paints(INKS), self._paints(GROUNDS)
        is_alone = self._sheet.is_alone
        known, done = sorted({*grounds, *([WHITE] if is_alone else [])}), set[int]()
        for ink, sources in inks.items():
            first = bisect_left(known, (ink.red - NEAR,))
            last = bisect_right(known, (ink.red + NEAR, 256.0))
            if not self._matcher.spend(last - first):
                break
            near = [ground for ground in known[first:last] if is_same(ink, ground)]
            new = {id(source): source for source in sources if id(source) not in done}
            inked = [each for source in new.values() if near for each in self._about(source)]
            # The background of an element is known only if it paints one, unless nothing else can.
            painted = {
                each.element.mem_id
                for ground in (near if inked and not is_alone else ())
                for source in grounds[ground]
                for each in self._about(source)
            }
            done.update(new if is_alone and near else ())
            for each in inked:
                if is_alone or each.element.mem_id in painted:
                    self.involved |= _PAINT | of_inks | of_grounds
                    yield each

    def _paints(
        self, names: tuple[str, ...]
    ) -> tuple[dict[Colour, list[str | OwnStyle]], set[str]]:
        """The colours that some properties may have, with what sets them, and the variables for them."""
        found: dict[Colour, list[str | OwnStyle]] = defaultdict(list)
        all_variables = set[str]()
        for source, style in self._declared(dict.fromkeys(chain(*map(names_for, names)))):
            for name in style.keys() & names:
                texts, variables = self._variables.ways(style[name].text)
                all_variables |= variables
                for text in texts or ():
                    if (paint := _paint(name, text)) is not None:
                        found[paint].append(source)
        return found, all_variables

    def _declared(
        self, names: Iterable[str]
    ) -> Iterator[tuple[str | OwnStyle, Mapping[str, Value]]]:
        """The style sheets' declarations of some properties, and those of elements."""
        for name in names:
            for text in self._sheet.declarations.get(name, ()):
                yield text, parse_declarations(text)
        for own in self._own:
            yield own, own.style

    def _about(self, source: str | OwnStyle) -> Iterator[Suspect]:
        """The elements that a declaration of the style sheets, or their own, is about."""
        self._matcher.spend(ASKED)
        if isinstance(source, OwnStyle):
            yield Suspect(source.element, None, is_painted=True)
            return
        for rule in self._sheet.having([source]):
            for element in self._matcher.find(rule.text).values():
                yield Suspect(element, rule, is_painted=True)


@cached_if_short
def _ways(name: str, text: str) -> frozenset[str]:
    """The properties involved if a declaration may hide text, by itself or with others."""
    if name in INKS:
        ink = _paint(name, text)
        return _PAINT if ink is not None and is_transparent(ink) else _NO_WAYS
    if name in _PAINT or is_variable(name):
        return _NO_WAYS
    seen = look({**_HALVES, name: text}, Look())
    may_hide = seen.is_hidden or seen.opacity <= _SOME_OPACITY or seen.size <= _SOME_SIZE
    return _involved(name) if may_hide else _NO_WAYS


def _involved(name: str) -> frozenset[str]:
    return _PAINT if name in _PAINT else frozenset({name, *_PARTNERS.get(name, ())})


@cached_if_short
def _paint(name: str, text: str) -> Colour | None:
    return (ink_of if name in INKS else ground_of)({name: text})


def own_styles(tree: LexborHTMLParser) -> tuple[list[OwnStyle], bool]:
    """Return the declarations of all elements, and whether some exceeded the limit and were left out."""
    found = [
        OwnStyle(element, _by_attribute(element), is_attribute=True)
        for element in tree.css(_BY_ATTRIBUTE)
    ]
    left = MAX_INLINE
    parsed: dict[str, dict[str, Value]] = {}
    for element in tree.css("[style]"):
        text = element.attributes.get("style") or ""
        left -= len(text)
        if left < 0:
            break
        if text not in parsed:
            parsed[text] = parse_declarations(text)
        if parsed[text]:
            found.append(OwnStyle(element, parsed[text], is_attribute=False))
    return found, left < 0


def _by_attribute(element: LexborNode) -> dict[str, Value]:
    """Return what presentational attributes declare (HTML, section 15.3)."""
    attributes = element.attributes
    style = {}
    for attribute, name in _COLOURS.items():
        text = (attributes.get(attribute) or "").strip().lower()
        for each in (text, f"#{text}"):
            if colour(each) is not None:
                style[name] = Value(each)
                break
    if attributes.get("background"):
        style["background-image"] = Value("url()")
    return style

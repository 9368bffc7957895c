"""The computed values of an element, after the cascade (CSS Cascade 5, section 6).

Most declarations hide nothing, so those that may hide are found first. Only properties involved in these are
read, and elements that no such rule matches cost nothing.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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
from searx_mcp.content.html.selectors import Matcher, Weight, weigh
from searx_mcp.content.html.stylesheet import StyleRule, StyleSheet

MAX_INLINE: Final = 1_000_000
"""Characters in all `style` attributes of a page."""

SKELETON: Final = frozenset({"html", "head", "body"})
UNTIL_LOADED: Final = frozenset({"opacity", "visibility", "display"})
"""Properties by which an element's own style hides the page until its scripts have run."""

_BY_ATTRIBUTE: Final = "font[color],[bgcolor],body[text],[background]"
_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+))?\)")
_MAX_VARIABLES: Final = 64
"""Replaced in one value; replacing also stops when it is longer than `_MAX_VALUE` characters."""

_MAX_VALUE: Final = 1_000
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
_INKS: Final = ("color", "text-fill-color")
_GROUNDS: Final = ("background-color", "background-image")
_PAINT: Final = frozenset({
    *_INKS, *_GROUNDS, "text-shadow", "text-stroke", "background-clip", "position",
})  # fmt: skip
_ASKED: Final = 20
"""Steps that it costs to look for a variable, or for the rules with a declaration."""

_MAX_WAYS: Final = 256
"""Values that a property may take through its variables; with more, it may hide."""

Style = Mapping[str, Value]
_NOTHING: Final[Style] = {}
_NO_WAYS: Final = frozenset[str]()
_NO_ELEMENTS: Final[Mapping[int, LexborNode]] = {}


class Applied(NamedTuple):
    """A value that applies to an element, with its rule; `None` is the element's own style."""

    text: str
    rule: StyleRule | None


class _Own(NamedTuple):
    """An element's own declarations."""

    element: LexborNode
    style: Style
    is_attribute: bool


class Cascade:
    """The styles and looks of a page's elements; each is computed once, on demand.

    Args:
        tree: the page.
        sheet: its rules.
    """

    def __init__(self, tree: LexborHTMLParser, sheet: StyleSheet) -> None:
        self._tree = tree
        self._sheet = sheet
        self._matcher = Matcher(tree)
        self._own: list[_Own] = []
        self._forget()
        self._keys: dict[int, frozenset[str]] = {}
        self._inert = {element.mem_id for element in tree.css("[inert]")}
        self._is_cut = False
        self._excluded: set[str | int] = set()
        self._keeps_faint = True
        self._read_elements()
        self._own_of = {(own.element.mem_id, own.is_attribute): own.style for own in self._own}
        self._involved: set[str] = set()
        self._suspects = list(self._suspected())
        self._index: dict[str, list[StyleRule]] = defaultdict(list)
        for rule in sheet.declaring({name for each in self._involved for name in names_for(each)}):
            self._index[rule.key].append(rule)
        self._rules: dict[int, list[StyleRule]] = defaultdict(list)

    @property
    def is_cut(self) -> bool:
        """Whether part of the page's style exceeded a limit and was not read."""
        return self._is_cut or self._sheet.is_cut or self._matcher.is_exhausted

    @property
    def passes_over(self) -> bool:
        """Whether anything is ignored."""
        return bool(self._excluded) or not self._keeps_faint

    def exclude(self, causes: AbstractSet[str | int] | None) -> None:
        """Ignore selectors, and `UNTIL_LOADED` of elements by their ids; by default all selectors."""
        self._excluded |= causes or {rule.text for _, rule, _ in self._suspects if rule}
        self._forget()

    def show_faint(self) -> None:
        """Ignore opacity in inline styles, and the assumed background of the page."""
        self._keeps_faint = False
        self._forget()

    def suspects(self) -> dict[int, LexborNode]:
        """The elements that may be hidden, by their ids in memory."""
        found: dict[int, LexborNode] = {}
        for element, rule, is_painted in self._suspects:
            is_out = rule is not None and rule.text in self._excluded
            if is_out or element.mem_id in found:
                continue
            if not is_painted or self._may_vanish(element):
                found[element.mem_id] = element
        return found

    def spend(self, steps: int) -> bool:
        """Count steps that a page can cause; returns whether any are left."""
        return self._matcher.spend(steps)

    def style(self, element: LexborNode) -> dict[str, Applied]:
        """Return the values that apply to an element."""
        found = self._styles.get(element.mem_id)
        if found is None:
            # Variables are looked up in the ancestors, so the style is stored before they are replaced.
            found = self._styles[element.mem_id] = self._cascaded(element)
            names = [
                name for name, each in found.items() if "var(" in each.text and name[:2] != "--"
            ]
            if names:
                texts = [self._replaced(element, found[name].text) for name in names]
                key = id(found), tuple(texts)
                if key not in self._alike_replaced:
                    style = dict(found)
                    for name, text in zip(names, texts, strict=True):
                        if text is None:
                            del style[name]
                        else:
                            style[name] = Applied(text, found[name].rule)
                    self._alike_replaced[key] = style
                found = self._styles[element.mem_id] = self._alike_replaced[key]
        return found

    def look(self, element: LexborNode) -> Look:
        """Return the look of an element's text; if the element hides itself, regardless of its ancestors."""
        if element.mem_id not in self._looks:
            found = self._look_in(self._page(), element)
            if found.is_box_hidden:
                self._looks[element.mem_id] = found
        path: list[LexborNode] = []
        node: LexborNode | None = element
        while node is not None and node.is_element_node and node.mem_id not in self._looks:
            path.append(node)
            node = node.parent
        found = self._looks.get(node.mem_id, self._page()) if node is not None else self._page()
        for node in reversed(path):
            found = self._looks[node.mem_id] = self._look_in(found, node)
        return found

    def _look_in(self, around: Look, element: LexborNode) -> Look:
        style = self.style(element)
        # Most elements have the same style as others.
        key = id(style), around, element.mem_id in self._inert, element.tag in SKELETON
        found = self._alike_looks.get(key)
        if found is None:
            found = self._alike_looks[key] = self.look_with(element, style, around)
        return found

    def look_with(self, element: LexborNode, style: Mapping[str, Applied], around: Look) -> Look:
        """Return the look that the text of an element would have.

        Args:
            element: contains the text.
            style: values that would apply to it.
            around: look of the text around it.
        """
        if not self._assumes_ground and around.ground is not None:
            around = around._replace(ground=None)
        if not style:
            return around
        declared = {name: applied.text for name, applied in style.items()}
        found = look(declared, around, is_inert=element.mem_id in self._inert)
        if element.tag in SKELETON:
            # The page itself is never hidden.
            return Look(ink=found.ink, ground=found.ground)
        return found

    def around(self, element: LexborNode) -> Look:
        """Return the look of the text around an element, as far as it matters."""
        if self._look_in(self._page(), element).is_box_hidden:
            return self._page()
        parent = element.parent
        return self.look(parent) if parent is not None and parent.is_element_node else self._page()

    @property
    def _assumes_ground(self) -> bool:
        """Whether nothing else may paint behind the text of an element."""
        return self._sheet.is_alone and self._keeps_faint

    def _page(self) -> Look:
        return Look(ground=WHITE if self._assumes_ground else None)

    def _suspected(self) -> Iterator[tuple[LexborNode, StyleRule | None, bool]]:
        """The elements that may be hidden, with the rule, and whether only the text colour may hide them."""
        for element, style, _ in self._own:
            if (ways := self._ways(style)) and element.tag not in SKELETON:
                self._involved |= ways
                yield element, None, False
        declarations = self._sheet.declarations
        texts = [text for name in KNOWN for text in declarations.get(name, ())]
        for rule in self._sheet.having([t for t in texts if self._ways(parse_declarations(t))]):
            if ways := self._ways(rule.style):
                for element in self._found(rule).values():
                    if element.tag not in SKELETON:
                        self._involved |= ways
                        yield element, rule, False
        yield from ((*inked, True) for inked in self._inked() if inked[0].tag not in SKELETON)

    def _inked(self) -> Iterator[tuple[LexborNode, StyleRule | None]]:
        """The elements whose text may have the colour of their background, with the rule."""
        (inks, of_inks), (grounds, of_grounds) = self._paints(_INKS), self._paints(_GROUNDS)
        is_alone = self._sheet.is_alone
        known, done = sorted({*grounds, *([WHITE] if is_alone else [])}), set[int]()
        for ink, sources in inks.items():
            first = bisect_left(known, (ink.red - NEAR,))
            last = bisect_right(known, (ink.red + NEAR, 256.0))
            if not self.spend(last - first):
                break
            near = [ground for ground in known[first:last] if is_same(ink, ground)]
            new = {id(source): source for source in sources if id(source) not in done}
            inked = [each for source in new.values() if near for each in self._about(source)]
            # The background of an element is known only if it paints one, unless nothing else can.
            painted = {
                element.mem_id
                for ground in (near if inked and not is_alone else ())
                for source in grounds[ground]
                for element, _ in self._about(source)
            }
            done.update(new if is_alone and near else ())
            for element, rule in inked:
                if is_alone or element.mem_id in painted:
                    self._involved |= _PAINT | of_inks | of_grounds
                    yield element, rule

    def _found(self, rule: StyleRule) -> Mapping[int, LexborNode]:
        """The elements that a rule matches; none once all rules together matched too many."""
        found = self._matcher.find(rule.text)
        return found if self.spend(len(found)) else _NO_ELEMENTS

    def _may_vanish(self, element: LexborNode) -> bool:
        """Whether text may have the colour of its background.

        The background is known only if the element paints it, unless nothing else can. An author who paints it and
        leaves the text to a weaker rule has set the colour of the text in another style sheet.
        """
        if self._assumes_ground:
            return True
        applied = self.style(element)
        style = {name: each.text for name, each in applied.items()}
        ink, ground = ink_of(style), ground_of(style)
        if ink is None or ground is None or not is_same(ink, ground):
            return False
        inks, grounds = (
            [applied[name].rule for name in names if name in applied] for names in (_INKS, _GROUNDS)
        )
        return None in inks or max(_weights(inks)) >= max(_weights(grounds), default=(0, 0, 0))

    def _ways(self, style: Style) -> set[str]:
        """The properties involved if some declarations may hide text."""
        found = set[str]()
        for name, value in style.items():
            if "var(" not in value.text:
                found |= _NO_WAYS if name[:2] == "--" else _ways(name, value.text)
            elif name[:2] != "--":
                texts, variables = self._possible(value.text)
                if texts is None:
                    found |= _involved(name) | variables
                elif ways := set[str]().union(*(_ways(name, text) for text in texts)):
                    found |= ways | variables
        return found

    def _possible(self, text: str) -> tuple[list[str] | None, set[str]]:
        """The values that a value may become, `None` for too many, and the variables in it."""
        found, left, variables = list[str](), [text], set[str]()
        for _ in range(_MAX_WAYS):
            text = left.pop()
            if "var(" not in text or (variable := _VARIABLE.search(text)) is None:
                found.append(text)
            elif len(text) <= _MAX_VALUE:
                name, fallback = variable.groups()
                variables.add(name)
                values = self._values[name] | (
                    {fallback.strip()} if fallback is not None else set()
                )
                left += [
                    f"{text[: variable.start()]}{each}{text[variable.end() :]}" for each in values
                ]
            if not left:
                return found, variables
            if not self.spend(_ASKED):
                break
        return None, variables

    @cached_property
    def _values(self) -> dict[str, set[str]]:
        """What variables are set to."""
        found: dict[str, set[str]] = defaultdict(set)
        names = [name for name in self._sheet.declarations if name[:2] == "--"]
        for _, style in self._declared(names):
            for name, value in style.items():
                if name[:2] == "--":
                    found[name].add(value.text)
        return found

    def _paints(self, names: tuple[str, ...]) -> tuple[dict[Colour, list[str | _Own]], set[str]]:
        """The colours that some properties may have, with what sets them, and the variables for them."""
        found: dict[Colour, list[str | _Own]] = defaultdict(list)
        all_variables = set[str]()
        for source, style in self._declared(dict.fromkeys(chain(*map(names_for, names)))):
            for name in names:
                values, variables = (
                    self._possible(style[name].text) if name in style else ((), set())
                )
                all_variables |= variables
                for text in values or ():
                    if (paint := _paint(name, text)) is not None:
                        found[paint].append(source)
        return found, all_variables

    def _declared(self, names: Iterable[str]) -> Iterator[tuple[str | _Own, Style]]:
        """The style sheets' declarations of some properties, and those of elements."""
        for name in names:
            for text in self._sheet.declarations.get(name, ()):
                yield text, parse_declarations(text)
        for own in self._own:
            yield own, own.style

    def _about(self, source: str | _Own) -> Iterator[tuple[LexborNode, StyleRule | None]]:
        """The elements that a declaration of the style sheets, or their own, is about."""
        self.spend(_ASKED)
        if isinstance(source, _Own):
            yield source.element, None
            return
        for rule in self._sheet.having([source]):
            for element in self._found(rule).values():
                yield element, rule

    def _forget(self) -> None:
        self._styles: dict[int, dict[str, Applied]] = {}
        self._looks: dict[int, Look] = {}
        self._alike: dict[tuple[int, ...], dict[str, Applied]] = {}
        self._alike_looks: dict[tuple[int, Look, bool, bool], Look] = {}
        self._alike_replaced: dict[tuple[int, tuple[str | None, ...]], dict[str, Applied]] = {}
        self._variables: dict[tuple[int, str], str | None] = {}

    def _read_elements(self) -> None:
        left = MAX_INLINE
        parsed: dict[str, dict[str, Value]] = {}
        for element in self._tree.css("[style]"):
            text = element.attributes.get("style") or ""
            left -= len(text)
            if left < 0:
                self._is_cut = True
                break
            if text not in parsed:
                parsed[text] = parse_declarations(text)
            if parsed[text]:
                self._own.append(_Own(element, parsed[text], is_attribute=False))
        for element in self._tree.css(_BY_ATTRIBUTE):
            self._own.append(_Own(element, _by_attribute(element), is_attribute=True))

    def _keys_of(self, element: LexborNode) -> frozenset[str]:
        """The keys (see `selectors.key_of`) of an element."""
        found = self._keys.get(element.mem_id)
        if found is None:
            attributes = element.attributes
            keys = ["*", element.tag or "", f"#{attributes.get('id')}"]
            keys += [f".{name}" for name in (attributes.get("class") or "").split()]
            found = self._keys[element.mem_id] = frozenset(keys)
        return found

    def _cascaded(self, element: LexborNode) -> dict[str, Applied]:
        mem_id = element.mem_id
        rules = self._rules_about(element)
        attribute = self._own_of.get((mem_id, True), _NOTHING)
        own = self._own_of.get((mem_id, False), _NOTHING)
        is_excluded = mem_id in self._excluded
        # Most elements match the same rules as others. What is found is kept, since others are known by its id.
        alike = (is_excluded, id(attribute), id(own), *map(id, rules))
        if alike not in self._alike:
            if is_excluded:
                own = {name: value for name, value in own.items() if name not in UNTIL_LOADED}
            self._alike[alike] = self._applied(rules, attribute, own)
        return self._alike[alike]

    def _rules_about(self, element: LexborNode) -> list[StyleRule]:
        for key in self._keys_of(element) & self._index.keys():
            for rule in self._index.pop(key):
                for mem_id in self._found(rule):
                    self._rules[mem_id].append(rule)
        rules = self._rules.get(element.mem_id, [])
        return [rule for rule in rules if rule.text not in self._excluded]

    def _applied(self, rules: list[StyleRule], attribute: Style, own: Style) -> dict[str, Applied]:
        found: dict[str, Applied] = {}
        weights: dict[str, tuple[bool, bool, int, Weight, int]] = {}
        if not self._keeps_faint:
            own = {name: value for name, value in own.items() if name != "opacity"}
        for style, rule, weight in [
            (attribute, None, (False, False, -1, (0, 0, 0), 0)),
            *(
                (
                    {n: value for n, value in rule.style.items() if n in self._involved},
                    rule,
                    (False, False, rule.layer, weigh(rule.text), rule.order),
                )
                for rule in rules
            ),
            (own, None, (False, True, 0, (0, 0, 0), 0)),
        ]:
            # `!important` in an earlier layer has precedence (CSS Cascade 5, section 6.4.4).
            important = (True, weight[1], -weight[2], weight[3], weight[4])
            for name, value in style.items():
                this = important if value.is_important else weight
                if name not in weights or this >= weights[name]:
                    weights[name] = this
                    found[name] = Applied(value.text, rule)
        return found

    def _replaced(self, element: LexborNode, text: str) -> str | None:
        """A value with its variables replaced (CSS Variables 1); `None` if that is not possible."""
        for _ in range(_MAX_VARIABLES):
            if (found := _VARIABLE.search(text)) is None:
                break
            known = self._variable(element, found[1])
            value = (found[2] or "").strip() if known is None else known
            if known is None and found[2] is None:
                return None
            text = f"{text[: found.start()]}{value}{text[found.end() :]}"
            if len(text) > _MAX_VALUE:
                return None
        return text.strip() if "var(" not in text else None

    def _variable(self, element: LexborNode, name: str) -> str | None:
        node: LexborNode | None = element
        passed, answer = [], None
        while node is not None and node.is_element_node and self.spend(1):
            key = node.mem_id, name
            if key in self._variables:
                answer = self._variables[key]
                break
            passed.append(key)
            applied = self.style(node).get(name)
            if applied is not None and applied.text not in {"inherit", "unset"}:
                answer = None if applied.text == "initial" else applied.text
                break
            node = node.parent
        self._variables.update(dict.fromkeys(passed, answer))
        return answer


def _weights(rules: Iterable[StyleRule | None]) -> list[Weight]:
    return [weigh(rule.text) for rule in rules if rule is not None]


def _by_attribute(element: LexborNode) -> dict[str, Value]:
    """Return the presentational attributes, which are older than CSS (HTML, section 15.3)."""
    attributes = element.attributes
    style = {}
    for attribute, name in (("bgcolor", "background-color"), ("color", "color"), ("text", "color")):
        text = (attributes.get(attribute) or "").strip().lower()
        if colour(text) is not None or colour(f"#{text}") is not None:
            style[name] = Value(text if colour(text) is not None else f"#{text}")
    if attributes.get("background"):
        style["background-image"] = Value("url()")
    return style


@cached_if_short
def _ways(name: str, text: str) -> frozenset[str]:
    """The properties involved if a declaration may hide text, by itself or with others."""
    if name in _INKS:
        ink = _paint(name, text)
        return _PAINT if ink is not None and is_transparent(ink) else _NO_WAYS
    return (
        _involved(name) if name not in _PAINT and _may_hide({**_HALVES, name: text}) else _NO_WAYS
    )


def _involved(name: str) -> frozenset[str]:
    return _PAINT if name in _PAINT else frozenset({name, *_PARTNERS.get(name, ())})


def _may_hide(declared: Mapping[str, str]) -> bool:
    seen = look(declared, Look())
    return seen.is_hidden or seen.opacity <= _SOME_OPACITY or seen.size <= _SOME_SIZE


@cached_if_short
def _paint(name: str, text: str) -> Colour | None:
    return (ink_of if name in _INKS else ground_of)({name: text})

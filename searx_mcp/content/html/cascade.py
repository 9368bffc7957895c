"""Which values hold for an element, after all that is declared for it (CSS Cascade 5, section 6).

Most declarations hide nothing, so those that may are told first; elements that no other names cost nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.declarations import (
    WHITE,
    Colour,
    Value,
    colour,
    is_same,
    parse_declarations,
)
from searx_mcp.content.html.look import Look, ground_of, ink_of, look
from searx_mcp.content.html.selectors import Matcher
from searx_mcp.content.html.stylesheet import Rule, StyleSheet

MAX_INLINE: Final = 1_000_000
"""Characters of all `style` attributes of a page."""

SKELETON: Final = frozenset({"html", "head", "body"})
_BY_ATTRIBUTE: Final = (
    "font[color],[bgcolor],body[text],table[background],td[background],body[background]"
)
_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+))?\)")
_MAX_VARIABLES: Final = 64
"""Replaced in one value, and no further than `_MAX_VALUE` characters of it."""

_MAX_VALUE: Final = 1_000
_MAX_QUERIES: Final = 200
"""Questions to the parser, 10 to 50 µs each, from which it takes less to go through the page once."""

_QUOTED = re.compile(r"[\"\\]")


_Index = dict[str, list[Rule]]
"""Rules by the keys of what they are about."""

_Weight = tuple[bool, bool, int, tuple[int, int, int], int]
_LIGHTEST: Final[_Weight] = (False, False, -1, (0, 0, 0), 0)
"""Of attributes such as `bgcolor`."""

_HALVES: Final = {"position": "absolute", "overflow": "hidden", "transition": ""}
"""What makes some declarations hide that stand in another rule or on an element."""

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
    "width height max-height": r"(?<![0-9.])[-.01](?![0-9])|\(",
    "color text-fill-color": r"transparent|\(|#(?:[0-9a-f]{4}|[0-9a-f]{8})\b",
}.items() for name in names.split()}  # fmt: skip
"""What a value must have in it to hide anything; it is looked for before the value is read."""

_MAX_GROUNDS: Final = 256
"""Colours of grounds that an ink is compared with; with more, every ink is looked at where it is used."""

_ANYWHERE: Final = frozenset({"*"})


class Applied(NamedTuple):
    """A value that holds for an element, with its rule; `None` stands for the element's own style."""

    text: str
    rule: Rule | None


class Cascade:
    """The styles and looks of a page's elements; each is found once, when it is asked for.

    Args:
        tree: the page.
        sheet: its rules.
    """

    def __init__(self, tree: LexborHTMLParser, sheet: StyleSheet) -> None:
        self._tree = tree
        self._sheet = sheet
        self._matcher = Matcher(tree)
        self._own: dict[int, tuple[LexborNode, dict[str, Value]]] = {}
        self._attributes: dict[int, tuple[LexborNode, dict[str, Value]]] = {}
        self._styles: dict[int, dict[str, Applied]] = {}
        self._looks: dict[int, Look] = {}
        self._is_cut = sheet.is_cut
        self._excluded: set[str] = set()
        self._keeps_faint = True
        self._read_elements()
        own = [style for _, style in (*self._own.values(), *self._attributes.values())]
        self._suspicion = Suspicion(sheet, own)

    @property
    def is_cut(self) -> bool:
        """Whether something of the page's style was too much to be looked at."""
        return self._is_cut or self._matcher.is_exhausted

    @property
    def passes_over(self) -> bool:
        """Whether something is passed over."""
        return bool(self._excluded) or not self._keeps_faint

    def exclude(self, selectors: AbstractSet[str]) -> None:
        """Pass over rules from now on."""
        self._excluded |= selectors
        self._forget()

    def show_faint(self) -> None:
        """Pass over opacity in elements' own styles, and what is assumed of the ground of the page."""
        self._keeps_faint = False
        self._forget()

    def suspects(self) -> dict[int, LexborNode]:
        """The elements that something may hide, by their ids in memory."""
        found: dict[int, LexborNode] = {}
        for mem_id, (element, style) in (*self._own.items(), *self._attributes.items()):
            falls, places = self._suspicion.judged(style)
            if falls and self._may_lie_on(element, places) and self._may_vanish(element, places):
                found[mem_id] = element
        index: dict[str, list[tuple[Rule, frozenset[str] | None]]] = defaultdict(list)
        for rule in self._sheet.rules:
            falls, places = self._suspicion.judged(rule.block.style)
            if falls and rule.text not in self._excluded and rule.key:
                index[rule.key].append((rule, places))
        for element in self._tree.css(_query(index)) if index else ():
            if self._matcher.is_exhausted:
                break
            if element.mem_id not in found and any(
                self._may_lie_on(element, places)
                and self._matcher.fits(element, rule.selector)
                and self._may_vanish(element, places)
                for key in self._matcher.keys(element) & index.keys()
                for rule, places in index[key]
            ):
                found[element.mem_id] = element
        return {mem_id: node for mem_id, node in found.items() if node.tag not in SKELETON}

    def spend(self, steps: int) -> bool:
        """Count steps that a page can ask for; whether there are some left."""
        return self._matcher.spend(steps)

    def style(self, element: LexborNode) -> dict[str, Applied]:
        """Give what holds for an element."""
        found = self._styles.get(element.mem_id)
        if found is None:
            # Variables are looked up in the elements around, so it is there before they are replaced.
            found = self._styles[element.mem_id] = self._cascaded(element)
            for name in [name for name, applied in found.items() if "var(" in applied.text]:
                if not name.startswith("--"):
                    text = _Variables(self, element).replaced(found[name].text)
                    if text is None:
                        del found[name]
                    else:
                        found[name] = Applied(text, found[name].rule)
        return found

    def look(self, element: LexborNode) -> Look:
        """Tell how the text of an element looks; of one that is hidden as it stands, whatever is around."""
        if element.mem_id not in self._looks:
            found = self.look_with(element, self.style(element), self._page())
            if found.is_box_hidden:
                self._looks[element.mem_id] = found
        path: list[LexborNode] = []
        node: LexborNode | None = element
        while node is not None and node.is_element_node and node.mem_id not in self._looks:
            path.append(node)
            node = node.parent
        is_known = node is not None and node.is_element_node
        found = self._looks[node.mem_id] if node is not None and is_known else self._page()
        for node in reversed(path):
            found = self.look_with(node, self.style(node), found)
            self._looks[node.mem_id] = found
        return found

    def look_with(self, element: LexborNode, style: Mapping[str, Applied], around: Look) -> Look:
        """Tell how the text of an element would look.

        Args:
            element: in which the text is.
            style: what would hold for it.
            around: how text around it looks.
        """
        if not self._assumes_ground and around.ground is not None:
            around = around._replace(ground=None)
        if not style:
            return around
        declared = {name: applied.text for name, applied in style.items()}
        found = look(declared, around, is_inert="inert" in element.attributes)
        if element.tag in SKELETON:
            # The page itself is never hidden.
            return Look(ink=found.ink, ground=found.ground)
        return found

    def around(self, element: LexborNode) -> Look:
        """Tell how text around an element looks, as far as that matters."""
        if self.look_with(element, self.style(element), self._page()).is_box_hidden:
            return self._page()
        parent = element.parent
        is_inside = parent is not None and parent.is_element_node
        return self.look(parent) if parent is not None and is_inside else self._page()

    @property
    def _assumes_ground(self) -> bool:
        """Whether there is nothing else that may paint behind the text of an element."""
        return self._sheet.is_alone and self._keeps_faint

    def _page(self) -> Look:
        return Look(ground=WHITE if self._assumes_ground else None)

    @cached_property
    def _index(self) -> _Index:
        return _by_key(self._sheet.rules)

    def _may_lie_on(self, element: LexborNode, places: frozenset[str] | None) -> bool:
        """Tell whether an element may lie on what is painted in some places; `None` if that does not matter."""
        if places is None or not places.isdisjoint(self._matcher.keys(element)):
            return True
        return self._assumes_ground and not places.isdisjoint(self._matcher.keys_around(element))

    def _may_vanish(self, element: LexborNode, places: frozenset[str] | None) -> bool:
        """Tell whether letters may have the colour of their ground, if that matters.

        What is behind them is known only if the element paints it, unless there is nothing else.
        """
        if places is None or self._assumes_ground:
            return True
        style = {name: applied.text for name, applied in self.style(element).items()}
        ink, ground = ink_of(style), ground_of(style)
        return ink is not None and ground is not None and is_same(ink, ground)

    def _forget(self) -> None:
        self._styles.clear()
        self._looks.clear()

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
                self._own[element.mem_id] = element, parsed[text]
        for element in self._tree.css(_BY_ATTRIBUTE):
            self._attributes[element.mem_id] = element, _by_attribute(element)

    def _cascaded(self, element: LexborNode) -> dict[str, Applied]:
        found: dict[str, Applied] = {}
        weights: dict[str, _Weight] = {}

        def apply(style: Mapping[str, Value], rule: Rule | None, weight: _Weight) -> None:
            # What is important in an earlier layer counts more (CSS Cascade 5, section 6.4.4).
            important = (True, weight[1], -weight[2], weight[3], weight[4])
            for name, value in style.items():
                own = important if value.is_important else weight
                if name not in weights or own >= weights[name]:
                    weights[name] = own
                    found[name] = Applied(value.text, rule)

        if element.mem_id in self._attributes:
            apply(self._attributes[element.mem_id][1], None, _LIGHTEST)
        has_rules = self._index and not self._matcher.is_exhausted
        for key in self._matcher.keys(element) & self._index.keys() if has_rules else ():
            for rule in self._index[key]:
                selector = rule.selector
                if rule.text not in self._excluded and self._matcher.fits(element, selector):
                    weight = (False, False, rule.layer, selector.weight, rule.order)
                    apply(rule.block.style, rule, weight)
        if element.mem_id in self._own:
            style = self._own[element.mem_id][1]
            if not self._keeps_faint:
                style = {name: value for name, value in style.items() if name != "opacity"}
            apply(style, None, (False, True, 0, (0, 0, 0), 0))
        return found


class _Variables:
    """Replaces the page's own variables in one value (CSS Variables 1)."""

    def __init__(self, cascade: Cascade, element: LexborNode) -> None:
        self._cascade = cascade
        self._element = element
        self._left = _MAX_VARIABLES

    def replaced(self, text: str) -> str | None:
        """A value without variables; `None` if it cannot be told."""
        while (found := _VARIABLE.search(text)) is not None:
            self._left -= 1
            known = self._declared(found[1])
            value = (found[2] or "").strip() if known is None else known
            if self._left < 0 or (known is None and found[2] is None):
                return None
            text = f"{text[: found.start()]}{value}{text[found.end() :]}"
            if len(text) > _MAX_VALUE:
                return None
        return text.strip() if "var(" not in text else None

    def _declared(self, name: str) -> str | None:
        node: LexborNode | None = self._element
        while node is not None and node.is_element_node and self._cascade.spend(1):
            applied = self._cascade.style(node).get(name)
            if applied is not None and applied.text not in {"inherit", "unset"}:
                return None if applied.text == "initial" else applied.text
            node = node.parent
        return None


def _by_key(rules: Iterable[Rule]) -> _Index:
    index: _Index = defaultdict(list)
    for rule in rules:
        if rule.key:
            index[rule.key].append(rule)
    return index


def _by_attribute(element: LexborNode) -> dict[str, Value]:
    """Give what attributes say that are older than CSS (HTML, section 15.3)."""
    attributes = element.attributes
    style = {}
    for attribute, name in (("bgcolor", "background-color"), ("color", "color"), ("text", "color")):
        text = (attributes.get(attribute) or "").strip().lower()
        if colour(text) is not None or colour(f"#{text}") is not None:
            style[name] = Value(text if colour(text) is not None else f"#{text}")
    if attributes.get("background"):
        style["background-image"] = Value("url()")
    return style


def _query(keys: Iterable[str]) -> str:
    """Give what the parser is asked for the elements that have one of some keys."""
    queries = [_attribute_query(key) for key in keys]
    return ",".join(queries) if len(queries) <= _MAX_QUERIES else "body *"


def _attribute_query(key: str) -> str:
    name = _QUOTED.sub(r"\\\g<0>", key[1:])
    if key[0] == "#":
        return f'[id="{name}"]'
    if key[0] == ".":
        return f'[class~="{name}"]'
    return f"{key}]" if key[0] == "[" else key


class Suspicion:
    """The declarations that may hide text, with those of other rules or of elements around.

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
        """Tell whether declarations may hide something, and by what.

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

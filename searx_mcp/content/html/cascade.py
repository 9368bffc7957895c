"""The computed values of an element, after the cascade (CSS Cascade 5, section 6).

Most declarations hide nothing, so those that may hide are found first. Only properties involved in these are
read, and elements that no such rule matches cost nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
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
from searx_mcp.content.html.selectors import Matcher, Weight, weigh
from searx_mcp.content.html.stylesheet import Rule, StyleSheet

MAX_INLINE: Final = 1_000_000
"""Characters in all `style` attributes of a page."""

SKELETON: Final = frozenset({"html", "head", "body"})
_BY_ATTRIBUTE: Final = "font[color],[bgcolor],body[text],[background]"
_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+))?\)")
_MAX_VARIABLES: Final = 64
"""Replaced in one value; replacing also stops when it is longer than `_MAX_VALUE` characters."""

_MAX_VALUE: Final = 1_000
_HALVES: Final = {"position": "absolute", "overflow": "hidden", "transition": ""}
"""Declarations that, in another rule or on an element, complete some declarations to hiding ones."""

_NONE: Final[dict[str, str]] = {}
_SOME_OPACITY: Final = 0.3
"""Visible, but not inside something else that is almost transparent."""

_SOME_SIZE: Final = 5.0
_PLACE: Final = "position left right top bottom inset"
_BOX: Final = "width height block-size inline-size overflow contain transition"
_PAINT: Final = "color background text-shadow text-stroke position"
_INKS: Final = ("color", "text-fill-color")
_GROUNDS: Final = ("background-color", "background-image")
_WAYS: Final = tuple((frozenset(names.split()), frozenset((words or names).split())) for names, words in (
    ("display", ""),
    ("visibility", ""),
    ("content-visibility", ""),
    ("opacity filter", ""),
    ("font-size", "font"),
    ("clip-path", ""),
    ("transform", ""),
    ("translate scale rotate zoom", ""),
    ("mask-image mask-size", "mask"),
    ("clip position", ""),
    ("letter-spacing", ""),
    ("text-indent overflow contain", ""),
    ("margin-left margin-top", "margin"),
    ("left right top bottom position", "left right top bottom inset position"),
    ("width height max-height overflow contain transition", "width height block-size inline-size overflow contain transition"),
    ("color text-fill-color text-shadow text-stroke background-clip background-color background-image", "color background text-s position"),
))  # fmt: skip
"""Properties that hide together, and words in all that undo or complete them."""

_ALWAYS: Final = frozenset({"display", "visibility", "opacity"})
"""Properties that may hide through a variable, even where checking all variables would take too long."""

_MAX_GROUNDS: Final = 256
"""Background colours that a text colour is compared with; with more, every text colour is checked where it is used."""

_ANYWHERE: Final = frozenset({"*"})
Style = Mapping[str, Value]
_NOTHING: Final[Style] = {}
_NO_ELEMENTS: Final[Mapping[int, LexborNode]] = {}


class Applied(NamedTuple):
    """A value that applies to an element, with its rule; `None` is the element's own style."""

    text: str
    rule: Rule | None


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
        self._styles: dict[int, dict[str, Applied]] = {}
        self._looks: dict[int, Look] = {}
        self._keys: dict[int, frozenset[str]] = {}
        self._alike: dict[tuple[int, ...], dict[str, Applied]] = {}
        self._is_cut = False
        self._excluded: set[str] = set()
        self._keeps_faint = True
        self._read_elements()
        self._own_of = {(own.element.mem_id, own.is_attribute): own.style for own in self._own}
        self._suspicion = _Suspicion(sheet, [own.style for own in self._own])
        self._suspects = list(self._suspected())
        self._index = self._relevant()
        self._rules: dict[int, list[Rule]] = defaultdict(list)

    @property
    def is_cut(self) -> bool:
        """Whether part of the page's style exceeded a limit and was not read."""
        return self._is_cut or self._sheet.is_cut or self._matcher.is_exhausted

    @property
    def passes_over(self) -> bool:
        """Whether anything is ignored."""
        return bool(self._excluded) or not self._keeps_faint

    def exclude(self, selectors: AbstractSet[str] | None) -> None:
        """Ignore rules from now on, by default all of them."""
        self._excluded |= selectors or {rule.text for rule in self._suspicion.rules}
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
            found = self._cascaded(element)
            variable = [name for name, applied in found.items() if "var(" in applied.text]
            if variable:
                found = dict(found)
            self._styles[element.mem_id] = found
            for name in variable:
                if not name.startswith("--"):
                    text = self._replaced(element, found[name].text)
                    if text is None:
                        del found[name]
                    else:
                        found[name] = Applied(text, found[name].rule)
        return found

    def look(self, element: LexborNode) -> Look:
        """Return the look of an element's text; if the element hides itself, regardless of its ancestors."""
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
        found = look(declared, around, is_inert="inert" in element.attributes)
        if element.tag in SKELETON:
            # The page itself is never hidden.
            return Look(ink=found.ink, ground=found.ground)
        return found

    def around(self, element: LexborNode) -> Look:
        """Return the look of the text around an element, as far as it matters."""
        if self.look_with(element, self.style(element), self._page()).is_box_hidden:
            return self._page()
        parent = element.parent
        return self.look(parent) if parent is not None and parent.is_element_node else self._page()

    @property
    def _assumes_ground(self) -> bool:
        """Whether nothing else may paint behind the text of an element."""
        return self._sheet.is_alone and self._keeps_faint

    def _page(self) -> Look:
        return Look(ground=WHITE if self._assumes_ground else None)

    def _suspected(self) -> Iterator[tuple[LexborNode, Rule | None, bool]]:
        """The elements that may be hidden, with the rule, and whether only the text colour may hide them."""
        judged = self._suspicion.judged
        own = [(each.element, None, each.style) for each in self._own]
        hit = (
            (element, each, each.style)
            for each in self._suspicion.rules
            for element in self._found(each).values()
        )
        for element, rule, style in chain(own, hit):
            places, words = judged(style)
            if not words or element.tag in SKELETON:
                continue
            # The background of an element is known only if it paints one, unless nothing else can.
            if (
                places is not None
                and not self._sheet.is_alone
                and places.isdisjoint(self._keys_of(element))
            ):
                continue
            self._suspicion.words |= words
            yield element, rule, places is not None

    def _found(self, rule: Rule) -> Mapping[int, LexborNode]:
        """The elements that a rule matches; none once all rules together matched too many."""
        found = self._matcher.find(rule.text)
        return found if self.spend(len(found)) else _NO_ELEMENTS

    def _relevant(self) -> dict[str, list[Rule]]:
        """The rules involved in what may hide, by the keys of their elements."""
        index: dict[str, list[Rule]] = defaultdict(list)
        words = self._suspicion.words
        for rule in self._sheet.declaring({*words, "all"}) if words else ():
            index[rule.key].append(rule)
        return index

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

    def _forget(self) -> None:
        self._styles.clear()
        self._looks.clear()
        self._alike.clear()

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
        # Most elements match the same rules as others.
        alike = (id(attribute), id(own), *map(id, rules))
        if alike not in self._alike:
            self._alike[alike] = self._applied(rules, attribute, own)
        return self._alike[alike]

    def _rules_about(self, element: LexborNode) -> list[Rule]:
        for key in self._keys_of(element) & self._index.keys():
            for rule in self._index.pop(key):
                for mem_id in self._found(rule):
                    self._rules[mem_id].append(rule)
        rules = self._rules.get(element.mem_id, [])
        return [rule for rule in rules if rule.text not in self._excluded]

    def _applied(self, rules: list[Rule], attribute: Style, own: Style) -> dict[str, Applied]:
        found: dict[str, Applied] = {}
        weights: dict[str, tuple[bool, bool, int, Weight, int]] = {}
        if not self._keeps_faint:
            own = {name: value for name, value in own.items() if name != "opacity"}
        for style, rule, weight in [
            (attribute, None, (False, False, -1, (0, 0, 0), 0)),
            *(
                (
                    self._suspicion.concerned(rule.style),
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
        while node is not None and node.is_element_node and self.spend(1):
            applied = self.style(node).get(name)
            if applied is not None and applied.text not in {"inherit", "unset"}:
                return None if applied.text == "initial" else applied.text
            node = node.parent
        return None


def _weights(rules: Iterable[Rule | None]) -> list[Weight]:
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


def _may_hide(declared: Mapping[str, str]) -> bool:
    seen = look(declared, Look())
    return seen.is_hidden or seen.opacity <= _SOME_OPACITY or seen.size <= _SOME_SIZE


class _Suspicion:
    """The declarations that may hide text, with those in other rules or on ancestors.

    Args:
        sheet: the rules of the page.
        own: the elements' own declarations.

    Attributes:
        rules: those that may hide.
        words: words of the properties that are read.
    """

    def __init__(self, sheet: StyleSheet, own: list[Style]) -> None:
        self.words: set[str] = set()
        self._found: dict[int, tuple[frozenset[str] | None, frozenset[str]]] = {}
        self._inks: dict[str, frozenset[str]] = {}
        self._concerned: dict[int, Style] = {}
        self._is_long = sheet.is_long
        self._grounds = self._painted(sheet, own)
        self.rules = [rule for rule in sheet.hiding() if self.judged(rule.style)[1]]

    def judged(self, style: Style) -> tuple[frozenset[str] | None, frozenset[str]]:
        """Find out whether declarations may hide something, and which.

        Args:
            style: of a rule or an element; the same object each time.

        Returns:
            If only the text colour may hide, the keys of elements painted in that colour; and the words of the
            properties involved, none if nothing hides.
        """
        found = self._found.get(id(style))
        if found is None:
            found = self._found[id(style)] = self._judge(style)
        return found

    def concerned(self, style: Style) -> Style:
        """The declarations involved in what may hide."""
        found = self._concerned.get(id(style))
        if found is None:
            found = self._concerned[id(style)] = {
                name: value
                for name, value in style.items()
                if name.startswith("--") or any(word in name for word in self.words)
            }
        return found

    def _judge(self, style: Style) -> tuple[frozenset[str] | None, frozenset[str]]:
        declared = {name: value.text for name, value in style.items()}
        variable = {name for name, text in declared.items() if "var(" in text}
        halves = _HALVES
        if self._is_long:
            variable, halves = variable & _ALWAYS, _NONE
        words = set[str]()
        if variable or _may_hide(declared | halves):
            for names, parts in _WAYS:
                own = {name: text for name, text in declared.items() if name in names}
                if not variable.isdisjoint(names):
                    words |= {*parts, "--"}
                elif own and _may_hide(own | halves):
                    if not words and look(own, Look()).is_hidden:
                        return None, parts
                    words |= parts
        if words:
            return None, frozenset(words)
        places = frozenset[str]().union(
            *(self._places(declared[ink]) for ink in _INKS if ink in declared)
        )
        return places, _WAYS[-1][1] if places else frozenset()

    def _painted(self, sheet: StyleSheet, own: list[Style]) -> dict[Colour, set[str]]:
        """The keys of the elements that paint a colour as their background."""
        grounds: dict[Colour, set[str]] = defaultdict(set)
        if sheet.is_alone:
            grounds[WHITE].add("*")
        known: dict[tuple[str, str], Colour | None] = {}
        background = () if sheet.is_long else sheet.declaring(["background"])
        rules = [(rule.style, rule.key) for rule in background]
        for style, key in [*rules, *((style, "*") for style in own)]:
            for name in _GROUNDS:
                if name not in style:
                    continue
                text = style[name].text
                if (name, text) not in known:
                    known[name, text] = ground_of({name: text})
                if (ground := known[name, text]) is not None:
                    grounds[ground].add(key)
        return grounds

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

"""The computed values of an element, after the cascade (CSS Cascade 5, section 6), and its look."""

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.declarations import WHITE, Value, is_same, names_for
from searx_mcp.content.html.look import Look, ground_of, ink_of, look
from searx_mcp.content.html.selectors import Matcher, weigh
from searx_mcp.content.html.stylesheet import StyleRule, StyleSheet
from searx_mcp.content.html.suspects import (
    GROUNDS,
    INKS,
    SKELETON,
    Scope,
    Suspects,
    depends,
    is_variable,
    own_styles,
    replaced,
)

UNTIL_LOADED: Final = frozenset({"opacity", "visibility", "display"})
"""Properties by which an element's own style hides the page until its scripts have run."""

_NOTHING: Final[dict[str, Value]] = {}
_NO_VARIABLES: Final[Scope] = {}


class Applied(NamedTuple):
    """A value that applies to an element, with its rule; `None` is the element's own style."""

    text: str
    rule: StyleRule | None


class _Cascaded(NamedTuple):
    """The values that the cascade gives an element.

    Attributes:
        values: by property.
        variables: those that it sets.
        dependent: the properties whose values have variables in them.
    """

    values: dict[str, Applied]
    variables: Scope
    dependent: tuple[str, ...]


class Cascade:
    """The styles and looks of a page's elements; each is computed once, on demand."""

    def __init__(self, tree: LexborHTMLParser, sheet: StyleSheet) -> None:
        self._sheet = sheet
        self._matcher = Matcher(tree)
        self._inert = {element.mem_id for element in tree.css("[inert]")}
        own, self._is_cut = own_styles(tree)
        self._own = {(each.element.mem_id, each.is_attribute): each.style for each in own}
        suspects = Suspects(sheet, self._matcher, own)
        self._suspects, self._involved = suspects.found, suspects.involved
        self._index: dict[str, list[StyleRule]] = defaultdict(list)
        for rule in sheet.declaring({name for each in self._involved for name in names_for(each)}):
            self._index[rule.key].append(rule)
        self._rules: dict[int, list[StyleRule]] = defaultdict(list)
        self._excluded: set[str | int] = set()
        self._keeps_faint = True
        self._forget()

    def _forget(self) -> None:
        self._styles: dict[int, dict[str, Applied]] = {}
        self._cascades: dict[int, _Cascaded] = {}
        self._scopes: dict[int, Scope] = {}
        self._looks: dict[int, Look] = {}
        # Most elements have the same of these as others; they are known by their ids in memory.
        self._same_cascaded: dict[tuple[int, ...], _Cascaded] = {}
        self._same_styles: dict[tuple[int, int], dict[str, Applied]] = {}
        self._same_scopes: dict[tuple[int, int], Scope] = {}
        self._same_looks: dict[tuple[int, Look, bool, bool], Look] = {}

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
        self._excluded |= causes or {each.rule.text for each in self._suspects if each.rule}
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

    def style(self, element: LexborNode) -> dict[str, Applied]:
        """Return the values that apply to an element."""
        found = self._styles.get(element.mem_id)
        if found is None:
            cascaded = self._cascaded(element)
            found = cascaded.values
            if cascaded.dependent:
                scope = self._scope(element)
                same = id(cascaded), id(scope)
                if same not in self._same_styles:
                    self._same_styles[same] = self._replaced(cascaded, scope)
                found = self._same_styles[same]
            self._styles[element.mem_id] = found
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
        same = id(style), around, element.mem_id in self._inert, element.tag in SKELETON
        found = self._same_looks.get(same)
        if found is None:
            found = self._same_looks[same] = self.look_with(element, style, around)
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
            [applied[name].rule for name in names if name in applied] for names in (INKS, GROUNDS)
        )
        weights = [[weigh(rule.text) for rule in rules if rule] for rules in (inks, grounds)]
        return None in inks or max(weights[0]) >= max(weights[1], default=(0, 0, 0))

    def _cascaded(self, element: LexborNode) -> _Cascaded:
        mem_id = element.mem_id
        found = self._cascades.get(mem_id)
        if found is None:
            rules = self._rules_about(element)
            attribute = self._own.get((mem_id, True), _NOTHING)
            own = self._own.get((mem_id, False), _NOTHING)
            is_excluded = mem_id in self._excluded
            same = (is_excluded, id(attribute), id(own), *map(id, rules))
            if same not in self._same_cascaded:
                passed = UNTIL_LOADED if is_excluded else () if self._keeps_faint else {"opacity"}
                if passed:
                    own = {name: value for name, value in own.items() if name not in passed}
                self._same_cascaded[same] = self._applied(rules, attribute, own)
            found = self._cascades[mem_id] = self._same_cascaded[same]
        return found

    def _rules_about(self, element: LexborNode) -> list[StyleRule]:
        """The rules that match an element; a rule is matched once an element with its key is looked at."""
        attributes = element.attributes
        keys = ["*", element.tag or "", f"#{attributes.get('id')}"]
        keys += [f".{name}" for name in (attributes.get("class") or "").split()]
        for key in keys:
            for rule in self._index.pop(key, ()):
                for mem_id in self._matcher.find(rule.text):
                    self._rules[mem_id].append(rule)
        rules = self._rules.get(element.mem_id, [])
        return [rule for rule in rules if rule.text not in self._excluded]

    def _applied(
        self, rules: list[StyleRule], attribute: dict[str, Value], own: dict[str, Value]
    ) -> _Cascaded:
        found: dict[str, Applied] = {}
        weights: dict[str, tuple[object, ...]] = {}
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
        return _Cascaded(
            found,
            {
                name: None if text == "initial" else text
                for name, (text, _) in found.items()
                if is_variable(name) and text not in {"inherit", "unset"}
            },
            tuple(
                name for name, (text, _) in found.items() if depends(text) and not is_variable(name)
            ),
        )

    def _scope(self, element: LexborNode) -> Scope:
        """The variables of an element; elements with the same ones share them."""
        path: list[LexborNode] = []
        node: LexborNode | None = element
        while node is not None and node.is_element_node and node.mem_id not in self._scopes:
            path.append(node)
            node = node.parent
        found = self._scopes.get(node.mem_id, _NO_VARIABLES) if node is not None else _NO_VARIABLES
        for node in reversed(path):
            if own := self._cascaded(node).variables:
                same = id(found), id(own)
                if same not in self._same_scopes and self._matcher.spend(len(found)):
                    self._same_scopes[same] = {**found, **own}
                found = self._same_scopes.get(same, found)
            self._scopes[node.mem_id] = found
        return found

    def _replaced(self, cascaded: _Cascaded, scope: Scope) -> dict[str, Applied]:
        """The values with their variables replaced, without those for which that is not possible."""
        style = cascaded.values.copy()
        for name in cascaded.dependent:
            known = replaced(style[name].text, scope, self._matcher.spend)
            if known is None:
                del style[name]
            else:
                style[name] = style[name]._replace(text=known)
        return style

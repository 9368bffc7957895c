"""Text that a page's own style hides from its readers, taken out of the tree.

Inline styles and the rules of `<style>` elements are put together as the cascade does, for the few
properties that can hide text (CSS Cascade 5, section 6). A rule that would hide more than half of the
text does not count: frameworks hide the page until their scripts have run. Nor does transparency in
inline styles, if it would: animations start from it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.style.declarations import (
    Hidden,
    Value,
    hidden,
    may_hide,
    parse,
    plain,
    shown,
)
from searx_mcp.content.html.style.matching import about, matches
from searx_mcp.content.html.style.stylesheet import MAX_CSS, Rule, Selector, StyleSheet

_SKELETON: Final = frozenset({"html", "body"})
_STYLE_TYPES: Final = frozenset({"", "text/css"})
_MEDIA: Final = frozenset({"", "all", "screen"})
_MAX_INLINE: Final = 1_000
"""Characters of a `style` attribute."""

_MAX_INLINES: Final = 1_000_000
"""Characters of all of them; 5,000 of 1,000 each took 2.6 s."""

_MOST: Final = 0.5
"""Share of the text that a rule may hide, or all inline styles together by transparency."""

_OPACITY = re.compile(r"(?<![-\w])opacity[ \t\r\n\f]*:[^;]*", re.IGNORECASE)

_LONG_CSS: Final = 4_000
"""Characters of style sheets from which it is worth to know which names the page has: frameworks bring
rules for everything."""

_MAX_ROUNDS: Final = 5
"""Selectors that may be passed over one after the other, since under one another is found; then no
rule counts any more."""


@dataclass(frozen=True, slots=True)
class _Applied:
    """A value that holds for an element, with its rule; `None` stands for the inline style."""

    value: Value
    rule: Rule | None


@dataclass(slots=True)
class _Styled:
    """An element that is hidden or shown by something, and what holds for it."""

    node: LexborNode
    values: dict[str, _Applied] = field(default_factory=dict)


_Styles = dict[int, _Styled]
"""By the ids of the elements in memory."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of a sheet that count."""

    sheet: StyleSheet
    excluded: AbstractSet[Selector]

    def hiding(self) -> list[Rule]:
        return self._counting(self.sheet.hiding)

    def others(self) -> list[Rule]:
        return self._counting(self.sheet.others)

    def _counting(self, rules: list[Rule]) -> list[Rule]:
        if not self.excluded:
            return rules
        return [rule for rule in rules if rule.selector not in self.excluded]


@dataclass(frozen=True, slots=True)
class _State:
    """How an element is hidden, and by which rule first; `None` for an inline style."""

    ways: frozenset[Hidden]
    rule: Rule | None


@dataclass(slots=True)
class _Found:
    """What is hidden.

    Attributes:
        nodes: outermost elements and single texts.
        sizes: characters hidden by each rule.
        faint: characters hidden by inline styles that only make transparent.
    """

    nodes: list[LexborNode] = field(default_factory=list)
    sizes: Counter[Rule] = field(default_factory=Counter)
    faint: int = 0


def style_sheet(tree: LexborHTMLParser) -> StyleSheet:
    """The rules of the page's `<style>` elements; to be read before these are taken out."""
    sheets: list[str] = []
    # Whoever reads with scripts does not get those.
    for_no_one = {node.mem_id for node in tree.css("noscript style")}
    for node in tree.css("style"):
        media = (node.attributes.get("media") or "").strip().lower()
        kind = (node.attributes.get("type") or "").strip().lower()
        if media in _MEDIA and kind in _STYLE_TYPES and node.mem_id not in for_no_one:
            sheets.append(node.text()[:MAX_CSS])
    css = "\n".join(sheets)
    return StyleSheet(css, _names(tree) if len(css) > _LONG_CSS else None)


def _names(tree: LexborHTMLParser) -> set[str]:
    """The classes and ids of the page."""
    names: set[str] = set()
    for element in tree.css("[class],[id]"):
        attributes = element.attributes
        names.update((attributes.get("class") or "").split())
        names.add(attributes.get("id") or "")
    return names


def drop_hidden(tree: LexborHTMLParser, sheet: StyleSheet) -> bool:
    """Take out what is hidden by style; the page's skeleton always stays.

    Args:
        tree: without scripts and style sheets.
        sheet: from `style_sheet`.

    Returns:
        Whether rules were passed over because they would hide most of the page.
    """
    excluded: set[Selector] = set()
    inline = _inline(tree)
    keeps_faint = True
    for round_ in range(_MAX_ROUNDS + 1):
        rules = _Rules(sheet if round_ < _MAX_ROUNDS else StyleSheet(), excluded)
        styles = _styles(tree, rules, inline)
        if not styles:
            break
        found = _hidden(styles)
        most = _size(tree.body) * _MOST if found.sizes or found.faint else 0
        excessive = {rule.selector for rule, size in found.sizes.items() if size > most}
        if keeps_faint and found.faint > most:
            inline = {mem_id: (node, _opaque(text)) for mem_id, (node, text) in inline.items()}
            keeps_faint = False
        elif excessive:
            excluded |= excessive
        else:
            for node in found.nodes:
                node.decompose()
            break
    return bool(excluded) or not keeps_faint


def _opaque(style: str) -> str:
    """An inline style without its transparency, from which animations start."""
    return _OPACITY.sub("", plain(style))


def _inline(tree: LexborHTMLParser) -> dict[int, tuple[LexborNode, str]]:
    """The elements with a style of their own, by their ids in memory."""
    found: dict[int, tuple[LexborNode, str]] = {}
    left = _MAX_INLINES
    for element in tree.css("[style]"):
        if element.tag not in _SKELETON and left > 0:
            style = (element.attributes.get("style") or "")[:_MAX_INLINE]
            left -= len(style)
            found[element.mem_id] = element, style
    return found


def _styles(
    tree: LexborHTMLParser, rules: _Rules, inline: dict[int, tuple[LexborNode, str]]
) -> _Styles:
    """What holds for each element that may be hidden, or shown inside of one that is."""
    found = list(matches(tree, rules.hiding()))
    concerned = {node.mem_id: node for node, _ in found}
    concerned |= {mem_id: node for mem_id, (node, text) in inline.items() if may_hide(plain(text))}
    own = {mem_id: parse(inline[mem_id][1]) for mem_id in concerned if mem_id in inline}
    ways = {way for _, rule in found for way in rule.block.ways}
    ways |= {way for values in own.values() for way in hidden(values)}
    if not ways:
        return {}
    if not ways <= {Hidden.BOX}:
        # What is inherited can be undone inside.
        tops = _outermost(concerned)
        concerned |= {inner.mem_id: inner for top in tops for inner in top.traverse()}
        own = {mem_id: parse(inline[mem_id][1]) for mem_id in concerned if mem_id in inline}
    found += about(concerned.values(), rules.others())
    styles: _Styles = {}
    for node, rule in sorted(found, key=lambda match: match[1].rank):
        values = styles.setdefault(node.mem_id, _Styled(node)).values
        for name, value in rule.block.style.items():
            _apply(values, name, _Applied(value, rule))
    for mem_id, declared in own.items():
        values = styles.setdefault(mem_id, _Styled(concerned[mem_id])).values
        for name, value in declared.items():
            _apply(values, name, _Applied(value, None))
    return styles


def _apply(style: dict[str, _Applied], name: str, applied: _Applied) -> None:
    if name not in style or applied.value.is_important or not style[name].value.is_important:
        style[name] = applied


def _hidden(styles: _Styles) -> _Found:
    """Go through what is hidden, each element once, from the outside in."""
    found = _Found()
    alone = {mem_id: _state(None, styled.values) for mem_id, styled in styles.items()}
    hiding = {mem_id: styles[mem_id].node for mem_id, state in alone.items() if state is not None}
    for top in _outermost(hiding):
        state = alone[top.mem_id]
        if state is None or Hidden.BOX not in state.ways:
            _hide_inside(top, styles, found)
            continue
        # Nothing inside can undo that.
        found.nodes.append(top)
        if state.rule is not None:
            found.sizes[state.rule] += _size(top)
        elif _is_only_faint(styles[top.mem_id].values):
            found.faint += _size(top)
    return found


def _is_only_faint(style: Mapping[str, _Applied]) -> bool:
    values = {name: applied.value for name, applied in style.items() if name != "opacity"}
    return not hidden(values)


def _hide_inside(top: LexborNode, styles: _Styles, found: _Found) -> None:
    """Find what is hidden in an element that hides what it holds as long as nothing undoes it."""
    states: dict[int, _State] = {}
    for node in top.traverse(include_text=True):
        parent = node.parent
        outer = states.get(parent.mem_id) if states and parent is not None else None
        if node.is_text_node:
            _hide_text(node, outer, found)
            continue
        styled = styles.get(node.mem_id)
        state = _state(outer, styled.values if styled else None)
        if state is None:
            continue
        states[node.mem_id] = state
        if Hidden.BOX in state.ways and (outer is None or Hidden.BOX not in outer.ways):
            found.nodes.append(node)


def _hide_text(node: LexborNode, outer: _State | None, found: _Found) -> None:
    if outer is None:
        return
    if outer.rule is not None:
        found.sizes[outer.rule] += len((node.text_content or "").strip())
    if Hidden.BOX not in outer.ways:
        found.nodes.append(node)


def _outermost(elements: Mapping[int, LexborNode]) -> list[LexborNode]:
    """Those of some elements that are not inside others of them."""
    free: set[int] = set()
    outermost = []
    for element in elements.values():
        passed, node = [], element.parent
        while node is not None and node.mem_id not in elements and node.mem_id not in free:
            passed.append(node.mem_id)
            node = node.parent
        if node is None or node.mem_id in free:
            # So that a way up is gone once, however many elements share it.
            free.update(passed)
            outermost.append(element)
    return outermost


def _size(node: LexborNode | None) -> int:
    """Characters of its text, runs of whitespace counted as one."""
    return 0 if node is None else len(" ".join(node.text(separator=" ").split()))


def _state(outer: _State | None, style: Mapping[str, _Applied] | None) -> _State | None:
    """How an element is hidden that is inside another one."""
    if not style:
        return outer
    values = {name: applied.value for name, applied in style.items()}
    inherited = (outer.ways if outer else frozenset()) - shown(values)
    own = hidden(values)
    if not inherited | own:
        return None
    return _State(inherited | own, outer.rule if outer and inherited else _blamed(style))


def _blamed(style: Mapping[str, _Applied]) -> Rule | None:
    """The rule without which the element would perhaps be seen; `None` if the inline style hides."""
    inline = {name: applied.value for name, applied in style.items() if applied.rule is None}
    if hidden(inline):
        return None
    from_rules = [applied.rule for applied in style.values() if applied.rule is not None]
    return max(
        from_rules, key=lambda rule: (bool(hidden(rule.block.style)), rule.rank), default=None
    )

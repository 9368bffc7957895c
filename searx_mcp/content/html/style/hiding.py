"""Text that a page's own style hides from its readers, taken out of the tree.

Inline styles and the rules of `<style>` elements are put together as the cascade does, for the few
properties that can hide text (CSS Cascade 5, section 6). A rule that would hide more than half of the
text does not count: frameworks hide the page until their scripts have run.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.style.declarations import Hidden, Value, hidden, parse, shown
from searx_mcp.content.html.style.matching import matches
from searx_mcp.content.html.style.stylesheet import MAX_CSS, Rule, rules

_SKELETON: Final = frozenset({"html", "body"})
_STYLE_TYPES: Final = frozenset({"", "text/css"})
_MEDIA: Final = frozenset({"", "all", "screen"})
_MAX_INLINE: Final = 1_000
"""Characters of a `style` attribute."""

_MOST: Final = 0.5
"""Share of the text that a rule may hide."""

_MAX_ROUNDS: Final = 5
"""Selectors that may be passed over one after the other, since under one another is found; then no
rule counts any more."""


@dataclass(frozen=True, slots=True)
class _Applied:
    """A value that holds for an element, with its rule; `None` stands for the inline style."""

    value: Value
    rule: Rule | None


_Style = dict[str, _Applied]


@dataclass(frozen=True, slots=True)
class _State:
    """How an element is hidden, and by which rule first; `None` for an inline style."""

    ways: frozenset[Hidden]
    rule: Rule | None


@dataclass(frozen=True, slots=True)
class _Found:
    """What is hidden.

    Attributes:
        nodes: outermost elements and single texts.
        sizes: characters hidden by each rule.
        total: characters of the page.
    """

    nodes: list[LexborNode]
    sizes: Counter[Rule]
    total: int


def style_rules(tree: LexborHTMLParser) -> list[Rule]:
    """The rules of the page's `<style>` elements; to be read before these are taken out."""
    sheets: list[str] = []
    # Whoever reads with scripts does not get those.
    for_no_one = {node.mem_id for node in tree.css("noscript style")}
    for node in tree.css("style"):
        media = (node.attributes.get("media") or "").strip().lower()
        kind = (node.attributes.get("type") or "").strip().lower()
        if media in _MEDIA and kind in _STYLE_TYPES and node.mem_id not in for_no_one:
            sheets.append(node.text()[:MAX_CSS])
    return rules("\n".join(sheets)) if sheets else []


def drop_hidden(tree: LexborHTMLParser, style: list[Rule]) -> bool:
    """Take out what is hidden by style; the page's skeleton always stays.

    Args:
        tree: without scripts and style sheets.
        style: from `style_rules`.

    Returns:
        Whether rules were passed over because they would hide most of the page.
    """
    passed_over = False
    for round_ in range(_MAX_ROUNDS + 1):
        styles = _styles(tree, style if round_ < _MAX_ROUNDS else [])
        if not styles:
            break
        found = _hidden(tree, styles)
        most = found.total * _MOST
        excessive = {rule.selector for rule, size in found.sizes.items() if size > most}
        if not excessive:
            for node in found.nodes:
                node.decompose()
            break
        style = [rule for rule in style if rule.selector not in excessive]
        passed_over = True
    return passed_over


def _styles(tree: LexborHTMLParser, style: list[Rule]) -> dict[int, _Style]:
    """What holds for each element that may be hidden or shown, by its id in memory."""
    inline = {
        element.mem_id: parse((element.attributes.get("style") or "")[:_MAX_INLINE])
        for element in tree.css("[style]")
        if element.tag not in _SKELETON
    }
    found = list(matches(tree, [rule for rule in style if rule.ways]))
    # Other rules can only matter to these, or to what inherits how it is hidden.
    concerned = {node for node, _ in found} | inline.keys()
    ways = {way for _, rule in found for way in rule.ways}
    ways |= {way for values in inline.values() for way in hidden(values)}
    others = [rule for rule in style if not rule.ways] if ways else []
    found += matches(tree, others, only=concerned if ways <= {Hidden.BOX} else None)
    styles: dict[int, _Style] = defaultdict(dict)
    for node, rule in sorted(found, key=lambda match: match[1].rank):
        for name, value in rule.style.items():
            _apply(styles[node], name, _Applied(value, rule))
    for node, values in inline.items():
        for name, value in values.items():
            _apply(styles[node], name, _Applied(value, None))
    return styles


def _apply(style: _Style, name: str, applied: _Applied) -> None:
    if name not in style or applied.value.is_important or not style[name].value.is_important:
        style[name] = applied


def _hidden(tree: LexborHTMLParser, styles: Mapping[int, _Style]) -> _Found:
    """Go through the tree once, from the outside in."""
    found = _Found([], Counter(), 0)
    states: dict[int, _State] = {}
    total = 0
    for node in tree.body.traverse(include_text=True) if tree.body is not None else ():
        parent = node.parent
        outer = states.get(parent.mem_id) if states and parent is not None else None
        if node.is_text_node:
            size = len((node.text_content or "").strip())
            total += size
            if outer is not None:
                if outer.rule is not None:
                    found.sizes[outer.rule] += size
                if Hidden.BOX not in outer.ways:
                    found.nodes.append(node)
            continue
        state = _state(outer, styles.get(node.mem_id))
        if state is None:
            continue
        states[node.mem_id] = state
        if Hidden.BOX in state.ways and (outer is None or Hidden.BOX not in outer.ways):
            found.nodes.append(node)
    return replace(found, total=total)


def _state(outer: _State | None, style: _Style | None) -> _State | None:
    """How an element is hidden that is inside another one."""
    if not style:
        return outer
    values = {name: applied.value for name, applied in style.items()}
    inherited = (outer.ways if outer else frozenset()) - shown(values)
    own = hidden(values)
    if not inherited | own:
        return None
    return _State(inherited | own, outer.rule if outer and inherited else _blamed(style))


def _blamed(style: _Style) -> Rule | None:
    """The rule without which the element would perhaps be seen; `None` if the inline style hides."""
    inline = {name: applied.value for name, applied in style.items() if applied.rule is None}
    if hidden(inline):
        return None
    from_rules = [applied.rule for applied in style.values() if applied.rule is not None]
    return max(from_rules, key=lambda rule: (bool(hidden(rule.style)), rule.rank), default=None)

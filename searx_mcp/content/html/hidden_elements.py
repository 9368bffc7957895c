"""Removes what readers of a page do not see: by its elements and attributes, and by its own style.

A style rule that would hide more than half of the text, or of its main element, is ignored, and so is the display or
visibility of one element: frameworks hide the page until their scripts have run. Opacity in all inline styles
together is ignored, too, if it would: animations start from it; and the page is then not assumed to have a white
background.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.cascade import UNTIL_LOADED, Applied, Cascade
from searx_mcp.content.html.stylesheet import StyleSheet, media
from searx_mcp.content.html.suspects import SKELETON, WITH_OWN_STYLE
from searx_mcp.content.tree import HEADINGS, RemovalRule, Removals

_UNSEEN: Final = (
    "script,style,noscript,template,iframe,frame,frameset,object,embed,applet,canvas,audio,video,"
    "noembed,noframes,svg,map,meta,link,title,"
    "button,select,input:not([checked]),textarea,option,datalist,dialog,"
    '[hidden],[popover],[aria-hidden="true" i]'
)
LABEL: Final = "x-label"
"""Marks the name of a panel, to find out later whether a style hides it."""

_TEXT_BUTTONS: Final = (
    "h1 button,h2 button,h3 button,h4 button,h5 button,h6 button,dt button,summary button,"
    f"th button,td button,button[{LABEL}]"
)
"""Headings that fold their section are written as buttons, and so are words in cells and the labels of panels."""

_HEADING_BUTTONS: Final = "button:has(h1,h2,h3,h4,h5,h6)"
"""The same the other way round: buttons that contain headings."""

_CONTROLS: Final = "button,select,textarea,input:not([type=hidden i])"
_ADDRESSES: Final = 'input[type=email i],input[name*=mail i],input[placeholder*="@"]'
ASKS_ADDRESS: Final = "mail"
FILLED_IN: Final = "x-filled-in"
"""Marks a form to fill in; other forms only contain text, such as those around posts of old forums."""

_STYLE_TYPES: Final = frozenset({"", "text/css"})
_OTHER_SHEETS: Final = 'link[rel~="stylesheet" i],link[as="style" i]'

_CONTAINERS: Final = '[style*="container" i]'
_MOST: Final = 0.5
"""Share of the text that a rule may hide, or all inline styles together in ways with another possible purpose."""

_MAIN: Final = 0.25
"""With this share of the text, so much may be hidden of the only `<main>` too, which shops show when it is complete:
WCXB 2893 and 3063 lost all, and four fifths, of their text (dev F1 .8658 without it, .8670 with)."""

_MAX_ROUNDS: Final = 5
"""Selectors that may be ignored one after the other, since each may have covered another; after that, all
rules are ignored."""


_BRACES: Final = str.maketrans("{};", "   ")


def drop_unseen(tree: LexborHTMLParser, removals: Removals) -> None:
    """Remove scripts, form controls, and what is marked as hidden.

    A form that had controls is marked with `FILLED_IN`. Buttons that are text stay, since a style may hide them.

    Args:
        tree: changed in place; its skeleton always stays.
        removals: of this page.
    """
    texts = {button.mem_id for button in tree.css(f"{_TEXT_BUTTONS},{_HEADING_BUTTONS}")}
    for form in tree.css("form"):
        if form.css_first(_CONTROLS) is not None:
            form.attrs[FILLED_IN] = "" if form.css_first(_ADDRESSES) is None else ASKS_ADDRESS
    for node in tree.css(_UNSEEN):
        is_text = node.mem_id in texts and not _is_marked(node)
        if node.tag not in SKELETON and not is_text:
            removals.remove(node, RemovalRule.UNSEEN)


def open_buttons(tree: LexborHTMLParser) -> None:
    """Replace the buttons that are text with their words; call it after styles have hidden their elements.

    A button next to the words of a heading acts on the heading, so it is removed.
    """
    for button in tree.css("button"):
        if _acts_on_title(button):
            button.decompose()
        else:
            button.unwrap()


def _acts_on_title(button: LexborNode) -> bool:
    """Whether a button directly follows words of a heading, and does not fold the section below it."""
    title, before = button.parent, button.prev
    if title is None or title.tag not in HEADINGS or "aria-expanded" in button.attributes:
        return False
    return before is not None and sum(map(str.isalpha, before.text())) > 1


def _is_marked(node: LexborNode) -> bool:
    attributes = node.attributes
    hides = "hidden" in attributes or "popover" in attributes
    return hides or (attributes.get("aria-hidden") or "").lower() == "true"


class Passed(NamedTuple):
    """What a caller should know about a page whose hidden text was removed.

    Attributes:
        is_uncovered: whether rules were ignored because they would hide most of the page.
        is_cut: whether part of the style exceeded a limit and was not read.
    """

    is_uncovered: bool
    is_cut: bool


class _Hidden(NamedTuple):
    """A hidden part of a page.

    Attributes:
        node: an outermost element, or a single text.
        size: its characters.
        cause: the selector, or the element by its own display or visibility; empty for an inline style with another
            possible purpose, `None` for one without.
    """

    node: LexborNode
    size: int
    cause: str | int | None


def style_sheet(tree: LexborHTMLParser) -> StyleSheet | None:
    """Collect the rules of the page's `<style>` elements; call it before these are removed.

    Returns:
        `None` if neither they nor the elements themselves declare a style.
    """
    sheets: list[str] = []
    # Readers with scripts do not see them.
    for_no_one = {node.mem_id for node in tree.css("noscript style")}
    for node in tree.css("style"):
        kind = (node.attributes.get("type") or "").strip().lower()
        if kind not in _STYLE_TYPES or node.mem_id in for_no_one:
            continue
        css, queries = node.text(), (node.attributes.get("media") or "").strip()
        holds = media(queries)
        if holds is not False:
            sheets.append(css if holds else f"@media {queries.translate(_BRACES)}{{{css}\n}}")
    css = "\n".join(sheets)
    if not css and tree.css_first(WITH_OWN_STYLE) is None:
        return None
    return StyleSheet(
        css,
        _names(tree) if css else set(),
        is_alone=tree.css_first(_OTHER_SHEETS) is None,
        has_containers="@container" in css and tree.css_first(_CONTAINERS) is not None,
    )


def _names(tree: LexborHTMLParser) -> set[str]:
    """The classes and ids of the page."""
    found = [element.attributes for element in tree.css("[class],[id]")]
    classes = {each.get("class") for each in found}  # most of them are on many elements
    names = {each.get("id") or "" for each in found}
    return names.union(" ".join(filter(None, classes)).split())


def drop_hidden(
    tree: LexborHTMLParser, sheet: StyleSheet | None, removals: Removals, *, is_page: bool = True
) -> Passed:
    """Remove what style hides; the page's skeleton always stays.

    Args:
        tree: without scripts and style sheets.
        sheet: from `style_sheet`.
        removals: of this page.
        is_page: whether scripts might show what is hidden; not those of a fragment, such as an entry of a feed.
    """
    passed = Passed(is_uncovered=False, is_cut=False)
    if sheet is not None:
        passed = _drop_styled(Cascade(tree, sheet), tree, removals, is_page=is_page)
    # Kept until now for rules with `:checked`.
    removals.remove_all(tree.css("input"), RemovalRule.UNSEEN)
    return passed


def _drop_styled(
    cascade: Cascade, tree: LexborHTMLParser, removals: Removals, *, is_page: bool
) -> Passed:
    for round_ in range(_MAX_ROUNDS + 1):
        if round_ == _MAX_ROUNDS:
            cascade.exclude(None)
        found = list(_hidden(cascade))
        excessive = _excessive(tree, found) if is_page else set()
        if "" in excessive:
            cascade.show_faint()
        elif excessive and round_ < _MAX_ROUNDS:
            cascade.exclude(excessive)
        else:
            removals.remove_all([each.node for each in found], RemovalRule.HIDDEN)
            break
    return Passed(cascade.passes_over, cascade.is_cut)


def _excessive(tree: LexborHTMLParser, found: list[_Hidden]) -> set[str | int]:
    """The causes that hide most of the page, or of its only `<main>`; its scripts might show that."""
    causes = [each for each in found if each.cause is not None]
    if not causes:
        return set()
    page, mains = _size(tree.body), tree.css("main")
    excessive = _causes(causes, _MOST * page)
    if len(mains) == 1 and (size := _size(mains[0])) >= _MAIN * page:
        near = {node.mem_id for node in mains[0].traverse(include_text=True)}
        above = mains[0].parent
        while above is not None:
            near.add(above.mem_id)
            above = above.parent
        excessive |= _causes((e for e in causes if e.node.mem_id in near), _MOST * size)
    return excessive


def _causes(found: Iterable[_Hidden], most: float) -> set[str | int]:
    """The causes that hide more characters than allowed."""
    sizes = Counter[str | int]()
    for each in found:
        if each.cause is not None:
            sizes[each.cause] += each.size
    return {cause for cause, size in sizes.items() if size > most}


def _hidden(cascade: Cascade) -> Iterator[_Hidden]:
    """Find the hidden parts, from the outermost elements inwards, each once."""
    hiding = {
        mem_id: element
        for mem_id, element in cascade.suspects().items()
        if cascade.look(element).is_hidden
    }
    for top in _outermost(hiding):
        if cascade.look(top).is_box_hidden:
            # Nothing inside can undo that.
            yield _Hidden(top, _size(top), _blamed(cascade, top))
        else:
            yield from _hidden_inside(cascade, top)


def _hidden_inside(cascade: Cascade, top: LexborNode) -> Iterator[_Hidden]:
    """Find what is hidden in an element whose hiding its descendants may undo."""
    blamed: dict[int, str | int | None] = {}
    in_boxes: set[int] = set()
    for node in top.traverse(include_text=True):
        parent = node.parent
        around = parent.mem_id if parent is not None else 0
        if around in in_boxes:
            in_boxes.add(node.mem_id)
        elif node.is_text_node:
            if around in blamed:
                yield _Hidden(node, len((node.text_content or "").strip()), blamed[around])
        elif node.is_element_node and (seen := cascade.look(node)).is_hidden:
            reason = blamed[around] if around in blamed else _blamed(cascade, node)
            if seen.is_box_hidden:
                in_boxes.add(node.mem_id)
                yield _Hidden(node, _size(node), reason)
            else:
                blamed[node.mem_id] = reason


def _outermost(elements: Mapping[int, LexborNode]) -> list[LexborNode]:
    """Return the elements that are not inside others of them."""
    free: set[int] = set()
    outermost = []
    for element in elements.values():
        passed, node = [], element.parent
        while node is not None and node.mem_id not in elements and node.mem_id not in free:
            passed.append(node.mem_id)
            node = node.parent
        if node is None or node.mem_id in free:
            # Each way up is walked only once, however many elements share it.
            free.update(passed)
            outermost.append(element)
    return outermost


def _size(node: LexborNode | None) -> int:
    """Characters of its text, runs of whitespace counted as one."""
    return 0 if node is None else len(" ".join(node.text(separator=" ").split()))


def _blamed(cascade: Cascade, element: LexborNode) -> str | int | None:
    """The selector without which an element would be visible.

    Returns:
        Its id in memory if its own display or visibility hides it; empty if only its opacity or ink does, which have
        other purposes; `None` if its own style hides it in another way.
    """
    style = cascade.style(element)
    rules = [applied.rule for applied in style.values() if applied.rule is not None]
    if len(rules) == len(style) and len(set(rules)) == 1:
        return rules[0].text
    around = cascade.around(element)

    def hides(style: Mapping[str, Applied]) -> bool:
        return cascade.look_with(element, style, around).is_hidden

    own = {name: applied for name, applied in style.items() if applied.rule is None}
    if own and hides(own):
        around = around._replace(ground=None)
        sure = {name: applied for name, applied in own.items() if name not in UNTIL_LOADED}
        if hides(sure):
            return None
        return element.mem_id if hides({**own, "opacity": Applied("1", None)}) else ""
    for rule in dict.fromkeys(rules):
        if not hides({name: each for name, each in style.items() if each.rule is not rule}):
            return rule.text
    return rules[-1].text if rules else None

"""Removes what belongs to the site and not to the page, by tags, roles and names."""

import re
from bisect import bisect_right
from itertools import takewhile
from typing import Final, NamedTuple

from searx_mcp.content.html.hidden_elements import ASKS_ADDRESS, FILLED_IN
from searx_mcp.content.main.class_names import (
    ABOUT,
    CHROME,
    COMMENTS,
    CONSENT,
    MEMBER,
    MORE,
    signs_of,
)
from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import Element, holds, live, mains
from searx_mcp.content.tree import CANONICAL, HEADINGS, RemovalRule
from searx_mcp.models.page import PageKind

_KEPT: Final = CANONICAL | HEADINGS | {
    "html", "body", "main", "article", "tbody", "tr", "td", "th", "thead", "tfoot", "img",
}  # fmt: skip
_TAGS: Final = frozenset({"nav", "menu", "dialog", "aside"})
_SURE: Final = frozenset({"nav", "menu", "dialog", "header", "footer", "form"})
"""Elements that are chrome by their tag alone."""

_ROLES: Final = frozenset({
    "alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar",
    "navigation", "search", "tablist", "toolbar",
})  # fmt: skip
_PARTS: Final = frozenset({"article", "main"})
_HEADED: Final = _PARTS | {"section"}
"""A header in one of these belongs to it if it contains a heading, even if most of it is a link."""

_QUOTES: Final = frozenset({"blockquote", "figure"})

_LEAST: Final = 200
"""Characters of text that must be left of a page when an element is removed; for one removed by tag or role, as much
as it contains is also enough."""

_MOST_PROSE: Final = 0.45
_LARGE: Final = 500
_MOST_TEXT: Final = 0.5
"""An element with more text than `_LARGE` and this share of the prose, or of the text, is not chrome, whatever its
name. Shares refer to the page before the pass: as shares of the rest, junk becomes most of the page once other
parts are gone (WCXB dev F1 .857, .855 with shares of the rest)."""

_CONSENT: Final = re.compile(r"cookie|consent|privacy|datenschutz|einwillig", re.IGNORECASE)
_CONSENT_SHARE: Final = 0.6
_CONSENT_PROSE: Final = 3_000
_LINKED_HEADER: Final = 0.5
_LINKED_FOOTER: Final = 0.3
_FOOTER: Final = 300
_FORM_PROSE: Final = 400
_INTRODUCTION: Final = 250
_NO_INTRODUCTION: Final = "h1,table,pre,dl,figure,blockquote"
"""Removing a form also removes at most this many characters around it, and none of these elements."""

_PANEL_SHARE: Final = 0.1
_MEMBER_SHARE: Final = 0.2

_ABOUT_TEXT: Final = 600
_BESIDE_COMMENTS: Final = 250


class Named(NamedTuple):
    """Blocks removed by their names.

    Attributes:
        taken: all of them, in order.
        lowered: those with their own content, which are put back if they are in the main content.
    """

    taken: list[Element]
    lowered: list[Element]


def take_out_chrome(elements: list[Element], shapes: Shapes, *, is_forum: bool) -> list[Element]:
    """Remove what tags and roles, and names of consent forms, mark as chrome.

    Returns:
        The removed blocks with their own content, in order: roles, names and asides only lower a block.
    """
    rule = _Chrome(elements, is_forum=is_forum)
    lowered: list[Element] = []
    for element in live(elements):
        if element.tag in _KEPT or (why := rule.against(element)) is None:
            continue
        block = _form_block(element) if why is RemovalRule.FORM else element
        if (
            block.take_out(why)
            and element.tag not in _SURE
            and (shapes.says_its_own(element) or _is_list(element, shapes, is_forum=is_forum))
            and not (why is RemovalRule.CONSENT and _asks_consent(element))
        ):
            lowered.append(block)
    return lowered


def _is_list(element: Element, shapes: Shapes, *, is_forum: bool) -> bool:
    """Whether an aside is a list that belongs to the text; in forums, it is about the author of a post."""
    return element.tag == "aside" and not is_forum and shapes.is_list(element)


def _asks_consent(element: Element) -> bool:
    """Whether a block with such a name mentions consent."""
    return len(_CONSENT.findall(element.node.text())) > 1


def _form_block(form: Element) -> Element:
    """A form to fill in with its introduction: a heading, and a line or two."""
    if form.attributes.get(FILLED_IN) != ASKS_ADDRESS:
        return form
    block = form
    for around in form.ancestors():
        if around.tag in _KEPT or around.text - form.text > _INTRODUCTION:
            break
        if around.text > form.text and around.node.css_first(_NO_INTRODUCTION) is not None:
            break
        block = around
    return block


def take_out_named(elements: list[Element], kind: PageKind, shapes: Shapes) -> Named:
    """Remove what names mark as chrome.

    Returns:
        What was removed, in order, and which of it has its own content.
    """
    rule = _Named(elements, kind, shapes)
    headings = [element for element in live(elements) if element.tag in HEADINGS and element.text]
    named = Named([], [])
    for element in live(elements):
        if rule.is_against(element):
            is_of_member = signs_of(element.names) & MEMBER and kind is PageKind.FORUM
            parts = _beside_name(element, headings) if is_of_member else [element]
            taken = [part for part in parts if part.take_out(RemovalRule.NAMED)]
            named.taken.extend(taken)
            named.lowered.extend(part for part in taken if shapes.says_its_own(part))
    return named


def raise_lowered(
    elements: list[Element],
    lowered: list[Element],
    roots: list[Element],
    kind: PageKind,
    shapes: Shapes,
) -> None:
    """Put back blocks in a root that have their own content, without the rows of links in them.

    A list beside the root becomes one.
    """
    rule = _Named(elements, kind, shapes)
    for block in reversed(lowered):
        if any(above.is_out for above in block.ancestors()):
            continue
        if not any(root.start < block.start < root.end for root in roots):
            if not _stands_beside(block, roots, shapes):
                continue
            roots.append(block)
        block.put_back()
        for element in live(elements, block):
            if rule.is_against(element) and not shapes.says_its_own(element):
                element.take_out(RemovalRule.NAMED)
    roots.sort(key=lambda root: root.start)


def _stands_beside(block: Element, roots: list[Element], shapes: Shapes) -> bool:
    """Whether an aside is a list, as of ingredients, in the same `<main>` as the text."""
    if block.tag != "aside" or not shapes.is_list(block):
        return False
    around = next((above for above in roots[0].ancestors() if above.tag == "main"), None)
    return around is not None and around.start < block.start < around.end


def _beside_name(panel: Element, headings: list[Element]) -> list[Element]:
    """Return what a panel about a member contains next to the name, a heading; without one, the whole panel."""
    following = bisect_right(headings, panel.start, key=lambda heading: heading.start)
    if following == len(headings) or headings[following].start >= panel.end:
        return [panel]
    name = headings[following]
    around = list(takewhile(lambda above: above is not panel, name.ancestors()))
    kept = {name, *around}
    return [child for above in (*around, panel) for child in above.children if child not in kept]


class _Chrome:
    """The rules of tags and roles for one page."""

    def __init__(self, elements: list[Element], *, is_forum: bool) -> None:
        self._page = elements[0]
        self._prose = self._page.prose
        self._headings = [element.start for element in elements if element.tag in HEADINGS]
        self._is_forum = is_forum

    def against(self, element: Element) -> RemovalRule | None:
        """Return the rule that removes an element, if there is one."""
        left = self._page.text - element.text
        if left < min(_LEAST, element.text):
            return None
        if signs_of(element.names) & CONSENT:
            is_one = (
                element.text < _CONSENT_SHARE * self._page.text or element.prose < _CONSENT_PROSE
            )
            return RemovalRule.CONSENT if is_one else None
        if element.text > _LARGE and element.prose > _MOST_PROSE * self._prose:
            # The footer of a short page may be most of it.
            is_end = left > 2 * _LARGE and not element.is_inside(_PARTS)
            return RemovalRule.FOOTER if element.tag == "footer" and is_end else None
        role = element.attributes.get("role")
        if element.tag in _TAGS or role in _ROLES:
            # Only the tabs themselves, not content that a careless page puts inside the tab list.
            is_one = role != "tablist" or element.prose < _PANEL_SHARE * self._prose
            return RemovalRule.LANDMARK if is_one else None
        return self._against_part(element)

    def _against_part(self, element: Element) -> RemovalRule | None:
        """Return the rule that removes a header, footer or form; articles have these, too."""
        match element.tag:
            case "footer":
                is_own = element.is_inside(_QUOTES) or (
                    element.is_inside(_PARTS)
                    and element.linked <= _LINKED_FOOTER * element.text
                    and element.text >= _FOOTER
                )
                return None if is_own else RemovalRule.FOOTER
            case "header":
                is_own = self._is_forum or element.is_inside(_HEADED)
                is_linked = element.linked >= _LINKED_HEADER * element.text
                if is_own and (not is_linked or holds(element, self._headings)):
                    return None
                return RemovalRule.HEADER
            case "form":
                # Old forums wrap posts in forms with nothing to fill in, and shops wrap their filters.
                is_text = self._is_forum or element.prose > 0
                holds_text = is_text and FILLED_IN not in element.attributes
                return None if holds_text or element.prose >= _FORM_PROSE else RemovalRule.FORM
            case _:
                return None


class _Named:
    """The rules of names for one page."""

    def __init__(self, elements: list[Element], kind: PageKind, shapes: Shapes) -> None:
        self._shapes = shapes
        self._text = elements[0].text
        self._prose = elements[0].prose
        self._mains = [element.start for element in mains(elements)]
        self._kind = kind

    def is_against(self, element: Element) -> bool:
        """Whether the names of an element mark it as chrome."""
        if not element.names or element.tag in _KEPT:
            return False
        signs = signs_of(element.names)
        return bool(signs) and self._holds(element, signs)

    def _holds(self, element: Element, signs: int) -> bool:
        # Themes call what is around the text and a sidebar `content-sidebar-wrap`.
        if self._is_most(element) or holds(element, self._mains):
            return False
        if signs & (CHROME | MORE):
            return True
        if signs & MEMBER and self._kind is PageKind.FORUM:
            return element.prose < _MEMBER_SHARE * self._prose
        if signs & ABOUT and self._kind is PageKind.ARTICLE:
            return element.text < _ABOUT_TEXT or element.linked * 2 > element.text
        return (
            signs & COMMENTS != 0
            and self._kind is not PageKind.FORUM
            and (self._kind is not PageKind.DOCUMENTATION or self._shapes.has_dates(element))
            and self._prose - element.prose >= _BESIDE_COMMENTS
        )

    def _is_most(self, element: Element) -> bool:
        return (
            element.text > _MOST_TEXT * self._text
            or self._text - element.text < _LEAST
            or (element.text > _LARGE and element.prose > _MOST_PROSE * self._prose)
        )

"""Teasers of other pages below or inside the content: rows of cards, and lists of links."""

import re
from collections import defaultdict
from typing import Final

from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import Element, holds, live, rows_of_cards
from searx_mcp.content.tree import CANONICAL, HEADINGS, RemovalRule
from searx_mcp.models.page import PageKind

_WITH_TEASERS: Final = frozenset({PageKind.ARTICLE, PageKind.PRODUCT})
"""Kinds whose cards are not their content. WCXB dev product .598 without cards, .595 with them; article .948 in
both cases. After changing this, run `python -m benchmarks.extraction PATH` on all sets."""

_PARAGRAPHS: Final = frozenset({"p", "pre", "table", "blockquote"})
_PARAGRAPH: Final = 140
_LINKED_PARAGRAPH: Final = 0.3
"""The last paragraph of the text: characters, and the share of them that may be linked."""

_LARGEST: Final = 0.4
"""Cards with more of the text than this are the content."""

_LINKED_BELOW: Final = 0.5
_LINKED_INSIDE: Final = 0.7
_LINKED_PRODUCTS: Final = 0.5
"""Linked share of cards below the text, before the end of an article's text, and in a product. WCXB dev F1 .8567
with .35 to .6 below the text, .8563 with 0."""

_ROW: Final = 0.75
_WRAPPER: Final = 1.35
_WRAPPER_MORE: Final = 60
"""A row is removed with its wrapper if the wrapper contains little else: its heading, and "Show all"."""

_OUTERMOST: Final = frozenset({"body", "main", "article"})

_LISTS: Final = frozenset({"div", "section", "ul", "ol", "dl"})
_MENUS: Final = frozenset({"div", "section", "ul", "ol"})
_SMALL_LISTS: Final = frozenset({"div", "section", "ul"})
_OF_LINKS: Final = 0.55
"""A root with more of its text in links is a list of links, which is then the content. WCXB dev F1 .8563 with lists
of links removed from other roots, .8551 with all of them kept."""

_ALL_LINKED: Final = 0.8
_LIST_SHARE: Final = 0.3
_HALF_LINKED: Final = 0.5
_SMALL: Final = 200
_ITEM, _ITEMS = 2, 4
"""A list of links has more elements than this: a large one, and a small one."""

_BESIDE: Final = frozenset({"next", "prev"})
_MENU: Final = 0.5
_FEW: Final = 6
"""Largest share of documentation that may be a menu; most links in a list below it to its other pages."""

_ANNOUNCEMENT: Final = 25
_COLONS: Final = (":", "\N{FULLWIDTH COLON}")
"""A paragraph of this many characters with this end announces the list below it: "see also" does not."""

_LINES: Final = frozenset({"div", "p", "a", "li", "ul", "span"})
_NO_LINES: Final = HEADINGS | {"table", "dt"}
_NUMBER: Final = re.compile(r"#?[0-9]+")
_MOST_REPEATED: Final = 30
_REPEATED: Final = 3

_NO_ELEMENTS: Final = frozenset({"-text", "-comment"})
_BETWEEN: Final = 3
"""Most nodes between them: white space, and comments."""

_LONG_LINKS: Final = 30
"""Characters of a link; longer ones are cards, which are content on a page without text. WCXB dev F1 .8563 with it,
.8554 when all lists of links are removed."""


def take_out_teasers(elements: list[Element], kind: PageKind, root: Element) -> list[Element]:
    """Remove rows of cards below the text of an article or a product, and linked ones inside.

    Returns:
        What was removed.
    """
    if kind not in _WITH_TEASERS:
        return []
    end = max(paragraph_starts(elements, root), default=root.start)
    taken: list[Element] = []
    for row in list(rows_of_cards(elements, root)):
        text = sum(card.text for card in row)
        linked = sum(card.linked for card in row)
        is_below = row[0].start > end
        needed = _LINKED_INSIDE if kind is PageKind.ARTICLE else _LINKED_PRODUCTS
        if is_below:
            needed = _LINKED_BELOW
        if text <= _LARGEST * root.text and linked >= needed * text:
            taken += [
                part for part in _whole_row(row, text, root) if part.take_out(RemovalRule.CARDS)
            ]
    return taken


def take_out_links(
    elements: list[Element], kind: PageKind, root: Element, shapes: Shapes
) -> list[Element]:
    """Remove lists that contain only links.

    A list with code, mathematics or notes stays: they are short and may be linked, but are never a list of links.
    A list with headings stays, too, except below the text of an article, and of posts, where it contains teasers. In
    a text, a list that a paragraph announces is part of it.

    Returns:
        What was removed.
    """
    if kind is PageKind.DOCUMENTATION:
        return _take_out_menus(elements, root, shapes)
    if root.linked > _OF_LINKS * root.text:
        return []
    is_text = kind is PageKind.ARTICLE
    most = _LIST_SHARE * root.text
    end = (
        max(paragraph_starts(elements, root), default=root.start)
        if is_text or (kind is PageKind.FORUM and root.linked < root.prose)
        else root.end
    )
    kept = [
        item.start
        for item in live(elements, root)
        if item.tag in CANONICAL or (item.tag in HEADINGS and item.start < end)
    ]
    return [
        element
        for element in live(elements, root)
        if element.tag in _LISTS
        and element.linked
        and (is_text or element.start > end or element.linked <= _LONG_LINKS * element.links)
        and _is_list_of_links(element, most)
        and not holds(element, kept)
        and not shapes.has_content(element)
        and not (is_text and _is_announced(element))
        and element.take_out(RemovalRule.LINKS)
    ]


def _take_out_menus(elements: list[Element], root: Element, shapes: Shapes) -> list[Element]:
    """Remove from documentation its contents, which repeat headings, and links at its edges or to its neighbours.

    Other lists of links are an index, or a separate section.
    """
    headings = [item for item in live(elements, root) if item.tag in HEADINGS and item.text]
    titles = {_letters(heading) for heading in headings}
    links = [link for link in live(elements, root) if link.tag == "a" and link.text]
    neighbours = [link.start for link in links if link.attributes.get("rel") in _BESIDE]
    others = [link.start for link in links if _letters(link) not in titles]
    places = [heading.start for heading in headings]
    heads = [heading.start for heading in headings if heading.tag == "h1"]
    last = max((item.start for item in live(elements, root) if _is_said(item)), default=root.end)
    if last in places:
        last = root.end
    is_said = False
    taken = []
    for element in live(elements, root):
        if (
            element.tag in _MENUS
            and element.linked
            and _is_list_of_links(element, _MENU * root.text)
            and not holds(element, places if is_said else heads)
            and not shapes.has_content(element)
            and (
                not is_said
                or (element.start > last and element.links <= _FEW)
                or holds(element, neighbours)
                or (element.links > 1 and not holds(element, others))
            )
            and element.take_out(RemovalRule.LINKS)
        ):
            taken.append(element)
        elif element.tag != "h1" and not is_said:
            is_said = _is_said(element)
    return taken


def _is_said(element: Element) -> bool:
    """Whether it is a heading, or a line that is not a link."""
    return bool(element.text) and (
        element.tag in HEADINGS or (element.prose > 0 and element.run_linked * 2 < element.run)
    )


def _letters(element: Element) -> str:
    return "".join(filter(str.isalpha, element.node.text().lower()))


def take_out_repeated(elements: list[Element], root: Element) -> list[Element]:
    """Remove short separate links that repeat, such as "Reply" below every post, or its number."""
    lines: dict[str, list[Element]] = defaultdict(list)
    for element in live(elements, root):
        if (
            element.tag in _LINES
            and 0 < element.linked == element.text <= _MOST_REPEATED
            and element.links == 1
            and not element.is_inside(_NO_LINES)
        ):
            shown = "".join(element.node.text().split())
            lines["#" if _NUMBER.fullmatch(shown) else shown].append(element)
    return [
        element
        for alike in lines.values()
        if len(alike) >= _REPEATED
        for element in alike
        if element.take_out(RemovalRule.REPEATED)
    ]


def _is_announced(element: Element) -> bool:
    """Whether a paragraph before a list ends with a colon."""
    before = element.node.prev
    for _ in range(_BETWEEN):
        if before is None or before.tag not in _NO_ELEMENTS:
            break
        before = before.prev
    if before is None or before.tag != "p":
        return False
    announcement = before.text().strip()
    return len(announcement) >= _ANNOUNCEMENT and announcement.endswith(_COLONS)


def paragraph_starts(elements: list[Element], root: Element) -> list[int]:
    """Find where the paragraphs of a text begin; its edges are before the first and after the last."""
    return [
        element.start
        for element in live(elements, root)
        if element.tag in _PARAGRAPHS
        and element.run >= _PARAGRAPH
        and element.run_linked < _LINKED_PARAGRAPH * element.run
    ]


def _whole_row(row: list[Element], text: int, root: Element) -> list[Element]:
    parent = row[0].parent
    if parent is None or parent is root or text < _ROW * parent.text:
        return row
    around = parent
    while (
        (above := around.parent) is not None
        and above is not root
        and above.tag not in _OUTERMOST
        and above.text <= _WRAPPER * text + _WRAPPER_MORE
        and above.text < _LARGEST * root.text
    ):
        around = above
    return [around]


def _is_list_of_links(element: Element, most: float) -> bool:
    if element.linked > _ALL_LINKED * element.text:
        return element.text < most and element.elements > _ITEM
    return (
        element.linked > _HALF_LINKED * element.text
        and element.text < _SMALL
        and element.elements > _ITEMS
        and element.tag in _SMALL_LISTS
    )

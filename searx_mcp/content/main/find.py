"""The main content of a page."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.main.asides import (
    captions,
    is_needed,
    lead,
    take_out_asides,
    take_out_end,
    words_beside,
)
from searx_mcp.content.main.boilerplate import raise_lowered, take_out_chrome, take_out_named
from searx_mcp.content.main.class_names import BODY, signs_of
from searx_mcp.content.main.kinds import Hints, is_forum, kind_of, platform_kind, says_article
from searx_mcp.content.main.related_links import take_out_links, take_out_repeated, take_out_teasers
from searx_mcp.content.main.sections import take_out_sections
from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import INLINE, Element, holds, live, mains, measure
from searx_mcp.content.tree import HEADINGS, NOTES, REFERENCE, RemovalRule, Removals
from searx_mcp.models.page import PageKind

_NOT_NARROWED: Final = frozenset({
    "blockquote", "dl", "li", "ol", "p", "pre", "table", "tbody", "tr", "ul",
})  # fmt: skip
"""Elements that are never narrowed to their largest part."""

_MAIN_TEXT: Final = 150
_MAIN_PROSE: Final = 400
_MAIN_SHARE: Final = 0.35
"""`<main>` with a smaller share of the text, or of as much prose, does not contain the content: shops put what they
say of a category beside it (WCXB dev F1 +.0006; four of six pages win, no page of the other sets changes)."""

_ALL: Final = 0.95
_MOST: Final = 0.85
"""A child with this share of the text, or of the prose, replaces its parent."""

_FIRST: Final = 60
"""Prose that is kept before the largest part of a forum: a question before its answers."""

_NARROW_TEXT: Final = 0.5
_NARROW_PROSE: Final = 0.6
_NARROW_CHARS: Final = 1_500
"""If a page does not declare itself an article, one element must contain this many characters to replace the page.
WCXB dev collection .682 with it, .671 without. After changing a constant of this module run
`python -m benchmarks.extraction PATH` on all sets: what helps shops easily hurts articles."""

_SURE_PROSE: Final = 600
_ENTERED_TEXT: Final = 0.6
_ENTERED_PROSE: Final = 0.7
_ENTERED_CHARS: Final = 2_000

_BODY_PROSE: Final = 120
_BODY_SHARE: Final = 0.35
_BODY_CHARS: Final = 2_500
_BODY_LEAST: Final = 0.2
_MICRODATA_SHARE: Final = 0.25
_MICRODATA_CHARS: Final = 1_200

_ARTICLE_TEXT: Final = 250
_ARTICLE_SHARE: Final = 0.5
_ARTICLE_PROSE: Final = 1_500
_ARTICLE_LEAST: Final = 0.25
_MANY_ARTICLES: Final = 30
_MAX_CANDIDATES: Final = 500
"""More of them are a list, which is not examined."""


_text: Final = attrgetter("text")
_prose: Final = attrgetter("prose")


def choose_roots(elements: list[Element], kind: PageKind, *, is_sure: bool) -> list[Element]:
    """Choose the elements that contain the content.

    Documentation is everything except the parts of its site. Articles are searched for where they are marked
    (microdata, names, `<article>`), then where the prose is; other pages are all of `<main>`, or of the body.

    Args:
        elements: of the page, without chrome.
        kind: of the page.
        is_sure: whether it declares itself an article.

    Returns:
        At least one, in order, none inside another.
    """
    wide = _wide(elements, kind)
    if kind is not PageKind.ARTICLE:
        return [wide]
    narrow = _marked(elements) or _article(elements)
    text = sum(element.text for element in narrow)
    prose = sum(element.prose for element in narrow)
    if narrow and (
        is_sure
        or text >= _NARROW_TEXT * wide.text
        or prose >= max(_NARROW_PROSE * wide.prose, _NARROW_CHARS)
    ):
        return narrow
    return [_entered(wide, is_sure=is_sure)]


def _wide(elements: list[Element], kind: PageKind) -> Element:
    page = elements[0]
    largest = max(mains(elements), key=_text, default=page)
    if largest.text < max(_MAIN_TEXT, _MAIN_SHARE * page.text) or (
        page.prose > _MAIN_PROSE and largest.prose < _MAIN_SHARE * page.prose
    ):
        largest = page
    return (
        largest
        if kind is PageKind.DOCUMENTATION
        else _descend(largest, _text, _ALL, is_forum=kind is PageKind.FORUM)
    )


def _entered(wide: Element, *, is_sure: bool) -> Element:
    inner = _descend(wide, _prose, _MOST)
    if (
        inner.text >= _ENTERED_TEXT * wide.text
        or (is_sure and inner.prose > _SURE_PROSE)
        or inner.prose >= max(_ENTERED_PROSE * wide.prose, _ENTERED_CHARS)
    ):
        return inner
    return wide


def _descend(
    element: Element, measure: Callable[[Element], int], share: float, *, is_forum: bool = False
) -> Element:
    """The innermost element with almost all of another one's content: at least a share, by some measure."""
    while True:
        children = [child for child in element.children if not child.is_out]
        largest = max(children, key=measure, default=None)
        if (
            largest is None
            or measure(largest) < share * max(measure(element), 1)
            or largest.tag in _NOT_NARROWED
        ):
            return element
        before = children[: children.index(largest)] if is_forum else []
        if any(other.prose >= _FIRST and other.prose * 2 > other.text for other in before):
            return element
        element = largest


def _marked(elements: list[Element]) -> list[Element]:
    """Return the elements that microdata or names mark as the text."""
    page = elements[0]
    for is_microdata in (True, False):
        found = _outermost(elements, _says_body if is_microdata else _is_named_body)
        found = [element for element in found if element.prose > _BODY_PROSE]
        if len(found) == 1 and _is_enough(found[0], page, is_microdata=is_microdata):
            return found
    return []


def _says_body(element: Element) -> bool:
    return element.attributes.get("itemprop") == "articleBody"


def _is_named_body(element: Element) -> bool:
    return (signs_of(element.names) | signs_of(element.address)) & BODY != 0


def _outermost(elements: list[Element], is_one: Callable[[Element], bool]) -> list[Element]:
    found: list[Element] = []
    for element in live(elements):
        if (not found or element.start >= found[-1].end) and is_one(element):
            found.append(element)
            if len(found) > _MAX_CANDIDATES:
                return []
    return found


def _is_enough(body: Element, page: Element, *, is_microdata: bool) -> bool:
    if is_microdata:
        return body.prose > _MICRODATA_CHARS or body.prose >= _MICRODATA_SHARE * page.prose
    return body.prose >= _BODY_SHARE * page.prose or body.prose > max(
        _BODY_CHARS, _BODY_LEAST * page.prose
    )


def _article(elements: list[Element]) -> list[Element]:
    """The `<article>` with the page's content, if there is one."""
    page = elements[0]
    found = _outermost(elements, lambda element: element.tag == "article")
    if not found:
        return []
    largest = max(found, key=_prose)
    if largest.text > _ARTICLE_TEXT and largest.prose >= _ARTICLE_SHARE * page.prose:
        return [largest]
    prose = sum(element.prose for element in found)
    stands_out = largest.prose >= max(
        _ARTICLE_PROSE, _ARTICLE_SHARE * prose, _ARTICLE_LEAST * page.prose
    )
    return [largest] if stands_out and len(found) <= _MANY_ARTICLES else []


_LEFT: Final = 0.4

_LEFT_CHARS: Final = 100
"""If the rules for names and headings leave less than this share of the prose, and fewer than this many characters
of it, they have removed the content by mistake, and are undone. The share alone undoes too much, since comments
may be most of a page: WCXB dev F1 .8542 with it, .8563 with both, .8584 with neither; .0020 of that is for pages
without content that are then empty."""

_BEFORE_TITLE: Final = 0.2
_HEAD: Final = 100
"""Largest share of the prose before a title; most characters that head a page together with its title."""

_WHOLE: Final = frozenset({"dl", "figure", "pre", "table"})
_NO_TITLE: Final = frozenset({"dl", "ol", "pre", "table", "ul"})
_PART: Final = re.compile(r"\s[-\u2013\u2014|·(]|:\s")
_SAME: Final = 40
"""Characters that are compared to find repeated captions."""

_MIN_TITLE: Final = 3
_MAX_TITLE: Final = 200


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page.

    Attributes:
        roots: elements of the tree, in order, none inside another; what is not content is removed from them.
        kind: of the page; `None` if there is no sign of it.
    """

    roots: tuple[LexborNode, ...]
    kind: PageKind | None


def find_main(tree: LexborHTMLParser, hints: Hints, removals: Removals) -> Main:
    """Find the main content, and remove everything else from it.

    The elements are measured once; what tags and roles mark as chrome is ignored; then the kind of page is
    determined, and the rules for it remove more, choose the roots, and tidy them. Only then is the tree changed.

    Args:
        tree: a page in the form that `content.normalize` produces, without hidden elements; changed in place.
        hints: the page's metadata.
        removals: of this page.

    Returns:
        No roots if the page has no body; the body if nothing else stands out.
    """
    body = tree.body
    if body is None:
        return Main((), kind=None)
    elements = measure(body)
    platform = platform_kind(tree, hints.generator, elements)
    shapes = Shapes(elements, hints.author)
    lowered = take_out_chrome(elements, shapes, is_forum=is_forum(hints, platform))
    kind = kind_of(hints, elements, platform)
    roots = _roots(elements, kind, hints, shapes, lowered)
    if kind is PageKind.ARTICLE:
        _mark_captions(tree, elements, roots)
    _apply(elements, roots, removals)
    return Main(tuple(root.node for root in roots), kind=kind)


def _roots(
    elements: list[Element], kind: PageKind, hints: Hints, shapes: Shapes, lowered: list[Element]
) -> list[Element]:
    page = elements[0]
    before = page.prose
    named = take_out_named(elements, kind, shapes)
    taken = named.taken + take_out_sections(elements, kind, shapes)
    if page.prose < min(_LEFT * before, _LEFT_CHARS):
        for element in reversed(taken):
            element.put_back()
        named.lowered.clear()
    is_article = kind is PageKind.ARTICLE
    roots = choose_roots(elements, kind, is_sure=is_article and says_article(hints))
    title = _title(elements, roots[0], hints.title)
    if title is not None:
        if kind in {PageKind.DOCUMENTATION, PageKind.FORUM}:
            _begin(elements, title, roots[0], shapes)
        elif is_article:
            roots = [*lead(elements, title, roots[0]), *roots]
    raise_lowered(elements, lowered + named.lowered, roots, kind, shapes)
    for root in roots:
        take_out_teasers(elements, kind, root)
        take_out_links(elements, kind, root, shapes)
        if kind is PageKind.FORUM:
            take_out_repeated(elements, root)
        if is_article:
            take_out_asides(elements, root)
        elif kind is PageKind.DOCUMENTATION:
            take_out_end(elements, root)
    return roots


def _title(elements: list[Element], root: Element, title: str) -> Element | None:
    """The element with the title: an `<h1>` with its words, a line before the first `<h1>`, that `<h1>`, or a heading."""
    said, first = _letters(title), _letters(_PART.split(title)[0])
    headings = [one for one in elements[: root.end] if one.tag in HEADINGS and one.text]
    words = [_letters(one.node.text()) for one in headings]
    named = [
        one
        for one, letters in zip(headings, words, strict=True)
        if letters and (letters in said or (first and first in letters))
    ]
    shown = {one.start for one in live(elements)}
    heads = [one for one in headings if one.tag == "h1" and one.start in shown]
    starts = {one.start for one in named}
    if found := [one for one in heads if one.start in starts]:
        # If a title is written twice, for screen and for print, the last.
        best = min(found, key=lambda one: (_is_linked(one), first not in _letters(one.node.text())))
        letters = _letters(best.node.text())
        return [one for one in found if _letters(one.node.text()) == letters][-1]
    end = heads[0].start if heads else root.end
    hidden = [one for one in named if one.tag == "h1" and not _is_linked(one)]
    lines = [
        element
        for element in live(elements)
        if element.start < end
        and 0 < element.text == element.run <= _MAX_TITLE
        and element.tag not in INLINE
        and not _is_linked(element)
        and len(letters := _letters(element.node.text())) >= _MIN_TITLE
        and letters in said
        and not element.is_inside(_NO_TITLE)
    ]
    others = [one for one in named if one.start in shown and one.start < end]
    above = [one for one in reversed(heads) if one.end <= root.start]
    return next(iter(others or hidden or sorted(lines, key=attrgetter("text"))[-1:] or above), None)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


def _is_linked(element: Element) -> bool:
    return element.linked * 2 > element.text


def _begin(elements: list[Element], title: Element, root: Element, shapes: Shapes) -> None:
    """Let a root begin with the title, and remove what is before it and has no content.

    What heads the page together with the title is moved after it.
    """
    head, around = title, title.parent
    is_out = title.is_out or any(above.is_out for above in title.ancestors())
    if title.start < root.start or is_out:
        head, around = root, root
    elif around is not None and around is not root and around.text <= title.text + _HEAD:
        head = around
    before = [element for element in live(elements, root) if element.end <= head.start]
    if sum(element.run for element in before if element.prose) <= _BEFORE_TITLE * root.prose:
        end = 0
        for element in before:
            # A line belongs to the site; a sentence only does before a certain title.
            is_beside = element.tag in HEADINGS and element.parent is title.parent
            if element.start < end:
                continue
            if is_beside or (element.tag in _WHOLE and shapes.has_content(element)):
                end = element.end
            elif not shapes.has_content(element) and (
                title.tag == "h1" or element.prose * 2 <= element.text
            ):
                element.take_out(RemovalRule.BESIDE)
    first = head.node.child
    if head is not title and first is not None and (head is root or head.children[0] is not title):
        first.insert_before(title.node)
        title.node.remove()


def _apply(elements: list[Element], roots: list[Element], removals: Removals) -> None:
    """Apply the measures to the tree."""
    if (notes := _lost_notes(elements, roots)) is not None:
        # `insert_child` inserts a copy.
        roots[-1].node.insert_child(notes)
    for element, is_inside in _out(elements, roots):
        if is_inside:
            removals.remove(element.node, element.rule)
        elif element.text:
            removals.note(element.node, element.rule)


def _mark_captions(tree: LexborHTMLParser, elements: list[Element], roots: list[Element]) -> None:
    """Remove captions that are not needed, and turn those recognised only by name into caption elements."""
    seen: set[str] = set()
    for root in roots:
        said = words_beside(elements, root)
        for line in captions(elements, root):
            if (shown := line.node.text()[:_SAME].strip()) in seen:
                # A caption for phones, or in a gallery.
                line.take_out(RemovalRule.CAPTION)
                continue
            seen.add(shown)
            for part in (line, *line.children):
                if part.text and not is_needed(part, said):
                    part.take_out(RemovalRule.CAPTION)
            if line.is_out or not line.text:
                line.take_out(RemovalRule.CAPTION)
            elif line.tag != "figcaption":
                caption = tree.create_node("figcaption")
                for node in list(line.node.iter(include_text=True)):
                    caption.insert_child(node)
                line.node.replace_with(caption)


def _out(elements: list[Element], roots: list[Element]) -> list[tuple[Element, bool]]:
    """The outermost elements that are left out of the output, and whether they are in a root."""
    found: list[tuple[Element, bool]] = []
    starts = [root.start for root in roots]
    end = place = 0
    while place < len(elements):
        element = elements[place]
        if place in starts:
            end = max(end, element.end)
        is_inside = place < end
        if element.is_out or not (is_inside or holds(element, starts) or place in starts):
            found.append((element, is_inside))
            place = element.end
        else:
            place += 1
    return found


def _lost_notes(elements: list[Element], roots: list[Element]) -> LexborNode | None:
    """The page's footnotes, if the kept content refers to them and does not contain them."""
    notes = next((element for element in elements if element.tag == NOTES), None)
    if notes is None:
        return None
    kept = {element.tag for root in roots for element in live(elements, root)}
    is_lost = REFERENCE in kept and NOTES not in kept and all(root is not notes for root in roots)
    return notes.node if is_lost else None

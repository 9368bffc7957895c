"""The main content of a page."""

import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.main.asides import captions, take_out_asides
from searx_mcp.content.main.boilerplate import take_out_chrome, take_out_named
from searx_mcp.content.main.kinds import Hints, is_forum, kind_of, platform_kind, says_article
from searx_mcp.content.main.related_links import take_out_links, take_out_repeated, take_out_teasers
from searx_mcp.content.main.roots import choose_roots
from searx_mcp.content.main.sections import take_out_sections
from searx_mcp.content.main.text_density import HEADINGS, Element, holds, live, measure
from searx_mcp.content.normalize.tree import NOTES, REFERENCE
from searx_mcp.content.removals import Removals
from searx_mcp.models.page import PageKind

_LEFT: Final = 0.4

_LEFT_CHARS: Final = 100
"""If the rules of names and headings leave less than this share of the prose, and less than so many
characters of it, they have taken the content for something else, and are undone. The share alone undoes
too much, since comments may be most of a page: WCXB dev F1 .8542 with it, .8563 with both, .8584 with
neither; .0020 of that is for pages without content that are then empty."""

_FALLBACK_CHARS: Final = 150
_FALLBACK: Final = 0.5
"""With less than this of the text's characters in them, the elements do not hold it. WCXB dev product .598
with it, .593 without."""

_TAG: Final = re.compile(r"<[^<>]{1,500}>")
_BREAK: Final = re.compile(r"<(?:/p|br|/h[1-6]|/li|/div)\b[^<>]{0,100}>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page.

    Attributes:
        roots: elements of the tree, in its order, none inside another; what does not belong to the
            content is taken out of them.
        kind: what the page is; `None` where nothing tells.
        body: plain text that stands for the content because the elements do not hold it; mostly
            empty. Paragraphs are separated by empty lines.
    """

    roots: tuple[LexborNode, ...]
    kind: PageKind | None
    body: str = ""


def find_main(tree: LexborHTMLParser, hints: Hints, removals: Removals) -> Main:
    """Find the main content, and take out of it what is not.

    The elements are measured once; what tags and roles say is not the page's is passed over; then it
    is known what the page is, and the rules for it take out more, choose the roots, and tidy them.
    Only then is the tree changed.

    Args:
        tree: a page in the form that `content.normalize` gives it, without what readers do not see;
            it is changed.
        hints: what the page says of itself.
        removals: of this page.

    Returns:
        No roots if the page has no body; the body where nothing else stands out.
    """
    body = tree.body
    if body is None:
        return Main((), kind=None, body=fallback(hints.body, []))
    elements = measure(body)
    platform = platform_kind(tree, hints.generator, elements)
    take_out_chrome(elements, is_forum=is_forum(hints, platform))
    kind = kind_of(hints, elements, platform)
    roots = _roots(elements, kind, hints)
    text = fallback(hints.body, roots)
    if not text:
        if kind is PageKind.ARTICLE:
            _mark_captions(tree, elements, roots)
        _apply(elements, roots, removals)
    return Main(tuple(root.node for root in roots), kind=kind, body=text)


def _roots(elements: list[Element], kind: PageKind, hints: Hints) -> list[Element]:
    page = elements[0]
    before = page.prose
    taken = take_out_named(elements, kind) + take_out_sections(elements, kind)
    if page.prose < min(_LEFT * before, _LEFT_CHARS):
        for element in reversed(taken):
            element.put_back()
    is_article = kind is PageKind.ARTICLE
    roots = choose_roots(elements, kind, is_sure=is_article and says_article(hints))
    if kind in {PageKind.DOCUMENTATION, PageKind.FORUM}:
        roots = _with_title(elements, roots)
    for root in roots:
        take_out_teasers(elements, kind, root)
        take_out_links(elements, kind, root)
        if kind is PageKind.FORUM:
            take_out_repeated(elements, root)
        if is_article:
            take_out_asides(elements, root, hints)
    return roots


def _with_title(elements: list[Element], roots: list[Element]) -> list[Element]:
    """Roots with the `<h1>` before them, unless they begin with one or a heading of theirs says it."""
    headings = [element for element in live(elements) if element.tag in HEADINGS and element.text]
    start = roots[0].start
    titles = [heading for heading in headings if heading.end <= start and heading.tag == "h1"]
    own = [heading for heading in headings if heading.start >= start]
    if not titles or (own and own[0].tag == "h1"):
        return roots
    title = titles[-1].node.text()
    return roots if any(one.node.text().strip() in title for one in own) else [titles[-1], *roots]


def _apply(elements: list[Element], roots: list[Element], removals: Removals) -> None:
    """Change the tree to what the measures say."""
    if (notes := _lost_notes(elements, roots)) is not None:
        # What is inserted is a copy.
        roots[-1].node.insert_child(notes)
    for element, is_inside in _out(elements, roots):
        if is_inside:
            removals.remove(element.node, element.rule)
        elif element.text:
            removals.note(element.node, element.rule)


def _mark_captions(tree: LexborHTMLParser, elements: list[Element], roots: list[Element]) -> None:
    """Give captions that only their names tell the element that says so."""
    for root in roots:
        for line in captions(elements, root):
            caption = tree.create_node("figcaption")
            for part in list(line.node.iter(include_text=True)):
                caption.insert_child(part)
            line.node.replace_with(caption)


def _out(elements: list[Element], roots: list[Element]) -> list[tuple[Element, bool]]:
    """The outermost elements that are not written, and whether they stand in a root."""
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
    """The footnotes of the page, if what is kept refers to them and does not hold them."""
    notes = next((element for element in elements if element.tag == NOTES), None)
    if notes is None:
        return None
    kept = {element.tag for root in roots for element in live(elements, root)}
    is_lost = REFERENCE in kept and NOTES not in kept and all(root is not notes for root in roots)
    return notes.node if is_lost else None


def fallback(body: str, roots: list[Element]) -> str:
    """The text itself, if the elements hold too little to be it.

    Returns:
        Plain text in paragraphs; empty if the elements are enough.
    """
    if len(body) < _FALLBACK_CHARS or sum(root.text for root in roots) >= _FALLBACK * len(body):
        return ""
    return _TAG.sub(" ", _BREAK.sub("\n\n", body)).strip() if "<" in body else body

"""The main content of a page."""

from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.main.asides import captions, is_needed, take_out_asides
from searx_mcp.content.main.boilerplate import raise_lowered, take_out_chrome, take_out_named
from searx_mcp.content.main.kinds import Hints, is_forum, kind_of, platform_kind, says_article
from searx_mcp.content.main.related_links import take_out_links, take_out_repeated, take_out_teasers
from searx_mcp.content.main.roots import choose_roots
from searx_mcp.content.main.sections import take_out_sections
from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import HEADINGS, Element, holds, live, measure
from searx_mcp.content.normalize.tree import NOTES, REFERENCE
from searx_mcp.content.removals import Removals, Rule
from searx_mcp.models.page import PageKind

_LEFT: Final = 0.4

_LEFT_CHARS: Final = 100
"""If the rules of names and headings leave less than this share of the prose, and less than so many
characters of it, they have taken the content for something else, and are undone. The share alone undoes
too much, since comments may be most of a page: WCXB dev F1 .8542 with it, .8563 with both, .8584 with
neither; .0020 of that is for pages without content that are then empty."""

_TITLE_AND_TEXT: Final = 2
_MIN_TITLE: Final = 3
_MAX_TITLE: Final = 200


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page.

    Attributes:
        roots: elements of the tree, in its order, none inside another; what does not belong to the
            content is taken out of them.
        kind: what the page is; `None` where nothing tells.
    """

    roots: tuple[LexborNode, ...]
    kind: PageKind | None


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
    if kind in {PageKind.DOCUMENTATION, PageKind.FORUM}:
        roots = _with_title(elements, roots, hints.title)
    if kind is PageKind.DOCUMENTATION:
        roots = _with_lead(elements, roots, shapes)
    raise_lowered(elements, lowered + named.lowered, roots, kind, shapes)
    for root in roots:
        take_out_teasers(elements, kind, root)
        take_out_links(elements, kind, root, shapes)
        if kind is PageKind.FORUM:
            take_out_repeated(elements, root)
        if is_article:
            take_out_asides(elements, root)
    return roots


def _with_title(elements: list[Element], roots: list[Element], title: str) -> list[Element]:
    """Roots with what says the title before them, unless they begin with a heading that does.

    It is the last `<h1>`, or else the last line whose words the title begins with.
    """
    start = roots[0].start
    own = [one for one in live(elements, roots[0]) if one.tag in HEADINGS and one.text]
    if roots[0].tag in HEADINGS or (own and own[0].tag == "h1"):
        return roots
    before = [element for element in live(elements) if element.end <= start and element.text]
    titles = [element for element in before if element.tag == "h1"]
    titles = titles or [element for element in before if _is_title(element, title)]
    if not titles:
        return roots
    said = titles[-1].node.text()
    return roots if any(one.node.text().strip() in said for one in own) else [titles[-1], *roots]


def _is_title(line: Element, title: str) -> bool:
    if line.text > _MAX_TITLE or line.text != line.run or line.linked * 2 > line.text:
        return False
    said = " ".join(line.node.text().split())
    return len(said) >= _MIN_TITLE and said.lower() in title.lower()


def _with_lead(elements: list[Element], roots: list[Element], shapes: Shapes) -> list[Element]:
    """Roots of a documentation with what stands between its title and its text, such as a synopsis."""
    if len(roots) < _TITLE_AND_TEXT:
        return roots
    beside = [
        element
        for element, is_inside in _out(elements, roots)
        if not element.is_out
        and roots[0].end <= element.start < roots[-1].start
        and not is_inside
        and element.linked * 2 < element.text
        and shapes.has_content(element)
    ]
    return sorted([*roots, *beside], key=lambda element: element.start)


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
    """Take out captions that nobody needs, and give those that only names tell the element that says so."""
    for root in roots:
        for line in captions(elements, root):
            for part in (line, *line.children):
                if part.text and not is_needed(part):
                    part.take_out(Rule.CAPTION)
            if line.is_out or not line.text:
                line.take_out(Rule.CAPTION)
            elif line.tag != "figcaption":
                caption = tree.create_node("figcaption")
                for node in list(line.node.iter(include_text=True)):
                    caption.insert_child(node)
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

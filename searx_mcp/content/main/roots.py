"""The elements that contain the main content of a page."""

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from searx_mcp.content.main.class_names import BODY, signs_of
from searx_mcp.content.main.text_density import Element, live, mains
from searx_mcp.models.page import PageKind

_WHOLE: Final = frozenset({
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
            or largest.tag in _WHOLE
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

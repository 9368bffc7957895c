"""Sections that their heading gives away: more articles, sharing, comments, what buyers say.

WCXB dev F1 is .8563 with them taken out and .8555 without; run `python -m benchmarks.extraction PATH`
after changing what is here or in `phrases`.
"""

from typing import Final

from searx_mcp.content.main.measure import Element, live
from searx_mcp.content.main.phrases import (
    is_of_comments,
    is_of_references,
    is_of_reviews,
    leads_away,
)
from searx_mcp.models.page import PageKind

_LEVELS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LABEL: Final = 7
"""The level of what only looks like a heading."""

_LABELS: Final = frozenset({
    "a", "b", "div", "dt", "header", "legend", "li", "p", "span", "strong", "summary",
})  # fmt: skip
_OUTERMOST: Final = frozenset({"html", "body", "main", "article"})

_MIN_CHARS: Final = 3
_MAX_HEADING: Final = 70
_MAX_LABEL: Final = 60
_MAX_PARTS: Final = 3
"""Elements in a label."""

_MAX_SECTIONS: Final = 200
_MAX_STEPS: Final = 60
"""Bounds of the work on a page made to cost it."""

_PROSE_SHARE: Final = 0.3
_TEXT_SHARE: Final = 0.5
"""A section is at most so much of the page."""

_PROSE: Final = 600
_LINKED: Final = 0.1
"""One with more prose than this and fewer links is not what its heading says: papers have a
"Discussion", and books a "Further reading"."""

_FLAT_PROSE: Final = 80
_FLAT_LINKED: Final = 0.2
"""A paragraph of the text, which ends a section that has no element of its own."""

_SAME_LINE: Final = 70


def take_out_sections(elements: list[Element], kind: PageKind) -> list[Element]:
    """Take out sections whose heading says that they are not of the text.

    A section is the largest element that begins with the heading, or else the siblings that follow it
    up to the next heading.

    Returns:
        What was taken out, in order.
    """
    page = elements[0]
    taken: list[Element] = []
    found = 0
    for element in live(elements):
        level = _level(element, kind)
        if level and _is_away(element.node.text(), kind):
            found += 1
            if found > _MAX_SECTIONS:
                break
            taken += [part for part in _section(element, level, page, kind) if part.take_out()]
    return taken


def _level(element: Element, kind: PageKind) -> int:
    """The level of a heading, or of what looks like one; 0 for anything else."""
    level = _LEVELS.get(element.tag, 0)
    if level:
        return level if _MIN_CHARS <= element.text <= _MAX_HEADING else 0
    if kind in {PageKind.FORUM, PageKind.LISTING} or element.tag not in _LABELS:
        return 0
    is_label = _MIN_CHARS < element.text <= _MAX_LABEL and element.elements <= _MAX_PARTS
    return _LABEL if is_label else 0


def _is_away(heading: str, kind: PageKind) -> bool:
    return (
        (leads_away(heading) and not (kind is PageKind.DOCUMENTATION and is_of_references(heading)))
        or (kind is not PageKind.FORUM and is_of_comments(heading))
        or (kind is PageKind.PRODUCT and is_of_reviews(heading))
    )


def _section(heading: Element, level: int, page: Element, kind: PageKind) -> list[Element]:
    section, is_line = _around(heading, page)
    has_own = section.text >= heading.text + _MIN_CHARS
    if level == _LABEL and (is_line or not has_own):
        return []
    if not has_own:
        following = _following(section, level, page)
        # On other pages, what has prose behind "You may also like" is cards.
        is_of_text = kind is PageKind.DOCUMENTATION and len(following) == 1
        return [] if is_of_text else following
    is_prose = section.prose >= _PROSE and section.linked < _LINKED * section.text
    return [] if is_prose or section.prose > _PROSE_SHARE * page.prose else [section]


def _around(heading: Element, page: Element) -> tuple[Element, bool]:
    """The largest element that begins with a heading; whether the heading is part of a line."""
    section = heading
    is_line = False
    while (parent := section.parent) is not None and _may_be_section(parent, section, page):
        section = parent
        # The cells of a table are short, and none is the first words of it.
        most = heading.text if section.tag in {"td", "th"} else _SAME_LINE
        is_line = is_line or section.run > most
    return section, is_line


def _may_be_section(parent: Element, child: Element, page: Element) -> bool:
    return (
        parent.tag not in _OUTERMOST
        and parent.prose <= _PROSE_SHARE * page.prose
        and parent.text < _TEXT_SHARE * page.text
        and _is_first(parent, child)
    )


def _is_first(parent: Element, child: Element) -> bool:
    for count, other in enumerate(parent.children):
        if other is child:
            return True
        if (other.text and not other.is_out) or count > _MAX_STEPS:
            return False
    return False


def _following(heading: Element, level: int, page: Element) -> list[Element]:
    if heading.parent is None:
        return []
    siblings = heading.parent.children
    section = [heading]
    for element in siblings[siblings.index(heading) + 1 :]:
        if element.is_out:
            continue
        is_paragraph = element.prose > _FLAT_PROSE and (
            element.linked < _FLAT_LINKED * element.text
        )
        if is_paragraph or 0 < _first_level(element) <= level:
            break
        section.append(element)
    is_small = (
        sum(part.prose for part in section) <= _PROSE_SHARE * page.prose
        and sum(part.text for part in section) < _TEXT_SHARE * page.text
    )
    return section if is_small else []


def _first_level(element: Element) -> int:
    """The level of the heading that an element begins with; 0 if it begins with something else."""
    for _ in range(_MAX_STEPS):
        if element.tag in _LEVELS:
            return _LEVELS[element.tag]
        begin = next((child for child in element.children if child.text and not child.is_out), None)
        if begin is None:
            return 0
        element = begin
    return 0

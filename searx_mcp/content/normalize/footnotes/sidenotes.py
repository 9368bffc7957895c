"""Notes that stand in the text itself, beside what they belong to."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.elements import (
    ancestors,
    classes,
    has_text,
    is_attached,
    is_blank,
    move_children,
    neighbour,
    new,
)
from searx_mcp.content.normalize.footnotes.build import Builder
from searx_mcp.content.normalize.names import NOTES, REFERENCE

SIDENOTES: Final = "span[class]:is(.sidenote,.marginnote,.ltx_note),small.sidenote,aside.sidenote"
"""Notes beside the text, by the names that Tufte's style and LaTeXML give them."""

TOGGLES: Final = "label:is(.margin-toggle,.sidenote-toggle,.sidenote-number)"
"""What unfolds such a note on narrow screens."""

_NUMBERS: Final = ".sidenote-number,.ltx_note_mark,.ltx_tag_note,.ltx_note_type,.footnote-number,.sidenote__number"
_LABELS: Final = frozenset({"label", "input", "sup", "a", "button"})
_PLACES: Final = frozenset(
    {"p", "table", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "figure"}
)
_HOLDERS: Final = frozenset(
    {"li", "div", "dd", "section", "article", "main", "body", "td", "aside"}
)
_NUMBER = re.compile(r"\s*\[?(\d{1,3})\]?[.:]?\s*")
_MAX_SIDENOTES: Final = 5_000
_MAX_MARKS: Final = 4


def standardise_sidenotes(tree: LexborHTMLParser, builder: Builder) -> None:
    """Put a reference in the place of every note beside the text, and the note behind its paragraph.

    A sidenote behind a reference whose note stands below is its copy, and taken out.
    """
    toggled = (_toggled(label) for label in tree.css(TOGGLES)[:_MAX_SIDENOTES])
    for side in [*filter(None, toggled), *tree.css(SIDENOTES)[:_MAX_SIDENOTES]]:
        if not is_attached(side) or not has_text(side):
            continue
        marks = _marks(side)
        if any(mark.tag == REFERENCE for mark in marks):
            side.decompose()
            continue
        _rewrite(tree, builder, side, marks)


def _toggled(label: LexborNode) -> LexborNode | None:
    """The note that a label unfolds on narrow screens, as in Tufte's style."""
    node = neighbour(label, forward=True)
    if node is not None and node.tag == "input":
        node = neighbour(node, forward=True)
    return node if node is not None and node.tag in {"span", "small", "aside"} else None


def _marks(side: LexborNode) -> list[LexborNode]:
    """The labels, boxes and references right before a sidenote."""
    found: list[LexborNode] = []
    node = neighbour(side, forward=False)
    while (
        node is not None
        and (node.tag in _LABELS or node.tag == REFERENCE)
        and len(found) < _MAX_MARKS
    ):
        found.append(node)
        node = neighbour(node, forward=False)
    return found


def _rewrite(
    tree: LexborHTMLParser, builder: Builder, side: LexborNode, marks: list[LexborNode]
) -> None:
    if "ltx_role_footnotemark" in classes(side):
        return
    content = side.css_first(".ltx_note_content") or side
    number = _take_number(content)
    for mark in marks:
        match = _NUMBER.fullmatch(mark.text())
        if mark.text().strip() and match is None:
            continue
        number = number or (match[1] if match else "")
        mark.decompose()
    if not has_text(content):
        return
    name = builder.name(number)
    side.insert_before(new(tree, REFERENCE, name=name), move=True)
    note = builder.note(name)
    move_children(content, note)
    _notes_behind(tree, side).insert_child(note, move=True)
    side.decompose()


def _take_number(content: LexborNode) -> str:
    """Take the number out of the beginning of a sidenote."""
    found = ""
    for mark in content.css(_NUMBERS):
        if is_attached(mark):
            match = _NUMBER.fullmatch(mark.text())
            found = found or (match[1] if match else "")
            mark.decompose()
    first = content.first_child
    while first is not None and is_blank(first):
        first = first.next
    if first is not None and first.tag == "sup" and (match := _NUMBER.fullmatch(first.text())):
        found = found or match[1]
        first.decompose()
    return found


def _notes_behind(tree: LexborHTMLParser, side: LexborNode) -> LexborNode:
    """The notes behind the paragraph of a sidenote; at the end of what holds it if there is none."""
    place, is_inside = side, False
    for around in ancestors(side, 32):
        if around.tag in _PLACES:
            place, is_inside = around, False
        elif around.tag in _HOLDERS and place is side and "with-aside" not in classes(around):
            place, is_inside = around, True
            break
    if is_inside:
        last = place.last_child
        if last is not None and last.tag == NOTES:
            return last
        notes = new(tree, NOTES)
        place.insert_child(notes, move=True)
        return notes
    after = neighbour(place, forward=True)
    if after is not None and after.tag == NOTES:
        return after
    notes = new(tree, NOTES)
    place.insert_after(notes, move=True)
    return notes

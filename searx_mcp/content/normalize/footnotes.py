"""Footnotes, however pages write them: linked, recognised by number alone, or as sidenotes."""

import re
from collections.abc import Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.footnote_links import linked_notes
from searx_mcp.content.normalize.footnote_writing import Builder, ReferencedNote, is_note_heading
from searx_mcp.content.tree import (
    HEADINGS,
    NOTE,
    NOTES,
    REFERENCE,
    Dialect,
    Removals,
    ancestors,
    classes,
    first_solid,
    has_text,
    is_attached,
    move_children,
    neighbour,
    new,
    short_text,
    text_of,
)

_NUMBER = re.compile(r"\[?(\d{1,3})\]?\.?")
_BOLD: Final = "p > strong:first-child,p > b:first-child"
_BLOCKS: Final = frozenset({"p", "div", "li", "dd", "aside", "section"})
_LISTS: Final = '[class*="footnote" i] ol,[class*="endnote" i] ol,[id*="footnote" i] ol,aside ol'
_CONTINUED: Final = frozenset({"ul", "ol", "blockquote", "pre", "p", "table"})
_MAX_NUMBERS: Final = 5_000
_MAX_CONTINUED: Final = 12
_WORD_CHARS: Final = 40
_SHORTEST: Final = 2
"""Letters of a unit: a raised number after one is an exponent."""

_START = re.compile(r"[0-9]{1,4}")
"""The number of the first item of a list."""

_TOGGLES: Final = ":is(.margin-toggle,.sidenote-toggle,.sidenote-number)"
_SIDENOTES: Final[Mapping[str, str]] = {
    "span": "[class]:is(.sidenote,.marginnote,.ltx_note)",
    "small": ".sidenote",
    "aside": ".sidenote",
}
"""Sidenotes, by the class names in Tufte CSS and LaTeXML."""

_SIDES: Final = ",".join(
    f"{name}{mark},label{_TOGGLES} + {name},label{_TOGGLES} + input + {name}"
    for name, mark in _SIDENOTES.items()
)
"""Elements that unfold labels on narrow screens."""

_NUMBERS: Final = ".sidenote-number,.ltx_note_mark,.ltx_tag_note,.ltx_note_type,.footnote-number,.sidenote__number"
_LABELS: Final = frozenset({"label", "input", "sup", "a", "button"})
_PLACES: Final = HEADINGS | {"p", "table", "blockquote", "dl", "figure"}
_HOLDERS: Final = frozenset(
    {"li", "div", "dd", "section", "article", "main", "body", "td", "aside"}
)
_SIDE_NUMBER = re.compile(r"\s*\[?(\d{1,3})\]?[.:]?\s*")
_MAX_SIDENOTES: Final = 5_000
_MAX_MARKS: Final = 4


def _normalize_footnotes(tree: LexborHTMLParser, _: Removals) -> None:
    """Rewrite references and notes.

    A note keeps its number or letter from the page as its name; the text of the number and the links back are
    removed. Only text with references becomes a note: everything else stays as it is.

    Args:
        tree: without hidden elements: a note is moved out of what may hide it.
    """
    builder = Builder(tree)
    for note in linked_notes(tree):
        builder.add(note)
    for note in _loose_notes(tree):
        builder.add(note)
    _rewrite_sidenotes(tree, builder)
    builder.finish()


FOOTNOTES: Final = Dialect(
    {
        **_SIDENOTES,
        "a": ':is([href*="#"],[class*="footnoteref"])',
        "label": ":is(.margin-toggle,.sidenote-toggle,.sidenote-number,.footref[for])",
        "sup": "",
    },
    _normalize_footnotes,
)


def _loose_notes(tree: LexborHTMLParser) -> list[ReferencedNote]:
    """Notes that begin with a raised or bold number that is also raised earlier in the text.

    A raised number alone may be an exponent: a paragraph must begin with it, and all paragraphs of a group must
    have references.
    """
    raised = tree.css("sup")[:_MAX_NUMBERS]
    if not raised:
        return []
    references: dict[int, list[LexborNode]] = {}
    starting: list[tuple[int, LexborNode]] = []
    for mark in [*raised, *tree.css(_BOLD)[:_MAX_NUMBERS]]:
        match = _NUMBER.fullmatch(mark.text().strip())
        if match is None or mark.css_first("a[href]") is not None or not is_attached(mark):
            continue
        block = _begun_by(mark)
        if block is not None:
            starting.append((int(match[1]), block))
        elif mark.tag == "sup" and _follows_words(mark):
            references.setdefault(int(match[1]), []).append(mark)
    if not references:
        return []
    return [*_listed(tree, references), *_grouped(starting, references)]


def _begun_by(mark: LexborNode) -> LexborNode | None:
    """The block that begins with a mark."""
    node = mark
    for around in ancestors(mark, 4):
        if neighbour(node, forward=False) is not None:
            return None
        if around.tag in _BLOCKS:
            return None if short_text(around, len(text_of(mark)) + 2) else around
        node = around
    return None


def _follows_words(mark: LexborNode) -> bool:
    """Whether a mark follows a word or its full stop, as opposed to a number or a unit."""
    node: LexborNode | None = mark
    for _ in range(3):
        before = neighbour(node, forward=False) if node is not None else None
        if before is not None:
            word = before.text().rstrip()[-_WORD_CHARS:].rpartition(" ")[2]
            return len(word) > _SHORTEST and not word[-1].isdigit()
        node = node.parent if node is not None else None
        if node is None or node.tag in _BLOCKS:
            return False
    return False


def _grouped(
    starting: list[tuple[int, LexborNode]], references: dict[int, list[LexborNode]]
) -> list[ReferencedNote]:
    by_parent: dict[int, list[tuple[int, LexborNode]]] = {}
    for number, block in starting:
        parent = block.parent
        if parent is not None:
            by_parent.setdefault(parent.mem_id, []).append((number, block))
    found: list[ReferencedNote] = []
    for group in by_parent.values():
        numbers = [number for number, _ in group]
        known = [number in references for number in numbers]
        if numbers != sorted(set(numbers)) or not all(known):
            continue
        starts = {block.mem_id for _, block in group}
        for at, (number, block) in enumerate(group):
            is_last = at == len(group) - 1
            parts = [
                block,
                *_continued(block, starts, is_last=is_last or "footnote" in classes(block)),
            ]
            found.append(ReferencedNote(str(number), parts, references.pop(number)))
    return found


def _continued(block: LexborNode, starts: set[int], *, is_last: bool) -> list[LexborNode]:
    """The rest of a note after its first paragraph: everything up to the next note, or a list after the last."""
    found: list[LexborNode] = []
    node = neighbour(block, forward=True)
    while node is not None and len(found) <= _MAX_CONTINUED:
        if node.mem_id in starts:
            return found
        if not node.is_element_node or node.tag not in _CONTINUED:
            break
        if is_last and node.tag not in {"ul", "ol"}:
            break
        found.append(node)
        node = neighbour(node, forward=True)
    return found if is_last and len(found) == 1 and "footnote" not in classes(block) else []


def _listed(
    tree: LexborHTMLParser, references: dict[int, list[LexborNode]]
) -> list[ReferencedNote]:
    """Numbered lists of notes whose numbers all have references."""
    found: list[ReferencedNote] = []
    lists = {listed.mem_id: listed for listed in tree.css(_LISTS)[:500]}
    for heading in tree.css("h1,h2,h3,h4,h5,h6")[:2_000]:
        if is_note_heading(short_text(heading, 80)):
            below = neighbour(heading, forward=True)
            if below is not None and below.tag == "ol":
                lists.setdefault(below.mem_id, below)
    for listed in lists.values():
        start = listed.attributes.get("start") or "1"
        first = int(start) if _START.fullmatch(start) else 1
        items = [item for item in listed.iter() if item.tag == "li"]
        numbers = range(first, first + len(items))
        if not items or not all(number in references for number in numbers):
            continue
        if any(_is_inside(mark, listed) for number in numbers for mark in references[number]):
            continue
        for number, item in zip(numbers, items, strict=True):
            found.append(ReferencedNote(str(number), [item], references.pop(number)))
    return found


def _is_inside(node: LexborNode, around: LexborNode) -> bool:
    return any(each.mem_id == around.mem_id for each in ancestors(node, 32))


def _rewrite_sidenotes(tree: LexborHTMLParser, builder: Builder) -> None:
    """Replace every sidenote by a reference, and put the note after its paragraph.

    A sidenote directly after a reference is a copy of its note further down, and removed.
    """
    for side in filter(is_attached, tree.css(_SIDES)[:_MAX_SIDENOTES]):
        if not has_text(side):
            continue
        marks = _marks(side)
        if any(mark.tag == REFERENCE for mark in marks):
            side.decompose()
        else:
            _rewrite(tree, builder, side, marks)


def _marks(side: LexborNode) -> list[LexborNode]:
    """The labels, boxes and references directly before a sidenote."""
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
        match = _SIDE_NUMBER.fullmatch(mark.text())
        if mark.text().strip() and match is None:
            continue
        number = number or (match[1] if match else "")
        mark.decompose()
    if not has_text(content):
        return
    name = builder.name(number)
    side.insert_before(new(tree, REFERENCE, name=name), move=True)
    note = new(tree, NOTE, name=name)
    move_children(content, note)
    _notes_behind(tree, side).insert_child(note, move=True)
    side.decompose()


def _take_number(content: LexborNode) -> str:
    """Remove the number at the start of a sidenote, and return it."""
    found = ""
    for mark in filter(is_attached, content.css(_NUMBERS)):
        match = _SIDE_NUMBER.fullmatch(mark.text())
        found = found or (match[1] if match else "")
        mark.decompose()
    first = first_solid(content)
    if first is not None and first.tag == "sup" and (match := _SIDE_NUMBER.fullmatch(first.text())):
        found = found or match[1]
        first.decompose()
    return found


def _notes_behind(tree: LexborHTMLParser, side: LexborNode) -> LexborNode:
    """The notes after the paragraph of a sidenote; at the end of its container if there is no paragraph."""
    place, is_inside = side, False
    for around in ancestors(side, 32):
        if around.tag in _PLACES:
            place = around
        elif around.tag in _HOLDERS and place is side and "with-aside" not in classes(around):
            place, is_inside = around, True
            break
    notes = place.last_child if is_inside else neighbour(place, forward=True)
    if notes is None or notes.tag != NOTES:
        notes = new(tree, NOTES)
        (place.insert_child if is_inside else place.insert_after)(notes, move=True)
    return notes

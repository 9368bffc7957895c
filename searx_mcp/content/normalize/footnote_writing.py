"""Footnotes: the words that mark them, their references, and both in the common form."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.tree import (
    MATH,
    NOTE,
    NOTES,
    REFERENCE,
    TASK,
    ancestors,
    children,
    classes,
    few,
    is_attached,
    is_blank,
    move_children,
    neighbour,
    new,
    put_in_place,
    short_text,
    solid,
)

_LABEL: Final = re.compile(
    r"[\[({^]*\s*((?:(?:note|nb|n|fn|ref|efn|lower-alpha)\.?\s?)?\d{1,4}|[a-z]{1,2}|[ivxl]{1,6}|[*†‡§¶‖#]{1,4})\s*[\])}.:]*",
    re.IGNORECASE,
)
_CLEAN = re.compile(r"[^A-Za-z0-9_-]+")
LABEL_CHARS: Final = 24
"""Characters of a text that may be a label."""

_SAYS_NOTE: Final = re.compile(
    r"foot-?note|end-?note|(?:^|[^a-z])(?:fn|ftnt?|note|notes|cite_note|cite|reflist|bib|biblio[a-z]*|noteref"
    r"|references?|ref|footref|fnref|sidenote)(?:[^a-z]|$|\d)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:foot|end)?notes?(?: (?:and|&) (?:references|citations|sources))?|references?(?: (?:and|&) notes)?|citations"
    r"|sources|works cited|bibliography|fußnoten|anmerkungen|einzelnachweise|notas|notes et références"
    r"|références|referencias|note|примечания|脚注|参考文献|注释",
    re.IGNORECASE,
)

_RAISED: Final = frozenset(
    {"sup", "span", "small", "a", "cite", "font", "b", "strong", "em", "i", "nobr"}
)
_HOLDERS: Final = frozenset({"ol", "ul", "dl", "p"})
"""Elements whose items or lines were the notes; the notes are put before them."""
_UNWRAPPED: Final = frozenset({"li", "div", "dd", "td", "aside", "section", "table"})
_SHOWN: Final = f"img,{MATH},{TASK},{REFERENCE},video,audio,iframe,hr"
"""Elements that a note may consist of without any text."""

_JUMPS: Final = ".mw-cite-backlink,.footnote-backref,.data-footnote-backref"
_BACK = re.compile(
    r"back-?(?:ref|link|to)|reversefootnote|to-top|footnote-?back|return|jump-?back|fn-?return"
)
_ARROWS: Final = " \t\n\r^↩↑⤴⏎⇑▲△←↵⮐⬑↖\ufe0e\ufe0f\xa0"
_PUNCTUATION: Final = "[](){},;\u2013-\u2014 \t\n\r\xa0"
_LABEL_ENDS: Final = "])}.:"
"""A number without one of these is part of the text."""

_LEFT_OVER = re.compile(r"\A\s*(?:\[\]|[\])}.:])?\s+|\A\s+")
"""White space, with the rest of the brackets around a label that was a link back."""

_HIDDEN_TITLES: Final = frozenset(
    {"sr-only", "visually-hidden", "screen-reader-text", "visuallyhidden"}
)
_FEW: Final = 40
"""Most children of an element that may only raise and bracket references."""

_TITLE_CHARS: Final = 40


@dataclass(slots=True)
class ReferencedNote:
    """A note with references.

    Attributes:
        label: a number, a letter or a sign, as on the page.
        parts: the siblings it consists of, in order; its text is their content.
        references: the elements that refer to it, in order.
        ids: of the references; a link to one leads back.
    """

    label: str
    parts: list[LexborNode]
    references: list[LexborNode]
    ids: set[str] = field(default_factory=set)


def label_of(text: str) -> str:
    """The label in a text, without brackets; empty if the text is not a label."""
    if len(text) > LABEL_CHARS:
        return ""
    match = _LABEL.fullmatch(text.strip())
    return " ".join(match[1].split()) if match else ""


def says_note(node: LexborNode, most: int) -> bool:
    """Whether the class, id or role of an element or of one of its ancestors marks notes."""
    for around in (node, *ancestors(node, most)):
        attributes = around.attributes
        words = [*classes(around)[:8], attributes.get("id") or "", attributes.get("role") or ""]
        words += [attributes.get("epub:type") or "", attributes.get("data-type") or ""]
        if any(word and _SAYS_NOTE.search(word) for word in words):
            return True
    return False


def is_note_heading(text: str) -> bool:
    """Whether a heading is one for notes."""
    return len(text) <= 3 * LABEL_CHARS and _HEADING.fullmatch(text.strip().rstrip(":")) is not None


def label_end(text: str, label: str) -> int:
    """The end of a label with its brackets and white space at the start of a text; 0 if there is none."""
    inside = text.lstrip().lstrip("[({^").lstrip()
    if not inside.lower().startswith(label.lower()):
        return 0
    rest = inside[len(label) :]
    if rest[:1].isalnum() or rest[:1] == "_":
        return 0
    return len(text) - len(rest.lstrip().lstrip("])}.:").lstrip())


class Builder:
    """Writes notes into a tree; every name is used once.

    Args:
        tree: the tree.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._taken: set[str] = set()
        self._given: Counter[str] = Counter()
        self._lists: dict[int, LexborNode] = {}

    def add(self, note: ReferencedNote) -> None:
        """Replace the elements that refer to a note by references, and write the note in the common form."""
        name = self.name(note.label)
        for reference in filter(is_attached, note.references):
            made = new(self._tree, REFERENCE, name=name)
            put_in_place(reference, made)
            _take_brackets(made)
        self._write(note, name)

    def name(self, label: str) -> str:
        """A unique name for a note: its label, or a number."""
        name = base = _CLEAN.sub("-", label).strip("-")
        while not name or name in self._taken:
            # The last number is remembered: counting from one would be quadratic.
            self._given[base] += 1
            count = self._given[base]
            name = f"{base}-{count + 1}" if base else str(count)
        self._taken.add(name)
        return name

    def finish(self) -> None:
        """Remove lists that have no items left."""
        for listed in self._lists.values():
            if is_attached(listed) and not solid(listed):
                listed.decompose()

    def _write(self, note: ReferencedNote, name: str) -> None:
        place = note.parts[0]
        block = place.parent
        if block is not None and block.tag in _HOLDERS:
            place = block
            self._lists[block.mem_id] = block
        notes = neighbour(place, forward=False)
        if notes is None or notes.tag != NOTES:
            before, notes = notes, new(self._tree, NOTES)
            place.insert_before(notes, move=True)
            _drop_title(before)
        made = new(self._tree, NOTE, name=name)
        notes.insert_child(made, move=True)
        for part in note.parts:
            if part.is_element_node and part.tag in _UNWRAPPED:
                cells = part.css("td") if part.tag == "table" else []
                move_children(cells[-1] if cells else part, made)
                term = neighbour(part, forward=False) if part.tag == "dd" else None
                if term is not None and term.tag == "dt":
                    term.decompose()  # its label
                part.decompose()
            elif is_attached(part):
                made.insert_child(part, move=True)
        for jump in made.css(_JUMPS):
            jump.decompose()
        for link in made.css("a"):
            if is_attached(link) and _is_back(link, note.ids):
                before, after = link.prev, link.next
                link.decompose()
                _unbracket(before, after)
        _trim(made)
        _take_label(made, note.label, is_item=place is block)
        _trim(made)


def _trim(made: LexborNode) -> None:
    """Remove the line breaks and empty elements at the start and end of a note."""
    for nodes in (children(made), children(made)[::-1]):
        for node in filter(is_attached, nodes):
            if not (is_blank(node) or node.tag == "br" or _is_nothing(node)):
                break
            node.decompose()
    first = _first_text(made)
    if first is not None:
        first.replace_with(_LEFT_OVER.sub("", first.text_content or ""))


def _is_nothing(node: LexborNode) -> bool:
    is_said = node.text().strip(_PUNCTUATION) or node.css_first(_SHOWN) is not None
    return node.is_element_node and not is_said


def _take_brackets(made: LexborNode) -> None:
    """Remove elements that only raise a reference, and the brackets and commas around references."""
    while (parent := made.parent) is not None and parent.tag in _RAISED:
        inside = few(parent, _FEW)
        others = [node for node in inside if node.tag != REFERENCE]
        if not inside or any(node.text().strip(_PUNCTUATION) for node in others):
            break
        for node in children(parent):
            if node.tag != REFERENCE:
                node.decompose()
        parent.unwrap()
    _unbracket(made.prev, made.next)


def _unbracket(before: LexborNode | None, after: LexborNode | None) -> None:
    """Remove the brackets between two texts."""
    if before is None or after is None or not before.is_text_node or not after.is_text_node:
        return
    left, right = before.text_content or "", after.text_content or ""
    if left[-1:] + right[:1] in {"[]", "()"}:
        before.replace_with(left[:-1])
        after.replace_with(right[1:])


def _is_back(link: LexborNode, ids: set[str]) -> bool:
    attributes = link.attributes
    _, _, fragment = (attributes.get("href") or "").partition("#")
    text = link.text()
    if fragment and fragment in ids:
        return len(text.strip()) <= LABEL_CHARS
    words = " ".join(
        [*classes(link), (attributes.get("rel") or ""), (attributes.get("role") or "")]
    )
    if _BACK.search(words.lower()):
        return True
    is_arrow = not text.strip(_ARROWS) and link.css_first("img") is None
    return is_arrow and ("#" in (attributes.get("href") or "#"))


def _take_label(made: LexborNode, label: str, *, is_item: bool) -> None:
    """Remove the label at the start of a note."""
    text = _first_text(made)
    said = (text.text_content or "") if text is not None else ""
    end = label_end(said, label)
    if text is None:
        return
    if label_of(said).lower() == label.lower():
        text.decompose()
    elif end and said[:end].rstrip()[-1:] in _LABEL_ENDS and not is_item:
        text.replace_with(said[end:])


def _first_text(node: LexborNode) -> LexborNode | None:
    parts = node.traverse(include_text=True)
    return next((part for part in parts if part.is_text_node and not is_blank(part)), None)


def _drop_title(before: LexborNode | None) -> None:
    """Remove the rule or the title for screen readers before notes."""
    if before is None:
        return
    is_hidden = not _HIDDEN_TITLES.isdisjoint(classes(before))
    if before.tag == "hr" or (is_hidden and short_text(before, _TITLE_CHARS)):
        before.decompose()

"""A footnote: the words by which it is known, what refers to it, and both in the common form."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.tree import (
    MATH,
    NOTE,
    NOTES,
    REFERENCE,
    TASK,
    ancestors,
    children,
    classes,
    few,
    has_text,
    is_alone,
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
_NAME_CHARS: Final = 40
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
_LISTS: Final = frozenset({"ol", "ul", "dl"})
_UNWRAPPED: Final = frozenset({"li", "div", "dd", "td", "aside", "section", "table"})
_SHOWN: Final = f"img,{MATH},{TASK},{REFERENCE},video,audio,iframe,hr"
"""What a note may consist of without any text."""

_BACK = re.compile(
    r"back-?(?:ref|link|to)|reversefootnote|to-top|footnote-?back|return|jump-?back|fn-?return"
)
_ARROWS: Final = " \t\n\r^↩↑⤴⏎⇑▲△←↵⮐⬑↖\ufe0e\ufe0f\xa0"
_PUNCTUATION: Final = "[](){},;\u2013-\u2014 \t\n\r\xa0"
_LABEL_ENDS: Final = "])}.:"
"""Without one of these a number is a part of the text."""

_LEFT_OVER = re.compile(r"\A\s*(?:\[\]|[\])}.:])?\s+|\A\s+")
"""White space, with what stood around a label that was a link back."""

_AFTER_LABEL = re.compile(r"\A[\s\xa0]*[\])}.:]*[\s\xa0]*")
_HIDDEN_TITLES: Final = frozenset(
    {"sr-only", "visually-hidden", "screen-reader-text", "visuallyhidden"}
)
_DEEP: Final = 8
_FEW: Final = 40
"""Children of an element that may do nothing but raise and bracket references."""

_TITLE_CHARS: Final = 40


@dataclass(slots=True)
class Note:
    """A note that something refers to.

    Attributes:
        label: what the page calls it: a number, a letter or a sign.
        parts: the siblings it consists of, in order; what stands in them is its text.
        references: the elements that refer to it, in order.
        ids: of what refers to it; a link to one leads back.
    """

    label: str
    parts: list[LexborNode]
    references: list[LexborNode]
    ids: set[str] = field(default_factory=set)


def label_of(text: str) -> str:
    """The name that a text gives a note, without brackets; empty if it is no label."""
    if len(text) > LABEL_CHARS:
        return ""
    match = _LABEL.fullmatch(text.strip())
    return " ".join(match[1].split()) if match else ""


def clean_name(label: str) -> str:
    """A label as a name of a note in Markdown; empty if nothing is left of it."""
    return _CLEAN.sub("-", label).strip("-")[:_NAME_CHARS]


def says_note(node: LexborNode, most: int) -> bool:
    """Tell whether an element or one of those around it says by its class, id or role that it is of notes."""
    for around in (node, *ancestors(node, most)):
        attributes = around.attributes
        words = [*classes(around)[:8], attributes.get("id") or "", attributes.get("role") or ""]
        words += [attributes.get("epub:type") or "", attributes.get("data-type") or ""]
        if any(word and _SAYS_NOTE.search(word) for word in words):
            return True
    return False


def is_note_heading(text: str) -> bool:
    """Tell whether a heading is one over notes."""
    return len(text) <= 3 * LABEL_CHARS and _HEADING.fullmatch(text.strip().rstrip(":")) is not None


def label_end(text: str, label: str) -> int:
    """Where a label with its brackets and white space ends that a text begins with; 0 if it has none."""
    inside = text.lstrip().lstrip("[({^").lstrip()
    if not inside.lower().startswith(label.lower()):
        return 0
    rest = inside[len(label) :]
    if rest[:1].isalnum() or rest[:1] == "_":
        return 0
    return len(text) - len(rest.lstrip().lstrip("])}.:").lstrip())


class Builder:
    """Writes notes into a tree; every name is given once.

    Args:
        tree: the tree.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._taken: set[str] = set()
        self._given: Counter[str] = Counter()
        self._after: dict[int, LexborNode] = {}
        self._emptied: list[LexborNode] = []

    def add(self, note: Note) -> None:
        """Put references in the place of what refers to a note, and the note in its form."""
        name = self.name(note.label)
        for reference in note.references:
            if is_attached(reference):
                self._refer(reference, name)
        self._write(note, name)

    def name(self, label: str) -> str:
        """A name for a note that no other one has: its label, or a number."""
        base = clean_name(label)
        name = base
        while not name or name in self._taken:
            # What was given last is remembered: to count from one would be quadratic.
            self._given[base] += 1
            count = self._given[base]
            name = f"{base}-{count + 1}" if base else str(count)
        self._taken.add(name)
        return name

    def note(self, name: str) -> LexborNode:
        """An empty note that stands nowhere yet."""
        return new(self._tree, NOTE, name=name)

    def _group(self, place: LexborNode) -> LexborNode:
        """The notes in front of an element, or new ones there."""
        before = neighbour(place, forward=False)
        if before is not None and before.tag == NOTES:
            return before
        notes = new(self._tree, NOTES)
        place.insert_before(notes, move=True)
        _drop_title(before)
        return notes

    def finish(self) -> None:
        """Take out lists that have no items left."""
        for listed in self._emptied:
            if is_attached(listed) and not solid(listed):
                listed.decompose()

    def _refer(self, reference: LexborNode, name: str) -> None:
        place = _whole(reference)
        made = new(self._tree, REFERENCE, name=name)
        put_in_place(place, made)
        _take_brackets(made)

    def _write(self, note: Note, name: str) -> None:
        made = self.note(name)
        first = note.parts[0]
        block = first.parent
        is_cut = block is not None and block.tag == "p"
        self._place(block if is_cut and block is not None else first).insert_child(made, move=True)
        _take_back_links(note)
        _take_label(note)
        for part in note.parts:
            if not is_attached(part):
                continue
            if part.is_element_node and part.tag in _UNWRAPPED:
                move_children(_content(part), made)
                _leave(part)
            else:
                made.insert_child(part, move=True)
        _trim(made)
        if is_cut and block is not None and not has_text(block):
            block.decompose()

    def _place(self, part: LexborNode) -> LexborNode:
        """The notes that a note belongs to, behind its list or where it stood."""
        listed = part.parent
        if listed is None or listed.tag not in _LISTS:
            return self._group(part)
        if listed.mem_id not in self._after:
            notes = new(self._tree, NOTES)
            listed.insert_after(notes, move=True)
            self._after[listed.mem_id] = notes
            self._emptied.append(listed)
            _drop_title(neighbour(listed, forward=False))
        return self._after[listed.mem_id]


def _leave(part: LexborNode) -> None:
    """Take out what a note stood in, with the term that was its label."""
    term = neighbour(part, forward=False) if part.tag == "dd" else None
    if term is not None and term.tag == "dt":
        term.decompose()
    part.decompose()


def _trim(made: LexborNode) -> None:
    """Take out the line breaks and empty elements that a note begins and ends with."""
    for nodes in (children(made), children(made)[::-1]):
        for node in nodes:
            if not is_attached(node):
                continue
            if not (is_blank(node) or node.tag == "br" or _is_nothing(node)):
                break
            node.decompose()
    first = _first_text(made)
    if first is not None and (said := first.text_content or "") != (
        rest := _LEFT_OVER.sub("", said)
    ):
        first.replace_with(rest)


def _is_nothing(node: LexborNode) -> bool:
    return node.is_element_node and not node.text().strip() and node.css_first(_SHOWN) is None


def _whole(reference: LexborNode, *, up_to: LexborNode | None = None) -> LexborNode:
    """A reference with what only raises or brackets it."""
    place = reference
    for around in ancestors(reference, _DEEP):
        if around.tag not in _RAISED or (up_to is not None and around.mem_id == up_to.mem_id):
            break
        others = [node for node in few(around, _FEW) if node.mem_id != place.mem_id]
        if not others and not is_alone(place):
            break
        if any(map(_says_more, others)):
            break
        place = around
    return place


def _take_brackets(made: LexborNode) -> None:
    """Take out the brackets and commas that stood around references."""
    parent = made.parent
    if parent is None:
        return
    if parent.tag in _RAISED:
        inside = few(parent, _FEW)
        texts = [node for node in inside if node.is_text_node]
        links = [node for node in inside if node.is_element_node and node.tag != REFERENCE]
        if inside and not links and not any(map(_says_more, texts)):
            for node in texts:
                node.decompose()
            parent.unwrap()
        return
    before, after = made.prev, made.next
    if before is None or after is None or not before.is_text_node or not after.is_text_node:
        return
    left, right = before.text_content or "", after.text_content or ""
    if left.endswith("[") and right.startswith("]"):
        _cut(before, left[:-1])
        _cut(after, right[1:])


def _says_more(node: LexborNode) -> bool:
    """Tell whether a node is a reference itself, or says something beside brackets and commas."""
    if node.is_text_node:
        return bool((node.text_content or "").strip(_PUNCTUATION))
    return node.is_element_node and (has_text(node) or node.tag == REFERENCE)


def _cut(text: LexborNode, rest: str) -> None:
    if rest:
        text.replace_with(rest)
    else:
        text.decompose()


def _take_back_links(note: Note) -> None:
    for part in note.parts:
        if not part.is_element_node:
            continue
        for jump in part.css(".mw-cite-backlink,.footnote-backref,.data-footnote-backref"):
            jump.decompose()
        for link in [part] if part.tag == "a" else part.css("a"):
            if is_attached(link) and _is_back(link, note.ids):
                _take(link, part)


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


def _take(node: LexborNode, part: LexborNode) -> None:
    """Take out an element with what only raises or brackets it."""
    place = _whole(node, up_to=part)
    if place.mem_id != part.mem_id:
        place.decompose()
    else:
        node.decompose()


def _take_label(note: Note) -> None:
    """Take out the label that a note begins with."""
    for index, part in enumerate(note.parts[:2]):
        if not is_attached(part) or is_blank(part):
            continue
        text = _first_text(part)
        if text is None:
            continue
        said = text.text_content or ""
        if label_of(said) and label_of(said).lower() == note.label.lower():
            _take_text(text, part)
            return
        end = label_end(said, note.label)
        if end and said[:end].rstrip()[-1:] in _LABEL_ENDS and part.tag != "li":
            text.replace_with(said[end:])
            return
        if index == 0:
            return


def _first_text(part: LexborNode) -> LexborNode | None:
    if part.is_text_node:
        return part
    for node in part.traverse(include_text=True):
        if node.is_text_node and not is_blank(node):
            return node
    return None


def _take_text(text: LexborNode, part: LexborNode) -> None:
    """Take out a text with the inline elements that hold nothing else, and what ends the label."""
    if text.mem_id == part.mem_id:
        text.decompose()
        return
    place = text
    for around in ancestors(text, _DEEP):
        if around.mem_id == part.mem_id or not is_alone(place):
            break
        place = around
    after = place.next
    place.decompose()
    if after is not None and after.is_text_node:
        said = after.text_content or ""
        rest = _AFTER_LABEL.sub("", said)
        if rest and rest != said:
            after.replace_with(rest)


def _content(part: LexborNode) -> LexborNode:
    """The element in a note that holds its text."""
    if part.tag != "table":
        return part
    cells = part.css("td")
    return cells[-1] if cells else part


def _drop_title(before: LexborNode | None) -> None:
    """Take out the rule or the title for screen readers that stands before notes."""
    if before is None:
        return
    is_hidden = not _HIDDEN_TITLES.isdisjoint(classes(before))
    if before.tag == "hr" or (is_hidden and short_text(before, _TITLE_CHARS)):
        before.decompose()

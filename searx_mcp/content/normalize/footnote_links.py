"""Footnotes that links point to."""

import re
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.footnote_writing import (
    LABEL_CHARS,
    ReferencedNote,
    is_note_heading,
    label_end,
    label_of,
    says_note,
)
from searx_mcp.content.tree import (
    HEADINGS,
    ancestors,
    children,
    has_text,
    neighbour,
    short_text,
)

_LINKS: Final = 'a[href*="#"],a[class*="footnoteref"],label.footref[for]'
_ANCHORS: Final = f"{_LINKS},[id],a[name]"
_INLINE: Final = frozenset({
    "a", "span", "sup", "sub", "b", "strong", "em", "i", "small", "font", "label", "cite", "u",
})  # fmt: skip
_NEVER: Final = frozenset(
    {"body", "html", "main", "article", "head", "input", "ol", "ul", "table", "tbody"}
)
_SAYS_REFERENCE = re.compile(
    r"foot|note|cite|(?:^|[^a-z])(?:fn|ftn|en|n|r|ref|bib)[-_:.]?\d|bib\.|_ftn|reference",
    re.IGNORECASE,
)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
"""A label that is the year of the cited work: it stays a link, after the author's name."""

_NUMBERED = re.compile(r"(.*?)(\d+)\Z", re.DOTALL)
_MAX_LINKS: Final = 30_000
_MAX_NOTE: Final = 30_000
"""Characters of a note; anything longer is a section."""

_MAX_PARTS: Final = 40
_UP: Final = 6


def linked_notes(tree: LexborHTMLParser) -> list[ReferencedNote]:
    """The notes that a label links to, in the order of the page.

    A label is a number, a letter or a sign. A link counts as a reference only if it is marked as one (by its
    position, class, address or brackets) and its target, further down, is marked as a note, too: by its number, a
    link back, or its list. Links to equations or sections are left.
    """
    links = [
        (node, fragment, label)
        for node in tree.css(_LINKS)[:_MAX_LINKS]
        if (fragment := _fragment(node)) and (label := _label(node))
    ]
    if not links:
        return []
    places: dict[int, int] = {}
    targets: dict[str, LexborNode] = {}
    for place, node in enumerate(tree.css(_ANCHORS)):
        places[node.mem_id] = place
        attributes = node.attributes
        for key in (attributes.get("id"), attributes.get("name") if node.tag == "a" else None):
            if key and node.tag != "input":
                targets.setdefault(key, node)
    return _paired(links, targets, places)


def _paired(
    links: list[tuple[LexborNode, str, str]], targets: dict[str, LexborNode], places: dict[int, int]
) -> list[ReferencedNote]:
    back = {fragment: node for node, fragment, _ in links}
    reached = [
        (link, label, _target(fragment, targets, back), fragment) for link, fragment, label in links
    ]
    blocks = _Blocks({target.mem_id for _, _, target, _ in reached if target is not None})
    notes: dict[int, ReferencedNote | None] = {}
    for link, label, target, fragment in reached:
        if target is None or places.get(target.mem_id, 0) <= places[link.mem_id]:
            continue
        if not _is_reference(link, fragment, label):
            continue
        if target.mem_id not in notes:
            notes[target.mem_id] = blocks.note(link, target, label)
        note = notes[target.mem_id]
        if note is not None:
            note.references.append(link)
            note.ids.update(_ids(link))
    return [note for _, note in sorted(notes.items(), key=lambda item: places[item[0]]) if note]


def _fragment(node: LexborNode) -> str:
    attributes = node.attributes
    if node.tag == "label":
        return attributes.get("for") or ""
    _, _, fragment = (attributes.get("href") or "").partition("#")
    if fragment:
        return unquote(fragment) if "%" in fragment else fragment
    own = attributes.get("id") or ""
    return own.replace("ref", "", 1) if "footnoteref" in own else ""


def _label(link: LexborNode) -> str:
    label = label_of(link.text())
    return "" if _YEAR.fullmatch(label) else label


def _target(
    fragment: str, targets: dict[str, LexborNode], back: dict[str, LexborNode]
) -> LexborNode | None:
    """The target of a link; if no element has that name, as in Word's pages, the element with the link back."""
    if fragment in targets:
        return targets[fragment]
    match = _NUMBERED.fullmatch(fragment)
    return back.get(f"{match[1]}ref{match[2]}") if match else None


def _is_reference(link: LexborNode, fragment: str, label: str) -> bool:
    text = link.text().strip()
    is_raised = link.css_first("sup") is not None or any(
        around.tag == "sup" for around in ancestors(link, 3)
    )
    if not label[-1:].isdigit():
        return is_raised or says_note(link, 1)
    is_bracketed = text.startswith(("[", "(")) and text.endswith(("]", ")"))
    if is_raised or is_bracketed or _is_cited(link) or says_note(link, 2):
        return True
    return _SAYS_REFERENCE.search(fragment) is not None


class _Blocks:
    """The elements that contain notes; properties needed for every note are computed once.

    Args:
        starts: the targets of all links, by their ids in memory.
    """

    def __init__(self, starts: set[int]) -> None:
        self._starts = starts
        self._inside: dict[int, set[int]] = {}
        self._is_long: dict[int, bool] = {}
        self._pieces: dict[int, dict[int, list[LexborNode]]] = {}

    def note(self, link: LexborNode, target: LexborNode, label: str) -> ReferencedNote | None:
        """The note that a link points to; `None` if it is something else."""
        block = _block(target)
        if block is None or any(node.mem_id == block.mem_id for node in ancestors(link, 64)):
            return None
        if self._too_long(block):
            return None
        parts = self._parts(block, target)
        return ReferencedNote(label, parts, []) if parts and _is_note(block, parts, label) else None

    def _too_long(self, block: LexborNode) -> bool:
        if block.mem_id not in self._is_long:
            self._is_long[block.mem_id] = len(block.text()) > _MAX_NOTE
        return self._is_long[block.mem_id]

    def _parts(self, block: LexborNode, target: LexborNode) -> list[LexborNode]:
        """The siblings that make up the note."""
        if block.tag == "dt":
            answer = neighbour(block, forward=True)
            return [answer] if answer is not None and answer.tag == "dd" else []
        if target.mem_id != block.mem_id and len(self._starts_in(block)) > 1:
            return self._cut(block).get(target.mem_id, [])
        if label_of(short_text(block, LABEL_CHARS)):
            return self._following(block)
        return [] if block.tag in HEADINGS else [block]

    def _starts_in(self, block: LexborNode) -> set[int]:
        if block.mem_id not in self._inside:
            found = {node.mem_id for node in block.css("[id],[name]")} & self._starts
            self._inside[block.mem_id] = found
        return self._inside[block.mem_id]

    def _cut(self, block: LexborNode) -> dict[int, list[LexborNode]]:
        """The children of a block from each target up to the next."""
        if block.mem_id not in self._pieces:
            pieces: dict[int, list[LexborNode]] = {}
            current: list[LexborNode] = []
            for child in children(block):
                found = {child.mem_id} & self._starts
                if child.is_element_node:
                    found |= {node.mem_id for node in child.css("[id],[name]")} & self._starts
                if found:
                    current = []
                    pieces.update(dict.fromkeys(found, current))
                current.append(child)
            self._pieces[block.mem_id] = pieces
        return self._pieces[block.mem_id]

    def _following(self, block: LexborNode) -> list[LexborNode]:
        """The nodes after an element that contains only the label of a note."""
        found = [block]
        node = block.next
        while node is not None and len(found) < _MAX_PARTS:
            if node.is_element_node and (
                node.tag in HEADINGS
                or node.tag == "hr"
                or node.mem_id in self._starts
                or self._starts_in(node)
            ):
                break
            found.append(node)
            node = node.next
        return found


def _is_cited(link: LexborNode) -> bool:
    """Whether a link has brackets around it in the text, or is in a `cite`."""
    before, after = link.prev, link.next
    if before is None or after is None or not before.is_text_node or not after.is_text_node:
        return False
    left, right = (before.text_content or "").rstrip(), (after.text_content or "").lstrip()
    if left.endswith("[") and right.startswith("]"):
        return True
    return link.parent is not None and link.parent.tag == "cite"


def _block(target: LexborNode) -> LexborNode | None:
    """The element of the note; the target may be only its label."""
    node = target
    for _ in range(_UP):
        if node.tag in _NEVER:
            return node if node.tag == "table" and says_note(node, 0) else None
        if node.tag not in _INLINE:
            return node
        parent = node.parent
        if parent is None:
            return None
        node = parent
    return None


def _is_note(block: LexborNode, parts: list[LexborNode], label: str) -> bool:
    if block.tag in HEADINGS and len(parts) == 1:
        return False
    text = " ".join(part.text() for part in parts if not part.is_comment_node)[:200].strip()
    if not text:
        return False
    if label_end(text, label):
        return True
    if says_note(block, 3) or text.startswith(("^", "↑", "↩")):
        return True
    if block.tag == "li":
        listed = block.parent
        before = neighbour(listed, forward=False) if listed is not None else None
        if (
            before is not None
            and before.is_element_node
            and is_note_heading(short_text(before, 80))
        ):
            return True
    return any(
        _SAYS_REFERENCE.search(link.attributes.get("href") or "")
        and not link.text().strip(" ↩↑^⤴⏎\ufe0e")
        for part in parts[:_MAX_PARTS]
        if part.is_element_node
        for link in part.css('a[href*="#"]')[:8]
    )


def _ids(link: LexborNode) -> set[str]:
    """The names by which a link in the note may lead back to a reference."""
    found = set()
    for node in (link, *ancestors(link, 3), *_before(link)):
        attributes = node.attributes
        found |= {attributes.get("id") or "", attributes.get("name") or ""}
    return found - {""}


def _before(link: LexborNode) -> list[LexborNode]:
    """An empty anchor directly before the reference."""
    node = link
    for around in ancestors(link, 2):
        if around.tag not in _INLINE:
            break
        node = around
    before = node.prev
    if before is not None and before.is_element_node and not has_text(before):
        return [before]
    return []

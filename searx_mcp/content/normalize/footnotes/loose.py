"""Notes that only their numbers connect with what refers to them."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.elements import (
    ancestors,
    classes,
    is_attached,
    neighbour,
    short_text,
    text_of,
)
from searx_mcp.content.normalize.footnotes.found import Note, is_note_heading

_NUMBER = re.compile(r"\[?(\d{1,3})\]?\.?")
_BLOCKS: Final = frozenset({"p", "div", "li", "dd", "aside", "section"})
_LISTS: Final = '[class*="footnote" i] ol,[class*="endnote" i] ol,[id*="footnote" i] ol,aside ol'
_CONTINUED: Final = frozenset({"ul", "ol", "blockquote", "pre", "p", "table"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_NUMBERS: Final = 5_000
_MAX_CONTINUED: Final = 12
_WORD_CHARS: Final = 40
_SHORTEST: Final = 2
"""Letters of a unit: what is raised behind one is an exponent."""

_MAX_DIGITS: Final = 4


def loose_notes(tree: LexborHTMLParser) -> list[Note]:
    """Notes that begin with a raised number that is raised in the text before, too.

    A raised number alone may be an exponent: there has to be a paragraph that begins with it, and
    all of a group of such paragraphs have to be referred to.
    """
    raised = tree.css("sup")[:_MAX_NUMBERS]
    if not raised:
        return []
    references: dict[int, list[LexborNode]] = {}
    starting: list[tuple[int, LexborNode]] = []
    for mark in raised:
        match = _NUMBER.fullmatch(mark.text().strip())
        if match is None or mark.css_first("a[href]") is not None or not is_attached(mark):
            continue
        block = _begun_by(mark)
        if block is not None:
            starting.append((int(match[1]), block))
        elif _follows_words(mark):
            references.setdefault(int(match[1]), []).append(mark)
    if not references:
        return []
    starting += _bold(tree)
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
    """Whether a mark stands behind a word or its full stop, not behind a number or a unit."""
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


def _bold(tree: LexborHTMLParser) -> list[tuple[int, LexborNode]]:
    """Paragraphs that begin with a bold number, below a rule or a heading of notes."""
    found = []
    for mark in tree.css("p > strong:first-child,p > b:first-child")[:_MAX_NUMBERS]:
        match = _NUMBER.fullmatch(mark.text().strip())
        block = _begun_by(mark) if match else None
        if match and block is not None and _is_below_rule(block):
            found.append((int(match[1]), block))
    return found


def _is_below_rule(block: LexborNode) -> bool:
    node = neighbour(block, forward=False)
    for _ in range(200):
        if node is None:
            return False
        if node.tag == "hr" or (node.tag in _HEADINGS and is_note_heading(short_text(node, 80))):
            return True
        if node.tag in _HEADINGS:
            return False
        node = neighbour(node, forward=False)
    return False


def _grouped(
    starting: list[tuple[int, LexborNode]], references: dict[int, list[LexborNode]]
) -> list[Note]:
    by_parent: dict[int, list[tuple[int, LexborNode]]] = {}
    for number, block in starting:
        parent = block.parent
        if parent is not None:
            by_parent.setdefault(parent.mem_id, []).append((number, block))
    found: list[Note] = []
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
            found.append(Note(str(number), parts, references.pop(number)))
    return found


def _continued(block: LexborNode, starts: set[int], *, is_last: bool) -> list[LexborNode]:
    """What belongs to a note behind its first paragraph: all up to the next, or a list behind the last."""
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


def _listed(tree: LexborHTMLParser, references: dict[int, list[LexborNode]]) -> list[Note]:
    """Numbered lists of notes whose numbers are all referred to."""
    found: list[Note] = []
    lists = {listed.mem_id: listed for listed in tree.css(_LISTS)[:500]}
    for heading in tree.css("h1,h2,h3,h4,h5,h6")[:2_000]:
        if is_note_heading(short_text(heading, 80)):
            below = neighbour(heading, forward=True)
            if below is not None and below.tag == "ol":
                lists.setdefault(below.mem_id, below)
    for listed in lists.values():
        start = listed.attributes.get("start") or "1"
        first = (
            int(start) if start.isascii() and start.isdigit() and len(start) <= _MAX_DIGITS else 1
        )
        items = [item for item in listed.iter() if item.tag == "li"]
        numbers = range(first, first + len(items))
        if not items or not all(number in references for number in numbers):
            continue
        if any(_is_inside(mark, listed) for number in numbers for mark in references[number]):
            continue
        for number, item in zip(numbers, items, strict=True):
            found.append(Note(str(number), [item], references.pop(number)))
    return found


def _is_inside(node: LexborNode, around: LexborNode) -> bool:
    return any(each.mem_id == around.mem_id for each in ancestors(node, 32))

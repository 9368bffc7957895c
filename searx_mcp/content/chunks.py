"""The chunks of a page, which the corpus stores, finds and cites separately.

A chunk is a section, several small sections of one parent, or a part of a long section: whole paragraphs if they are
not too long, else whole sentences. Code and tables stay whole unless they are very long. Parts of one section overlap
by whole sentences, so that text across a cut is found, too.

Where a section is cut depends on the words before each position, and not on how much text precedes it: after a changed
paragraph, the cuts are soon the same as before, and unchanged chunks keep their id and their embedding.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NamedTuple
from zlib import crc32

from searx_mcp.content.markdown import code_spans, in_code
from searx_mcp.content.outline import Span, block_ends, cut, has_words, sections
from searx_mcp.content.sentences import sentence_ends
from searx_mcp.models.page import Heading

CHUNK_CHARS: Final = 1_600
"""Most code points of a chunk, about 400 tokens of English."""

_SMALL: Final = 0.25
"""Sections below this share of a chunk are merged: 400 code points."""
_LEAST: Final = 0.5
"""A long section is cut after a block that ends between this share of a chunk and a whole one."""
_OVERLAP: Final = 0.125
"""Share of a chunk that repeats the one before: the whole sentences closest to it."""
_MOST_OVERLAP: Final = 0.25
_WHOLE: Final = 2
"""Code and tables stay whole up to this many times the length of a chunk."""
_TINIEST: Final = 16
"""Fewest code points of a chunk, whatever the caller sets: positions to cut at are still found."""

_HEAD_CHARS: Final = 400
"""Most code points of the header of a table that is repeated."""

_CONTEXT: Final = 48
"""Code points before a position, whose hash selects it."""
_REACH: Final = 64
"""Code points read before a window, so that an abbreviation at its start does not end a sentence."""

_TABLE = re.compile(r"^[ \t]*+\|[^\n]*+(?:\n[ \t]*+\|[^\n]*+)++", re.MULTILINE)
_DELIMITER = re.compile(r"[ \t]*+\|[ \t:|-]++")
_ITEM = re.compile(r"\n(?=[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t])")
_SPACE = re.compile(r"\s*+")
_LINES = re.compile(r"\n++")
_PICTURE = re.compile(r"\[(?:image|caption)\b")
"""An overlap does not begin with this: it says nothing about what follows."""
_BOLD = re.compile(r"\s*+\*\*[^*\n]{1,80}\*\*:?\s*+")
"""A paragraph that contains only this is effectively a heading."""

_BLOCK: Final = 100
_ITEM_RANK: Final = 101
_SENTENCE: Final = 102
"""Ranks of positions to cut at, the best first: after blocks, list items and sentences. The end of a section has the
depth of the next one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The position of a chunk in a page.

    Attributes:
        start: code points of the Markdown before it.
        end: code points up to its end.
        path: the headings above all of it, outermost first, without the title of the page.
    """

    start: int
    end: int
    path: tuple[str, ...]


def pieces(
    markdown: str,
    outline: Sequence[Heading],
    *,
    title: str = "",
    most: int = CHUNK_CHARS,
    measure: Callable[[str], int] = len,
) -> list[Piece]:
    """Split a page into chunks.

    Args:
        markdown: of the page. Linear in its length, if `measure` is.
        outline: its headings, in order.
        title: of the page; a heading that it begins with is in no path.
        most: largest size of a chunk; code and tables that stay whole have at most twice as much.
        measure: returns the size of a text: its code points, or an estimate of its tokens.

    Returns:
        The chunks in the order of the page. They leave out only blank space between blocks; text that is in
        two chunks is in one section.
    """
    text = Text(markdown)
    found: list[Piece] = []
    for units in _groups(markdown, _units(markdown, outline), most * _SMALL, measure):
        group = _Group(markdown, units, text.is_code)
        size = max(1, measure(markdown[group.start : group.end]))
        chars = max(_TINIEST, most * (group.end - group.start) // size)
        for begin, position, stop in _cuts(text, group, chars):
            path = group.path(position, stop)
            start, end = text.trimmed(begin, stop)
            if start < end:
                is_titled = bool(path) and title.startswith(path[0])
                found.append(Piece(start, end, path[1:] if is_titled else path))
    return found


def chunk_id(url: str, path: Sequence[str], text: str) -> str:
    """Compute the id of a chunk: SHA-256, in hex, of address, section path and text."""
    return sha256(f"{url}|{' > '.join(path)}|{text}".encode("utf-8", "replace")).hexdigest()


def _units(markdown: str, outline: Sequence[Heading]) -> list[Span]:
    """The sections with text; a heading without text belongs to the next section."""
    found: list[Span] = []
    start = 0
    for section in sections(outline, len(markdown)):
        if has_words(markdown[section.start : section.end]):
            found.append(Span(start, section.end, section.path))
            start = section.end
    if start < len(markdown):
        last = found.pop() if found else Span(start, start, ())
        found.append(Span(last.start, len(markdown), last.path))
    return found


def _groups(
    markdown: str, units: Sequence[Span], small: float, measure: Callable[[str], int]
) -> Iterator[list[Span]]:
    """Merge small sections: neighbours with one parent, and the section that introduces them.

    The section after them may be larger, if together they are half a chunk. No section of a group is higher in the
    hierarchy than the first one, so that all have its parent.
    """
    group: list[Span] = []
    total, is_open = 0, False
    for unit in units:
        size = measure(markdown[unit.start : unit.end])
        is_small = size < small
        is_below = bool(group) and len(unit.path) >= len(group[0].path)
        if is_open and is_below and (is_small or total + size <= 2 * small):
            group.append(unit)
            total, is_open = total + size, is_small
            continue
        if group:
            yield group
        group, total, is_open = [unit], size, is_small
    if group:
        yield group


class _Place(NamedTuple):
    """A position where a chunk may end, and how good it is: the smallest is the best."""

    rank: int
    hash: int
    behind: int


class Text:
    """A text with its fenced code and its tables, which should not be split."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self.is_code = in_code(markdown)
        tables = (each.span() for each in _TABLE.finditer(markdown))
        spans = [*code_spans(markdown), *(span for span in tables if not self.is_code(span[0]))]
        self._spans = sorted(spans)
        self._starts = [start for start, _ in self._spans]

    def around(self, at: int) -> tuple[int, int] | None:
        """Find the code or table that a cut at a position would split."""
        index = bisect_left(self._starts, at) - 1
        if index < 0 or at >= self._spans[index][1]:
            return None
        return self._spans[index]

    def edges(self, low: int, high: int) -> Iterator[int]:
        """The starts and ends of code and tables within a window."""
        at = max(0, bisect_left(self._starts, low) - 1)
        for start, end in self._spans[at : bisect_right(self._starts, high)]:
            yield from (edge for edge in (start, end) if low <= edge <= high)

    def place(self, rank: int, at: int) -> _Place:
        """A position to cut at, with its rank."""
        words = self.markdown[max(0, at - _CONTEXT) : at]
        return _Place(rank, crc32(words.encode("utf-8", "replace")), -at)

    def torn_at(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Positions within a block, but not in code or tables: after list items and after sentences."""
        for item in _ITEM.finditer(self.markdown, max(0, low - 1), high + 1):
            if not self.around(item.end()):
                yield _ITEM_RANK, item.end()
        first = max(0, low - _REACH)
        for end in sentence_ends(self.markdown[first : high + 1]):
            at = self._behind_space(first + end, high + 1)
            if low <= at <= high and not self.around(at):
                yield _SENTENCE, at

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Leave out blank space, except the indentation of a first line."""
        end = start + len(self.markdown[start:end].rstrip())
        words = self._behind_space(start, end)
        line = self.markdown.rfind("\n", max(0, start - 1), words) + 1
        return (line if line >= start else words), end

    def head(self, at: int) -> str:
        """The lines that make a table or code of what a cut at a position leaves behind it; else empty."""
        start, end = self.around(at) or (0, 0)
        *lines, _ = self.markdown[start : min(end, start + _HEAD_CHARS)].split("\n", 2)
        is_table = len(lines) > 1 and _DELIMITER.fullmatch(lines[1])
        shown = lines[:1] if end and self.is_code(start) else lines if is_table else []
        return "".join(f"{line}\n" for line in shown)

    def _behind_space(self, start: int, end: int) -> int:
        space = _SPACE.match(self.markdown, start, end)
        return space.end() if space else start


class _Group:
    """Sections that are split together, and the ends of their blocks."""

    def __init__(
        self, markdown: str, units: Sequence[Span], is_code: Callable[[int], bool]
    ) -> None:
        self.start, self.end = units[0].start, units[-1].end
        self._units = units
        self._starts = [unit.start for unit in units]
        self.ends: list[int] = []
        self.ranks: list[int] = []
        for index, unit in enumerate(units):
            start, is_headed = unit.start, True
            for end in block_ends(markdown, unit, is_code):
                block = markdown[start:end]
                is_headed = is_headed and not has_words(block)
                if end < unit.end and not is_headed and not _BOLD.fullmatch(block):
                    self.ends.append(end)
                    self.ranks.append(_BLOCK)
                start = end
            if index + 1 < len(units):
                self.ends.append(unit.end)
                self.ranks.append(len(units[index + 1].path))

    def floor(self, at: int) -> int:
        """The start of the section that contains a position."""
        return self._starts[bisect_right(self._starts, at) - 1]

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """The headings above all sections of a part."""
        first = bisect_right(self._starts, start) - 1
        paths = [unit.path for unit in self._units[first : bisect_left(self._starts, end)]]
        low, high = min(paths), max(paths)
        same = 0
        while same < len(low) and low[same] == high[same]:
            same += 1
        return low[:same]

    def within(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Ranks and positions of the ends in a window."""
        at, behind = bisect_left(self.ends, low), bisect_right(self.ends, high)
        yield from zip(self.ranks[at:behind], self.ends[at:behind], strict=True)

    def last_end(self, at: int) -> int:
        """The last end of a block up to a position."""
        index = bisect_right(self.ends, at) - 1
        return self.ends[index] if index >= 0 else self.start


def _cuts(text: Text, group: _Group, most: int) -> Iterator[tuple[int, int, int]]:
    """Split a group: for each part its start with the overlap, its start without it, and its end."""
    position = group.start
    while position < group.end:
        begin = _overlap(text, group, position, most)
        stop = group.end
        if stop - begin > most:
            stop = _stop(text, group, begin, position, most)
        yield begin, position, stop
        position = stop


def _overlap(text: Text, group: _Group, position: int, most: int) -> int:
    """The start of the last sentences before a cut; the cut itself if there is no good position."""
    floor = group.floor(position)
    if position == floor:
        return position
    low = max(floor + 1, position - int(most * _MOST_OVERLAP))
    places = [at for _, at in group.within(low, position - 1)]
    places += [at for _, at in text.torn_at(low, position - 1)]
    places = [at for at in places if not _PICTURE.match(text.markdown, at)]
    wanted = position - most * _OVERLAP
    return min(places, key=lambda at: (abs(at - wanted), at), default=position)


def _stop(text: Text, group: _Group, begin: int, position: int, most: int) -> int:
    """Find the end of a part: the best position in a window, whatever text precedes it."""
    small = int(most * _SMALL)
    low = position + int(most * _LEAST)
    high = max(low, min(begin + most, group.end - small))
    for places in (group.within(low, high), text.torn_at(low, high)):
        best = min((text.place(*each) for each in places), default=None)
        if best is not None:
            return -best.behind
    around = text.around(high)
    if around is None:
        edges = [text.place(_BLOCK, at) for at in text.edges(low, high)]
        return -min(edges).behind if edges else cut(text.markdown, low, high - low)
    start, end = around
    if start - position < small and end - position <= most * _WHOLE:
        return group.end if group.end - end < small else end
    if start - position >= small or (start > position and end - start <= most * _WHOLE):
        block = group.last_end(start)
        return block if block - position >= small else start
    lines = (
        text.place(-len(lines[0]), lines.end())  # the emptier, the better
        for lines in _LINES.finditer(text.markdown, low - 1, high)
    )
    best = min(lines, default=None)
    return cut(text.markdown, low, high - low) if best is None else -best.behind

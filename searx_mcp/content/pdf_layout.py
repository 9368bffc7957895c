"""Lines of a PDF page: their positions, and how they are joined into paragraphs.

A PDF has the position of each character, but not the structure. Typesetting shows the structure: a line with room for
the first word of the next one ends a paragraph or stands alone, such as a line of code or a row of a table; a wide
gap, an indent or another type size begins something new.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, Final

from searx_mcp.content.clean import clean_counted
from searx_mcp.content.markdown import escape

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage


_WIDE_GAP: Final = 1.2
"""Times the usual line spacing; TeX sets paragraphs 1.29 times apart."""

_WIDE_LIST_GAP: Final = 1.6
"""The same for list items, which TeX sets 1.26 times apart."""

_OTHER_SIZE: Final = 1.12
"""Times the type size: 11 pt under a heading of 12.5 pt."""

_INDENT: Final = 0.8
"""Times the type size; the smallest indent in use is one em."""

_SAME_LINE: Final = 0.3
"""Times the type size; letters within a line are not raised more than this."""

_MARGIN: Final = 0.05
"""Least share of the lines that reach the right margin; a title extends beyond that of its column."""

_RAGGED: Final = 2
"""Times the type size; largest distance from the margin at which a line still reaches it."""

_MAX_NUMBERING: Final = 12
"""Letters and digits that may precede a title, as in "Chapter 12: ..."."""

_BULLET = re.compile(
    r"[\u2022\u2023\u25e6\u2043\u2219\u25aa\u25cf\u25cb\u25a0\uf0b7\u00b7*\u2013-] +(?=\S)"
)
_NUMBER = re.compile(r"[0-9]{1,3}[.)] +(?=\S)")
_NO_LETTERS = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"[0-9]")


class _Joint(Enum):
    """How a line continues with the next one."""

    JOIN = auto()
    BREAK = auto()
    BLOCK = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of clean text with its position, in points from the lower left corner.

    Attributes:
        text: without spaces at its ends; not empty.
        left: start of the line.
        right: end of the line.
        base: lower edge of its type at its end.
        size: height of its type.
        is_hyphenated: whether its last word continues in the next line.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    is_hyphenated: bool = False


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a PDF's own outline.

    Attributes:
        title: one clean line.
        level: 1 to 6.
        page: index of the target page.
        top: target position on it, in points from the lower edge; `None` for the page's top.
    """

    title: str
    level: int
    page: int
    top: float | None


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of Markdown; blocks are separated by empty lines.

    Attributes:
        text: the Markdown, without empty lines.
        heading: its outline entry if it is a heading, or `None`.
        title: its words without markup, if it is a heading.
    """

    text: str
    heading: Bookmark | None = None
    title: str = ""


def blocks(lines: Sequence[Line], bookmarks: Sequence[Bookmark] = ()) -> Iterator[Block]:
    """Join the lines of one page.

    Args:
        lines: in reading order.
        bookmarks: of this page, in order. A line with the same text becomes the heading; otherwise one is inserted
            at its target.

    Yields:
        Paragraphs, lists and headings, in order.
    """
    headings = _placed(lines, bookmarks)
    layout = _Layout(lines)
    written: list[str] = []
    for index in range(len(lines) + 1):
        joint = layout.joint(index) if written else _Joint.BLOCK
        here = headings.get(index, ())
        if written and (here or joint is _Joint.BLOCK):
            yield Block("\n".join(map(_line_markdown, written)))
            written = []
        for title, bookmark in here:
            yield Block(_heading(title, bookmark.level), bookmark, title)
        if index == len(lines) or any(title == lines[index].text for title, _ in here):
            continue
        if written and joint is _Joint.JOIN:
            written[-1] = _joined(written[-1], lines[index - 1], lines[index])
        else:
            written.append(lines[index].text)


class _Layout:
    """The measures that all lines of one page share."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        gaps = [before.base - line.base for before, line in pairwise(lines)]
        usual = [
            gap for gap, line in zip(gaps, lines[1:], strict=True) if gap > _SAME_LINE * line.size
        ]
        self._usual_gap = median(usual) if usual else 0.0
        self._margins: list[float] = []
        for column in _columns(lines):
            self._margins += [_margin(column)] * len(column)

    def joint(self, index: int) -> _Joint:
        """Return how the line before continues with the line at `index`, which may be past the last."""
        if not 0 < index < len(self._lines):
            return _Joint.BLOCK
        before, line = self._lines[index - 1], self._lines[index]
        if before.is_hyphenated:
            return _Joint.JOIN
        gap = before.base - line.base
        if gap < -_SAME_LINE * line.size:  # the next column, or a footnote that was written first
            goes_on = line.text[0].islower() and self._is_full(index - 1)
            return _Joint.JOIN if goes_on else _Joint.BLOCK
        if not 1 / _OTHER_SIZE <= line.size / before.size <= _OTHER_SIZE:
            return _Joint.BLOCK
        return self._by_gap(index, gap)

    def _by_gap(self, index: int, gap: float) -> _Joint:
        line = self._lines[index]
        is_item = _is_item(line.text)
        if gap > (_WIDE_LIST_GAP if is_item else _WIDE_GAP) * self._usual_gap:
            return _Joint.BLOCK
        if is_item or gap < _SAME_LINE * line.size:  # an item, or a cell of the same row
            return _Joint.BREAK
        return self._by_width(index)

    def _by_width(self, index: int) -> _Joint:
        before, line = self._lines[index - 1], self._lines[index]
        is_indented = line.left > before.left + _INDENT * line.size and not _is_item(before.text)
        if self._is_full(index - 1):
            return _Joint.BLOCK if is_indented and not self._hangs(index) else _Joint.JOIN
        return _Joint.BLOCK if is_indented and self._is_full(index) else _Joint.BREAK

    def _is_full(self, index: int) -> bool:
        """Whether the first word of the next line would not have fitted on this one."""
        line = self._lines[index]
        if index + 1 == len(self._lines):
            return line.right >= self._margins[index] - line.size
        after = self._lines[index + 1]
        width = (after.right - after.left) / len(after.text)
        word = len(after.text.split(maxsplit=1)[0])
        return line.right + width * (word + 1) > self._margins[index]

    def _hangs(self, index: int) -> bool:
        """Whether an indented line is the second of a paragraph, as opposed to the first."""
        if index + 1 == len(self._lines):
            return True
        return self._lines[index + 1].left > self._lines[index].left - _INDENT


def _columns(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Group successive lines as long as each is below the one before."""
    start = 0
    for index, (before, line) in enumerate(pairwise(lines), start=1):
        if line.base > before.base + _SAME_LINE * line.size:
            yield lines[start:index]
            start = index
    if lines:
        yield lines[start:]


def _margin(column: Sequence[Line]) -> float:
    """Return how far to the right a column extends."""
    rights = sorted((line.right for line in column), reverse=True)
    needed = max(1, ceil(_MARGIN * len(rights)))
    near = _RAGGED * median(line.size for line in column)
    reached = zip(rights[: needed + 1], rights[needed:], strict=False)
    return next((right for right, other in reached if right - other <= near), rights[0])


def _is_item(text: str) -> bool:
    return bool(_BULLET.match(text) or _NUMBER.match(text))


def _joined(text: str, before: Line, line: Line) -> str:
    if not before.is_hyphenated:
        return f"{text} {line.text}"
    # "exam-ple" becomes one word, "A-B" and "10-20" keep the hyphen; "well-known" loses it.
    return text + line.text if line.text[0].islower() else f"{text}-{line.text}"


def _heading(title: str, level: int) -> str:
    # After the mark of a heading, "1." begins no list.
    return f"{'#' * level} {escape(f'x{title}')[1:]}"


def _line_markdown(text: str) -> str:
    """Write a line of plain text as Markdown that looks the same, or as the list item that it is."""
    if bullet := _BULLET.match(text):
        return f"- {escape(text[bullet.end() :])}"
    if number := _NUMBER.match(text):
        return number[0].rstrip() + " " + escape(text[number.end() :])
    return escape(text)


def _placed(
    lines: Sequence[Line], bookmarks: Sequence[Bookmark]
) -> Mapping[int, Sequence[tuple[str, Bookmark]]]:
    """Headings with their titles, by the index of the line that they precede, or are."""
    placed: dict[int, list[tuple[str, Bookmark]]] = {}
    keys = [_letters(line.text) for line in lines]
    for bookmark in bookmarks:
        place = _place(lines, bookmark)
        key = _letters(bookmark.title)
        around = [*range(place, len(lines)), *range(place)]
        found = next((index for index in around if _says(keys[index], key)), None)
        if found is None:
            placed.setdefault(place, []).append((bookmark.title, bookmark))
        else:
            keys[found] = ""
            placed.setdefault(found, []).append((lines[found].text, bookmark))
    return placed


def _place(lines: Sequence[Line], bookmark: Bookmark) -> int:
    """The first line below the target of a bookmark."""
    top = bookmark.top
    if top is None:
        return 0
    return next((index for index, line in enumerate(lines) if line.base <= top), len(lines))


def _says(line: str, title: str) -> bool:
    """Whether a line is a title, with or without the number of the section."""
    short, long = sorted((line, title), key=len)
    if not short or not long.endswith(short):
        return False
    number = long[: len(long) - len(short)]
    return not number or (len(number) <= _MAX_NUMBERING and bool(_DIGIT.search(number)))


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


_SMALLEST: Final = 0.002
"""Height of readable type, as a share of the page: 1.6 pt on letter paper."""
_USUAL_SIZE: Final = 10.0
_LINE = re.compile("[^\r\n\ufffe]+")
_HYPHEN: Final = "\ufffe"
"""PDFium's character for a hyphen at the end of a line, including the line's end."""
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class PageLines:
    """The text of one page.

    Attributes:
        hidden: characters left out because they are invisible.
    """

    lines: Sequence[Line]
    hidden: int


def page_lines(document: "PdfDocument", index: int, *, max_chars: int) -> PageLines:
    """The lines of one page, in the order in which they were written.

    Args:
        document: the PDF.
        index: of the page, from 0.
        max_chars: characters that are read at most.

    Raises:
        RuntimeError: the page is broken.
    """
    with closing(document.get_page(index)) as page, closing(page.get_textpage()) as textpage:
        text = textpage.get_text_range(0, min(textpage.count_chars(), max_chars))
        return _lines(page, textpage, text)


def _lines(page: "PdfPage", textpage: "PdfTextPage", text: str) -> PageLines:
    window = _Window(page, textpage, text)
    lines: list[Line] = []
    hidden = 0
    for match in _LINE.finditer(text):
        clean, removed = clean_counted(match[0])
        hidden += removed
        if not (clean := " ".join(clean.split())):
            continue
        is_hyphenated = text[match.end() : match.end() + 1] == _HYPHEN
        line = window.line(clean, match.start(), match.end() - 1, is_hyphenated=is_hyphenated)
        if line is None:
            hidden += len(clean)
        else:
            lines.append(line)
    return PageLines(lines, hidden)


class _Window:
    """The positions of the characters of a page, and which of them are visible."""

    def __init__(self, page: "PdfPage", textpage: "PdfTextPage", text: str) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 - an extra

        self._raw = raw
        self._textpage = textpage
        self._left, self._bottom, self._right, self._top = page.get_bbox()
        self._smallest = max(_SMALLEST * (self._top - self._bottom), _SMALLEST)
        self._last = (self._left, self._bottom, self._right, self._bottom + _USUAL_SIZE)
        # PDFium counts in UTF-16.
        self._astral = [match.start() for match in _ASTRAL.finditer(text)]

    def line(self, text: str, first: int, last: int, *, is_hyphenated: bool) -> Line | None:
        """A line from its first character to its last; `None` if it is invisible."""
        left, bottom, _, top = self._box(first)
        end_left, end_bottom, right, end_top = self._box(last)
        size = max(top - bottom, end_top - end_bottom)
        is_outside = (
            max(left, right) < self._left
            or min(left, end_left) > self._right
            or max(top, end_top) < self._bottom
            or min(bottom, end_bottom) > self._top
        )
        if is_outside or size < self._smallest:
            return None
        return Line(text, left, right, end_bottom, size, is_hyphenated=is_hyphenated)

    def _box(self, place: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of the character at a position in the text."""
        raw = self._raw
        in_utf16 = place + bisect_left(self._astral, place)
        index = raw.FPDFText_GetCharIndexFromTextIndex(self._textpage, in_utf16)
        box = raw.FS_RECTF()
        if index < 0 or not raw.FPDFText_GetLooseCharBox(self._textpage, index, box):
            return self._last
        self._last = (box.left, box.bottom, box.right, box.top)
        return self._last

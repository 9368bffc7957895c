"""The lines of a page of a PDF, and where they stand."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from searx_mcp.content.clean import clean_counted
from searx_mcp.content.pdf_layout import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_SMALLEST: Final = 0.002
"""Height of type that can be read, as a share of the page: 1.6 pt on a letter."""
_USUAL_SIZE: Final = 10.0
_LINE = re.compile("[^\r\n\ufffe]+")
_HYPHEN: Final = "\ufffe"
"""What PDFium gives for a hyphen at the end of a line, together with the line's end."""
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
        max_chars: characters read at most.

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
    """The places of the characters of a page, and which of them can be seen."""

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
        """A line from its first character to its last; `None` if it cannot be seen."""
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
        """Left, bottom, right and top of the character at a place of the text."""
        raw = self._raw
        in_utf16 = place + bisect_left(self._astral, place)
        index = raw.FPDFText_GetCharIndexFromTextIndex(self._textpage, in_utf16)
        box = raw.FS_RECTF()
        if index < 0 or not raw.FPDFText_GetLooseCharBox(self._textpage, index, box):
            return self._last
        self._last = (box.left, box.bottom, box.right, box.top)
        return self._last

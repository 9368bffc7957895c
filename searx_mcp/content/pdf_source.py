"""What PDFium tells of a PDF, in clean text.

Only what a reader of the pages sees. Embedded files, scripts, forms and annotations are never opened.
Text that stands outside its page, or is too small to be seen, is left out. Not covered: text hidden
by its colour or below a picture.

PDFium is written in C++ and has one state for the whole process: one document at a time.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.pdf_text import Bookmark, Line
from searx_mcp.errors import ContentError, ErrorCode

if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument, PdfPage, PdfTextPage

_EXTRA: Final = "searx-mcp[pdf]"

_MAX_BOOKMARKS: Final = 2_000
"""Entries of the outline read; that of a book of 1,000 pages has some 500."""

_MAX_LEVEL: Final = 6
_MAX_TITLE: Final = 300
_MAX_DESCRIPTION: Final = 1_000

_SMALLEST: Final = 0.002
"""Height of type that can be read, as a share of the page: 1.6 pt on a letter."""

_USUAL_SIZE: Final = 10.0

_NEEDS_PASSWORD: Final = 4
_UNKNOWN_SECURITY: Final = 5
"""FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY of fpdfview.h."""

_TOP_OF_VIEW: Final[Mapping[int, int]] = {1: 1, 3: 0, 5: 3, 7: 0}
"""Where the upper edge stands among the numbers of a destination, by its kind: XYZ (left, top, zoom),
FitH and FitBH (top), FitR (left, bottom, right, top); PDFDEST_VIEW_* of fpdf_doc.h."""

_LINE = re.compile("[^\r\n\ufffe]+")
_HYPHEN: Final = "\ufffe"
"""What PDFium gives for a hyphen at the end of a line, together with the line's end."""

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_DATE = re.compile(
    r"(?:D:)?(?P<year>[0-9]{4})(?P<month>[0-9]{2})?(?P<day>[0-9]{2})?(?P<clock>(?:[0-9]{2}){1,3})?"
    r"(?:(?P<utc>Z)(?:00'?00'?)?|(?P<offset>[+-][0-9]{2}'?(?:[0-9]{2})?)'?)?"
)


@dataclass(frozen=True, slots=True)
class Information:
    """What a PDF says of itself, in clean lines; empty where it says nothing.

    Attributes:
        created: when it was made, in ISO 8601.
        modified: when it was changed, likewise.
        hidden: characters taken out of the texts.
    """

    title: str
    author: str
    subject: str
    created: str
    modified: str
    hidden: int


@dataclass(frozen=True, slots=True)
class PageLines:
    """The text of one page.

    Attributes:
        hidden: characters left out because nobody sees them.
    """

    lines: Sequence[Line]
    hidden: int


@contextmanager
def opened(body: bytes) -> Iterator["PdfDocument"]:
    """Open a PDF, one at a time: PDFium has one state for the whole process.

    Raises:
        ContentError: `unsupported_content_type` if PDFium is not installed, `extraction_failed` if
            the file cannot be opened.
    """
    try:
        import pypdfium2  # noqa: PLC0415 - an extra
    except ImportError as exc:
        raise ContentError(
            "reading a PDF needs an extra that is not installed",
            code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
            advice=f"Install it: pip install '{_EXTRA}'",
        ) from exc
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as exc:
        raise _refusal(exc.err_code) from exc
    with closing(document):
        yield document


def information(document: "PdfDocument") -> Information:
    """What the PDF says of itself."""
    texts = [
        clean_counted(document.get_metadata_value(key)) for key in ("Title", "Author", "Subject")
    ]
    (title, _), (author, _), (subject, _) = texts
    return Information(
        title=clean_line(title, _MAX_TITLE),
        author=clean_line(author, _MAX_TITLE),
        subject=clean_line(subject, _MAX_DESCRIPTION),
        created=iso_date(document.get_metadata_value("CreationDate")),
        modified=iso_date(document.get_metadata_value("ModDate")),
        hidden=sum(hidden for _, hidden in texts),
    )


def iso_date(text: str) -> str:
    """A date of PDF 32000-1:2008, 7.9.4, as far as it goes, in ISO 8601; empty if it is none."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return ""
    year, month, day, clock = found["year"], found["month"], found["day"], found["clock"]
    try:
        date(int(year), int(month or 1), int(day or 1))
        if not (day and clock):
            return "-".join(part for part in (year, month, day) if part)
        offset = (found["offset"] or "").replace("'", "")
        zone = "+0000" if found["utc"] else offset and offset.ljust(5, "0")
        instant = datetime.fromisoformat(f"{year}{month}{day}T{clock}{zone}")
    except ValueError:
        return ""
    return instant.isoformat(timespec="seconds")


def bookmarks(document: "PdfDocument") -> Sequence[Bookmark]:
    """The outline; entries that lead out of the document are left out."""
    found: list[Bookmark] = []
    for number, entry in enumerate(document.get_toc()):
        if number == _MAX_BOOKMARKS:
            break
        if bookmark := _bookmark(entry):
            found.append(bookmark)
    return found


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
    """Where the characters of a page stand, and which of them can be seen."""

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


def _bookmark(entry: "PdfBookmark") -> Bookmark | None:
    title = clean_line(entry.get_title(), _MAX_TITLE)
    destination = entry.get_dest()
    page = destination.get_index() if destination is not None else None
    if not title or destination is None or page is None:
        return None
    kind, place = destination.get_view()
    number = _TOP_OF_VIEW.get(kind, len(place))
    top = place[number] if number < len(place) else None
    # Zero stands for "unchanged" where a writer had no number.
    return Bookmark(title, min(entry.level + 1, _MAX_LEVEL), page, top or None)


def _refusal(code: int | None) -> ContentError:
    if code in {_NEEDS_PASSWORD, _UNKNOWN_SECURITY}:
        return ContentError(
            "the PDF is encrypted: it needs a password",
            code=ErrorCode.EXTRACTION_FAILED,
            advice="Look for another copy of the document.",
        )
    return ContentError(
        "the PDF is damaged or incomplete: it cannot be opened", code=ErrorCode.EXTRACTION_FAILED
    )

"""PDFs as Markdown.

Only what a reader of the pages sees. Embedded files, scripts, forms and annotations are never opened. Text that is
outside its page, or is too small to be visible, is left out. Not covered: text hidden by its colour or below an image.

PDFium is written in C++ and has one state for the whole process: it handles one document at a time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from searx_mcp.content.addresses import MAX_RANGES, RANGES
from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.pdf_layout import Block, Bookmark, blocks, page_lines
from searx_mcp.content.words import count
from searx_mcp.errors import ContentError, ErrorCode

if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument

_MAX_PAGES: Final = 1_000
_MAX_CHARS: Final = 1_000_000
_PAGE_LEVEL: Final = 2
_SEPARATOR: Final = "\n\n"

_SHOWN_RANGES: Final = 10
"""Most ranges of pages in a note."""

_EXTRA: Final = "searx-mcp[pdf]"

_MAX_BOOKMARKS: Final = 2_000
"""Entries of the outline that are read; a book of 1,000 pages has about 500."""

_MAX_LEVEL: Final = 6
_MAX_TITLE: Final = 300
_MAX_DESCRIPTION: Final = 1_000


_NEEDS_PASSWORD: Final = 4
_UNKNOWN_SECURITY: Final = 5
"""FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY of fpdfview.h."""

_TOP_OF_VIEW: Final[Mapping[int, int]] = {1: 1, 3: 0, 5: 3, 7: 0}
"""Position of the upper edge among the numbers of a destination, by its kind: XYZ (left, top, zoom), FitH and FitBH
(top), FitR (left, bottom, right, top); PDFDEST_VIEW_* of fpdf_doc.h."""


_DATE = re.compile(
    r"(?:D:)?(?P<year>[0-9]{4})(?P<month>[0-9]{2})?(?P<day>[0-9]{2})?(?P<clock>(?:[0-9]{2}){1,3})?"
    r"(?:(?P<utc>Z)(?:00'?00'?)?|(?P<offset>[+-][0-9]{2}'?(?:[0-9]{2})?)'?)?"
)


def _ranges_of(pages: str, count: int) -> Sequence[range]:
    """The requested pages as ranges; none for text that `pages_of` would not return."""
    if not RANGES.fullmatch(pages):
        return ()
    found = []
    for part in pages.split(",")[:MAX_RANGES]:
        first, dash, last = part.partition("-")
        ends = int(first), int(last) if last else max(count, int(first)) if dash else int(first)
        found.append(range(min(ends), max(ends) + 1))
    return found


def read(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a PDF.

    Its own outline becomes headings; without one, each page has a heading.

    Args:
        body: the file.
        options: `pages` as `pages_of` returns them, all if missing or empty; `max_pages` (1,000) and `max_chars`
            (1,000,000 code points of Markdown), after which reading ends.

    Returns:
        `markdown`, `title`, `author`, `description`, `published`, `modified`, `word_count`, `truncated`, `notes`,
        `hidden_chars_removed` and `outline`, each as in `models.page.Page`, and `page_count`. The anchor of a
        heading is that of its page, such as `page=3`.

    Raises:
        ContentError: `unsupported_content_type` if PDFium is not installed; `extraction_failed` for a file that is
            broken or needs a password, that has no text or none of these pages.
    """
    with _opened(body) as document:
        information, hidden = _information(document)
        reading = _Reading(document, options)
        reading.run()
        markdown = reading.markdown
        return {
            **information,
            "markdown": markdown,
            "word_count": count(markdown),
            "outline": reading.outline,
            "page_count": len(document),
            "truncated": reading.is_truncated,
            "notes": reading.notes(),
            "hidden_chars_removed": hidden + reading.hidden,
        }


class _Reading:
    """Reads one document, page by page.

    Attributes:
        outline: the headings in it.
        hidden: characters left out because they are invisible.
        is_truncated: whether reading ended before the last requested page.
    """

    def __init__(self, document: "PdfDocument", options: Mapping[str, Any]) -> None:
        self._document = document
        self._max_pages = int(options.get("max_pages", _MAX_PAGES))
        self._max_chars = int(options.get("max_chars", _MAX_CHARS))
        self._count = len(document)
        asked = _ranges_of(str(options.get("pages") or "1-"), self._count)
        there = range(1, self._count + 1)
        self._pages = [n for n in there if any(n in numbers for numbers in asked)]
        self._are_missing = any(numbers.stop > there.stop for numbers in asked)
        self._is_part = bool(options.get("pages"))
        self._bookmarks: dict[int, list[Bookmark]] = {}
        for bookmark in _bookmarks(document):
            self._bookmarks.setdefault(bookmark.page, []).append(bookmark)
        self._read: list[int] = []
        self._empty: list[int] = []
        self._broken: list[int] = []
        self._is_cut = False
        self._parts: list[str] = []
        self._length = 0
        self.outline: list[Mapping[str, object]] = []
        self.hidden = 0
        self.is_truncated = False

    @property
    def markdown(self) -> str:
        """The text read so far."""
        return _SEPARATOR.join(self._parts)

    def run(self) -> None:
        """Read the pages.

        Raises:
            ContentError: there are none, or they have no text.
        """
        if not self._pages:
            raise _failure(
                f"the PDF has only {_pages(self._count)}",
                f"Ask for pages between 1 and {self._count}.",
            )
        for number in self._pages:
            if len(self._read) == self._max_pages or not self._take(number):
                self.is_truncated = True
                break
        if not self._parts:
            raise self._without_text()

    def notes(self) -> list[str]:
        """Return what a caller should know."""
        notes = []
        read_ones = f"Of the PDF's {_pages(self._count)}, these were read: {_ranges(self._read)}"
        if self.is_truncated:
            rest = self._pages[len(self._read) :]
            cut = ", the last one in part" if self._is_cut else ""
            on = f"; read on with #page={_ranges(rest)}" if rest else ""
            notes.append(f"{read_ones}{cut}{on}.")
        elif self._is_part:
            notes.append(f"{read_ones}.")
        if self._are_missing:
            notes.append(f"Further pages do not exist: the PDF has {_pages(self._count)}.")
        if self._empty:
            notes.append(f"Pages without text, probably scans: {_ranges(self._empty)}.")
        if self._broken:
            notes.append(f"Damaged pages, left out: {_ranges(self._broken)}.")
        return notes

    def _take(self, number: int) -> bool:
        """Read one page; returns whether it fitted, at least in part."""
        try:
            found = page_lines(self._document, number - 1, max_chars=self._max_chars + 1)
        except (RuntimeError, AssertionError):  # raised by PDFium and its Python binding
            self._read.append(number)
            self._broken.append(number)
            return True
        if not found.lines:
            self._read.append(number)
            self._empty.append(number)
            self.hidden += found.hidden
            return True
        here = [*self._marked(number, blocks(found.lines, self._bookmarks.get(number - 1, ())))]
        length = sum(len(_SEPARATOR) + len(block.text) for block in here)
        is_too_long = self._length + length > self._max_chars
        if is_too_long and self._parts:
            return False
        self._is_cut = is_too_long
        self._read.append(number)
        self.hidden += found.hidden
        self._write(here, number)
        return not self._is_cut

    def _marked(self, number: int, found: Iterator[Block]) -> Iterator[Block]:
        if self._bookmarks:
            yield Block(f"[page {number}]")
        else:
            title = f"Page {number}"
            mark = Bookmark(title, _PAGE_LEVEL, number - 1, None)
            yield Block(f"{'#' * _PAGE_LEVEL} {title}", mark, title)
        yield from found

    def _write(self, here: Sequence[Block], number: int) -> None:
        for block in here:
            offset = self._length + (len(_SEPARATOR) if self._parts else 0)
            text = block.text[: max(0, self._max_chars - offset)]
            if not text:
                return
            self._parts.append(text)
            self._length = offset + len(text)
            if block.heading is not None:
                heading = {"level": block.heading.level, "title": block.title}
                self.outline.append({**heading, "offset": offset, "anchor": f"page={number}"})

    def _without_text(self) -> ContentError:
        if len(self._broken) == len(self._read):
            return _failure("the PDF is damaged: none of its pages can be read")
        return _failure(
            f"the PDF has no text layer; pages looked at: {_ranges(self._read)} of {self._count}",
            "They are most likely scans, which only OCR can read.",
        )


def _ranges(numbers: Sequence[int]) -> str:
    """Format pages as `3-7,9`."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(shown[:_SHOWN_RANGES]) + ("..." if len(shown) > _SHOWN_RANGES else "")


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _failure(message: str, advice: str = "") -> ContentError:
    return ContentError(message, code=ErrorCode.EXTRACTION_FAILED, advice=advice)


@contextmanager
def _opened(body: bytes) -> Iterator["PdfDocument"]:
    """Open a PDF, one at a time: PDFium has one state for the whole process.

    Raises:
        ContentError: `unsupported_content_type` if PDFium is not installed, `extraction_failed` if the file cannot
            be opened.
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


def _information(document: "PdfDocument") -> tuple[dict[str, str], int]:
    """Return the metadata of the PDF in clean lines, empty if missing, and how many characters were removed."""
    texts = [
        clean_counted(document.get_metadata_value(key)) for key in ("Title", "Author", "Subject")
    ]
    (title, _), (author, _), (subject, _) = texts
    information = {
        "title": clean_line(title, _MAX_TITLE),
        "author": clean_line(author, _MAX_TITLE),
        "description": clean_line(subject, _MAX_DESCRIPTION),
        "published": iso_date(document.get_metadata_value("CreationDate")),
        "modified": iso_date(document.get_metadata_value("ModDate")),
    }
    return information, sum(hidden for _, hidden in texts)


def iso_date(text: str) -> str:
    """Convert a PDF date (PDF 32000-1:2008, 7.9.4), as far as it is valid, to ISO 8601; empty for other text."""
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


def _bookmarks(document: "PdfDocument") -> Sequence[Bookmark]:
    """The outline, without entries that point outside the document."""
    found: list[Bookmark] = []
    for number, entry in enumerate(document.get_toc()):
        if number == _MAX_BOOKMARKS:
            break
        if bookmark := _bookmark(entry):
            found.append(bookmark)
    return found


def _bookmark(entry: "PdfBookmark") -> Bookmark | None:
    title = clean_line(entry.get_title(), _MAX_TITLE)
    destination = entry.get_dest()
    page = destination.get_index() if destination is not None else None
    if not title or destination is None or page is None:
        return None
    kind, place = destination.get_view()
    number = _TOP_OF_VIEW.get(kind, len(place))
    top = place[number] if number < len(place) else None
    # Some writers put zero, which means "unchanged", where they had no number.
    return Bookmark(title, min(entry.level + 1, _MAX_LEVEL), page, top or None)


def _refusal(code: int | None) -> ContentError:
    if code in {_NEEDS_PASSWORD, _UNKNOWN_SECURITY}:
        return _failure(
            "the PDF is encrypted: it needs a password", "Look for another copy of the document."
        )
    return _failure("the PDF is damaged or incomplete: it cannot be opened")

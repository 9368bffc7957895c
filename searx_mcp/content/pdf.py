"""PDFs as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from searx_mcp.content.pdf_pages import ranges_of
from searx_mcp.content.pdf_source import bookmarks, information, opened, page_lines
from searx_mcp.content.pdf_text import Block, Bookmark, blocks
from searx_mcp.content.words import count
from searx_mcp.errors import ContentError, ErrorCode

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_MAX_PAGES: Final = 1_000
_MAX_CHARS: Final = 1_000_000
_PAGE_LEVEL: Final = 2
_SEPARATOR: Final = "\n\n"

_SHOWN_RANGES: Final = 10
"""Ranges of pages named in a note at most."""


def read(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a PDF.

    An outline of its own becomes headings; without one, each page has a heading.

    Args:
        body: the file.
        options: `pages` as `pdf_pages.pages_of` gives them, all if missing or empty; `max_pages` (1,000) and
            `max_chars` (1,000,000 code points of Markdown), which end the reading.

    Returns:
        `markdown`, `title`, `author`, `description`, `published`, `modified`, `word_count`,
        `truncated`, `notes`, `hidden_chars_removed` and `outline`, each as in `models.page.Page`,
        and `page_count`. The anchor of a heading is that of its page, such as `page=3`.

    Raises:
        ContentError: `unsupported_content_type` if PDFium is not installed; `extraction_failed` for
            a file that is broken or needs a password, that has no text or none of these pages.
    """
    with opened(body) as document:
        about = information(document)
        reading = _Reading(document, options)
        reading.run()
        markdown = reading.markdown
        return {
            "title": about.title,
            "author": about.author,
            "description": about.subject,
            "published": about.created,
            "modified": about.modified,
            "markdown": markdown,
            "word_count": count(markdown),
            "outline": reading.outline,
            "page_count": len(document),
            "truncated": reading.is_truncated,
            "notes": reading.notes(),
            "hidden_chars_removed": about.hidden + reading.hidden,
        }


class _Reading:
    """One document, page by page.

    Attributes:
        outline: the headings in it.
        hidden: characters left out because nobody sees them.
        is_truncated: whether the reading was ended before all pages asked for were read.
    """

    def __init__(self, document: "PdfDocument", options: Mapping[str, Any]) -> None:
        self._document = document
        self._max_pages = int(options.get("max_pages", _MAX_PAGES))
        self._max_chars = int(options.get("max_chars", _MAX_CHARS))
        self._count = len(document)
        asked = ranges_of(str(options.get("pages") or "1-"), self._count)
        there = range(1, self._count + 1)
        self._pages = [n for n in there if any(n in numbers for numbers in asked)]
        self._are_missing = any(numbers.stop > there.stop for numbers in asked)
        self._is_part = bool(options.get("pages"))
        self._bookmarks: dict[int, list[Bookmark]] = {}
        for bookmark in bookmarks(document):
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
        """What was read so far."""
        return _SEPARATOR.join(self._parts)

    def run(self) -> None:
        """Read the pages.

        Raises:
            ContentError: there are none, or there is no text on them.
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
        """What a caller should know."""
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
            notes.append(f"Pages without text, most likely scans: {_ranges(self._empty)}.")
        if self._broken:
            notes.append(f"Damaged pages, left out: {_ranges(self._broken)}.")
        return notes

    def _take(self, number: int) -> bool:
        """Read one page; tell whether it had room, at least in part."""
        try:
            found = page_lines(self._document, number - 1, max_chars=self._max_chars + 1)
        except (RuntimeError, AssertionError):  # what PDFium and its Python part raise
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
            return _failure("the PDF is damaged: none of its pages can be read", "")
        return _failure(
            f"the PDF has no text layer; pages looked at: {_ranges(self._read)} of {self._count}",
            "They are most likely scans, which only text recognition could read.",
        )


def _ranges(numbers: Sequence[int]) -> str:
    """Such as `3-7,9`."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(shown[:_SHOWN_RANGES]) + ("..." if len(shown) > _SHOWN_RANGES else "")


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _failure(message: str, advice: str) -> ContentError:
    return ContentError(message, code=ErrorCode.EXTRACTION_FAILED, advice=advice)

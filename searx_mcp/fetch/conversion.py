"""What was fetched, turned into what a document holds."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import Converted, convert
from searx_mcp.content.disarm import disarm
from searx_mcp.content.outline import headings
from searx_mcp.content.pdf import pages_of
from searx_mcp.content.words import words
from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.tiers.interface import Composed, Material
from searx_mcp.models.page import Heading, PageImage
from searx_mcp.workers.interface import Workers

MAX_TITLE: Final = 300
MAX_DESCRIPTION: Final = 1_000
MAX_NOTE: Final = 300
_PDF: Final = "application/pdf"


@dataclass(frozen=True, slots=True)
class Readable:
    """Clean text with what is known of it; the attributes are those of `models.page.Page`."""

    markdown: str
    word_count: int
    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    outline: tuple[Heading, ...] = ()
    images: tuple[PageImage, ...] = ()
    hidden_chars_removed: int = 0
    is_truncated: bool = False
    is_skeleton: bool = False
    notes: tuple[str, ...] = ()


class Conversion:
    """Makes text of bodies, away from the event loop: pages in a thread, PDFs in a process."""

    def __init__(self, content: ContentConfig, workers: Workers) -> None:
        self._content = content
        self._workers = workers

    async def read(self, material: Material, *, fragment: str, deadline: float) -> Readable:
        """Make text of a body.

        A thread cannot be interrupted: when the call ends before it, its result is dropped.

        Args:
            material: what was fetched.
            fragment: of the address; names the pages of a PDF.
            deadline: the event loop's time by which to be done.

        Raises:
            ContentError: the body cannot be read.
            TransportError: `timeout`.
        """
        if material.media.read_as == _PDF:
            return await self._pdf(material, fragment, deadline)
        return _of(
            await asyncio.to_thread(
                convert,
                material.data,
                media_type=material.media.read_as,
                charset=material.media.charset,
                url=material.url,
                config=self._content,
            )
        )

    async def _pdf(self, material: Material, fragment: str, deadline: float) -> Readable:
        options = {"pages": pages_of(fragment)}
        try:
            found = await self._workers.run("pdf", material.data, options, deadline=deadline)
        except ContentError as error:
            error.url = material.url
            raise
        return _of_pdf(found)


def of_composed(page: Composed) -> Readable:
    """Clean what a tier composed of a stranger's texts."""
    clean, hidden = clean_counted(page.markdown.strip("\n"))
    markdown = disarm(clean)
    if not markdown.strip():
        raise ContentError("there is no text in it", code=ErrorCode.EXTRACTION_FAILED)
    return Readable(
        markdown=markdown,
        word_count=len(words(markdown)),
        title=clean_line(page.title, MAX_TITLE),
        description=clean_line(page.description, MAX_DESCRIPTION),
        author=clean_line(page.author, MAX_TITLE),
        published=clean_line(page.published, MAX_TITLE),
        modified=clean_line(page.modified, MAX_TITLE),
        language=page.language,
        outline=headings(markdown),
        hidden_chars_removed=hidden,
        is_truncated=page.is_truncated,
        notes=tuple(clean_line(note, MAX_NOTE) for note in page.notes),
    )


def _of(page: Converted) -> Readable:
    return Readable(
        markdown=page.markdown,
        word_count=page.word_count,
        title=page.title,
        description=page.description,
        author=page.author,
        published=page.published,
        modified=page.modified,
        language=page.language,
        outline=page.outline,
        images=page.images,
        hidden_chars_removed=page.hidden_chars_removed,
        is_skeleton=page.is_skeleton,
        notes=page.notes,
    )


def _of_pdf(found: Mapping[str, Any]) -> Readable:
    return Readable(
        markdown=found["markdown"],
        word_count=found["word_count"],
        title=found["title"],
        description=found["description"],
        author=found["author"],
        published=found["published"],
        modified=found["modified"],
        outline=tuple(Heading.model_validate(heading) for heading in found["outline"]),
        hidden_chars_removed=found["hidden_chars_removed"],
        is_truncated=found["truncated"],
        notes=tuple(found["notes"]),
    )

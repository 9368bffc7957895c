"""What was fetched, turned into what a document holds."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.disarm import disarm
from searx_mcp.content.document import Document, from_frame, options_for
from searx_mcp.content.outline import headings
from searx_mcp.content.pdf_pages import pages_of
from searx_mcp.content.words import count
from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.site_adapters.adapter import Composed, Material
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageKind, PageLink
from searx_mcp.models.request import Images
from searx_mcp.workers.failures import DefeatError, broken
from searx_mcp.workers.jobs import Workers

MAX_TITLE: Final = 300
MAX_DESCRIPTION: Final = 1_000
MAX_NOTE: Final = 300
_PDF: Final = "application/pdf"

_MARKUP = re.compile(r"[/+](?:html|xml)\b")
"""Media types of which plain text can be made without a parser."""

_TEXT_TIME: Final = 1.5
"""Seconds kept back for plain text: 0.4 to start a process in place of the one that was killed, 1.1
for two million characters of nothing but tags."""

_MIN_TIME: Final = 3.0
"""Seconds that must be left to keep some back: with fewer, a page on a busy machine would lose more
by being given up early than it could win."""


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
    site: str = ""
    canonical_url: str = ""
    kind: PageKind | None = None
    is_protected: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    outline: tuple[Heading, ...] = ()
    images: tuple[PageImage, ...] = ()
    links: tuple[PageLink, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    hidden_chars_removed: int = 0
    is_truncated: bool = False
    is_skeleton: bool = False
    notes: tuple[str, ...] = ()


class Conversion:
    """Makes text of bodies, away from the event loop and where they can do no harm."""

    def __init__(self, content: ContentConfig, workers: Workers) -> None:
        self._content = content
        self._workers = workers

    def warm(self) -> None:
        """Get ready for a body that is on its way; returns at once and never raises."""
        self._workers.warm()

    async def read(
        self, material: Material, *, fragment: str, deadline: float, images: Images | None = None
    ) -> Readable:
        """Make text of a body.

        A page that defeats its reader becomes plain text, if there is time left.

        Args:
            material: what was fetched.
            fragment: of the address; names the pages of a PDF.
            deadline: the event loop's time by which to be done.
            images: what stands for an image, if the call says so.

        Raises:
            ContentError: the body cannot be read.
            TransportError: `timeout`.
        """
        try:
            if material.media.read_as == _PDF:
                return await self._pdf(material, fragment, deadline)
            return _of(await self._page(material, deadline, self._content.of_call(images)))
        except ContentError as error:
            error.url = error.url or material.url
            raise

    async def _pdf(self, material: Material, fragment: str, deadline: float) -> Readable:
        options = {"pages": pages_of(fragment)}
        found = await self._workers.run("pdf", material.data, options, deadline=deadline)
        return _of_pdf(found)

    async def _page(self, material: Material, deadline: float, content: ContentConfig) -> Document:
        left = deadline - asyncio.get_running_loop().time()
        has_spare = left >= _MIN_TIME and _MARKUP.search(material.media.read_as)
        try:
            return await self._run(
                "page",
                material,
                content,
                deadline=deadline,
                reserve=_TEXT_TIME if has_spare else 0.0,
            )
        except DefeatError as defeat:
            if not has_spare:
                raise
            try:
                return await self._run("text", material, content, deadline=deadline)
            except ContentError:
                raise defeat from None

    async def _run(
        self,
        job: str,
        material: Material,
        content: ContentConfig,
        *,
        deadline: float,
        reserve: float = 0.0,
    ) -> Document:
        options = options_for(
            media_type=material.media.read_as,
            charset=material.media.charset,
            url=material.url,
            config=content,
        )
        found = await self._workers.run(
            job, material.data, options, deadline=deadline, reserve=reserve
        )
        try:
            return from_frame(found)
        except ValueError as exc:
            raise broken() from exc


def of_composed(page: Composed) -> Readable:
    """Clean what a site adapter composed of a stranger's texts."""
    clean, hidden = clean_counted(page.markdown.strip("\n"))
    markdown = disarm(clean)
    if not markdown.strip():
        raise ContentError("there is no text in it", code=ErrorCode.EXTRACTION_FAILED)
    return Readable(
        markdown=markdown,
        word_count=count(markdown),
        title=clean_line(page.title, MAX_TITLE),
        description=clean_line(page.description, MAX_DESCRIPTION),
        author=clean_line(page.author, MAX_TITLE),
        published=clean_line(page.published, MAX_TITLE),
        modified=clean_line(page.modified, MAX_TITLE),
        outline=headings(markdown),
        hidden_chars_removed=hidden,
        is_truncated=page.is_truncated,
        notes=tuple(clean_line(note, MAX_NOTE) for note in page.notes),
    )


def _of(page: Document) -> Readable:
    return Readable(
        markdown=page.markdown,
        word_count=page.word_count,
        title=page.title,
        description=page.description,
        author=page.author,
        published=page.published,
        modified=page.modified,
        language=page.language,
        site=page.site,
        canonical_url=page.canonical_url,
        kind=page.kind,
        is_protected=page.is_protected,
        sources=page.sources,
        outline=page.outline,
        images=page.images,
        links=page.links,
        code_blocks=page.code_blocks,
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

"""Bringing pages into the corpus: what is fresh is left alone, what is stale is asked about."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

from yarl import URL

from searx_mcp import __version__
from searx_mcp.content.chunks import CHUNK_CHARS, chunk_id, pieces
from searx_mcp.corpus.config import CorpusConfig
from searx_mcp.errors import DeadlineError, ErrorCode, FetchError, SearxMcpError
from searx_mcp.fetch.capture import captured_part
from searx_mcp.fetch.fetcher import Reading
from searx_mcp.models.evidence import PROTECTED
from searx_mcp.models.request import FetchRequest
from searx_mcp.models.service import Progress
from searx_mcp.models.spelling import in_words
from searx_mcp.render.tokens import estimate
from searx_mcp.storage.corpus import CorpusStore, PageHead, StoredChunk, StoredPage
from searx_mcp.storage.pages import Capture, CapturedPage, KeptPage, Validators

REFRESH_PAUSE: Final = 30.0
"""Seconds within which a page that was just fetched is not fetched again, whoever wants it."""
_PROTECTED: Final = frozenset({ErrorCode.AUTHENTICATION_REQUIRED, ErrorCode.BLOCKED_BY_SITE})


class PageSource(Protocol):
    """Gives whole pages; `fetch.fetcher.Fetcher` does."""

    async def read(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        previous: KeptPage | None = None,
    ) -> Reading:
        """Give one page; raises `SearxMcpError` only."""
        ...


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a page that was to be read.

    Attributes:
        url: under which the corpus has it.
        page: what it has; `None` if the page is protected or could not be read.
        chunks: of the page, in order.
        new_chunks: those that were not there before.
        was_fetched: whether a request was made that brought the page anew.
        note: what a caller should know.
        error: why it could not be read.
        duration_ms: of it all.
    """

    url: str
    page: StoredPage | None = None
    chunks: tuple[StoredChunk, ...] = ()
    new_chunks: int = 0
    was_fetched: bool = False
    note: str = ""
    error: SearxMcpError | None = None
    duration_ms: float = 0.0


class Ingestion:
    """Reads pages into the store, several at a time."""

    def __init__(
        self,
        store: CorpusStore,
        pages: PageSource,
        *,
        config: CorpusConfig,
        clock: Callable[[], float],
    ) -> None:
        """Take the parts; nothing is opened.

        Args:
            store: keeps pages and chunks.
            pages: reads pages.
            config: how much is kept and for how long it serves.
            clock: Unix seconds.
        """
        self._store = store
        self._pages = pages
        self._config = config
        self._clock = clock
        self._slots = asyncio.Semaphore(config.concurrency)
        self._extractor = f"searx-mcp {__version__}"
        if config.chunk_tokens:
            self._extractor += f", chunks of {config.chunk_tokens} tokens"

    async def ingest(
        self,
        url: str,
        *,
        force: bool = False,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> Ingested:
        """Bring a page into the corpus, unless it is there and fresh.

        Args:
            url: of the page.
            force: fetch it even if it is fresh, unless that was just done.
            deadline: the event loop's time by which to return.
            progress: told each step.

        Returns:
            What became of it; an error is a value here, since several pages are read at once.
        """
        started = asyncio.get_running_loop().time()
        try:
            async with self._slots, asyncio.timeout_at(deadline):
                done = await self._ingest(url, force=force, deadline=deadline, progress=progress)
        except SearxMcpError as error:
            done = Ingested(url, error=error)
            if isinstance(error, FetchError) and error.code in _PROTECTED:
                done = replace(done, note=PROTECTED)
        except TimeoutError:
            done = Ingested(url, error=_late(url))
        took = (asyncio.get_running_loop().time() - started) * 1_000
        return replace(done, duration_ms=took)

    async def _ingest(
        self, url: str, *, force: bool, deadline: float | None, progress: Progress | None
    ) -> Ingested:
        key = address_of(url)
        head = await self._store.head(key)
        note = ""
        if head is not None:
            age = max(0.0, self._clock() - head.fetched_at)
            if force and age < REFRESH_PAUSE:
                note = f"It was fetched {in_words(age)} ago, and is not fetched again so soon."
                force = False
            is_fresh = not force and self._is_fresh(head)
            if is_fresh and (stored := await self._store.page(key)):
                return Ingested(key, stored, await self._store.chunks(key), note=note)
        if progress is not None:
            progress(f"Scraping {key}...")
        stored = await self._store.page(key) if head is not None else None
        reading = await self._pages.read(
            FetchRequest(url=url, force_refresh=force),
            deadline=deadline,
            previous=_previous(stored) if stored else None,
        )
        return await self._keep(key, reading, stored, note)

    def _is_fresh(self, head: PageHead) -> bool:
        until = max(head.fresh_until, head.fetched_at + self._config.fresh_for)
        return head.extractor == self._extractor and self._clock() < until

    async def _keep(
        self, key: str, reading: Reading, stored: StoredPage | None, note: str
    ) -> Ingested:
        document = reading.kept.capture.page.document
        notes = [*reading.notes, *document.notes, *([note] if note else [])]
        if document.is_protected:
            return Ingested(key, was_fetched=reading.is_new, note=PROTECTED)
        page = self._stored(key, reading.kept.capture)
        if (
            stored is not None
            and stored.content_hash == page.content_hash
            and stored.extractor == page.extractor
        ):
            await self._store.renew(
                key,
                fetched_at=page.fetched_at,
                fresh_until=page.fresh_until,
                etag=page.etag,
                last_modified=page.last_modified,
            )
            chunks, new = await self._store.chunks(key), 0
        else:
            chunks = await asyncio.to_thread(self._cut, page)
            new = (await self._store.keep(page, chunks, self._clock())).new
        return Ingested(key, page, tuple(chunks), new, reading.is_new, " ".join(notes))

    def _stored(self, key: str, capture: Capture) -> StoredPage:
        page, document = capture.page, capture.page.document
        return StoredPage(
            url=key,
            final_url=page.final_url,
            title=document.title,
            etag=capture.validators.etag,
            last_modified=capture.validators.last_modified,
            content_hash=hashlib.sha256(document.markdown.encode()).hexdigest(),
            language=document.language,
            extractor=self._extractor,
            tier=page.tier,
            fetched_at=capture.fetched_at,
            fresh_until=capture.fresh_until,
            document=document,
        )

    def _cut(self, page: StoredPage) -> tuple[StoredChunk, ...]:
        """Cut a page into its chunks, equal ones being one."""
        document = page.document
        markdown = document.markdown
        tokens = self._config.chunk_tokens
        most, measure = (tokens, estimate) if tokens else (CHUNK_CHARS, len)
        found: dict[str, StoredChunk] = {}
        at = code_points = 0
        for piece in pieces(
            markdown, document.outline, title=document.title, most=most, measure=measure
        ):
            at += len(markdown[code_points : piece.start].encode())
            code_points = piece.start
            text = markdown[piece.start : piece.end]
            name = chunk_id(page.url, piece.path, text)
            end = at + len(text.encode())
            found.setdefault(name, StoredChunk(name, text, piece.path, at, end, estimate(text)))
        return tuple(found.values())


def address_of(url: str) -> str:
    """The address under which the corpus has a page: without a fragment that changes nothing."""
    try:
        parsed = URL(url)
    except ValueError:  # the error is told by what fetches it
        return url
    return str(parsed.with_fragment(captured_part(parsed) or None))


def _previous(stored: StoredPage) -> KeptPage:
    """A kept page as what was captured of it."""
    page = CapturedPage(
        document=stored.document,
        final_url=stored.final_url,
        content_type="text/html",
        content_length=len(stored.document.markdown),
        status_code=200,
        tier=stored.tier,
    )
    capture = Capture(
        page=page,
        url=stored.url,
        fetched_at=stored.fetched_at,
        fresh_until=stored.fresh_until,
        max_bytes=0,
        validators=Validators(stored.etag, stored.last_modified),
    )
    return KeptPage(capture, "")


def _late(url: str) -> SearxMcpError:
    return DeadlineError(f"{URL(url).host or 'The page'} was not read in time")

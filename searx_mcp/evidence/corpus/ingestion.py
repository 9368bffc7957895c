"""Ingestion of pages: fresh pages are not requested, stale ones are revalidated."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from yarl import URL

from searx_mcp import __version__
from searx_mcp.content.chunks import CHUNK_CHARS, chunk_id, pieces
from searx_mcp.content.clean import clean_line
from searx_mcp.errors import (
    DeadlineError,
    ErrorCode,
    FetchError,
    SearxMcpError,
    StorageError,
)
from searx_mcp.evidence.config import CorpusConfig
from searx_mcp.evidence.storage.store import CorpusStore, StoredChunk, StoredPage
from searx_mcp.evidence.values import PROTECTED
from searx_mcp.fetch.hops.answers import as_it_was, is_passing
from searx_mcp.fetch.site_adapters.adapter import captured_part
from searx_mcp.fetch.turns import Turn
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.progress import Progress
from searx_mcp.models.spelling import in_words
from searx_mcp.render.tokens import estimate
from searx_mcp.storage.pages import Capture, CapturedPage, KeptPage, Validators, WholePage
from searx_mcp.urls.hosts import host_in, is_short_enough

REFRESH_PAUSE: Final = 30.0
"""Seconds for which a page that was just fetched is not fetched again for any caller."""
_PROTECTED: Final = frozenset({ErrorCode.AUTHENTICATION_REQUIRED, ErrorCode.BLOCKED_BY_SITE})
HELD_FOR: Final = 600.0
"""Seconds for which a page that must not be written to disk is kept in memory, as in the page cache."""
_MAX_HOST: Final = 255
_MOST_HELD: Final = 32
"""Maximum pages in memory; those that expire first are dropped."""
_KEPT_BACK: Final = 0.1
_MOST_KEPT_BACK: Final = 1.0
"""Share of the time, and seconds, left for chunking and searching what a site sent at the last moment."""


class PageSource(Protocol):
    """Returns whole pages; `fetch.fetcher.Fetcher` does."""

    async def read(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        previous: KeptPage | None = None,
    ) -> WholePage:
        """Return one page; raises only `SearxMcpError`."""
        ...


@dataclass(frozen=True, slots=True)
class Ingested:
    """The outcome of ingesting a page.

    Attributes:
        url: its key in the corpus.
        page: as stored; `None` if the page is protected or could not be read.
        chunks: of the page, in order.
        new_chunks: those that were not there before.
        was_fetched: whether a request returned new content.
        note: for the caller.
        error: why it could not be read.
        duration_ms: in total.
    """

    url: str
    page: StoredPage | None = None
    chunks: tuple[StoredChunk, ...] = ()
    new_chunks: int = 0
    was_fetched: bool = False
    note: str = ""
    error: SearxMcpError | None = None
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class _Held:
    """A page that is not in the store, and the Unix seconds until which it is kept."""

    page: StoredPage
    chunks: tuple[StoredChunk, ...]
    until: float


class Ingestion:
    """Ingests pages into the store.

    A page with `no-store` is never written to disk: it is kept in memory for ten minutes, so that it can be
    searched and cited meanwhile, and so is one for which the store has no room. Such pages are found only by
    their address.
    """

    def __init__(
        self,
        store: CorpusStore,
        pages: PageSource,
        *,
        config: CorpusConfig,
        clock: Callable[[], float],
    ) -> None:
        """Keep the parts; opens nothing.

        Args:
            store: of pages and chunks.
            pages: reads pages.
            config: how much is stored, and how long it is fresh.
            clock: Unix seconds.
        """
        self._store = store
        self._pages = pages
        self._config = config
        self._clock = clock
        self._held: dict[str, _Held] = {}
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
        """Ingest a page, unless it is stored and fresh.

        Args:
            url: of the page.
            force: fetch it even if it is fresh, unless that was just done.
            deadline: the loop time by which to return.
            progress: called with each step.

        Returns:
            The outcome; an error is a value here, since several pages are read at once. While a site fails,
            the stored page is used, with a note.
        """
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(deadline):
                done = await self._ingest(url, force=force, deadline=deadline, progress=progress)
        except StorageError:
            done = Ingested(url, error=busy())
        except SearxMcpError as error:
            done = Ingested(url, error=error)
            if isinstance(error, FetchError) and error.code in _PROTECTED:
                done = replace(done, note=PROTECTED)
        except TimeoutError:
            done = Ingested(url, error=_late(url))
        took = (asyncio.get_running_loop().time() - started) * 1_000
        return replace(done, duration_ms=took)

    def held(self, url: str) -> StoredPage | None:
        """Return a page that is kept in memory."""
        now = self._clock()
        for name in [name for name, held in self._held.items() if held.until <= now]:
            del self._held[name]
        return self._held[url].page if url in self._held else None

    async def page(self, url: str) -> StoredPage | None:
        """Return a page by its key in the corpus, or `None`."""
        return self.held(url) or await self._store.page(url)

    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        """Return the chunks of a page, in order; none if the corpus does not have it."""
        return self._held[url].chunks if self.held(url) else await self._store.chunks(url)

    def let_go(self, urls: Sequence[str] | None) -> None:
        """Drop some or all of the pages in memory."""
        for url in [*self._held] if urls is None else urls:
            self._held.pop(url, None)

    async def _ingest(
        self, url: str, *, force: bool, deadline: float | None, progress: Progress | None
    ) -> Ingested:
        key = address_of(url)
        stored = await self.page(key)
        note = ""
        if stored is not None:
            age = self._age(stored)
            if force and age < REFRESH_PAUSE:
                note = f"It was fetched {in_words(max(1.0, age))} ago and is not fetched again so soon."
                force = False
            if not force and self._is_fresh(stored):
                return await self._as_kept(key, stored, note)
        if progress is not None:
            progress(f"Scraping {key}...")
        try:
            reading = await self._read(url, stored, force=force, deadline=deadline)
        except FetchError as error:
            if stored is None or not is_passing(error):
                raise
            return await self._as_kept(key, stored, as_it_was(error, self._age(stored)))
        return await self._keep(key, reading, stored, note)

    async def _read(
        self, url: str, stored: StoredPage | None, *, force: bool, deadline: float | None
    ) -> WholePage:
        """Read a page, or find that it is unchanged.

        Raises:
            SearxMcpError: it cannot be read.
        """
        deadline = earlier(deadline, share=_KEPT_BACK, most=_MOST_KEPT_BACK)
        previous = None
        if stored is not None and stored.extractor == self._extractor:
            previous = _previous(stored, may_store=stored.url not in self._held)
        return await self._pages.read(
            FetchRequest(url=url, force_refresh=force), deadline=deadline, previous=previous
        )

    def _age(self, stored: StoredPage) -> float:
        return max(0.0, self._clock() - stored.fetched_at)

    def _is_fresh(self, stored: StoredPage) -> bool:
        until = max(stored.fresh_until, stored.fetched_at + self._config.fresh_for)
        return stored.extractor == self._extractor and self._clock() < until

    async def _as_kept(self, key: str, stored: StoredPage, *notes: str) -> Ingested:
        note = " ".join(filter(None, (*notes, *stored.document.notes)))
        return Ingested(key, stored, await self.chunks(key), note=note)

    async def _keep(
        self, key: str, reading: WholePage, stored: StoredPage | None, note: str
    ) -> Ingested:
        capture = reading.kept.capture
        document = capture.page.document
        if document.is_protected:
            return Ingested(key, was_fetched=reading.is_new, note=PROTECTED)
        if stored is not None and capture.fetched_at < stored.fetched_at:
            # The page cache has an older version, which is used while the site fails.
            return await self._as_kept(key, stored, note, *reading.notes)
        page = self._stored(key, capture)
        note = " ".join(filter(None, (note, *reading.notes, *document.notes)))
        done = Ingested(key, page, note=note, was_fetched=reading.is_new)
        if (
            stored is not None
            and reading.kept.may_store
            and (stored.content_hash, stored.extractor) == (page.content_hash, page.extractor)
        ):
            await self._store.renew(
                key,
                fetched_at=page.fetched_at,
                fresh_until=page.fresh_until,
                etag=page.etag,
                last_modified=page.last_modified,
            )
            if chunks := await self._store.chunks(key):
                return replace(done, chunks=chunks)
        chunks = await asyncio.to_thread(self._cut, page)
        before = {chunk.id for chunk in self._held[key].chunks} if self.held(key) else set()
        self.let_go([key])
        if reading.kept.may_store:
            kept = await self._store.keep(page, chunks, self._clock())
            if kept.new or kept.reused or not chunks:
                return replace(done, chunks=chunks, new_chunks=kept.new)
        self._held[key] = _Held(page, chunks, self._clock() + HELD_FOR)
        while len(self._held) > _MOST_HELD:
            del self._held[next(iter(self._held))]
        return replace(
            done, chunks=chunks, new_chunks=sum(chunk.id not in before for chunk in chunks)
        )

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
        """Divide a page into its chunks; equal ones are merged."""
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
    """Return the key of a page in the corpus, equal for all spellings of an address.

    Scheme and host are in lower case and ASCII; the host has no final dot; a default port is removed, and so is a
    fragment unless it changes what is captured. A text that is not an address stays as it is; no page has it.
    """
    try:
        if not is_short_enough(host_in(url)):
            return url
        parsed = URL(url)
        if not (host := parsed.raw_host):
            return url
        if host.endswith("."):
            parsed = parsed.with_host(host.rstrip("."))
        if parsed.raw_path_qs == "/":
            parsed = parsed.with_path("/", keep_fragment=True)  # explicit
        return str(parsed.with_fragment(captured_part(parsed) or None))
    except (ValueError, IndexError):  # IndexError: yarl 1.25 on "http://[]@"
        return url


def earlier(deadline: float | None, *, share: float, most: float) -> float | None:
    """Return a deadline that keeps back some of the time left, for what is done with what came by then.

    Args:
        deadline: the loop time.
        share: of the time left.
        most: seconds.
    """
    if deadline is None:
        return None
    left = deadline - asyncio.get_running_loop().time()
    return deadline - min(share * left, most)


def missed(turn: Turn, now: float, *, is_late: bool) -> Ingested:
    """Return the outcome of a page that was not waited for: until the call's deadline, or not even so long."""
    return Ingested(turn.url, error=_late(turn.url) if is_late else turn.missed(now))


def busy() -> SearxMcpError:
    """Return the error for a corpus whose file is locked by other processes; it does not name the file."""
    return SearxMcpError(
        "The corpus is unavailable just now.",
        code=ErrorCode.INTERNAL,
        advice="Call again in a moment.",
    )


def _previous(stored: StoredPage, *, may_store: bool) -> KeptPage:
    """Convert a stored page to a capture, for a conditional request; nothing is known of its transport."""
    page = CapturedPage(
        document=stored.document,
        final_url=stored.final_url,
        content_type="",
        content_length=0,
        status_code=0,
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
    return KeptPage(capture, "", may_store=may_store)


def _late(url: str) -> SearxMcpError:
    host = clean_line(host_in(url), _MAX_HOST)
    return DeadlineError(f"{host or 'The page'} was not read in time")

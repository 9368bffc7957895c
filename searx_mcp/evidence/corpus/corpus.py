"""The corpus: ingests pages, searches them by question, and reports what it contains."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

from searx_mcp.content.chunks import Text
from searx_mcp.content.words import terms
from searx_mcp.errors import DeadlineError, StorageError
from searx_mcp.evidence.config import CorpusConfig
from searx_mcp.evidence.corpus.ingestion import (
    Ingested,
    Ingestion,
    PageSource,
    address_of,
    busy,
    missed,
)
from searx_mcp.evidence.corpus.retrieval import ChunkHit, Retrieved, Retriever
from searx_mcp.evidence.requests import IngestRequest, ReadRequest, StatusRequest
from searx_mcp.evidence.storage.store import (
    CorpusStore,
    PageHead,
    StoredChunk,
    StoredPage,
)
from searx_mcp.evidence.values import (
    PROTECTED,
    Chunk,
    CorpusPage,
    CorpusStatus,
    ExportedChunk,
    ExportedPage,
    IngestedPage,
    IngestResponse,
    QuestionChunks,
    ReadMetadata,
    ReadResponse,
)
from searx_mcp.fetch.turns import Turn, Turns, Wait
from searx_mcp.models.progress import Progress


class Corpus:
    """Stored pages in chunks, searched by question.

    Fresh pages are searched without a request; a stale one is revalidated first. Nothing is written while
    a page is fetched or a vector is computed.
    """

    def __init__(
        self,
        store: CorpusStore,
        pages: PageSource,
        retriever: Retriever,
        *,
        turns: Turns,
        config: CorpusConfig,
        clock: Callable[[], float],
    ) -> None:
        """Keep the parts; opens nothing.

        Args:
            store: of pages and chunks; closed with the corpus.
            pages: reads pages.
            retriever: finds chunks in the store.
            turns: lets pages be read concurrently.
            config: how much is stored, and how long it is fresh.
            clock: Unix seconds.
        """
        self._store = store
        self._retriever = retriever
        self._clock = clock
        self._turns = turns
        self._at_once = config.concurrency
        self._ingestion = Ingestion(store, pages, config=config, clock=clock)

    async def ingest(
        self,
        url: str,
        *,
        force: bool = False,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> Ingested:
        """Ingest a page that a caller named, unless it is stored and fresh; see `Ingestion.ingest`."""
        (done,) = await self.ingest_several(
            [url], wait=None, force=force, deadline=deadline, progress=progress
        )
        return done

    async def ingest_several(
        self,
        urls: Sequence[str],
        *,
        wait: Wait | None,
        force: bool = False,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> list[Ingested]:
        """Ingest pages concurrently, by the rule of `fetch.turns`.

        Args:
            urls: of the pages.
            wait: how long to wait; `None` for pages that the caller named.
            force: as for `Ingestion.ingest`.
            deadline: the loop time by which to return.
            progress: called with each step.

        Returns:
            The outcome of each, in order. A page that was not waited for is still read, and found later.
        """
        found: dict[int, Ingested] = {}
        is_over = False

        def tell(message: str) -> None:
            if progress is not None and not is_over:
                progress(message)

        async def read(place: int, url: str) -> int:
            tell(f"Checking if {url} is indexed...")
            done = await self._ingestion.ingest(url, force=force, deadline=deadline, progress=tell)
            found[place] = done
            if done.page is None:
                return 0
            tokens = sum(chunk.tokens for chunk in done.chunks)
            tell(f"Indexed {done.url} ({len(done.chunks)} chunks, {tokens} tokens)")
            return max(1, tokens)

        turns = [Turn(partial(read, place, url), url) for place, url in enumerate(urls)]
        try:
            await self._turns.take(
                turns,
                deadline=math.inf if deadline is None else deadline,
                at_once=self._at_once,
                wait=wait,
            )
        finally:
            is_over = True
        now = asyncio.get_running_loop().time()
        return [
            found.get(place) or missed(turn, now, is_late=deadline is not None and now >= deadline)
            for place, turn in enumerate(turns)
        ]

    async def read(
        self,
        request: ReadRequest,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> ReadResponse:
        """Answer questions from one page.

        Raises:
            FetchError: the page could not be read, and is not stored; see `searx_mcp.errors`.
        """
        done = await self.ingest(
            request.url, force=request.force_refresh, deadline=deadline, progress=progress
        )
        if done.note == PROTECTED:
            return ReadResponse(
                url=request.url,
                queries=tuple(
                    QuestionChunks(query=each, results=(), answered=False)
                    for each in request.questions
                ),
                note=PROTECTED,
            )
        if done.error is not None:
            raise done.error
        assert done.page is not None  # noqa: S101 - neither an error nor protected
        notes = [done.note] if done.note else []
        answers = []
        for question in request.questions:
            found = await self.retrieve(
                question, urls=(done.url,), limit=request.max_results, deadline=deadline
            )
            notes.extend(note for note in found.notes if note not in notes)
            told = found.support
            hits = found.hits[: None if told.answered else 1]
            heads = await asyncio.to_thread(table_heads, done.page, (hit.chunk for hit in hits))
            answers.append(
                QuestionChunks(
                    query=question,
                    results=tuple(_chunk(hit, heads.get(hit.chunk.id, "")) for hit in hits),
                    answered=told.answered,
                    support=round(told.score, 4),
                    missing_terms=told.missing,
                )
            )
        return ReadResponse(
            url=request.url,
            title=done.page.title,
            last_crawled=as_text(done.page.fetched_at),
            queries=tuple(answers),
            note=" ".join(notes),
            metadata=_metadata(done.page, done.chunks) if request.include_metadata else None,
        )

    @property
    def has_vectors(self) -> bool:
        """Whether a model computes vectors of chunks and questions."""
        return bool(self._retriever.model)

    async def retrieve(
        self,
        question: str,
        *,
        urls: Sequence[str] | None,
        limit: int,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> Retrieved:
        """Find the chunks that match a question; see `Retriever.retrieve`.

        Raises:
            SearxMcpError: the corpus cannot be read now.
        """
        held = [
            ChunkHit(url, chunk, 0.0, title=page.title)
            for url in urls or ()
            if (page := self._ingestion.held(url)) is not None
            for chunk in await self._ingestion.chunks(url)
        ]
        try:
            async with asyncio.timeout_at(deadline):
                return await self._retriever.retrieve(
                    question,
                    urls=urls,
                    limit=limit,
                    deadline=deadline,
                    held=held,
                    progress=progress,
                )
        except TimeoutError as exc:
            raise DeadlineError("The corpus was not searched in time") from exc
        except StorageError as exc:
            raise busy() from exc

    async def ingest_all(
        self,
        request: IngestRequest,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> IngestResponse:
        """Ingest pages concurrently; each one's failure is in its own outcome."""
        done = await self.ingest_several(
            request.url,
            wait=None,
            force=request.force_refresh,
            deadline=deadline,
            progress=progress,
        )
        self._retriever.make_vectors()
        pages = zip(request.url, done, strict=True)
        return IngestResponse(pages=tuple(self._ingested(url, each) for url, each in pages))

    def _ingested(self, url: str, done: Ingested) -> IngestedPage:
        error = done.error if done.note != PROTECTED else None
        return IngestedPage(
            url=url,
            title=done.page.document.title if done.page else "",
            chunks=len(done.chunks),
            new_chunks=done.new_chunks,
            tokens=sum(chunk.tokens for chunk in done.chunks),
            is_changed=done.new_chunks > 0,
            in_memory=bool(done.chunks)
            and (not self._store.is_lasting or self._ingestion.held(done.url) is not None),
            note=done.note,
            error=str(error) if error else "",
            error_type=error.code if error else "",
        )

    async def status(self, request: StatusRequest) -> CorpusStatus:
        """Report what the corpus contains, of all pages or of one; makes no request."""
        url = address_of(request.source_url) if request.source_url else None
        totals = await self._store.totals(url)
        model = self._retriever.model
        heads: Sequence[PageHead | None] = ()
        if url is not None:
            heads = [await self._store.head(url)]
        elif request.include_urls:
            heads = await self._store.heads()
        return CorpusStatus(
            source_url=request.source_url,
            documents=totals.documents,
            chunks=totals.chunks,
            tokens=totals.tokens,
            bytes=totals.bytes,
            embedding=model,
            embedded=await self._embedded(model, url),
            urls=tuple(
                CorpusPage(
                    url=head.url,
                    title=head.title,
                    chunks=head.chunks,
                    tokens=head.tokens,
                    fetched_at=as_text(head.fetched_at),
                )
                for head in heads
                if head is not None
            ),
        )

    async def _embedded(self, model: str, url: str | None) -> int:
        """Count the vectors of a model, for all chunks or those of one page."""
        if url is None:
            return await self._store.embedded(model)
        chunks = await self._store.chunks(url)
        return len(await self._store.vectors(model, [chunk.id for chunk in chunks]))

    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        """Return the chunks of a page, in order; none if it is not stored."""
        return await self._ingestion.chunks(address_of(url))

    async def pages(self, urls: Iterable[str]) -> list[StoredPage]:
        """Return those of some pages that are stored."""
        found = [await self._ingestion.page(address_of(url)) for url in urls]
        return [page for page in found if page is not None]

    async def heads(self) -> tuple[PageHead, ...]:
        """Return the metadata of each page, by address."""
        return await self._store.heads()

    async def pages_with(self, text: str, *, limit: int) -> list[str]:
        """Return the addresses of pages that may contain a text, the likeliest first."""
        found = await self._store.match(terms(text), urls=None, limit=limit)
        return list(dict.fromkeys(each.url for each in found))

    async def pin(self, urls: Sequence[str]) -> None:
        """Keep cited pages longer than others."""
        await self._store.pin([address_of(url) for url in urls], self._clock())

    async def remove(self, urls: Sequence[str]) -> int:
        """Delete pages, and leave no trace on disk; return how many there were."""
        known = list(dict.fromkeys(map(address_of, urls)))
        held = [url for url in known if self._ingestion.held(url)]
        both = [url for url in held if await self._store.head(url)]
        self._ingestion.let_go(held)
        return len(held) - len(both) + await self._store.remove(known)

    async def clear(self) -> None:
        """Delete everything, and leave no trace on disk."""
        self._ingestion.let_go(None)
        await self._store.clear()

    async def export(self) -> AsyncIterator[ExportedPage]:
        """Yield all pages with their chunks, one at a time."""
        async for page in self._store.export():
            yield _exported(page, await self._store.chunks(page.url))

    async def aclose(self) -> None:
        """Stop background work and close the file; harmless when called twice."""
        await self._retriever.aclose()
        await self._store.aclose()


def as_text(seconds: float) -> str:
    """Format Unix seconds as ISO 8601 in UTC."""
    return datetime.fromtimestamp(round(seconds), UTC).isoformat()


def table_heads(page: StoredPage, chunks: Iterable[StoredChunk]) -> dict[str, str]:
    """Return the headers of the tables in which chunks of a page begin, by the ids of the chunks."""
    inside = [chunk for chunk in chunks if chunk.text.lstrip().startswith("|")]
    if not inside:
        return {}
    text, kept = Text(page.document.markdown), page.document.markdown.encode("utf-8", "replace")
    heads = [text.head(len(kept[: chunk.start].decode("utf-8", "replace"))) for chunk in inside]
    return {
        chunk.id: head
        for chunk, head in zip(inside, heads, strict=True)
        if head.lstrip().startswith("|")
    }


def _chunk(hit: ChunkHit, table_head: str) -> Chunk:
    return Chunk(
        id=hit.chunk.id,
        text=hit.chunk.text,
        table_head=table_head,
        score=round(hit.score, 4),
        section_path=hit.chunk.path,
        span=(hit.chunk.start, hit.chunk.end),
        low_confidence=hit.low_confidence,
    )


def _metadata(page: StoredPage, chunks: Sequence[StoredChunk]) -> ReadMetadata:
    return ReadMetadata(
        final_url=page.final_url,
        etag=page.etag,
        last_modified=page.last_modified,
        content_hash=page.content_hash,
        language=page.language,
        tier=page.tier,
        extractor=page.extractor,
        chunks=len(chunks),
        tokens=sum(chunk.tokens for chunk in chunks),
    )


def _exported(page: StoredPage, chunks: Sequence[StoredChunk]) -> ExportedPage:
    return ExportedPage(
        url=page.url,
        final_url=page.final_url,
        title=page.title,
        etag=page.etag,
        last_modified=page.last_modified,
        content_hash=page.content_hash,
        language=page.language,
        tier=page.tier,
        extractor=page.extractor,
        fetched_at=as_text(page.fetched_at),
        markdown=page.document.markdown,
        chunks=tuple(
            ExportedChunk(
                id=chunk.id,
                section_path=chunk.path,
                span=(chunk.start, chunk.end),
                tokens=chunk.tokens,
                text=chunk.text,
            )
            for chunk in chunks
        ),
    )

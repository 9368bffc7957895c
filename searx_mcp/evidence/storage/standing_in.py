"""A corpus on a server, with one in memory that replaces it while the server is unavailable."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageError, StorageUnavailableError
from searx_mcp.evidence.storage.store import (
    ChunkMatch,
    CorpusStore,
    Kept,
    PageHead,
    StoredChunk,
    StoredPage,
    Totals,
)

T = TypeVar("T")


class StandingInCorpusStore(CorpusStore):
    """The store on a server; while that is unavailable, one in memory.

    When the server is back, the pages in memory are moved to it before any other request, so that a page that a call
    has just stored is found by the next.

    Args:
        there: the store on the server.
        make: creates a store in memory.
    """

    def __init__(self, there: CorpusStore, make: Callable[[], CorpusStore]) -> None:
        self._there = there
        self._make = make
        self._here: CorpusStore | None = None
        self._bringing = asyncio.Lock()

    @override
    def __repr__(self) -> str:
        return f"<StandingInCorpusStore of {self._there!r} [{'away' if self._here else 'there'}]>"

    @property
    @override
    def is_lasting(self) -> bool:
        return self._here is None

    @override
    async def keep(self, page: StoredPage, chunks: Sequence[StoredChunk], now: float) -> Kept:
        return await self._call(lambda store: store.keep(page, chunks, now))

    @override
    async def renew(
        self, url: str, *, fetched_at: float, fresh_until: float, etag: str, last_modified: str
    ) -> None:
        await self._call(
            lambda store: store.renew(
                url,
                fetched_at=fetched_at,
                fresh_until=fresh_until,
                etag=etag,
                last_modified=last_modified,
            )
        )

    @override
    async def head(self, url: str) -> PageHead | None:
        return await self._call(lambda store: store.head(url))

    @override
    async def heads(self) -> tuple[PageHead, ...]:
        return await self._call(lambda store: store.heads())

    @override
    async def page(self, url: str) -> StoredPage | None:
        return await self._call(lambda store: store.page(url))

    @override
    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        return await self._call(lambda store: store.chunks(url))

    @override
    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[ChunkMatch, ...]:
        return await self._call(lambda store: store.match(terms, urls=urls, limit=limit))

    @override
    async def frequencies(
        self, terms: Sequence[str], *, urls: Sequence[str] | None = None
    ) -> tuple[int, dict[str, int]]:
        return await self._call(lambda store: store.frequencies(terms, urls=urls))

    @override
    async def vectors(self, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        return await self._call(lambda store: store.vectors(model, ids))

    @override
    async def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        await self._call(lambda store: store.keep_vectors(model, vectors))

    @override
    async def unembedded(self, model: str, limit: int) -> tuple[StoredChunk, ...]:
        return await self._call(lambda store: store.unembedded(model, limit))

    @override
    async def embedded(self, model: str) -> int:
        return await self._call(lambda store: store.embedded(model))

    @override
    async def pin(self, urls: Sequence[str], now: float) -> None:
        await self._call(lambda store: store.pin(urls, now))

    @override
    async def totals(self, url: str | None = None) -> Totals:
        """Count; while the server is away, the pages in memory.

        Raises:
            StorageUnavailableError: there are none either, so nothing is known.
        """
        if self._here is None:
            return await self._there.totals(url)
        return await self._call(lambda store: store.totals(url))

    @override
    async def export(self) -> AsyncIterator[StoredPage]:
        for head in await self.heads():
            if page := await self.page(head.url):
                yield page

    @override
    async def remove(self, urls: Sequence[str]) -> int:
        await self._bring()
        return await self._there.remove(urls)

    @override
    async def clear(self) -> None:
        await self._let_go()
        await self._there.clear()

    @override
    async def purge(self) -> None:
        await self._let_go()
        await self._there.purge()

    @override
    async def aclose(self) -> None:
        await self._let_go()
        await self._there.aclose()

    async def _call(self, ask: Callable[[CorpusStore], Awaitable[T]]) -> T:
        try:
            await self._bring()
            return await ask(self._there)
        except StorageUnavailableError:
            if self._here is None:
                self._here = self._make()
            return await ask(self._here)

    async def _bring(self) -> None:
        """Move the pages stored meanwhile to the server, one at a time."""
        while (here := self._here) is not None:
            async with self._bringing:
                await self._bring_from(here)

    async def _bring_from(self, here: CorpusStore) -> None:
        for head in await here.heads():
            page, chunks = await here.page(head.url), await here.chunks(head.url)
            try:
                if page is not None:
                    await self._there.keep(page, chunks, page.fetched_at)
            except (StorageBusyError, StorageUnavailableError):
                raise
            except StorageError:
                pass  # the server does not accept this one
            await here.remove([head.url])
        if self._here is here:
            await self._let_go()

    async def _let_go(self) -> None:
        here, self._here = self._here, None
        if here is not None:
            await here.aclose()

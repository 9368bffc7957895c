"""Pages that processes share, with a fallback in memory."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.storage.memory import MEMORY_BYTES, MemoryPageStore
from searx_mcp.storage.packing import (
    Item,
    is_cursor,
    kept_page,
    kept_robots,
    pack_about,
    pack_robots,
    packed,
)
from searx_mcp.storage.pages import Capture, KeptPage, KeptRobots, PageKey, PageStore

T = TypeVar("T")


class SharedPageStore(PageStore, ABC):
    """Captures in a place where other processes find them.

    What cannot be stored there is kept in memory, so that its cursor is valid for the life of the process. Of
    two captures under a key, the later one counts.

    Args:
        max_bytes: maximum compressed bytes, with overhead for each entry.
        max_age: seconds after which a capture is deleted.
    """

    def __init__(self, *, max_bytes: int, max_age: float) -> None:
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._memory = MemoryPageStore(max_bytes=min(max_bytes, MEMORY_BYTES), max_age=max_age)

    @override
    async def find(self, key: PageKey, now: float) -> KeptPage | None:
        async def look() -> KeptPage | None:
            return await self._kept(key.namespace, await self._item_under(key, now), now)

        kept, waiting = await self._try(look, now), await self._memory.find(key, now)
        if kept is None or waiting is None:
            return kept or waiting
        return waiting if waiting.capture.fetched_at >= kept.capture.fetched_at else kept

    @override
    async def read(self, namespace: str, cursor: str, now: float) -> KeptPage | None:
        async def look() -> KeptPage | None:
            return await self._kept(namespace, await self._item_named(namespace, cursor, now), now)

        if not is_cursor(cursor):
            return None
        return await self._try(look, now) or await self._memory.read(namespace, cursor, now)

    @override
    async def keep(self, key: PageKey, capture: Capture, now: float) -> str:
        found = await packed(key.namespace, capture.page)
        item = Item(
            name=found.cursor,
            fetched_at=capture.fetched_at,
            fresh_until=capture.fresh_until,
            about=pack_about(capture),
            body=found.body,
        )
        if await self._try(lambda: self._put(key, item, now), now, writes=True):
            self._memory.forget(key)
        else:
            self._memory.put(key, found, capture, now)
        return found.cursor

    @override
    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        async def look() -> KeptRobots | None:
            return kept_robots(await self._item_of(origin), now, max_age=self._max_age)

        kept, waiting = await self._try(look, now), await self._memory.robots(origin, now)
        if kept is None or waiting is None:
            return kept or waiting
        return waiting if waiting.fetched_at >= kept.fetched_at else kept

    @override
    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        body = await asyncio.to_thread(pack_robots, robots)
        item = Item("", robots.fetched_at, robots.fetched_at, b"", body)
        if not await self._try(lambda: self._put_robots(origin, item, now), now, writes=True):
            await self._memory.keep_robots(origin, robots, now)

    async def _kept(self, namespace: str, item: Item | None, now: float) -> KeptPage | None:
        return await kept_page(namespace, item, now, max_age=self._max_age)

    async def _try(
        self,
        work: Callable[[], Awaitable[T]],
        now: float,  # noqa: ARG002 - for those who wait before they try again
        *,
        writes: bool = False,  # noqa: ARG002 - as above
    ) -> T | None:
        """Return the result of `work`, or `None` if the store is unavailable."""
        try:
            return await work()
        except StorageError:
            return None

    @abstractmethod
    async def _item_under(self, key: PageKey, now: float) -> Item | None:
        """Return the page of the last capture under a key, with that capture's fields."""

    @abstractmethod
    async def _item_named(self, namespace: str, cursor: str, now: float) -> Item | None:
        """Return a page, with the fields of its last capture."""

    @abstractmethod
    async def _item_of(self, origin: str) -> Item | None:
        """Return the robots.txt of an origin."""

    @abstractmethod
    async def _put(self, key: PageKey, item: Item, now: float) -> bool:
        """Store a page, and that it was captured under `key`; return whether it was stored."""

    @abstractmethod
    async def _put_robots(self, origin: str, item: Item, now: float) -> bool:
        """Store a robots.txt that has no name yet; return whether it was stored."""

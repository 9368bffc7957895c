"""A store that outlives the process and is shared by all processes of a user."""

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeVar

from typing_extensions import override

from searx_mcp.fetch.pages.freshness import believed, has_expired, is_from_future
from searx_mcp.fetch.pages.interface import Capture, KeptPage, KeptRobots, PageKey, PageStore
from searx_mcp.fetch.pages.memory import MEMORY_BYTES, MemoryPageStore
from searx_mcp.fetch.pages.packing import (
    is_cursor,
    pack,
    pack_about,
    pack_robots,
    unpack,
    unpack_capture,
    unpack_robots,
)
from searx_mcp.fetch.pages.tables import (
    SCHEMA,
    Bounds,
    Item,
    drop_all,
    drop_some,
    item_named,
    item_under,
    put,
    touch,
)
from searx_mcp.storage.errors import StorageBusyError, StorageError, unavailable
from searx_mcp.storage.secret import kept_secret
from searx_mcp.storage.sqlite import PATIENCE, Database

KEY_FILE: Final = "pages.key"
"""Name of the file with the secret that hides addresses, beside the file of the pages."""
PAUSE: Final = 30.0
"""Seconds a file that could not be used is left alone: nobody waits for it again and again."""

_KEY_BYTES: Final = 16

T = TypeVar("T")

_log = logging.getLogger("searx_mcp.fetch.pages")


def open_store(path: Path | None, *, max_bytes: int, max_age: float) -> PageStore:
    """A store in the file `path`, best `folder / FILE_NAME`; in memory without one.

    Nothing is opened before the first use.
    """
    if path is None:
        return MemoryPageStore(max_bytes=min(max_bytes, MEMORY_BYTES), max_age=max_age)
    return SqlitePageStore(path, max_bytes=max_bytes, max_age=max_age)


class SqlitePageStore(PageStore):
    """Captures in one SQLite file, compressed, under keyed hashes of their addresses.

    While the file cannot be written, captures are kept in memory, so that their cursors are good
    for as long as the process; the first time, a warning is logged. After a failure the file is
    left alone for half a minute, then tried again; one that cannot be written is still read.

    Args:
        path: the file; its folder is made, and the secret is kept beside it.
        max_bytes: compressed bytes kept at most, with what is counted for each row.
        max_age: seconds after which a capture is forgotten.
        patience: seconds one call may take.
    """

    def __init__(
        self, path: Path, *, max_bytes: int, max_age: float, patience: float = PATIENCE
    ) -> None:
        self._database = Database(path, SCHEMA, patience=patience)
        self._bounds = Bounds(max_bytes, max_age)
        self._memory = MemoryPageStore(max_bytes=min(max_bytes, MEMORY_BYTES), max_age=max_age)
        self._secret = b""
        self._read_at = self._write_at = -math.inf  # not before
        self._has_warned = False

    @override
    def __repr__(self) -> str:
        return f"<SqlitePageStore {self._database.path}>"

    @override
    async def find(self, key: PageKey, now: float) -> KeptPage | None:
        async def look() -> KeptPage | None:
            name = await self._keyed("page", key.namespace, key.url, key.variant)
            item = await self._database.read(lambda tx: item_under(tx, name))
            return await self._unpacked(key.namespace, item, now)

        kept, waiting = await self._read(look, now), await self._memory.find(key, now)
        if kept is None or waiting is None:
            return kept or waiting
        return waiting if waiting.capture.fetched_at >= kept.capture.fetched_at else kept

    @override
    async def read(self, namespace: str, cursor: str, now: float) -> KeptPage | None:
        async def look() -> KeptPage | None:
            item = await self._database.read(lambda tx: item_named(tx, cursor))
            return await self._unpacked(namespace, item, now)

        if not is_cursor(cursor):
            return None
        return await self._read(look, now) or await self._memory.read(namespace, cursor, now)

    @override
    async def keep(self, key: PageKey, capture: Capture, now: float) -> str:
        packed = await asyncio.to_thread(pack, key.namespace, capture.document)

        async def write() -> bool:
            name = await self._keyed("page", key.namespace, key.url, key.variant)
            item = Item(
                name=packed.cursor,
                fetched_at=capture.fetched_at,
                fresh_until=capture.fresh_until,
                about=pack_about(capture),
                body=packed.body,
            )
            return await self._database.write(lambda tx: put(tx, item, name, now, self._bounds))

        if await self._write(write, now):
            self._memory.forget(key)
        else:
            self._memory.put(key, packed, capture, now)
        return packed.cursor

    @override
    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        async def look() -> KeptRobots | None:
            name = (await self._keyed("robots", origin)).hex()
            item = await self._database.read(lambda tx: item_named(tx, name))
            if item is None or is_from_future(item.fetched_at, now):
                return None
            if has_expired(item.fetched_at, now, self._bounds.max_age):
                return None
            return unpack_robots(item.body, fetched_at=item.fetched_at)

        kept, waiting = await self._read(look, now), await self._memory.robots(origin, now)
        if kept is None or waiting is None:
            return kept or waiting
        return waiting if waiting.fetched_at >= kept.fetched_at else kept

    @override
    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        body = await asyncio.to_thread(pack_robots, robots)

        async def write() -> bool:
            name = (await self._keyed("robots", origin)).hex()
            item = Item(name, robots.fetched_at, robots.fetched_at, b"", body)
            return await self._database.write(lambda tx: put(tx, item, None, now, self._bounds))

        if not await self._write(write, now):
            await self._memory.keep_robots(origin, robots, now)

    @override
    async def purge(self) -> None:
        await self._memory.purge()
        while await self._database.write(drop_some):
            pass
        await self._database.erase(drop_all)

    @override
    async def aclose(self) -> None:
        await self._database.aclose()

    async def _unpacked(self, namespace: str, item: Item | None, now: float) -> KeptPage | None:
        if item is None or has_expired(item.fetched_at, now, self._bounds.max_age):
            return None
        document = await asyncio.to_thread(unpack, namespace, item.name, item.body)
        if document is None:
            return None
        capture = unpack_capture(
            document, item.about, fetched_at=item.fetched_at, fresh_until=item.fresh_until
        )
        if capture is None:
            return None
        if not item.is_latest:

            async def note() -> None:
                await self._database.write(lambda tx: touch(tx, item.name))

            await self._write(note, now)
        return KeptPage(believed(capture, now), item.name)

    async def _keyed(self, *parts: str) -> bytes:
        """The keyed hash under which something is kept; the secret never leaves the machine."""
        if not self._secret:
            path = self._database.path.with_name(KEY_FILE)
            try:
                secret = await asyncio.to_thread(kept_secret, path)
            except OSError as exc:
                raise unavailable(exc, path) from exc
            self._secret = blake2b(secret, person=b"searx-mcp pages").digest()
        text = json.dumps(parts).encode()
        return blake2b(text, digest_size=_KEY_BYTES, key=self._secret).digest()

    async def _read(self, work: Callable[[], Awaitable[T]], now: float) -> T | None:
        """Give what `work` gives, or `None` if the file cannot be read now."""
        if _is_ahead(self._read_at, now):
            return None
        try:
            return await work()
        except StorageError as exc:
            self._read_at = self._write_at = now + PAUSE
            self._tell(exc)
            return None

    async def _write(self, work: Callable[[], Awaitable[T]], now: float) -> T | None:
        """Give what `work` gives, or `None` if the file cannot be written now."""
        if _is_ahead(self._write_at, now):
            return None
        try:
            return await work()
        except StorageError as exc:
            self._write_at = now + PAUSE
            self._tell(exc)
            return None

    def _tell(self, error: StorageError) -> None:
        if self._has_warned or isinstance(error, StorageBusyError):
            _log.debug("pages.not_kept file=%s: %s", self._database.path, error.message)
            return
        self._has_warned = True
        _log.warning(
            "pages.not_kept folder=%s: Pages are kept only as long as this process: %s. %s",
            self._database.path.parent,
            error.message,
            error.advice,
        )


def _is_ahead(at: float, now: float) -> bool:
    # Further ahead it was set before the clock was put back.
    return 0 < at - now <= PAUSE

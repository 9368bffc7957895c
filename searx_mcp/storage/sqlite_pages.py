"""A page store that outlives the process and is shared by all processes of a user."""

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageError
from searx_mcp.files import kept_secret
from searx_mcp.storage.memory import MEMORY_BYTES, MOST_KEYS, ROW, MemoryPageStore
from searx_mcp.storage.opening import Schema, unavailable
from searx_mcp.storage.packing import Item
from searx_mcp.storage.pages import SKEW, KeptPage, PageKey, PageStore
from searx_mcp.storage.shared_pages import SharedPageStore
from searx_mcp.storage.sqlite import PATIENCE, Database, Transaction

KEY_FILE: Final = "pages.key"
"""File with the secret that hides addresses, beside the file of the pages."""
PAUSE: Final = 30.0
"""Seconds before an unusable file is tried again, so that not every call waits for it."""
_KEY_BYTES: Final = 16
T = TypeVar("T")
_log = logging.getLogger("searx_mcp.storage")

# `items` are pages, by cursor, and robots.txt, by a keyed hash. `captures` say what was captured under
# which key. `used` is a number that grows with each use, not a time, so that setting the clock back does
# not change the order of use. `total` is the sum of all sizes.
SCHEMA: Final = Schema(
    major=1,
    minors=(
        (
            """CREATE TABLE items (
                name TEXT NOT NULL UNIQUE, fetched_at REAL NOT NULL, fresh_until REAL NOT NULL,
                used INTEGER NOT NULL, size INTEGER NOT NULL, about BLOB NOT NULL, body BLOB NOT NULL
            )""",
            "CREATE INDEX items_by_age ON items (fetched_at)",
            "CREATE INDEX items_by_use ON items (used)",
            """CREATE TABLE captures (
                key BLOB PRIMARY KEY, cursor TEXT NOT NULL, fetched_at REAL NOT NULL,
                fresh_until REAL NOT NULL, used INTEGER NOT NULL, size INTEGER NOT NULL,
                about BLOB NOT NULL
            ) WITHOUT ROWID""",
            "CREATE INDEX captures_by_age ON captures (fetched_at)",
            "CREATE INDEX captures_by_cursor ON captures (cursor, used)",
            "CREATE TABLE total (row INTEGER PRIMARY KEY CHECK (row = 1), bytes INTEGER NOT NULL)",
            "INSERT INTO total (row, bytes) VALUES (1, 0)",
            """CREATE TRIGGER item_kept AFTER INSERT ON items BEGIN
                UPDATE total SET bytes = bytes + NEW.size;
            END""",
            """CREATE TRIGGER item_changed AFTER UPDATE OF size ON items BEGIN
                UPDATE total SET bytes = bytes + NEW.size - OLD.size;
            END""",
            """CREATE TRIGGER item_gone AFTER DELETE ON items BEGIN
                UPDATE total SET bytes = bytes - OLD.size;
                DELETE FROM captures WHERE cursor = OLD.name;
            END""",
            """CREATE TRIGGER capture_kept AFTER INSERT ON captures BEGIN
                UPDATE total SET bytes = bytes + NEW.size;
            END""",
            """CREATE TRIGGER capture_changed AFTER UPDATE OF size ON captures BEGIN
                UPDATE total SET bytes = bytes + NEW.size - OLD.size;
            END""",
            """CREATE TRIGGER capture_gone AFTER DELETE ON captures BEGIN
                UPDATE total SET bytes = bytes - OLD.size;
            END""",
        ),
    ),
    checked=False,
)

FILE_NAME: Final = f"pages-v{SCHEMA.major}.db"
"""The file's name; another major is another file, so programs of both keep their own."""

# SQLite lets any column hold any type. Values of another type are not ours: ignore them.
_SELECT: Final = (
    "SELECT name, CAST({0}.fetched_at AS REAL), CAST({0}.fresh_until AS REAL),"
    " CAST({0}.about AS BLOB), CAST(body AS BLOB), items.used = (SELECT max(used) FROM items)"
    " FROM items"
)

_BLOCK: Final = 4_096
"""SQLite's unit of space. Items are counted in whole units: without that, a file of many pages of 2 KB was
measured to be 1.6 times the count."""

_AT_ONCE: Final = 256
_BYTES_AT_ONCE: Final = 4 << 20
"""Bytes that one transaction of a purge deletes: the journal must hold them, even on a full disk."""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The limits of a store.

    Attributes:
        max_bytes: of everything together, with overhead for each row.
        max_age: seconds since it was fetched.
    """

    max_bytes: int
    max_age: float


def open_store(path: Path | None, *, max_bytes: int, max_age: float) -> PageStore:
    """Return a store in the file `path`, best `folder / FILE_NAME`; in memory without a path.

    Nothing is opened before the first use.
    """
    if path is None:
        return MemoryPageStore(max_bytes=min(max_bytes, MEMORY_BYTES), max_age=max_age)
    return SqlitePageStore(path, max_bytes=max_bytes, max_age=max_age)


class SqlitePageStore(SharedPageStore):
    """Captures in one SQLite file, compressed, under keyed hashes of their addresses.

    While the file cannot be written, captures are kept in memory; the first time, a warning is logged. After
    a failure the file is not used for half a minute, then tried again; a file that cannot be written is still
    read.

    Args:
        path: the file; its folder is created, and the secret is stored beside it.
        max_bytes: maximum compressed bytes, with overhead for each row.
        max_age: seconds after which a capture is deleted.
        patience: seconds one call may take.
    """

    def __init__(
        self, path: Path, *, max_bytes: int, max_age: float, patience: float = PATIENCE
    ) -> None:
        super().__init__(max_bytes=max_bytes, max_age=max_age)
        self._database = Database(path, SCHEMA, patience=patience)
        self._bounds = PageLimits(max_bytes, max_age)
        self._secret = b""
        self._read_at = self._write_at = -math.inf  # not before
        self._has_warned = False

    @override
    def __repr__(self) -> str:
        return f"<SqlitePageStore {self._database.path}>"

    @override
    async def purge(self) -> None:
        await self._memory.purge()
        while await self._database.write(drop_some):
            pass
        await self._database.erase(drop_all)

    @override
    async def aclose(self) -> None:
        await self._database.aclose()

    @override
    async def _kept(self, namespace: str, item: Item | None, now: float) -> KeptPage | None:
        kept = await super()._kept(namespace, item, now)
        if item is not None and kept is not None and not item.is_latest:
            name = item.name
            await self._try(
                lambda: self._database.write(lambda tx: touch(tx, name)), now, writes=True
            )
        return kept

    @override
    async def _item_under(self, key: PageKey, now: float) -> Item | None:
        name = await self._keyed("page", key.namespace, key.url, key.variant)
        return await self._database.read(lambda tx: item_under(tx, name))

    @override
    async def _item_named(self, namespace: str, cursor: str, now: float) -> Item | None:
        return await self._database.read(lambda tx: item_named(tx, cursor))

    @override
    async def _item_of(self, origin: str) -> Item | None:
        name = (await self._keyed("robots", origin)).hex()
        return await self._database.read(lambda tx: item_named(tx, name))

    @override
    async def _put(self, key: PageKey, item: Item, now: float) -> bool:
        name = await self._keyed("page", key.namespace, key.url, key.variant)
        return await self._database.write(lambda tx: put(tx, item, name, now, self._bounds))

    @override
    async def _put_robots(self, origin: str, item: Item, now: float) -> bool:
        named = replace(item, name=(await self._keyed("robots", origin)).hex())
        return await self._database.write(lambda tx: put(tx, named, None, now, self._bounds))

    async def _keyed(self, *parts: str) -> bytes:
        """Return the keyed hash under which something is stored; the secret never leaves the machine."""
        if not self._secret:
            path = self._database.path.with_name(KEY_FILE)
            try:
                secret = await asyncio.to_thread(kept_secret, path)
            except OSError as exc:
                raise unavailable(exc, path) from exc
            self._secret = blake2b(secret, person=b"searx-mcp pages").digest()
        text = json.dumps(parts).encode()
        return blake2b(text, digest_size=_KEY_BYTES, key=self._secret).digest()

    @override
    async def _try(
        self, work: Callable[[], Awaitable[T]], now: float, *, writes: bool = False
    ) -> T | None:
        # A time further ahead was set before the clock was set back.
        if 0 < (self._write_at if writes else self._read_at) - now <= PAUSE:
            return None
        try:
            return await work()
        except StorageError as exc:
            self._write_at = now + PAUSE
            if not writes:
                self._read_at = self._write_at
            self._tell(exc)
            return None

    def _tell(self, error: StorageError) -> None:
        is_known = self._has_warned or isinstance(error, StorageBusyError)
        self._has_warned = self._has_warned or not is_known
        _log.log(
            logging.DEBUG if is_known else logging.WARNING,
            "pages.not_kept reason=%s advice=%s",
            error.message,
            error.advice,
        )


def item_under(tx: Transaction, key: bytes) -> Item | None:
    """Return the page of the last capture under a key, with that capture's fields."""
    rows = tx.rows(
        _SELECT.format("captures") + " JOIN captures ON cursor = name WHERE key = :key", key=key
    )
    return Item(*rows[0]) if rows else None


def item_named(tx: Transaction, name: str) -> Item | None:
    """Return an item, with the fields of its last capture."""
    rows = tx.rows(_SELECT.format("items") + " WHERE name = :name", name=name)
    return Item(*rows[0]) if rows else None


def touch(tx: Transaction, name: str) -> None:
    """Record that an item was used."""
    tx.change(
        "UPDATE items SET used = (SELECT max(used) FROM items) + 1 WHERE name = :name", name=name
    )


def put(tx: Transaction, item: Item, key: bytes | None, now: float, bounds: PageLimits) -> bool:
    """Store an item, and that it was captured under `key`; evict the least recently used ones.

    Returns:
        Whether it was stored; if it is too large, nothing is left under `key`.
    """
    _sweep(tx, now, bounds.max_age)
    size = -(-(len(item.body) + len(item.about) + ROW) // _BLOCK) * _BLOCK
    place_size = len(item.about) + ROW if key else 0
    if size + place_size > bounds.max_bytes:
        tx.change("DELETE FROM captures WHERE key = :key", key=key)
        return False
    known: dict[str, float | bytes] = {
        "fetched_at": item.fetched_at,
        "fresh_until": item.fresh_until,
        "about": item.about,
    }
    tx.change(
        "INSERT INTO items (name, fetched_at, fresh_until, used, size, about, body)"
        " VALUES (:name, :fetched_at, :fresh_until, (SELECT coalesce(max(used), 0) + 1 FROM items),"
        " :size, :about, :body) ON CONFLICT (name) DO UPDATE SET fetched_at = excluded.fetched_at,"
        " fresh_until = excluded.fresh_until, used = excluded.used, size = excluded.size,"
        " about = excluded.about, body = excluded.body",
        name=item.name,
        size=size,
        body=item.body,
        **known,
    )
    if key:
        tx.change(
            "INSERT INTO captures (key, cursor, fetched_at, fresh_until, used, size, about)"
            " VALUES (:key, :cursor, :fetched_at, :fresh_until, (SELECT max(used) FROM items),"
            " :size, :about) ON CONFLICT (key) DO UPDATE SET cursor = excluded.cursor,"
            " fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until,"
            " used = excluded.used, size = excluded.size, about = excluded.about",
            key=key,
            cursor=item.name,
            size=place_size,
            **known,
        )
        tx.change(
            "DELETE FROM captures WHERE cursor = :cursor AND used <= (SELECT used FROM captures"
            " WHERE cursor = :cursor ORDER BY used DESC LIMIT 1 OFFSET :most)",
            cursor=item.name,
            most=MOST_KEYS,
        )
    _make_room(tx, bounds.max_bytes, spared=item.name)
    return True


def drop_some(tx: Transaction) -> bool:
    """Delete as much as fits into one transaction.

    Returns:
        Whether there may be more.
    """
    sizes = tx.rows("SELECT rowid, size FROM items LIMIT :most", most=_AT_ONCE)
    total = 0
    for rowid, size in sizes:
        tx.change("DELETE FROM items WHERE rowid = :rowid", rowid=rowid)
        total += size
        if total >= _BYTES_AT_ONCE:
            return True
    return len(sizes) == _AT_ONCE


def drop_all(tx: Transaction) -> None:
    """Delete everything."""
    tx.change("DELETE FROM items")
    tx.change("DELETE FROM captures")


def _sweep(tx: Transaction, now: float, max_age: float) -> None:
    """Delete what is too old; what is from the future counts as fetched now."""
    for table in ("items", "captures"):
        tx.change(
            f"UPDATE {table} SET fetched_at = :now, fresh_until = :now"  # noqa: S608 - our own tables
            " WHERE fetched_at > :latest",
            now=now,
            latest=now + SKEW,
        )
        tx.change(
            f"DELETE FROM {table} WHERE fetched_at <= :oldest",  # noqa: S608 - as above
            oldest=now - max_age,
        )


def _make_room(tx: Transaction, max_bytes: int, *, spared: str) -> None:
    """Delete the least recently used items, then all but the last capture of the spared one."""
    for sql in (
        """DELETE FROM items WHERE rowid =
            (SELECT rowid FROM items WHERE name != :spared ORDER BY used LIMIT 1)""",
        "DELETE FROM captures WHERE cursor = :spared AND used < (SELECT max(used) FROM items)",
    ):
        while _total(tx) > max_bytes and tx.change(sql, spared=spared):
            pass


def _total(tx: Transaction) -> int:
    total: int = tx.rows("SELECT bytes FROM total")[0][0]
    return total

"""The tables of kept pages, and what is done with them inside a transaction."""

from dataclasses import dataclass
from typing import Final

from searx_mcp.fetch.pages.freshness import SKEW
from searx_mcp.fetch.pages.memory import MOST_KEYS, ROW
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.sqlite import Transaction

# `items` are documents, by cursor, and robots.txt, by a keyed hash. `captures` say what was captured
# under which key. `used` is a number that grows with each use, and no time: a clock that is put back
# does not change what was used last. `total` is the sum of all sizes.
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

# SQLite lets any column hold any type. What is of another is not ours, and read as nothing.
_SELECT: Final = (
    "SELECT name, CAST({0}.fetched_at AS REAL), CAST({0}.fresh_until AS REAL),"
    " CAST({0}.about AS BLOB), CAST(body AS BLOB), items.used = (SELECT max(used) FROM items)"
    " FROM items"
)
_BLOCK: Final = 4_096
"""Bytes in which a database takes room. Items are counted in whole ones: without, a file of many
pages of 2 KB was measured to be 1.6 times what was counted."""
_AT_ONCE: Final = 256
_BYTES_AT_ONCE: Final = 4 << 20
"""What one transaction of a purge deletes: the log of a database must hold it, on a full disk too."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept.

    Attributes:
        max_bytes: of everything together, with what is counted for each row.
        max_age: seconds since it was fetched.
    """

    max_bytes: int
    max_age: float


@dataclass(frozen=True, slots=True)
class Item:
    """A document or a robots.txt as it is kept.

    Attributes:
        name: a cursor, or the keyed hash of an origin.
        about: what the capture says beside; empty for a robots.txt.
        is_latest: whether nothing was used after it.
    """

    name: str
    fetched_at: float
    fresh_until: float
    about: bytes
    body: bytes
    is_latest: bool = False


def item_under(tx: Transaction, key: bytes) -> Item | None:
    """The document of the last capture under a key, with what that capture said."""
    rows = tx.rows(
        _SELECT.format("captures") + " JOIN captures ON cursor = name WHERE key = :key", key=key
    )
    return Item(*rows[0]) if rows else None


def item_named(tx: Transaction, name: str) -> Item | None:
    """An item, with what its last capture said."""
    rows = tx.rows(_SELECT.format("items") + " WHERE name = :name", name=name)
    return Item(*rows[0]) if rows else None


def touch(tx: Transaction, name: str) -> None:
    """Note that an item was used."""
    tx.change(
        "UPDATE items SET used = (SELECT max(used) FROM items) + 1 WHERE name = :name", name=name
    )


def put(tx: Transaction, item: Item, key: bytes | None, now: float, bounds: Bounds) -> bool:
    """Keep an item, and that it was captured under `key`; what was used least recently makes room.

    Returns:
        Whether it is kept; if it is too large for the bounds, nothing is under `key` any more.
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
    """Delete a part of everything that is small enough for one transaction.

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
    """Delete what was used least recently, then all but the last capture of what is spared."""
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

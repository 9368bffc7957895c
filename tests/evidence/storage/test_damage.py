"""Rows of a store that cannot be read, in a file and on a server."""

import secrets
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any

import pytest

from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore

NOW = 1_000_000_000.0
URL = "https://a.example/"
BOUNDS: dict[str, Any] = {"namespace": "n", "max_bytes": 1 << 26, "max_age": 1e9, "patience": 30}


@dataclass(frozen=True)
class Damaged:
    """A store, and how another program changes its rows; gives how many it has changed."""

    store: CorpusStore
    change: Callable[[str], Awaitable[int]]


@pytest.fixture
async def damaged(request, path) -> AsyncIterator[Damaged]:
    if request.param == "server":
        url = request.getfixturevalue("postgres_url")
        server = PostgresCorpusStore(url, **BOUNDS, schema=f"test_{secrets.token_hex(6)}")

        async def change_there(sql: str) -> int:
            done = await server._link.read(lambda connection: connection.execute(sql))
            return int(done.rpartition(" ")[2])

        made = Damaged(server, change_there)
    else:

        async def change(sql: str) -> int:
            with closing(sqlite3.connect(path)) as connection, connection:
                return connection.execute(sql).rowcount

        made = Damaged(SqliteCorpusStore(path, **BOUNDS), change)
    async with aclosing(made.store):
        yield made


def rows(kind: str, *changes: Any) -> list[Any]:
    marks = [pytest.mark.slow] if kind == "server" else []
    return [
        pytest.param(kind, *(change if isinstance(change, tuple) else (change,)), marks=marks)
        for change in changes
    ]


@pytest.mark.parametrize(
    ("damaged", "change", "left"),
    [
        *rows(
            "file",
            ("documents SET title = x'ff'", 0),
            ("documents SET title = 7, etag = 1.5", 1),
            ("documents SET url = x'ff'", 0),
            ("documents SET fetched_at = 9e999", 0),
            ("documents SET fetched_at = 'then', chunks = 'many', tokens = x'ff'", 1),
            ("documents SET chunks = 9e999, tokens = 9e999, used = 'x', pinned_at = 'y'", 1),
            ("documents SET version = 'old'", 1),
            ("bodies SET body = 'text'", 0),
            ("bodies SET body = x'789c4bcb070002820145'", 0),
            ("bodies SET document = -1", 0),
        ),
        *rows(
            "server",
            (r"documents SET title = '\xff'", 0),
            (r"documents SET url = '\xff'", 0),
            ("documents SET fetched_at = 'infinity'", 0),
            ("documents SET fresh_until = 'NaN', pinned_at = 'NaN'", 0),
            (r"documents SET body = '\x00'", 0),
            (r"documents SET body = '\x789c4bcb070002820145'", 0),
            ("documents SET chunks = -1, tokens = -1, size = -1, words = 0, used = -9", 1),
        ),
    ],
    indirect=["damaged"],
)
async def test_a_page_that_cannot_be_read_is_not_there_and_can_be_kept_anew(
    damaged, made, found, change, left
):
    store = damaged.store
    page, chunks = made()
    await store.keep(page, chunks, NOW)
    assert await damaged.change(f"UPDATE {change}")
    assert (await store.page(URL) is not None) == bool(left)
    assert len([each async for each in store.export()]) == left
    assert len(await store.heads()) in {left, 1}
    await store.head(URL)
    await store.totals()
    await store.frequencies(["bees"])
    await store.chunks(URL)
    await found(store, "bees")
    await store.pin([URL], NOW)
    await store.keep(page, chunks, NOW)
    assert await store.page(URL) == page
    assert await store.chunks(URL) == tuple(chunks)


@pytest.mark.parametrize(
    ("damaged", "change"),
    [
        *rows(
            "file",
            "content = x'00'",
            "content = 'text'",
            "content = x'789c4bcb070002820145'",
            "path = '[1]'",
            "path = replace(hex(zeroblob(50000)), '0', '[')",
            "name = x'ff'",
        ),
        *rows(
            "server",
            r"content = '\x00'",
            r"content = '\x789c4bcb070002820145'",
            "path = convert_to(repeat('[', 100000), 'UTF8')",
            r"name = '\xff'",
        ),
        *(
            row
            for kind in ("file", "server")
            for row in rows(
                kind,
                "path = 'x'",
                "path = '{}'",
                "start = -1",
                "start = 9, stop = 3",
                "tokens = -1",
            )
        ),
    ],
    indirect=["damaged"],
)
async def test_a_chunk_that_cannot_be_read_is_left_out_and_can_be_kept_anew(
    damaged, made, found, change
):
    store = damaged.store
    page, chunks = made()
    texts = [chunk.text for chunk in chunks]
    await store.keep(page, chunks, NOW)
    assert await damaged.change(f"UPDATE chunks SET {change} WHERE position = 0")  # noqa: S608 - the table above
    assert await store.chunks(URL) == (chunks[1],)
    assert await found(store, "bees") == [texts[1]]
    assert await store.page(URL) == page
    await store.vectors("m", [chunk.id for chunk in chunks])
    assert chunks[0] not in await store.unembedded("m", 9)
    await store.keep(page, chunks, NOW)
    assert await store.chunks(URL) == tuple(chunks)
    assert sorted(await found(store, "bees")) == sorted(texts)
    assert await store.remove([URL]) == 1

"""Processes that share a file of pages, and are killed."""

import asyncio
import sqlite3
import sys
import time
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from searx_mcp.storage.pages import PageKey
from searx_mcp.storage.sqlite_pages import SqlitePageStore

PROGRAM = Path(__file__).with_name("keeping_process.py")


@pytest.fixture
def keep_and_die(start_program):
    """Starts a process, kills it in the middle of its work, and gives the cursors it had told."""

    async def run(path: Path, seed: int, pages: int) -> list[str]:
        process = await start_program(sys.executable, PROGRAM, path, str(seed))
        told = [(await process.stdout.readline()).decode().strip() for _ in range(pages)]
        process.kill()
        rest, errors = await process.communicate(b"")
        assert errors.decode() == ""
        return [*told, *rest.decode().split()]

    return run


@pytest.mark.slow
async def test_what_one_process_kept_another_reads_and_killed_ones_leave_a_whole_file(
    keep_and_die, path
):
    told: list[str] = []

    async def keep(seed: int) -> None:
        for life in range(2):
            told.extend(await keep_and_die(path, seed + 100 * life, 15 + 7 * seed))

    store = SqlitePageStore(path, max_bytes=100 << 20, max_age=86_400, patience=30)
    async with aclosing(store):
        async with asyncio.TaskGroup() as group:
            for seed in range(3):
                group.create_task(keep(seed))
        now = time.time()  # noqa: TID251 - the clock that processes share
        for cursor in told:
            assert len(cursor) == 16
            assert await store.read("shared", cursor, now), "what was told to be kept is kept"
            assert await store.read("others", cursor, now) is None
        for seed in range(3):
            key = PageKey("shared", f"https://{seed}.example/0")
            assert await store.find(key, now), "all have the same secret"

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute(
            "SELECT (SELECT bytes FROM total) = (SELECT total(size) FROM items)"
            " + (SELECT total(size) FROM captures)"
        ).fetchall() == [(1,)]

"""Processes that share a file or a server of pages, and are killed."""

import asyncio
import sqlite3
import sys
import time
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.storage.pages import PageKey, PageStore
from searx_mcp.storage.redis import RedisLink
from searx_mcp.storage.redis_pages import RedisPageStore
from searx_mcp.storage.sqlite_pages import SqlitePageStore

PROGRAM = Path(__file__).with_name("keeping_process.py")


@pytest.fixture
def keep_and_die(start_program):
    """Starts a process, kills it in the middle of its work, and gives the cursors it had told."""

    async def run(place: str, seed: int, pages: int) -> list[str]:
        process = await start_program(sys.executable, PROGRAM, place, str(seed))
        told = [(await process.stdout.readline()).decode().strip() for _ in range(pages)]
        process.kill()
        rest, errors = await process.communicate(b"")
        assert errors.decode() == ""
        return [*told, *rest.decode().split()]

    return run


async def keep_in_several(keep_and_die, place: str) -> list[str]:
    """The cursors that four processes have told before they were killed, two at a time."""
    told: list[str] = []

    async def keep(seed: int) -> None:
        for life in range(2):
            told.extend(await keep_and_die(place, seed + 100 * life, 15 + 7 * seed))

    async with asyncio.TaskGroup() as group:
        for seed in range(2):
            group.create_task(keep(seed))
    return told


async def check_all_are_kept(store: PageStore, told: list[str]) -> None:
    now = time.time()  # noqa: TID251 - the clock that processes share
    for cursor in told:
        assert len(cursor) == 16
        assert await store.read("shared", cursor, now), "what was told to be kept is kept"
        assert await store.read("others", cursor, now) is None
    for seed in range(2):
        key = PageKey("shared", f"https://{seed}.example/0")
        assert await store.find(key, now), "all have the same secret"


@pytest.mark.slow
async def test_what_one_process_kept_another_reads_and_killed_ones_leave_a_whole_file(
    keep_and_die, path
):
    store = SqlitePageStore(path, max_bytes=100 << 20, max_age=86_400, patience=30)
    async with aclosing(store):
        await check_all_are_kept(store, await keep_in_several(keep_and_die, str(path)))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute(
            "SELECT (SELECT bytes FROM total) = (SELECT total(size) FROM items)"
            " + (SELECT total(size) FROM captures)"
        ).fetchall() == [(1,)]


@pytest.mark.slow
async def test_killed_processes_leave_a_server_on_which_sizes_and_pages_agree(
    keep_and_die, start_redis
):
    url = start_redis().url
    secret = b"correct horse battery staple"
    store = RedisPageStore(
        url, prefix="killed:", secret=secret, max_bytes=100 << 20, max_age=86_400, patience=30
    )
    async with aclosing(store):
        told = await keep_in_several(keep_and_die, url)
        await check_all_are_kept(store, told)
    async with aclosing(RedisLink(url, patience=30)) as link:

        async def ask(*command: str) -> Any:
            return (await link.run(lambda session: session.ask(command)))[0]

        fields = await ask("HGETALL", "killed:v1:pages:size")
        sizes = dict(zip(fields[::2], map(int, fields[1::2]), strict=True))
        assert sizes.pop(b"total") == sum(sizes.values())
        bodies = {key.rpartition(b":")[2] for key in await ask("KEYS", "*:pages:body:*")}
        assert bodies == {*sizes} == {*await ask("ZRANGE", "killed:v1:pages:used", "0", "-1")}
        assert len(bodies) >= len(told)

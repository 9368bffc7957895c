"""What outlives a process, and what happens when nothing can."""

import asyncio
import logging
import sqlite3
import stat
import threading
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from searx_mcp.errors import StorageBusyError, StorageUnavailableError
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.packing import pack
from searx_mcp.storage.pages import KeptPage, KeptRobots, PageKey, Validators
from searx_mcp.storage.sqlite import PATIENCE
from searx_mcp.storage.sqlite_pages import (
    FILE_NAME,
    KEY_FILE,
    PAUSE,
    SCHEMA,
    SqlitePageStore,
    drop_some,
    open_store,
)

NOW = 1_000_000_000.0
KEY = PageKey("mine", "https://secret-host.example/secret-path?q=secret-query")
OTHER = PageKey("mine", "https://b.example/")
ORIGIN = "https://secret-host.example"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / FILE_NAME


@pytest.fixture
async def store_at() -> AsyncIterator[Callable[..., SqlitePageStore]]:
    """Make stores in files."""
    made: list[SqlitePageStore] = []

    def make(
        path: Path, *, max_bytes: int = 1 << 20, max_age: float = 7 * 86_400
    ) -> SqlitePageStore:
        made.append(SqlitePageStore(path, max_bytes=max_bytes, max_age=max_age))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


def in_file(path, sql, values=()):
    """Look into the file, or change it, as another program might."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql, values).fetchall()


def test_without_a_path_a_store_is_in_memory_and_with_one_nothing_is_made_yet(path):
    assert isinstance(open_store(None, max_bytes=1, max_age=1), MemoryPageStore)
    store = open_store(path, max_bytes=1, max_age=1)
    assert repr(store) == f"<SqlitePageStore {path}>"
    assert not path.parent.exists()
    assert FILE_NAME == "pages-v1.db"


async def test_pages_survive_a_restart_and_are_shared(store_at, path, make_capture):
    one, other = store_at(path), store_at(path)
    capture = make_capture(url=KEY.url)
    cursor = await one.keep(KEY, capture, NOW)
    await one.keep_robots(ORIGIN, KeptRobots(200, "x", NOW), NOW)
    assert await other.find(KEY, NOW) == KeptPage(capture, cursor)
    await one.aclose()
    await other.aclose()
    again = store_at(path)
    assert await again.find(KEY, NOW) == KeptPage(capture, cursor)
    assert await again.read("mine", cursor, NOW) == KeptPage(capture, cursor)
    assert await again.robots(ORIGIN, NOW) == KeptRobots(200, "x", NOW)


async def test_files_are_for_the_user_alone(store_at, path, make_capture):
    await store_at(path).keep(KEY, make_capture(), NOW)
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
    assert {FILE_NAME, KEY_FILE} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_no_address_namespace_or_word_stands_in_clear(store_at, path, make_capture):
    """It is compressed and hashed, not encrypted; this keeps it out of a search through files."""
    store = store_at(path)
    key = replace(KEY, namespace="secret-name", variant="secret-agent")
    capture = make_capture("A secret-word. " * 50, url=KEY.url, validators=Validators('"secret"'))
    cursor = await store.keep(key, capture, NOW)
    assert await store.find(key, NOW)
    await store.keep_robots(ORIGIN, KeptRobots(200, "secret-rule", NOW), NOW)
    contents = b"".join(entry.read_bytes() for entry in path.parent.iterdir())
    await store.aclose()
    contents += path.read_bytes()
    assert cursor.encode() in contents
    assert b"secret" not in contents


async def test_without_its_secret_an_address_is_not_found_and_a_cursor_is(
    store_at, path, make_capture
):
    first = store_at(path)
    capture = make_capture(url=KEY.url)
    cursor = await first.keep(KEY, capture, NOW)
    path.with_name(KEY_FILE).unlink()
    second = store_at(path)
    assert await second.find(KEY, NOW) is None
    assert await second.read("mine", cursor, NOW) == KeptPage(capture, cursor)


async def test_a_secret_that_cannot_be_read_means_memory(store_at, path, make_capture, caplog):
    path.with_name(KEY_FILE).mkdir(parents=True)
    store = store_at(path)
    cursor = await store.keep(KEY, make_capture(), NOW)
    kept = await store.find(KEY, NOW)
    assert kept is not None
    assert kept.cursor == cursor
    assert [record.levelname for record in caplog.records] == ["WARNING"]


# Other versions, and damage


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE items SET body = :garbage",
        "UPDATE items SET body = :newer",
        "UPDATE items SET body = 'text'",
        "UPDATE items SET body = 7",
        "UPDATE captures SET about = :garbage",
        "UPDATE captures SET about = :newer",
        "UPDATE captures SET about = ''",
        "UPDATE captures SET cursor = 'aaaaaaaaaaaaaaaa'",
        "UPDATE captures SET fetched_at = 'soon'",
        "DELETE FROM items",
    ],
)
async def test_what_cannot_be_read_is_a_miss_until_it_is_replaced(
    store_at, path, make_capture, sql
):
    store = store_at(path)
    capture = make_capture()
    cursor = await store.keep(KEY, capture, NOW)
    values = {"garbage": b"garbage", "newer": zlib.compress(b'{"mood": "sunny"}')}
    used = {name: value for name, value in values.items() if f":{name}" in sql}
    in_file(path, sql, used)
    assert await store.find(KEY, NOW) is None
    assert await store.keep(KEY, capture, NOW) == cursor
    assert await store.find(KEY, NOW) == KeptPage(capture, cursor)


@pytest.mark.parametrize(
    "sql", ["UPDATE items SET body = 'x'", "UPDATE items SET fetched_at = 'x'"]
)
async def test_a_robots_txt_that_cannot_be_read_is_a_miss(store_at, path, sql):
    store = store_at(path)
    await store.keep_robots(ORIGIN, KeptRobots(200, "x", NOW), NOW)
    in_file(path, sql)
    assert await store.robots(ORIGIN, NOW) is None
    await store.keep_robots(ORIGIN, KeptRobots(200, "y", NOW), NOW)
    assert await store.robots(ORIGIN, NOW) == KeptRobots(200, "y", NOW)


async def test_damage_to_one_page_costs_no_other(store_at, path, make_capture, noise):
    store = store_at(path)
    keys = [PageKey("mine", f"https://{number}.example/") for number in range(20)]
    for number, key in enumerate(keys):
        await store.keep(key, make_capture(noise(number, 20_000)), NOW)
    await store.aclose()
    with path.open("r+b") as file:
        file.seek(-10_000, 2)
        file.write(b"\xff" * 10_000)
    again = store_at(path)
    found = [bool(await again.find(key, NOW)) for key in keys[:18]]
    assert found == [True] * 18
    assert not path.with_name(f"{FILE_NAME}.damaged-1").exists()


# Files that cannot be used


async def test_a_folder_that_cannot_be_made_means_memory_and_one_warning(
    store_at, tmp_path, make_capture, caplog
):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "state"
    store = store_at(folder / FILE_NAME)
    capture = make_capture()
    with caplog.at_level(logging.WARNING, "searx_mcp"):
        cursor = await store.keep(KEY, capture, NOW)
        await store.keep_robots(ORIGIN, KeptRobots(200, "x", NOW), NOW)
        for later in (0, PAUSE, 2 * PAUSE):
            assert await store.find(KEY, NOW + later) == KeptPage(capture, cursor)
            assert await store.read("mine", cursor, NOW + later) == KeptPage(capture, cursor)
            assert await store.robots(ORIGIN, NOW + later) == KeptRobots(200, "x", NOW)
            assert await store.keep(OTHER, make_capture("b"), NOW + later)
    [record] = caplog.records
    assert record.message == (
        f"pages.not_kept reason={folder} cannot be written"
        " advice=Make it writable for this user, or choose another folder."
    )
    with pytest.raises(StorageUnavailableError):
        await store.purge()


async def test_a_disk_that_fills_up_leaves_what_is_kept_and_what_is_new_in_memory(
    store_at, path, make_capture, noise, caplog, set_pragma
):
    store = store_at(path)
    before = await store.keep(KEY, make_capture(), NOW)
    await set_pragma(store, "max_page_count = 1")
    large = make_capture(noise(1, 100_000), NOW + 1)
    cursor = await store.keep(KEY, large, NOW + 1)
    assert "is full" in caplog.text
    assert await store.find(KEY, NOW + 1) == KeptPage(large, cursor)
    assert await store.find(KEY, NOW + 1 + PAUSE) == KeptPage(large, cursor)
    assert await store.read("mine", before, NOW + 1 + PAUSE)
    await set_pragma(store, "max_page_count = 100000")
    await store.keep(KEY, replace(large, fetched_at=NOW + 90), NOW + 90)
    kept = await store_at(path).find(KEY, NOW + 90)
    assert kept is not None
    assert (kept.cursor, kept.capture.fetched_at) == (cursor, NOW + 90)


async def test_a_file_that_can_only_be_read_still_gives_what_is_in_it(
    store_at, path, make_capture, set_pragma
):
    store = store_at(path)
    capture = make_capture()
    cursor = await store.keep(KEY, capture, NOW)
    await store.keep(OTHER, make_capture("other"), NOW)
    await set_pragma(store, "query_only = ON")
    assert await store.find(KEY, NOW) == KeptPage(capture, cursor)
    assert await store.read("mine", cursor, NOW + PAUSE) == KeptPage(capture, cursor)
    newer = make_capture("newer", NOW + 2 * PAUSE)
    cursor = await store.keep(KEY, newer, NOW + 2 * PAUSE)
    assert await store.find(KEY, NOW + 3 * PAUSE) == KeptPage(newer, cursor)


async def test_a_newer_capture_of_another_process_beats_the_one_that_waits_in_memory(
    store_at, path, make_capture, set_pragma
):
    store, other = store_at(path), store_at(path)
    await store.keep(OTHER, make_capture(), NOW)
    await set_pragma(store, "query_only = ON")
    await store.keep(KEY, make_capture("waiting"), NOW)
    newer = make_capture("newer", NOW + 1)
    cursor = await other.keep(KEY, newer, NOW + 1)
    assert await store.find(KEY, NOW + PAUSE) == KeptPage(newer, cursor)


async def test_once_it_is_in_the_file_the_one_in_memory_is_forgotten(
    store_at, path, make_capture, set_pragma
):
    store = store_at(path)
    await store.keep(OTHER, make_capture(), NOW)
    await set_pragma(store, "query_only = ON")
    await store.keep(KEY, make_capture("waiting"), NOW)
    await set_pragma(store, "query_only = OFF")
    capture = make_capture("kept", NOW)
    cursor = await store.keep(KEY, capture, NOW + PAUSE)
    assert await store.find(KEY, NOW + PAUSE) == KeptPage(capture, cursor)
    await store.purge()
    assert await store.find(KEY, NOW + PAUSE) is None


async def test_while_the_file_is_busy_it_is_read_and_nobody_waits_twice_to_write(
    store_at, path, make_capture, caplog, database_of, pass_by
):
    store, other = store_at(path), store_at(path)
    before = await store.keep(KEY, make_capture(), NOW)
    await store.keep(PageKey("mine", "https://c.example/"), make_capture("used last"), NOW)
    tries = threading.Event()

    def pause(*_between: float) -> float:
        tries.set()
        return 0.01

    database_of(store)._rng = SimpleNamespace(uniform=pause)
    with closing(sqlite3.connect(path, isolation_level=None)) as hog:
        hog.execute("BEGIN IMMEDIATE")
        async with asyncio.TaskGroup() as group:
            read = group.create_task(store.read("mine", before, NOW))
            await asyncio.to_thread(tries.wait, 30)
            pass_by(PATIENCE)
        assert read.result(), "although its use cannot be noted"
        database_of(store).patience = 0.05
        with pytest.raises(StorageBusyError):
            await store.purge()
    database_of(store).patience = 30
    capture = make_capture("busy")
    cursor = await store.keep(OTHER, capture, NOW + PAUSE - 1)
    assert await store.find(OTHER, NOW + PAUSE - 1) == KeptPage(capture, cursor)
    assert await other.find(OTHER, NOW + PAUSE - 1) is None
    await store.keep(OTHER, capture, NOW + PAUSE)
    assert await other.find(OTHER, NOW + PAUSE) == KeptPage(capture, cursor)
    assert not caplog.records


async def test_a_file_that_cannot_be_read_is_left_alone_for_half_a_minute(
    store_at, path, make_capture, database_of
):
    first = store_at(path)
    cursor = await first.keep(KEY, make_capture(), NOW)
    await first.aclose()
    store = store_at(path)
    database_of(store).patience = 0.05
    with closing(sqlite3.connect(f"{path}.lock", isolation_level=None)) as hog:
        hog.execute("BEGIN EXCLUSIVE")
        assert await store.read("mine", cursor, NOW) is None
    database_of(store).patience = 30
    assert await store.find(KEY, NOW + PAUSE - 1) is None
    assert await store.find(KEY, NOW - 365 * 86_400), "unless the clock was put back"
    waiting = await store.keep(KEY, make_capture("waiting"), NOW + PAUSE - 1)
    assert waiting != cursor
    assert await store.read("mine", waiting, NOW + PAUSE - 1)
    assert await store.read("mine", cursor, NOW + PAUSE)


async def test_a_robots_txt_in_memory_gives_way_to_a_newer_one_of_another_process(
    store_at, path, set_pragma
):
    store, other = store_at(path), store_at(path)
    await store.keep_robots(ORIGIN, KeptRobots(200, "first", NOW), NOW)
    await set_pragma(store, "query_only = ON")
    await store.keep_robots(ORIGIN, KeptRobots(200, "second", NOW + 1), NOW + 1)
    assert await store.robots(ORIGIN, NOW + 1) == KeptRobots(200, "second", NOW + 1)
    await other.keep_robots(ORIGIN, KeptRobots(200, "third", NOW + 2), NOW + 2)
    assert await store.robots(ORIGIN, NOW + 2) == KeptRobots(200, "third", NOW + 2)


# Deleting


async def test_a_purge_leaves_no_trace_and_gives_the_room_back(store_at, path, make_capture, noise):
    store, other = store_at(path, max_bytes=20 << 20), store_at(path)
    captures = [make_capture(noise(number, 200_000)) for number in range(90)]
    captures += [make_capture(f"page {number}") for number in range(600)]
    bodies = [pack("mine", capture.page).body[100:164] for capture in captures[:90:10]]
    for number, capture in enumerate(captures):
        await store.keep(PageKey("mine", f"https://{number}.example/"), capture, NOW)
    (path.with_name(f"{FILE_NAME}.damaged-1")).write_bytes(b"damaged")
    assert await other.read("mine", await store.keep(KEY, captures[0], NOW), NOW)
    contents = b"".join(entry.read_bytes() for entry in path.parent.iterdir())
    assert all(body in contents for body in bodies)
    await store.purge()
    contents = b"".join(entry.read_bytes() for entry in path.parent.iterdir())
    assert not any(body in contents for body in bodies)
    assert path.stat().st_size < 100_000
    assert not path.with_name(f"{FILE_NAME}.damaged-1").exists()
    assert await other.find(KEY, NOW) is None
    cursor = await other.keep(KEY, captures[1], NOW)
    assert await store.read("mine", cursor, NOW)


async def test_a_purge_forgets_what_waits_in_memory_too(store_at, path, make_capture, set_pragma):
    store = store_at(path)
    await store.keep(OTHER, make_capture(), NOW)
    await set_pragma(store, "query_only = ON")
    cursor = await store.keep(KEY, make_capture("waiting"), NOW)
    await set_pragma(store, "query_only = OFF")
    assert await store.read("mine", cursor, NOW)
    await store.purge()
    assert await store.read("mine", cursor, NOW) is None


async def test_a_purge_deletes_in_parts_that_a_full_disk_may_have_room_for(
    store_at, path, make_capture, noise, database_at
):
    store, database = store_at(path, max_bytes=30 << 20), database_at(path, SCHEMA)
    for number in range(300):
        await store.keep(KEY, make_capture(f"page {number}"), NOW)
    assert await database.write(drop_some)
    assert not await database.write(drop_some)
    for number in range(3):
        await store.keep(KEY, make_capture(noise(number, 4 << 20)), NOW)
    assert await database.write(drop_some)
    assert in_file(path, "SELECT count(*) FROM items") == [(1,)]


async def test_a_bound_that_was_lowered_holds_from_the_next_page_on(
    store_at, path, make_capture, noise
):
    first = store_at(path)
    for number in range(20):
        key = PageKey("mine", f"https://{number}.example/")
        await first.keep(key, make_capture(noise(number, 20_000)), NOW)
    await first.aclose()
    second = store_at(path, max_bytes=40_000)
    await second.keep(KEY, make_capture(), NOW)
    ((total,),) = in_file(path, "SELECT bytes FROM total")
    assert 20_000 < total <= 40_000
    assert await second.find(KEY, NOW)
    assert await second.find(PageKey("mine", "https://19.example/"), NOW)

"""Opening a file beside others who open it, or put something else in its place."""

import asyncio
import errno
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.storage import opening
from searx_mcp.storage.opening import is_busy, open_database, set_aside_files, unavailable


@pytest.fixture
def damaged(path):
    path.parent.mkdir()
    path.write_bytes(b"this is not a database\n" * 100)
    return path


def test_companions_that_sqlite_left_go_with_the_file_they_belong_to(damaged, schema):
    log = damaged.with_name(f"{damaged.name}-shm")
    log.write_bytes(b"log")
    open_database(damaged, schema).close()
    names = [path.name.removeprefix(damaged.name) for path in set_aside_files(damaged)]
    assert names == [".damaged-1", ".damaged-1-shm"]
    assert not log.exists()


def test_a_file_that_another_process_has_just_replaced_is_used_as_it_is(damaged, schema):
    open_database(damaged, schema).close()
    opening._replace(damaged, schema, thorough=False)
    assert len(set_aside_files(damaged)) == 1


def test_a_file_that_is_busy_while_its_damage_is_looked_at_stays(path, schema):
    opened = open_database(path, schema)
    opened.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            opening._replace(path, schema, thorough=False)
    assert is_busy(caught.value)
    assert set_aside_files(path) == []


@pytest.mark.parametrize(("checked", "thorough"), [(True, False), (False, True), (False, False)])
def test_a_file_is_read_whole_unless_its_damage_may_wait(path, schema, spoil, checked, thorough):
    with closing(open_database(path, schema)) as opened:
        opened.connection.executemany("INSERT INTO words VALUES (?)", [["w" * 1_000]] * 50)
    spoil(path, 20_480)
    schema = replace(schema, checked=checked)
    open_database(path, schema, thorough=thorough).close()
    assert bool(set_aside_files(path)) is (checked or thorough)


def put_pipe(place: Path) -> None:
    place.unlink(missing_ok=True)
    os.mkfifo(place)


def put_device(place: Path) -> None:
    place.unlink(missing_ok=True)
    place.symlink_to("/dev/full")


def put_folder(place: Path) -> None:
    place.unlink(missing_ok=True)
    place.mkdir()


def add(word):
    return lambda tx: tx.change("INSERT INTO words (word) VALUES (:word)", word=word)


def words(tx):
    return [word for (word,) in tx.rows("SELECT word FROM words ORDER BY word")]


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices have names on POSIX alone")
@pytest.mark.parametrize(
    ("put", "end", "is_used"),
    [
        *((put_pipe, end, False) for end in ("", "-journal", "-wal", "-shm", ".lock")),
        *((put_device, end, True) for end in ("", "-journal", ".lock")),
        *((put_folder, end, end != ".lock") for end in ("", "-wal", ".lock")),
    ],
)
async def test_what_is_no_file_is_neither_waited_for_nor_written_to(
    database_at, path, put, end, is_used
):
    place = path.with_name(f"{path.name}{end}")
    database = database_at(path)
    if is_used:
        await database.write(add("a"))
    path.parent.mkdir(exist_ok=True)
    put(place)
    for _ in range(2):
        with pytest.raises(StorageUnavailableError, match="it is not a regular file") as caught:
            await database.write(add("b"))
        assert str(place) in caught.value.message
    place.rmdir() if put is put_folder else place.unlink()
    await database.write(add("c"))
    assert "c" in await database.read(words)


@pytest.mark.parametrize(
    ("spoil_file", "kept"),
    [
        (lambda path: os.truncate(path, 0), []),
        (lambda path: os.truncate(path, 1), []),
        (lambda path: os.truncate(path, 4_096), []),
        (lambda path: path.rename(path.with_name("elsewhere")), []),
        (lambda path: path.with_name(f"{path.name}-journal").unlink(), ["a"]),
        (lambda path: os.truncate(f"{path}-journal", 0), ["a"]),
        (lambda path: Path(f"{path}-journal").write_bytes(b"no journal" * 500), ["a"]),
        (lambda path: Path(f"{path}-wal").write_bytes(b"no log" * 500), ["a"]),
        (lambda path: Path(f"{path}-shm").write_bytes(b""), ["a"]),
    ],
    ids=[
        *("emptied", "cut", "cut at a page", "moved", "journal deleted", "journal emptied"),
        *("foreign journal", "foreign log", "foreign index"),
    ],
)
async def test_all_users_of_a_file_that_is_spoilt_go_on_together(
    database_at, path, spoil_file, kept
):
    one, other = database_at(path), database_at(path)
    for _ in range(20):  # SQLite tells the states of a file apart by their number
        await one.write(lambda tx: tx.change("DELETE FROM words"))
    await one.write(add("a"))
    await other.read(words)
    spoil_file(path)
    async with asyncio.TaskGroup() as group:
        group.create_task(one.write(add("b")))
        group.create_task(other.write(add("c")))
    assert await one.read(words) == await other.read(words) == [*kept, "b", "c"]


async def test_no_user_of_a_file_maps_another_into_its_memory(database_at, path):
    # Whoever cuts a file that is mapped ends the process: no error can be caught.
    database = database_at(path)
    await database.write(add("a"))
    modes = [
        await database.read(lambda tx, name=name: tx.rows(f"PRAGMA {name}"))
        for name in ("journal_mode", "mmap_size")
    ]
    assert modes == [[("truncate",)], [(0,)]]


async def test_a_file_that_another_program_gave_a_log_loses_it_once_nobody_uses_it(
    database_at, path
):
    await database_at(path).write(add("a"))
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
    later = database_at(path)
    assert await later.read(lambda tx: tx.rows("PRAGMA journal_mode")) == [("truncate",)]
    assert await later.read(words) == ["a"]


PATH = Path("state") / "x-v1.db"


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "message", "advice"),
    [
        (sqlite_error(sqlite3.SQLITE_FULL), "the disk that holds state is full", "Free some space"),
        (OSError(errno.ENOSPC, "no"), "the disk that holds state is full", "Free some space"),
        (OSError(errno.EDQUOT, "no"), "the disk that holds state is full", "Free some space"),
        (sqlite_error(sqlite3.SQLITE_READONLY), "state cannot be written", "another folder"),
        (sqlite_error(sqlite3.SQLITE_READONLY_DIRECTORY), "state cannot be written", "another"),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN), "state cannot be written", "another folder"),
        (PermissionError(errno.EACCES, "no"), "state cannot be written", "Make it writable"),
        (OSError(errno.EROFS, "no"), "state cannot be written", "Make it writable"),
        (
            OSError(errno.EINVAL, "it is no file", "state/x"),
            "state/x cannot be used: it is",
            "Move",
        ),
        (sqlite_error(sqlite3.SQLITE_IOERR_LOCK), "cannot share a database", "local disk"),
        (sqlite_error(sqlite3.SQLITE_IOERR_SHMMAP), "cannot share a database", "local disk"),
        (sqlite_error(sqlite3.SQLITE_IOERR_READ), "(disk I/O error)", "Check the disk"),
        (sqlite3.ProgrammingError("wrong"), "cannot be used (wrong)", "Check the disk"),
    ],
)
def test_each_trouble_names_the_folder_and_what_to_do(error, message, advice):
    told = unavailable(error, PATH)
    assert message in told.message
    assert "state" in told.message
    assert advice in told.advice

"""One SQLite file used from asyncio, and what can happen to it."""

import asyncio
import logging
import os
import random
import sqlite3
import stat
import threading
from contextlib import closing, suppress

import pytest
from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageUnavailableError
from searx_mcp.storage.opening import Schema, set_aside_files


class TellingDice(random.Random):
    """Dice that tell when they are thrown: then the file was found busy."""

    def __init__(self) -> None:
        super().__init__(1)
        self.thrown = threading.Event()

    @override
    def uniform(self, a: float, b: float) -> float:
        self.thrown.set()
        return super().uniform(a, b)


def add(word):
    return lambda tx: tx.change("INSERT INTO words (word) VALUES (:word)", word=word)


def words(tx):
    return sorted(word for (word,) in tx.rows("SELECT word FROM words"))


async def test_what_was_written_is_there_after_a_restart(database_at, path):
    first = database_at(path)
    assert await first.write(add("a")) == 1
    await first.aclose()
    assert await database_at(path).read(words) == ["a"]


async def test_a_closed_database_opens_again_with_the_next_call(database_at, path, caplog):
    caplog.set_level(logging.DEBUG, "searx_mcp.storage")
    database = database_at(path)
    await database.aclose()
    await database.write(add("a"))
    assert repr(database) == f"<Database {path} [open]>"
    await database.aclose()
    await database.aclose()
    assert repr(database) == f"<Database {path} [closed]>"
    assert await database.read(words) == ["a"]
    assert caplog.messages == [f"storage.opened file={path}"] * 2


async def test_work_that_fails_changes_nothing(database_at, path):
    def half(tx):
        add("half")(tx)
        raise ValueError("no")

    database = database_at(path)
    with pytest.raises(ValueError, match="no"):
        await database.write(half)
    assert await database.read(words) == []


async def test_the_file_and_its_companions_are_for_the_user_alone(database_at, path):
    await database_at(path).write(add("a"))
    names = {entry.name for entry in path.parent.iterdir()}
    assert names == {path.name, f"{path.name}-journal", f"{path.name}.lock"}
    modes = {stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
    assert modes == {0o600} or os.name != "posix"


async def test_many_calls_at_once_all_get_their_turn(database_at, path):
    one, other = database_at(path), database_at(path)
    async with asyncio.TaskGroup() as group:
        for number in range(200):
            group.create_task((one, other)[number % 2].write(add(f"{number:03}")))
    assert await one.read(words) == [f"{number:03}" for number in range(200)]


async def test_a_caller_waits_while_another_process_writes(database_at, path):
    dice = TellingDice()
    database = database_at(path, patience=30, rng=dice)
    await database.write(add("a"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(database.write(add("b")))
            await asyncio.to_thread(dice.thrown.wait, 10)
            other.execute("INSERT INTO words VALUES ('c')")
            other.execute("COMMIT")
        assert waiting.result() == 1
    assert await database.read(words) == ["a", "b", "c"]


async def test_a_file_busy_for_too_long_is_said_to_be_busy_and_serves_again_later(
    database_at, path
):
    database = database_at(path, patience=0.05)
    patient = database_at(path)
    await patient.write(add("a"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusyError, match=r"did not answer within 0\.05 s") as caught:
            await database.write(add("b"))
        assert "locked" not in str(caught.value)
        other.execute("ROLLBACK")
    database.patience = 30
    await database.write(add("c"))
    assert await database.read(words) == ["a", "c"]


async def test_a_write_that_was_given_up_changes_nothing_any_more(database_at, path):
    database = database_at(path)
    await database.write(add("a"))
    begun, go_on = threading.Event(), threading.Event()

    def add_late(tx):
        add("late")(tx)
        begun.set()
        go_on.wait(30)

    database.patience = 0.5
    with pytest.raises(StorageBusyError):
        await database.write(add_late)
    go_on.set()
    database.patience = 30
    assert begun.is_set()
    assert await database.read(words) == ["a"]


async def test_a_reader_does_not_wait_for_a_writer(database_at, path):
    database = database_at(path)
    await database.write(add("a"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO words VALUES ('b')")
        assert await database.read(words) == ["a"]


async def test_a_writer_that_waits_lets_no_new_reader_in_and_does_its_work_once(database_at, path):
    dice, runs = TellingDice(), []
    database = database_at(path, patience=30, rng=dice)
    await database.write(add("a"))

    def add_once(tx):
        runs.append("b")
        return add("b")(tx)

    with (
        closing(sqlite3.connect(path, isolation_level=None)) as reader,
        closing(sqlite3.connect(path, timeout=0)) as late,
    ):
        reader.execute("BEGIN")
        reader.execute("SELECT word FROM words").fetchall()
        async with asyncio.TaskGroup() as group:
            group.create_task(database.write(add_once))
            await asyncio.to_thread(dice.thrown.wait, 10)
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                late.execute("SELECT word FROM words")
            reader.execute("COMMIT")
    assert runs == ["b"]
    assert await database.read(words) == ["a", "b"]


async def test_a_database_in_memory_is_empty_again_when_it_was_closed(database_at):
    database = database_at(None)
    await database.write(add("a"))
    await database.erase(lambda tx: tx.change("DELETE FROM words WHERE word = 'b'"))
    assert await database.read(words) == ["a"]
    assert repr(database) == "<Database :memory: [open]>"
    await database.aclose()
    assert await database.read(words) == []


async def test_a_cancelled_caller_leaves_the_database_usable(database_at, path):
    database = database_at(path)
    begun, go_on = threading.Event(), threading.Event()

    def slow(tx):
        begun.set()
        go_on.wait(10)
        return add("slow")(tx)

    await database.write(add("a"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(database.write(slow))
        waiting = group.create_task(database.write(add("taken back")))
        await asyncio.to_thread(begun.wait, 10)
        running.cancel()
        waiting.cancel()
        await asyncio.sleep(0)
        go_on.set()
    assert await database.read(words) == ["a", "slow"]


async def test_a_cancelled_caller_ends_the_waiting_for_a_busy_file(database_at, path):
    dice = TellingDice()
    database = database_at(path, patience=30, rng=dice)
    await database.write(add("a"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(database.write(add("b")))
            await asyncio.to_thread(dice.thrown.wait, 10)
            waiting.cancel()
        assert await database.read(words) == ["a"]
        other.execute("ROLLBACK")
    assert await database.read(words) == ["a"]


async def test_closing_does_not_wait_for_a_disk_that_hangs(database_at, path):
    database = database_at(path, patience=0.05)
    begun, go_on = threading.Event(), threading.Event()

    def hang(tx):
        begun.set()
        go_on.wait(10)

    with pytest.raises(StorageBusyError):
        await database.read(hang)
    await database.aclose()
    go_on.set()


async def test_programs_of_two_minors_use_one_file_at_the_same_time(database_at, path, schema):
    newer_schema = Schema(
        major=1, minors=(*schema.minors, ("ALTER TABLE words ADD COLUMN language TEXT",))
    )
    old, new = database_at(path), database_at(path, newer_schema)
    await old.write(add("a"))
    await new.write(lambda tx: tx.change("INSERT INTO words VALUES ('b', 'en')"))
    await old.write(add("c"))
    assert await old.read(words) == await new.read(words) == ["a", "b", "c"]
    await old.aclose()
    await old.write(add("d"))
    assert await old.read(lambda tx: tx.rows("PRAGMA user_version")) == [(2,)]
    rows = await new.read(lambda tx: tx.rows("SELECT word, language FROM words ORDER BY word"))
    assert rows == [("a", None), ("b", "en"), ("c", None), ("d", None)]


@pytest.mark.parametrize("newer", [True, False], ids=["newer major", "another program"])
async def test_a_file_that_is_not_ours_is_left_alone(database_at, path, schema, newer):
    path.parent.mkdir()
    if newer:
        later = database_at(path, Schema(major=2, minors=schema.minors))
        await later.write(add("theirs"))
        await later.aclose()
    else:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(StorageUnavailableError, match="belongs to another program"):
        await database_at(path).write(add("ours"))
    assert path.read_bytes() == before
    assert set_aside_files(path) == []


@pytest.mark.parametrize("kind", ["no database", "cut", "overwritten", "one page"])
async def test_a_damaged_file_is_set_aside_and_said_once(database_at, path, spoil, caplog, kind):
    path.parent.mkdir()
    if kind == "no database":
        path.write_bytes(b"this is not a database\n" * 100)
    else:
        first = database_at(path)
        for number in range(400):
            await first.write(add(f"{number} {'x' * 80}"))
        await first.aclose()
        if kind == "cut":
            os.truncate(path, 5_000)
        else:
            spoil(path, 12_300 if kind == "one page" else 100)
    content = path.read_bytes()
    with caplog.at_level(logging.WARNING, "searx_mcp.storage"):
        one, other = database_at(path), database_at(path)
        await one.write(add("a"))
        await other.write(add("b"))
    assert await one.read(words) == ["a", "b"]
    assert [aside.name for aside in set_aside_files(path)] == [f"{path.name}.damaged-1"]
    assert set_aside_files(path)[0].read_bytes() == content
    assert [record.message.split()[0] for record in caplog.records] == ["storage.damaged"]


async def test_a_file_damaged_while_it_is_used_is_set_aside_by_its_users_together(
    database_at, path, spoil, quick_check
):
    one, other = database_at(path), database_at(path)
    for number in range(200):
        await one.write(add(f"{number} {'x' * 80}"))
    await other.read(words)
    for database in (one, other):
        await database.read(lambda tx: tx.rows("PRAGMA cache_size = 0"))
    spoil(path)
    async with asyncio.TaskGroup() as group:
        group.create_task(one.write(add("a")))
        group.create_task(other.write(add("b")))
    await one.write(add("c"))
    assert await other.read(words) == ["a", "b", "c"]
    assert [aside.name for aside in set_aside_files(path)] == [f"{path.name}.damaged-1"]
    await one.aclose()
    await other.aclose()
    assert quick_check(path) == "ok"


async def test_what_a_killed_process_was_writing_is_undone(database_at, path):
    database = database_at(path)
    await database.write(add("a"))
    await database.aclose()
    places = (path, path.with_name(f"{path.name}-journal"))
    with closing(sqlite3.connect(path, isolation_level=None)) as killed:
        killed.execute("PRAGMA cache_size = 1")
        killed.execute("BEGIN")
        killed.executemany("INSERT INTO words VALUES (?)", [["x" * 1_000]] * 100)
        left = [place.read_bytes() for place in places]
    for place, content in zip(places, left, strict=True):
        place.write_bytes(content)
    assert len(left[0]) > 50_000, "much was written already"
    assert await database.read(words) == ["a"]


async def test_a_file_in_use_elsewhere_is_never_renamed(database_at, path, spoil):
    first = database_at(path)
    await first.write(add("a"))
    spoil(path)
    with pytest.raises(StorageBusyError):
        await database_at(path, patience=0.1).write(add("b"))
    assert set_aside_files(path) == []
    await first.aclose()
    assert await database_at(path).write(add("b")) == 1
    assert len(set_aside_files(path)) == 1


async def test_a_second_damage_gets_the_next_number(database_at, path):
    for turn in range(1, 4):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"this is not a database\n" * 100)
        database = database_at(path)
        await database.write(add("a"))
        await database.aclose()
        assert len(set_aside_files(path)) == turn


async def test_a_folder_that_cannot_be_made_is_named(database_at, tmp_path):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "state"
    with pytest.raises(StorageUnavailableError, match="cannot be written") as caught:
        await database_at(folder / "x.db").write(add("a"))
    assert str(folder) in caught.value.message
    assert "choose another folder" in caught.value.advice


@pytest.mark.parametrize(
    ("pragma", "said"),
    [("query_only = ON", "cannot be written"), ("max_page_count = 1", "is full")],
)
async def test_a_file_that_can_only_be_read_is_not_set_aside(database_at, path, pragma, said):
    database = database_at(path)
    await database.write(add("a"))
    await database.read(lambda tx: tx.rows(f"PRAGMA {pragma}"))
    with pytest.raises(StorageUnavailableError, match=said) as caught:
        await database.write(add("x" * 100_000))
    assert str(path.parent) in caught.value.message
    assert await database.read(words) == ["a"]
    assert set_aside_files(path) == []


async def test_a_network_file_system_is_refused_with_advice(database_at, path, tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} nfs4 rw 0 0\n")
    with pytest.raises(StorageUnavailableError, match=r"between processes \(nfs4\)") as caught:
        await database_at(path, mounts=mounts).write(add("a"))
    assert caught.value.advice == "Choose a folder on a local disk."
    assert not path.exists()


async def test_a_wrong_statement_is_an_error_of_the_file_and_not_damage(database_at, path):
    with pytest.raises(StorageUnavailableError, match="no such table"):
        await database_at(path).read(lambda tx: tx.rows("SELECT * FROM others"))
    assert set_aside_files(path) == []


async def test_erasing_waits_for_readers_of_what_it_erases(database_at, path):
    dice = TellingDice()
    database = database_at(path, patience=30, rng=dice)
    await database.write(add("secret word"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        assert other.execute("SELECT * FROM words").fetchall() == [("secret word",)]
        async with asyncio.TaskGroup() as group:
            group.create_task(database.erase(lambda tx: tx.change("DELETE FROM words")))
            await asyncio.to_thread(dice.thrown.wait, 10)
            other.execute("COMMIT")
    assert path.with_name(f"{path.name}-journal").read_bytes() == b""


async def test_a_call_while_the_file_is_being_closed_opens_it_again(database_at, path):
    database = database_at(path)
    for number in range(20):
        async with asyncio.TaskGroup() as group:
            group.create_task(database.write(add(f"{2 * number:02}")))
            group.create_task(database.aclose())
            group.create_task(database.write(add(f"{2 * number + 1:02}")))
    assert await database.read(words) == [f"{number:02}" for number in range(40)]


async def test_erasing_leaves_no_trace_in_any_file(database_at, path):
    path.parent.mkdir()
    path.write_bytes(b"not a database, but a secret\n" * 50)
    database = database_at(path)
    await database.write(add("secret word"))
    await database.erase(lambda tx: tx.change("DELETE FROM words"))
    for entry in path.parent.iterdir():
        with suppress(PermissionError):
            assert b"secret" not in entry.read_bytes()
    assert set_aside_files(path) == []


async def test_erasing_gives_back_the_room_on_the_disk(database_at, path):
    database = database_at(path)
    await database.write(add("w" * 1_000_000))
    assert path.stat().st_size > 1_000_000
    await database.erase(lambda tx: tx.change("DELETE FROM words"))
    assert sum(entry.stat().st_size for entry in path.parent.iterdir()) < 100_000


async def test_bytes_come_back_as_they_were(database_at, path):
    database = database_at(path)
    await database.write(lambda tx: tx.change("INSERT INTO words VALUES (:word)", word=b"\x00\xff"))
    assert await database.read(lambda tx: tx.rows("SELECT word FROM words")) == [(b"\x00\xff",)]

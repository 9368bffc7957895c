"""What outlives a process, and what happens when nothing can."""

import asyncio
import json
import logging
import random
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from searx_mcp.errors import StorageBusyError, StorageUnavailableError
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice, InstanceState
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.sqlite import Database
from searx_mcp.storage.sqlite_state import FILE_NAME, SCHEMA, SqliteStore, open_store
from searx_mcp.storage.state import Account, Budget, Reservation, Window

HOST = "https://a.example/"
OTHER = "https://b.example/"
NOW = 1_000_000_000.0
WINDOWS = (Window(limit=2, seconds=600),)
ACCOUNT = Account(HOST, WINDOWS)
RECORD = InstanceRecord(url=HOST, last_at=NOW, successes=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / FILE_NAME


@pytest.fixture
async def store_at() -> AsyncIterator[Callable[..., SqliteStore]]:
    """Make stores in files."""
    made: list[SqliteStore] = []

    def make(path: Path, **options) -> SqliteStore:
        made.append(SqliteStore(path, **options))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


async def reserve(store, at=NOW, *, host=HOST):
    return (await store.reserve([Account(host, WINDOWS)], Format.HTML, at)).granted


async def budget_of(store, at=NOW):
    (budget,) = await store.budgets([ACCOUNT], at)
    return budget


def in_file(path, sql, values=()):
    """Look into the file, or change it, as another program might."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql, values).fetchall()


def bodies(path):
    return {url: json.loads(body) for url, body in in_file(path, "SELECT url, body FROM instances")}


def test_without_a_path_a_store_is_in_memory(path):
    assert isinstance(open_store(None), MemoryStore)
    store = open_store(path)
    assert repr(store) == f"<SqliteStore {path} [in its file]>"
    assert not path.parent.exists()
    assert FILE_NAME == "state-v1.db"


async def test_charges_records_and_claims_survive_a_restart(store_at, path):
    first = store_at(path)
    assert await reserve(first)
    assert await reserve(first)
    await first.save({HOST: RECORD}, NOW)
    assert await first.claim("probe", seconds=300, now=NOW)
    await first.aclose()
    second = store_at(path)
    assert not await reserve(second, NOW + 599)
    assert await reserve(second, NOW + 600)
    assert await second.load(NOW) == {HOST: RECORD}
    assert not await second.claim("probe", seconds=300, now=NOW)


async def test_two_stores_on_a_file_share_budgets_and_jobs(store_at, path):
    one, other = store_at(path), store_at(path)
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(reserve(store, host=host))
            for _ in range(20)
            for store in (one, other)
            for host in (HOST, OTHER)
        ]
    assert sum(task.result() for task in asked) == 4
    assert await one.claim("probe", seconds=300, now=NOW)
    assert not await other.claim("probe", seconds=300, now=NOW)


async def test_all_processes_of_a_file_have_its_seed_and_no_other_file_has_it(
    store_at, path, tmp_path
):
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(store_at(path).installation_seed()) for _ in range(4)]
    seeds = {task.result() for task in asked}
    seeds.add(await store_at(path).installation_seed())
    (seed,) = seeds
    assert await store_at(tmp_path / "other" / FILE_NAME).installation_seed() != seed


async def test_a_file_of_the_first_minor_gets_its_seed_and_still_serves_the_older_program(
    store_at, path
):
    older = Database(path, Schema(SCHEMA.major, SCHEMA.minors[:1]))
    charge = "INSERT INTO charges (instance, at, format) VALUES (:instance, :at, 'html')"
    await older.write(lambda tx: tx.change(charge, instance=HOST, at=NOW))
    store = store_at(path)
    seed = await store.installation_seed()
    assert (await budget_of(store)).left == 1
    await older.write(lambda tx: tx.change(charge, instance=HOST, at=NOW))
    await older.aclose()
    again = Database(path, Schema(SCHEMA.major, SCHEMA.minors[:1]))
    assert await again.read(lambda tx: tx.rows("SELECT count(*) FROM charges")) == [(2,)]
    await again.aclose()
    assert (await budget_of(store)).left == 0
    assert await store_at(path).installation_seed() == seed


async def test_a_file_of_the_second_minor_gets_its_choices(store_at, path):
    older = Database(path, Schema(SCHEMA.major, SCHEMA.minors[:2]))
    await older.write(lambda tx: tx.rows("SELECT * FROM installation"))
    await older.aclose()
    store = store_at(path)
    assert await store.choose(InstanceChoice.OWN, HOST, chosen=True)
    assert (await store_at(path).choices())[InstanceChoice.OWN] == (HOST,)


async def test_a_choice_of_a_kind_that_only_a_newer_version_knows_stays_and_is_not_shown(
    store_at, path
):
    store = store_at(path)
    await store.choices()
    in_file(path, "INSERT INTO choices (kind, value) VALUES ('pinned', 'a.example')")
    await store.choose(InstanceChoice.OWN, HOST, chosen=True)
    assert await store.choices() == {InstanceChoice.OWN: (HOST,), InstanceChoice.BLOCKED: ()}
    kinds = in_file(path, "SELECT kind FROM choices ORDER BY kind")
    assert kinds == [("own",), ("pinned",)]


async def test_a_store_that_goes_on_in_memory_keeps_the_seed_and_the_choices(
    store_at, path, set_pragma
):
    first = store_at(path)
    seed = await first.installation_seed()
    await first.choose(InstanceChoice.OWN, HOST, chosen=True)
    store = store_at(path)
    assert await store.installation_seed() == seed
    await store.choices()
    await set_pragma(store, "max_page_count = 1")
    await store.save({HOST: RECORD.model_copy(update={"last_detail": "x" * 100_000})}, NOW)
    assert store.problem
    assert (await store.choices())[InstanceChoice.OWN] == (HOST,)
    assert await store.installation_seed() == seed
    await set_pragma(store, "max_page_count = 1")
    with pytest.raises(StorageUnavailableError):
        await store.choose(InstanceChoice.BLOCKED, "b.example" * 10_000, chosen=True)
    assert not (await store.choices())[InstanceChoice.BLOCKED]


async def test_while_the_file_is_busy_a_choice_is_refused_and_the_known_ones_hold(
    store_at, path, database_of
):
    store = store_at(path)
    await store.choose(InstanceChoice.OWN, HOST, chosen=True)
    database_of(store).patience = 0.05
    with closing(sqlite3.connect(path, isolation_level=None)) as hog:
        hog.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusyError, match="in use by another process"):
            await store.choose(InstanceChoice.OWN, OTHER, chosen=True)
    database_of(store).patience = 30
    assert (await store.choices())[InstanceChoice.OWN] == (HOST,)
    assert store.problem == ""


async def test_a_cancelled_reservation_leaves_the_store_usable_and_is_charged_at_most_once(
    store_at, path
):
    store = store_at(path)
    await reserve(store, host=OTHER)
    for turns in range(6):
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(reserve(store, NOW + 600 * turns))
            for _ in range(turns):
                await asyncio.sleep(0)
            asked.cancel()
        budget = await budget_of(store, NOW + 600 * turns)
        assert budget.left in {1, 2}
    assert await reserve(store, NOW + 6_000)


async def test_fields_of_a_newer_version_are_ignored_and_kept(store_at, path):
    store = store_at(path)
    await store.save({HOST: RECORD}, NOW)
    body = {**bodies(path)[HOST], "mood": "sunny", "version": 2}
    in_file(path, "UPDATE instances SET body = ?", [json.dumps(body)])
    assert (await store.load(NOW))[HOST].successes == 1
    await store.save({HOST: RECORD.model_copy(update={"successes": 2})}, NOW)
    assert bodies(path)[HOST]["mood"] == "sunny"
    assert bodies(path)[HOST]["successes"] == 2


@pytest.mark.parametrize(
    "body", ['{"url": "x", "state": "asleep"}', "[1]", "{", '{"url": "x", "until": "NaN"}']
)
async def test_a_record_that_cannot_be_read_is_left_out_until_it_is_replaced(store_at, path, body):
    store = store_at(path)
    await store.save({HOST: RECORD, OTHER: InstanceRecord(url=OTHER)}, NOW)
    in_file(path, "UPDATE instances SET body = ? WHERE url = ?", [body, HOST])
    assert set(await store.load(NOW)) == {OTHER}
    await store.save({HOST: RECORD}, NOW)
    assert (await store.load(NOW))[HOST] == RECORD


async def test_no_query_has_a_place_in_the_file(store_at, path):
    await reserve(store_at(path))
    columns = {
        column
        for (table,) in in_file(path, "SELECT name FROM sqlite_master WHERE type='table'")
        for (column,) in in_file(path, "SELECT name FROM pragma_table_info(?)", [table])
    }
    charges, records, others = (
        {"instance", "at", "format"},
        {"url", "last_at", "body"},
        {"job", "row"},
    )
    assert columns == charges | records | others | {"seed", "kind", "value"}


async def use_everything(store, at=NOW):
    assert await store.claim("probe", seconds=300, now=at)
    assert not await store.claim("probe", seconds=300, now=at)
    await store.save({OTHER: InstanceRecord(url=OTHER, state=InstanceState.HEALTHY)}, at)
    assert set(await store.load(at)) == {OTHER}


async def test_a_folder_that_cannot_be_made_means_memory_one_warning_and_a_reason(
    store_at, tmp_path, caplog
):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "state"
    store = store_at(folder / FILE_NAME)
    with caplog.at_level(logging.WARNING, "searx_mcp"):
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(reserve(store)) for _ in range(5)]
        await use_everything(store)
    assert sum(task.result() for task in asked) == 2
    assert store.problem == (
        "Budgets and instance states last only as long as this process: "
        f"{folder} cannot be written. Make it writable for this user, or choose another folder."
    )
    [record] = caplog.records
    assert record.message == (
        f"storage.degraded reason={folder} cannot be written"
        " advice=Make it writable for this user, or choose another folder."
    )
    assert repr(store) == f"<SqliteStore {folder / FILE_NAME} [in memory]>"
    with pytest.raises(StorageUnavailableError):
        await store.purge()


async def test_a_disk_that_fills_up_frees_no_budget(store_at, path, set_pragma):
    store, other = store_at(path), store_at(path)
    assert await reserve(store)
    assert await reserve(other)
    await set_pragma(store, "max_page_count = 1")
    large = RECORD.model_copy(update={"last_detail": "x" * 100_000})
    await store.save({HOST: large}, NOW)
    assert "is full" in store.problem
    assert not await reserve(store)
    assert (await budget_of(store)).left == 0
    assert await store.load(NOW) == {HOST: large}
    await other.purge()


async def test_a_file_lost_altogether_leaves_the_charges_of_this_process(store_at, path):
    store = store_at(path)
    assert await reserve(store)
    await store.aclose()
    for entry in path.parent.iterdir():
        entry.unlink()
    path.parent.rmdir()
    path.parent.touch()
    assert await reserve(store)
    assert "cannot be written" in store.problem
    assert not await reserve(store)


async def test_while_the_file_is_busy_nothing_leaves_and_later_all_is_well(
    store_at, path, database_of, pass_by
):
    store = store_at(path, patience=0.05)
    database_of(store).patience = 30
    assert await reserve(store)
    database_of(store).patience = 0.05
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused = await store.reserve([ACCOUNT], Format.HTML, NOW)
        assert refused == Reservation(granted=False, retry_at=NOW + 0.05)
        assert (await store.reserve([Account(HOST)], Format.HTML, NOW)).granted
        assert not await store.claim("probe", seconds=300, now=NOW)
        await store.save({HOST: RECORD}, NOW)
        assert await store.load(NOW) == {}
        seed = await store.installation_seed()
        other.execute("ROLLBACK")
    assert store.problem == ""
    database_of(store).patience = 30
    assert (await budget_of(store)).left == 1
    assert await reserve(store)
    assert await store.installation_seed() == seed
    pass_by(3_600)
    database_of(store).patience = 0.05
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert not await reserve(store)
    assert store.problem == "", "the next time it is busy begins anew"


async def test_a_file_that_cannot_be_opened_yet_shows_no_budget_rather_than_too_much(
    store_at, path
):
    path.parent.mkdir()
    store = store_at(path, patience=0.05)
    with closing(sqlite3.connect(f"{path}.lock", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        budgets = await store.budgets([Account(OTHER), ACCOUNT], NOW)
        assert budgets == (Budget(left=None, free_at=NOW), Budget(left=0, free_at=NOW + 0.05))
    assert store.problem == ""


async def test_a_file_that_stays_busy_is_given_up(store_at, path, database_of):
    store = store_at(path)
    assert await reserve(store)
    database_of(store).patience = 0.01
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        async with asyncio.timeout(30):
            while not store.problem:
                await reserve(store)
        other.execute("ROLLBACK")
    assert "did not answer within 0.01 s" in store.problem
    await use_everything(store)
    assert not await reserve(store)


@pytest.mark.parametrize("seed", range(3))
async def test_a_loss_of_power_costs_the_charges_at_most_and_no_search(store_at, path, seed):
    # What the system had not written yet is lost page by page, in any order.
    dice = random.Random(seed)
    store = store_at(path)
    hosts = [Account(f"https://h{n}.example/", (Window(1_000, 3_000_000),)) for n in range(9)]
    states = []
    for turn in range(200):
        await store.reserve([dice.choice(hosts)], Format.HTML, NOW + turn)
        if turn in {190, 199}:
            states.append(path.read_bytes())
    await store.aclose()
    pages = range(0, len(states[1]), 4_096)
    path.write_bytes(b"".join(dice.choice(states)[at : at + 4_096] or bytes(4_096) for at in pages))
    again = store_at(path)
    for host in hosts:
        assert (await again.reserve([host], Format.HTML, NOW + 300)).granted
    assert again.problem == ""
    assert all(budget.left is not None for budget in await again.budgets(hosts, NOW + 301))

"""A server that is away, busy, refuses or belongs to a later version, and what calls are told."""

import asyncio
import logging
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext

import asyncpg
import pytest

from searx_mcp.errors import StorageBusyError, StorageError, StorageUnavailableError
from searx_mcp.evidence.storage import postgres_tables as schema
from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.storage.postgres import PostgresLink


async def no_greeting(connection) -> None:
    pass


@pytest.fixture
async def link_to() -> AsyncIterator[Callable[..., PostgresLink]]:
    made: list[PostgresLink] = []

    def make(url: str, *, patience: float = 30, greet=no_greeting) -> PostgresLink:
        made.append(PostgresLink(url, patience=patience, greet=greet))
        return made[-1]

    yield make
    for link in made:
        await link.aclose()


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """The address of something that takes connections and says nothing."""

    async def hold(reader, writer) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"postgresql://alice:hunter2@127.0.0.1:{port}/corpus?sslmode=disable"


async def one(connection):
    return await connection.fetchval("SELECT 1")


async def test_a_call_is_answered_and_its_connection_serves_the_next(link_to, postgres_url):
    link = link_to(postgres_url)
    backends = {await link.read(lambda c: c.fetchval("SELECT pg_backend_pid()")) for _ in range(3)}
    assert len(backends) == 1
    assert "connected" in repr(link)
    await link.aclose()
    assert await link.read(one) == 1


async def test_what_fails_in_a_transaction_leaves_nothing(link_to, postgres_url):
    link, table = link_to(postgres_url), f"t{secrets.token_hex(4)}"
    await link.read(lambda c: c.execute(f"CREATE TABLE {table} (x int)"))

    async def write(connection) -> None:
        await connection.execute(f"INSERT INTO {table} VALUES (1)")  # noqa: S608 - ours
        raise KeyError

    with pytest.raises(KeyError):
        await link.write(write)
    assert await link.read(lambda c: c.fetchval(f"SELECT count(*) FROM {table}")) == 0  # noqa: S608 - ours


async def test_a_connection_that_the_server_has_ended_is_made_anew_without_an_error(
    link_to, postgres_url
):
    link, other = link_to(postgres_url), link_to(postgres_url)
    backend = await link.read(lambda c: c.fetchval("SELECT pg_backend_pid()"))
    await other.read(lambda c: c.execute("SELECT pg_terminate_backend($1)", backend))
    assert await link.read(one) == 1
    assert link.error is None


async def test_a_server_that_is_busy_for_too_long_is_busy_and_not_away(link_to, postgres_url):
    link = link_to(postgres_url, patience=1)
    with pytest.raises(StorageBusyError):
        await link.read(lambda c: c.execute("SELECT pg_sleep(60)"))
    assert link.error is None
    link.patience = 30
    assert await link.read(one) == 1


async def test_a_value_that_the_server_does_not_take_says_nothing_of_the_server(
    link_to, postgres_url
):
    link = link_to(postgres_url)
    with pytest.raises(StorageError) as caught:
        await link.read(lambda c: c.fetchval("SELECT 1 / $1::int", 0))
    assert not isinstance(caught.value, StorageBusyError | StorageUnavailableError)
    assert link.error is None


@pytest.mark.parametrize(("met", "is_busy"), [(3, False), (4, True)])
async def test_work_that_met_the_same_of_another_process_runs_up_to_four_times(
    link_to, postgres_url, met, is_busy
):
    turns = []

    async def work(connection):
        turns.append(1)
        if len(turns) <= met:
            raise asyncpg.DeadlockDetectedError("deadlock detected")
        return await one(connection)

    with pytest.raises(StorageBusyError) if is_busy else nullcontext():
        assert await link_to(postgres_url).write(work) == 1
    assert len(turns) == 4


async def test_a_server_that_keeps_silent_is_away_for_a_while_and_said_so_once(
    link_to, silent, caplog
):
    link = link_to(silent, patience=0.2)
    for _ in range(3):
        with pytest.raises(StorageUnavailableError) as caught:
            await link.read(one)
        assert "did not answer within 0.2 s" in caught.value.message
        assert "hunter2" not in str(caught.value)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "hunter2" not in caplog.text + repr(link)
    assert "alice" not in caplog.text


@pytest.fixture
def freeze() -> Iterator[Callable[[int], None]]:
    """Stop a process of the server in the middle of what it does, until the test ends."""
    stopped: list[int] = []

    def stop(process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        stopped.append(process)

    yield stop
    for process in stopped:
        os.kill(process, signal.SIGCONT)


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be stopped there")
@pytest.mark.parametrize("how", ["read", "write", "close"])
async def test_a_server_that_freezes_holds_up_nobody_for_longer_than_the_patience(
    link_to, postgres_url, freeze, how
):
    link = link_to(postgres_url)
    freeze(await link.read(lambda c: c.fetchval("SELECT pg_backend_pid()")))
    link.patience = 0.3
    if how == "close":
        await link.aclose()
    else:
        with pytest.raises(StorageUnavailableError, match="did not answer"):
            await getattr(link, how)(one)
    assert "connected" not in repr(link)


async def test_a_server_that_is_back_is_used_again_after_the_pause(
    link_to, postgres_url, unused_port, caplog, pass_by
):
    caplog.set_level(logging.INFO)
    link = link_to(postgres_url)
    link._url = f"postgresql://127.0.0.1:{unused_port()}/x?sslmode=disable"
    with pytest.raises(StorageUnavailableError) as caught:
        await link.read(one)
    assert "Connection refused" in caught.value.message
    link._url = postgres_url
    with pytest.raises(StorageUnavailableError):
        await link.read(one)
    pass_by(link.retry_interval + 1)
    assert await link.read(one) == 1
    assert [record.message.split()[0] for record in caplog.records] == [
        "storage.postgres_away",
        "storage.postgres_back",
    ]


@pytest.mark.parametrize(
    ("error", "said", "advice"),
    [
        (asyncpg.InvalidPasswordError("for user alice"), "refuses access", "password"),
        (asyncpg.InsufficientPrivilegeError("x"), "refuses access", "rights"),
        (asyncpg.InvalidCatalogNameError("x"), "no such database", "createdb"),
        (asyncpg.ReadOnlySQLTransactionError("x"), "read-only", "primary"),
        (asyncpg.TooManyConnectionsError("x"), "no connection left", "max_connections"),
        (asyncpg.CannotConnectNowError("x"), "starting", "Wait"),
        (asyncpg.DiskFullError("x"), "no room", "Free space"),
        (asyncpg.UndefinedTableError("hunter2"), "SQLSTATE 42P01", "log"),
        (asyncpg.exceptions.ProtocolError("hunter2"), "ProtocolError", "version"),
        (ValueError("hunter2"), "does not answer like Postgres", "postgres.url"),
    ],
)
async def test_each_trouble_has_its_words(link_to, postgres_url, error, said, advice):
    async def fail(connection) -> None:
        raise error

    with pytest.raises(StorageUnavailableError) as caught:
        await link_to(postgres_url, greet=fail).read(one)
    assert said in caught.value.message
    assert advice in caught.value.advice
    assert "hunter2" not in str(caught.value)


async def test_a_call_that_is_cancelled_leaves_no_connection_and_no_transaction(
    link_to, postgres_url
):
    link, begun = link_to(postgres_url), asyncio.Event()

    async def wait(connection) -> None:
        await connection.execute("SELECT pg_advisory_xact_lock(42)")
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(link.write(wait))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "closed" in repr(link)
    await link.write(lambda c: c.execute("SELECT pg_advisory_xact_lock(42)"))


async def test_a_call_that_waits_too_long_for_its_turn_takes_nobody_for_away(link_to, postgres_url):
    link, go = link_to(postgres_url), asyncio.Event()
    begun = [asyncio.Event() for _ in range(4)]

    async def wait(connection, event) -> None:
        event.set()
        await go.wait()

    async with asyncio.TaskGroup() as group:
        for event in begun:
            group.create_task(link.read(lambda c, event=event: wait(c, event)))
        for event in begun:
            await event.wait()
        link.patience = 0.05
        with pytest.raises(StorageBusyError):
            await link.read(one)
        link.patience = 30
        go.set()
    assert link.error is None
    assert await link.read(one) == 1


# Versions of the tables


def store_of(url: str, name: str) -> PostgresCorpusStore:
    return PostgresCorpusStore(
        url, namespace="n", max_bytes=1 << 26, max_age=1e9, patience=30, schema=name
    )


async def test_programs_of_two_minors_use_one_schema_at_the_same_time(
    postgres_url, monkeypatch, link_of
):
    name = f"test_{secrets.token_hex(6)}"
    older, newer = store_of(postgres_url, name), store_of(postgres_url, name)
    assert (await older.totals()).documents == 0
    later = (
        "ALTER TABLE documents ADD mark int NOT NULL DEFAULT 7",
        "CREATE TABLE marks (document bigint REFERENCES documents ON DELETE CASCADE)",
    )
    monkeypatch.setattr(schema, "MINORS", (*schema.MINORS, later))
    assert (await newer.totals()).documents == 0
    monkeypatch.undo()
    again = store_of(postgres_url, name)
    for store in (older, newer, again):
        await store.renew("x", fetched_at=1, fresh_until=1, etag="", last_modified="")
        await store.pin(["x"], 1)
        assert await store.unembedded("m", 1) == ()
    applied = await link_of(again).read(lambda c: c.fetch("SELECT minor FROM applied ORDER BY 1"))
    assert [row[0] for row in applied] == [1, 2, 3]
    for store in (older, newer, again):
        await store.aclose()


async def test_a_server_without_extensions_is_enough(postgres_url):
    name = f"plain_{secrets.token_hex(4)}"
    owner = await asyncpg.connect(postgres_url)
    await owner.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    await owner.close()
    url = postgres_url.replace("/postgres?", f"/{name}?")
    there = await asyncpg.connect(url)
    await there.execute(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'no extension here'; END $$;"
        "CREATE EVENT TRIGGER no_extension ON ddl_command_start"
        " WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION refuse()"
    )
    store = store_of(url, "searx_mcp")
    assert (await store.totals()).documents == 0
    await store.keep_vectors("m", {"x": b"12"})
    assert await there.fetch("SELECT extname FROM pg_extension WHERE extname != 'plpgsql'") == []
    await store.aclose()
    await there.close()


async def test_many_that_come_first_at_once_make_the_schema_once(postgres_url, link_of):
    name = f"test_{secrets.token_hex(6)}"
    stores = [store_of(postgres_url, name) for _ in range(6)]
    async with asyncio.TaskGroup() as group:
        for store in stores:
            group.create_task(store.totals())
    assert [link_of(store).error for store in stores] == [None] * 6
    for store in stores:
        await store.aclose()


async def test_a_schema_that_is_there_needs_no_right_to_make_one(postgres_url, link_of):
    name, login = f"test_{secrets.token_hex(6)}", f"reader_{secrets.token_hex(4)}"
    owner = store_of(postgres_url, name)
    await owner.totals()
    statements = (
        f"CREATE ROLE {login} LOGIN",
        f'GRANT USAGE ON SCHEMA "{name}_v1" TO {login}',
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{name}_v1" TO {login}',
        f'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "{name}_v1" TO {login}',
    )
    await link_of(owner).read(lambda c: c.execute(";".join(statements)))
    other = store_of(postgres_url.replace("postgres:", f"{login}:"), name)
    await other.pin(["x"], 1)
    with pytest.raises(StorageUnavailableError, match="refuses access"):
        await other.purge()
    await owner.aclose()
    await other.aclose()


async def test_a_database_in_another_encoding_is_refused(postgres_url):
    name = f"latin_{secrets.token_hex(4)}"
    owner = await asyncpg.connect(postgres_url)
    await owner.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    await owner.close()
    store = store_of(postgres_url.replace("/postgres?", f"/{name}?"), "searx_mcp")
    with pytest.raises(StorageUnavailableError, match="UTF-8"):
        await store.totals()
    await store.aclose()

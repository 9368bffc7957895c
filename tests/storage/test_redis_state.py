"""A store on a real server: shared, lost, found again."""

import asyncio
import json
import logging
import math
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice, InstanceState
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.storage.redis import RETRY_INTERVAL, RedisLink
from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.sqlite_state import FILE_NAME, SqliteStore
from searx_mcp.storage.state import Account, QuotaMirror, Reservation, Window

NOW = 1_000_000_000.0
DAY = 86_400.0
HOST = "https://a.example/"
OTHER = "https://b.example/"
THREE = Account(HOST, (Window(3, 30 * DAY),))
PUBLIC = Account("public", (Window(4, 30 * DAY),), members=(HOST, OTHER))

Store = Callable[..., RedisStore]


@pytest.fixture
async def store_at() -> AsyncIterator[Store]:
    """Make stores on a server; all of one test share a prefix."""
    prefix = f"{secrets.token_hex(8)}:"
    async with AsyncExitStack() as stack:

        def make(url: str, *, patience: float = 10, prefix: str = prefix) -> RedisStore:
            store = RedisStore(url, prefix=prefix, patience=patience)
            stack.push_async_callback(store.aclose)
            return store

        yield make


@pytest.fixture
async def ask(redis_url: str) -> AsyncIterator[Callable[..., Awaitable[list[Any]]]]:
    """Ask the shared server itself."""
    link = RedisLink(redis_url, patience=10)
    async with aclosing(link):
        yield lambda *commands: link.run(lambda session: session.ask(*commands))


async def reserve(store: RedisStore, at: float, *accounts: Account) -> Reservation:
    return await store.reserve(accounts or (THREE,), Format.HTML, at)


async def left(store: RedisStore, at: float, of: Account = THREE) -> int | None:
    (budget,) = await store.budgets([of], at)
    return budget.left


# As Lua computes it


_WINDOWS = st.builds(
    Window,
    limit=st.integers(1, 4),
    seconds=st.floats(0.1, 1_000),
    format=st.sampled_from([None, Format.JSON, Format.HTML]),
)
_NAMES = ("https://a.example/", "https://b.example/", "https://c.example/")
_STEP = st.tuples(
    st.floats(0, 400),
    st.sampled_from([0.0, 0.0, 0.0, -500.0, -50.0, 500.0]),
    st.sampled_from(Format),
    st.lists(_WINDOWS, max_size=3),
    st.lists(_WINDOWS, max_size=3),
    st.sampled_from(_NAMES),
    st.booleans(),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)  # a server answers: how long that takes says nothing here
@given(steps=st.lists(_STEP, max_size=25))
async def test_the_server_grants_and_refuses_as_the_file_does_to_the_last_bit(
    redis_url, tmp_path_factory, steps
):
    now = NOW
    prefix = f"{secrets.token_hex(8)}:"
    async with (
        aclosing(SqliteStore(tmp_path_factory.mktemp("state") / FILE_NAME, patience=30)) as file,
        aclosing(RedisStore(redis_url, prefix=prefix, patience=30)) as server,
    ):
        for wait, jump, format_, own, shared, name, again in steps:
            now += wait + jump
            members = _NAMES if len(shared) % 2 else ()
            accounts = [
                Account(name, tuple(own)),
                Account("public", tuple(shared), members=members),
            ]
            expected = await file.reserve(accounts, format_, now)
            assert await server.reserve(accounts, format_, now) == expected
            if again and expected.retry_at is not None:
                now = expected.retry_at
                expected = await file.reserve(accounts, format_, now)
                assert await server.reserve(accounts, format_, now) == expected
            asked = [*accounts, Account(OTHER, (Window(9, 700.0),))]
            assert await server.budgets(asked, now) == await file.budgets(asked, now)


# Shared


@pytest.mark.slow
async def test_processes_share_charges_records_claims_choices_and_the_seed(redis_url, store_at):
    one, two = store_at(redis_url), store_at(redis_url)
    record = InstanceRecord(url=HOST, state=InstanceState.FAILING, last_at=NOW)
    for turn in range(3):
        assert (await reserve(one, NOW + turn)).granted
    assert not (await reserve(two, NOW + 3)).granted
    await one.save({HOST: record}, NOW)
    assert await two.load(NOW) == {HOST: record}
    assert await one.claim("probe", seconds=60, now=NOW)
    assert not await two.claim("probe", seconds=60, now=NOW)
    assert await one.choose(InstanceChoice.BLOCKED, "b.example", chosen=True)
    assert (await two.choices())[InstanceChoice.BLOCKED] == ("b.example",)
    assert await one.installation_seed() == await two.installation_seed()


@pytest.mark.slow
async def test_another_prefix_is_another_store_and_a_purge_leaves_it_alone(
    redis_url, store_at, ask
):
    one, two = store_at(redis_url, prefix="a*[b]?:"), store_at(redis_url, prefix="a-b-?:")
    for store in (one, two):
        await reserve(store, NOW)
    assert await left(one, NOW) == 2
    await one.purge()
    assert await left(one, NOW) == 3
    assert await left(two, NOW) == 2
    await two.purge()
    assert await ask(("KEYS", "a-b-*")) == [[]]


@pytest.mark.slow
async def test_everything_but_choices_and_the_seed_goes_by_itself(redis_url, store_at, ask):
    store = store_at(redis_url, prefix="expiring:")
    year = Account(OTHER, (Window(3, 365 * DAY),))
    await reserve(store, NOW, THREE, PUBLIC)
    await reserve(store, NOW, year)
    await store.save({HOST: InstanceRecord(url=HOST, last_at=NOW)}, NOW)
    await store.claim("probe", seconds=60, now=NOW)
    await store.choose(InstanceChoice.OWN, HOST, chosen=True)
    (keys,) = await ask(("KEYS", "expiring:*"))
    lives = {
        key.decode(): math.ceil(seconds / DAY)
        for key, (seconds,) in [(key, await ask(("TTL", key))) for key in keys]
    }
    assert lives == {
        "expiring:v1:charges:https://a.example/": 80,
        "expiring:v1:charges:https://b.example/": 365,
        "expiring:v1:records": 40,
        "expiring:v1:claim:probe": 40,
        "expiring:v1:chosen:own": 0,
        "expiring:v1:seed": 0,
    }
    await store.purge()


@pytest.mark.slow
async def test_fields_of_a_newer_version_stay_and_its_states_are_passed_over(
    redis_url, store_at, ask
):
    store = store_at(redis_url, prefix="newer:")
    key = "newer:v1:records"
    newer = json.dumps({"url": HOST, "last_at": NOW, "mood": "sunny"})
    strange = json.dumps({"url": OTHER, "last_at": NOW, "state": "on_holiday"})
    await ask(("HSET", key, HOST, f"{NOW!r} {newer}", OTHER, f"{NOW!r} {strange}", "x", "garbage"))
    assert [*await store.load(NOW)] == [HOST]
    await store.save({HOST: InstanceRecord(url=HOST, last_at=NOW + 1, drift=7)}, NOW + 1)
    (kept,) = await ask(("HGET", key, HOST))
    fields = json.loads(kept.partition(b" ")[2])
    assert (fields["mood"], fields["drift"]) == ("sunny", 7)
    await ask(("HSET", key, OTHER, f"{NOW!r} [1]"))
    await store.save({OTHER: InstanceRecord(url=OTHER, last_at=NOW + 1)}, NOW + 1)
    assert (await store.load(NOW))[OTHER].last_at == NOW + 1
    await store.purge()


@pytest.mark.slow
async def test_a_request_that_is_reserved_twice_because_an_answer_was_lost_is_charged_once(
    redis_url, store_at
):
    is_lossy = asyncio.Event()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = await asyncio.open_connection(*urlsplit(redis_url).netloc.split(":"))
        while asked := await reader.read(65_536):
            server[1].write(asked)
            answer = await server[0].read(65_536)
            if is_lossy.is_set():
                break
            writer.write(answer)
        is_lossy.clear()
        for each in (server[1], writer):
            each.close()

    one = Account(OTHER, (Window(1, 60),))
    async with await asyncio.start_server(relay, "127.0.0.1", 0) as between:
        store = store_at("redis://127.0.0.1:{1}".format(*between.sockets[0].getsockname()))
        assert (await reserve(store, NOW)).granted
        is_lossy.set()
        assert await reserve(store, NOW, one) == Reservation(granted=True)
        assert not is_lossy.is_set(), "an answer was lost"
        assert await left(store, NOW, one) == 0
        await store.aclose()
    assert store.problem == ""


@pytest.mark.slow
async def test_a_cancelled_reservation_leaves_the_store_usable(redis_url, store_at):
    store = store_at(redis_url)
    assert (await reserve(store, NOW)).granted
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(reserve(store, NOW + 1)) for _ in range(20)]
        await asyncio.sleep(0)
        for task in asked[::2]:
            task.cancel()
    assert await left(store, NOW + 2) == 0
    assert store.problem == ""


# Away


_COMMAND = re.compile(rb"\*\d+\r\n\$\d+\r\n([A-Z]+)\r\n")


@pytest.fixture
async def reply_with() -> AsyncIterator[Callable[[bytes], Awaitable[str]]]:
    """Start a server that lets us in and gives every command the same reply."""
    async with AsyncExitStack() as stack:

        async def start(reply: bytes, *, admits: bool = True) -> str:
            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                while chunk := await reader.read(65_536):
                    for name in _COMMAND.findall(chunk):
                        is_entrance = admits and name in {b"AUTH", b"CLIENT"}
                        writer.write(b"+OK\r\n" if is_entrance else reply)
                writer.close()

            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            stack.callback(server.close)
            return f"redis://user:open-sesame@127.0.0.1:{server.sockets[0].getsockname()[1]}"

        yield start


@pytest.mark.parametrize(
    ("reply", "admits", "reason"),
    [
        (b"", True, "did not answer within 0.2 s"),
        (b"", False, "did not answer within 0.2 s"),
        (b"-LOADING Redis is loading the dataset in memory\r\n", False, "is still loading"),
        (b"-WRONGPASS invalid username-password pair\r\n", False, "refuses access"),
        (b"-NOPERM this user has no permissions\r\n", True, "refuses access"),
        (b"-READONLY You can't write against a replica\r\n", True, "is a read-only replica"),
        (b"-OOM command not allowed\r\n", True, "is out of memory"),
        (b"-ERR open-sesame\r\n", True, "answered with an error,"),
        (b"HTTP/1.1 400 Bad " + b"e" * 900 + b"\r\n\r\n", False, "cannot be reached"),
    ],
    ids=[
        *("silent", "silent at once", "loading", "login", "permission"),
        *("replica", "memory", "error", "other program"),
    ],
)
async def test_without_a_usable_server_the_process_goes_on_and_says_why(
    reply_with, store_at, caplog, reply, admits, reason, link_of
):
    store = store_at(await reply_with(reply, admits=admits), patience=0.2)
    for turn in range(3):
        assert (await reserve(store, NOW + turn)).granted
    assert await reserve(store, NOW + 3) == Reservation(
        granted=False, retry_at=NOW + 30 * DAY, refused_by=HOST
    )
    assert [budget.left for budget in await store.budgets([PUBLIC, THREE], NOW + 3)] == [1, 0]
    record = InstanceRecord(url=HOST, last_at=NOW)
    await store.save({HOST: record}, NOW)
    assert await store.load(NOW) == {HOST: record}
    assert await store.claim("probe", seconds=60, now=NOW)
    assert not await store.claim("probe", seconds=60, now=NOW)
    assert await store.installation_seed() == await store.installation_seed()
    assert await store.choices() == {InstanceChoice.OWN: (), InstanceChoice.BLOCKED: ()}
    with pytest.raises(StorageUnavailableError):
        await store.choose(InstanceChoice.OWN, HOST, chosen=True)
    with pytest.raises(StorageUnavailableError):
        await store.purge()
    (warning,) = [entry for entry in caplog.records if entry.levelno == logging.WARNING]
    for text in (store.problem, warning.getMessage(), repr(store), repr(link_of(store))):
        assert "sesame" not in text
        assert "user" not in text.replace("user name", "")
    assert store.problem.startswith(f"Redis at {link_of(store).place} {reason}")
    assert "this process carries on alone" in store.problem
    assert len(store.problem) < 400


async def test_a_server_that_is_not_there_costs_no_time_and_is_tried_again_after_a_while(
    store_at, caplog, pass_by
):
    asked: list[str] = []

    def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append("")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        store = store_at(f"redis://127.0.0.1:{port}", patience=30)
        for tried in (1, 2):
            for turn in range(5):
                await reserve(store, NOW + turn)
            assert len(asked) == tried
            pass_by(RETRY_INTERVAL + 1)
    assert len(caplog.records) == 1
    assert "cannot be reached" in store.problem


@pytest.fixture
def start_at_unused_port(unused_port) -> str:
    """The address of a server that does not run."""
    return f"redis://127.0.0.1:{unused_port()}"


# Lost and found again


@pytest.mark.slow
async def test_what_was_charged_while_the_server_was_away_is_brought_along(
    start_redis, store_at, caplog, pass_by
):
    server = start_redis()
    one, two = store_at(server.url), store_at(server.url)
    assert (await reserve(one, NOW)).granted
    assert (await reserve(two, NOW + 1)).granted
    assert await left(one, NOW + 2) == 1, "it has seen the other's charge by now"
    seed = await one.installation_seed()
    assert await one.choose(InstanceChoice.BLOCKED, "b.example", chosen=True)
    await one.save({HOST: InstanceRecord(url=HOST, last_at=NOW)}, NOW)
    server.kill()

    assert (await reserve(one, NOW + 2)).granted
    assert not (await reserve(one, NOW + 3)).granted, "the other's charge is not free again"
    assert one.problem
    await one.save({OTHER: InstanceRecord(url=OTHER, last_at=NOW + 3)}, NOW + 3)
    with pytest.raises(StorageUnavailableError):
        await one.choose(InstanceChoice.BLOCKED, "c.example", chosen=True)

    server.start()  # it has lost everything
    pass_by(RETRY_INTERVAL + 1)
    assert await left(one, NOW + 4) == 0
    assert one.problem == ""
    assert await left(two, NOW + 4) == 0, "neither forgotten nor counted twice"
    assert two.problem == ""
    assert {*await two.load(NOW + 4)} == {HOST, OTHER}
    assert await two.installation_seed() == seed
    assert (await two.choices())[InstanceChoice.BLOCKED] == ("b.example",)
    told = [entry.getMessage().split()[0] for entry in caplog.records if entry.levelno >= 30]
    assert told == ["storage.redis_away"]


@pytest.mark.slow
@pytest.mark.parametrize("is_seen", [False, True], ids=["unseen", "seen by the library"])
async def test_a_server_that_was_started_anew_between_two_calls_forgets_no_charge(
    start_redis, store_at, caplog, is_seen
):
    server = start_redis()
    store = store_at(server.url)
    for turn in range(3):
        assert (await reserve(store, NOW + turn)).granted
    server.kill()
    server.start()
    if is_seen:
        await store._link._connection.disconnect()
    assert not (await reserve(store, NOW + 3)).granted
    assert store.problem == ""
    assert not [entry for entry in caplog.records if entry.levelno >= logging.WARNING]


@pytest.mark.slow
async def test_a_reservation_that_a_frozen_server_makes_too_late_counts_once(
    start_redis, store_at, pass_by, link_of
):
    server = start_redis()
    store, other = store_at(server.url), store_at(server.url)
    assert (await reserve(store, NOW)).granted
    server.freeze()
    link_of(store).patience = 0.3
    assert (await reserve(store, NOW + 1)).granted, "by the process itself"
    assert "did not answer" in store.problem
    server.thaw()
    link_of(store).patience = 10
    pass_by(RETRY_INTERVAL + 1)
    assert await left(store, NOW + 2) == 1
    assert await left(other, NOW + 2) == 1
    assert store.problem == ""


@pytest.mark.slow
async def test_a_choice_that_was_taken_back_meanwhile_stays_taken_back(start_redis, store_at):
    server = start_redis()
    one, two = store_at(server.url), store_at(server.url)
    assert await one.choose(InstanceChoice.OWN, HOST, chosen=True)
    async with aclosing(RedisLink(server.url, patience=10)) as link:
        await link.run(lambda session: session.ask(("CLIENT", "KILL", "TYPE", "normal")))
    assert await two.choose(InstanceChoice.OWN, HOST, chosen=False)
    assert await one.choices() == {InstanceChoice.OWN: (), InstanceChoice.BLOCKED: ()}


# Ways to a server


@pytest.mark.slow
async def test_a_password_lets_us_in_and_a_wrong_one_is_told(start_redis, store_at):
    server = start_redis("--requirepass", "open-sesame")
    store = store_at(server.url.replace("//", "//:open-sesame@"))
    assert (await reserve(store, NOW)).granted
    assert store.problem == ""
    for userinfo in ("", ":wrong@"):
        other = store_at(server.url.replace("//", f"//{userinfo}"))
        assert (await reserve(other, NOW)).granted
        assert "refuses access" in other.problem


@pytest.mark.slow
async def test_a_socket_of_the_machine_serves_too(start_redis, store_at):
    server = start_redis()
    store = store_at(f"unix://{server.socket}?db=1")
    assert (await reserve(store, NOW)).granted
    assert store.problem == ""
    assert repr(store) == f"<RedisStore {server.socket} [on its server]>"
    assert await left(store_at(server.url), NOW) == 3, "another database"


@pytest.mark.slow
async def test_with_tls_the_certificate_is_checked(start_redis, store_at, tmp_path, unused_port):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    port = unused_port()
    pem = str(tmp_path / "server.pem")
    start_redis(
        *("--tls-port", str(port), "--tls-auth-clients", "no"),
        *("--tls-cert-file", pem, "--tls-key-file", pem),
        *("--tls-ca-cert-file", str(tmp_path / "ca.pem")),
    )
    trusting = store_at(f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={tmp_path / 'ca.pem'}")
    assert (await reserve(trusting, NOW)).granted
    assert trusting.problem == ""
    wary = store_at(f"rediss://127.0.0.1:{port}/0")
    assert (await reserve(wary, NOW)).granted
    assert "certificate" in wary.problem.lower()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://h?db=open-sesame", "Invalid value for 'db'"),
        ("redis://h?colour=open-sesame", "option of the address is unknown"),
        ("http://open-sesame@h", "schemes"),
    ],
    ids=["value", "option", "scheme"],
)
def test_an_address_that_cannot_be_used_is_refused_at_once(url, reason):
    with pytest.raises(ValueError, match=reason):
        RedisStore(url, prefix="a:", patience=30)


def test_known_charges_are_forgotten_when_no_window_asks_for_them():
    known = QuotaMirror()
    known.learn(HOST, {"a": (NOW, "html"), "b": (NOW + 9, "html")}, NOW)
    assert dict(known.items()) == {HOST: {"b": (NOW + 9, "html")}}
    known.charge([THREE, Account(OTHER), PUBLIC], "c", Format.HTML, NOW + 90 * DAY)
    assert [*dict(known.items())[HOST]] == ["c"]
    assert repr(known) == "<QuotaMirror [1 charges]>"
    known.clear()
    assert not [*known.items()]


async def test_unlimited_accounts_ask_nobody(start_at_unused_port, store_at):
    store = store_at(start_at_unused_port)
    free = Account(HOST)
    assert await reserve(store, NOW, free) == Reservation(granted=True)
    assert await left(store, NOW, free) is None
    await store.save({}, NOW)
    assert store.problem == ""

"""Pages on a real server: shared, sealed, bounded, lost and found again."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

import pytest

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.models.attempt import Format
from searx_mcp.storage import redis_pages
from searx_mcp.storage.memory import MOST_KEYS
from searx_mcp.storage.pages import KeptPage, KeptRobots, PageKey, Validators
from searx_mcp.storage.redis import RETRY_INTERVAL, RedisKeys, RedisLink
from searx_mcp.storage.redis_pages import RedisPageStore
from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.state import Account, Window

NOW = 1_000_000_000.0
DAY = 86_400.0
SECRET = b"correct horse battery staple"
KEY = PageKey("mine", "https://secret-host.example/secret-path?q=secret-query")
OTHER = PageKey("mine", "https://b.example/")
ORIGIN = "https://secret-host.example"

Ask = Callable[..., Awaitable[Any]]
Stores = Callable[..., RedisPageStore]

pytestmark = pytest.mark.slow


@pytest.fixture
def prefix() -> str:
    return f"{secrets.token_hex(8)}:"


@pytest.fixture
async def store_at(prefix: str) -> AsyncIterator[Stores]:
    """Make stores on a server; all of one test share a prefix."""
    usual: dict[str, Any] = {
        "prefix": prefix,
        "secret": SECRET,
        "max_bytes": 1 << 20,
        "max_age": 7 * DAY,
        "patience": 30,
    }
    async with AsyncExitStack() as stack:

        def make(url: str, **given: Any) -> RedisPageStore:
            store = RedisPageStore(url, **usual | given)
            stack.push_async_callback(store.aclose)
            return store

        yield make


@pytest.fixture
def store(redis_url: str, store_at: Stores) -> RedisPageStore:
    return store_at(redis_url)


@pytest.fixture
async def ask(redis_url: str) -> AsyncIterator[Ask]:
    """Ask the shared server itself."""
    async with aclosing(RedisLink(redis_url, patience=30)) as link:

        async def one(*command: str | bytes | int) -> Any:
            return (await link.run(lambda session: session.ask(command)))[0]

        yield one


@pytest.fixture
def root(prefix: str) -> str:
    """What the names of the keys begin with."""
    return RedisKeys(prefix).pages


@pytest.fixture
def keys_of(ask: Ask, root: str) -> Callable[..., Awaitable[list[str]]]:
    """Give the names of the keys of a kind."""

    async def sought(kind: str = "") -> list[str]:
        return sorted(key.decode() for key in await ask("KEYS", f"{root}{kind}*"))

    return sought


# Shared


async def test_what_one_process_kept_another_finds_reads_on_and_obeys(
    redis_url, store_at, make_capture
):
    one, two = store_at(redis_url), store_at(redis_url)
    capture = make_capture(url=KEY.url, validators=Validators('"x"'))
    cursor = await one.keep(KEY, capture, NOW)
    await one.keep_robots(ORIGIN, KeptRobots(200, "Disallow: /", NOW), NOW)
    await one.aclose()
    assert await two.find(KEY, NOW) == KeptPage(capture, cursor)
    assert await two.read("mine", cursor, NOW) == KeptPage(capture, cursor)
    assert await two.robots(ORIGIN, NOW) == KeptRobots(200, "Disallow: /", NOW)
    assert repr(two) == f"<RedisPageStore {redis_url.split('/')[2]}>"


@pytest.mark.parametrize(
    "other",
    [{"secret": b"another secret, also long"}, {"scope": "another login"}, {"prefix": "other:"}],
    ids=["secret", "scope", "prefix"],
)
async def test_whoever_has_another_secret_scope_or_prefix_shares_nothing(
    redis_url, store_at, make_capture, other
):
    one, two = store_at(redis_url), store_at(redis_url, **other)
    cursor = await one.keep(KEY, make_capture(), NOW)
    await one.keep_robots(ORIGIN, KeptRobots(200, "", NOW), NOW)
    assert await two.find(KEY, NOW) is None
    assert await two.read("mine", cursor, NOW) is None
    assert await two.robots(ORIGIN, NOW) is None


async def test_no_address_namespace_or_word_stands_in_clear_and_nothing_stays_for_ever(
    store, make_capture, ask, keys_of
):
    """It is compressed, hashed and sealed, not encrypted."""
    key = replace(KEY, namespace="secret-name", variant="secret-agent")
    capture = make_capture("A secret-word. " * 50, url=KEY.url, validators=Validators('"secret"'))
    await store.keep(key, capture, NOW)
    await store.keep_robots(ORIGIN, KeptRobots(200, "secret-rule", NOW), NOW)
    assert await store.find(key, NOW)
    keys = await keys_of()
    assert len(keys) == 7
    for name in keys:
        kept = name.encode() + await ask("DUMP", name)
        assert b"secret" not in kept
        assert 0 < await ask("PTTL", name) <= 7 * DAY * 1_000


async def test_a_capture_that_is_old_already_is_kept_for_the_rest_of_its_time(
    store, make_capture, ask, keys_of
):
    await store.keep(KEY, make_capture(at=NOW - 6 * DAY), NOW)
    (body,) = await keys_of("body:")
    assert 0 < await ask("PTTL", body) <= DAY * 1_000
    await store.keep(OTHER, make_capture("older", NOW - 7 * DAY), NOW)
    assert await keys_of("body:") == [body]


# What others put there


async def test_what_we_did_not_put_there_is_a_miss_until_it_is_replaced(
    store, make_capture, ask, keys_of
):
    capture = make_capture(url=KEY.url)
    cursor = await store.keep(KEY, capture, NOW)
    (capture_key,) = await keys_of("capture:")
    (body_key,) = await keys_of("body:")
    await store.keep(OTHER, make_capture("other"), NOW)
    (other_capture,) = {*await keys_of("capture:")} - {capture_key}
    (other_body,) = {*await keys_of("body:")} - {body_key}
    for place, other in ((capture_key, other_capture), (body_key, other_body)):
        ours, moved = await ask("GET", place), await ask("GET", other)
        later = bytearray(ours)
        later[-1] ^= 1
        for value in (b"", b"x", b"x" * 5_000_000, moved, ours[:-1], ours + b"x", bytes(later)):
            await ask("SET", place, value)
            assert (await store.find(KEY, NOW)) is None
            if place == body_key:
                assert await store.read("mine", cursor, NOW) is None
        assert await store.keep(KEY, capture, NOW) == cursor
        assert await store.find(KEY, NOW) == KeptPage(capture, cursor)


async def test_a_place_of_another_kind_is_a_miss(store, make_capture, ask, keys_of, pass_by):
    cursor = await store.keep(KEY, make_capture(), NOW)
    (body,) = await keys_of("body:")
    await ask("DEL", body)
    await ask("RPUSH", body, "x")
    assert await store.read("mine", cursor, NOW) is None
    pass_by(RETRY_INTERVAL + 1)
    assert await store.find(KEY, NOW) is None


@pytest.mark.parametrize("reply", [b":7\r\n", b"*0\r\n", b"*2\r\n:1\r\n$-1\r\n", b"$-1\r\n"])
async def test_another_program_in_place_of_the_server_is_a_miss(store_at, make_capture, reply):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65_536):
            writer.write((b"+OK\r\n" if b"CLIENT" in chunk else reply) * chunk.count(b"*"))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        store = store_at(f"redis://127.0.0.1:{port}", patience=0.5)
        assert await store.find(KEY, NOW) is None
        assert await store.read("mine", "a" * 16, NOW) is None
        assert await store.robots(ORIGIN, NOW) is None
        await store.keep(KEY, make_capture(), NOW)
        await store.aclose()


# Bounds


async def test_a_page_too_large_for_the_server_stays_in_the_process(
    redis_url, store_at, make_capture, noise
):
    one, two = (store_at(redis_url, max_bytes=1 << 24) for _ in range(2))
    await one.keep(KEY, make_capture(), NOW)
    large = make_capture(noise(1, 8_000_000), NOW + 1)
    cursor = await one.keep(KEY, large, NOW + 1)
    assert await one.find(KEY, NOW + 1) == KeptPage(large, cursor)
    assert await one.read("mine", cursor, NOW + 1) == KeptPage(large, cursor)
    assert await two.find(KEY, NOW + 1) is None, "nor the one before"
    assert await two.read("mine", cursor, NOW + 1) is None


async def test_a_bound_that_was_lowered_is_reached_with_the_next_pages(
    redis_url, store_at, make_capture, noise, monkeypatch, keys_of
):
    first = store_at(redis_url)
    for number in range(20):
        key = PageKey("mine", f"https://{number}.example/")
        await first.keep(key, make_capture(noise(number, 10_000)), NOW)
    monkeypatch.setattr(redis_pages, "_AT_ONCE", 7)
    second = store_at(redis_url, max_bytes=40_000)
    left = []
    for _ in range(4):
        await second.keep(KEY, make_capture(), NOW)
        left.append(len(await keys_of("body:")))
        assert len(await keys_of("capture:")) == left[-1]
    assert left == [14, 7, 6, 6]
    assert await second.find(KEY, NOW)
    assert await second.find(PageKey("mine", "https://19.example/"), NOW)


async def test_what_the_server_let_expire_is_counted_no_longer(
    store, make_capture, ask, keys_of, root
):
    cursor = await store.keep(KEY, make_capture(), NOW)
    await store.keep_robots(ORIGIN, KeptRobots(200, "x", NOW), NOW)
    names = await ask("ZRANGE", f"{root}until", 0, -1)
    for name in names:
        await ask("ZADD", f"{root}until", 1, name)
    for key in await keys_of("body:") + await keys_of("capture:"):
        await ask("DEL", key)
    assert await store.read("mine", cursor, NOW) is None
    await store.keep(OTHER, make_capture("other"), NOW)
    (body,) = await keys_of("body:")
    (name,) = await ask("ZRANGE", f"{root}used", 0, -1)
    assert body.endswith(name.decode())
    size = await ask("HGETALL", f"{root}size")
    assert {*size[::2]} == {b"total", name}
    assert size[1] == size[3]


async def test_a_page_that_goes_takes_no_address_along_that_has_another_by_now(
    redis_url, store_at, make_capture, noise, ask, keys_of
):
    """The old capture had expired before the address was captured anew."""
    store = store_at(redis_url, max_bytes=30_000)
    await store.keep(KEY, make_capture(noise(1, 20_000)), NOW)
    (expired,) = await keys_of("capture:")
    await ask("DEL", expired)
    capture = make_capture("new")
    cursor = await store.keep(KEY, capture, NOW)
    await store.keep(OTHER, make_capture(noise(2, 40_000)), NOW)
    assert len(await keys_of("body:")) == 2
    assert await store.find(KEY, NOW) == KeptPage(capture, cursor)


async def test_a_page_with_too_many_addresses_takes_none_along_that_has_another_by_now(
    store, make_capture, ask, keys_of
):
    shared, capture = make_capture("shared"), make_capture("new")
    keys = [KEY, *(PageKey("mine", f"https://a.example/{n}") for n in range(MOST_KEYS))]
    await store.keep(KEY, shared, NOW)
    (expired,) = await keys_of("capture:")
    for key in keys[1:MOST_KEYS]:
        await store.keep(key, shared, NOW)
    await ask("DEL", expired)
    cursor = await store.keep(KEY, capture, NOW)
    await store.keep(keys[MOST_KEYS], shared, NOW)
    assert await store.find(KEY, NOW) == KeptPage(capture, cursor)
    assert all([await store.find(key, NOW) for key in keys])


async def test_a_full_server_is_read(start_redis, store_at, make_capture, link_of):
    server = start_redis("--maxmemory-policy", "noeviction")
    store = store_at(server.url)
    first = await store.keep(KEY, make_capture(), NOW)
    second = await store.keep(OTHER, make_capture("other"), NOW)
    async with aclosing(RedisLink(server.url, patience=30)) as link:
        await link.run(lambda session: session.ask(("CONFIG", "SET", "maxmemory", "1")))
    for cursor in (first, second):
        assert await store.read("mine", cursor, NOW)
    assert link_of(store).error is None


async def test_on_a_full_server_a_page_stays_in_the_process_and_pages_make_room_for_state(
    start_redis, store_at, make_capture, noise, link_of
):
    server = start_redis("--maxmemory", "4mb", "--maxmemory-policy", "noeviction")
    store = store_at(server.url, max_bytes=100 << 20)
    shared = []
    for number in range(12):
        key = PageKey("mine", f"https://{number}.example/")
        capture = make_capture(noise(number, 1_000_000))
        cursor = await store.keep(key, capture, NOW)
        if await store_at(server.url).read("mine", cursor, NOW):
            shared.append(number)
        assert await store.read("mine", cursor, NOW) == KeptPage(capture, cursor)
    assert link_of(store).error is None
    assert 6 <= len(shared) < 12
    prefix = f"{secrets.token_hex(8)}:"
    async with aclosing(RedisStore(server.url, prefix=prefix, patience=30)) as state:
        account = Account("https://a.example/", (Window(3, DAY),))
        assert (await state.reserve([account], Format.HTML, NOW)).granted
        assert state.problem == ""


async def test_a_clock_that_is_ahead_takes_nothing_away_from_others(
    redis_url, store_at, make_capture, ask, root
):
    one, ahead = store_at(redis_url), store_at(redis_url)
    cursor = await one.keep(KEY, make_capture(), NOW)
    later = NOW + 30 * DAY
    await ahead.keep(OTHER, make_capture("other", later), later)
    assert await one.read("mine", cursor, NOW)
    due = await ask("ZCOUNT", f"{root}until", "-inf", int(later * 1_000))
    assert due == 0, "and is not looked at again soon"


async def test_a_login_that_may_do_what_the_documentation_says_is_enough(
    start_redis, store_at, make_capture
):
    server = start_redis()
    async with aclosing(RedisLink(server.url, patience=30)) as link:
        rights = "on >pass ~searx-mcp:* +@read +@write +@scripting +@connection"
        await link.run(lambda session: session.ask(("ACL", "SETUSER", "searx", *rights.split())))
    url = server.url.replace("redis://", "redis://searx:pass@")
    one, two = (store_at(url, prefix="searx-mcp:") for _ in range(2))
    cursor = await one.keep(KEY, make_capture(), NOW)
    await one.keep(OTHER, make_capture("other"), NOW)
    assert await two.find(KEY, NOW)
    assert await two.read("mine", cursor, NOW)
    await two.purge()
    assert await one.read("mine", cursor, NOW) is None


# Away


async def test_while_the_server_is_away_pages_stay_in_the_process_and_then_are_shared_again(
    start_redis, store_at, make_capture, caplog, pass_by
):
    server = start_redis()
    one, two = store_at(server.url), store_at(server.url)
    before = await one.keep(KEY, make_capture("before"), NOW)
    assert await two.read("mine", before, NOW)
    server.kill()
    away = make_capture("away", NOW + 1)
    cursor = await one.keep(KEY, away, NOW + 1)
    await one.keep_robots(ORIGIN, KeptRobots(200, "x", NOW), NOW)
    assert await one.find(KEY, NOW + 1) == KeptPage(away, cursor)
    assert await one.read("mine", cursor, NOW + 1) == KeptPage(away, cursor)
    assert await one.robots(ORIGIN, NOW) == KeptRobots(200, "x", NOW)
    assert await two.find(KEY, NOW + 1) is None
    assert await two.read("mine", before, NOW + 1) is None
    with pytest.raises(StorageUnavailableError):
        await one.purge()
    assert await one.find(KEY, NOW + 1) is None, "what waited is gone all the same"

    server.start()  # it has lost everything
    pass_by(RETRY_INTERVAL + 1)
    assert await one.read("mine", before, NOW + 2) is None
    back = make_capture("back", NOW + 2)
    cursor = await one.keep(KEY, back, NOW + 2)
    assert await two.find(KEY, NOW + 2) == KeptPage(back, cursor)
    assert not [entry for entry in caplog.records if entry.levelno > logging.INFO]


# Deleting


async def test_a_purge_leaves_the_state_alone_and_that_of_the_state_takes_the_pages_along(
    redis_url, store_at, make_capture
):
    store = store_at(redis_url, prefix="a*[b]?:")
    neighbour = store_at(redis_url, prefix="a-b-?:")
    cursor = await store.keep(KEY, make_capture(), NOW)
    await neighbour.keep(KEY, make_capture(), NOW)
    async with aclosing(RedisStore(redis_url, prefix="a*[b]?:", patience=30)) as state:
        seed = await state.installation_seed()
        await store.purge()
        assert await store.read("mine", cursor, NOW) is None
        assert await state.installation_seed() == seed
        await store.keep(KEY, make_capture(), NOW)
        await state.purge()
    assert await store.read("mine", cursor, NOW) is None
    assert await neighbour.read("mine", cursor, NOW)

"""What every store of pages promises, whatever it is made of."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.storage.memory import MOST_KEYS, ROW, MemoryPageStore
from searx_mcp.storage.pages import (
    KeptPage,
    KeptRobots,
    PageKey,
    PageStore,
    Validators,
    believed,
    has_expired,
)
from searx_mcp.storage.redis_pages import BODY, RedisPageStore
from searx_mcp.storage.sqlite_pages import FILE_NAME, SqlitePageStore, open_store

NOW = 1_000_000_000.0
DAY = 86_400.0
KEY = PageKey("mine", "https://a.example/")
OTHER = PageKey("mine", "https://b.example/")
ORIGIN = "https://a.example"


@pytest.fixture(
    params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.slow)], scope="session"
)
def new_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., PageStore]:
    """Make new stores of each kind: what holds for one holds for the others."""

    def make(*, max_bytes: int = 1 << 20, max_age: float = 7 * DAY) -> PageStore:
        if request.param == "redis":
            return RedisPageStore(
                request.getfixturevalue("redis_url"),
                prefix=f"{secrets.token_hex(8)}:",
                secret=b"correct horse battery staple",
                max_bytes=max_bytes,
                max_age=max_age,
                patience=30,
            )
        path = tmp_path_factory.mktemp("state") / FILE_NAME if request.param == "sqlite" else None
        return open_store(path, max_bytes=max_bytes, max_age=max_age)

    return make


@pytest.fixture
async def store(new_store: Callable[..., PageStore]) -> AsyncIterator[PageStore]:
    store = new_store()
    yield store
    await store.aclose()


async def size_of(store: PageStore) -> int:
    """Bytes that count against the bound, added up anew."""
    if isinstance(store, MemoryPageStore):
        assert store.size == sum(item.size for item in store._items.values())
        keys = [key for item in store._items.values() for key in item.keys]
        assert sorted(keys, key=str) == sorted(store._names, key=str)
        return store.size
    if isinstance(store, RedisPageStore):
        return await _size_on_server(store)
    assert isinstance(store, SqlitePageStore)
    ((total, added, orphans),) = await store._database.read(
        lambda tx: tx.rows(
            "SELECT (SELECT bytes FROM total), (SELECT total(size) FROM items)"
            " + (SELECT total(size) FROM captures),"
            " (SELECT count(*) FROM captures WHERE cursor NOT IN (SELECT name FROM items))"
        )
    )
    assert (total, orphans) == (added, 0)
    assert isinstance(total, int)
    return total


async def _size_on_server(store: RedisPageStore) -> int:
    root = store._root

    async def ask(*command: str | bytes | int) -> Any:
        return (await store._link.run(lambda session: session.ask(command)))[0]

    fields = await ask("HGETALL", f"{root}size")
    sizes = {name.decode(): int(size) for name, size in zip(fields[::2], fields[1::2], strict=True)}
    total = sizes.pop("total", 0)
    captures = 0
    for name, size in sizes.items():
        added = await ask("STRLEN", f"{root}body:{name}") + BODY
        for capture in await ask("ZRANGE", f"{root}keys:{name}", 0, -1):
            value = await ask("GET", f"{root}capture:{capture.decode()}")
            assert value[:32].decode() == name
            added += len(value) + ROW
            captures += 1
        assert added == size
    assert total == sum(sizes.values())
    for index in ("used", "until"):
        assert sorted(await ask("ZRANGE", f"{root}{index}", 0, -1)) == sorted(
            map(str.encode, sizes)
        )
    for kind, count in (("body", len(sizes)), ("capture", captures)):
        keys = await ask("KEYS", f"{root}{kind}:*")
        assert len(keys) == count
        assert all([await ask("PTTL", key) > 0 for key in keys])
    return total


async def test_what_was_kept_is_found_and_read(store, make_capture):
    capture = make_capture(
        validators=Validators('"x"', "Sun, 09 Sep 2001 01:46:40 GMT"), may_be_stale=False
    )
    cursor = await store.keep(KEY, capture, NOW)
    assert await store.find(KEY, NOW) == KeptPage(capture, cursor)
    assert await store.read("mine", cursor, NOW) == KeptPage(capture, cursor)


async def test_what_was_not_kept_is_not_there(store, make_capture):
    assert await store.find(KEY, NOW) is None
    assert await store.read("mine", "a" * 16, NOW) is None
    assert await store.robots(ORIGIN, NOW) is None
    await store.keep(KEY, make_capture(), NOW)
    assert await store.find(OTHER, NOW) is None
    assert await store.find(replace(KEY, variant="a browser"), NOW) is None


async def test_a_stale_capture_is_found(store, make_capture):
    capture = make_capture()
    cursor = await store.keep(KEY, capture, NOW)
    assert await store.find(KEY, NOW + DAY) == KeptPage(capture, cursor)


async def test_a_new_capture_takes_the_place_of_the_last_and_leaves_its_cursor(store, make_capture):
    one, two = make_capture("one"), make_capture("two", NOW + 5)
    first = await store.keep(KEY, one, NOW)
    second = await store.keep(KEY, two, NOW + 5)
    assert first != second
    assert await store.find(KEY, NOW + 5) == KeptPage(two, second)
    assert await store.read("mine", first, NOW + 5) == KeptPage(one, first)
    again = make_capture("one", NOW + 9)
    assert await store.keep(KEY, again, NOW + 9) == first
    assert await store.find(KEY, NOW + 9) == KeptPage(again, first)


async def test_an_earlier_document_that_makes_room_takes_no_later_one_along(
    new_store, make_capture, noise
):
    async with aclosing(new_store(max_bytes=55_000)) as store:
        await store.keep(KEY, make_capture(noise(1, 24_000)), NOW)
        capture = make_capture(noise(2, 24_000))
        cursor = await store.keep(KEY, capture, NOW)
        await store.keep(OTHER, make_capture(noise(3, 44_000)), NOW)
        assert await store.find(KEY, NOW) == KeptPage(capture, cursor)


async def test_equal_pages_are_kept_once_with_what_each_capture_said(store, make_capture, noise):
    page = make_capture(noise(1, 50_000)).page
    one = replace(make_capture(), page=page, url="https://a.example/")
    two = replace(make_capture(at=NOW + 5), page=page, url="https://b.example/")
    cursor = await store.keep(KEY, one, NOW)
    before = await size_of(store)
    assert await store.keep(OTHER, two, NOW + 5) == cursor
    assert await size_of(store) < before + 1_000
    assert await store.find(KEY, NOW + 5) == KeptPage(one, cursor)
    assert await store.find(OTHER, NOW + 5) == KeptPage(two, cursor)
    assert await store.read("mine", cursor, NOW + 5) == KeptPage(two, cursor)


async def test_nobody_finds_or_reads_the_pages_of_another_namespace(store, make_capture):
    theirs = replace(KEY, namespace="theirs")
    capture = make_capture()
    cursor = await store.keep(KEY, capture, NOW)
    assert await store.find(theirs, NOW) is None
    assert await store.read("theirs", cursor, NOW) is None
    of_theirs = await store.keep(theirs, capture, NOW)
    assert of_theirs != cursor
    assert await store.read("mine", of_theirs, NOW) is None


@pytest.mark.parametrize(
    "cursor", ["", "a", "A" * 16, "robots https://a.example", "' OR 1 --", "\x00", "\ud800"]
)
async def test_what_is_no_cursor_reads_nothing(store, make_capture, cursor):
    await store.keep(KEY, make_capture(), NOW)
    await store.keep_robots(ORIGIN, KeptRobots(200, "", NOW), NOW)
    assert await store.read("mine", cursor, NOW) is None


async def test_a_capture_is_forgotten_when_it_is_too_old_used_or_not(new_store, make_capture):
    async with aclosing(new_store(max_age=DAY)) as store:
        cursor = await store.keep(KEY, make_capture(), NOW)
        for hour in range(24):
            assert await store.read("mine", cursor, NOW + hour * 3_600)
        assert await store.find(KEY, NOW + DAY - 1)
        assert await store.find(KEY, NOW + DAY) is None
        assert await store.read("mine", cursor, NOW + DAY) is None
        await store.keep(OTHER, make_capture("other", NOW + DAY), NOW + DAY)
        assert await size_of(store) < 6_000
        assert await store.find(OTHER, NOW + DAY)


async def test_a_capture_found_unchanged_is_kept_for_as_long_again(new_store, make_capture):
    async with aclosing(new_store(max_age=DAY)) as store:
        cursor = await store.keep(KEY, make_capture(), NOW)
        await store.keep(KEY, make_capture(at=NOW + DAY / 2), NOW + DAY / 2)
        assert await store.read("mine", cursor, NOW + DAY)
        assert await store.find(KEY, NOW + DAY)
        assert await store.read("mine", cursor, NOW + 1.5 * DAY) is None


async def test_an_address_is_forgotten_in_time_although_another_keeps_its_document(
    new_store, make_capture
):
    async with aclosing(new_store(max_age=DAY)) as store:
        await store.keep(KEY, make_capture(), NOW)
        await store.keep(OTHER, make_capture(at=NOW + DAY / 2), NOW + DAY / 2)
        assert await store.find(KEY, NOW + DAY) is None
        assert await store.find(OTHER, NOW + DAY)


async def test_what_was_used_least_recently_makes_room(new_store, make_capture, noise):
    """Three fit; each is kept, found or read last in turn."""
    async with aclosing(new_store(max_bytes=55_000)) as store:
        keys = [PageKey("mine", f"https://{n}.example/") for n in range(6)]
        cursors = [await store.keep(keys[n], make_capture(noise(n, 24_000)), NOW) for n in range(3)]
        assert await store.read("mine", cursors[0], NOW)
        cursors.append(await store.keep(keys[3], make_capture(noise(3, 24_000)), NOW))
        assert await store.read("mine", cursors[1], NOW) is None
        assert await store.find(keys[1], NOW) is None
        assert await store.find(keys[2], NOW)
        cursors.append(await store.keep(keys[4], make_capture(noise(4, 24_000)), NOW))
        left = [n for n in range(5) if await store.read("mine", cursors[n], NOW)]
        assert left == [2, 3, 4]
        assert await size_of(store) <= 55_000


async def test_a_page_too_large_to_be_kept_costs_no_other_and_hides_the_one_before(
    new_store, make_capture, noise
):
    async with aclosing(new_store(max_bytes=55_000)) as store:
        small = await store.keep(OTHER, make_capture("small"), NOW)
        before = await store.keep(KEY, make_capture("before"), NOW)
        large = await store.keep(KEY, make_capture(noise(1, 200_000)), NOW)
        assert len(large) == 16
        assert await store.read("mine", large, NOW) is None
        assert await store.find(KEY, NOW) is None
        assert await store.read("mine", before, NOW)
        assert await store.read("mine", small, NOW)
        assert await store.find(OTHER, NOW)


async def test_one_page_under_any_number_of_addresses_stays_small(new_store, make_capture):
    async with aclosing(new_store()) as store:
        keys = [PageKey("mine", f"https://a.example/{n}") for n in range(3 * MOST_KEYS)]
        for key in keys:
            await store.keep(key, make_capture(), NOW)
        assert await size_of(store) < (MOST_KEYS + 2) * 500
        found = [key for key in keys if await store.find(key, NOW)]
        assert found == keys[-MOST_KEYS:]


async def test_addresses_of_one_page_make_room_for_its_last(new_store, make_capture, noise):
    async with aclosing(new_store(max_bytes=14_000)) as store:
        capture = make_capture(noise(1, 20_000))
        keys = [PageKey("mine", f"https://a.example/{n}") for n in range(20)]
        for key in keys:
            await store.keep(key, capture, NOW)
            assert await size_of(store) <= 14_000
        assert await store.find(keys[-1], NOW)
        assert await store.find(keys[0], NOW) is None


_NOTED = st.tuples(st.sampled_from("kfrx"), st.integers(0, 7), st.integers(10, 9_000))


# A file or a server is written: how long that takes says nothing here.
@settings(deadline=None, max_examples=40)
@given(steps=st.lists(_NOTED, max_size=25))
async def test_it_never_holds_more_than_its_bound_and_the_last_used_survive(
    new_store, make_capture, noise, steps
):
    """Keep, find, read, and keep a robots.txt (x): of page or origin 0 to 7."""
    used: list[str] = []  # cursors, the last used last
    under: dict[int, str] = {}
    kept: KeptPage | None = None
    async with aclosing(new_store(max_bytes=12_000)) as store:
        for step, (what, number, size) in enumerate(steps):
            key, now = PageKey("mine", f"https://{number}.example/"), NOW + step
            kept = None
            if what == "k":
                capture = make_capture(noise(step, size), now)
                cursor = under[number] = await store.keep(key, capture, now)
                kept = KeptPage(capture, cursor)
            elif what == "x":
                await store.keep_robots(key.url, KeptRobots(200, noise(step, size), now), now)
            elif what == "f":
                kept = await store.find(key, now)
                assert kept is None or kept.cursor == under[number]
            elif number < len(used):
                kept = await store.read("mine", used[number], now)
            if kept:
                used = [cursor for cursor in used if cursor != kept.cursor] + [kept.cursor]
            assert await size_of(store) <= 12_000
        # Reading the least recently used first changes no order among those that are left.
        there = [await store.read("mine", cursor, NOW + len(steps)) is not None for cursor in used]
        assert there == sorted(there), "what is gone was used before what is left"
        assert kept is None or there[-1], "what the last step used is there"


async def test_a_robots_txt_is_kept_in_place_of_the_last(store):
    first, second = KeptRobots(200, "Disallow: /", NOW), KeptRobots(404, "", NOW + 5)
    await store.keep_robots(ORIGIN, first, NOW)
    assert await store.robots(ORIGIN, NOW) == first
    await store.keep_robots(ORIGIN, second, NOW + 5)
    assert await store.robots(ORIGIN, NOW + DAY) == second
    assert await store.robots("https://b.example", NOW) is None


async def test_a_robots_txt_is_forgotten_when_it_is_too_old_or_from_the_future(new_store):
    async with aclosing(new_store(max_age=DAY)) as store:
        await store.keep_robots(ORIGIN, KeptRobots(200, "", NOW), NOW)
        assert await store.robots(ORIGIN, NOW + DAY - 1)
        assert await store.robots(ORIGIN, NOW + DAY) is None
        assert await store.robots(ORIGIN, NOW - 59)
        assert await store.robots(ORIGIN, NOW - 61) is None


async def test_a_clock_put_back_makes_what_is_kept_stale_and_keeps_it_no_longer(
    new_store, make_capture
):
    async with aclosing(new_store(max_age=7 * DAY)) as store:
        capture = make_capture()
        cursor = await store.keep(KEY, capture, NOW)
        back = NOW - 365 * DAY
        believed = KeptPage(replace(capture, fetched_at=back, fresh_until=back), cursor)
        assert await store.find(KEY, back) == believed
        assert await store.read("mine", cursor, back) == believed
        # From the next page on, it counts as fetched at that time.
        await store.keep(OTHER, make_capture("other", back), back)
        assert await store.find(KEY, back + DAY) == believed
        assert await store.find(OTHER, back + DAY)
        assert await store.find(KEY, back + 7 * DAY) is None
        assert await store.read("mine", cursor, back + 7 * DAY) is None


async def test_a_clock_put_back_does_not_change_what_makes_room(new_store, make_capture, noise):
    async with aclosing(new_store(max_bytes=55_000)) as store:
        keys = [PageKey("mine", f"https://{n}.example/") for n in range(4)]
        for n, key in enumerate(keys):
            at = NOW - n * 365 * DAY
            await store.keep(key, make_capture(noise(n, 24_000), at), at)
        found = [n for n, key in enumerate(keys) if await store.find(key, NOW - 3 * 365 * DAY)]
        assert found == [1, 2, 3]


async def test_many_at_once_are_all_kept(store, make_capture):
    captures = [make_capture(f"page {n}") for n in range(20)]
    keys = [PageKey("mine", f"https://{n}.example/") for n in range(20)]
    async with asyncio.TaskGroup() as group:
        for key, capture in zip(keys, captures, strict=True):
            group.create_task(store.keep(key, capture, NOW))
            group.create_task(store.find(key, NOW))
            group.create_task(store.robots(key.url, NOW))
    found = [await store.find(key, NOW) for key in keys]
    assert [kept.capture for kept in found] == captures


async def test_a_call_that_is_cancelled_leaves_the_store_usable(store, make_capture):
    await store.keep(OTHER, make_capture("other"), NOW)
    for turns in range(12):
        async with asyncio.TaskGroup() as group:
            call = group.create_task(store.keep(KEY, make_capture(f"page {turns}"), NOW))
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
        async with asyncio.TaskGroup() as group:
            call = group.create_task(store.find(OTHER, NOW))
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
    capture = make_capture("last")
    cursor = await store.keep(KEY, capture, NOW)
    assert await store.find(KEY, NOW) == KeptPage(capture, cursor)
    assert await store.find(OTHER, NOW)
    assert await size_of(store) > 0


async def test_purged_it_is_empty_and_goes_on(store, make_capture):
    cursor = await store.keep(KEY, make_capture(), NOW)
    await store.keep_robots(ORIGIN, KeptRobots(200, "", NOW), NOW)
    await store.purge()
    assert await store.find(KEY, NOW) is None
    assert await store.read("mine", cursor, NOW) is None
    assert await store.robots(ORIGIN, NOW) is None
    assert await size_of(store) == 0
    assert await store.keep(KEY, make_capture(), NOW) == cursor
    assert await store.find(KEY, NOW)


async def test_closed_twice_it_is_closed_and_the_next_call_opens_it(store, make_capture):
    cursor = await store.keep(KEY, make_capture(), NOW)
    await store.aclose()
    await store.aclose()
    assert await store.read("mine", cursor, NOW)


def test_a_capture_from_the_future_counts_as_fetched_now_and_is_stale(make_capture):
    past = make_capture(at=NOW - 10)
    assert believed(past, NOW) == past
    soon = make_capture(at=NOW + 59)
    assert believed(soon, NOW) == soon
    later = believed(make_capture(at=NOW + 61), NOW)
    assert (later.fetched_at, later.fresh_until) == (NOW, NOW)


def test_what_is_from_the_future_has_not_expired():
    assert has_expired(NOW - DAY, NOW, DAY)
    assert not has_expired(NOW - DAY + 1, NOW, DAY)
    assert not has_expired(NOW + 1e9, NOW, DAY)

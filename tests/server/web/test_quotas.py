"""How many calls a token has left, and how many wrong tokens an address may send."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.client import stores
from searx_mcp.errors import StorageUnavailableError
from searx_mcp.server.web.quotas import Quotas, SharedCounts, SlidingCount, WrongTokens
from searx_mcp.settings.values import Settings
from searx_mcp.storage.redis import RETRY_INTERVAL, RedisKeys, RedisLink
from searx_mcp.storage.redis_quotas import RedisQuotas

BEGIN = 86_400.0 * 10_000
"""Where the parts of all windows begin."""


def settings_of(url: str) -> Settings:
    return Settings.model_validate({"redis": {"url": url}})


class Processes:
    """Several processes that count on one server, or one that counts by itself.

    Each call comes to the next of them.
    """

    def __init__(self, stack: AsyncExitStack, url: str, count: int = 2) -> None:
        self._now = 0.0
        self._turn = 0
        counts = [SharedCounts(settings_of(url)) for _ in range(count)]
        for shared in counts:
            stack.push_async_callback(shared.aclose)
        self._quotas = [Quotas(shared) for shared in counts]
        self._wrong = [WrongTokens(shared) for shared in counts]

    def clock(self) -> float:
        return BEGIN + self._now

    async def charge(
        self, name: str, per_minute: int | None, per_day: int | None, now: float
    ) -> float:
        self._now, self._turn = now, self._turn + 1
        quotas = self._quotas[self._turn % len(self._quotas)]
        return await quotas.charge(name, per_minute=per_minute, per_day=per_day, now=now)

    async def wrong(self, address: str, now: float) -> float:
        self._now, self._turn = now, self._turn + 1
        return await self._wrong[self._turn % len(self._wrong)].charge(address, now)


@pytest.fixture(params=["alone", pytest.param("shared", marks=pytest.mark.slow), "away"])
async def processes(request, unused_port, quotas_at, monkeypatch) -> AsyncIterator[Processes]:
    """Give what counts: a process by itself, two with a server, and one whose server is away."""
    async with AsyncExitStack() as stack:
        if request.param == "shared":
            url, count = request.getfixturevalue("redis_url"), 2
        else:
            url = f"redis://127.0.0.1:{unused_port()}/0" if request.param == "away" else ""
            count = 1
        made = Processes(stack, url, count)
        monkeypatch.setattr(stores, "open_quotas", lambda _: quotas_at(url, made.clock))
        yield made


@given(
    limit=st.integers(1, 20),
    gaps=st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=200),
)
def test_no_window_has_more_than_its_limit_and_waiting_helps(limit, gaps):
    count, now, granted = SlidingCount(limit, 60.0), 1_000.0, []
    for gap in gaps:
        now += gap
        wait = count.wait(now)
        if wait:
            assert 0 < wait <= 61.01
            now += wait + 1e-6
            assert count.wait(now) == 0
        count.add(now)
        granted.append(now)
    for end in granted:
        assert sum(end - 60 < at <= end for at in granted) <= limit


def test_room_that_is_left_is_granted():
    count = SlidingCount(3, 60.0)
    for now in (10.0, 10.5, 40.0):
        assert count.wait(now) == 0
        count.add(now)
    assert count.wait(40.0) == pytest.approx(31.0)
    assert count.wait(71.0) == 0


async def test_a_limit_that_was_lowered_waits_for_enough_to_leave(processes):
    for now in (0.0, 10.0, 20.0, 30.0):
        assert await processes.charge("a", 10, None, now) == 0
    assert await processes.charge("a", 2, None, 30.0) == pytest.approx(51.0)
    assert await processes.charge("a", 5, None, 30.0) == 0


async def test_a_refused_call_is_counted_nowhere_and_names_do_not_share(processes, caplog):
    for _ in range(5):
        assert await processes.charge("a", 5, 6, 0.0) == 0
    assert 60 <= await processes.charge("a", 5, 6, 0.0) <= 61
    assert await processes.charge("b", 5, 6, 0.0) == 0
    assert await processes.charge("a", 5, 6, 61.0) == 0
    day = await processes.charge("a", 5, 6, 61.0)
    assert 86_000 < day <= 86_400 + 1_440
    said = [r.getMessage() for r in caplog.records if r.name == "searx_mcp.server"]
    assert said == ["server.quota_used caller=a"] * 2  # the minute's, and the day's


@pytest.mark.parametrize(
    ("address", "other", "shares"),
    [
        ("192.0.2.7", "192.0.2.8", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "", True),
        ("a-socket", "", True),
    ],
)
async def test_wrong_tokens_are_counted_by_customer(processes, address, other, shares):
    for _ in range(10):
        assert await processes.wrong(address, 0.0) == 0
    assert 0 < await processes.wrong(address, 0.0) <= 61
    assert bool(await processes.wrong(other, 0.0)) is shares
    assert await processes.wrong(address, 62.0) == 0


async def test_many_addresses_take_bounded_space_and_the_busy_one_stays():
    wrong = WrongTokens(SharedCounts())
    first = [await wrong.charge("192.0.2.8", 0.0) for _ in range(11)]
    assert first[-1]
    for number in range(4_095):
        await wrong.charge("192.0.2.7", 0.0)
        await wrong.charge(f"10.0.{number >> 8}.{number & 255}", 0.0)
    assert await wrong.charge("192.0.2.8", 0.0) == 0, "forgotten"
    assert await wrong.charge("192.0.2.7", 0.0)


# On a server


@pytest.fixture
def keys() -> RedisKeys:
    """The names of what a test keeps on a server."""
    return RedisKeys(f"{secrets.token_hex(8)}:")


@pytest.fixture
async def quotas_at(keys: RedisKeys) -> AsyncIterator[Callable[..., RedisQuotas]]:
    """Make counts on a server; all of one test share a prefix."""
    prefix = keys.root.removesuffix("v1:")
    async with AsyncExitStack() as stack:

        def make(url: str, clock: Callable[[], float] = lambda: BEGIN) -> RedisQuotas:
            made = RedisQuotas(url, prefix=prefix, patience=10, clock=clock)
            stack.push_async_callback(made.aclose)
            return made

        yield make


@pytest.mark.slow
@settings(deadline=None)  # a server answers: how long that takes says nothing here
@given(
    limit=st.integers(1, 6),
    seconds=st.sampled_from([60.0, 86_400.0]),
    gaps=st.lists(st.floats(0, 0.4, allow_nan=False), min_size=1, max_size=60),
)
async def test_a_server_grants_and_refuses_as_a_process_does(redis_url, limit, seconds, gaps):
    now = BEGIN
    count, prefix = SlidingCount(limit, seconds), f"{secrets.token_hex(8)}:"
    async with aclosing(
        RedisQuotas(redis_url, prefix=prefix, patience=30, clock=lambda: now)
    ) as quotas:
        for gap in gaps:
            now += gap * seconds
            wait = count.wait(now)
            found, _ = await quotas.charge("a", [(limit, seconds)])
            assert found == pytest.approx(wait)
            if not wait:
                count.add(now)


async def test_calls_that_come_to_two_processes_at_once_never_exceed_the_limit(
    redis_url, quotas_at
):
    one, two = quotas_at(redis_url), quotas_at(redis_url)
    both = [(20, 60.0), (1_000, 86_400.0)]
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(each.charge("a", both)) for each in (one, two) * 30]
    found = [call.result() for call in calls]
    assert sum(not wait for wait, _ in found) == 20
    assert [is_last for wait, is_last in found if not wait].count(True) == 1


async def test_a_process_whose_clock_is_behind_neither_forgets_a_call_nor_hides_one(
    redis_url, quotas_at
):
    ahead = quotas_at(redis_url, lambda: BEGIN + 7_200)
    behind = quotas_at(redis_url)
    for turn in range(6):
        assert await (ahead, behind)[turn % 2].charge("a", [(6, 60.0)]) == (0, turn == 5)
    for each in (ahead, behind):
        wait, _ = await each.charge("a", [(6, 60.0)])
        assert 60 <= wait <= 61


async def test_what_is_kept_of_calls_is_bounded_and_goes_by_itself(redis_url, quotas_at, keys):
    now = BEGIN
    quotas = quotas_at(redis_url, lambda: now)
    for _ in range(300):
        now += 0.7
        assert await quotas.charge("a", [(100_000, 60.0)]) == (0, False)
    async with aclosing(RedisLink(redis_url, patience=10)) as link:
        key = keys.quota("a", 60.0)
        size, expiry = await link.run(lambda session: session.ask(("HLEN", key), ("TTL", key)))
    assert size <= 61
    assert 0 < expiry <= 61


@pytest.mark.parametrize(
    "command",
    [
        ("HSET", "nothing", "of ours"),
        ("HSET", "inf", "1"),
        ("HSET", "nan", "nan"),
        ("HSET", "9" * 400, "9" * 400),
        ("SET", "a text"),
    ],
    ids=["words", "infinity", "no-number", "too-large", "another-type"],
)
async def test_what_others_put_in_the_place_of_counts_fails_no_call(
    redis_url, quotas_at, keys, monkeypatch, command
):
    quotas = quotas_at(redis_url)
    name, *rest = command
    async with aclosing(RedisLink(redis_url, patience=10)) as link:
        key = keys.quota("token:a", 60.0)
        await link.run(lambda session: session.ask((name, key, *rest)))
    monkeypatch.setattr(stores, "open_quotas", lambda _: quotas)
    counts = Quotas(SharedCounts(settings_of(redis_url)))
    found = [await counts.charge("a", per_minute=2, per_day=None, now=0.0) for _ in range(3)]
    assert found[:2] == [0, 0]
    assert 0 < found[2] <= 61


async def test_a_process_goes_on_by_itself_while_the_server_is_away(
    start_redis, quotas_at, monkeypatch, pass_by
):
    server = start_redis()
    quotas = quotas_at(server.url)
    monkeypatch.setattr(stores, "open_quotas", lambda _: quotas)
    counts = Quotas(SharedCounts(settings_of(server.url)))

    async def charge() -> float:
        return await counts.charge("a", per_minute=4, per_day=None, now=0.0)

    assert await charge() == 0
    server.kill()
    with pytest.raises(StorageUnavailableError):
        await quotas.charge("b", [(1, 60.0)])
    assert [await charge() for _ in range(3)] == [0, 0, 0]
    assert await charge() > 0
    server.start()
    pass_by(RETRY_INTERVAL + 1)
    assert await charge() == 0  # the server, which has lost all, decides again


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:6379/0?unknown=option"])
async def test_without_a_server_that_can_be_used_each_process_counts_alone(url):
    shared = SharedCounts(settings_of(url))
    async with aclosing(shared):
        assert await shared.charge("token:a", [(1, 60.0)]) is None
        quotas = Quotas(shared)
        assert await quotas.charge("a", per_minute=1, per_day=None, now=0.0) == 0
        assert await quotas.charge("a", per_minute=1, per_day=None, now=0.0) > 0

"""One connection that many calls share; one process does a piece of work, the others wait for what it leaves."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any, TypeAlias

import pytest
from typing_extensions import override

from searx_mcp.errors import StorageBusyError
from searx_mcp.storage import redis
from searx_mcp.storage.redis import RedisLease, RedisLink, RedisSession
from searx_mcp.tasks import LEASE, Tasks, fly_alone

pytestmark = pytest.mark.slow

NAME = f"{secrets.token_hex(8)}:lease"
MILLISECONDS = 60_000
"""For which a lease is held here, however long this process has to wait for its turn."""


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> int:
    """Hold leases for longer; gives the milliseconds for which they are held elsewhere."""
    usual: int = redis._LEASE_MS
    monkeypatch.setattr(redis, "_LEASE_MS", MILLISECONDS)
    return usual


class WatchedLease(RedisLease):
    """Tells how often it was tried, and when it was renewed."""

    def __init__(self, link: RedisLink, name: str) -> None:
        super().__init__(link, name)
        self.tried = asyncio.Semaphore(0)
        self.renewed = asyncio.Event()

    @override
    async def take(self) -> str:
        holder = await super().take()
        self.tried.release()
        return holder

    @override
    async def renew(self) -> bool:
        is_ours = await super().renew()
        self.renewed.set()
        return is_ours

    async def waits(self) -> None:
        """Return when it was refused and has looked again."""
        async with asyncio.timeout(30):
            await self.tried.acquire()
            await self.tried.acquire()


class Process:
    """What one process does of the work that several have.

    Args:
        tasks: for what goes on behind the work.
        link: its own connection to the server.
        board: where results are left, of all processes.
    """

    def __init__(self, tasks: Tasks, link: RedisLink, board: list[str]) -> None:
        self.tasks, self.link, self.board = tasks, link, board
        self.lease = WatchedLease(link, NAME)
        self.go, self.begun = asyncio.Event(), asyncio.Event()
        self.error: Exception | None = None
        self.runs = 0

    async def begins(self) -> None:
        """Return when it is at work."""
        async with asyncio.timeout(30):
            await self.begun.wait()

    async def fly(self, *, seconds: float = 1_000) -> str:
        end = asyncio.get_running_loop().time() + seconds
        return await fly_alone(
            self.lease, self._make, find=self._find, end=end, spawn=self.tasks.spawn
        )

    async def _make(self) -> str:
        self.runs += 1
        self.begun.set()
        async with asyncio.timeout(30):
            await self.go.wait()
        if self.error is not None:
            raise self.error
        self.board.append(self.lease.id)
        return self.lease.id

    async def _find(self) -> str | None:
        return self.board[-1] if self.board else None


Make: TypeAlias = Callable[..., Process]
Ask: TypeAlias = Callable[..., Awaitable[list[Any]]]


@pytest.fixture
async def process() -> AsyncIterator[Make]:
    """Makes processes that share a board, each with a connection of its own."""
    board: list[str] = []
    async with AsyncExitStack() as stack:
        tasks = Tasks()

        def make(url: str) -> Process:
            link = RedisLink(url, patience=10, level=logging.DEBUG)
            stack.push_async_callback(link.aclose)
            return Process(tasks, link, board)

        # Those under way end before their connections do.
        async with tasks:
            yield make


@pytest.fixture
async def ask(redis_url: str) -> AsyncIterator[Ask]:
    """Ask the shared server itself; the lease is gone before and after."""
    link = RedisLink(redis_url, patience=10)

    async def asked(*command: str | int) -> list[Any]:
        return await link.run(lambda session: session.ask(command))

    await asked("DEL", NAME)
    yield asked
    await asked("DEL", NAME)
    await link.aclose()


async def settled(process: Process) -> None:
    """Let what goes on behind the work come to its end."""
    async with asyncio.timeout(30):
        while running := set(process.tasks._running):
            await asyncio.wait(running)


async def test_one_has_it_until_it_is_left_and_the_others_are_told_who(
    process, redis_url, ask, usual
):
    assert usual == LEASE * 1_000
    one, two = process(redis_url).lease, process(redis_url).lease
    assert one.id != two.id
    assert [await one.take(), await two.take(), await one.take()] == [one.id] * 3
    (life,) = await ask("PTTL", NAME)
    assert 0 < life <= MILLISECONDS
    await one.leave()
    assert await two.take() == two.id
    assert repr(two) == f"<RedisLease {NAME}>"


async def test_it_is_renewed_by_who_has_it_alone(process, redis_url, ask):
    one, two = process(redis_url).lease, process(redis_url).lease
    await one.take()
    await ask("PERSIST", NAME)
    assert not await two.renew()
    assert await ask("PTTL", NAME) == [-1]
    assert await one.renew()
    (life,) = await ask("PTTL", NAME)
    assert 0 < life <= MILLISECONDS


async def test_whoever_lost_it_takes_it_from_nobody(process, redis_url, ask):
    one, two = process(redis_url).lease, process(redis_url).lease
    await one.take()
    await ask("DEL", NAME)  # as if its time had passed
    assert not await one.renew()
    await two.take()
    await one.leave()
    assert await one.take() == two.id


async def test_what_we_did_not_put_there_is_short_or_nobody(process, redis_url, ask):
    lease = process(redis_url).lease
    await ask("SET", NAME, "\xff" * 100_000)
    assert len(await lease.take()) <= 64
    await ask("DEL", NAME)
    await ask("RPUSH", NAME, "x")
    assert await lease.take() == ""


async def test_nobody_has_it_while_the_server_is_away_and_nothing_is_said_of_it(
    process, start_redis, caplog
):
    server = start_redis()
    lease = process(server.url).lease
    await lease.take()
    server.kill()
    assert await lease.take() == ""
    assert await lease.renew()
    await lease.leave()
    assert not [entry for entry in caplog.records if entry.levelno > logging.INFO]


async def test_one_works_and_the_others_get_what_it_has_made(process, redis_url, ask):
    one, *others = (process(redis_url) for _ in range(4))
    async with asyncio.TaskGroup() as group:
        first = group.create_task(one.fly())
        await one.begins()
        rest = [group.create_task(other.fly()) for other in others]
        for other in others:
            await other.lease.waits()
        one.go.set()
    assert {first.result(), *(task.result() for task in rest)} == {one.lease.id}
    assert [each.runs for each in (one, *others)] == [1, 0, 0, 0]


async def test_it_is_renewed_for_as_long_as_the_work_takes(process, redis_url, ask):
    one = process(redis_url)
    async with asyncio.TaskGroup() as group:
        group.create_task(one.fly())
        await one.begins()
        for _ in range(2):
            await ask("PERSIST", NAME)
            one.lease.renewed.clear()
            async with asyncio.timeout(30):
                await one.lease.renewed.wait()
            (life,) = await ask("PTTL", NAME)
            assert 0 < life <= MILLISECONDS
        one.go.set()
    await settled(one)


async def test_one_that_was_lost_is_not_renewed_any_longer(process, redis_url, ask):
    one = process(redis_url)
    async with asyncio.TaskGroup() as group:
        group.create_task(one.fly())
        await one.begins()
        await ask("SET", NAME, "somebody else")
        await settled(one)
        assert one.lease.renewed.is_set()
        one.go.set()
    assert await ask("GET", NAME) == [b"somebody else"]


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
async def test_another_takes_over_from_one_that(process, redis_url, ask, how):
    one, two = process(redis_url), process(redis_url)
    one.error = ValueError("no")
    two.go.set()
    raised: list[type[BaseException]] = []

    async def first() -> None:
        try:
            await one.fly()
        except (ValueError, asyncio.CancelledError) as error:
            raised.append(type(error))

    async with asyncio.TaskGroup() as group:
        doomed = group.create_task(first())
        await one.begins()
        second = group.create_task(two.fly())
        await two.lease.waits()
        _ = one.go.set() if how == "fails" else doomed.cancel()
    assert second.result() == two.lease.id
    assert raised == [ValueError if how == "fails" else asyncio.CancelledError]
    assert (one.runs, two.runs) == (1, 1)


async def test_when_one_is_killed_nobody_waits_for_whoever_takes_over(process, redis_url, ask):
    dead, *others = (process(redis_url) for _ in range(4))
    await dead.lease.take()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(other.fly()) for other in others]
        for other in others:
            await other.lease.waits()
        await ask("PEXPIRE", NAME, 1)
        # All of them are at work at the same time.
        for other in others:
            await other.begins()
        assert await ask("EXISTS", NAME) == [1]  # for those who come now
        for other in others:
            other.go.set()
    assert [task.result() for task in tasks] == [other.lease.id for other in others]


async def test_half_of_the_time_is_left_by_a_lease_that_does_not_end(
    process, redis_url, ask, pass_by
):
    stuck, two = process(redis_url), process(redis_url)
    await stuck.lease.take()
    await ask("PERSIST", NAME)
    two.go.set()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(two.fly(seconds=60))
        await two.lease.waits()
        pass_by(30)
    assert task.result() == two.lease.id
    assert await ask("PTTL", NAME) == [-1]


async def test_what_was_left_since_the_caller_looked_is_not_made_again(process, redis_url, ask):
    one, two = process(redis_url), process(redis_url)
    one.go.set()
    await one.fly()
    await settled(one)
    assert await ask("EXISTS", NAME) == [0]
    assert (await two.fly(), two.runs) == (one.lease.id, 0)


async def test_the_lease_is_left_where_the_answer_to_who_has_it_was_lost(process, redis_url, ask):
    class Lost(WatchedLease):
        @override
        async def take(self) -> str:
            await super().take()
            await asyncio.Event().wait()
            return ""

    one = process(redis_url)
    one.lease = Lost(one.link, NAME)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(one.fly())
        await one.lease.tried.acquire()
        task.cancel()
    await settled(one)
    assert (await ask("EXISTS", NAME), one.runs) == ([0], 0)


async def test_what_is_found_after_a_leader_died_gives_its_lease_back(process, redis_url, ask):
    dead, two = process(redis_url), process(redis_url)
    await dead.lease.take()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(two.fly())
        await two.lease.waits()
        two.board.append("left")
        await ask("DEL", NAME)
    assert (task.result(), two.runs) == ("left", 0)
    await settled(two)
    assert await ask("EXISTS", NAME) == [0]


@pytest.mark.parametrize("begins", ["before", "while waiting"])
async def test_without_the_server_each_goes_on_by_itself(process, start_redis, begins):
    server = start_redis()
    one, two = process(server.url), process(server.url)
    await one.lease.take()
    two.go.set()
    if begins == "before":
        server.kill()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(two.fly())
        if begins == "while waiting":
            await two.lease.waits()
            server.kill()
    assert task.result() == two.lease.id


async def ping(session: RedisSession) -> list[Any]:
    return await session.ask(("PING",))


def holding(
    begun: asyncio.Event, may_end: asyncio.Event, then: Callable[[], object] = lambda: None
) -> Callable[[RedisSession], Awaitable[list[Any]]]:
    """A call that takes until it may end."""

    async def call(session: RedisSession) -> list[Any]:
        begun.set()
        await may_end.wait()
        then()
        return await ping(session)

    return call


async def test_a_call_that_others_keep_waiting_gives_up_and_takes_nobody_for_away(redis_url):
    begun, may_end = asyncio.Event(), asyncio.Event()
    async with aclosing(RedisLink(redis_url, patience=60)) as link, asyncio.TaskGroup() as group:
        first = group.create_task(link.run(holding(begun, may_end)))
        await begun.wait()
        link.patience = 0.05
        with pytest.raises(StorageBusyError):
            await link.run(ping)
        assert link.error is None
        link.patience = 60
        second = group.create_task(link.run(ping))
        may_end.set()
        assert await first == await second == [b"PONG"]


async def test_waiting_for_a_turn_takes_nothing_from_the_time_for_the_server(redis_url, pass_by):
    begun, may_end = asyncio.Event(), asyncio.Event()
    call = holding(begun, may_end, lambda: pass_by(9))
    async with aclosing(RedisLink(redis_url, patience=10)) as link, asyncio.TaskGroup() as group:
        first = group.create_task(link.run(call))
        await begun.wait()
        second = group.create_task(link.run(call))
        await asyncio.sleep(0)
        may_end.set()
        assert await first == await second == [b"PONG"]

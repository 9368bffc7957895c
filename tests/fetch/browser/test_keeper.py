"""When a browser starts and ends; no real one is needed for that."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.fetch.browser.renderer import Keeper
from searx_mcp.tasks import Tasks


class Stub:
    """A browser that only remembers."""

    def __init__(self) -> None:
        self.is_alive = True
        self.too_large = asyncio.Event()
        self.ended = asyncio.Event()

    async def watch(self) -> None:
        await self.too_large.wait()

    async def aclose(self) -> None:
        self.is_alive = False
        self.ended.set()


class Shop:
    """A keeper with everything it started.

    Attributes:
        started: the browsers, in order.
        go: set while browsers may start.
    """

    def __init__(self, spawn: Callable[..., asyncio.Task[None]], idle_time: float) -> None:
        self.started: list[Stub] = []
        self.go = asyncio.Event()
        self.go.set()
        self.failure: Exception | None = None
        self.keeper: Keeper[Stub] = Keeper(self._start, spawn=spawn, idle_time=idle_time)

    async def _start(self) -> Stub:
        await self.go.wait()
        if self.failure is not None:
            raise self.failure
        self.started.append(Stub())
        return self.started[-1]

    async def use(self, *, is_sound: bool = True) -> Stub:
        async with self.keeper.lend() as lease:
            lease.is_sound = is_sound
            return lease.running


Open = Callable[..., Awaitable[Shop]]


@asynccontextmanager
async def shop(idle_time: float = 1_000.0) -> AsyncIterator[Shop]:
    async with asyncio.timeout(10), Tasks() as tasks:
        opened = Shop(tasks.spawn, idle_time)
        yield opened
        await opened.keeper.aclose()
    assert all(stub.ended.is_set() for stub in opened.started)


async def test_all_who_ask_get_the_same_browser():
    async with shop() as opened:
        assert opened.started == []
        first = await opened.use()
        async with opened.keeper.lend() as one, opened.keeper.lend() as other:
            assert one.running is other.running is first
            one.is_sound = other.is_sound = True
        assert len(opened.started) == 1


async def test_an_idle_browser_ends_and_the_next_one_is_new():
    async with shop(idle_time=0.0) as opened:
        first = await opened.use()
        await first.ended.wait()
        assert await opened.use() is not first


async def test_a_browser_in_use_is_not_idle():
    async with shop(idle_time=0.0) as opened, opened.keeper.lend() as one:
        one.is_sound = True
        await opened.use()
        await asyncio.sleep(0)
        assert one.running.is_alive


async def test_a_browser_that_a_page_stays_in_is_given_to_nobody_else():
    async with shop() as opened:
        spoiled = await opened.use(is_sound=False)
        assert await opened.use() is not spoiled
        await spoiled.ended.wait()


async def test_whoever_uses_a_spoiled_browser_may_finish():
    async with shop() as opened:
        async with opened.keeper.lend() as one:
            one.is_sound = True
            spoiled = await opened.use(is_sound=False)
            assert await opened.use() is not spoiled
            assert one.running is spoiled
            assert not spoiled.ended.is_set()
        await spoiled.ended.wait()


async def test_an_exception_in_the_block_spoils_the_browser():
    async with shop() as opened:
        with pytest.raises(ZeroDivisionError):
            async with opened.keeper.lend():
                raise ZeroDivisionError
        await opened.started[0].ended.wait()


async def test_a_dead_browser_is_replaced():
    async with shop() as opened:
        first = await opened.use()
        first.is_alive = False
        assert await opened.use() is not first


async def test_a_browser_that_grows_too_large_ends_at_once():
    async with shop() as opened, opened.keeper.lend() as lease:
        lease.running.too_large.set()
        await lease.running.ended.wait()
        assert await opened.use() is not lease.running


async def test_everybody_hears_why_it_does_not_start_and_the_next_one_tries_again():
    async with shop() as opened:
        opened.failure = SettingsError("fetch.browser", "is broken")
        opened.go.clear()
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(failure_of(opened)) for _ in range(2)]
            await asyncio.sleep(0)
            opened.go.set()
        assert [await each for each in waiting] == [opened.failure] * 2
        opened.failure = None
        await opened.use()


async def failure_of(opened: Shop) -> Exception | None:
    try:
        await opened.use()
    except (SettingsError, RuntimeError) as exc:
        return exc
    return None


async def test_closing_ends_a_browser_in_use():
    async with shop() as opened, opened.keeper.lend() as lease:
        await opened.keeper.aclose()
        assert lease.running.ended.is_set()


async def test_closing_waits_for_a_browser_that_is_starting():
    async with shop() as opened:
        opened.go.clear()
        async with asyncio.TaskGroup() as group:
            borrowing = group.create_task(opened.use())
            await asyncio.sleep(0)
            closing = group.create_task(opened.keeper.aclose())
            await asyncio.sleep(0)
            opened.go.set()
        assert (await borrowing).ended.is_set()
        assert closing.done()


async def test_after_closing_nothing_is_lent():
    async with shop() as opened:
        await opened.keeper.aclose()
        await opened.keeper.aclose()
        with pytest.raises(RuntimeError, match="closed"):
            await opened.use()


async def test_the_end_of_the_owner_is_the_end_of_the_browser():
    async with asyncio.timeout(10):
        async with Tasks() as tasks:
            opened = Shop(tasks.spawn, 1_000.0)
            used = await opened.use()
            opened.failure = SettingsError("fetch.browser", "is broken")
        assert used.ended.is_set()


async def test_a_borrower_is_not_cancelled_by_the_end_of_the_owner():
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        async with Tasks() as tasks:
            opened = Shop(tasks.spawn, 1_000.0)
            opened.go.clear()
            borrowing = group.create_task(failure_of(opened))
            await asyncio.sleep(0)
        assert str(await borrowing) == "the renderer is closed"


@pytest.mark.parametrize("failure", [None, SettingsError("fetch.browser", "is broken")])
async def test_a_cancelled_borrower_neither_stops_the_start_nor_spoils_it(failure):
    async with shop() as opened:
        opened.failure = failure
        opened.go.clear()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await opened.use()
        opened.go.set()
        assert await failure_of(opened) == failure
        assert len(opened.started) == (failure is None)

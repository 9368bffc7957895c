"""Single flight."""

import asyncio

import pytest

from searx_mcp.tasks.flight import SingleFlight


class Work:
    """Counts its runs and waits to be let go."""

    def __init__(self) -> None:
        self.runs = 0
        self.cancelled = 0
        self.go = asyncio.Event()
        self.started = asyncio.Event()

    async def __call__(self) -> int:
        self.runs += 1
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.runs


async def turn(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_fifty_callers_share_one_run():
    async with asyncio.TaskGroup() as group:
        flights, work = SingleFlight[int](group.create_task), Work()
        callers = [group.create_task(flights.run("a", work)) for _ in range(50)]
        await work.started.wait()
        work.go.set()
    assert {caller.result() for caller in callers} == {1}
    assert work.runs == 1


async def test_different_keys_do_not_share():
    async with asyncio.TaskGroup() as group:
        flights, work = SingleFlight[int](group.create_task), Work()
        work.go.set()
        first = await flights.run("a", work)
        second = await flights.run("b", work)
    assert (first, second) == (1, 2)


async def test_a_caller_that_leaves_does_not_disturb_the_others():
    async with asyncio.TaskGroup() as group:
        flights, work = SingleFlight[int](group.create_task), Work()
        callers = [group.create_task(flights.run("a", work)) for _ in range(3)]
        await work.started.wait()
        callers[0].cancel()
        await turn()
        work.go.set()
    assert callers[0].cancelled()
    assert [caller.result() for caller in callers[1:]] == [1, 1]
    assert work.cancelled == 0


async def test_the_work_is_cancelled_when_the_last_caller_leaves_and_a_newcomer_starts_afresh():
    async with asyncio.TaskGroup() as group:
        flights, work = SingleFlight[int](group.create_task), Work()
        callers = [group.create_task(flights.run("a", work)) for _ in range(3)]
        await work.started.wait()
        for caller in callers:
            caller.cancel()
        await turn(2)
        newcomer = group.create_task(flights.run("a", work))
        await turn()
        work.go.set()
    assert work.cancelled == 1
    assert newcomer.result() == 2
    assert repr(flights) == "<SingleFlight [0 in flight]>"


async def test_a_failure_reaches_every_caller_and_is_not_kept():
    async def fail() -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def catch(flights: SingleFlight[int]) -> str:
        with pytest.raises(ValueError, match="no"):
            await flights.run("a", fail)
        return "caught"

    async with asyncio.TaskGroup() as group:
        flights = SingleFlight[int](group.create_task)
        callers = [group.create_task(catch(flights)) for _ in range(3)]
    assert [caller.result() for caller in callers] == ["caught"] * 3
    assert repr(flights) == "<SingleFlight [0 in flight]>"


async def test_a_failure_nobody_waits_for_is_no_warning():
    go = asyncio.Event()

    async def fail() -> int:
        try:
            await go.wait()
        except asyncio.CancelledError:
            raise ValueError("while dying") from None
        return 1

    async with asyncio.TaskGroup() as group:
        flights = SingleFlight[int](group.create_task)
        caller = group.create_task(flights.run("a", fail))
        await turn()
        caller.cancel()
    assert caller.cancelled()

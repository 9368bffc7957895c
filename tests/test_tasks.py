"""Single flight."""

import asyncio
import threading
from functools import partial

import pytest

from searx_mcp.tasks import CallThread, SingleFlight, Slot


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


async def test_a_place_is_taken_once_and_given_back_at_the_end():
    places = asyncio.Semaphore(1)
    async with Slot(places) as place:
        assert not places.locked()
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(place.take())
        assert places.locked()
    assert not places.locked()
    async with Slot(places):
        pass
    assert not places.locked()


async def test_whoever_leaves_while_waiting_leaves_the_place_to_the_next():
    places = asyncio.Semaphore(1)
    async with Slot(places) as first:
        await first.take()

        async def wait() -> None:
            async with Slot(places) as place:
                await place.take()

        leaving, staying = asyncio.ensure_future(wait()), asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert not staying.done()
    async with asyncio.timeout(20):
        await staying
    assert not places.locked()


async def test_a_place_that_is_left_early_is_free_at_once_and_only_once():
    places = asyncio.Semaphore(1)
    async with Slot(places) as first, Slot(places) as second:
        await first.take()
        first.leave()
        await second.take()
        first.leave()
        assert places.locked()
    assert not places.locked()


async def finished(thread: CallThread) -> None:
    await thread.stop(lambda: None)


async def test_calls_run_in_order_on_one_thread_that_is_not_the_loops():
    thread = CallThread("t")
    seen: list[tuple[int, int]] = []

    def note(number: int) -> None:
        seen.append((number, threading.get_ident()))

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(thread.run(partial(note, number)))
    assert [number for number, _ in seen] == list(range(20))
    assert {ident for _, ident in seen} != {threading.get_ident()}
    assert len({ident for _, ident in seen}) == 1
    await finished(thread)


async def test_what_a_call_raises_reaches_its_caller_and_nobody_else():
    thread = CallThread("t")
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 // 0)
    assert await thread.run(lambda: 7) == 7
    await finished(thread)


async def test_a_cancelled_caller_takes_back_a_call_that_has_not_begun():
    thread = CallThread("t")
    begun, go_on = threading.Event(), threading.Event()
    ran: list[str] = []

    def first() -> None:
        begun.set()
        go_on.wait(10)
        ran.append("first")

    async with asyncio.TaskGroup() as group:
        running = group.create_task(thread.run(first))
        await asyncio.to_thread(begun.wait, 10)
        waiting = group.create_task(thread.run(lambda: ran.append("second")))
        await asyncio.sleep(0)
        waiting.cancel()
        running.cancel()
        await asyncio.sleep(0)
        go_on.set()
    assert await thread.run(lambda: [*ran]) == ["first"]
    await finished(thread)


async def test_the_thread_ends_when_it_is_stopped_even_if_the_caller_is_cancelled():
    thread = CallThread("ends")
    begun, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        go_on.wait(10)

    async with asyncio.TaskGroup() as group:
        group.create_task(thread.run(first))
        await asyncio.to_thread(begun.wait, 10)
        stopping = group.create_task(thread.stop(closed.set))
        await asyncio.sleep(0)
        stopping.cancel()
        go_on.set()
    await asyncio.to_thread(closed.wait, 10)
    for worker in threading.enumerate():
        if worker.name == "ends":
            await asyncio.to_thread(worker.join)
    assert repr(thread) == "<CallThread ends [idle]>"


async def test_a_stopped_thread_starts_again_when_it_is_needed():
    thread = CallThread("t")
    await thread.run(lambda: None)
    assert repr(thread) == "<CallThread t [running]>"
    await finished(thread)
    await finished(thread)
    assert await thread.run(lambda: 3) == 3
    await finished(thread)

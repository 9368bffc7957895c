"""Calls on a thread of their own."""

import asyncio
import threading
from functools import partial

import pytest

from searx_mcp.storage.thread import CallThread


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

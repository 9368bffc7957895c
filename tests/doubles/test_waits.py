"""What strikes one wait of a call."""

import asyncio

import pytest

from tests.doubles.waits import Waits


async def three_waits() -> str:
    for _ in range(3):
        await asyncio.sleep(0.001)
    return "done"


async def with_children() -> list[str]:
    async with asyncio.TaskGroup() as group:
        children = [group.create_task(three_waits()) for _ in range(2)]
    return [child.result() for child in children]


async def test_waits_are_counted_in_a_call_and_its_tasks():
    alone, together = Waits(), Waits()
    assert await alone.run(three_waits()) == "done"
    assert alone.count == 3
    assert await together.run(with_children()) == ["done", "done"]
    assert together.count == 6


async def test_what_cannot_fail_is_no_wait():
    async def coordinate() -> None:
        lock, event, queue = asyncio.Lock(), asyncio.Event(), asyncio.Queue[int]()
        loop = asyncio.get_running_loop()
        await lock.acquire()
        loop.call_later(0.001, lock.release)
        loop.call_later(0.001, event.set)
        loop.call_later(0.002, queue.put_nowait, 1)
        async with lock:
            await event.wait()
            await queue.get()
            await asyncio.sleep(0)

    waits = Waits()
    await waits.run(coordinate())
    assert waits.count == 0


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_the_wait_of_that_number_raises(number):
    reached = []

    async def call() -> str:
        for each in (1, 2, 3):
            try:
                await asyncio.sleep(0.001)
            except OSError:
                return f"failed at {each}"
            reached.append(each)
        return "done"

    waits = Waits(number, lambda: OSError("struck"))
    assert await waits.run(call()) == f"failed at {number}"
    assert reached == [1, 2, 3][: number - 1]
    assert waits.count == number


async def test_what_was_waited_for_is_called_off():
    answer = asyncio.get_running_loop().create_future()

    async def call() -> None:
        await answer

    with pytest.raises(OSError, match="struck"):
        await Waits(1, lambda: OSError("struck")).run(call())
    assert answer.cancelled()


@pytest.mark.parametrize("number", [1, 4])
async def test_without_a_failure_the_whole_call_is_cancelled(number):
    with pytest.raises(asyncio.CancelledError):
        await Waits(number).run(with_children())


async def test_tasks_of_others_are_left_alone_and_the_loop_is_as_before():
    loop = asyncio.get_running_loop()
    factory = loop.get_task_factory()
    async with asyncio.TaskGroup() as group:
        other = group.create_task(three_waits())
        waits = Waits(1, lambda: OSError("struck"))
        with pytest.raises(OSError, match="struck"):
            await waits.run(three_waits())
    assert other.result() == "done"
    assert loop.get_task_factory() is factory
    assert "create_future" not in vars(loop)


async def test_whoever_is_cancelled_takes_the_call_along():
    ended = []

    async def call() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await Waits().run(call())
    assert ended == [True]

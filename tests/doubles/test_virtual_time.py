import asyncio
import math
import signal
import socket
import threading
import time

import pytest

from tests.doubles.virtual_time import (
    DeadlockError,
    OutsideWorldError,
    VirtualClock,
    VirtualLoop,
    run,
)

DAY = 86_400.0


def test_a_month_of_waiting_passes_at_once_and_exactly():
    async def main(clock: VirtualClock) -> list[float]:
        for _ in range(30):
            await asyncio.sleep(DAY)
        return [clock(), clock.elapsed, asyncio.get_running_loop().time()]

    assert run(main, start=1_000.0) == [1_000.0 + 30 * DAY, 30 * DAY, 30 * DAY]


def test_one_wait_may_be_longer_than_a_loop_sleeps_at_a_time():
    async def main(clock: VirtualClock) -> float:
        await asyncio.sleep(10 * 365 * DAY + 0.125)
        return clock.elapsed

    assert run(main) == 10 * 365 * DAY + 0.125


def test_the_clock_stands_still_while_something_is_ready():
    async def main(clock: VirtualClock) -> float:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(5))
            for _ in range(1_000):
                await asyncio.sleep(0)
            at = clock.elapsed
        assert clock.elapsed == 5
        return at

    assert run(main) == 0


def test_timers_fire_in_the_order_of_their_times():
    async def note(seconds: float, seen: list[float]) -> None:
        await asyncio.sleep(seconds)
        seen.append(seconds)

    async def main(clock: VirtualClock) -> list[float]:
        seen: list[float] = []
        async with asyncio.TaskGroup() as group:
            for seconds in (3, 1, 2, 0.1, 0.30000000000000004, 0.3):
                group.create_task(note(seconds, seen))
        assert clock.elapsed == 3
        return seen

    assert run(main) == [0.1, 0.3, 0.30000000000000004, 1, 2, 3]


def test_timeouts_and_hedges_need_no_real_time():
    async def answer(seconds: float, name: str) -> str:
        await asyncio.sleep(seconds)
        return name

    async def main(clock: VirtualClock) -> tuple[str, float]:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(12):
                await asyncio.Event().wait()
        assert clock.elapsed == 12
        async with asyncio.TaskGroup() as group:
            first = group.create_task(answer(60, "first"))
            await asyncio.wait([first], timeout=1.5)
            second = group.create_task(answer(0.5, "second"))
            done, _ = await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
            first.cancel()
        return done.pop().result(), clock.elapsed

    assert run(main) == ("second", 14)


def test_the_clock_starts_in_our_time_unless_told_otherwise():
    assert VirtualClock()() == 1_767_225_600.0
    assert VirtualClock().elapsed == 0


def test_a_deadlock_is_an_error_that_names_who_waits():
    async def stuck_forever() -> None:
        await asyncio.Event().wait()

    async def main(_: VirtualClock) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(stuck_forever(), name="the waiter")

    with pytest.raises(DeadlockError, match=r"the waiter at .*stuck_forever:\d+"):
        run(main)


def test_waiting_for_ever_is_a_deadlock_too():
    async def main(_: VirtualClock) -> None:
        await asyncio.sleep(math.inf)

    with pytest.raises(DeadlockError):
        run(main)


def test_an_endless_wait_is_left_behind_by_a_timeout():
    async def main(clock: VirtualClock) -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await asyncio.sleep(math.inf)
        return clock.elapsed

    assert run(main) == 2


def test_tasks_are_cancelled_and_cleaned_up_after_a_deadlock():
    cleaned: list[str] = []

    async def main(_: VirtualClock) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)
            cleaned.append("up")

    with pytest.raises(DeadlockError):
        run(main)
    assert cleaned == ["up"]


async def open_a_connection() -> None:
    await asyncio.open_connection("127.0.0.1", 9)


async def look_up_a_name() -> None:
    await asyncio.get_running_loop().getaddrinfo("localhost", 80)


async def serve() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        await asyncio.start_server(lambda *_: None, sock=listening)


async def wait_for_a_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0)
        async with asyncio.timeout(5):
            await asyncio.get_running_loop().sock_recv(ours, 1)


async def use_a_thread() -> None:
    await asyncio.to_thread(time.monotonic_ns)


@pytest.mark.parametrize(
    "work", [open_a_connection, look_up_a_name, serve, wait_for_a_socket, use_a_thread]
)
def test_sockets_and_threads_are_refused_where_they_are_asked_for(work):
    async def main(clock: VirtualClock) -> float:
        with pytest.raises(OutsideWorldError, match="virtual time cannot wait"):
            await work()
        return clock.elapsed

    assert run(main) == 0


def test_a_call_of_another_thread_ends_the_loop():
    async def main(_: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        thread = threading.Thread(target=loop.call_soon_threadsafe, args=(int,))
        thread.start()
        thread.join()
        await asyncio.sleep(1)

    with pytest.raises(OutsideWorldError, match="another thread"):
        run(main)


def test_the_own_thread_may_use_the_thread_safe_call():
    async def main(_: VirtualClock) -> bool:
        called = asyncio.Event()
        asyncio.get_running_loop().call_soon_threadsafe(called.set)
        return await called.wait()

    assert run(main)


def test_a_loop_without_runner_keeps_its_time_between_runs():
    loop = VirtualLoop()
    try:
        loop.run_until_complete(asyncio.sleep(2))
        loop.call_soon_threadsafe(int)
        loop.run_until_complete(asyncio.sleep(3))
        assert (loop.time(), loop.clock.elapsed) == (5, 5)
    finally:
        loop.close()


def test_an_interrupt_ends_a_program_that_never_really_waits():
    async def main(_: VirtualClock) -> None:
        while True:
            await asyncio.sleep(1)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(main)


def test_two_runs_of_one_program_are_the_same():
    async def worker(name: int, seen: list[tuple[float, int]], clock: VirtualClock) -> None:
        for step in range(20):
            await asyncio.sleep((name * 7 + step * 3) % 5 / 10)
            seen.append((clock(), name))

    async def main(clock: VirtualClock) -> list[tuple[float, int]]:
        seen: list[tuple[float, int]] = []
        async with asyncio.TaskGroup() as group:
            for name in range(10):
                group.create_task(worker(name, seen, clock))
        return seen

    assert run(main) == run(main)


class TestUnderPytest:
    """A test of its own can run in the loop."""

    @pytest.fixture
    def anyio_backend(self):
        return "asyncio", {"loop_factory": VirtualLoop}

    async def test_a_test_function_may_wait_for_days(self):
        loop = asyncio.get_running_loop()
        await asyncio.sleep(DAY)
        assert loop.time() >= DAY

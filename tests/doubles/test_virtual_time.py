import asyncio
import socket
import threading
import time

import pytest

from tests.doubles.virtual_time import (
    DeadlockError,
    OutsideWorldError,
    VirtualClock,
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


def test_a_deadlock_is_an_error_that_names_who_waits():
    async def stuck_forever() -> None:
        await asyncio.Event().wait()

    async def main(_: VirtualClock) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(stuck_forever(), name="the waiter")

    with pytest.raises(DeadlockError, match=r"the waiter at .*stuck_forever:\d+"):
        run(main)


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

"""Tasks, threads and slots for asyncio: work that is shared, limited, or outlives its caller."""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from typing_extensions import override

T = TypeVar("T")
Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""Starts a coroutine as a task of the client, with which it ends."""

LEASE: Final = 2.5
"""Seconds for which a lease is held unless it is renewed: a killed process keeps others waiting no longer
than that and `_LONGEST_PAUSE`."""
_RENEWAL: Final = 0.8
"""Seconds between two renewals: two of them may be lost."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.25
_PAUSE_GROWTH: Final = 1.5
"""Seconds between two checks of another process's lease, and their growth: seven checks in the first
second."""


class Tasks:
    """The one task group for work that outlives a caller; leaving it cancels the rest."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for task in self._running:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start `work` as a task of the group."""
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task


@dataclass(eq=False, slots=True)
class _Flight(Generic[T]):
    future: "asyncio.Future[T]"
    task: "asyncio.Task[None] | None" = None
    waiters: int = 0


class SingleFlight(Generic[T]):
    """Runs `make` once for all concurrent callers with the same key.

    The work is a separate task: a cancelled caller does not affect the others, and the work is cancelled only
    when the last caller leaves. A new caller never joins work that is being cancelled.

    Args:
        spawn: starts a coroutine as a task in the owner's task group.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._flights: dict[Hashable, _Flight[T]] = {}

    @override
    def __repr__(self) -> str:
        return f"<SingleFlight [{len(self._flights)} in flight]>"

    async def run(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `make()` for `key`, shared with all concurrent callers.

        Raises:
            Exception: raised by `make`, for each of the callers.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.get_running_loop().create_future())
            flight.task = self._spawn(self._fly(key, flight, make))
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.future)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.future.done():
                self._forget(key, flight)
                if flight.task is not None:
                    flight.task.cancel()

    async def _fly(
        self, key: Hashable, flight: _Flight[T], make: Callable[[], Awaitable[T]]
    ) -> None:
        try:
            result = await make()
        except asyncio.CancelledError:
            flight.future.cancel()
            raise
        except Exception as exc:  # noqa: BLE001 - handed to every waiter, not swallowed
            if not flight.future.done():
                flight.future.set_exception(exc)
                flight.future.exception()  # marks the exception as retrieved: the last waiter may be gone
        else:
            if not flight.future.done():
                flight.future.set_result(result)
        finally:
            self._forget(key, flight)

    def _forget(self, key: Hashable, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class Lease(Protocol):
    """The right to do one piece of work for all processes; it ends after `LEASE` unless it is renewed.

    Raises nothing: if the processes cannot coordinate, each works on its own.

    Attributes:
        id: of this attempt; unique and never empty.
    """

    id: str

    async def take(self) -> str:
        """Take it if it is free; does nothing if it is taken.

        Returns:
            The holder's ID, which may be `id`; empty if unknown.
        """
        ...

    async def renew(self) -> bool:
        """Renew it for another `LEASE`; return whether it is still ours."""
        ...

    async def leave(self) -> None:
        """Release it if it is ours."""
        ...


async def fly_alone(
    lease: Lease,
    make: Callable[[], Awaitable[T]],
    *,
    find: Callable[[], Awaitable[T | None]],
    end: float,
    spawn: Spawn,
) -> T:
    """Return the result of `make()`, or what another process has made in the meantime.

    The holder of the lease makes the result, and stores it where `find` looks before releasing the lease. The
    others wait once: until that lease ends, for any reason, or half of their time is over. If they find
    nothing then, they make it too, without waiting again.

    Args:
        lease: one that was never taken.
        make: does the work.
        find: looks for a result of others.
        end: loop time of the deadline.
        spawn: starts a coroutine as a task in the owner's task group.

    Raises:
        Exception: raised by `make` here.
    """
    keeping: asyncio.Task[None] | None = None
    is_ours = True  # or may be, until the server says otherwise
    try:
        is_ours = await _has_got(lease, end)
        if is_ours:
            keeping = spawn(_keep(lease))
        # Also without a wait: the result may have been stored since the caller looked.
        found = await find()
        return await make() if found is None else found
    finally:
        if keeping is not None:
            keeping.cancel()
        if is_ours:
            _ = spawn(lease.leave())  # after the result


async def _has_got(lease: Lease, end: float) -> bool:
    """Take a lease, or wait for its holder; return whether it is ours in the end."""
    now, pause = asyncio.get_running_loop().time, _FIRST_PAUSE
    until = (now() + end) / 2
    first = holder = await lease.take()
    while holder == first and holder not in {lease.id, ""} and now() < until:
        await asyncio.sleep(min(pause, until - now()))
        pause = min(pause * _PAUSE_GROWTH, _LONGEST_PAUSE)
        holder = await lease.take()
    return holder == lease.id


async def _keep(lease: Lease) -> None:
    """Renew a lease for as long as it is ours."""
    is_ours = True
    while is_ours:
        await asyncio.sleep(_RENEWAL)
        is_ours = await lease.renew()


async def wait_out(ending: Coroutine[Any, Any, object], seconds: float) -> None:
    """Wait for the end of a process, even if cancelled: the cancellation is raised after it.

    A loop that is closed before then never reaps the process.

    Args:
        ending: returns when it has ended.
        seconds: at most.
    """
    task = asyncio.ensure_future(ending)
    cancellation: asyncio.CancelledError | None = None
    now = asyncio.get_running_loop().time
    until = now() + seconds
    while not task.done() and now() < until:
        try:
            await asyncio.wait({task}, timeout=until - now())
        except asyncio.CancelledError as exc:
            cancellation = exc
    task.cancel()
    if cancellation is not None:
        raise cancellation


class Slot:
    """A slot that is taken on first use, and released at the end of the block.

    Args:
        places: the semaphore of slots.
    """

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._turn = asyncio.Lock()
        self._is_taken = False

    async def take(self) -> None:
        """Wait for a free slot and take it; does nothing if it is already taken."""
        async with self._turn:
            if not self._is_taken:
                await self._places.acquire()
                self._is_taken = True

    def leave(self) -> None:
        """Release the slot before the block ends; does nothing if it is not taken."""
        if self._is_taken:
            self._is_taken = False
            self._places.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.leave()


class CallThread:
    """Runs calls one after the other on one thread, which the first call starts.

    If a caller is cancelled, its call still runs to its end, or is removed if it has not started. The thread
    is a daemon: a hanging disk cannot keep the process from ending.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._is_running = False
        self._ends = False

    @override
    def __repr__(self) -> str:
        return f"<CallThread {self._name} [{'running' if self._is_running else 'idle'}]>"

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` after all earlier calls.

        Raises:
            Exception: raised by `work`.
        """
        future: Future[T] = Future()
        self._hand_over(partial(_settle, future, work), ends=False)
        return await asyncio.wrap_future(future)

    async def stop(self, last: Callable[[], None]) -> None:
        """Run `last` and end the thread; a cancelled caller does not prevent it.

        Calls made meanwhile still run, and keep the thread. There is never a second one, so `last` may
        release what only this thread may use.
        """
        if self._is_running:
            future: Future[None] = Future()
            future.set_running_or_notify_cancel()
            self._hand_over(partial(_settle, future, last), ends=True)
            await asyncio.wrap_future(future)

    def _hand_over(self, call: Callable[[], None], *, ends: bool) -> None:
        with self._changed:
            self._calls.append(call)
            self._ends = ends
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
            self._changed.notify()

    def _serve(self) -> None:
        while (call := self._next()) is not None:
            call()
            del call  # while idle, the thread keeps no result and no traceback alive

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._calls:
                if self._ends:
                    self._is_running = False
                    return None
                self._changed.wait()
            return self._calls.popleft()


def _settle(future: "Future[T]", work: Callable[[], T]) -> None:
    """Do the work, unless its caller is gone, and pass on what comes of it."""
    if future.running() or future.set_running_or_notify_cancel():
        try:
            future.set_result(work())
        except BaseException as exc:  # noqa: BLE001 - the waiting caller gets it
            future.set_exception(exc)

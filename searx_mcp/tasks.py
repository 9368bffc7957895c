"""Tasks, threads and places of asyncio: work that is shared, bounded, or outlives its caller."""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from typing_extensions import override

T = TypeVar("T")
Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""Starts a coroutine as a task of the client, with which it ends."""

LEASE: Final = 2.5
"""Seconds for which a lease holds unless it is renewed: a process that was killed keeps others waiting for
no longer than that and `_LONGEST_PAUSE`."""
_RENEWAL: Final = 0.8
"""Seconds between two renewals: two of them may be lost."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.25
_PAUSE_GROWTH: Final = 1.5
"""Seconds between two looks at another process's lease, and how they grow: seven looks in the first second."""


class Tasks:
    """The one task group for work that outlives a caller; leaving it cancels what is left."""

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
    """Runs `make` once for all callers that ask for the same key at the same time.

    The work is a task of its own: a caller that is cancelled leaves the others alone, and only
    when the last one leaves is the work cancelled. A newcomer never joins work that is dying.

    Args:
        spawn: starts a coroutine as a task of the owner's task group.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._flights: dict[Hashable, _Flight[T]] = {}

    @override
    def __repr__(self) -> str:
        return f"<SingleFlight [{len(self._flights)} in flight]>"

    async def run(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make()` for `key`, shared with everybody who asks meanwhile.

        Raises:
            Exception: whatever `make` raised, for each of the callers.
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
                flight.future.exception()  # marks it as retrieved: the last waiter may be gone
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

    Nothing is raised: where the processes cannot agree now, each goes on by itself.

    Attributes:
        id: names this try among all others; never empty.
    """

    id: str

    async def take(self) -> str:
        """Take it if it is free; harmless when it is taken already.

        Returns:
            The ID of its holder, which may be `id`; empty if unknown.
        """
        ...

    async def renew(self) -> bool:
        """Hold it for another `LEASE`; returns whether it still is ours."""
        ...

    async def leave(self) -> None:
        """Give it back if it is ours."""
        ...


async def fly_alone(
    lease: Lease,
    make: Callable[[], Awaitable[T]],
    *,
    find: Callable[[], Awaitable[T | None]],
    end: float,
    spawn: Spawn,
) -> T:
    """The result of `make()`, or what another process has made of the same meanwhile.

    The holder of the lease makes it, and leaves it where `find` looks before giving the lease back. The
    others wait once: until that lease ends, however it ends, or half of their time is over. Those that
    then find nothing make it too, without another wait.

    Args:
        lease: one that was never taken.
        make: does the work.
        find: looks for what others have made.
        end: the event loop's time by which the result must be there.
        spawn: starts a coroutine as a task of the owner's task group.

    Raises:
        Exception: whatever `make` raised here.
    """
    keeping: asyncio.Task[None] | None = None
    is_ours = True  # or may be, until the server has said otherwise
    try:
        is_ours = await _has_got(lease, end)
        if is_ours:
            keeping = spawn(_keep(lease))
        # Also without a wait: it may have been left since the caller looked.
        found = await find()
        return await make() if found is None else found
    finally:
        if keeping is not None:
            keeping.cancel()
        if is_ours:
            _ = spawn(lease.leave())  # behind the result


async def _has_got(lease: Lease, end: float) -> bool:
    """Take a lease, or wait for the one who has it; returns whether it is ours in the end."""
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


class Place:
    """A place that is taken when it is first needed, and given back when the block ends.

    Args:
        places: how many there are.
    """

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._turn = asyncio.Lock()
        self._is_taken = False

    async def take(self) -> None:
        """Wait for a free place, and keep it; does nothing when it is taken already."""
        async with self._turn:
            if not self._is_taken:
                await self._places.acquire()
                self._is_taken = True

    def leave(self) -> None:
        """Give the place back before the block ends; does nothing when it is not taken."""
        if self._is_taken:
            self._is_taken = False
            self._places.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.leave()


class _Call(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._work = work

    def run(self) -> None:
        if self.future.running() or self.future.set_running_or_notify_cancel():
            try:
                self.future.set_result(self._work())
            except BaseException as exc:  # noqa: BLE001 - the waiting caller gets it
                self.future.set_exception(exc)


class CallThread:
    """Runs calls one after the other on one thread, which starts with the first of them.

    A caller that is cancelled leaves its call to run to its end, or takes it back if it has not
    begun. The thread is a daemon: a disk that hangs cannot keep the process from ending.
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
        """Run `work` after everything handed over before.

        Raises:
            Exception: whatever `work` raised.
        """
        call = _Call(work)
        self._hand_over(call, ends=False)
        return await asyncio.wrap_future(call.future)

    async def stop(self, last: Callable[[], None]) -> None:
        """Run `last` and end the thread; a cancelled caller does not prevent it.

        Calls handed over meanwhile still run, and keep the thread. There is never a second one,
        so `last` may let go of what only this thread may touch.
        """
        if self._is_running:
            call = _Call(last)
            call.future.set_running_or_notify_cancel()
            self._hand_over(call, ends=True)
            await asyncio.wrap_future(call.future)

    def _hand_over(self, call: _Call[T], *, ends: bool) -> None:
        with self._changed:
            self._calls.append(call.run)
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

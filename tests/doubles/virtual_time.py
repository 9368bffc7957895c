"""An event loop in which waiting takes no time."""

import asyncio
import functools
import inspect
import math
import selectors
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from contextvars import Context
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

from typing_extensions import override

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from _typeshed import FileDescriptorLike

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_START = 1_767_225_600.0
_RESOLUTION = 1e-6


class DeadlockError(RuntimeError):
    """Everything waits and no timer is set: nothing can ever happen again."""


class OutsideWorldError(RuntimeError):
    """A socket or a thread was to be waited for, which have no place in virtual time."""


class VirtualClock:
    """The clock of a virtual loop, wherever a `Callable[[], float]` is asked for.

    It moves together with the loop's `time()` and only while the loop waits, so two readings
    without an `await` between them are equal.

    Args:
        start: Unix seconds when the loop begins; 2026-01-01 00:00 UTC unless told otherwise.
    """

    def __init__(self, start: float = _START) -> None:
        self._start = float(start)
        self._elapsed = 0.0

    def __call__(self) -> float:
        """Return the current reading in Unix seconds."""
        return self._start + self._elapsed

    @property
    def elapsed(self) -> float:
        """Seconds since the loop began: what its `time()` says."""
        return self._elapsed

    def pass_by(self, seconds: float) -> None:
        """Let time pass; the loop does this when everything waits."""
        self._elapsed += seconds


class VirtualLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer whenever nothing is ready.

    Code that waits for timeouts, delays and other tasks runs unchanged, at once, and in the same
    order every time. `asyncio.timeout`, task groups, queues and locks all work. Timers less than a
    microsecond apart fire together, in their order.

    The world outside has a time of its own, for which a virtual clock can neither stop nor jump
    rightly. So sockets, pipes, name look-ups and executors (`asyncio.to_thread`) are refused where
    they are asked for, and a call from another thread ends the loop. A task that spins on
    `asyncio.sleep(0)` spins for ever: no time passes while something is ready.

    Use `run`, or give the class to `asyncio.Runner(loop_factory=VirtualLoop)`.

    Args:
        clock: the clock to move; one of its own without it.

    Attributes:
        clock: its clock.

    Raises:
        DeadlockError: everything waits and no timer is set; leaves the running loop.
        OutsideWorldError: a socket or thread was asked for; or another thread called in, then it
            leaves the running loop.
    """

    def __init__(self, clock: VirtualClock | None = None) -> None:
        self.clock = clock or VirtualClock()
        self._intruded = False
        super().__init__(_JumpingSelector(self._wait))
        # The loop takes a timer as due when it is less than this away. By itself it uses 1 ns, which
        # disappears in a float after half a year: then a due timer would never fire.
        self._clock_resolution = _RESOLUTION

    @override
    def time(self) -> float:
        return self.clock.elapsed

    @override
    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        if when == math.inf:
            # Never set, or it would keep a deadlock from being seen.
            return asyncio.TimerHandle(when, callback, args, self, context)
        return super().call_at(when, callback, *args, context=context)

    @override
    def call_soon_threadsafe(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        # A signal handler uses this too, from the loop's own thread.
        self._intruded |= self.is_running() and not self._runs_here()
        return super().call_soon_threadsafe(callback, *args, context=context)

    @override
    def run_in_executor(
        self,
        executor: "Executor | None",
        func: Callable[[Unpack[Ts]], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        raise OutsideWorldError("virtual time cannot wait for a thread; see VirtualLoop")

    def _runs_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self
        except RuntimeError:
            return False

    def _wait(self, seconds: float | None) -> None:
        if self._intruded:
            raise OutsideWorldError(
                "another thread called into the loop, whose time did not wait for it"
            )
        if seconds is None:
            waiting = ", ".join(sorted(_describe(task) for task in asyncio.all_tasks(self)))
            raise DeadlockError(f"nothing is ready and no timer is set; waiting: {waiting}")
        self.clock.pass_by(seconds)


def run(main: Callable[[VirtualClock], Coroutine[Any, Any, T]], *, start: float = _START) -> T:
    """Run `main` in a virtual loop and return what it returns.

    Args:
        main: a coroutine function, given the loop's clock.
        start: Unix seconds when it begins.

    Raises:
        DeadlockError: everything waited and no timer was set.
        OutsideWorldError: it asked for a socket or thread.
    """
    clock = VirtualClock(start)
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(clock)) as runner:
        return runner.run(main(clock))


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in a virtual loop; a parameter `clock` is the clock of that loop.

    Its other parameters are fixtures and columns of a table as ever.
    """
    signature = inspect.signature(test)
    given = [each for name, each in signature.parameters.items() if name != "clock"]

    @functools.wraps(test)
    def run_test(**fixtures: object) -> None:
        wants_clock = len(given) < len(signature.parameters)
        run(lambda clock: test(**fixtures, **({"clock": clock} if wants_clock else {})))

    run_test.__signature__ = signature.replace(parameters=given)  # type: ignore[attr-defined] # - what pytest reads
    return run_test


def in_world(
    enter: Callable[[VirtualClock], AbstractAsyncContextManager[T]],
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Callable[..., None]]:
    """Run a test in a virtual loop with a world of its own, which is the test's first parameter.

    Args:
        enter: makes the world for a clock; what it does behind its `yield` is checked at the end.
    """

    def decorate(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        _, *given = inspect.signature(test).parameters.values()

        @functools.wraps(test)
        def run_test(**fixtures: object) -> None:
            async def main(clock: VirtualClock) -> None:
                async with enter(clock) as world:
                    await test(world, **fixtures)

            run(main)

        run_test.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined] # - what pytest reads
        return run_test

    return decorate


class _JumpingSelector(selectors.BaseSelector):
    """Watches nothing; being asked to wait for `seconds`, it says so and returns at once.

    The one file a loop registers by itself, when it is made, serves to wake it from a wait. As it
    never waits, nobody needs to look at it.
    """

    def __init__(self, wait: Callable[[float | None], None]) -> None:
        self._wait = wait
        self._keys: dict[FileDescriptorLike, selectors.SelectorKey] = {}

    @override
    def register(
        self, fileobj: "FileDescriptorLike", events: int, data: Any = None
    ) -> selectors.SelectorKey:
        if self._keys:
            raise OutsideWorldError("virtual time cannot wait for a socket; see VirtualLoop")
        fd = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        self._keys[fileobj] = selectors.SelectorKey(fileobj, fd, events, data)
        return self._keys[fileobj]

    @override
    def unregister(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        return self._keys.pop(fileobj)

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._wait(timeout)
        return []

    @override
    def get_map(self) -> "Mapping[FileDescriptorLike, selectors.SelectorKey]":
        return self._keys


def _describe(task: asyncio.Task[Any]) -> str:
    frames = task.get_stack(limit=1)
    where = f" at {frames[0].f_code.co_qualname}:{frames[0].f_lineno}" if frames else ""
    return f"{task.get_name()}{where}"

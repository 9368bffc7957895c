"""Running the work of a command until it ends, or a signal ends it."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeVar

T = TypeVar("T")

_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last one is of Windows
_DIED_OF: Final = 128
"""The exit code of what a signal ended is this and its number, as shells have it."""


def run(
    work: Coroutine[Any, Any, T],
    *,
    within: float | None = None,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> T:
    """Run `work` to its end, or cancel it at a signal; a second signal does not wait for that.

    Args:
        work: of a command.
        within: seconds in which what was cancelled must have ended. A server names them: it ends
            even where the shell that started it in the background had the signal ignored.
        loop_factory: as for `asyncio.Runner`.

    Raises:
        SystemExit: a signal ended it.
    """
    ending = _Ending(within)
    with asyncio.Runner(loop_factory=loop_factory) as runner, ending.heard(runner.get_loop()):
        try:
            return runner.run(ending.watch(work))
        finally:
            if ending.code:
                # Whatever comes of what was cut off, this is the reason.
                raise SystemExit(ending.code)


class _Ending:
    """What a signal does to the work."""

    def __init__(self, within: float | None) -> None:
        self.code = 0
        self._within = within
        self._task: asyncio.Task[Any] | None = None

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        self._task = asyncio.current_task()
        if self.code:
            self._cancel()
        return await work

    @contextmanager
    def heard(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Listen to signals for the length of the block; only a main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def begin(number: int, _: FrameType | None) -> None:
            if self.code:
                os._exit(self.code)
            self.code = _DIED_OF + number
            if self._within is not None:
                self._insist(self._within)
            loop.call_soon_threadsafe(self._cancel)

        before = {
            number: signal.signal(number, begin)
            for number in _numbers(all_=self._within is not None)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _insist(self, seconds: float) -> None:
        # A thread may be where nothing interrupts it, such as in a write that nobody reads.
        timer = threading.Timer(seconds, os._exit, (self.code,))
        timer.daemon = True
        timer.start()


def _numbers(*, all_: bool) -> list[signal.Signals]:
    known = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    return [number for number in known if all_ or signal.getsignal(number) != signal.SIG_IGN]

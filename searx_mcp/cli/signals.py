"""The signals that end a command, before and during its work."""

import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last one is on Windows
_REPEATED: Final = 0.5
"""Seconds in which a repeated signal counts as one: `timeout` sends it to its command and then to the whole
group, and so do shells and programs that forward signals."""
_DIED_OF: Final = 128
"""The exit code after a signal is this plus its number, as in shells."""


def end_at_once() -> None:
    """Let signals end the process silently, while there is nothing to close."""
    for number in _numbers(all_=False):
        signal.signal(number, _end)


def end_as_usual() -> None:
    """Restore Python's signal handling, if signals would end the process at once."""
    for number in _numbers(all_=False):
        if signal.getsignal(number) is _end:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


def _end(number: int, _: FrameType | None) -> None:
    os._exit(_DIED_OF + number)


class Ending:
    """Ends the work at a signal.

    Args:
        within: as for `searx_mcp.cli.running.run`.

    Attributes:
        code: the exit code, after a signal.
    """

    def __init__(self, within: float | None) -> None:
        self.code = 0
        self._within = within
        self._task: asyncio.Task[Any] | None = None

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work; a signal cancels it."""
        import asyncio  # noqa: PLC0415 - neither help nor version needs it

        self._task = asyncio.current_task()
        if self.code:
            self._cancel()
        return await work

    @contextmanager
    def heard(self, loop: "asyncio.AbstractEventLoop") -> Iterator[None]:
        """Handle signals for the duration of the block; only a main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        began = 0.0

        def begin(number: int, _: FrameType | None) -> None:
            nonlocal began
            if self.code:
                if self.code == _DIED_OF + number and loop.time() - began < _REPEATED:
                    return
                os._exit(self.code)
            self.code, began = _DIED_OF + number, loop.time()
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
        # A thread may be in an uninterruptible call, such as writing to a pipe that nobody reads.
        timer = threading.Timer(seconds, os._exit, (self.code,))
        timer.daemon = True
        timer.start()


def _numbers(*, all_: bool) -> list[signal.Signals]:
    known = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    return [number for number in known if all_ or signal.getsignal(number) != signal.SIG_IGN]

"""The process of a command: garbage collection while it loads, its standard streams, and the signals that end it.

It uses only the standard library, as it runs before anything else is loaded.
"""

import contextlib
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

_STDOUT: Final = 1
_STDERR: Final = 2
_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last one is on Windows
_REPEATED: Final = 0.5
"""Seconds in which a repeated signal counts as one: `timeout` sends it to its command and then to the whole
group, and so do shells and programs that forward signals."""
_DIED_OF: Final = 128
"""The exit code after a signal is this plus its number, as in shells."""


@contextmanager
def loading() -> Iterator[None]:
    """Disable garbage collection: loading discards almost nothing, and collecting takes 7 % of it.

    Ctrl-C ends the process at once: pydantic would turn it into an error of its own.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    is_main = threading.current_thread() is threading.main_thread()
    is_usual = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        if is_usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        gc.freeze()  # these objects live as long as the process: later collections skip them
        gc.enable()


class HeldOutput:
    """Standard output that nothing can write to by name or number: such writes go to standard error.

    Libraries print while loading, from threads, from C and in processes that they start. Their buffers are
    written at the end of the process, so a server never releases the number.

    Args:
        is_open: whether there was an output when the process started.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self.is_open = is_open
        self._private: int | None = os.dup(_STDOUT)
        self._was_line_buffered = False
        os.dup2(_STDERR, _STDOUT)
        if isinstance(sys.stdout, io.TextIOWrapper):
            self._was_line_buffered = sys.stdout.line_buffering
            # The reader of standard error has gone; or it has no position, unlike the output, and is asked
            # for it.
            with contextlib.suppress(OSError):
                _write_utf8(sys.stdout, line_buffering=True)

    @property
    def descriptor(self) -> int:
        """The number under which the output can be written to.

        Raises:
            ValueError: it is no longer held.
        """
        if self._private is None:
            raise ValueError("the output is held no more")
        return self._private

    def release(self) -> None:
        """Let everything write to it again."""
        if self._private is None:
            return
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os.dup2(self._private, _STDOUT)
        os.close(self._private)
        self._private = None
        if isinstance(sys.stdout, io.TextIOWrapper):
            _write_utf8(sys.stdout, line_buffering=self._was_line_buffered)


def complete_streams() -> HeldOutput:
    """Hold the output, and replace streams that were closed before the process started.

    Otherwise the next file or connection would get their numbers, and what is written to them.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest free numbers
    for name in closed:
        setattr(sys, name, io.StringIO())
    held = HeldOutput(is_open="stdout" not in closed)
    if isinstance(sys.stderr, io.TextIOWrapper):
        _write_utf8(sys.stderr, line_buffering=True)
    return held


def close_streams() -> OSError | None:
    """Flush everything, so that nothing is left to do at the end of the process.

    Returns:
        Why standard output could not be written, or `None`.
    """
    failure = _settle(sys.stdout)
    _settle(sys.stderr)
    return failure


def _write_utf8(stream: io.TextIOWrapper, *, line_buffering: bool) -> None:
    # Windows would use a code page.
    stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=line_buffering)


def _settle(stream: TextIO) -> OSError | None:
    try:
        stream.flush()
    except OSError as exc:
        # The rest would be tried again at the end, and fail again.
        with contextlib.suppress(OSError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
        return exc
    return None


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

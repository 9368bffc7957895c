"""A spinner on standard error while a command imports and works.

It uses only the standard library: at first, importing everything else is what takes long.
"""

import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TextIO, cast

if TYPE_CHECKING:
    from typing import Self

FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TICK: Final = 0.08
"""Seconds between two frames, and before the first."""
_COLUMNS: Final = 80
"""Columns of a terminal with an unknown width."""
_HEAD: Final = 2
"""Columns of a frame and the space after it."""
_TAIL: Final = 16
"""Columns of the seconds after a text."""


def _now() -> float:
    return time.perf_counter()


class Spinner:
    """Shows what is in progress and for how long, until something else is written; `update` shows it again.

    The line is erased with spaces, so a terminal need not support escape sequences.

    Args:
        stream: of the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text: str | None = None
        self._limit: float | None = None
        self._begun = _now()
        self._shown = ""
        self._drawn = 0
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._before: tuple[TextIO, TextIO] | None = None
        self._thread = threading.Thread(target=self._turn, name="searx-mcp spinner", daemon=True)

    @property
    def room(self) -> int:
        """Columns of the longest text that fits on a line."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return max((columns or _COLUMNS) - _HEAD - _TAIL - 1, 0)

    def __enter__(self) -> "Self":
        """Start, and hide before anything is written to the standard streams."""
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (
            cast("TextIO", _Clearing(stream, self)) for stream in self._before
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Erase the line and restore the streams."""
        self._ended.set()
        self._thread.join()
        self.hide()
        if self._before is not None:
            sys.stdout, sys.stderr = self._before

    def update(self, text: str, limit: float | None = None) -> None:
        """Show a text of at most `room` columns.

        Args:
            text: the current step.
            limit: maximum seconds from now on; `None` keeps the last one.
        """
        with self._lock:
            self._erase()
            self._text = text
            if limit is not None:
                self._limit, self._begun = limit, _now()

    def hide(self) -> None:
        """Show nothing until the next update."""
        with self._lock:
            self._erase()
            self._text = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Erase the line for the duration of the block, in which another one is written."""
        with self._lock:
            self._erase()
            yield

    def _turn(self) -> None:
        frames = itertools.cycle(FRAMES)
        with suppress(OSError):  # the reader has gone
            while not self._ended.wait(_TICK):
                with self._lock:
                    if self._text is not None:
                        self._draw(next(frames), self._text)

    def _draw(self, frame: str, text: str) -> None:
        shown = f"{text}{self._seconds()}"
        if self._drawn and shown == self._shown:
            self._stream.write(f"\r{frame}")
        else:
            self._drawn, self._shown = self.room + _HEAD + _TAIL, shown
            self._stream.write(f"\r{frame} {shown}")
        self._stream.flush()

    def _seconds(self) -> str:
        """Return the elapsed time, from the first second on."""
        spent = int(_now() - self._begun)
        of = "" if self._limit is None else f" of {self._limit:.0f}"
        return f"  {spent}{of} s" if spent else ""

    def _erase(self) -> None:
        if self._drawn:
            with suppress(OSError):
                self._stream.write(f"\r{' ' * self._drawn}\r")
                self._stream.flush()
            self._drawn = 0


class _Clearing:
    """A stream that hides the spinner before anything is written to it."""

    def __init__(self, stream: TextIO, spinner: Spinner) -> None:
        self._stream = stream
        self._spinner = spinner

    def write(self, text: str) -> int:
        self._spinner.hide()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

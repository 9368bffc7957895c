"""A moving line on standard error while a command imports and works.

It needs the standard library alone: what takes long is, at first, the import of everything else.
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
"""Columns of a terminal that does not say how many it has."""
_HEAD: Final = 2
"""Columns of a frame and the blank behind it."""
_TAIL: Final = 16
"""Columns of the seconds behind a text."""


def _now() -> float:
    return time.perf_counter()


class Spinner:
    """Shows that something is going on and for how long, until something else is written; `update` shows it again.

    Blanks erase the line, so no terminal has to know escape sequences.

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
        """Columns of the longest text that has room on a line."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return max((columns or _COLUMNS) - _HEAD - _TAIL - 1, 0)

    def __enter__(self) -> "Self":
        """Begin, and make way for whatever is written to the standard streams."""
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (
            cast("TextIO", _Clearing(stream, self)) for stream in self._before
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Erase the line and give the streams back."""
        self._ended.set()
        self._thread.join()
        self.hide()
        if self._before is not None:
            sys.stdout, sys.stderr = self._before

    def update(self, text: str, limit: float | None = None) -> None:
        """Show a text of at most `room` columns.

        Args:
            text: what is done.
            limit: seconds that it may take, from now on; `None` leaves what was said last.
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
        """Erase the line for the length of the block, in which another one is written."""
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
        """How long it has taken, from the first second on."""
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
    """A stream that makes the spinner disappear before anything is written to it."""

    def __init__(self, stream: TextIO, spinner: Spinner) -> None:
        self._stream = stream
        self._spinner = spinner

    def write(self, text: str) -> int:
        self._spinner.hide()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

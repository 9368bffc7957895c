"""The standard streams of the process: present, in UTF-8, with the output reserved."""

import contextlib
import io
import os
import sys
from typing import Final, TextIO

_STDOUT: Final = 1
_STDERR: Final = 2


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

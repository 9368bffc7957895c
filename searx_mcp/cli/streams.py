"""Standard streams that are closed, full, or that nobody reads."""

import contextlib
import io
import os
import sys
from typing import Final, TextIO

import click

from searx_mcp.errors import SearxMcpError

_CLOSED: Final = "Redirect it to /dev/null if the output is not wanted."


def complete_streams() -> None:
    """Put something in the place of streams that were closed before the command began.

    Otherwise the next file or connection would get their numbers, and what is written to them.

    Raises:
        SearxMcpError: standard output is closed, so that nothing can be told.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # the lowest numbers that are free
    if "stdin" in closed:
        sys.stdin = io.StringIO()
    if "stderr" in closed:
        sys.stderr = io.StringIO()
    if "stdout" in closed:
        sys.stdout = io.StringIO()
        raise SearxMcpError("standard output is closed", advice=_CLOSED)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # Windows consoles default to a legacy code page
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def say(text: str) -> None:
    """Write a line on standard error, if anybody can read it."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def close_streams() -> OSError | None:
    """Write out what is left, so that nothing is left to do at the end of the process.

    Returns:
        Why standard output could not be written, or `None`.
    """
    failure = _settle(sys.stdout)
    _settle(sys.stderr)
    return failure


def output_problem(failure: OSError) -> str:
    """Say for a person why something could not be written."""
    if isinstance(failure, BrokenPipeError):
        return "nobody reads standard output any more"
    what = failure.filename or "standard output"
    return f"{what} cannot be written: {failure.strerror}"


def _settle(stream: TextIO) -> OSError | None:
    try:
        stream.flush()
    except OSError as exc:
        # What is left would be tried again at the end, and fail again.
        with contextlib.suppress(OSError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
        return exc
    return None

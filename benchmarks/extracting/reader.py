"""A process of its own in which candidates read pages, because some peers hang or crash on some."""

import gc
import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final, Self

from benchmarks.extracting.candidates import CANDIDATES, Candidate, input_of
from benchmarks.extracting.headings import heading_lines
from benchmarks.extracting.plain import plain_text

LIMIT: Final = 30.0
"""Seconds of one page; a candidate that needs more is taken to have found nothing."""

_MEMORY: Final = 6 << 30
"""Bytes of address space of the process."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a candidate made of a page.

    Attributes:
        text: without marks; empty if it failed.
        seconds: of the processor; `LIMIT` if it did not end, or ended the process.
        error: why it failed, or empty.
        headings: of its Markdown; none of mere text.
    """

    text: str
    seconds: float
    error: str = ""
    headings: tuple[str, ...] = ()


class Reader:
    """Has candidates read pages, one at a time.

    The process is started when it is needed, and anew after a candidate hung or crashed. Leaving the
    block ends it.
    """

    def __init__(self) -> None:
        self._running: tuple[Connection, Any] | None = None

    def __enter__(self) -> Self:
        """Enter the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the process."""
        self._stop()

    def read(self, candidate: Candidate, body: bytes, url: str) -> Found:
        """Let one candidate read one page.

        Args:
            candidate: one of `CANDIDATES`.
            body: the page.
            url: its address.
        """
        connection, _ = self._running = self._running or _started()
        try:
            connection.send((candidate.name, body, url))
            if connection.poll(LIMIT):
                return Found(*connection.recv())
            error = f"needed more than {LIMIT:g} s"
        except (EOFError, OSError):
            error = "ended its process"
        self._stop()
        return Found("", LIMIT, error)

    def _stop(self) -> None:
        if self._running is not None:
            connection, process = self._running
            connection.close()
            process.kill()
            process.join()
            self._running = None


def _started() -> tuple[Connection, Any]:
    """Start a process, and wait until it has loaded this package."""
    context = multiprocessing.get_context("spawn")
    connection, other = context.Pipe()
    process = context.Process(target=_serve, args=(other,), daemon=True)
    process.start()
    other.close()
    connection.recv()
    return connection, process


def _serve(connection: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    made: dict[str, Callable[[Any, str], str]] = {}
    connection.send(True)  # noqa: FBT003 - a signal
    while True:
        try:
            name, body, url = connection.recv()
        except EOFError:
            return
        candidate = CANDIDATES[name]
        if name not in made:
            made[name] = candidate.make()
            _warm(made[name], candidate)
        connection.send(_read(candidate, made[name], body, url))


def _warm(read: Callable[[Any, str], str], candidate: Candidate) -> None:
    """Let a candidate do once what it does only once, and leave what stays out of later collections."""
    _read(candidate, read, b"<html><body><p>One <b>small</b> page.</p></body></html>", "")
    gc.collect()
    gc.freeze()


def _read(
    candidate: Candidate, read: Callable[[Any, str], str], body: bytes, url: str
) -> tuple[str, float, str, tuple[str, ...]]:
    taken = input_of(candidate, body)
    # Garbage of the one before is not to be swept up in the time of this one.
    gc.collect()
    started = time.process_time()
    text, error = "", ""
    try:
        text = read(taken, url)
    except Exception as exc:  # noqa: BLE001 - whatever a candidate fails with, it found nothing
        error = f"{type(exc).__name__}: {exc}"[:200]
    seconds = time.process_time() - started
    if not candidate.is_markdown:
        return text, seconds, error, ()
    return plain_text(text), seconds, error, heading_lines(text)

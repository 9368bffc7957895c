"""Runs programs for their output: no shell, a deadline, bounded output, nothing left behind."""

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from searx_mcp.tasks import wait_out

MAX_OUTPUT: Final = 262_144
"""Bytes kept at the end of each stream; an installer may write more."""

_MAX_LINE: Final = 8_192
_GRACE: Final = 3.0
"""Seconds a program has to end when asked to, and again when killed."""
_OUT: Final = 1
_ERR: Final = 2


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended.

    Attributes:
        code: its exit code; negative for the signal that ended it.
        out: the end of its standard output.
        err: the end of its standard error.
    """

    code: int
    out: str
    err: str


async def run_program(
    command: Sequence[str],
    *,
    timeout: float,  # noqa: ASYNC109 - the length of one call is the caller's budget
    on_line: Callable[[str], None] | None = None,
    environment: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> Finished:
    """Run a program until it has ended and closed its streams.

    On a timeout, or if the caller is cancelled, the program is asked to end, then killed. Its children are
    not.

    Args:
        command: the program's path and its arguments.
        timeout: seconds it may take.
        on_line: called with each line of both streams as it arrives; must not raise.
        environment: its variables; by default, those of this process.
        given: its standard input.

    Raises:
        OSError: it could not be started.
        TimeoutError: it took longer.
    """
    # Not `create_subprocess_exec`: its `Process` cannot release streams that a child keeps open.
    transport, listener = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Listener(on_line),
        *command,
        stdin=PIPE if given else DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
    )
    try:
        if isinstance(stdin := transport.get_pipe_transport(0), asyncio.WriteTransport):
            stdin.write(given)
            stdin.close()
        async with asyncio.timeout(timeout):
            await listener.closed.wait()
    finally:
        await _end(transport, listener)
    code = transport.get_returncode() or 0  # available once everything is closed
    return Finished(code, listener.text(_OUT), listener.text(_ERR))


class _Listener(asyncio.SubprocessProtocol):
    """Collects the end of a program's output.

    Attributes:
        exited: set once it has ended.
        closed: set once its streams are closed, too.
    """

    def __init__(self, on_line: Callable[[str], None] | None) -> None:
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._on_line = on_line
        self._kept = {_OUT: b"", _ERR: b""}
        self._begun = {_OUT: b"", _ERR: b""}

    def text(self, stream: int) -> str:
        return _text(self._kept[stream])

    @override
    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._kept[fd] = (self._kept[fd] + data)[-MAX_OUTPUT:]
        if self._on_line is None:
            return
        # Progress bars often overwrite a line, using a carriage return as the end of a line.
        *lines, begun = (self._begun[fd] + data).replace(b"\r", b"\n").split(b"\n")
        self._begun[fd] = begun[-_MAX_LINE:]
        for line in lines:
            if text := _text(line[-_MAX_LINE:]).strip():
                self._on_line(text)

    @override
    def process_exited(self) -> None:
        self.exited.set()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()


async def _end(transport: asyncio.SubprocessTransport, listener: _Listener) -> None:
    try:
        if transport.get_returncode() is None:
            with contextlib.suppress(ProcessLookupError):
                transport.terminate()
            await wait_out(listener.exited.wait(), _GRACE)
    finally:
        transport.close()  # kills what is still running
        await wait_out(listener.exited.wait(), _GRACE)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")

"""One child process, and the frames exchanged with it.

It is started with an environment that has no secrets.
"""

import asyncio
import logging
import os
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, cast

from typing_extensions import override

import searx_mcp
from searx_mcp.workers.jobs import MAX_RESULT, Frame, FrameError, FrameReader

_KEPT: Final = (
    "PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "PYTHONHOME",
)  # fmt: skip
"""Variables that an interpreter may need to start. Tokens and proxies with passwords are not among them."""


def command(module: str, *arguments: str) -> Sequence[str]:
    """Return the command line that runs a module with this interpreter.

    `-P` keeps the current folder off the path; UTF-8 is used whatever the locale.

    Raises:
        FileNotFoundError: this program has no interpreter that could run a module: it is frozen into one
            file, or embedded in another program.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise FileNotFoundError("no Python interpreter to start")
    return [sys.executable, "-P", "-X", "utf8", "-m", module, *arguments]


def environment(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment of the process.

    Its imports find the same modules as ours, however this package was installed. `-I` would hide packages of
    a user and of `PYTHONPATH`.

    Args:
        environ: that of this process.
    """
    kept = {name: environ[name] for name in _KEPT if name in environ}
    package = str(Path(searx_mcp.__file__).resolve().parents[1])
    # An empty or relative entry would be the current folder, whatever is in it.
    paths = [path for path in sys.path if Path(path).is_absolute() and os.pathsep not in path]
    if package not in paths:
        paths.append(package)
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


_log = logging.getLogger("searx_mcp.workers")

_IN: Final = 0
_OUT: Final = 1
_CHUNK: Final = 65_536
"""Bytes written at once: the size of a pipe's buffer, so that no second copy of a body is kept."""

_LAST_WORDS: Final = 1.0
"""Seconds between the first sign that a process ends and the last: its own child processes may keep the pipes
open."""

_MAX_SAID: Final = 4_096
"""Bytes kept at the end of a process's standard error."""


class ProcessGoneError(Exception):
    """The process ended, or had to be ended.

    Attributes:
        code: its exit code, negative for a signal; `None` if it was ended for a protocol violation.
    """

    def __init__(self, code: int | None) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


class ChildProcess(asyncio.SubprocessProtocol):
    """One process that answers one frame after the other.

    Attributes:
        jobs: number of answers so far.
    """

    def __init__(self, on_gone: Callable[["ChildProcess"], None]) -> None:
        loop = asyncio.get_running_loop()
        self.jobs = 0
        self._on_gone = on_gone
        self._reader = FrameReader(MAX_RESULT)
        self._greeting: asyncio.Future[Frame | None] = loop.create_future()
        self._answer: asyncio.Future[Frame | None] | None = None
        self._gone: asyncio.Future[None] = loop.create_future()
        self._is_writable = asyncio.Event()
        self._is_writable.set()
        self._is_ended = False
        self._is_broken = False
        self._last_words: asyncio.TimerHandle | None = None
        self._said = b""
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(
        cls, module: str, *arguments: str, on_gone: Callable[["ChildProcess"], None]
    ) -> Self:
        """Start a module.

        Must not be cancelled: asyncio loses the pipes of an interrupted start.

        Args:
            module: as for `python -m`.
            arguments: of the module.
            on_gone: called once the process has ended and its pipes are closed.

        Raises:
            OSError: it could not be started.
        """
        # Not `create_subprocess_exec`: its `Process` cannot release streams that are kept open.
        _, process = await asyncio.get_running_loop().subprocess_exec(
            lambda: cls(on_gone),
            *command(module, *arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment(os.environ),
            # No console window opens beside a program that has none.
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        return process

    @property
    def is_usable(self) -> bool:
        """Whether it runs and has kept to the protocol, as far as is known."""
        return not self._is_ended

    @property
    def is_gone(self) -> bool:
        """Whether it has ended and its pipes are closed."""
        return self._gone.done()

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._transport.get_pid() if self._transport is not None else 0

    async def greeted(self) -> None:
        """Wait until it is ready.

        Raises:
            ProcessGoneError: it ended instead.
        """
        self._check(await asyncio.shield(self._greeting))

    async def ask(self, head: bytes, body: bytes) -> Frame:
        """Send a frame and wait for the answer; if the caller is interrupted, the process is ended.

        Raises:
            ProcessGoneError: it ended instead.
        """
        self._answer = asyncio.get_running_loop().create_future()
        if self._is_ended:
            self._answer.set_result(None)
        await self._send(head, body)
        answer = self._check(await self._answer)
        self._answer = None
        self.jobs += 1
        return answer

    def end(self) -> None:
        """End it at once; it has nothing worth saving."""
        self._is_ended = True
        transport = self._transport
        if transport is None:
            return
        pipe = transport.get_pipe_transport(_IN)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.abort()  # `close` would wait until the process has read what is left
        transport.close()

    async def gone(self) -> None:
        """Wait until it has ended and its pipes are closed."""
        await asyncio.shield(self._gone)

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    @override
    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _OUT:
            self._said = (self._said + data)[-_MAX_SAID:]
            return
        if self._transport is None or self._transport.is_closing():
            return  # too late
        try:
            for frame in self._reader.feed(data):
                self._take(frame)
        except FrameError as exc:
            _log.warning("workers.broken_frame reason=%s", exc)
            self._is_broken = True
            self.end()

    @override
    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._is_writable.set()
        if fd == _OUT:
            self._expect_end()  # after this there are no more answers

    @override
    def pause_writing(self) -> None:
        self._is_writable.clear()

    @override
    def resume_writing(self) -> None:
        self._is_writable.set()

    @override
    def process_exited(self) -> None:
        self._expect_end()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.end()
        if self._last_words is not None:
            self._last_words.cancel()
        for future in (self._greeting, self._answer):
            if future is not None and not future.done():
                future.set_result(None)
        if not self._gone.done():
            self._gone.set_result(None)
        _log.debug(
            "workers.ended code=%s said=%s", self._code(), self._said.decode("utf-8", "replace")
        )
        self._on_gone(self)

    def _expect_end(self) -> None:
        # Not ended at once: a signal would replace the exit code.
        self._is_ended = True
        if self._last_words is None:
            loop = asyncio.get_running_loop()
            self._last_words = loop.call_later(_LAST_WORDS, self.end)

    def _take(self, frame: Frame) -> None:
        expected = self._answer if self._greeting.done() else self._greeting
        if expected is None or expected.done():
            raise FrameError("a frame without a request")
        expected.set_result(frame)

    def _check(self, frame: Frame | None) -> Frame:
        if frame is None:
            raise ProcessGoneError(self._code())
        return frame

    def _code(self) -> int | None:
        if self._is_broken or self._transport is None:
            return None
        return self._transport.get_returncode()

    async def _send(self, head: bytes, body: bytes) -> None:
        pipe = self._transport.get_pipe_transport(_IN) if self._transport is not None else None
        if not isinstance(pipe, asyncio.WriteTransport):
            return
        pipe.write(head)
        view = memoryview(body)
        for start in range(0, len(body), _CHUNK):
            await self._is_writable.wait()
            if pipe.is_closing():
                return
            pipe.write(view[start : start + _CHUNK])

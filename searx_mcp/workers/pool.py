"""A pool of child processes, one job in each at a time."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from typing_extensions import override

from searx_mcp.workers import failures
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.frames import Frame, FrameError, decode_object, encode_head
from searx_mcp.workers.interface import MAX_BODY, Result, Workers
from searx_mcp.workers.process import ChildProcess, ProcessGoneError

_log = logging.getLogger("searx_mcp.workers")

CHILD: Final = "searx_mcp.workers.child"
"""The module that is run; it knows `workers.jobs.JOBS`."""

JOBS_PER_PROCESS: Final = 500
"""A process is replaced after so many jobs: what C code lost or tore up ends with it."""

_START_TIMEOUT: Final = 30.0
"""Seconds a process may take until it is ready; it takes 0.3 s, on a busy small machine 3 s."""

_CLOSE_TIMEOUT: Final = 3.0
"""Seconds to wait for killed processes; only one that hangs inside the kernel takes longer."""


class ChildWorkers(Workers):
    """Runs each job in a process of its own, which can be killed.

    Processes start when they are needed, are used again, and end when they have been idle for a
    time. A job that crashes, hangs or eats memory costs its process; the next one gets another. One
    object serves one event loop, and starts nothing any more once it is closed.

    Args:
        config: how many, and what each may use.
        module: the module to run, as for `python -m`.
        jobs_per_process: how many jobs a process does before it is replaced.
    """

    def __init__(
        self,
        config: WorkersConfig,
        *,
        module: str = CHILD,
        jobs_per_process: int = JOBS_PER_PROCESS,
    ) -> None:
        self._config = config
        self._module = module
        self._jobs_per_process = jobs_per_process
        self._most = config.processes or _spare_cores()
        self._slots = asyncio.Semaphore(self._most)
        self._waiting = 0
        self._starting: set[asyncio.Future[ChildProcess | None]] = set()
        self._left: list[asyncio.Future[ChildProcess | None]] = []
        self._processes: set[ChildProcess] = set()
        self._idle: dict[ChildProcess, asyncio.TimerHandle] = {}
        self._is_closed = False

    @override
    def __repr__(self) -> str:
        busy = len(self._processes) - len(self._idle)
        return f"<ChildWorkers [{busy} busy, {len(self._idle)} idle, {self._waiting} waiting]>"

    @override
    async def run(
        self, job: str, body: bytes, options: Mapping[str, object], *, deadline: float
    ) -> Result:
        if len(body) > MAX_BODY:
            raise failures.too_large()
        if deadline <= asyncio.get_running_loop().time():
            raise failures.late()
        head = encode_head({"job": job, "options": dict(options)}, len(body))
        try:
            async with asyncio.timeout_at(deadline), self._slot():
                return _result(await self._answer(head, body))
        except TimeoutError as exc:
            raise failures.late() from exc

    @override
    async def aclose(self) -> None:
        self._is_closed = True
        self._end_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                # One that is starting has pipes that cannot be closed yet.
                for starting in [*self._starting]:
                    await asyncio.wait([starting])
                self._end_all()
                for process in [*self._processes]:
                    await process.gone()

    def _end_all(self) -> None:
        for process in self._processes:
            process.end()

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self._waiting >= self._config.max_queue:
            raise failures.busy()
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._slots.release()

    async def _answer(self, head: bytes, body: bytes) -> Frame:
        process = await self._take()
        answer = None
        try:
            async with asyncio.timeout(self._config.job_timeout):
                answer = await process.ask(head, body)
        except ProcessGoneError as exc:
            raise failures.closed() if self._is_closed else failures.crash(exc.code) from exc
        except TimeoutError as exc:
            raise failures.too_slow(self._config.job_timeout) from exc
        finally:
            if answer is None:
                process.end()
        if process.jobs < self._jobs_per_process:
            self._rest(process)
        else:
            process.end()
        return answer

    async def _take(self) -> ChildProcess:
        """A process that is ready, for one job."""
        if self._is_closed:
            raise failures.closed()
        process = self._rested() or await self._start()
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                await process.greeted()
        except (ProcessGoneError, TimeoutError) as exc:
            process.end()
            if self._is_closed:
                raise failures.closed() from exc
            _log.warning("workers.no_start problem=%r", exc)
            raise failures.no_start() from exc
        except asyncio.CancelledError:
            self._rest(process)  # it did nothing yet, and the next caller has less to wait for
            raise
        return process

    async def _start(self) -> ChildProcess:
        if self._left:
            starting = self._left.pop()
        else:
            # A task of its own, which goes on when the caller leaves; `aclose` waits for it.
            starting = asyncio.ensure_future(self._begin())
            self._starting.add(starting)
            starting.add_done_callback(self._begun)
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._left.append(starting)
            if starting.done():
                self._begun(starting)
            raise
        if process is None:
            raise failures.no_start()
        return process

    async def _begin(self) -> ChildProcess | None:
        try:
            process = await ChildProcess.start(
                self._module,
                str(self._config.memory),
                str(self._config.job_timeout),
                on_gone=self._forget,
            )
        except (OSError, NotImplementedError) as exc:
            # No memory, no file descriptor, no interpreter; or a loop that knows no processes.
            _log.warning("workers.no_start problem=%r", exc)
            return None
        if not process.is_gone:
            self._processes.add(process)
        return process

    def _begun(self, starting: "asyncio.Future[ChildProcess | None]") -> None:
        """Keep a process whose caller left, for the next one."""
        self._starting.discard(starting)
        if starting in self._left:
            self._left.remove(starting)
            if not starting.cancelled() and (process := starting.result()) is not None:
                self._rest(process)

    def _rest(self, process: ChildProcess) -> None:
        if self._is_closed or not process.is_usable:
            process.end()
            return
        loop = asyncio.get_running_loop()
        self._idle[process] = loop.call_later(self._config.idle, process.end)

    def _rested(self) -> ChildProcess | None:
        while self._idle:
            process, timer = self._idle.popitem()
            timer.cancel()
            if process.is_usable:
                return process
        return None

    def _forget(self, process: ChildProcess) -> None:
        self._processes.discard(process)
        if timer := self._idle.pop(process, None):
            timer.cancel()


def _result(answer: Frame) -> Result:
    if "failed" in answer.header:
        raise failures.from_header(answer.header)
    try:
        return decode_object(answer.body)
    except FrameError as exc:
        raise failures.broken() from exc


def _spare_cores() -> int:
    """All cores that may be used but one, which is the event loop's."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)) - 1)
    return max(1, (os.cpu_count() or 1) - 1)

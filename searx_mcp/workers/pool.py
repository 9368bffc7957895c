"""A pool of child processes, each with one job at a time."""

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from typing_extensions import override

from searx_mcp.errors import FetchError
from searx_mcp.workers import failures
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.jobs import (
    MAX_BODY,
    Frame,
    FrameError,
    Result,
    Workers,
    decode_result,
    encode_head,
)
from searx_mcp.workers.process import ChildProcess, ProcessGoneError

_log = logging.getLogger("searx_mcp.workers")

CHILD: Final = "searx_mcp.workers.child"
"""The module that the processes run; it knows the jobs for documents."""

JOBS_PER_PROCESS: Final = 500
"""Jobs after which a process is replaced, together with anything that C code leaked or corrupted."""

_START_TIMEOUT: Final = 30.0
"""Seconds a process may take to become ready; it takes 0.4 s, on a busy small machine 3 s."""

_STARTS: Final = 3
"""Consecutive failed starts after which waiting callers get an error: one process may be killed by chance."""

_TRIES: Final = 3
"""Processes that a job gets if something else kills them. An assumption: whatever kills three will go on."""
_OWN_DEATHS: Final = 2
"""Processes that a document may crash. One may have been damaged by an earlier document, hardly two."""

_CLOSE_TIMEOUT: Final = 3.0
"""Seconds to wait for killed processes; only one that hangs inside the kernel takes longer."""


class ChildWorkers(Workers):
    """Runs each job in its own process, which can be killed.

    Processes start on demand, one after the other, are reused, and end after an idle time. Whichever is ready
    first takes the job that has waited longest: most pages take a fraction of the time that a process needs
    to start. A job that crashes, hangs or exhausts memory costs its process; if the process crashed or was
    killed, the job gets a new one. One object serves one event loop, and starts nothing after it is closed.

    Args:
        config: number of processes, and the limits of each.
        module: the module to run, as for `python -m`.
        jobs_per_process: jobs after which a process is replaced.
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
        self._callers = 0
        self._waiting: deque[asyncio.Future[ChildProcess]] = deque()
        self._starting: asyncio.Future[ChildProcess] | None = None
        self._failed_starts = 0
        self._processes: set[ChildProcess] = set()
        self._idle: dict[ChildProcess, asyncio.TimerHandle] = {}
        self._is_closed = False

    @override
    def __repr__(self) -> str:
        busy = self._callers - len(self._waiting)
        return f"<ChildWorkers [{busy} busy, {len(self._idle)} idle, {len(self._waiting)} waiting]>"

    @override
    async def run(
        self,
        job: str,
        body: bytes,
        options: Mapping[str, object],
        *,
        deadline: float,
        reserve: float = 0.0,
    ) -> Result:
        if len(body) > MAX_BODY:
            raise failures.too_large()
        if deadline <= asyncio.get_running_loop().time():
            raise failures.late()
        head = encode_head({"job": job, "options": dict(options)}, len(body))
        self._callers += 1
        try:
            async with asyncio.timeout_at(deadline):
                give_up = deadline - reserve if reserve else None
                return _result(await self._tried(head, body, give_up))
        except TimeoutError as exc:
            raise failures.late() from exc
        finally:
            self._callers -= 1

    @override
    def warm(self) -> None:
        if not any(process.is_usable for process in self._processes):
            self._start()

    @override
    async def aclose(self) -> None:
        self._is_closed = True
        self._refuse(failures.closed)
        self._end_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                # A starting process has pipes that cannot be closed yet.
                if self._starting is not None:
                    await asyncio.wait([self._starting])
                self._end_all()
                for process in [*self._processes]:
                    await process.gone()

    def _end_all(self) -> None:
        for process in self._processes:
            process.end()

    async def _take(self) -> ChildProcess:
        """Return a process that is ready for one job."""
        if self._is_closed:
            raise failures.closed()
        if (process := self._rested()) is not None:
            return process
        waiter: asyncio.Future[ChildProcess] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._grow()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.cancelled() and waiter.exception() is None:
                self._hand_over(waiter.result())  # it has just arrived
            raise

    async def _tried(self, head: bytes, body: bytes, give_up: float | None) -> Frame:
        """Run one job, again in another process if the first one ended; see `_TRIES` and `_OWN_DEATHS`."""
        tries = own_deaths = 0
        while True:
            process = await self._take()
            try:
                return await self._answer(process, head, body, give_up)
            except ProcessGoneError as exc:
                if self._is_closed:
                    raise failures.closed() from exc
                tries += 1
                own_deaths += not failures.was_killed(exc.code)
                if failures.is_over_limit(exc.code) or tries >= _TRIES or own_deaths >= _OWN_DEATHS:
                    if failures.was_killed(exc.code):
                        _log.warning("workers.killed code=%s tries=%d", exc.code, tries)
                    raise failures.ended(exc.code) from exc

    async def _answer(
        self, process: ChildProcess, head: bytes, body: bytes, give_up: float | None
    ) -> Frame:
        """Run one job.

        Args:
            process: only for this job.
            head: of the request.
            body: of the request.
            give_up: when to end it at the latest; a time in the past gives it no time.
        """
        begun = asyncio.get_running_loop().time()
        end = begun + self._config.job_timeout
        if give_up is not None and give_up > begun:
            end = min(end, give_up)
        answer = None
        try:
            async with asyncio.timeout_at(end):
                answer = await process.ask(head, body)
        except TimeoutError as exc:
            raise failures.too_slow(end - begun) from exc
        finally:
            if answer is None or process.jobs >= self._jobs_per_process:
                process.end()
            self._hand_over(process)
        return answer

    def _hand_over(self, process: ChildProcess) -> None:
        """Give a process to the caller that waited longest, or keep it for the next."""
        if self._is_closed or not process.is_usable:
            process.end()
        elif (waiter := self._next()) is not None:
            waiter.set_result(process)
        else:
            loop = asyncio.get_running_loop()
            self._idle[process] = loop.call_later(self._config.idle, process.end)
        self._grow()

    def _next(self) -> "asyncio.Future[ChildProcess] | None":
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                return waiter
        return None

    def _refuse(self, error: Callable[[], FetchError]) -> None:
        while (waiter := self._next()) is not None:
            waiter.set_exception(error())

    def _grow(self) -> None:
        """Start one more process if a caller waits and the limit allows it."""
        if self._waiting and sum(process.is_usable for process in self._processes) < self._most:
            self._start()

    def _start(self) -> None:
        if self._starting is None and not self._is_closed:
            # A separate task, which continues when the caller leaves; `aclose` waits for it.
            starting = self._starting = asyncio.ensure_future(self._begin())
            starting.add_done_callback(self._begun)

    async def _begin(self) -> ChildProcess:
        process = await ChildProcess.start(
            self._module,
            str(self._config.memory),
            str(self._config.job_timeout),
            on_gone=self._forget,
        )
        if not process.is_gone:
            self._processes.add(process)
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                await process.greeted()
        except BaseException:
            process.end()
            raise
        return process

    def _begun(self, starting: "asyncio.Future[ChildProcess]") -> None:
        self._starting = None
        if starting.cancelled():
            return  # the loop is ending
        if (problem := starting.exception()) is None:
            self._failed_starts = 0
            self._hand_over(starting.result())
            return
        # No memory, no file descriptor, no interpreter; a loop without support for processes; a module that
        # is not a worker; or it was killed.
        if not self._is_closed:
            _log.warning("workers.no_start reason=%s", type(problem).__name__)
        if any(process.is_usable for process in self._processes):
            return
        self._failed_starts += 1
        if self._failed_starts < _STARTS:
            self._grow()
        else:
            self._failed_starts = 0
            self._refuse(failures.no_start)

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
        return decode_result(answer.body)
    except FrameError as exc:
        raise failures.broken() from exc


def _spare_cores() -> int:
    """Return the usable cores but one, which is for the event loop."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)) - 1)
    return max(1, (os.cpu_count() or 1) - 1)

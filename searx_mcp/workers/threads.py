"""Jobs in threads of this process, for programs that want no child processes."""

import asyncio
import contextlib
import gc
from collections import defaultdict
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Final

from typing_extensions import override

from searx_mcp.errors import ContentError
from searx_mcp.tasks import CallThread
from searx_mcp.workers import failures
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.jobs import DANGEROUS, MAX_BODY, Job, Result, Workers, document_jobs

_CLOSE_TIMEOUT: Final = 3.0
"""Seconds to wait for running jobs."""


class ThreadWorkers(Workers):
    """Runs jobs in threads, one for each name; jobs of one name wait for each other.

    More threads would not be faster, since Python has one global lock, and would take it from the event loop
    more often. But a page does not wait for a long PDF.

    A thread cannot be killed. A cancelled job, or one whose caller leaves, runs to its end, and later jobs of
    its name wait for it; one that hangs blocks them for ever. Memory is not limited. So jobs that could end
    the program are refused. Use `ChildWorkers` for untrusted documents.

    Python's garbage collection is off while a job runs: the thousands of short-lived objects of a page make
    it traverse all objects of the program again and again, and every thread waits for that. Jobs create no
    cycles.

    Args:
        config: maximum time of a job; the other values are for processes.
        jobs: the jobs by name; by default, those that read documents.
    """

    def __init__(self, config: WorkersConfig, *, jobs: Mapping[str, Job] | None = None) -> None:
        self._config = config
        self._jobs = jobs
        self._threads: defaultdict[str, CallThread] = defaultdict(
            partial(CallThread, "searx-mcp-worker")
        )
        self._callers = 0
        self._is_closed = False

    @override
    def __repr__(self) -> str:
        return f"<ThreadWorkers [{self._callers} callers]>"

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
        if self._is_closed:
            raise failures.closed()
        if len(body) > MAX_BODY:
            raise failures.too_large()
        if job in DANGEROUS:
            raise failures.needs_process()
        if deadline <= asyncio.get_running_loop().time():
            raise failures.late()
        self._callers += 1
        try:
            async with asyncio.timeout_at(deadline):
                turn = _Turn(self._config.job_timeout, deadline - reserve if reserve else None)
                return await turn.watch(
                    self._threads[job].run(partial(self._done, turn, job, body, options))
                )
        except TimeoutError as exc:
            raise failures.late() from exc
        finally:
            self._callers -= 1

    @override
    def warm(self) -> None:
        """Do nothing: a thread starts almost instantly."""

    @override
    async def aclose(self) -> None:
        self._is_closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                for thread in [*self._threads.values()]:
                    await thread.stop(lambda: None)

    def _done(self, turn: "_Turn", job: str, body: bytes, options: Mapping[str, object]) -> Result:
        if self._is_closed:
            raise failures.closed()
        turn.begin()
        try:
            # Loaded by the first job, in its thread.
            jobs = document_jobs() if self._jobs is None else self._jobs
            return jobs[job](body, options)
        except ContentError:
            raise
        except MemoryError as exc:
            raise failures.short_of_memory() from exc
        except Exception as exc:
            raise failures.unexpected() from exc
        finally:
            turn.end()


class _Turn:
    """One job in its thread: limits its time, and pauses garbage collection.

    Args:
        seconds: time limit of the job.
        give_up: when to give it up at the latest; a time in the past gives it no time.
    """

    def __init__(self, seconds: float, give_up: float | None) -> None:
        self._seconds = seconds
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._limit: asyncio.Timeout | None = None
        self._allowed = seconds
        self._pauses_collector = False

    async def watch(self, job: Awaitable[Result]) -> Result:
        """Wait for the job.

        Raises:
            DefeatError: it took too long.
        """
        try:
            async with asyncio.timeout(None) as self._limit:
                return await job
        except TimeoutError as exc:
            self.end()  # the thread continues, perhaps for ever
            raise failures.too_slow(self._allowed) from exc
        finally:
            self._limit = None

    def begin(self) -> None:
        """Start the clock, and pause garbage collection unless it is paused; called by the thread."""
        if gc.isenabled():
            self._pauses_collector = True
            gc.disable()
        with contextlib.suppress(RuntimeError):  # the loop is closed: no caller is waiting
            self._loop.call_soon_threadsafe(self._start)

    def end(self) -> None:
        """Resume garbage collection."""
        if self._pauses_collector:
            self._pauses_collector = False
            gc.enable()

    def _start(self) -> None:
        if self._limit is None:
            return
        begun = self._loop.time()
        end = begun + self._seconds
        if self._give_up is not None and self._give_up > begun:
            end = min(end, self._give_up)
        self._allowed = end - begun
        self._limit.reschedule(end)

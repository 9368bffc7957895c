"""Jobs in a thread of this process, for programs that want no child processes."""

import asyncio
import contextlib
from collections.abc import Mapping
from functools import partial
from typing import Final

from typing_extensions import override

from searx_mcp.errors import ContentError
from searx_mcp.storage.thread import CallThread
from searx_mcp.workers import failures
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.interface import MAX_BODY, Job, Result, Workers
from searx_mcp.workers.jobs import JOBS

_CLOSE_TIMEOUT: Final = 3.0
"""Seconds to wait for the job under way."""


class ThreadWorkers(Workers):
    """Runs one job after the other in a thread.

    A thread cannot be killed. A job whose caller leaves runs to its end, and those behind it wait
    for it; one that hangs takes all later ones with it, one that crashes takes the program. There
    is no limit on memory. Who reads documents of strangers wants `ChildWorkers`.

    Args:
        config: how many may wait; the rest of it is for processes.
        jobs: the jobs by name.
    """

    def __init__(self, config: WorkersConfig, *, jobs: Mapping[str, Job] = JOBS) -> None:
        self._config = config
        self._jobs = jobs
        self._thread = CallThread("searx-mcp-worker")
        self._callers = 0
        self._is_closed = False

    @override
    def __repr__(self) -> str:
        return f"<ThreadWorkers [{self._callers} callers]>"

    @override
    async def run(
        self, job: str, body: bytes, options: Mapping[str, object], *, deadline: float
    ) -> Result:
        if self._is_closed:
            raise failures.closed()
        if len(body) > MAX_BODY:
            raise failures.too_large()
        if self._callers > self._config.max_queue:
            raise failures.busy()
        if deadline <= asyncio.get_running_loop().time():
            raise failures.late()
        self._callers += 1
        try:
            async with asyncio.timeout_at(deadline):
                return await self._thread.run(partial(self._done, job, body, options))
        except TimeoutError as exc:
            raise failures.late() from exc
        finally:
            self._callers -= 1

    @override
    async def aclose(self) -> None:
        self._is_closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await self._thread.stop(_nothing)

    def _done(self, job: str, body: bytes, options: Mapping[str, object]) -> Result:
        if self._is_closed:
            raise failures.closed()
        try:
            return self._jobs[job](body, options)
        except ContentError:
            raise
        except MemoryError as exc:
            raise failures.short_of_memory() from exc
        except Exception as exc:
            raise failures.unexpected() from exc


def _nothing() -> None:
    """The last call of the thread."""

"""Pools of processes with jobs that misbehave."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.pool import ChildWorkers

MODULE = "searx_mcp.testing.worker_jobs"


@pytest.fixture
async def pool_of(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., ChildWorkers]]:
    """Makes pools, which are closed behind the test, however long that takes."""
    monkeypatch.setattr("searx_mcp.workers.pool._CLOSE_TIMEOUT", 60.0)
    async with AsyncExitStack() as stack:

        def make(*, module: str = MODULE, jobs_per_process: int = 500, **config) -> ChildWorkers:
            pool = ChildWorkers(
                WorkersConfig.model_validate({"processes": 1, **config}),
                module=module,
                jobs_per_process=jobs_per_process,
            )
            stack.push_async_callback(pool.aclose)
            return pool

        yield make


@pytest.fixture
def run() -> Callable[..., "asyncio.Future[Any]"]:
    """Starts a job as a task, with more time than a busy machine takes unless told otherwise."""

    def start(
        workers,
        job: str,
        body: bytes = b"",
        *,
        seconds: float = 240,
        reserve: float = 0.0,
        **options,
    ):
        deadline = asyncio.get_running_loop().time() + seconds
        return asyncio.ensure_future(
            workers.run(job, body, options, deadline=deadline, reserve=reserve)
        )

    return start


@pytest.fixture
def hang(run, tmp_path: Path) -> Callable[..., Awaitable[Any]]:
    """Starts a job that hangs; gives its task and, once it hangs, the number of its process."""
    begun: list[Path] = []

    async def start(workers, **options) -> tuple["asyncio.Future[Any]", int]:
        fifo = tmp_path / f"fifo-{len(begun)}"
        os.mkfifo(fifo)
        begun.append(fifo)
        task = run(workers, "hang", fifo=str(fifo), **options)
        return task, int(await asyncio.to_thread(fifo.read_text, encoding="ascii"))

    return start


@pytest.fixture
def ended() -> Callable[..., Awaitable[Any]]:
    """Waits until the process of a number has ended, whoever's child it is."""

    async def wait(pid: int) -> None:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, over.set)
        try:
            async with asyncio.timeout(30):
                await over.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    return wait

"""Fetches many pages at once and watches the event loop meanwhile. Standard library only.

It runs inside the process of each client, also inside that of a peer with packages of its own.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass

from benchmarks.fetching import memory

CONCURRENCY = 16
_TICK = 0.001

Fetch = Callable[[str], Awaitable[str]]
"""Fetches an address and gives its text."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a run came to.

    Attributes:
        pages: how many came with their mark.
        failures: exceptions by name with their number, and texts that lacked the mark.
        seconds: from the first request to the last page.
        cpu: seconds of the processor that this process took meanwhile.
        stall_p99: milliseconds by which 99 of 100 moments of the event loop were late at most.
        stall_max: likewise, the latest one.
        before: megabytes in memory before the first page.
        peak: the most megabytes during the run.
        after: megabytes in memory after each pass over the pages.
        children: seconds of the processor that its child processes took, their start included.
    """

    pages: int
    failures: dict[str, int]
    seconds: float
    cpu: float
    stall_p99: float
    stall_max: float
    before: float
    peak: float
    after: list[float]
    children: float = 0.0


async def run(fetch: Fetch, jobs: Sequence[tuple[str, str]], *, passes: int = 1) -> Load:
    """Fetch all pages, sixteen at a time.

    Args:
        fetch: of the client.
        jobs: addresses, each with a sentence that must be in the text.
        passes: how often all of them are fetched.
    """
    failures: Counter[str] = Counter()
    lateness: list[float] = []
    after: list[float] = []
    before = memory.resident()
    memory.forget_peak()
    async with asyncio.TaskGroup() as watch:
        ticker = watch.create_task(_tick(lateness))
        started, cpu = time.perf_counter(), time.process_time()
        for _ in range(passes):
            waiting = list(reversed(jobs))
            async with asyncio.TaskGroup() as group:
                for _ in range(CONCURRENCY):
                    group.create_task(_work(fetch, waiting, failures))
            after.append(memory.resident())
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        ticker.cancel()
    return Load(
        pages=len(jobs) * passes - failures.total(),
        failures=dict(failures),
        seconds=seconds,
        cpu=cpu,
        stall_p99=_p99(lateness) * 1_000,
        stall_max=max(lateness) * 1_000,
        before=before,
        peak=memory.peak(),
        after=after,
    )


async def _work(fetch: Fetch, waiting: list[tuple[str, str]], failures: Counter[str]) -> None:
    while waiting:
        url, mark = waiting.pop()
        try:
            text = await fetch(url)
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is counted
            failures[type(exc).__name__] += 1
        else:
            if mark not in text:
                failures["the text lacks the page's mark"] += 1


async def _tick(lateness: list[float]) -> None:
    while True:
        due = time.perf_counter() + _TICK
        await asyncio.sleep(_TICK)
        lateness.append(time.perf_counter() - due)


def _p99(lateness: Sequence[float]) -> float:
    """Of all moments, not of all ticks: one that was 100 ms late stands for those that fell out."""
    moments: list[float] = []
    for late in lateness:
        missed = range(int(max(late, 0) / _TICK) + 1)
        moments += [late - _TICK * number for number in missed]
    moments.sort()
    return moments[int(len(moments) * 0.99)]


def report(load: Load) -> None:
    """Hand a run over to the process that asked for it."""
    json.dump(asdict(load), sys.stdout)


def jobs_from_stdin() -> list[tuple[str, str]]:
    """Read the addresses and marks that the process was given."""
    return [(url, mark) for url, mark in json.load(sys.stdin)]

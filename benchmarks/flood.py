"""For how long a host that floods its connections holds up the event loop.

    python -m benchmarks.flood [--json] [--quick]

The host is a process of its own on loopback; `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from benchmarks.flood_site import FLOODS, TRUNCATED, WHOLE
from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.errors import FetchError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList

CONNECTIONS: Final = (1, 8)
ROUNDS: Final = 5

_BUSY: Final = 25.0  # ms
_SIZE: Final = 1 << 18
"""Bytes of a body that are read."""
_TIMEOUT: Final = 2.0
"""Seconds for a head, and for a body: some floods come to no other end."""
_TICK: Final = 0.001


@dataclass(frozen=True, slots=True)
class Run:
    """What some requests at a time came to.

    Attributes:
        outcomes: of each.
        stall: milliseconds by which the event loop was late at most.
        busy: milliseconds of the processor that the loop's thread took between two ticks at most:
            the stall on a machine that has nothing else to do.
    """

    outcomes: tuple[str, ...]
    stall: float
    busy: float


def main() -> None:
    """Measure and report."""
    options = command_line("For how long a host that floods its connections holds up the loop.")
    rounds = 1 if options.quick else ROUNDS
    with _site() as origin:
        runs = {
            (name, count): [asyncio.run(_run(origin, name, count)) for _ in range(rounds)]
            for name in FLOODS
            for count in CONNECTIONS
        }
    targets = [
        Ratio(
            f"{name}, {count} at a time: not {FLOODS[name].outcome}",
            sum(each != FLOODS[name].outcome for run in found for each in run.outcomes),
            0,
            at_least=False,
        )
        for (name, count), found in runs.items()
    ]
    if not options.quick:
        targets += [
            Ratio(f"{name}, {count} at a time: busy, ms", _busy(found), _BUSY, at_least=False)
            for (name, count), found in runs.items()
        ]
    table = Table(
        f"The event loop under floods, medians of {rounds} rounds",
        ("flood", "outcome", *(f"{what}, {n}" for n in CONNECTIONS for what in ("stall", "busy"))),
        tuple(
            (name, runs[name, 1][0].outcomes[0], *_figures(runs[name, n] for n in CONNECTIONS))
            for name in FLOODS
        ),
        (
            "stall: ms by which a tick was late at most, with so many connections.",
            "busy: ms of the processor between two ticks at most, whatever else the machine does.",
        ),
    )
    report(targets, as_json=options.json, tables=() if options.quick else (table,))


def _figures(runs: Iterator[Sequence[Run]]) -> Iterator[float]:
    for found in runs:
        yield round(statistics.median(run.stall for run in found), 1)
        yield round(_busy(found), 1)


def _busy(runs: Sequence[Run]) -> float:
    return statistics.median(run.busy for run in runs)


@contextmanager
def _site() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.flood_site"]
    # Leaving closes the site's standard input, which ends it.
    with subprocess.Popen(  # noqa: S603 - a module of this package
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the site has no output")
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"


async def _run(origin: str, name: str, count: int) -> Run:
    url = f"{origin}/{quote(name)}"
    config = NetworkConfig(max_connections_per_host=count)
    allow = AllowList.parse([origin.removeprefix("http://")])
    async with Sessions(config, allow=allow) as sessions, asyncio.TaskGroup() as watch:
        await _outcome(sessions.pages, f"{origin}/trailers")  # whatever is loaded late
        lateness: list[float] = [0.0]
        busy: list[float] = [0.0]
        ticker = watch.create_task(_tick(lateness, busy))
        await asyncio.sleep(10 * _TICK)
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(_outcome(sessions.pages, url)) for _ in range(count)]
        ticker.cancel()
    return Run(tuple(each.result() for each in asked), max(lateness) * 1_000, max(busy) * 1_000)


async def _outcome(session: HttpSession, url: str) -> str:
    try:
        async with session.open(url, headers={}, timeout=_TIMEOUT) as reply:
            deadline = asyncio.get_running_loop().time() + _TIMEOUT
            body = await reply.read(max_bytes=_SIZE, deadline=deadline)
    except FetchError as exc:
        return exc.code
    return TRUNCATED if body.truncated else WHOLE


async def _tick(lateness: list[float], busy: list[float]) -> None:
    while True:
        due, taken = time.perf_counter() + _TICK, time.thread_time()
        await asyncio.sleep(_TICK)
        lateness.append(time.perf_counter() - due)
        busy.append(time.thread_time() - taken)


if __name__ == "__main__":
    main()

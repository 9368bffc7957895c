"""Own instances of which one hangs and one fails, and many searches at one that is slow.

    python -m benchmarks.own_failover [--json] [--quick]

The instances are on loopback, in this process; `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import itertools
import random
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

import aiohttp

from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import SearxMcpError
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng

SEARCHES: Final = 30
HEALTHY: Final = 0.3
"""Seconds that a good instance takes."""
ROLES: Final = ("hung", "500", "good")
FAN_OUT: Final = 3
PARALLEL: Final = 32
SLOW: Final = 2.7
"""Seconds of the instance that gets many searches at once."""
SLOWER: Final = 8.0
"""The same on a machine that is busy: the slowest of 32 at a real SearXNG took 5 to 8."""
ROUNDS: Final = 3

_FIRST: Final = 2.0
_LATER: Final = 1.2
_BESIDE_BARE: Final = 1.3


@dataclass(frozen=True, slots=True)
class Run:
    """What became of some searches, one after the other, at three instances.

    Attributes:
        seconds: of each search; those without an answer are left out.
        unanswered: how many had none.
        hung_asked: how often the instance that hangs was asked.
    """

    seconds: tuple[float, ...]
    unanswered: int
    hung_asked: int

    @property
    def slowest(self) -> float:
        """Seconds of the slowest search."""
        return max(self.seconds)

    def later(self, healthy: float) -> float:
        """The slowest but one, in healthy medians."""
        return sorted(self.seconds)[-2] / healthy


def main() -> None:
    """Measure and report."""
    options = command_line("Own instances that hang and fail, and many searches at once.")
    targets, tables = asyncio.run(_quick() if options.quick else _measure())
    report(targets, as_json=options.json, tables=tables)


async def _quick() -> tuple[list[Ratio], tuple[Table, ...]]:
    run = await _failover(ROLES, searches=10, seed=1, latency=0.0)
    async with _instance(0.0) as slow:
        answered, _ = await _ours(slow)
    return [
        Ratio("failover: searches without an answer", run.unanswered, 0, at_least=False),
        Ratio("failover: times the hung one was asked", run.hung_asked, 1, at_least=False),
        Ratio("at once: answers", answered, PARALLEL, at_least=True),
    ], ()


async def _measure() -> tuple[list[Ratio], tuple[Table, ...]]:
    orders = list(itertools.permutations(ROLES))
    healthy = await _failover(("good",) * 3, searches=SEARCHES, seed=0)
    hedged = [await _failover(order, searches=SEARCHES, seed=n) for n, order in enumerate(orders)]
    fanned = [
        await _failover(order, searches=SEARCHES, seed=n, fan_out=FAN_OUT)
        for n, order in enumerate(orders)
    ]
    median = statistics.median(healthy.seconds)
    bare, ours, answers = await _at_once(SLOW, ROUNDS)
    busy_bare, busy_ours, busy_answers = await _at_once(SLOWER, 1)
    targets = [
        Ratio("failover: searches without an answer", _lost(hedged), 0, at_least=False),
        Ratio("failover: the slowest search, s", _slowest(hedged), _FIRST, at_least=False),
        Ratio(
            "failover: the slowest but one, healthy medians",
            max(run.later(median) for run in hedged),
            _LATER,
            at_least=False,
        ),
        Ratio("at once: answers", answers, PARALLEL, at_least=True),
        Ratio("at once: ours / bare", ours / bare, _BESIDE_BARE, at_least=False),
        Ratio("at once, slower: answers", busy_answers, PARALLEL, at_least=True),
        Ratio("at once, slower: ours / bare", busy_ours / busy_bare, _BESIDE_BARE, at_least=False),
    ]
    rows = tuple(
        (
            name,
            round(statistics.median(second for run in runs for second in run.seconds), 3),
            round(_slowest(runs), 3),
            round(max(run.later(median) for run in runs), 2),
            _lost(runs),
        )
        for name, runs in (
            ("three good ones", [healthy]),
            ("hung, 500, good: one at a time, hedged", hedged),
            (f"hung, 500, good: {FAN_OUT} side by side", fanned),
        )
    )
    failover = Table(
        f"Three own instances, a good one takes {HEALTHY} s; {SEARCHES} searches in each order",
        ("", "median, s", "slowest, s", "slowest but one, medians", "without answer"),
        rows,
        ("medians: of three good ones.",),
    )
    at_once = Table(
        f"{PARALLEL} searches at once at one instance, medians of {ROUNDS} rounds, of the slower one round",
        ("", f"{SLOW} s", f"{SLOWER} s"),
        (
            ("aiohttp alone", round(bare, 2), round(busy_bare, 2)),
            ("ours", round(ours, 2), round(busy_ours, 2)),
        ),
    )
    return targets, (failover, at_once)


def _slowest(runs: Sequence[Run]) -> float:
    return max(run.slowest for run in runs)


def _lost(runs: Sequence[Run]) -> int:
    return sum(run.unanswered for run in runs)


async def _failover(
    roles: Sequence[str], *, searches: int, seed: int, latency: float = HEALTHY, fan_out: int = 1
) -> Run:
    async with AsyncExitStack() as stack:
        fakes = [await stack.enter_async_context(_instance(0.0)) for _ in roles]
        for fake, role in zip(fakes, roles, strict=True):
            if role == "hung":
                fake.hang()
            elif role == "500":
                fake.fail(500)
            else:
                fake.slow(latency)
        client = await stack.enter_async_context(_client(fakes, seed=seed, fan_out=fan_out))
        seconds, unanswered = [], 0
        for n in range(searches):
            started = time.perf_counter()
            try:
                await client.search(f"tea {n}", fetch_content=False, results_count=5)
            except SearxMcpError:
                unanswered += 1
            else:
                seconds.append(time.perf_counter() - started)
        hung = sum(fake.searches for fake, role in zip(fakes, roles, strict=True) if role == "hung")
    return Run(tuple(seconds), unanswered, hung)


async def _at_once(latency: float, rounds: int) -> tuple[float, float, int]:
    """Seconds of the library alone and of ours, medians of interleaved rounds, and our fewest answers."""
    bare, ours, answers = [], [], []
    async with _instance(latency) as slow:
        for _ in range(rounds):
            bare.append(await _bare(slow))
            answered, seconds = await _ours(slow)
            answers.append(answered)
            ours.append(seconds)
    return statistics.median(bare), statistics.median(ours), min(answers)


async def _bare(slow: FakeSearxng) -> float:
    async def ask(session: aiohttp.ClientSession, n: int) -> None:
        query = {"q": f"tea {n}", "format": "json"}
        async with session.get(f"{slow.url}search", params=query) as response:
            await response.json()

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for n in range(PARALLEL):
                group.create_task(ask(session, n))
        return time.perf_counter() - started


async def _ours(slow: FakeSearxng) -> tuple[int, float]:
    async with _client([slow], seed=1) as client:

        async def ask(n: int) -> bool:
            try:
                await client.search(f"tea {n}", fetch_content=False, results_count=5)
            except SearxMcpError:
                return False
            return True

        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(n)) for n in range(PARALLEL)]
        return sum(task.result() for task in tasks), time.perf_counter() - started


def _instance(latency: float) -> FakeSearxng:
    return FakeSearxng(formats=("html", "json"), latency=latency)


@asynccontextmanager
async def _client(
    fakes: Sequence[FakeSearxng], *, seed: int, fan_out: int = 1
) -> AsyncIterator[SearxClient]:
    settings = Settings.model_validate(
        {
            "instances": {"own": [fake.url for fake in fakes]},
            "search": {"cache_ttl": 0, "fan_out": fan_out},
        }
    )
    async with SearxClient(settings, rng=random.Random(seed)) as client:  # noqa: S311 - a benchmark's
        yield client


if __name__ == "__main__":
    main()

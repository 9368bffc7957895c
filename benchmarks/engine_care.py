"""Searches at an own instance whose engines refuse it, with its engines spread and as SearXNG asks.

    python -m benchmarks.engine_care [--json] [--quick] [--seed N]

Simulated in virtual time, with this package's pool and executor; `docs/decisions/benchmarks.md` says what is
simulated and what is not. Same seed, same figures.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.simulation.arrivals import HOUR, dice
from searx_mcp.errors import SearxMcpError
from searx_mcp.http.robots import RobotsDecision
from searx_mcp.models.attempt import Format
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.engine_care import THIN
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.sources.attempt_runner import RequestPacer
from searx_mcp.sources.searxng.classify import judge_page
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.virtual_time import VirtualClock, run

SEED: Final = 1
URL: Final = "http://127.0.0.1:8888/"
RATES: Final = (20, 60, 120, 200)
"""Searches an hour."""
LIMITS: Final[Mapping[str, int]] = {
    "brave": 6, "google": 8, "startpage": 10, "duckduckgo": 12, "qwant": 15, "yep": 20, "yahoo": 25,
    "bing": 30, "mojeek": 40,
}  # fmt: skip
"""Searches in ten minutes above which an engine refuses. Nobody publishes theirs: the range is chosen
so that all of them suffice for three engines a search at the highest rate, and for no more."""
WINDOW: Final = 600.0
LIMITED: Final = "too many requests"
CAPTCHA: Final = "CAPTCHA"
SUSPENSIONS: Final = {LIMITED: 180.0, CAPTCHA: 3_600.0}
"""Seconds for which SearXNG's defaults suspend an engine that refused it, by its reason."""
BURST: Final = 5
"""Searches of one agent in a row, from 1 to so many, five seconds apart in the mean."""

_POOL_OF_ROWS: Final = 30
"""Pages any engine may find for a query; each finds ten of them, one time in seven fewer than five."""
_WELL: Final = 0.85


def main() -> None:
    """Simulate and report."""
    options = command_line("Engines of an own instance spread, and asked all at once.", seed=SEED)
    rates, hours, seeds = ((60, 200), 8, 1) if options.quick else (RATES, 24, 4)
    suspensions = {LIMITED: SUSPENSIONS[LIMITED]} if options.quick else SUSPENSIONS
    rows: list[tuple[str | float, ...]] = []
    targets = []
    for name, suspension in suspensions.items():
        for rate in rates:
            every, spread = (
                _together(
                    simulate(rate, suspension, care=care, hours=hours, seed=options.seed + number)
                    for number in range(seeds)
                )
                for care in (False, True)
            )
            ratio = spread.refusals / max(1, every.refusals)
            rows.append((name, rate, *every.cells(), *spread.cells(), round(ratio, 2)))
            if (name, rate) != _TOO_MUCH:
                targets += _targets(f"{rate} an hour, {name}", every, spread, ratio)
    columns = ("refused with", "an hour", *(f"{what}, {how}" for how in _WAYS for what in _WHAT))
    table = Table(
        f"{seeds} runs of {hours} hours each, {len(LIMITS)} engines, in bursts of up to {BURST}",
        (*columns, "refusals / all"),
        tuple(rows),
        (f"answered: share of the searches with {THIN} or more results, in percent.",),
    )
    report(targets, as_json=options.json, tables=[table])


_WAYS: Final = ("all", "spread")
_WHAT: Final = ("answered", "refused", "asked")
_TOO_MUCH: Final = (CAPTCHA, 200)
"""A refusal costs an hour there, and what is left is too little for three engines a search."""


def _targets(name: str, every: "Figures", spread: "Figures", ratio: float) -> list[Ratio]:
    return [
        Ratio(f"refusals, spread / all: {name}", ratio, 0.25, at_least=False),
        Ratio(f"answered, spread - all: {name}", spread.share - every.share, 0, at_least=True),
    ]


@dataclass(slots=True)
class _Engine:
    limit: int
    asked: deque[float] = field(default_factory=deque)
    suspended_until: float = 0.0


@dataclass(slots=True)
class Instance:
    """A SearXNG with engines that refuse it.

    Attributes:
        clock: Unix seconds.
        suspension: seconds for which an engine is left out after a refusal.
        rng: chooses what engines find.
        refusals: how often an engine was asked and refused.
        requests: how often an engine was asked.
    """

    clock: Callable[[], float]
    suspension: float
    rng: random.Random
    refusals: int = 0
    requests: int = 0
    engines: dict[str, _Engine] = field(
        default_factory=lambda: {name: _Engine(limit) for name, limit in LIMITS.items()}
    )

    async def search(
        self,
        base_url: str,  # noqa: ARG002 - there is one instance
        query: InstanceQuery,
        *,
        own: bool,  # noqa: ARG002 - it is
        format: Format,  # noqa: A002 - the model's name for it
        timeout: float,  # noqa: ARG002, ASYNC109 - it answers at once
    ) -> Outcome:
        """Ask the engines that are named, or all of them."""
        found: dict[int, set[str]] = {}
        failed, asked = [], query.engines or tuple(self.engines)
        for name in asked:
            reason = self._refusal(self.engines[name])
            if reason:
                failed.append(UnresponsiveEngine(engine=name, reason=reason))
                continue
            count = 10 if self.rng.random() < _WELL else self.rng.randrange(5)
            for row in self.rng.sample(range(_POOL_OF_ROWS), count):
                found.setdefault(row, set()).add(name)
        page = ResultPage(
            hits=tuple(
                Hit(f"https://{row}.example/", "", place, engines=tuple(sorted(names)))
                for place, (row, names) in enumerate(found.items(), 1)
            ),
            rows_seen=len(found),
            unresponsive_engines=tuple(failed),
            timings=dict.fromkeys(asked, 0.5),
            has_next=False,
        )
        verdict, detail = judge_page(page)
        return Outcome(verdict, format, 0.5, status_code=200, page=page, detail=detail)

    def _refusal(self, engine: _Engine) -> str:
        now = self.clock()
        if now < engine.suspended_until:
            return "Suspended: too many requests"
        while engine.asked and engine.asked[0] <= now - WINDOW:
            engine.asked.popleft()
        self.requests += 1
        engine.asked.append(now)  # whoever goes on is not let in again
        if len(engine.asked) <= engine.limit:
            return ""
        self.refusals += 1
        engine.suspended_until = now + self.suspension
        return "too many requests"

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ARG002, ASYNC109 - of public instances
        """Not asked for an own instance."""
        return True

    async def robots(
        self,
        base_url: str,  # noqa: ARG002 - of public instances
        *,
        format: Format,  # noqa: A002, ARG002 - likewise
        timeout: float,  # noqa: ARG002, ASYNC109 - likewise
    ) -> RobotsDecision | Outcome:
        """Not asked for an own instance."""
        return RobotsDecision()

    async def config(self, base_url: str, *, own: bool, timeout: float) -> None:  # noqa: ASYNC109 - of public instances
        """Not asked for an own instance by a search."""


@dataclass(slots=True)
class Figures:
    """What the searches of some days came to.

    Attributes:
        searches: how many there were.
        good: those with as many results as make an answer.
        refusals: times an engine was asked and refused.
        requests: times an engine was asked.
    """

    searches: int = 0
    good: int = 0
    refusals: int = 0
    requests: int = 0

    @property
    def share(self) -> float:
        """Percent of the searches that were answered well."""
        return 100 * self.good / self.searches

    def cells(self) -> tuple[float, ...]:
        """The figures as a row of a table has them."""
        return (round(self.share, 2), self.refusals, self.requests)


def simulate(rate: int, suspension: float, *, care: bool, hours: int, seed: int) -> Figures:
    """Search for some hours."""
    figures = Figures()

    async def main(clock: VirtualClock) -> None:
        rng, arrivals = dice(seed, "rows"), dice(seed, rate)
        instance = Instance(clock, suspension, rng)
        pool = InstancePool(own=[URL], config=PoolConfig(engine_care=care), rng=dice(seed))
        executor = InstanceSearch(
            pool=pool,
            upstream=instance,
            state=MemoryStore(),
            config=SearchConfig(),
            spacing=RequestPacer((0, 0), rng),
            clock=clock,
        )
        end = clock() + hours * HOUR
        while clock() < end:
            await asyncio.sleep(arrivals.expovariate(rate / HOUR / ((1 + BURST) / 2)))
            for _ in range(arrivals.randint(1, BURST)):
                await asyncio.sleep(arrivals.expovariate(1 / 5))
                figures.searches += 1
                figures.good += await _results(executor) >= THIN
        figures.refusals, figures.requests = instance.refusals, instance.requests

    run(main)
    return figures


async def _results(executor: InstanceSearch) -> int:
    """How many results a search has; none where nobody could serve."""
    deadline = asyncio.get_running_loop().time() + SearchConfig().phase_timeout
    try:
        found = await executor.run(SearchContext(InstanceQuery("tea"), 10, deadline))
    except SearxMcpError:
        return 0
    return len(found.pages[0].hits)


def _together(runs: Iterable[Figures]) -> Figures:
    total = Figures()
    for each in runs:
        total.searches += each.searches
        total.good += each.good
        total.refusals += each.refusals
        total.requests += each.requests
    return total


if __name__ == "__main__":
    main()

"""A month of searches from one address over all listed instances, under their real windows."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from benchmarks.simulation.arrivals import DAY, dice, month
from benchmarks.simulation.collections import LimitedSources, labelled, wired
from benchmarks.simulation.hosts import Access, bundled, draw
from benchmarks.simulation.ours import Ours
from benchmarks.simulation.run import Tally, play
from benchmarks.simulation.world import World
from searx_mcp.models.attempt import Format
from searx_mcp.models.response import Coverage
from searx_mcp.search.budget import MONTH
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.state import Account, Budget, Reservation, StateStore
from tests.doubles.virtual_time import VirtualClock, run

DEMANDS = (6, 10, 30, 100)
"""Searches a day."""
WINDOW = 3
"""Searches one instance takes from an address in thirty days."""


@dataclass(frozen=True, slots=True)
class Month:
    """What a month came to.

    Attributes:
        asked: searches a day.
        a_day: answered searches, day by day.
        calls: searches sent to instances.
        refused: those that broke an instance's windows.
        capacity: searches all instances together take in thirty days.
        from_collections: of the answered searches, those that open sources answered.
        requests: sent to open sources.
        refused_requests: those that came faster than their operators allow.
    """

    asked: int
    a_day: tuple[int, ...]
    calls: int
    refused: int
    capacity: int
    from_collections: int = 0
    requests: int = 0
    refused_requests: int = 0

    @property
    def held_back(self) -> float:
        """Share of the capacity that was not used."""
        return 1 - self.calls / self.capacity

    @property
    def median(self) -> float:
        """Answered searches of the median day."""
        return statistics.median(self.a_day)

    @property
    def mean(self) -> float:
        """Answered searches of a day in the mean."""
        return statistics.fmean(self.a_day)


class Greedy(MemoryStore):
    """A store without the month's account: every instance's own windows are all there is."""

    @override
    async def reserve(self, accounts: Sequence[Account], format: Format, now: float) -> Reservation:
        return await super().reserve([a for a in accounts if a.name != MONTH], format, now)

    @override
    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        return await super().budgets(
            [Account(a.name) if a.name == MONTH else a for a in accounts], now
        )


def simulate(
    *,
    asked: int,
    days: int,
    seed: int,
    state: StateStore | None = None,
    with_collections: bool = False,
) -> Month:
    """Run a month of `days` days, 30 unless it has to be short.

    Args:
        asked: searches a day, in sessions in the waking hours.
        days: how long.
        seed: of everything.
        state: keeps the budgets; a `MemoryStore` without it.
        with_collections: whether open sources answer when no instance can serve. Each search is one
            of the labelled ones, drawn by lot; it is answered by an engine that has a document for it.
    """
    rng = dice(seed)
    entries = bundled()
    hosts = draw(entries, len(entries), faults=(), accesses=[Access.TOKEN] * len(entries), rng=rng)
    arrivals = month(days, asked, rng)
    tally, coverages = Tally(), Counter[Coverage | None]()
    searches = labelled() if with_collections else ()

    async def main(clock: VirtualClock) -> tuple[World, LimitedSources]:
        world, sources = World(hosts, seed=seed, clock=clock), LimitedSources(clock, seed)
        store = state or MemoryStore()
        provider = None
        if with_collections:
            provider = wired(sources, state=store, seed=seed, clock=clock)
        ours = Ours(hosts, world, state=store, seed=seed, clock=clock, open_sources=provider)

        async def search() -> bool:
            drawn = rng.choice(searches)
            sources.expect(drawn)
            coverage = await ours.find(drawn.query)
            coverages[coverage] += 1
            return coverage is not None

        await play(arrivals, search if with_collections else ours.search, tally)
        return world, sources

    world, sources = run(main)
    tally.take_in(world, [host.url for host in hosts])
    answered = Counter(int(at // DAY) for at in tally.answered)
    return Month(
        asked=asked,
        a_day=tuple(answered[day] for day in range(days)),
        calls=tally.calls,
        refused=tally.refused,
        capacity=WINDOW * len(hosts),
        from_collections=coverages[Coverage.COLLECTIONS],
        requests=sources.requests.total(),
        refused_requests=sources.refused,
    )

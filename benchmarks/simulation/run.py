"""One run of one policy over one world, and what it came to."""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.simulation.world import World

Search = Callable[[], Awaitable[bool]]
"""Searches once; tells whether there was an answer."""


@dataclass(slots=True)
class Tally:
    """What one policy came to, over one world or several.

    Attributes:
        answered: when each answered search began, in loop seconds.
        seconds: how long each answered search took.
        searches: how many there were.
        calls: searches sent to each instance.
        refused: requests that broke an instance's windows.
        unwelcome: requests refused by instances that refuse everything.
        hasty: requests faster than the budgets of this package allow.
        entropies: how evenly each world's answering instances were asked, 0 to 1.
        largest: the largest share of a world's calls that went to one instance.
    """

    answered: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    searches: int = 0
    calls: int = 0
    refused: int = 0
    unwelcome: int = 0
    hasty: int = 0
    entropies: list[float] = field(default_factory=list)
    largest: float = 0.0

    def take_in(self, world: World, hosts: Iterable[str]) -> None:
        """Add what a world has counted.

        Args:
            world: after the run.
            hosts: base URLs among which the spread is measured.
        """
        self.calls += sum(world.calls.values())
        self.refused += world.refused
        self.unwelcome += world.unwelcome
        self.hasty += world.hasty
        calls = Counter({url: world.calls[url] for url in hosts})
        self.entropies.append(evenness(list(calls.values())))
        self.largest = max(self.largest, max(calls.values()) / max(1, calls.total()))

    def add(self, other: "Tally") -> None:
        """Add the searches and calls of another tally."""
        self.answered += other.answered
        self.seconds += other.seconds
        self.searches += other.searches
        self.calls += other.calls

    @property
    def success(self) -> float:
        """Share of the searches that were answered."""
        return len(self.answered) / self.searches

    @property
    def calls_per_query(self) -> float:
        """Requests sent for one search."""
        return self.calls / self.searches

    @property
    def evenness(self) -> float:
        """The mean over the worlds, 0 to 1."""
        return sum(self.entropies) / len(self.entropies)

    def quantile(self, share: float) -> float:
        """Seconds within which this share of the answered searches was done."""
        return quantile(self.seconds, share)


async def play(arrivals: Sequence[float], search: Search, tally: Tally) -> None:
    """Start a search at each of these loop times, however long the others take."""
    loop = asyncio.get_running_loop()

    async def one() -> None:
        began = loop.time()
        tally.searches += 1
        if await search():
            tally.answered.append(began)
            tally.seconds.append(loop.time() - began)

    async with asyncio.TaskGroup() as group:
        for at in arrivals:
            await asyncio.sleep(at - loop.time())
            group.create_task(one())


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that this share of them does not pass (nearest rank); NaN without any."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def evenness(counts: Sequence[int]) -> float:
    """Entropy of a distribution over its maximum: 1 when all have the same, 0 when one has all."""
    total = sum(counts)
    if not total or len(counts) == 1:
        return 0.0
    shares = [count / total for count in counts if count]
    return -sum(share * math.log(share) for share in shares) / math.log(len(counts))

"""Other ways to choose an instance, each as its users know it."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from benchmarks.simulation.world import World
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import CatalogEntry
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.search.config import SearchConfig

QUERY = InstanceQuery(text="tea")

_WEIGHT = 0.3
"""Of the newest observation in a moving average."""
_UNKNOWN_LATENCY = 1.0
_UNKNOWN_SUCCESS = 0.9


class Chooser(Protocol):
    """Chooses instances and learns from what came of it.

    Attributes:
        tries: how many different instances a search asks at most.
    """

    tries: int

    def choose(self, open_to_us: Sequence[str]) -> str:
        """One of these base URLs."""
        ...

    def began(self, url: str) -> None:
        """A request leaves for `url`."""
        ...

    def ended(self, url: str, outcome: Outcome) -> None:
        """It came to `outcome`."""
        ...


class Random(Chooser):
    """Any instance, without memory.

    Args:
        rng: the dice.
        tries: how many different instances a search asks at most.
    """

    def __init__(self, rng: random.Random, *, tries: int) -> None:
        self.tries = tries
        self._rng = rng

    @override
    def choose(self, open_to_us: Sequence[str]) -> str:
        return self._rng.choice(open_to_us)

    @override
    def began(self, url: str) -> None:
        return

    @override
    def ended(self, url: str, outcome: Outcome) -> None:
        return


@dataclass(slots=True)
class _Averages:
    latency: float
    success: float
    in_flight: int = 0

    @property
    def cost(self) -> float:
        """Seconds for an answer, failed tries included."""
        return self.latency / max(self.success, 0.01)


class _Learning(Chooser):
    """Keeps moving averages of latency and success, begun with the list's figures."""

    tries = 3

    def __init__(self, entries: Sequence[CatalogEntry], rng: random.Random) -> None:
        self._rng = rng
        self._known = {
            entry.url: _Averages(
                _UNKNOWN_LATENCY if entry.search_latency is None else entry.search_latency,
                _UNKNOWN_SUCCESS if entry.search_success is None else entry.search_success / 100,
            )
            for entry in entries
        }

    @override
    def began(self, url: str) -> None:
        self._known[url].in_flight += 1

    @override
    def ended(self, url: str, outcome: Outcome) -> None:
        known = self._known[url]
        known.in_flight -= 1
        known.latency += _WEIGHT * (outcome.elapsed - known.latency)
        known.success += _WEIGHT * (outcome.verdict.ends_search - known.success)


class BestFirst(_Learning):
    """The instance of the least latency over success."""

    @override
    def choose(self, open_to_us: Sequence[str]) -> str:
        return min(open_to_us, key=lambda url: self._known[url].cost)


class PowerOfTwo(_Learning):
    """The better of two drawn by lot, requests under way counted (Mitzenmacher 2001, as Finagle)."""

    @override
    def choose(self, open_to_us: Sequence[str]) -> str:
        pair = self._rng.sample(open_to_us, min(2, len(open_to_us)))
        return min(pair, key=lambda url: self._known[url].cost * (self._known[url].in_flight + 1))


async def search_with(chooser: Chooser, world: World, urls: Sequence[str]) -> bool:
    """Ask different instances until one answers; tells whether one did.

    The times are ours: one for each try, one for all of them.
    """
    config = SearchConfig()
    loop = asyncio.get_running_loop()
    deadline = loop.time() + config.phase_timeout
    left = list(urls)
    for _ in range(chooser.tries):
        timeout = min(config.attempt_timeout, deadline - loop.time())
        if timeout <= 0 or not left:
            break
        url = chooser.choose(left)
        left.remove(url)
        chooser.began(url)
        outcome = await world.search(url, QUERY, own=False, format=Format.HTML, timeout=timeout)
        chooser.ended(url, outcome)
        if outcome.verdict.ends_search:
            return True
    return False

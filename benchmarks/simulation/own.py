"""Three instances of one's own, all well or one of them hung."""

from benchmarks.simulation.arrivals import dice, poisson
from benchmarks.simulation.hosts import Access, Fault, draw, working
from benchmarks.simulation.ours import Ours
from benchmarks.simulation.run import Tally, play
from benchmarks.simulation.world import World
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.virtual_time import VirtualClock, run

RATE = 0.2
"""Searches a second: a busy household of agents; own instances have no budget."""

Pair = tuple[Tally, Tally]
"""The same three instances all well, and with the first of them hung."""


def compare(*, triples: int, searches: int, seed: int) -> tuple[Pair, list[float]]:
    """Search with several triples of instances, each with the latencies of three listed ones.

    Args:
        triples: how many are drawn.
        searches: with each, once all well and once with one hung.
        seed: of everything.

    Returns:
        All triples together, and of each p99 with one hung over p99 all well.
    """
    together = Tally(), Tally()
    ratios = []
    for number in range(triples):
        pair = _run((), searches, seed, number), _run((Fault.HUNG,), searches, seed, number)
        ratios.append(pair[1].quantile(0.99) / pair[0].quantile(0.99))
        for sum_, tally in zip(together, pair, strict=True):
            sum_.add(tally)
    return together, sorted(ratios)


def _run(faults: tuple[Fault, ...], searches: int, seed: int, number: int) -> Tally:
    rng = dice(seed, "own", number)
    hosts = draw(working(), 3, faults=faults, accesses=[Access.OPEN] * 3, rng=rng)
    arrivals = poisson(RATE, searches, rng)
    tally = Tally()

    async def main(clock: VirtualClock) -> World:
        world = World(hosts, seed=seed, clock=clock)
        ours = Ours(hosts, world, own=True, state=MemoryStore(), seed=seed, clock=clock)
        await play(arrivals, ours.search, tally)
        return world

    tally.take_in(run(main), [host.url for host in hosts])
    return tally

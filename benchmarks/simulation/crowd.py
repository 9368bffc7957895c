"""Pools of thirty instances, nine of them faulty, under every policy."""

import random
from collections.abc import Callable, Mapping, Sequence

from benchmarks.simulation.arrivals import dice, poisson
from benchmarks.simulation.hosts import FAULTS, Access, Fault, Host, draw, working
from benchmarks.simulation.ours import Ours
from benchmarks.simulation.peers import BestFirst, Chooser, PowerOfTwo, Random, search_with
from benchmarks.simulation.run import Search, Tally, play
from benchmarks.simulation.world import Clock, World
from searx_mcp.models.attempt import Format
from searx_mcp.search.budget import instance_account
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.virtual_time import VirtualClock, run

HOSTS = 30
FAULTY = 9
DEMAND = 0.6
"""Of what the budgets of the instances that work allow."""
OURS = "ours"

_OPEN = 2
"""Instances without a limiter; all others have one that wants no token, so that there are budgets
out of which many searches can be served at all."""

Build = Callable[[Sequence[Host], World, int, Clock], Search]


def _chooser(make: Callable[[Sequence[Host], random.Random], Chooser]) -> Build:
    def build(hosts: Sequence[Host], world: World, seed: int, _: Clock) -> Search:
        chooser = make(hosts, dice(seed))
        urls = [host.url for host in hosts]
        return lambda: search_with(chooser, world, urls)

    return build


def _ours(hosts: Sequence[Host], world: World, seed: int, clock: Clock) -> Search:
    return Ours(hosts, world, state=MemoryStore(), seed=seed, clock=clock).search


POLICIES: Mapping[str, Build] = {
    "random": _chooser(lambda _, rng: Random(rng, tries=1)),
    "random, 3 tries": _chooser(lambda _, rng: Random(rng, tries=3)),
    "best first": _chooser(lambda hosts, rng: BestFirst([host.entry for host in hosts], rng)),
    "P2C": _chooser(lambda hosts, rng: PowerOfTwo([host.entry for host in hosts], rng)),
    OURS: _ours,
}


def compare(*, pools: int, searches: int, seed: int) -> dict[str, Tally]:
    """Run every policy over the same pools and arrivals.

    Args:
        pools: how many pools are drawn; each leaves another fault out.
        searches: of each policy in each pool.
        seed: of everything.
    """
    tallies = {name: Tally() for name in POLICIES}
    for number in range(pools):
        rng = dice(seed, "pool", number)
        hosts = draw_pool(number, rng)
        arrivals = poisson(demand(hosts), searches, rng)
        for name, build in POLICIES.items():
            _run(build, hosts, arrivals, seed + number, tallies[name])
    return tallies


def draw_pool(number: int, rng: random.Random) -> tuple[Host, ...]:
    """Thirty instances; of the ten faults, the pool of this number goes without one."""
    left_out = FAULTS[number % len(FAULTS)]
    faults = [fault for fault in FAULTS if fault is not left_out]
    accesses = [Access.LIMITER] * (HOSTS - _OPEN) + [Access.OPEN] * _OPEN
    return draw(working(), HOSTS, faults=faults[:FAULTY], accesses=accesses, rng=rng)


def demand(hosts: Sequence[Host]) -> float:
    """Searches a second: the share of the working instances' budgets that is asked for."""
    return DEMAND * sum(budget(host.url) for host in hosts if host.fault is Fault.NONE)


def budget(url: str) -> float:
    """Searches a second that our windows allow one instance without token in the long run."""
    windows = instance_account(url, own=False, link_token=False).windows
    return min(w.limit / w.seconds for w in windows if w.format in {None, Format.HTML})


def _run(
    build: Build, hosts: Sequence[Host], arrivals: Sequence[float], seed: int, tally: Tally
) -> None:
    async def main(clock: VirtualClock) -> World:
        world = World(hosts, seed=seed, clock=clock)
        await play(arrivals, build(hosts, world, seed, clock), tally)
        return world

    tally.take_in(run(main), [host.url for host in hosts if host.fault is Fault.NONE])

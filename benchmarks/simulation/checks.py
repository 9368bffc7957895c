"""What must hold of a simulated world, or its figures are worth nothing."""

import asyncio
import sys
from collections.abc import Sequence

from benchmarks.simulation import crowd
from benchmarks.simulation.arrivals import DAY, dice, month
from benchmarks.simulation.hosts import FAULTS, Access, Fault, Host
from benchmarks.simulation.peers import QUERY
from benchmarks.simulation.run import evenness, quantile
from benchmarks.simulation.world import World
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import CatalogEntry
from tests.doubles.virtual_time import VirtualClock, run

_URL = "https://search.example.org/"
_MONTH = 30 * DAY


def check(seed: int) -> None:
    """Leave with a message if the world is not what it claims to be."""
    for access, gaps, format_, refused_at in (
        (Access.TOKEN, (60, 60, 60), Format.HTML, (3,)),
        (Access.TOKEN, (60, 60, _MONTH - 121, 2), Format.HTML, (3, 4)),
        (Access.TOKEN, (60, 60, _MONTH - 119, 61), Format.HTML, ()),
        (Access.TOKEN, (1, 1), Format.HTML, (2,)),
        (Access.LIMITER, (1,) * 16, Format.HTML, (15, 16)),
        (Access.LIMITER, (3,) * 151, Format.HTML, (150, 151)),
        (Access.LIMITER, (60,) * 5, Format.JSON, (4, 5)),
        (Access.OPEN, (0.1,) * 200, Format.HTML, ()),
    ):
        found = _refused(access, gaps, format_, seed)
        _expect(found == refused_at, f"{access} after {gaps[:4]} s: refused {found}")
    for fault in FAULTS:
        verdict, seconds = _asked_once(fault, seed)
        _expect(seconds <= 5, f"{fault}: took {seconds} s of five")
        _expect(fault in _CHANCES or verdict is _VERDICTS[fault], f"{fault}: {verdict}")
    again = [crowd.compare(pools=1, searches=40, seed=seed) for _ in range(2)]
    _expect(again[0] == again[1], "the same seed gave other figures")
    days = [int(at // DAY) for at in month(4, 25, dice(seed))]
    _expect(all(days.count(day) == 25 for day in range(4)), "a day has the wrong searches")
    _expect(quantile([4, 1, 3, 2], 0.5) == 2, "a wrong median")
    _expect(quantile([4, 1, 3, 2], 0.99) == 4, "a wrong quantile")
    _expect((evenness([5, 5]), evenness([9, 0])) == (1, 0), "a wrong evenness")


_CHANCES = frozenset({Fault.SLOW, Fault.FLAPPING})
_VERDICTS = {
    Fault.HUNG: Verdict.TIMEOUT,
    Fault.LIMITED: Verdict.RATE_LIMITED,
    Fault.FORBIDDEN: Verdict.REFUSED,
    Fault.SENT_HOME: Verdict.BLOCKED,
    Fault.NO_ENGINES: Verdict.ENGINES_FAILED,
    Fault.GARBAGE: Verdict.MALFORMED,
    Fault.SERVER_ERROR: Verdict.SERVER_ERROR,
    Fault.NO_NAME: Verdict.DNS,
}


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        sys.exit(f"the simulated world is wrong: {otherwise}")


def _host(fault: Fault, access: Access) -> Host:
    return Host(CatalogEntry(url=_URL), 0.1, 1.0, 1.0, fault, access)


def _refused(access: Access, gaps: Sequence[float], format_: Format, seed: int) -> tuple[int, ...]:
    """Which of the requests, with these seconds between them, a limiter refuses."""

    async def main(clock: VirtualClock) -> tuple[int, ...]:
        world = World([_host(Fault.NONE, access)], seed=seed, clock=clock)
        refused = []
        at = 0.0
        for number, gap in enumerate((0.0, *gaps)):
            at += gap
            await asyncio.sleep(at - clock.elapsed)
            before = world.refused
            await world.search(_URL, QUERY, own=False, format=format_, timeout=0.05)
            if world.refused > before:
                refused.append(number)
        return tuple(refused)

    return run(main)


def _asked_once(fault: Fault, seed: int) -> tuple[Verdict, float]:
    async def main(clock: VirtualClock) -> tuple[Verdict, float]:
        world = World([_host(fault, Access.LIMITER)], seed=seed, clock=clock)
        outcome = await world.search(_URL, QUERY, own=False, format=Format.HTML, timeout=5)
        return outcome.verdict, clock.elapsed

    return run(main)

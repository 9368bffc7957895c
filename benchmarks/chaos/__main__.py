"""The pool under fire, beside two clients such as people use today.

    python -m benchmarks.chaos [--json] [--quick] [--seed N]

Each client has thirty instances of its own on loopback, nine of them faulty, in the same order and
with the same faults; all of them run at the same time. `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import faulthandler
import random
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.chaos.clients import CLIENTS, OURS
from benchmarks.chaos.demand import Session, search_through
from benchmarks.chaos.figures import Audit, Figures, audit, summarise
from benchmarks.chaos.hosts import SPEED, FastClock, open_hosts
from benchmarks.measure import Ratio, Table, command_line, report

SEED: Final = 1
_FIRST, _SETTLED = 36, 67
"""Searches in ten minutes. The second is 60 % of what the budgets of the 14 open instances allow
(8 each). They are unknown at first, when the month's account lets about 14 instances be tried:
the first is 60 % of the budgets of the 7 open ones among them."""
SESSIONS: Final = (
    *(Session(day, 600, _FIRST) for day in (0, 3, 6, 9, 12)),
    *(Session(day, 1_800, _SETTLED) for day in (16, 24, 32, 48, 64)),
)
QUICK: Final = tuple(Session(day, 240, _FIRST) for day in (0, 16, 32))
_GRACE: Final = 30.0
"""Real seconds that a run may take longer than its searches arrive."""


def main() -> None:
    """Run all clients and report."""
    options = command_line("The pool under fire, with real sockets.", seed=SEED)
    sessions = QUICK if options.quick else SESSIONS
    limit = sum(session.seconds for session in sessions) / SPEED + _GRACE
    # Ends the process even when the event loop itself does not turn any more.
    faulthandler.dump_traceback_later(limit + _GRACE, exit=True)
    try:
        runs = asyncio.run(_run_all(sessions, options.seed, limit))
    except TimeoutError:
        sys.exit(f"the run did not end within {limit:.0f} s")
    faulthandler.cancel_dump_traceback_later()
    figures, books = runs[OURS]
    ratios = _kept(figures, books)
    if not options.quick:
        ratios += _served(figures)
    report(ratios, as_json=options.json, tables=[_table(runs)])


async def _run_all(
    sessions: Sequence[Session], seed: int, limit: float
) -> dict[str, tuple[Figures, Audit]]:
    async with asyncio.timeout(limit), asyncio.TaskGroup() as group:
        tasks = {name: group.create_task(_run(name, sessions, seed)) for name in CLIENTS}
    return {name: task.result() for name, task in tasks.items()}


async def _run(name: str, sessions: Sequence[Session], seed: int) -> tuple[Figures, Audit]:
    clock = FastClock()
    async with (
        open_hosts(clock, random.Random(f"{seed} hosts")) as hosts,  # noqa: S311 - a benchmark's
        CLIENTS[name](hosts, clock, random.Random(f"{seed} client")) as client,  # noqa: S311 - a benchmark's
    ):
        rng = random.Random(f"{seed} searches")  # noqa: S311 - a benchmark's
        searched = await search_through(sessions, client, clock, rng)
    books = audit(client.charges, hosts)
    return summarise(searched, hosts, transit=books.transit), books


def _kept(figures: Figures, books: Audit) -> list[Ratio]:
    return [
        Ratio("instances over budget", len(figures.over_budget), 0, at_least=False),
        Ratio("instances charged over budget", books.overdrawn, 0, at_least=False),
        Ratio("calls that were not charged", books.uncharged, 0, at_least=False),
        Ratio("calls refused by a limiter", figures.refused, 0, at_least=False),
    ]


def _served(figures: Figures) -> list[Ratio]:
    return [
        Ratio("success, %", 100 * figures.answered / figures.searches, 99.9, at_least=True),
        Ratio("calls per query", figures.per_query, 1.35, at_least=False),
    ]


def _table(runs: Mapping[str, tuple[Figures, Audit]]) -> Table:
    figures, books = runs[OURS]
    return Table(
        f"{figures.searches} searches over 30 instances, 9 of them faulty, {SPEED} times too fast",
        (
            *("client", "answered %", "found %", "p50 ms", "p95 ms", "p99 ms", "calls/query"),
            *("refused", *figures.most, "over budget", "asked", "busiest %"),
        ),
        tuple(_row(name, figures) for name, (figures, _) in runs.items()),
        (
            "refused: calls that a limiter refused. in 30 s, in 600 s, in 30 d: the most that one",
            "instance saw, of 1, 8 and 3 that our budgets allow. over budget: instances that saw more.",
            f"Ours arrived at most {books.transit:.1f} s of the fast clock after they were charged.",
        ),
    )


def _row(name: str, figures: Figures) -> tuple[str | float, ...]:
    return (
        name,
        round(100 * figures.answered / figures.searches, 2),
        round(100 * figures.found / figures.searches, 2),
        *(round(value) for value in figures.quantiles),
        round(figures.per_query, 3),
        figures.refused,
        *figures.most.values(),
        len(figures.over_budget),
        figures.asked,
        round(100 * figures.busiest, 1),
    )


if __name__ == "__main__":
    main()

"""What a pool of instances comes to under several ways of choosing, in virtual time.

    python -m benchmarks.pool_simulation [--json] [--quick] [--seed N]

The instances are drawn from the bundled list; `docs/decisions/benchmarks.md` says what is simulated and what
is not. Same seed, same figures.
"""

import statistics

from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.simulation import crowd, own, thirty_days
from benchmarks.simulation.checks import check
from benchmarks.simulation.run import Tally
from benchmarks.simulation.thirty_days import Greedy, Month

SEED = 1

_CROWD_NOTES = (
    "Of 100 calls: refused broke a limiter's windows; unwelcome were refused with all windows kept, by",
    "instances whose fault is to refuse everything; hasty came faster than our budgets allow.",
    "even: entropy of the calls over the working instances, 1 if all got the same; most: the largest",
    "share of them that one got in any pool.",
)
_COLLECTION_NOTES = (
    "Searches are drawn from the labelled ones; one is answered by collections if an engine that is asked",
    "has a document for it. refused: requests faster than operators are said to allow.",
)
_MONTH_NOTES = (
    "An instance takes 3 searches in 30 days from one address; a search beyond them is refused.",
    "greedy: without the account that spreads them over the month.",
)


def main() -> None:
    """Simulate and report."""
    options = command_line("Ways of choosing instances, in virtual time.", seed=SEED)
    check(options.seed)
    # 500 searches cannot tell 99.9 from 99.5: one more unanswered one is 0.2.
    pools, searches, days, success = (1, 500, 10, 99.0) if options.quick else (10, 1_000, 30, 99.9)
    tallies = crowd.compare(pools=pools, searches=searches, seed=options.seed)
    targets = _crowd_targets(tallies[crowd.OURS], success)
    tables = [_crowd_table(tallies, pools, searches)]
    greedy: list[Month] = []
    if not options.quick:
        greedy = [
            thirty_days.simulate(asked=asked, days=days, seed=options.seed, state=Greedy())
            for asked in thirty_days.DEMANDS
        ]
        pair, ratios = own.compare(triples=10, searches=1_000, seed=options.seed)
        targets.append(_own_target(*pair))
        tables.append(_own_table(*pair, ratios))
    months = [
        thirty_days.simulate(asked=asked, days=days, seed=options.seed)
        for asked in thirty_days.DEMANDS
    ]
    blended = [
        thirty_days.simulate(asked=asked, days=days, seed=options.seed, with_collections=True)
        for asked in thirty_days.DEMANDS
    ]
    targets += _month_targets(months)
    targets += _collection_targets(blended)
    tables.append(_month_table(months, greedy, days))
    tables.append(_collection_table(months, blended, days))
    report(targets, as_json=options.json, tables=tables)


def _crowd_targets(ours: Tally, success: float) -> list[Ratio]:
    return [
        Ratio("pool: success, %", 100 * ours.success, success, at_least=True),
        Ratio("pool: refused calls", ours.refused, 0, at_least=False),
        Ratio("pool: hasty calls", ours.hasty, 0, at_least=False),
        Ratio("pool: calls per query", ours.calls_per_query, 1.35, at_least=False),
    ]


def _month_targets(months: list[Month]) -> list[Ratio]:
    targets = []
    for month in months:
        name = f"month, {month.asked} a day"
        targets += [
            Ratio(f"{name}: refused calls", month.refused, 0, at_least=False),
            Ratio(f"{name}: held back, %", 100 * month.held_back, 20, at_least=True),
        ]
    return targets


def _collection_targets(months: list[Month]) -> list[Ratio]:
    targets = []
    for month in months:
        name = f"month with open sources, {month.asked} a day"
        targets += [
            Ratio(f"{name}: refused calls", month.refused, 0, at_least=False),
            Ratio(f"{name}: refused requests", month.refused_requests, 0, at_least=False),
        ]
    return targets


def _crowd_table(tallies: dict[str, Tally], pools: int, searches: int) -> Table:
    columns = ("policy", "success %", "p50 s", "p95 s", "p99 s", "calls/query")
    return Table(
        f"{pools} pools of {crowd.HOSTS} instances, {crowd.FAULTY} faulty, {searches} searches each, "
        f"{crowd.DEMAND:.0%} of the budgets",
        (*columns, "refused", "unwelcome", "hasty", "even", "most"),
        tuple(_crowd_row(name, tally) for name, tally in tallies.items()),
        _CROWD_NOTES,
    )


def _crowd_row(name: str, tally: Tally) -> tuple[str | float, ...]:
    return (
        name,
        round(100 * tally.success, 2),
        *(round(tally.quantile(share), 2) for share in (0.5, 0.95, 0.99)),
        round(tally.calls_per_query, 3),
        *(
            round(100 * count / tally.calls, 2)
            for count in (tally.refused, tally.unwelcome, tally.hasty)
        ),
        round(tally.evenness, 2),
        round(tally.largest, 2),
    )


def _own_target(well: Tally, hung: Tally) -> Ratio:
    ratio = hung.quantile(0.99) / well.quantile(0.99)
    return Ratio("own: p99, one of three hung / all well", ratio, 2, at_least=False)


def _own_table(well: Tally, hung: Tally, ratios: list[float]) -> Table:
    rows: list[tuple[str | float, ...]] = [
        (
            name,
            round(100 * tally.success, 2),
            *(round(tally.quantile(share), 2) for share in (0.5, 0.95, 0.99)),
            round(tally.calls_per_query, 3),
        )
        for name, tally in (("all well", well), ("one hung", hung))
    ]
    median, worst = statistics.median(ratios), ratios[-1]
    return Table(
        f"{len(ratios)} triples of own instances, {well.searches // len(ratios)} searches each",
        ("instances", "success %", "p50 s", "p95 s", "p99 s", "calls/query"),
        tuple(rows),
        (f"p99 one hung / all well, by triple: median {median:.2f}, worst {worst:.2f}.",),
    )


def _month_table(months: list[Month], greedy: list[Month], days: int) -> Table:
    named = [("paced", month) for month in months] + [("greedy", month) for month in greedy]
    rows = tuple(
        (
            f"{name}, {month.asked}",
            sum(month.a_day),
            min(month.a_day),
            month.median,
            round(month.mean, 1),
            month.calls,
            month.refused,
            round(100 * month.held_back, 1),
        )
        for name, month in named
    )
    columns = (
        "asked a day",
        "answered",
        "min",
        "median",
        "mean",
        "calls",
        "refused",
        "held back %",
    )
    capacity = months[0].capacity
    title = f"{days} days from one address, {capacity // 3} instances that take {capacity} searches"
    return Table(title, columns, rows, _MONTH_NOTES)


def _collection_table(months: list[Month], blended: list[Month], days: int) -> Table:
    rows = tuple(
        (
            f"{alone.asked}",
            sum(alone.a_day),
            round(alone.mean, 1),
            sum(both.a_day),
            min(both.a_day),
            round(both.mean, 1),
            round(100 * sum(both.a_day) / (both.asked * days), 1),
            both.from_collections,
            both.requests,
            both.refused_requests,
        )
        for alone, both in zip(months, blended, strict=True)
    )
    columns = (
        "asked a day",
        "pool alone",
        "a day",
        "with open sources",
        "least a day",
        "mean a day",
        "answered %",
        "by collections",
        "requests to them",
        "refused",
    )
    return Table(
        f"{days} days with open sources when no instance can serve",
        columns,
        rows,
        _COLLECTION_NOTES,
    )


if __name__ == "__main__":
    main()

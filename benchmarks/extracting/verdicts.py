"""What the results are held against, and the tables they are shown in."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.extracting.candidates import OURS, TRAFILATURA_MARKDOWN, UNCAPTIONED
from benchmarks.extracting.floors import (
    by_kind,
    by_language,
    examine,
    headings_kept,
    load_floors,
    means,
)
from benchmarks.extracting.headings import share_of_all, share_of_kept
from benchmarks.extracting.results import Results
from benchmarks.measure import Ratio, Table

_BEHIND: Final = 0.01
"""How far behind the best peer of each set we may be."""

_FASTER: Final = 3.0
"""How many times as fast as trafilatura's Markdown we must be."""

_GOALS: Final[Mapping[str, float]] = {
    "wcxb-dev": 0.868,
    "wcxb-test": 0.902,
    "article-extraction": 0.965,
    "trafilatura": 0.92,
}
"""F1 with the settings that everyone has."""

_GOAL_MILLISECONDS: Final = 8.0
_GOAL_HEADINGS: Final = 0.99
"""Of the headings of our own pages, and of those whose section is kept on the pages of others."""


_TYPED: Final = ("ContentError: ", "SkeletonError: ")
"""What we may say of a page without text; whatever else is raised is a fault of ours."""


def accepted(found: Sequence[Results]) -> list[Ratio]:
    """Hold each set against the best peer there, and the time against trafilatura's Markdown."""
    ratios = []
    for results in found:
        faults = sum(
            count for error, count in results.failures[OURS].items() if not error.startswith(_TYPED)
        )
        ratios.append(Ratio(f"{results.pages.name}: our faults", faults, 0, at_least=False))
        scores = {name: results.score(name).f1 for name in results.texts}
        ours = scores.pop(OURS)
        scores.pop(UNCAPTIONED)
        if scores:
            best = max(scores, key=lambda name: scores[name])
            title = f"{results.pages.name}: F1 over {best}'s"
            ratios.append(Ratio(title, ours - scores[best], -_BEHIND, at_least=True))
        if results.seconds.get(TRAFILATURA_MARKDOWN):
            faster = results.milliseconds(TRAFILATURA_MARKDOWN) / results.milliseconds(OURS)
            title = f"{results.pages.name}: time of {TRAFILATURA_MARKDOWN} / ours"
            ratios.append(Ratio(title, faster, _FASTER, at_least=True))
    return ratios


def goals(found: Sequence[Results]) -> list[Table]:
    """Say which of the goals are met; they decide nothing."""
    rows: list[tuple[str | float, ...]] = []
    for results in found:
        if goal := _GOALS.get(results.pages.name):
            value = results.score(OURS).f1
            title = f"{results.pages.name}: F1"
            rows.append((title, _rounded(value), goal, _met(value >= goal)))
        if reached := results.reached(OURS):
            value = share_of_kept(reached)
            title = f"{results.pages.name}: headings of sections that are kept"
            rows.append((title, _rounded(value), _GOAL_HEADINGS, _met(value >= _GOAL_HEADINGS)))
    times = [each for results in found for each in results.seconds[OURS]]
    if times:
        mean = 1_000 * statistics.fmean(times)
        met = _met(mean <= _GOAL_MILLISECONDS)
        rows.append(("ms of a page, mean over all sets", round(mean, 2), _GOAL_MILLISECONDS, met))
    return [Table("Goals", ("goal", "value", "target", ""), tuple(rows))] if rows else []


def overview(results: Results) -> Table:
    """Give the scores and times of all candidates on one set, by group where it has several.

    `kept h` and `all h` are shares of headings, as `headings` counts them, of who writes Markdown.
    """
    groups = results.groups if len(results.groups) > 1 else []
    total = len(results.pages.pages)
    is_mixed = 0 < results.new < total
    rows = []
    for name in results.texts:
        score = results.score(name)
        row: list[str | float] = [name, *map(_rounded, (score.f1, score.precision, score.recall))]
        row += [_rounded(results.score(name, is_new=True).f1)] if is_mixed else []
        row += _headings(results, name)
        row += [_rounded(results.score(name, group=group).f1) for group in groups]
        row += _timing(results, name)
        row.append(results.failures[name].total())
        rows.append(tuple(row))
    new = ("F1 new",) if is_mixed else ()
    kinds = tuple(group[:7] for group in groups)
    columns = ("candidate", "F1", "P", "R", *new, "kept h", "all h", *kinds)
    notes = [
        f"held out are {results.new} pages (`F1 new`): the others are byte for byte in the dev split"
        for _ in new
    ]
    notes += [
        f"{name} failed on {count}: {error}"
        for name, failures in results.failures.items()
        for error, count in failures.most_common(3)
    ]
    title = f"{results.pages.name}, {total} pages"
    timing = ("ms mean", "p50", "p95")
    return Table(title, (*columns, *timing, "failed"), tuple(rows), tuple(notes))


def worst(results: Results, count: int) -> Table:
    """List the pages of a set on which we are furthest from the gold."""
    pages = zip(results.pages.pages, results.texts[OURS], strict=True)
    scored = [(results.pages.score([(page.gold, text)]), page) for page, text in pages]
    scored.sort(key=lambda pair: pair[0].f1)
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (
            page.name,
            page.group,
            _rounded(score.f1),
            _rounded(score.precision),
            _rounded(score.recall),
            page.url,
        )
        for score, page in scored[:count]
    )
    columns = ("page", "group", "F1", "P", "R", "address")
    return Table(f"{results.pages.name}, the {count} worst pages", columns, rows)


def floors_kept() -> tuple[list[Ratio], list[Table]]:
    """Hold our text of our own pages against the floors pinned for them."""
    floors = load_floors()
    examined = [examine(page) for page in floors.pages]
    rows = tuple(
        (each.page.name, each.page.kind, each.page.language, _rounded(each.f1), each.page.floor)
        for each in examined
    )
    notes = tuple(f"{each.page.name}: {failure}" for each in examined for failure in each.failures)
    below = sum(each.f1 < each.page.floor for each in examined)
    new = sum(failure not in each.page.known for each in examined for failure in each.failures)
    ratios = [
        Ratio("pages below their floor", below, 0, at_least=False),
        Ratio("failures that are not known", new, 0, at_least=False),
        Ratio(
            "headings that stand",
            headings_kept(examined),
            _GOAL_HEADINGS,
            at_least=True,
        ),
    ]
    for floor_of, found in (
        (floors.kinds, means(examined, by_kind)),
        (floors.languages, means(examined, by_language)),
    ):
        ratios += [
            Ratio(f"{name}: F1", value, floor_of.get(name, 0.0), at_least=True)
            for name, value in found.items()
        ]
    columns = ("page", "kind", "language", "F1", "floor")
    return ratios, [Table(f"{len(examined)} pages of our own", columns, rows, notes)]


def _headings(results: Results, name: str) -> list[str | float]:
    reached = results.reached(name) if any(results.headings[name]) else []
    if not reached:
        return ["", ""]
    return [_rounded(share_of_kept(reached)), _rounded(share_of_all(reached))]


def _timing(results: Results, name: str) -> list[str | float]:
    times = sorted(1_000 * each for each in results.seconds[name])
    if not times:
        return ["", "", ""]
    last = times[min(len(times) - 1, round(0.95 * len(times)))]
    return [round(each, 2) for each in (statistics.fmean(times), statistics.median(times), last)]


def _rounded(value: float) -> float:
    return round(value, 4)


def _met(is_met: bool) -> str:  # noqa: FBT001 - what it says
    return "met" if is_met else "missed"

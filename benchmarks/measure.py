"""Interleaved timing and the common command line of all benchmarks."""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from typing_extensions import override


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measured ratio and what it must keep to.

    Attributes:
        name: what is compared.
        value: the median over the rounds.
        limit: the number it is held against.
        at_least: whether the value must reach the limit; else it must not pass it.
    """

    name: str
    value: float
    limit: float
    at_least: bool

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True, slots=True)
class Table:
    """Figures beside the targets.

    Attributes:
        title: what it shows.
        columns: their names.
        rows: the cells, as they are to be read; numbers keep their type in JSON.
        notes: sentences below it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    notes: tuple[str, ...] = ()

    @override
    def __str__(self) -> str:
        """The table as aligned text."""
        lines = [self.columns, *[tuple(map(_shown, row)) for row in self.rows]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                cell.rjust(width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *shown, *self.notes, ""])


def _shown(cell: str | float) -> str:
    return cell if isinstance(cell, str) else f"{cell:.5g}"


def interleaved(
    works: Mapping[str, Callable[[], object]], *, rounds: int, calls: int
) -> dict[str, float]:
    """The median seconds of one call of each work.

    The works take turns in every round, so that a busy moment of the machine hits all of them.

    Args:
        works: what to time, by name.
        rounds: how many times each work is timed.
        calls: calls in one timing.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            started = time.perf_counter()
            for _ in range(calls):
                work()
            times[name].append((time.perf_counter() - started) / calls)
    return {name: statistics.median(values) for name, values in times.items()}


def command_line(
    description: str,
    *,
    seed: int | None = None,
    texts: Mapping[str, str] | None = None,
    repeated: Mapping[str, str] | None = None,
    arguments: Sequence[str] | None = None,
) -> argparse.Namespace:
    """The options every benchmark has: `--json`, and `--quick` for what needs no clock.

    Args:
        description: what the benchmark measures.
        seed: the default of `--seed`, which only benchmarks with dice have.
        texts: further options that take a text, with what they mean.
        repeated: further ones that may be given several times, likewise.
        arguments: in place of those of the process.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="check counts only, time nothing")
    if seed is not None:
        parser.add_argument("--seed", type=int, default=seed, help="of all dice (%(default)s)")
    for name, meaning in (texts or {}).items():
        parser.add_argument(name, help=meaning)
    for name, meaning in (repeated or {}).items():
        parser.add_argument(name, action="append", default=[], help=meaning)
    return parser.parse_args(arguments)


def report(ratios: Sequence[Ratio], *, as_json: bool, tables: Sequence[Table] = ()) -> None:
    """Print tables and ratios, and exit with 1 if a target is missed."""
    targets = [{**asdict(ratio), "holds": ratio.holds} for ratio in ratios]
    if as_json and tables:
        found = [
            {
                "title": table.title,
                "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                "notes": table.notes,
            }
            for table in tables
        ]
        print(json.dumps({"targets": targets, "tables": found}, indent=2))
    elif as_json:
        print(json.dumps(targets, indent=2))
    else:
        for table in tables:
            print(table)
        for ratio in ratios:
            sign = ">=" if ratio.at_least else "<="
            verdict = "ok" if ratio.holds else "MISSED"
            print(f"{ratio.name}: {ratio.value:.5g} (target {sign} {ratio.limit:g}) {verdict}")
    sys.exit(0 if all(ratio.holds for ratio in ratios) else 1)

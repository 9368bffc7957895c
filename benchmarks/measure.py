"""Interleaved timing and the common command line of all benchmarks."""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass


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


def command_line(description: str) -> argparse.Namespace:
    """The options every benchmark has: `--json`, and `--quick` for what needs no clock."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="check counts only, time nothing")
    return parser.parse_args()


def report(ratios: Sequence[Ratio], *, as_json: bool) -> None:
    """Print the ratios and exit with 1 if a target is missed."""
    if as_json:
        print(json.dumps([{**asdict(ratio), "holds": ratio.holds} for ratio in ratios], indent=2))
    else:
        for ratio in ratios:
            sign = ">=" if ratio.at_least else "<="
            verdict = "ok" if ratio.holds else "MISSED"
            print(f"{ratio.name}: {ratio.value:.2f} (target {sign} {ratio.limit:g}) {verdict}")
    sys.exit(0 if all(ratio.holds for ratio in ratios) else 1)

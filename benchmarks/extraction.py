"""How much of a page's content is found, how little else, and how fast.

    python -m benchmarks.extraction PATH [PATH...] [--split dev|test|all] [--peers A,B|none]
        [--sample N] [--rounds N] [--worst N] [--json] [--quick]

Each PATH is the folder of an annotated set: WCXB, article-extraction-benchmark, trafilatura, or our own
`tests/floors`. Every candidate reads every page in turn; `docs/decisions/benchmarks.md` says what it shows. With
`--quick` only we read our own pages, without a clock, and are held against their floors.
"""

import argparse
from typing import Final

from benchmarks.extracting.command import chosen_sets, set_options
from benchmarks.extracting.results import measured
from benchmarks.extracting.verdicts import accepted, floors_kept, goals, overview, worst
from benchmarks.measure import report

_ROUNDS: Final = 3


def main() -> None:
    """Measure and report."""
    options = _options()
    if options.quick:
        targets, tables = floors_kept()
        report(targets, as_json=options.json, tables=tables)
    candidates, sets = chosen_sets(options)
    found = [measured(each, candidates, rounds=options.rounds) for each in sets]
    tables = [overview(results) for results in found]
    if options.worst:
        tables += [worst(results, options.worst) for results in found]
    report(accepted(found), as_json=options.json, tables=[*tables, *goals(found)])


def _options() -> argparse.Namespace:
    parser = set_options(
        __doc__ or "", sample=None, rounds=_ROUNDS, quick="our own pages, time nothing"
    )
    parser.add_argument("--worst", type=int, default=0, help="list the pages we are worst at")
    return parser.parse_args()


if __name__ == "__main__":
    main()

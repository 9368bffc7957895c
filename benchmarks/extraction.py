"""How much of a page's content is found, how little else, and how fast.

    python -m benchmarks.extraction PATH [PATH...] [--split dev|test|all] [--peers A,B|none]
        [--sample N] [--rounds N] [--worst N] [--json] [--quick]

Each PATH is the folder of an annotated set: WCXB, article-extraction-benchmark, trafilatura, or our own
`tests/floors`. Every candidate reads every page in turn; `docs/decisions/benchmarks.md` says what it shows. With
`--quick` only we read our own pages, without a clock, and are held against their floors.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from benchmarks.extracting.candidates import Candidate, chosen
from benchmarks.extracting.results import measured
from benchmarks.extracting.sets import PageSet, page_sets
from benchmarks.extracting.verdicts import accepted, floors_kept, goals, overview, worst
from benchmarks.measure import report

_ROUNDS: Final = 3


def main() -> None:
    """Measure and report."""
    options = _options()
    if options.quick:
        targets, tables = floors_kept()
        report(targets, as_json=options.json, tables=tables)
    if not options.paths:
        sys.exit("Which sets? Name their folders, or use --quick.")
    candidates, sets = _chosen(options)
    found = [measured(each, candidates, rounds=options.rounds) for each in sets]
    tables = [overview(results) for results in found]
    if options.worst:
        tables += [worst(results, options.worst) for results in found]
    report(accepted(found), as_json=options.json, tables=[*tables, *goals(found)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="the folder of a set")
    parser.add_argument("--split", choices=("dev", "test", "all"), default="all", help="of WCXB")
    parser.add_argument(
        "--peers", help="parts of names, with commas; none for none (all that are installed)"
    )
    parser.add_argument("--sample", type=int, help="about this many pages of each set (all)")
    parser.add_argument(
        "--rounds", type=int, default=_ROUNDS, help="of timed pages; 0 times nothing (%(default)s)"
    )
    parser.add_argument("--worst", type=int, default=0, help="list the pages we are worst at")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="our own pages, time nothing")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> tuple[list[Candidate], list[PageSet]]:
    try:
        candidates = chosen(options.peers)
        sets = [each for path in options.paths for each in page_sets(path, split=options.split)]
    except ValueError as error:
        sys.exit(str(error))
    return candidates, [each.sample(options.sample) for each in sets] if options.sample else sets


if __name__ == "__main__":
    main()

"""The options of the benchmarks that read annotated sets, and what they choose."""

import argparse
import sys
from pathlib import Path

from benchmarks.extracting.candidates import Candidate, chosen
from benchmarks.extracting.sets import PageSet, page_sets


def set_options(
    description: str, *, sample: int | None, rounds: int, quick: str
) -> argparse.ArgumentParser:
    """A parser with the options that all of them have.

    Args:
        description: the docstring of the benchmark; its first line is shown.
        sample: about how many pages of each set are read; all if it is `None`.
        rounds: how often a page is timed.
        quick: what `--quick` does.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="the folder of a set")
    parser.add_argument("--split", choices=("dev", "test", "all"), default="all", help="of WCXB")
    parser.add_argument(
        "--peers", help="parts of names, with commas; none for none (all that are installed)"
    )
    parser.add_argument(
        "--sample", type=int, default=sample, help="about this many pages of each set (%(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=rounds, help="how often each page is timed (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def chosen_sets(options: argparse.Namespace) -> tuple[list[Candidate], list[PageSet]]:
    """Who reads what; ends the process with a message if a folder or a name is wrong."""
    if not options.paths:
        sys.exit("Which sets? Name their folders, or use --quick.")
    try:
        candidates = chosen(options.peers)
        sets = [each for path in options.paths for each in page_sets(path, split=options.split)]
    except ValueError as error:
        sys.exit(str(error))
    return candidates, [each.sample(options.sample) for each in sets] if options.sample else sets

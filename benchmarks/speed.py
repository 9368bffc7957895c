"""How long a page takes to become Markdown, beside every peer that is installed, and what part of it styles take.

    python -m benchmarks.speed PATH [PATH...] [--split dev|test|all] [--peers A,B|none] [--sample N] [--rounds N]
        [--json] [--quick]

Each PATH is the folder of an annotated set, as for `benchmarks.extraction`. All read each page in turn, in one process
that is told nothing but time of the processor. With `--quick`, calls of functions on our own pages are counted
instead, without a clock. `docs/decisions/benchmarks.md` says what it shows.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Final

from benchmarks.extracting.candidates import (
    OURS,
    TRAFILATURA_MARKDOWN,
    UNCAPTIONED,
    Candidate,
)
from benchmarks.extracting.command import chosen_sets, set_options
from benchmarks.extracting.floors import FOLDER, load_floors
from benchmarks.extracting.reader import Reader
from benchmarks.extracting.sets import AnnotatedPage, PageSet
from benchmarks.measure import Ratio, Table, report
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.decode import decode
from searx_mcp.content.html.guards import guard, parse
from searx_mcp.content.html.hidden_elements import drop_hidden, drop_unseen, style_sheet
from searx_mcp.content.tree import Removals

_ROUNDS: Final = 3
_SAMPLE: Final = 40
"""Pages of a set; they take trafilatura 2 s a round."""

_GOAL: Final = 0.30
"""Our time over that of trafilatura's Markdown."""

_STYLES: Final = 0.08
"""Share of the time that hidden text may take."""

_MOST_CALLS: Final = 30.0
"""Calls of Python functions for each element of our own pages; 27.6 when it was set."""

_CONFIG: Final = ContentConfig()


def main() -> None:
    """Measure and report."""
    options = set_options(
        __doc__ or "", sample=_SAMPLE, rounds=_ROUNDS, quick="count calls, time nothing"
    ).parse_args()
    if options.quick:
        report([_calls()], as_json=options.json)
    candidates, sets = chosen_sets(options)
    candidates = [each for each in candidates if each.name != UNCAPTIONED]
    targets: list[Ratio] = []
    rows: list[tuple[str | float, ...]] = []
    for pages in sets:
        found = _measured(pages, candidates, options.rounds)
        targets += found[0]
        rows += found[1]
    table = Table(
        "Time of the processor, medians of the rounds",
        (
            "set",
            "who",
            "pages",
            "mean ms",
            "median ms",
            "ours / theirs, sums",
            "the same, median page",
        ),
        tuple(rows),
    )
    report(targets, as_json=options.json, tables=(table,))


def _measured(
    pages: PageSet, candidates: Iterable[Candidate], rounds: int
) -> tuple[list[Ratio], list[tuple[str | float, ...]]]:
    """Time the pages of a set; one on which anyone fails counts for nobody."""
    seconds: dict[str, list[float]] = {each.name: [] for each in candidates}
    styles: list[float] = []
    whole: list[float] = []
    with Reader() as reader:
        for page in pages.pages:
            found = _page(reader, page, list(candidates), rounds)
            if found is None:
                continue
            for name, one in found.items():
                seconds[name].append(one)
            hidden, all_of_it = _shares(page, rounds)
            styles.append(hidden)
            whole.append(all_of_it)
    if not whole:
        sys.exit(f"{pages.name}: no page was read by everyone")
    ours = seconds[OURS]
    rows: list[tuple[str | float, ...]] = []
    for name, taken in seconds.items():
        each = [mine / other for mine, other in zip(ours, taken, strict=True) if other]
        ratios = round(sum(ours) / sum(taken), 3), round(statistics.median(each), 3)
        means = 1_000 * statistics.fmean(taken), 1_000 * statistics.median(taken)
        rows.append((pages.name, name, len(taken), round(means[0], 1), round(means[1], 1), *ratios))
    share = sum(styles) / sum(whole)
    targets = [Ratio(f"{pages.name}: share of styles", share, _STYLES, at_least=False)]
    if TRAFILATURA_MARKDOWN in seconds:
        value = sum(ours) / sum(seconds[TRAFILATURA_MARKDOWN])
        title = f"{pages.name}: our time / {TRAFILATURA_MARKDOWN}"
        targets.append(Ratio(title, value, _GOAL, at_least=False))
    return targets, rows


def _page(
    reader: Reader, page: AnnotatedPage, candidates: list[Candidate], rounds: int
) -> dict[str, float] | None:
    """The median seconds of each candidate; `None` if one of them fails."""
    body = page.read()
    taken: dict[str, list[float]] = {each.name: [] for each in candidates}
    for number in range(rounds):
        # Whoever comes first finds a cold cache.
        for candidate in candidates if number % 2 == 0 else reversed(candidates):
            found = reader.read(candidate, body, page.url)
            if found.error:
                return None
            taken[candidate.name].append(found.seconds)
    return {name: statistics.median(each) for name, each in taken.items()}


def _shares(page: AnnotatedPage, rounds: int) -> tuple[float, float]:
    """The median seconds of hiding by style, and of the whole conversion."""
    body = page.read()
    html = guard(decode(body, charset=None)[0])
    styles: list[float] = []
    for _ in range(rounds):
        tree, removals = parse(html), Removals()
        began = time.process_time()
        sheet = style_sheet(tree)
        taken = time.process_time() - began
        drop_unseen(tree, removals)
        began = time.process_time()
        drop_hidden(tree, sheet, removals)
        styles.append(taken + time.process_time() - began)
    whole = [_timed(lambda: _convert(body, page.url)) for _ in range(rounds)]
    return statistics.median(styles), statistics.median(whole)


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _convert(body: bytes, url: str) -> None:
    convert(body, media_type="text/html", charset=None, url=url, config=_CONFIG)


def _calls() -> Ratio:
    """Count the calls of Python functions on our own pages, which no other work on the machine changes."""
    calls = elements = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    for page in load_floors().pages:
        body = (FOLDER / page.file).read_bytes()
        elements += len(parse(guard(decode(body, charset=None)[0])).css("*"))
        _convert(body, page.url)  # what is read once is kept
        sys.setprofile(count)
        try:
            _convert(body, page.url)
        finally:
            sys.setprofile(None)
    title = f"calls of functions an element, {elements:,} elements of our own pages"
    return Ratio(title, calls / elements, _MOST_CALLS, at_least=False)


if __name__ == "__main__":
    main()

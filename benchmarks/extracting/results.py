"""What every candidate made of every page of a set, read in turn."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.extracting.candidates import Candidate
from benchmarks.extracting.headings import Reach, reach
from benchmarks.extracting.reader import Found, Reader
from benchmarks.extracting.scores import Score
from benchmarks.extracting.sets import AnnotatedPage, PageSet

_TIMED: Final = 150
"""Pages of a set that are timed, evenly spread; the others are read once, for their score alone."""


@dataclass(frozen=True, slots=True)
class Results:
    """What candidates made of the pages of a set.

    Attributes:
        pages: the set.
        texts: by candidate, what it found on each page, in order.
        seconds: by candidate, of each timed page, the best of the rounds; empty if nothing was timed.
        failures: by candidate, how often it failed and why.
        headings: by candidate, those of the Markdown of each page, in order.
    """

    pages: PageSet
    texts: Mapping[str, Sequence[str]]
    seconds: Mapping[str, Sequence[float]]
    failures: Mapping[str, Counter[str]]
    headings: Mapping[str, Sequence[tuple[str, ...]]]

    def score(self, name: str, *, group: str | None = None, is_new: bool = False) -> Score:
        """Score one candidate in the set's way.

        Args:
            name: of the candidate.
            group: of pages; all by default.
            is_new: whether only pages count that the split on which rules are made does not have.
        """
        pairs = [
            (page.gold, text)
            for page, text in zip(self.pages.pages, self.texts[name], strict=True)
            if (group is None or page.group == group) and not (is_new and page.is_known)
        ]
        return self.pages.score(pairs)

    def reached(self, name: str) -> list[Reach]:
        """Follow the headings of the pages that have a gold text, for one candidate."""
        pages = zip(self.pages.pages, self.texts[name], self.headings[name], strict=True)
        return [
            reach(page.read(), page.gold.text, text, headings)
            for page, text, headings in pages
            if page.gold.text
        ]

    @property
    def new(self) -> int:
        """Pages that the split on which rules are made does not have."""
        return sum(not page.is_known for page in self.pages.pages)

    @property
    def groups(self) -> list[str]:
        """The groups of the set, by their size."""
        return [
            group for group, _ in Counter(page.group for page in self.pages.pages).most_common()
        ]

    def milliseconds(self, name: str) -> float:
        """Give the mean time that a candidate takes of the processor for a page."""
        return 1_000 * statistics.fmean(self.seconds[name])


def measured(pages: PageSet, candidates: Sequence[Candidate], *, rounds: int) -> Results:
    """Let every candidate read every page: each page by all of them before the next.

    Args:
        pages: the set.
        candidates: who reads.
        rounds: how often a timed page is read; 0 times nothing.
    """
    found: dict[str, list[Found]] = {candidate.name: [] for candidate in candidates}
    seconds: dict[str, list[float]] = {candidate.name: [] for candidate in candidates}
    step = max(1, len(pages.pages) // _TIMED)
    with Reader() as reader:
        for number, page in enumerate(pages.pages):
            is_timed = rounds > 0 and number % step == 0
            for name, runs in _read(reader, page, candidates, rounds if is_timed else 1).items():
                found[name].append(runs[0])
                if is_timed:
                    seconds[name].append(min(run.seconds for run in runs))
    return Results(
        pages,
        {name: [each.text for each in runs] for name, runs in found.items()},
        seconds,
        {name: Counter(each.error for each in runs if each.error) for name, runs in found.items()},
        {name: [each.headings for each in runs] for name, runs in found.items()},
    )


def _read(
    reader: Reader, page: AnnotatedPage, candidates: Sequence[Candidate], rounds: int
) -> dict[str, list[Found]]:
    body = page.read()
    runs: dict[str, list[Found]] = {candidate.name: [] for candidate in candidates}
    for _ in range(rounds):
        for candidate in candidates:
            # Who failed once is not asked again: 30 s are enough.
            if not any(run.error for run in runs[candidate.name]):
                runs[candidate.name].append(reader.read(candidate, body, page.url))
    return runs

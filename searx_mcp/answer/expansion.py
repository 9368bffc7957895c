"""Reading on: from the pages of a call along their links, for as long as that helps."""

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from searx_mcp.answer.links import ScoredLink, is_promising, score_links
from searx_mcp.corpus.corpus import Corpus
from searx_mcp.corpus.ingestion import Ingested
from searx_mcp.corpus.retrieval import Hit
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.evidence import PROTECTED, ExpansionStep
from searx_mcp.models.service import Progress

RETRIEVED: Final = 30
"""Chunks retrieved for each part of a question."""
_BEST: Final = 3
"""Chunks of each part whose scores tell how well the question is answered."""
_GAIN: Final = 0.01
"""Less than this is no improvement."""
_PATIENCE: Final = 2
"""Rounds without an improvement after which nothing more is read: the answer may be two links away."""
_COVERED: Final = 0.35
"""Score from which on a part counts as answered, unless marked as low confidence: of the labelled questions of
`benchmarks/passages_data`, the passage that answers has 0.15 to 0.52."""
_AT_ONCE: Final = 4
"""Pages of one round."""
_RESERVE: Final = 2.0
"""Seconds that are kept for putting the answer together."""

PLATEAU: Final = "score plateau — further pages brought no better passage"
OFF: Final = "no expansion was asked for"
SPENT: Final = "expansion budget exhausted"
DEEP: Final = "maximum depth reached"
NO_LINKS: Final = "no promising links left"
COVERED: Final = "every part of the question is answered"
OUT_OF_TIME: Final = "time ran out"


@dataclass(slots=True)
class Gathering:
    """What a call has read and found so far.

    Attributes:
        questions: the parts of the question.
        pages: what became of each page that was read, by address, in order.
        found: the hits of each part, best first.
        steps: pages in the order in which they were read, or failed.
        evaluated: chunks that were scored last.
        notes: sentences a caller should know.
        errors: of the pages that could not be read, in order.
        stop_reason: why no more pages were read; empty until then.
    """

    questions: tuple[str, ...]
    pages: dict[str, Ingested] = field(default_factory=dict)
    found: dict[str, tuple[Hit, ...]] = field(default_factory=dict)
    steps: list[ExpansionStep] = field(default_factory=list)
    evaluated: int = 0
    notes: list[str] = field(default_factory=list)
    errors: list[SearxMcpError] = field(default_factory=list)
    stop_reason: str = ""

    @property
    def depth(self) -> int:
        """Links away from the named pages, of the farthest page."""
        return max((step.depth for step in self.steps), default=0)

    def score(self, urls: Sequence[str]) -> float:
        """How well some pages answer: the mean of the best chunks of each part, 0 to 1."""
        among = set(urls)
        means = []
        for hits in self.found.values():
            best = [hit.score for hit in hits if among & {hit.url, *hit.copies}][:_BEST]
            means.append(sum(best) / _BEST)
        return sum(means) / len(means) if means else 0.0

    def is_covered(self) -> bool:
        """Tell whether every part has a chunk that answers it."""
        return bool(self.found) and all(
            any(hit.score >= _COVERED and not hit.low_confidence for hit in hits[:1])
            for hits in self.found.values()
        )


class Frontier:
    """Links that wait to be followed, each address once."""

    def __init__(self, questions: Sequence[str], *, max_depth: int) -> None:
        """Begin without any.

        Args:
            questions: by which links are scored.
            max_depth: links away from the named pages that are followed at most.
        """
        self._questions = questions
        self._max_depth = max_depth
        self._links: list[tuple[float, int, ScoredLink]] = []
        self._known: set[str] = set()

    def __len__(self) -> int:
        return len(self._links)

    @property
    def is_promising(self) -> bool:
        """Whether the best link shares a word with the question."""
        return bool(self._links) and is_promising(self._links[0][2])

    def add(self, asked: str, done: Ingested, depth: int) -> None:
        """Put in the links of a page.

        Args:
            asked: the address that was asked for.
            done: what became of it.
            depth: of the page.
        """
        self._known |= {asked, done.url}
        if done.page is None or depth >= self._max_depth:
            return
        links = score_links(
            done.page.document.links,
            self._questions,
            parent=done.url,
            depth=depth + 1,
            known=self._known,
        )
        for link in links:
            self._known.add(link.url)
            heapq.heappush(self._links, (-link.score, len(self._known), link))

    def take(self, most: int) -> list[ScoredLink]:
        """Take out the best links."""
        return [heapq.heappop(self._links)[2] for _ in range(min(most, len(self._links)))]


class Expander:
    """Follows links, best first, a few pages at a time."""

    def __init__(self, corpus: Corpus, *, max_depth: int) -> None:
        """Take the parts.

        Args:
            corpus: reads, keeps and searches pages.
            max_depth: links away from the named pages that are followed at most.
        """
        self._corpus = corpus
        self._max_depth = max_depth

    async def gather(
        self,
        gathering: Gathering,
        seeds: Sequence[str],
        *,
        budget: int,
        is_automatic: bool,
        deadline: float | None,
        progress: Progress | None = None,
    ) -> None:
        """Read the named pages, then linked ones until they stop helping; fills `gathering`.

        Args:
            gathering: changed in place, so that whoever is stopped by the clock keeps what there is.
            seeds: addresses of the named pages.
            budget: linked pages that are tried at most.
            is_automatic: whether nothing is read on once the question is answered.
            deadline: the event loop's time by which to return.
            progress: told each step.
        """
        frontier = Frontier(gathering.questions, max_depth=self._max_depth)
        wanted = [ScoredLink(url, "", 0, 1.0) for url in seeds]
        left, idle = budget, 0
        while True:
            before = gathering.score(list(gathering.pages))
            read = await self._read(gathering, wanted, deadline, progress)
            for link, done in zip(wanted, read, strict=True):
                frontier.add(link.url, done, link.depth)
            improved = gathering.score(list(gathering.pages)) > before + _GAIN
            idle = 0 if improved else idle + 1
            gathering.stop_reason = self._reason_to_stop(
                gathering, frontier, left, idle, deadline, is_automatic=is_automatic
            )
            if gathering.stop_reason:
                return
            wanted = frontier.take(min(left, _AT_ONCE))
            left -= len(wanted)
            if progress is not None:
                progress(f"Expanding to linked pages (iteration {budget - left}/{budget})...")

    def _reason_to_stop(
        self,
        gathering: Gathering,
        frontier: Frontier,
        left: int,
        idle: int,
        deadline: float | None,
        *,
        is_automatic: bool,
    ) -> str:
        """Give the first reason why nothing more is read; empty if there is none."""
        patience = _PATIENCE if frontier.is_promising else _PATIENCE - 1
        is_late = deadline is not None and _now() > deadline - _RESERVE
        reasons = (
            (is_automatic and gathering.is_covered(), COVERED),
            (left <= 0, SPENT if gathering.depth else OFF),
            (not frontier and 0 < self._max_depth <= gathering.depth, DEEP),
            (not frontier, NO_LINKS),
            (idle > patience, PLATEAU),
            (is_late, OUT_OF_TIME),
        )
        return next((reason for holds, reason in reasons if holds), "")

    async def _read(
        self,
        gathering: Gathering,
        wanted: Sequence[ScoredLink],
        deadline: float | None,
        progress: Progress | None,
    ) -> list[Ingested]:
        """Read pages side by side, then search all that were read; gives what became of each."""
        read_until = None if deadline is None else deadline - _RESERVE / 2
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    self._corpus.ingest(link.url, deadline=read_until, progress=progress)
                )
                for link in wanted
            ]
        done = [task.result() for task in tasks]
        so_far = list(gathering.pages)
        for each in done:
            if each.page is not None:
                gathering.pages.setdefault(each.url, each)
        await self._search(gathering, deadline, progress)
        for link, each in zip(wanted, done, strict=True):
            before = gathering.score(so_far)
            if each.page is not None:
                so_far.append(each.url)
            elif each.error is not None:
                gathering.errors.append(each.error)
            gathering.steps.append(
                ExpansionStep(
                    url=each.url if each.page is not None else link.url,
                    parent=link.parent,
                    depth=link.depth,
                    chunks_added=len(each.chunks),
                    score_before=round(before, 4),
                    score_after=round(gathering.score(so_far), 4),
                    duration_ms=round(each.duration_ms, 1),
                    failure=_failure(each),
                )
            )
        return done

    async def _search(
        self, gathering: Gathering, deadline: float | None, progress: Progress | None
    ) -> None:
        urls = list(gathering.pages)
        if progress is not None:
            progress(f"Searching {len(urls)} documents...")
        for question in gathering.questions:
            found = await self._corpus.retrieve(
                question, urls=urls, limit=RETRIEVED, deadline=deadline
            )
            gathering.found[question] = found.hits
            gathering.evaluated = found.evaluated
            for note in found.notes:
                if note not in gathering.notes:
                    gathering.notes.append(note)


def _failure(done: Ingested) -> str:
    if done.page is not None:
        return ""
    if done.note == PROTECTED:
        return PROTECTED
    return done.error.code if done.error is not None else "nothing to read"


def _now() -> float:
    return asyncio.get_running_loop().time()

"""What a call has read and found so far, and how long it took."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.corpus.ingestion import Ingested
from searx_mcp.evidence.corpus.retrieval import ChunkHit, Retrieved
from searx_mcp.evidence.values import PROTECTED, ExpansionStep, PartVerdict, Timing

_BEST: Final = 3
"""Chunks per part whose scores measure how well it is answered. Chosen: an answer seldom needs more."""

OUT_OF_TIME: Final = "time ran out"


@dataclass(frozen=True, slots=True)
class ScoredLink:
    """A link that may lead to the answer.

    Attributes:
        url: without its fragment.
        parent: the page that contains it.
        depth: number of links from the pages that the call named.
        score: 0 to 1, higher is better.
        coverage: share of a question in its text and address, 0 to 1.
    """

    url: str
    parent: str
    depth: int
    score: float
    coverage: float = 0.0


@dataclass(slots=True)
class Gathering:
    """What a call has read and found so far.

    Attributes:
        questions: the parts of the question.
        has_sides: whether the parts are the question and its sides.
        named: addresses of the pages that the caller named.
        pages: the result of each page that was read, by address, in order.
        found: the hits of each part, best first.
        steps: pages in the order in which they were read, or failed.
        evaluated: number of chunks in the last scoring.
        notes: sentences for the caller about the pages.
        remarks: sentences for the caller about the hits, by part.
        verdicts: whether each part is answered, by part.
        errors: of the pages that could not be read, in order; a protected page is not an error.
        stop_reason: why no more pages were read; empty until then.
    """

    questions: tuple[str, ...]
    has_sides: bool = False
    named: tuple[str, ...] = ()
    pages: dict[str, Ingested] = field(default_factory=dict)
    found: dict[str, tuple[ChunkHit, ...]] = field(default_factory=dict)
    steps: list[ExpansionStep] = field(default_factory=list)
    evaluated: int = 0
    notes: list[str] = field(default_factory=list)
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    verdicts: dict[str, PartVerdict] = field(default_factory=dict)
    errors: list[SearxMcpError] = field(default_factory=list)
    stop_reason: str = ""

    @property
    def depth(self) -> int:
        """The number of links from the named pages to the farthest page that was read."""
        return max((step.depth for step in self.steps if not step.failure), default=0)

    @property
    def is_protected(self) -> bool:
        """Whether a page was found that is not free to read."""
        return any(step.failure == PROTECTED for step in self.steps)

    @property
    def is_late(self) -> bool:
        """Whether reading stopped for lack of time."""
        return self.stop_reason == OUT_OF_TIME

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text and text not in self.notes:
            self.notes.append(text)

    def add_found(self, question: str, found: Retrieved) -> None:
        """Replace the hits of a part."""
        self.found[question] = found.hits
        self.evaluated = max(self.evaluated, found.evaluated)
        self.remarks[question] = found.notes
        told = found.support
        self.verdicts[question] = PartVerdict(
            query=question,
            answered=told.answered,
            support=round(told.score, 4),
            missing_terms=told.missing,
            section=found.section,
        )

    def add_best(self, question: str, found: Retrieved) -> None:
        """Add a page's hits for a part, if other pages had so many that none of them was found."""
        least = min((hit.score for hit in self.found[question]), default=1.0)
        # A word's weight in one page differs from its weight in all of them.
        self.found[question] += tuple(
            replace(hit, score=min(hit.score, least)) for hit in found.hits
        )

    @property
    def unheard(self) -> tuple[str, ...]:
        """The named pages that were read and have no hits."""
        heard = {
            url for hits in self.found.values() for hit in hits for url in (hit.url, *hit.copies)
        }
        return tuple(url for url in self.named if url in self.pages and url not in heard)

    def add_read(self, links: Sequence[ScoredLink], read: Sequence[Ingested]) -> list[str]:
        """Add pages that were read, or failed; return the addresses of the pages from before."""
        before = list(self.pages)
        for link, done in zip(links, read, strict=True):
            if done.page is not None:
                self.pages.setdefault(done.url, done)
            elif done.error is not None and done.note != PROTECTED:
                self.errors.append(done.error)
            if not link.depth:
                problem = done.note or _failure(done)
                self.note(f"{link.url}: {problem}" if problem else "")
        return before

    def add_steps(
        self, links: Sequence[ScoredLink], read: Sequence[Ingested], before: Sequence[str]
    ) -> None:
        """Record for the pages that were read what each contributed.

        Args:
            links: that were followed.
            read: the result of each.
            before: addresses of the pages from before.
        """
        so_far = list(before)
        for link, done in zip(links, read, strict=True):
            score = self.score(so_far)
            if done.page is not None:
                so_far.append(done.url)
            self.steps.append(
                ExpansionStep(
                    url=link.url if done.page is None else done.url,
                    parent=link.parent,
                    depth=link.depth,
                    chunks_added=len(done.chunks),
                    score_before=round(score, 4),
                    score_after=round(self.score(so_far), 4),
                    duration_ms=round(done.duration_ms, 1),
                    failure=_failure(done),
                )
            )

    def score(self, urls: Sequence[str]) -> float:
        """Score how well some pages answer: the mean of the best chunks of each part, 0 to 1.

        Of chunks with low confidence only the best one counts, or any page would raise the score.
        """
        among = set(urls)
        means = []
        for hits in self.found.values():
            own = [hit for hit in hits if among & {hit.url, *hit.copies}]
            telling = [*own[:1], *(hit for hit in own[1:] if not hit.low_confidence)]
            means.append(sum(hit.score for hit in telling[:_BEST]) / _BEST)
        return sum(means) / len(means) if means else 0.0

    def is_covered(self) -> bool:
        """Return whether every part is answered; for a question with sides, either the whole or all sides."""
        whole, *sides = [verdict.answered for verdict in self.verdicts.values()] or [False]
        return (whole and all(sides)) or (self.has_sides and (whole or all(sides)))

    @property
    def is_refused(self) -> bool:
        """Whether pages were read and no part is answered."""
        return bool(self.verdicts) and not any(each.answered for each in self.verdicts.values())

    def is_answered_by_all(self) -> bool:
        """Return whether every named page has a matching chunk for some part; a single page need not."""
        telling = {
            url
            for hits in self.found.values()
            for hit in hits
            if not hit.low_confidence
            for url in (hit.url, *hit.copies)
        }
        return len(self.named) <= 1 or telling.issuperset(self.named)


class Stopwatch:
    """Adds up the time of each step, from one mark to the next, on the event loop's clock."""

    def __init__(self) -> None:
        """Start now."""
        self._started = self._last = asyncio.get_running_loop().time()
        self._spent: dict[str, float] = {}

    def mark(self, step: str, *, reranking: float = 0.0) -> None:
        """Attribute the time since the last mark to a step.

        Args:
            step: a field of `Timing`.
            reranking: milliseconds of it that count as reranking.
        """
        now = asyncio.get_running_loop().time()
        spent = (now - self._last) * 1_000 - reranking
        self._last = now
        for name, more in ((step, spent), ("reranking", reranking)):
            self._spent[name] = self._spent.get(name, 0.0) + more

    def timing(self) -> Timing:
        """Return the milliseconds of each step, and the total since the start."""
        total = (asyncio.get_running_loop().time() - self._started) * 1_000
        steps = {step: round(spent, 1) for step, spent in self._spent.items()}
        return Timing(total=round(total, 1), **steps)


def _failure(done: Ingested) -> str:
    """Return why a page could not be read; empty if it was read."""
    if done.page is not None:
        return ""
    if done.note == PROTECTED:
        return PROTECTED
    return done.error.code if done.error is not None else "nothing to read"

"""How good an order is: nDCG of the first ten, and whether the first, or one of three, is right."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.retrieving.sets import Case, Collection
from searx_mcp.evidence.corpus.retrieval import ChunkHit

SHOWN: Final = 10
_FEW: Final = 3


@dataclass(frozen=True, slots=True)
class Score:
    """How well one question, or the mean of several, was served; each 0 to 1.

    Attributes:
        ndcg: nDCG@10 (Järvelin and Kekäläinen, "Cumulated gain-based evaluation", 2002).
        first: whether the first is right.
        few: whether one of the first three is.
    """

    ndcg: float
    first: float
    few: float


def score(collection: Collection, case: Case, hits: Sequence[ChunkHit]) -> Score:
    """Judge the hits of a question.

    Of pages, each counts at the place of its best chunk. Of chunks, an answer that stands in two, since they
    overlap, counts once.
    """
    grades = _of_pages(case, hits) if collection.is_by_page else _of_chunks(case, hits)
    grades = grades[:SHOWN]
    ideal = _gain(sorted(case.right.values(), reverse=True)[:SHOWN])
    return Score(_gain(grades) / ideal, float(any(grades[:1])), float(any(grades[:_FEW])))


def mean(scores: Iterable[Score]) -> Score:
    """The mean of some scores."""
    listed = list(scores)
    return Score(
        *(
            statistics.fmean(getattr(each, name) for each in listed)
            for name in ("ndcg", "first", "few")
        )
    )


def _of_pages(case: Case, hits: Sequence[ChunkHit]) -> list[int]:
    once = dict.fromkeys(url for hit in hits for url in (hit.url, *hit.copies))
    return [case.right.get(url, 0) for url in once]


def _of_chunks(case: Case, hits: Sequence[ChunkHit]) -> list[int]:
    grades: list[int] = []
    for hit in hits:
        holds = case.answer in hit.chunk.text and not any(grades)
        grades.append(case.right.get(hit.url, 0) if holds else 0)
    return grades


def _gain(grades: Iterable[int]) -> float:
    return math.fsum(grade / math.log2(place + 2) for place, grade in enumerate(grades))

"""Rank fusion: lists whose scores cannot be compared are merged by their ranks."""

from collections.abc import Iterable

K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def reciprocal_rank(ranks: Iterable[int]) -> float:
    """The fused score of one item: sum of 1 / (60 + rank) over the lists it stands in.

    Args:
        ranks: its 1-based rank in each list.
    """
    return sum(1 / (K + rank) for rank in ranks)

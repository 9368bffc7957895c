"""Fuses lists of different origin by weighted ranks, with one vote for each collection."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from searx_mcp.models.hits import Hit
from searx_mcp.search.merge import K, join, row_key
from searx_mcp.sources.open.table import identity, voter

HEAD = 8
MOST_IN_HEAD = 3
"""Of the first `HEAD` hits, at most this many are from one collection, if others have some left."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """A ranked list and its weight.

    Attributes:
        hits: best first.
        weight: of its votes; 1 for an instance, whose engines vote one by one.
    """

    hits: Sequence[Hit]
    weight: float = 1.0


def fuse(lists: Sequence[RankedList]) -> tuple[Hit, ...]:
    """Fuse ranked lists.

    A hit's score is the sum of weight / (60 + rank) over the collections that found it, by the best place of
    each in any list: Wikipedia asked directly and Wikipedia inside an instance are one voter. A row of an
    instance that names no engine is the instance's vote. Ties go to the earlier list.

    Hits are the same if they share an identifier, such as a DOI, or the address.

    Args:
        lists: best lists first.

    Returns:
        Hits with all their engines, numbered.
    """
    rows: list[Hit] = []
    votes: list[dict[str, float]] = []
    places: dict[str, int] = {}
    for number, ranked in enumerate(lists):
        for rank, hit in enumerate(ranked.hits, start=1):
            keys = [key for key in (identity(hit), row_key(hit)) if key]
            at = next((places[key] for key in keys if key in places), len(rows))
            if at == len(rows):
                rows.append(hit)
                votes.append({})
            else:
                rows[at] = join(rows[at], hit)
            places |= dict.fromkeys(keys, at)
            worth = ranked.weight / (K + rank)
            for name in {voter(engine) for engine in hit.engines} or {f"instance {number}"}:
                votes[at][name] = max(worth, votes[at].get(name, 0.0))
    order = sorted(range(len(rows)), key=lambda at: -sum(votes[at].values()))
    return _numbered(rows[at] for at in order)


def diversify(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Limit each collection's hits at the head of a list while others have hits below it.

    Args:
        hits: best first.

    Returns:
        The same hits, renumbered; surplus ones move below the head.
    """
    head: list[Hit] = []
    rest: list[Hit] = []
    taken: dict[str, int] = {}
    for hit in hits:
        names = {voter(engine) for engine in hit.engines}
        is_too_much = bool(names) and all(taken.get(name, 0) >= MOST_IN_HEAD for name in names)
        if len(head) == HEAD or is_too_much:
            rest.append(hit)
            continue
        head.append(hit)
        for name in names:
            taken[name] = taken.get(name, 0) + 1
    return _numbered([*head, *rest])


def _numbered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(hit._replace(position=place) for place, hit in enumerate(hits, start=1))

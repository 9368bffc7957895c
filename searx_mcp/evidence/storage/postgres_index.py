"""The words of chunks on a PostgreSQL server, and the search for them.

A chunk has a `tsvector` of its words with as many positions as a word counts, those of titles twice, so that
`ts_rank` of one word tells how often it stands there; what the places are says nothing. As in the index of a file,
English endings are taken off by Porter's rules, every word carries the number of its namespace, and the score is
the BM25 of FTS5.
"""

# ruff: noqa: S608 - what stands in the statements is ours; values are sent beside them

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from searx_mcp.storage.postgres import Connection

Found = tuple[int, float]
"""The number of a chunk and its BM25."""
Places = Sequence[int] | None
"""The numbers of the pages that are looked at; all of a namespace if `None`."""

_MOST_TERMS: Final = 64
_MOST_ROWS: Final = 6_000
"""As in the index of a file."""
_MOST_WORDS: Final = 20_000
"""Different words of a chunk that are indexed; a `tsvector` holds a megabyte."""
_LONGEST: Final = 200
"""Letters of a word that count."""
_MOST_TIMES: Final = 255
"""Occurrences of a word that count: a `tsvector` keeps no more positions."""
_HEADINGS: Final = 2
"""How much a word of a title counts, in words of the text."""
_K1: Final = 1.2
_B: Final = 0.75
_REMEMBERED: Final = 50_000
"""Words whose stems are remembered."""


def _thresholds() -> Iterator[float]:
    """What `ts_rank` of one word is where it has n positions rather than n - 1."""
    # It is the sum of 1/i² over the positions, by that over all numbers.
    ranks = [6 / math.pi**2 * each for each in accumulate(n**-2 for n in range(1, _MOST_TIMES + 1))]
    yield from ((low + high) / 2 for low, high in zip([0.0, *ranks], ranks, strict=False))


_TIMES: Final = (
    "width_bucket(ts_rank('{{1,1,1,1}}', words, {term}::tsquery)::float8,"
    f" '{{{{{','.join(f'{each:.9f}' for each in _thresholds())}}}}}'::float8[])"
)
"""How often a word stands in a chunk, as SQL."""


class Stems:
    """Takes the endings off words, as the server knows them."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    async def of(self, connection: Connection, words: Iterable[str]) -> Mapping[str, str]:
        """Give the stem of each word."""
        wanted = {word: _clean(word) for word in words}
        if missing := [word for word in {*wanted.values()} if word not in self._known]:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
                missing = list({*wanted.values()})
            stems: list[str] = await connection.fetchval(
                "SELECT array_agg(coalesce((ts_lexize('endings', word))[1], word) ORDER BY place)"
                " FROM unnest($1::text[]) WITH ORDINALITY AS given (word, place)",
                missing,
            )
            self._known |= zip(missing, stems, strict=True)
        return {word: self._known[clean] for word, clean in wanted.items()}


def vector_of(namespace: int, words: str, stems: Mapping[str, str]) -> tuple[int, str]:
    """Write the words of a chunk as the server indexes them, with how many there are.

    Args:
        namespace: the number of it.
        words: as `index_words` gives them.
        stems: of all of these.
    """
    headings, _, body = (part.split() for part in words.partition("\n"))
    times = Counter(stems[word] for word in body)
    for word in headings:
        times[stems[word]] += _HEADINGS
    most = times.most_common(_MOST_WORDS)
    places = [",".join(map(str, range(1, 1 + min(count, _MOST_TIMES)))) for _, count in most]
    written = (
        f"{_quoted(namespace, word)}:{at}" for (word, _), at in zip(most, places, strict=True)
    )
    return len(headings) + len(body), " ".join(written)


async def frequencies(
    connection: Connection, namespace: int, stems: Mapping[str, str], places: Places
) -> dict[str, int]:
    """Count the chunks that have each term, in a namespace or in some of its pages."""
    counts: list[int] = await connection.fetchval(
        "SELECT array_agg((SELECT count(*) FROM chunk_words WHERE words @@ query::tsquery"
        f"{_within(places, 2)}) ORDER BY place)"
        " FROM unnest($1::text[]) WITH ORDINALITY AS asked (query, place)",
        [_quoted(namespace, stem) for stem in stems.values()],
        *([] if places is None else [places]),
    )
    return dict(zip(stems, counts or (), strict=True))


async def match(
    connection: Connection,
    namespace: int,
    stems: Mapping[str, str],
    counts: Mapping[str, int],
    *,
    places: Places,
    limit: int,
) -> list[Found]:
    """Find the chunks that fit some terms, with their BM25, best first.

    Where very many chunks of the namespace have some of the terms, those that have nothing but these are
    found only if they have all of these.

    Args:
        connection: to the server.
        namespace: the number of it.
        stems: of the terms.
        counts: how many chunks of the namespace have each.
        places: where to look.
        limit: chunks at most.
    """
    known = {_quoted(namespace, stems[term]): count for term, count in counts.items() if count}
    ordered = sorted((count, word) for word, count in known.items())[:_MOST_TERMS]
    if not ordered:
        return []
    total, mean = await connection.fetchrow(
        "SELECT sum(chunks)::float8, sum(words)::float8 / greatest(sum(chunks), 1) FROM documents"
        " WHERE namespace = $1",
        namespace,
    ) or (0.0, 1.0)
    rest = [] if places is None else [places]
    first = 4 + len(rest)
    score = " + ".join(
        f"{_weight(total, count)}::float8 * (1 - norm / (norm + {_TIMES.format(term=f'${first + at}')}))"
        for at, (count, _) in enumerate(ordered)
    )
    rows = await connection.fetch(
        f"SELECT chunk, {1 + _K1} * ({score}) AS score FROM (SELECT chunk, words,"
        f" {_K1} * ({1 - _B} + {_B} * length / $2::float8) AS norm FROM chunk_words"
        f" WHERE words @@ $1::text::tsquery{_within(places, 4)} OFFSET 0) AS found"
        " ORDER BY score DESC, chunk LIMIT $3",
        _either(ordered, is_all=places is not None),
        max(1.0, mean or 1.0),
        limit,
        *rest,
        *(word for _, word in ordered),
    )
    return [(chunk, score) for chunk, score in rows]


def _either(ordered: Sequence[tuple[int, str]], *, is_all: bool) -> str:
    """Write what a chunk must have: one of the rare words, or all of the common ones."""
    rare: list[str] = []
    rows = 0
    for count, word in ordered:
        if rare and rows + count > _MOST_ROWS and not is_all:
            break
        rare.append(word)
        rows += count
    common = [word for _, word in ordered[len(rare) :]]
    if len(common) > 1:
        rare.append(f"({' & '.join(common)})")
    return " | ".join(rare)


def _weight(total: float, count: int) -> float:
    return max(1e-6, math.log((max(0.0, total - count) + 0.5) / (count + 0.5)))


def _within(places: Places, number: int) -> str:
    if places is None:
        return ""
    return f" AND chunk IN (SELECT id FROM chunks WHERE document = ANY(${number}::bigint[]))"


def _clean(word: str) -> str:
    return word[:_LONGEST].encode("utf-8", "replace").decode().replace("\0", "")


def _quoted(namespace: int, stem: str) -> str:
    text = stem.replace("\\", "\\\\").replace("'", "''")
    return f"'{namespace}:{text}'"

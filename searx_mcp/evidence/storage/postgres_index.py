"""The words of chunks on a PostgreSQL server, and the search for them.

A chunk has a `tsvector` of its words. A word has as many positions as it has occurrences, those in titles counted
twice, so that `ts_rank` of one word gives its frequency; the positions themselves mean nothing. As in the index of a
file, Porter's rules stem English words, every word has the number of its namespace as a prefix, and the score is
the BM25 of FTS5.
"""

# ruff: noqa: S608 - we write the statements; values are parameters

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from searx_mcp.evidence.storage.rows import MOST_TERMS, any_rare
from searx_mcp.storage.postgres import Connection

Found = tuple[int, float]
"""The number of a chunk and its BM25."""
Places = Sequence[int] | None
"""The numbers of the pages to search; `None` for all of a namespace."""

_MOST_WORDS: Final = 20_000
"""Maximum different words of a chunk that are indexed; a `tsvector` holds a megabyte."""
_LONGEST: Final = 200
"""Maximum letters of a word; the rest is cut."""
_MOST_TIMES: Final = 255
"""Maximum occurrences of a word that count: a `tsvector` keeps no more positions."""
_HEADINGS: Final = 2
"""Weight of a word in a title, in words of the text."""
_K1: Final = 1.2
_B: Final = 0.75
_REMEMBERED: Final = 50_000
"""Number of words whose stems are cached."""


def _thresholds() -> Iterator[float]:
    """Yield the thresholds of `ts_rank` of one word between n - 1 and n positions."""
    # It is the sum of 1/i² over the positions, divided by that over all numbers.
    ranks = [6 / math.pi**2 * each for each in accumulate(n**-2 for n in range(1, _MOST_TIMES + 1))]
    yield from ((low + high) / 2 for low, high in zip([0.0, *ranks], ranks, strict=False))


_TIMES: Final = (
    "width_bucket(ts_rank('{{1,1,1,1}}', words, {term}::tsquery)::float8,"
    f" '{{{{{','.join(f'{each:.9f}' for each in _thresholds())}}}}}'::float8[])"
)
"""The frequency of a word in a chunk, as SQL."""


class Stems:
    """Stems words with the server's stemmer."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    async def of(self, connection: Connection, words: Iterable[str]) -> Mapping[str, str]:
        """Return the stem of each word."""
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
    """Build the `tsvector` of a chunk, with its number of words.

    Args:
        namespace: its number.
        words: from `index_words`.
        stems: of all words.
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
    """Count the chunks that contain each term, in a namespace or in some of its pages."""
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
    """Find the chunks that match some terms, with their BM25, best first.

    If very many chunks of the namespace contain some of the terms, chunks with only such terms are found only if
    they contain all of them.

    Args:
        connection: to the server.
        namespace: its number.
        stems: of the terms.
        counts: how many chunks of the namespace contain each.
        places: the pages to search.
        limit: maximum number of chunks.
    """
    known = {_quoted(namespace, stems[term]): count for term, count in counts.items() if count}
    ordered = sorted((count, word) for word, count in known.items())[:MOST_TERMS]
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
        any_rare(ordered, either=" | ", both=" & ", is_all=places is not None),
        max(1.0, mean or 1.0),
        limit,
        *rest,
        *(word for _, word in ordered),
    )
    return [(chunk, score) for chunk, score in rows]


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

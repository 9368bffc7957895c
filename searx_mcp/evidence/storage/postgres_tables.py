"""The tables of the corpus on a PostgreSQL server: chunks, and the search for their words.

A chunk has a `tsvector` of its words. A word has as many positions as it has occurrences, those in titles counted
twice, so that `ts_rank` of one word gives its frequency; the positions themselves mean nothing. As in the index of a
file, Porter's rules stem English words, every word has the number of its namespace as a prefix, and the score is
the BM25 of FTS5.
"""

# ruff: noqa: S608 - we write the statements; values are parameters

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.evidence.storage.rows import (
    ABOUT,
    MOST_TERMS,
    RENEWED_AT_ONCE,
    WORDS_VERSION,
    ChunkRow,
    PageRow,
    any_rare,
    as_bytes,
    headings_of,
    index_words,
    pack_chunk,
    unpack_chunk,
)
from searx_mcp.evidence.storage.store import Kept
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
_ROW_BYTES: Final = 600
"""Overhead in bytes of the rows and index entries of a chunk."""

MAJOR: Final = 1
"""Part of the schema's name: programs with another major use another schema."""

# A minor only adds what older programs can ignore: tables, indexes, and columns with a default.
# So programs with any minors of a major use one schema concurrently.
MINORS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TEXT SEARCH DICTIONARY endings (TEMPLATE = snowball, LANGUAGE = porter)",
        "CREATE SEQUENCE uses",
        """CREATE TABLE namespaces (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL UNIQUE
        )""",
        f"""CREATE TABLE documents (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            namespace int NOT NULL REFERENCES namespaces ON DELETE CASCADE,
            url bytea NOT NULL, {", ".join(f"{name} bytea NOT NULL" for name in ABOUT)},
            fetched_at float8 NOT NULL, fresh_until float8 NOT NULL,
            pinned_at float8 NOT NULL DEFAULT 0, used bigint NOT NULL DEFAULT nextval('uses'),
            version int NOT NULL, chunks bigint NOT NULL, tokens bigint NOT NULL,
            words bigint NOT NULL, size bigint NOT NULL, body bytea NOT NULL
        )""",
        "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL",  # it is compressed already
        "CREATE UNIQUE INDEX documents_by_url ON documents (namespace, sha256(url))",
        "CREATE INDEX documents_by_age ON documents (fetched_at)",
        "CREATE INDEX documents_by_use ON documents (pinned_at, used)",
        """CREATE TABLE chunks (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
            position int NOT NULL, name bytea NOT NULL, path bytea NOT NULL,
            start bigint NOT NULL, stop bigint NOT NULL, tokens bigint NOT NULL,
            content bytea NOT NULL
        )""",
        "ALTER TABLE chunks ALTER content SET STORAGE EXTERNAL",
        "CREATE INDEX chunks_by_document ON chunks (document, position)",
        "CREATE UNIQUE INDEX chunks_by_name ON chunks (name, document)",
        # A separate table, since counting and scoring words reads only these rows; and never TOASTed out of
        # line, where reading a row takes ten times as long.
        """CREATE TABLE chunk_words (
            chunk bigint PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
            length int NOT NULL, words tsvector NOT NULL
        ) WITH (toast_tuple_target = 8160)""",
        "CREATE INDEX chunk_words_by_word ON chunk_words USING gin (words) WITH (fastupdate = off)",
        """CREATE TABLE models (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name bytea NOT NULL UNIQUE, used bigint NOT NULL
        )""",
    ),
    # Earlier schemas also have a table `vectors`, with a type of pgvector.
    (
        """CREATE TABLE chunk_vectors (
            chunk bigint NOT NULL REFERENCES chunks ON DELETE CASCADE,
            model int NOT NULL REFERENCES models ON DELETE CASCADE,
            vector bytea NOT NULL, PRIMARY KEY (chunk, model)
        )""",
        "ALTER TABLE chunk_vectors ALTER vector SET STORAGE EXTERNAL",  # it hardly compresses
        "CREATE INDEX chunk_vectors_by_model ON chunk_vectors (model)",
    ),
)

_LOCK: Final = 0x5358_0000
"""Held while a process creates or changes one of our schemas, one at a time per database."""


async def open_schema(connection: Connection, name: str) -> None:
    """Migrate the schema to this program's minor, unless it has that or a later one; then use it.

    Args:
        connection: a new one.
        name: of the schema, with its major.

    Raises:
        PostgresError: it cannot be created, or the server lacks something.
        StorageUnavailableError: the database does not support it.
    """
    if await _minor(connection, name) < len(MINORS):
        await connection.execute("BEGIN")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await _upgrade(connection, name)
        await connection.execute("COMMIT")
    await connection.execute(_search_path(name))


async def _minor(connection: Connection, name: str) -> int:
    """Return how many minors were applied; 0 if there is no schema."""
    if await connection.fetchval("SELECT to_regclass($1)", f'"{name}".applied') is None:
        return 0
    return int(await connection.fetchval(f'SELECT coalesce(max(minor), 0) FROM "{name}".applied'))


async def _upgrade(connection: Connection, name: str) -> None:
    if await connection.fetchval("SHOW server_encoding") != "UTF8":
        raise StorageUnavailableError(
            "The database of postgres.url is not UTF-8",
            advice="Create one that is: createdb --encoding=UTF8 --template=template0 NAME.",
        )
    await connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{name}"')
    await connection.execute(_search_path(name))
    await connection.execute("CREATE TABLE IF NOT EXISTS applied (minor int PRIMARY KEY)")
    done = await _minor(connection, name)
    for number, statements in enumerate(MINORS[done:], done + 1):
        for statement in statements:
            await connection.execute(statement)
        await connection.execute("INSERT INTO applied VALUES ($1)", number)


def _search_path(name: str) -> str:
    return f'SET search_path = "{name}"'


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


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with its words in the server's index format.

    Attributes:
        row: the chunk.
        length: number of its words.
        words: as a `tsvector`.
    """

    row: ChunkRow
    length: int
    words: str

    @property
    def size(self) -> int:
        """Approximate bytes it takes; for 20,000 chunks, with their vectors, it is 1 % too high."""
        return len(self.row.content) + 2 * len(self.words) + _ROW_BYTES


def indexed(page: PageRow, scope: int, stems: Mapping[str, str]) -> list[IndexedChunk]:
    """Prepare the chunks of a page; takes milliseconds."""
    return [IndexedChunk(row, *_vector_of(scope, row.words, stems)) for row in page.chunks]


async def write_chunks(
    connection: Connection, document: int, chunks: Sequence[IndexedChunk], *, is_indexed: bool
) -> Kept:
    """Write the chunks of a page; rewrite one whose row is damaged."""
    wanted = {as_bytes(chunk.row.name): chunk for chunk in chunks}
    old = await connection.fetch(
        "SELECT id, name, content FROM chunks WHERE document = $1", document
    )
    stay: dict[bytes, int] = {
        name: number
        for number, name, content in old
        if name in wanted and (unpack_chunk(content) or ("",))[0] == wanted[name].row.text
    }
    if gone := [number for number, name, _ in old if name not in stay]:
        await connection.execute("DELETE FROM chunks WHERE id = ANY($1::bigint[])", gone)
    new, moved = [], []
    for position, (name, chunk) in enumerate(wanted.items()):
        row = chunk.row
        place = (position, row.path, row.start, row.stop, row.tokens)
        if name in stay:
            moved.append((stay[name], *place))
        else:
            new.append((name, *place, row.content, chunk.length, chunk.words))
    if new:
        await connection.execute(
            "WITH given AS (SELECT * FROM unnest($2::bytea[], $3::int[], $4::bytea[], $5::bigint[],"
            " $6::bigint[], $7::bigint[], $8::bytea[], $9::int[], $10::text[])"
            " AS given (name, position, path, start, stop, tokens, content, length, words)),"
            " new AS (INSERT INTO chunks (document, name, position, path, start, stop, tokens, content)"
            " SELECT $1, name, position, path, start, stop, tokens, content FROM given"
            " ORDER BY position RETURNING id, name)"
            " INSERT INTO chunk_words (chunk, length, words)"
            " SELECT id, length, words::tsvector FROM new JOIN given USING (name)",
            document,
            *map(list, zip(*new, strict=True)),
        )
    if moved:
        await connection.execute(
            "UPDATE chunks SET position = given.position, path = given.path, start = given.start,"
            " stop = given.stop, tokens = given.tokens FROM unnest($1::bigint[], $2::int[],"
            " $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[])"
            " AS given (chunk, position, path, start, stop, tokens) WHERE id = given.chunk",
            *map(list, zip(*moved, strict=True)),
        )
        if not is_indexed:
            stayed = [wanted[name] for name in stay]
            await _rename(
                connection,
                [*stay.values()],
                [chunk.row.content for chunk in stayed],
                [(chunk.length, chunk.words) for chunk in stayed],
            )
    return Kept(len(new), len(stay), len(gone))


async def renew_words(connection: Connection, stems: Stems) -> bool:
    """Reindex some pages that an earlier version indexed; return whether there were any."""
    found = await connection.fetch(
        "SELECT id, namespace, title FROM documents WHERE version < $1 LIMIT $2"
        " FOR UPDATE SKIP LOCKED",
        WORDS_VERSION,
        RENEWED_AT_ONCE,
    )
    for document, scope, title in found:
        rows = await connection.fetch(
            "SELECT id, path, content FROM chunks WHERE document = $1", document
        )
        texts = {
            number: (
                text[0],
                index_words(title.decode("utf-8", "replace"), headings_of(path), text[0]),
            )
            for number, path, content in rows
            if (text := unpack_chunk(content)) is not None
        }
        known = await stems.of(
            connection, {word for _, words in texts.values() for word in words.split()}
        )
        vectors = [_vector_of(scope, words, known) for _, words in texts.values()]
        contents = [pack_chunk(*each) for each in texts.values()]
        await _rename(connection, [*texts], contents, vectors)
        await connection.execute(
            "UPDATE documents SET version = $2, words = $3 WHERE id = $1",
            document,
            WORDS_VERSION,
            sum(length for length, _ in vectors),
        )
    return bool(found)


async def _rename(
    connection: Connection,
    numbers: Sequence[int],
    contents: Sequence[bytes],
    vectors: Sequence[tuple[int, str]],
) -> None:
    """Replace the words by which chunks are found, which their contents have, too."""
    await connection.execute(
        "UPDATE chunks SET content = given.content FROM unnest($1::bigint[], $2::bytea[])"
        " AS given (chunk, content) WHERE id = given.chunk",
        numbers,
        contents,
    )
    await connection.execute(
        "INSERT INTO chunk_words (chunk, length, words) SELECT chunk, length, words::tsvector"
        " FROM unnest($1::bigint[], $2::int[], $3::text[]) AS given (chunk, length, words)"
        " ON CONFLICT (chunk) DO UPDATE SET length = excluded.length, words = excluded.words",
        numbers,
        [length for length, _ in vectors],
        [words for _, words in vectors],
    )


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


def _vector_of(namespace: int, words: str, stems: Mapping[str, str]) -> tuple[int, str]:
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

"""Writes to the tables of the corpus on a PostgreSQL server."""

# ruff: noqa: S608 - we write the statements; values are parameters

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.evidence.storage import postgres_index as index
from searx_mcp.evidence.storage.postgres_index import Stems
from searx_mcp.evidence.storage.rows import (
    ABOUT,
    AGED_AT_ONCE,
    RENEWED_AT_ONCE,
    WORDS_VERSION,
    ChunkRow,
    CorpusLimits,
    PageRow,
    as_bytes,
    headings_of,
    index_words,
    pack_chunk,
    unpack_chunk,
)
from searx_mcp.evidence.storage.store import Kept
from searx_mcp.storage.pages import SKEW
from searx_mcp.storage.postgres import Connection

_GONE_AT_ONCE: Final = 32
"""Pages deleted in one step to make room."""
_ROW_BYTES: Final = 600
"""Overhead in bytes of the rows and index entries of a chunk."""


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
    return [IndexedChunk(row, *index.vector_of(scope, row.words, stems)) for row in page.chunks]


async def sweep(connection: Connection, now: float, max_age: float) -> None:
    """Delete some expired pages; times in the future count as now."""
    await connection.execute(
        "WITH later AS (UPDATE documents SET fetched_at = least(fetched_at, $1),"
        " fresh_until = CASE WHEN fetched_at > $2 THEN least(fresh_until, $1) ELSE fresh_until END,"
        " pinned_at = least(pinned_at, $1) WHERE id IN (SELECT id FROM documents"
        " WHERE fetched_at > $2 OR pinned_at > $2 FOR UPDATE SKIP LOCKED))"
        " DELETE FROM documents WHERE id IN (SELECT id FROM documents"
        " WHERE fetched_at <= $3 AND pinned_at <= $3 LIMIT $4 FOR UPDATE SKIP LOCKED)",
        now,
        now + SKEW,
        now - max_age,
        AGED_AT_ONCE,
    )


async def number_of(connection: Connection, namespace: bytes) -> int:
    """Return the number of a namespace; creates it if necessary."""
    number: int | None = await connection.fetchval(
        "SELECT id FROM namespaces WHERE name = $1", namespace
    )
    if number is not None:
        return number
    return int(
        await connection.fetchval(
            "INSERT INTO namespaces (name) VALUES ($1)"
            " ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
            namespace,
        )
    )


async def put(
    connection: Connection,
    scope: int,
    page: PageRow,
    chunks: Sequence[IndexedChunk],
    bounds: CorpusLimits,
) -> Kept:
    """Store a page in place of the last one under its address; the least recently used pages make room."""
    url = as_bytes(page.url)
    known = await connection.fetchrow(
        "SELECT id, chunks, title = $3 AND version = $4 AS is_indexed FROM documents"
        " WHERE namespace = $1 AND sha256(url) = sha256($2) FOR UPDATE",
        scope,
        url,
        page.title,
        WORDS_VERSION,
    )
    size = len(page.body) + sum(chunk.size for chunk in chunks)
    if size > bounds.max_bytes:
        if known is not None:
            await connection.execute("DELETE FROM documents WHERE id = $1", known["id"])
        return Kept(0, 0, known["chunks"] if known else 0)
    values = {
        **dict(zip(ABOUT, page.about, strict=True)),
        "fetched_at": page.fetched_at,
        "fresh_until": page.fresh_until,
        "version": WORDS_VERSION,
        "chunks": len(chunks),
        "tokens": sum(chunk.row.tokens for chunk in chunks),
        "words": sum(chunk.length for chunk in chunks),
        "size": size,
        "body": page.body,
    }
    document: int = await connection.fetchval(
        f"INSERT INTO documents (namespace, url, {', '.join(values)})"
        f" VALUES ({', '.join(f'${at}' for at in range(1, len(values) + 3))})"
        " ON CONFLICT (namespace, sha256(url)) DO UPDATE SET used = excluded.used,"
        f" {', '.join(f'{name} = excluded.{name}' for name in values)} RETURNING id",
        scope,
        url,
        *values.values(),
    )
    kept = await _write_chunks(
        connection, document, chunks, is_indexed=known is not None and known["is_indexed"]
    )
    await _make_room(connection, bounds.max_bytes, spared=document)
    return kept


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
        vectors = [index.vector_of(scope, words, known) for _, words in texts.values()]
        contents = [pack_chunk(*each) for each in texts.values()]
        await _rename(connection, [*texts], contents, vectors)
        await connection.execute(
            "UPDATE documents SET version = $2, words = $3 WHERE id = $1",
            document,
            WORDS_VERSION,
            sum(length for length, _ in vectors),
        )
    return bool(found)


async def _write_chunks(
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


async def _make_room(connection: Connection, max_bytes: int, *, spared: int) -> None:
    """Delete the least recently used pages; cited pages only when all others are gone."""
    used: int = await connection.fetchval("SELECT sum(size)::bigint FROM documents")
    for _ in range(_GONE_AT_ONCE):
        if used <= max_bytes:
            return
        # Skip rows that another process is writing or deleting.
        freed: int | None = await connection.fetchval(
            "DELETE FROM documents WHERE id = (SELECT id FROM documents WHERE id != $1"
            " ORDER BY pinned_at, used LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING size",
            spared,
        )
        if freed is None:
            return
        used -= freed

"""The corpus on a PostgreSQL server that several processes share."""

# ruff: noqa: S608 - we write the statements; values are parameters
import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.evidence.storage.postgres_tables import (
    MAJOR,
    Found,
    IndexedChunk,
    Stems,
    frequencies,
    indexed,
    match,
    open_schema,
    renew_words,
    write_chunks,
)
from searx_mcp.evidence.storage.rows import (
    ABOUT,
    AGED_AT_ONCE,
    ERASING,
    MODELS,
    RECENT,
    WORDS_VERSION,
    CorpusLimits,
    PageRow,
    as_bytes,
    as_key,
    packed,
)
from searx_mcp.evidence.storage.sql import (
    NUMBER,
    OF,
    SqlCorpusStore,
    SqlDialect,
    matches,
)
from searx_mcp.evidence.storage.store import ChunkMatch, Kept, StoredChunk, StoredPage
from searx_mcp.storage.pages import SKEW
from searx_mcp.storage.postgres import Connection, PostgresLink, numbered

_log = logging.getLogger("searx_mcp.storage")

_GONE_AT_ONCE: Final = 32
"""Pages deleted in one step to make room."""

_List: TypeAlias = Sequence[bytes] | Sequence[int]


DIALECT: Final[SqlDialect[bytes, _List]] = SqlDialect(
    head=f"url, {', '.join(ABOUT)}, fetched_at, fresh_until",
    counts="chunks, tokens",
    body="body",
    title="title",
    url="url",
    chunk="chunks.name, content, path, start, stop, chunks.tokens",
    vector="vector",
    vectors="chunk_vectors",
    total="coalesce(sum({}), 0)::bigint".format,
    size="(SELECT coalesce(sum(size), 0)::bigint FROM documents)",
    at="sha256(url) = sha256(:url)",
    among="sha256(url) = ANY(SELECT sha256(each) FROM unnest(:urls::bytea[]) AS each)",
    any_of="= ANY({})".format,
    next_use="nextval('uses')",
    locked=" FOR UPDATE",
    key=lambda text: as_bytes(as_key(text)),
    values=lambda values: values,
)


class PostgresCorpusStore(SqlCorpusStore[bytes, _List]):
    """The store on a server; any number of processes use it concurrently.

    Deleted rows are not found any more, and take space until the server vacuums; only `purge` leaves nothing
    of them in the server's files. Calls fail while the server is unavailable.

    Args:
        url: of the server; see `PostgresLink`.
        namespace: owner of these pages; those of other namespaces are never found.
        max_bytes: of all namespaces together, estimated from what was written.
        max_age: seconds after which a page is deleted.
        patience: seconds one call may take.
        schema: of the tables; the major is added to its name.
    """

    def __init__(
        self,
        url: str,
        *,
        namespace: str,
        max_bytes: int,
        max_age: float,
        patience: float,
        schema: str = "searx_mcp",
    ) -> None:
        super().__init__(DIALECT)
        self._schema = f"{schema}_v{MAJOR}"
        self._link = PostgresLink(
            url, patience=patience, greet=partial(open_schema, name=self._schema)
        )
        self._namespace = DIALECT.key(namespace)
        self._bounds = CorpusLimits(max_bytes, max_age)
        self._stems = Stems()
        self._is_current = False
        self._counted: tuple[tuple[object, ...], dict[str, int]] = ((), {})

    @override
    def __repr__(self) -> str:
        return f"<PostgresCorpusStore {self._link.place} {self._schema}>"

    @property
    @override
    def is_lasting(self) -> bool:
        return True

    @override
    async def keep(self, page: StoredPage, chunks: Sequence[StoredChunk], now: float) -> Kept:
        row = await asyncio.to_thread(packed, page, chunks)
        words = {word for chunk in row.chunks for word in chunk.words.split()}

        async def prepare(connection: Connection) -> tuple[int, Mapping[str, str]]:
            await _sweep(connection, now, self._bounds.max_age)
            scope = await _number_of(connection, self._namespace)
            return scope, await self._stems.of(connection, words)

        scope, stems = await self._link.read(prepare)
        written = await asyncio.to_thread(indexed, row, scope, stems)
        return await self._link.write(
            lambda connection: _put(connection, scope, row, written, self._bounds)
        )

    @override
    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[ChunkMatch, ...]:
        async def work(connection: Connection) -> tuple[list[Found], Sequence[Sequence[Any]]]:
            scope, places = await self._within(connection, urls)
            if scope is None or places == []:
                return [], ()
            stems = await self._stems.of(connection, terms)
            counts = await self._counts(connection, scope, stems)
            ranked = await match(connection, scope, stems, counts, places=places, limit=limit)
            return ranked, await _ask(
                connection, DIALECT.found, chunks=[chunk for chunk, _ in ranked]
            )

        await self._index_anew()
        return await asyncio.to_thread(matches, *await self._link.read(work))

    @override
    async def frequencies(
        self, terms: Sequence[str], *, urls: Sequence[str] | None = None
    ) -> tuple[int, dict[str, int]]:
        async def work(connection: Connection) -> tuple[int, dict[str, int]]:
            scope, places = await self._within(connection, urls)
            if scope is None or places == []:
                return 0, dict.fromkeys(terms, 0)
            stems = await self._stems.of(connection, terms)
            ((total,),) = await _ask(
                connection,
                DIALECT.chunk_count(is_scoped=urls is not None),
                scope=scope,
                urls=DIALECT.keys(urls or ()),
            )
            if places is None:
                return total, await self._counts(connection, scope, stems)
            return total, await frequencies(connection, scope, stems, places)

        await self._index_anew()
        return await self._link.read(work)

    @override
    async def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        kept = {DIALECT.key(name): each for name, each in vectors.items()}

        async def work(connection: Connection) -> None:
            number = await connection.fetchval(
                "INSERT INTO models (name, used) VALUES ($1, nextval('uses'))"
                " ON CONFLICT (name) DO UPDATE SET used = excluded.used RETURNING id",
                as_bytes(model),
            )
            await connection.execute(
                "DELETE FROM models WHERE id IN (SELECT id FROM models ORDER BY used DESC OFFSET $1)",
                MODELS,
            )
            await connection.execute(
                "INSERT INTO chunk_vectors (chunk, model, vector)"
                " SELECT chunks.id, $2, given.vector FROM chunks"
                " JOIN documents ON documents.id = document"
                " JOIN unnest($3::bytea[], $4::bytea[]) AS given (name, vector)"
                " ON given.name = chunks.name WHERE namespace = (SELECT id FROM namespaces WHERE name = $1)"
                " ORDER BY chunks.id FOR KEY SHARE OF chunks"
                " ON CONFLICT (chunk, model) DO UPDATE SET vector = excluded.vector",
                self._namespace,
                number,
                [*kept],
                [*kept.values()],
            )

        await self._link.write(work)

    @override
    async def remove(self, urls: Sequence[str]) -> int:
        return await self._change(
            f"DELETE FROM documents WHERE {OF} AND {DIALECT.among}", urls=DIALECT.keys(urls)
        )

    @override
    async def clear(self) -> None:
        await self._link.write(
            lambda connection: connection.execute(
                "DELETE FROM namespaces WHERE name = $1", self._namespace
            ),
            patience=ERASING,
        )

    @override
    async def purge(self) -> None:
        await self._link.write(
            lambda connection: connection.execute("TRUNCATE namespaces, models CASCADE"),
            patience=ERASING,
        )

    @override
    async def aclose(self) -> None:
        await self._link.aclose()

    @override
    async def _select(self, sql: str, **values: float | bytes | _List) -> Sequence[Sequence[Any]]:
        return await self._link.read(
            lambda connection: _ask(connection, sql, namespace=self._namespace, **values)
        )

    @override
    async def _change(self, sql: str, **values: float | bytes | _List) -> int:
        text, given = numbered(sql, {"namespace": self._namespace, **values})
        done = await self._link.read(lambda connection: connection.execute(text, *given))
        return int(done.rpartition(" ")[2])

    async def _within(
        self, connection: Connection, urls: Sequence[str] | None
    ) -> tuple[int | None, list[int] | None]:
        """Return the number of the namespace and those of pages."""
        rows = await _ask(connection, NUMBER, namespace=self._namespace)
        scope = rows[0][0] if rows else None
        if scope is None or urls is None:
            return scope, None
        found = await _ask(connection, DIALECT.documents, scope=scope, urls=DIALECT.keys(urls))
        return scope, [number for (number,) in found]

    async def _counts(
        self, connection: Connection, scope: int, stems: Mapping[str, str]
    ) -> dict[str, int]:
        """Count the chunks that contain each term; results are cached until something changes."""
        key = (scope, await connection.fetchval("SELECT pg_current_snapshot()::text"), *stems)
        if self._counted[0] != key:
            self._counted = key, await frequencies(connection, scope, stems, None)
        return dict(self._counted[1])

    @override
    async def _note_use(self, url: str) -> None:
        try:
            await self._change(
                f"UPDATE documents SET used = {DIALECT.next_use} WHERE id IN (SELECT id"
                f" FROM documents WHERE {OF} AND {DIALECT.at}"
                f" AND used < (SELECT last_value FROM uses) - {RECENT} FOR UPDATE SKIP LOCKED)",
                url=DIALECT.key(url),
            )
        except StorageError as exc:
            _log.debug("corpus.use_not_noted reason=%s", exc.message)

    async def _index_anew(self) -> None:
        """Reindex some chunks that an earlier version indexed."""
        if self._is_current:
            return
        self._is_current = not await self._link.write(
            lambda connection: renew_words(connection, self._stems)
        )


async def _ask(connection: Connection, sql: str, **values: float | bytes | _List) -> list[Any]:
    text, given = numbered(sql, values)
    found: list[Any] = await connection.fetch(text, *given)
    return found


async def _sweep(connection: Connection, now: float, max_age: float) -> None:
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


async def _number_of(connection: Connection, namespace: bytes) -> int:
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


async def _put(
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
    kept = await write_chunks(
        connection, document, chunks, is_indexed=known is not None and known["is_indexed"]
    )
    await _make_room(connection, bounds.max_bytes, spared=document)
    return kept


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

"""The corpus on a PostgreSQL server that processes share."""

# ruff: noqa: S608 - what stands in the statements is ours; values are sent beside them

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.storage import postgres_corpus_index as index
from searx_mcp.storage import postgres_corpus_rows as rows
from searx_mcp.storage.corpus import (
    CorpusStore,
    Kept,
    Match,
    PageHead,
    StoredChunk,
    StoredPage,
    Totals,
)
from searx_mcp.storage.corpus_rows import (
    ABOUT,
    Bounds,
    as_bytes,
    as_key,
    chunks_of,
    known_of,
    matches_of,
    packed,
    page_of,
)
from searx_mcp.storage.postgres import Connection, PostgresLink
from searx_mcp.storage.postgres_corpus_index import Stems
from searx_mcp.storage.postgres_corpus_schema import MAJOR, open_schema

_log = logging.getLogger("searx_mcp.storage")

_ERASING: Final = 120.0
"""Seconds that deleting everything may take."""
_RECENT: Final = 16
"""Pages used last whose use is not noted again: reading them writes nothing."""
_MODELS: Final = 2
"""Models whose vectors are kept."""
_HEAD: Final = f"url, {', '.join(ABOUT)}, fetched_at, fresh_until"
_CHUNK: Final = "chunks.name, content, path, start, stop, chunks.tokens"
_OF: Final = "namespace = (SELECT id FROM namespaces WHERE name = $1)"
_AT: Final = f"{_OF} AND sha256(url) = sha256($2)"


class PostgresCorpusStore(CorpusStore):
    """The store on a server; any number of processes use it at a time.

    What is deleted is not found any more, and takes room until the server cleans up; only `purge` leaves nothing
    of it in the server's files. Calls fail while the server is away.

    Args:
        url: of the server; see `PostgresLink`.
        namespace: owner of these pages; those of other namespaces are never found.
        max_bytes: of all namespaces together, as estimated from what was written.
        max_age: seconds after which a page is forgotten.
        patience: seconds one call may take.
        schema: where the tables are; the major is added to its name.
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
        self._schema = f"{schema}_v{MAJOR}"
        self._link = PostgresLink(url, patience=patience, greet=self._greet)
        self._namespace = as_bytes(as_key(namespace))
        self._bounds = Bounds(max_bytes, max_age)
        self._stems = Stems()
        self._is_current = False
        self._counted: tuple[tuple[object, ...], dict[str, int]] = ((), {})

    @override
    def __repr__(self) -> str:
        return f"<PostgresCorpusStore {self._link.place} {self._schema}>"

    @override
    async def keep(self, page: StoredPage, chunks: Sequence[StoredChunk], now: float) -> Kept:
        await self._index_anew()
        row = await asyncio.to_thread(packed, page, chunks)
        words = {word for chunk in row.chunks for word in chunk.words.split()}

        async def prepare(connection: Connection) -> tuple[int, Mapping[str, str]]:
            await rows.sweep(connection, now, self._bounds.max_age)
            scope = await rows.number_of(connection, self._namespace)
            return scope, await self._stems.of(connection, words)

        scope, stems = await self._link.read(prepare)
        indexed = await asyncio.to_thread(rows.indexed, row, scope, stems)
        counts = await self._link.write(
            lambda connection: rows.put(connection, scope, row, indexed, self._bounds)
        )
        return Kept(*counts)

    @override
    async def renew(
        self, url: str, *, fetched_at: float, fresh_until: float, etag: str, last_modified: str
    ) -> None:
        await self._change(
            "UPDATE documents SET fetched_at = $3, fresh_until = $4, etag = $5, last_modified = $6"
            f" WHERE {_AT}",
            _address(url),
            fetched_at,
            fresh_until,
            as_bytes(etag),
            as_bytes(last_modified),
        )

    @override
    async def head(self, url: str) -> PageHead | None:
        found = await self._heads(f"WHERE {_AT}", _address(url))
        return found[0] if found else None

    @override
    async def heads(self) -> tuple[PageHead, ...]:
        return await self._heads(f"WHERE {_OF} ORDER BY url")

    @override
    async def page(self, url: str) -> StoredPage | None:
        found = await self._select(
            f"SELECT {_HEAD}, body FROM documents WHERE {_AT}", _address(url)
        )
        await self._note_use(url)
        return await asyncio.to_thread(page_of, found[0]) if found else None

    @override
    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        found = await self._select(
            f"SELECT {_CHUNK} FROM chunks JOIN documents ON documents.id = document"
            f" WHERE {_AT} ORDER BY position",
            _address(url),
        )
        await self._note_use(url)
        return await asyncio.to_thread(chunks_of, found)

    @override
    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[Match, ...]:
        async def work(connection: Connection) -> Sequence[Sequence[Any]]:
            scope, places = await self._within(connection, urls)
            if scope is None or places == []:
                return ()
            stems = await self._stems.of(connection, terms)
            counts = await self._counts(connection, scope, stems)
            ranked = await index.match(connection, scope, stems, counts, places=places, limit=limit)
            found: Sequence[Sequence[Any]] = await connection.fetch(
                f"SELECT score, url, title, {_CHUNK} FROM unnest($1::bigint[], $2::float8[])"
                " AS ranked (chunk, score) JOIN chunks ON chunks.id = chunk"
                " JOIN documents ON documents.id = document ORDER BY score DESC, chunks.id",
                [chunk for chunk, _ in ranked],
                [score for _, score in ranked],
            )
            return found

        await self._index_anew()
        return await asyncio.to_thread(matches_of, await self._link.read(work))

    @override
    async def frequencies(
        self, terms: Sequence[str], *, urls: Sequence[str] | None = None
    ) -> tuple[int, dict[str, int]]:
        async def work(connection: Connection) -> tuple[int, dict[str, int]]:
            scope, places = await self._within(connection, urls)
            if scope is None or places == []:
                return 0, dict.fromkeys(terms, 0)
            stems = await self._stems.of(connection, terms)
            total = await connection.fetchval(
                "SELECT coalesce(sum(chunks), 0)::bigint FROM documents WHERE namespace = $1"
                " AND ($2::bigint[] IS NULL OR id = ANY($2))",
                scope,
                places,
            )
            if places is None:
                return total, await self._counts(connection, scope, stems)
            return total, await index.frequencies(connection, scope, stems, places)

        await self._index_anew()
        return await self._link.read(work)

    @override
    async def vectors(self, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        found = await self._select(
            "SELECT chunks.name, vector FROM chunks JOIN documents ON documents.id = document"
            " JOIN chunk_vectors ON chunk = chunks.id"
            " JOIN models ON models.id = model AND models.name = $2"
            f" WHERE {_OF} AND chunks.name = ANY($3::bytea[])",
            as_bytes(model),
            [as_bytes(as_key(name)) for name in ids],
        )
        return {name.decode("utf-8", "replace"): vector for name, vector in found}

    @override
    async def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        kept = {as_bytes(as_key(name)): each for name, each in vectors.items()}

        async def work(connection: Connection) -> None:
            number = await connection.fetchval(
                "INSERT INTO models (name, used) VALUES ($1, nextval('uses'))"
                " ON CONFLICT (name) DO UPDATE SET used = excluded.used RETURNING id",
                as_bytes(model),
            )
            await connection.execute(
                "DELETE FROM models WHERE id IN (SELECT id FROM models ORDER BY used DESC OFFSET $1)",
                _MODELS,
            )
            await connection.execute(
                "INSERT INTO chunk_vectors (chunk, model, vector)"
                " SELECT chunks.id, $2, given.vector FROM chunks"
                " JOIN documents ON documents.id = document"
                " JOIN unnest($3::bytea[], $4::bytea[]) AS given (name, vector)"
                f" ON given.name = chunks.name WHERE {_OF} ORDER BY chunks.id FOR KEY SHARE OF chunks"
                " ON CONFLICT (chunk, model) DO UPDATE SET vector = excluded.vector",
                self._namespace,
                number,
                [*kept],
                [*kept.values()],
            )

        await self._link.write(work)

    @override
    async def unembedded(self, model: str, limit: int) -> tuple[StoredChunk, ...]:
        found = await self._select(
            f"SELECT {_CHUNK} FROM chunks JOIN documents ON documents.id = document"
            f" WHERE {_OF} AND NOT EXISTS (SELECT FROM chunk_vectors WHERE chunk = chunks.id"
            " AND model = (SELECT id FROM models WHERE name = $2)) ORDER BY chunks.id LIMIT $3",
            as_bytes(model),
            limit,
        )
        return await asyncio.to_thread(chunks_of, found)

    @override
    async def embedded(self, model: str) -> int:
        found = await self._select(
            "SELECT count(*) FROM chunk_vectors JOIN chunks ON chunks.id = chunk"
            " JOIN documents ON documents.id = document"
            f" WHERE {_OF} AND model = (SELECT id FROM models WHERE name = $2)",
            as_bytes(model),
        )
        return int(found[0][0])

    @override
    async def pin(self, urls: Sequence[str], now: float) -> None:
        # Always in the same order, so that there is no deadlock.
        await self._change(
            "UPDATE documents SET pinned_at = $3, used = nextval('uses') WHERE id IN (SELECT id"
            f" FROM documents WHERE {_OF} AND sha256(url) = ANY(SELECT sha256(each)"
            " FROM unnest($2::bytea[]) AS each) ORDER BY id FOR UPDATE)",
            list(map(_address, urls)),
            now,
        )

    @override
    async def totals(self, url: str | None = None) -> Totals:
        found = await self._select(
            "SELECT count(*), coalesce(sum(chunks), 0)::bigint, coalesce(sum(tokens), 0)::bigint,"
            " (SELECT coalesce(sum(size), 0)::bigint FROM documents) FROM documents"
            f" WHERE {_OF} AND ($2::bytea IS NULL OR sha256(url) = sha256($2))",
            None if url is None else _address(url),
        )
        return Totals(*found[0])

    @override
    async def export(self) -> AsyncIterator[StoredPage]:
        after = 0
        while found := await self._select(
            f"SELECT id, {_HEAD}, body FROM documents WHERE {_OF} AND id > $2 ORDER BY id LIMIT 1",
            after,
        ):
            ((after, *row),) = found
            if page := await asyncio.to_thread(page_of, row):
                yield page

    @override
    async def remove(self, urls: Sequence[str]) -> int:
        done = await self._change(
            f"DELETE FROM documents WHERE {_OF} AND sha256(url) = ANY(SELECT sha256(each)"
            " FROM unnest($2::bytea[]) AS each)",
            list(map(_address, urls)),
        )
        return int(done.rpartition(" ")[2])

    @override
    async def clear(self) -> None:
        await self._link.write(
            lambda connection: connection.execute(
                "DELETE FROM namespaces WHERE name = $1", self._namespace
            ),
            patience=_ERASING,
        )

    @override
    async def purge(self) -> None:
        await self._link.write(
            lambda connection: connection.execute("TRUNCATE namespaces, models CASCADE"),
            patience=_ERASING,
        )

    @override
    async def aclose(self) -> None:
        await self._link.aclose()

    async def _greet(self, connection: Connection) -> None:
        await open_schema(connection, self._schema)

    async def _select(self, sql: str, *values: object) -> list[Any]:
        """Ask with the namespace as the first value."""
        found: list[Any] = await self._link.read(
            lambda connection: connection.fetch(sql, self._namespace, *values)
        )
        return found

    async def _change(self, sql: str, *values: object) -> str:
        return await self._link.read(
            lambda connection: connection.execute(sql, self._namespace, *values)
        )

    async def _heads(self, where: str, *values: object) -> tuple[PageHead, ...]:
        found = await self._select(
            f"SELECT {_HEAD}, chunks, tokens FROM documents {where}", *values
        )
        return tuple(
            PageHead(**known, chunks=chunks, tokens=tokens)
            for *row, chunks, tokens in found
            if (known := known_of(row)) is not None
        )

    async def _within(
        self, connection: Connection, urls: Sequence[str] | None
    ) -> tuple[int | None, list[int] | None]:
        """Give the number of the namespace and those of pages."""
        scope: int | None = await connection.fetchval(
            "SELECT id FROM namespaces WHERE name = $1", self._namespace
        )
        if scope is None or urls is None:
            return scope, None
        found = await connection.fetch(
            "SELECT id FROM documents WHERE namespace = $1 AND sha256(url) = ANY(SELECT sha256(each)"
            " FROM unnest($2::bytea[]) AS each)",
            scope,
            list(map(_address, urls)),
        )
        return scope, [number for (number,) in found]

    async def _counts(
        self, connection: Connection, scope: int, stems: Mapping[str, str]
    ) -> dict[str, int]:
        """Count the chunks that have each term; the same terms again cost nothing until something changes."""
        seen = await connection.fetchval("SELECT pg_current_snapshot()::text")
        key = (scope, seen, *stems)
        if self._counted[0] != key:
            counts = await index.frequencies(connection, scope, stems, None)
            self._counted = key, counts
        return dict(self._counted[1])

    async def _note_use(self, url: str) -> None:
        try:
            await self._change(
                "UPDATE documents SET used = nextval('uses') WHERE id IN (SELECT id FROM documents"
                f" WHERE {_AT} AND used < (SELECT last_value FROM uses) - {_RECENT}"
                " FOR UPDATE SKIP LOCKED)",
                _address(url),
            )
        except StorageError as exc:
            _log.debug("corpus.use_not_noted reason=%s", exc.message)

    async def _index_anew(self) -> None:
        """Find some chunks under the words of today that were indexed by an earlier version."""
        if self._is_current:
            return
        self._is_current = not await self._link.write(
            lambda connection: rows.renew_words(connection, self._stems)
        )


def _address(url: str) -> bytes:
    return as_bytes(as_key(url))

"""The corpus on a PostgreSQL server that several processes share."""

# ruff: noqa: S608 - we write the statements; values are parameters
import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from typing_extensions import override

from searx_mcp.errors import StorageError, StorageUnavailableError
from searx_mcp.evidence.storage import postgres_index as index
from searx_mcp.evidence.storage import postgres_rows as rows
from searx_mcp.evidence.storage.postgres_index import Stems
from searx_mcp.evidence.storage.rows import (
    ABOUT,
    ERASING,
    MODELS,
    RECENT,
    CorpusLimits,
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
from searx_mcp.storage.postgres import Connection, PostgresLink, numbered

_log = logging.getLogger("searx_mcp.storage")

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
        self._link = PostgresLink(url, patience=patience, greet=self._greet)
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
        await self._index_anew()
        row = await asyncio.to_thread(packed, page, chunks)
        words = {word for chunk in row.chunks for word in chunk.words.split()}

        async def prepare(connection: Connection) -> tuple[int, Mapping[str, str]]:
            await rows.sweep(connection, now, self._bounds.max_age)
            scope = await rows.number_of(connection, self._namespace)
            return scope, await self._stems.of(connection, words)

        scope, stems = await self._link.read(prepare)
        indexed = await asyncio.to_thread(rows.indexed, row, scope, stems)
        return await self._link.write(
            lambda connection: rows.put(connection, scope, row, indexed, self._bounds)
        )

    @override
    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[ChunkMatch, ...]:
        async def work(connection: Connection) -> tuple[list[index.Found], Sequence[Sequence[Any]]]:
            scope, places = await self._within(connection, urls)
            if scope is None or places == []:
                return [], ()
            stems = await self._stems.of(connection, terms)
            counts = await self._counts(connection, scope, stems)
            ranked = await index.match(connection, scope, stems, counts, places=places, limit=limit)
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
            return total, await index.frequencies(connection, scope, stems, places)

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

    async def _greet(self, connection: Connection) -> None:
        await open_schema(connection, self._schema)

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
            self._counted = key, await index.frequencies(connection, scope, stems, None)
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
            lambda connection: rows.renew_words(connection, self._stems)
        )


async def _ask(connection: Connection, sql: str, **values: float | bytes | _List) -> list[Any]:
    text, given = numbered(sql, values)
    found: list[Any] = await connection.fetch(text, *given)
    return found


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

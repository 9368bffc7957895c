"""The statements of all stores of the corpus, in the SQL that SQLite and PostgreSQL share.

Parameters are named, `:like_this`. A `SqlDialect` holds the differences between the two; searching and writing chunks
depend on the index and are in the stores.
"""

# ruff: noqa: S608 - we write the statements; values are parameters

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from typing_extensions import override

from searx_mcp.evidence.storage.rows import as_bytes, chunks_of, known_of, matches_of, page_of
from searx_mcp.evidence.storage.store import (
    ChunkMatch,
    CorpusStore,
    PageHead,
    StoredChunk,
    StoredPage,
    Totals,
)

NUMBER: Final = "SELECT id FROM namespaces WHERE name = :namespace"
"""The number of a namespace, created with its first page."""
OF: Final = f"namespace = ({NUMBER})"
"""Condition for documents of the namespace."""
_MODEL: Final = "model = (SELECT id FROM models WHERE name = :model)"
_CHUNKS: Final = "FROM chunks JOIN documents ON documents.id = document"


K = TypeVar("K")
"""Type of a key parameter."""
L = TypeVar("L")
"""Type of a parameter with a list of keys or numbers."""


@dataclass(frozen=True, slots=True)
class SqlDialect(Generic[K, L]):
    """The SQL in which the two databases differ.

    Attributes:
        head: the columns of a page's metadata, as `known_of` reads them.
        counts: number of its chunks and tokens.
        body: its text, empty if it is lost.
        title: of a page, as bytes.
        url: of a page, as bytes.
        chunk: the columns of a chunk, as `chunk_of` reads them; its name is the first.
        vector: as bytes.
        vectors: the table of them.
        total: the sum of a column, as an integer.
        size: bytes of everything stored, as an integer.
        at: condition for the document at `:url`.
        among: condition for the documents at one of `:urls`.
        any_of: condition for one of the values of a list.
        next_use: a number higher than those of all earlier uses.
        locked: suffix of a query for rows that are changed right after it.
        key: converts a text to a key parameter.
        values: converts a list of keys or numbers to a parameter.
    """

    head: str
    counts: str
    body: str
    title: str
    url: str
    chunk: str
    vector: str
    vectors: str
    total: Callable[[str], str]
    size: str
    at: str
    among: str
    any_of: Callable[[str], str]
    next_use: str
    locked: str
    key: Callable[[str], K]
    values: Callable[[Sequence[K] | Sequence[int]], L]

    def keys(self, texts: Iterable[str]) -> L:
        """Return keys, each once, as a list parameter."""
        return self.values(list(dict.fromkeys(map(self.key, texts))))

    @property
    def documents(self) -> str:
        """Query for the numbers of pages in the namespace `:scope`; pages that are not stored are skipped."""
        return f"SELECT id FROM documents WHERE namespace = :scope AND {self.among}"

    def chunk_count(self, *, is_scoped: bool) -> str:
        """Query for the number of chunks in the namespace `:scope`, or in some pages of it."""
        scope = f" AND {self.among}" if is_scoped else ""
        return f"SELECT {self.total('chunks')} FROM documents WHERE namespace = :scope{scope}"

    @property
    def found(self) -> str:
        """Query for the details of the found `:chunks`, as `matches` reads them."""
        return (
            f"SELECT chunks.id, {self.url}, {self.title}, {self.chunk} {_CHUNKS}"
            f" WHERE chunks.id {self.any_of(':chunks')}"
        )


def matches(
    ranked: Iterable[tuple[int, float]], found: Iterable[Sequence[Any]]
) -> tuple[ChunkMatch, ...]:
    """Parse the rows of found chunks, in the order of their ranks."""
    rows = {number: row for number, *row in found}
    return matches_of((score, *rows[chunk]) for chunk, score in ranked if chunk in rows)


class SqlCorpusStore(CorpusStore, Generic[K, L]):
    """A store whose queries and changes take one statement each.

    Args:
        dialect: of its database.
    """

    def __init__(self, dialect: SqlDialect[K, L]) -> None:
        self._dialect = dialect

    @abstractmethod
    async def _select(self, sql: str, **values: float | bytes | K | L) -> Sequence[Sequence[Any]]:
        """Run one query, with the namespace as a parameter."""

    @abstractmethod
    async def _change(self, sql: str, **values: float | bytes | K | L) -> object:
        """Run one statement, with the namespace as a parameter."""

    @abstractmethod
    async def _note_use(self, url: str) -> None:
        """Record that a page was used, unless it was used recently."""

    @override
    async def renew(
        self, url: str, *, fetched_at: float, fresh_until: float, etag: str, last_modified: str
    ) -> None:
        await self._change(
            "UPDATE documents SET fetched_at = :fetched_at, fresh_until = :fresh_until,"
            f" etag = :etag, last_modified = :last_modified WHERE {OF} AND {self._dialect.at}",
            url=self._dialect.key(url),
            fetched_at=fetched_at,
            fresh_until=fresh_until,
            etag=as_bytes(etag),
            last_modified=as_bytes(last_modified),
        )

    @override
    async def head(self, url: str) -> PageHead | None:
        found = await self._heads(f"AND {self._dialect.at}", url=self._dialect.key(url))
        return found[0] if found else None

    @override
    async def heads(self) -> tuple[PageHead, ...]:
        return await self._heads("ORDER BY url")

    @override
    async def page(self, url: str) -> StoredPage | None:
        found = await self._select(
            f"SELECT {self._dialect.head}, {self._dialect.body} FROM documents"
            f" WHERE {OF} AND {self._dialect.at}",
            url=self._dialect.key(url),
        )
        await self._note_use(url)
        return await asyncio.to_thread(page_of, found[0]) if found else None

    @override
    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        found = await self._select(
            f"SELECT {self._dialect.chunk} {_CHUNKS} WHERE {OF} AND {self._dialect.at}"
            " ORDER BY position",
            url=self._dialect.key(url),
        )
        await self._note_use(url)
        return await asyncio.to_thread(chunks_of, found)

    @override
    async def vectors(self, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        name, _, _ = self._dialect.chunk.partition(", ")
        # SQLite keeps the order of a CROSS JOIN, and otherwise would scan all pages of the namespace.
        found = await self._select(
            f"SELECT {name}, {self._dialect.vector} FROM chunks CROSS JOIN documents"
            f" CROSS JOIN {self._dialect.vectors} WHERE documents.id = document"
            f" AND chunk = chunks.id AND {OF} AND {_MODEL}"
            f" AND chunks.name {self._dialect.any_of(':names')}",
            model=self._dialect.key(model),
            names=self._dialect.keys(ids),
        )
        return {known.decode("utf-8", "replace"): vector for known, vector in found}

    @override
    async def unembedded(self, model: str, limit: int) -> tuple[StoredChunk, ...]:
        # Numbers first: selecting the rows themselves, in order, would sort them with all their content.
        found = await self._select(
            f"SELECT {self._dialect.chunk} FROM chunks WHERE id IN (SELECT chunks.id {_CHUNKS}"
            f" WHERE {OF} AND NOT EXISTS (SELECT 1 FROM {self._dialect.vectors}"
            f" WHERE chunk = chunks.id AND {_MODEL}) LIMIT :limit)",
            model=self._dialect.key(model),
            limit=limit,
        )
        return await asyncio.to_thread(chunks_of, found)

    @override
    async def embedded(self, model: str) -> int:
        found = await self._select(
            f"SELECT count(*) {_CHUNKS} JOIN {self._dialect.vectors} ON chunk = chunks.id"
            f" WHERE {OF} AND {_MODEL}",
            model=self._dialect.key(model),
        )
        return int(found[0][0])

    @property
    def pinning(self) -> str:
        """The statement that records that `:urls` are cited `:now`."""
        # Always in the same order, which prevents deadlocks.
        return (
            f"UPDATE documents SET pinned_at = :now, used = {self._dialect.next_use}"
            f" WHERE id IN (SELECT id FROM documents WHERE {OF} AND {self._dialect.among}"
            f" ORDER BY id{self._dialect.locked})"
        )

    @override
    async def pin(self, urls: Sequence[str], now: float) -> None:
        await self._change(self.pinning, urls=self._dialect.keys(urls), now=now)

    @override
    async def totals(self, url: str | None = None) -> Totals:
        only = "" if url is None else f" AND {self._dialect.at}"
        found = await self._select(
            f"SELECT count(*), {self._dialect.total('chunks')}, {self._dialect.total('tokens')},"
            f" {self._dialect.size} FROM documents WHERE {OF}{only}",
            url=self._dialect.key(url or ""),
        )
        return Totals(*found[0])

    @override
    async def export(self) -> AsyncIterator[StoredPage]:
        after = 0
        while found := await self._select(
            f"SELECT id, {self._dialect.head}, {self._dialect.body} FROM documents"
            f" WHERE {OF} AND id > :after ORDER BY id LIMIT 1",
            after=after,
        ):
            ((after, *row),) = found
            if page := await asyncio.to_thread(page_of, row):
                yield page

    async def _heads(self, only: str, **values: K) -> tuple[PageHead, ...]:
        found = await self._select(
            f"SELECT {self._dialect.head}, {self._dialect.counts} FROM documents WHERE {OF} {only}",
            **values,
        )
        return tuple(
            PageHead(**known, chunks=chunks, tokens=tokens)
            for *row, chunks, tokens in found
            if (known := known_of(row)) is not None
        )

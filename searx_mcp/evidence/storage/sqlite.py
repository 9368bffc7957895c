"""The corpus in a SQLite file that several processes share, or in memory."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageError, StorageUnavailableError
from searx_mcp.evidence.storage.rows import (
    ABOUT,
    AGED_AT_ONCE,
    ERASING,
    RECENT,
    WORDS_VERSION,
    CorpusLimits,
    PageRow,
    as_key,
    packed,
)
from searx_mcp.evidence.storage.sql import NUMBER, OF, SqlCorpusStore, matches
from searx_mcp.evidence.storage.sqlite_tables import (
    DIALECT,
    SCHEMA,
    Found,
    drop_chunks,
    frequencies,
    has_old_words,
    match,
    match_in,
    merge_index,
    put_vectors,
    renew_words,
    write_chunks,
)
from searx_mcp.evidence.storage.store import ChunkMatch, Kept, StoredChunk, StoredPage
from searx_mcp.storage.pages import SKEW
from searx_mcp.storage.sqlite import Database, Transaction

FILE_NAME: Final = f"corpus-v{SCHEMA.major}.db"
"""The file's name; another major is another file, so programs of both have their own."""

_PATIENCE: Final = 10.0
"""Seconds; longer than for other stores, since the file may be a hundred times as large."""
_MERGES: Final = 1_000
"""Transactions for merging the index; a file of 1 GB takes a hundred, unless other processes keep writing."""
_MEMORY_BYTES: Final = 64 << 20
"""Maximum bytes of a corpus in memory, whatever the limit of a file."""
_MOST_UNPINNED: Final = 1_000
"""Citations that wait until they can be recorded; of more, the latest."""

_GONE_AT_ONCE: Final = 32
"""Pages that one transaction deletes, of some 30 chunks each: about 0.1 s."""

T = TypeVar("T")
_log = logging.getLogger("searx_mcp.storage")


class SqliteCorpusStore(SqlCorpusStore[str, str]):
    """The store in a file that several processes share, or in memory.

    When the file cannot be read, everything is stored in memory until the process ends. A page for which it has no room
    is not stored. A citation that could not be recorded is recorded with the next page, before pages make room for it.
    Deleted pages leave no trace in the file.

    Args:
        path: the file, best `folder / FILE_NAME`; its folder is created. `None`: in memory.
        namespace: owner of these pages; those of other namespaces are never found.
        max_bytes: of the file, for all namespaces together.
        max_age: seconds after which a page is deleted.
        patience: seconds one call may take.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        namespace: str,
        max_bytes: int,
        max_age: float,
        patience: float = _PATIENCE,
    ) -> None:
        super().__init__(DIALECT)
        bounds = CorpusLimits(max_bytes, max_age)
        self._namespace = as_key(namespace)
        self._bounds = _in_memory(bounds) if path is None else bounds
        self._database = Database(path, SCHEMA, patience=patience)
        self._is_current = False
        self._counted: tuple[tuple[object, ...], dict[str, int]] = ((), {})
        self._is_full = False
        self._unpinned: dict[str, float] = {}

    @override
    def __repr__(self) -> str:
        return f"<SqliteCorpusStore {self._database.path}>"

    @property
    @override
    def is_lasting(self) -> bool:
        return not self._database.is_in_memory

    @override
    async def keep(self, page: StoredPage, chunks: Sequence[StoredChunk], now: float) -> Kept:
        row = await asyncio.to_thread(packed, page, chunks)
        due = self._unpinned

        def work(tx: Transaction) -> Kept:
            self._pin(tx, due)
            return _put(tx, self._namespace, row, now=now, bounds=self._bounds)

        try:
            kept = await self._try(lambda database: database.write(work))
        except StorageUnavailableError as exc:
            if self._database.is_in_memory:
                raise
            if not self._is_full:
                self._is_full = True
                _log.warning("corpus.not_kept reason=%s advice=%s", exc.message, exc.advice)
            return Kept(0, 0, 0)
        self._is_full = False
        self._pinned(due)
        return kept

    @override
    async def pin(self, urls: Sequence[str], now: float) -> None:
        late = {**self._unpinned, **dict.fromkeys(urls, now)}
        self._unpinned = due = dict(sorted(late.items(), key=itemgetter(1))[-_MOST_UNPINNED:])
        if await self._note(lambda tx: self._pin(tx, due)):
            self._pinned(due)

    def _pin(self, tx: Transaction, due: Mapping[str, float]) -> None:
        for url, now in due.items():
            tx.change(self.pinning, namespace=self._namespace, urls=DIALECT.keys([url]), now=now)

    def _pinned(self, done: Mapping[str, float]) -> None:
        self._unpinned = dict(self._unpinned.items() - done.items())

    @override
    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[ChunkMatch, ...]:
        def work(tx: Transaction) -> tuple[list[Found], list[tuple[Any, ...]]]:
            scope, documents = self._within(tx, urls)
            if scope is None or documents == []:
                return [], []
            if documents is None:
                ranked = match(tx, scope, self._counts(tx, scope, terms), limit)
            else:
                ranked = match_in(tx, scope, terms, documents, limit)
            return ranked, tx.rows(
                DIALECT.found, chunks=DIALECT.values([chunk for chunk, _ in ranked])
            )

        await self._index_anew()
        ranked, found = await self._read(work)
        return await asyncio.to_thread(matches, ranked, found)

    @override
    async def frequencies(
        self, terms: Sequence[str], *, urls: Sequence[str] | None = None
    ) -> tuple[int, dict[str, int]]:
        def work(tx: Transaction) -> tuple[int, dict[str, int]]:
            scope, documents = self._within(tx, urls)
            if scope is None or documents == []:
                return 0, dict.fromkeys(terms, 0)
            ((total,),) = tx.rows(
                DIALECT.chunk_count(is_scoped=urls is not None),
                scope=scope,
                urls=DIALECT.keys(urls or ()),
            )
            if documents is None:
                return total, self._counts(tx, scope, terms)
            return total, frequencies(tx, scope, terms, documents)

        await self._index_anew()
        return await self._read(work)

    @override
    async def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        await self._note(lambda tx: put_vectors(tx, self._namespace, model, vectors))

    @override
    async def remove(self, urls: Sequence[str]) -> int:
        count = 0
        for url in dict.fromkeys(map(as_key, urls)):
            count += await self._database.write(
                partial(_drop_page, namespace=self._namespace, url=url)
            )
        if count:
            await self._erase()
        return count

    @override
    async def clear(self) -> None:
        while await self._database.write(lambda tx: _drop_some(tx, self._namespace)):
            pass
        await self._erase()

    @override
    async def purge(self) -> None:
        while await self._database.write(lambda tx: _drop_some(tx, None)):
            pass
        await self._erase()

    @override
    async def aclose(self) -> None:
        await self._database.aclose()

    async def _erase(self) -> None:
        for turn in range(_MERGES):
            if not await self._database.write(partial(merge_index, is_first=turn == 0)):
                break
        await self._database.erase(_drop_names, patience=ERASING)

    def _within(
        self, tx: Transaction, urls: Sequence[str] | None
    ) -> tuple[int | None, list[int] | None]:
        """Return the number of the namespace and those of pages."""
        scope = _number_of(tx, self._namespace)
        if scope is None or urls is None:
            return scope, None
        return scope, _documents_of(tx, scope, urls)

    def _counts(self, tx: Transaction, scope: int, terms: Sequence[str]) -> dict[str, int]:
        """Count the chunks that contain each term; results are cached until something changes."""
        key = (_state_of(tx), *terms)
        if self._counted[0] != key:
            self._counted = key, frequencies(tx, scope, terms, None)
        return dict(self._counted[1])

    @override
    async def _note_use(self, url: str) -> None:
        key = as_key(url)
        if await self._select(
            f"SELECT 1 FROM documents WHERE {OF} AND {DIALECT.at}"  # noqa: S608 - ours
            " AND used < (SELECT max(used) FROM documents) - :recent",
            url=key,
            recent=RECENT,
        ):
            await self._change(
                f"UPDATE documents SET used = {DIALECT.next_use} WHERE {OF} AND {DIALECT.at}",  # noqa: S608 - ours
                url=key,
            )

    async def _index_anew(self) -> None:
        """Reindex some chunks that an earlier version indexed."""
        if self._is_current:
            return
        try:
            self._is_current = not await self._database.read(has_old_words)
            if not self._is_current:
                await self._database.write(renew_words)
        except StorageError as exc:
            _log.debug("corpus.words_not_renewed reason=%s", exc.message)

    @override
    async def _select(self, sql: str, **values: float | bytes | str) -> list[tuple[Any, ...]]:
        return await self._read(lambda tx: tx.rows(sql, namespace=self._namespace, **values))

    @override
    async def _change(self, sql: str, **values: float | bytes | str) -> None:
        await self._note(lambda tx: tx.change(sql, namespace=self._namespace, **values))

    async def _note(self, work: Callable[[Transaction], object]) -> bool:
        """Write what pages can do without; return whether it was written."""
        try:
            await self._database.write(work)
        except StorageError as exc:
            _log.debug("corpus.not_noted reason=%s", exc.message)
            return False
        return True

    async def _read(self, work: Callable[[Transaction], T]) -> T:
        return await self._try(lambda database: database.read(work))

    async def _try(self, call: Callable[[Database], Awaitable[T]]) -> T:
        """Run work on the file, or in memory once the file cannot be used."""
        database = self._database
        try:
            return await call(database)
        except StorageUnavailableError as exc:
            if database.is_in_memory or await _is_readable(database):
                raise
            if self._database is database:
                _log.warning("corpus.not_kept reason=%s advice=%s", exc.message, exc.advice)
                self._database = Database(None, SCHEMA, patience=database.patience)
                self._bounds = _in_memory(self._bounds)
                await database.aclose()
        return await call(self._database)


async def _is_readable(database: Database) -> bool:
    """Return whether the pages in a file can be used although something cannot be written."""
    try:
        await database.read(lambda tx: tx.rows("SELECT 1 FROM documents LIMIT 1"))
    except StorageError:
        return False
    return True


def _in_memory(bounds: CorpusLimits) -> CorpusLimits:
    return replace(bounds, max_bytes=min(bounds.max_bytes, _MEMORY_BYTES))


def _put(
    tx: Transaction,
    namespace: str,
    page: PageRow,
    *,
    now: float,
    bounds: CorpusLimits,
) -> Kept:
    """Store a page in place of the last one under its address; the least recently used pages make room."""
    _sweep(tx, now, bounds.max_age)
    tx.change("INSERT OR IGNORE INTO namespaces (name) VALUES (:name)", name=namespace)
    scope: int = tx.rows(NUMBER, namespace=namespace)[0][0]
    known = tx.rows(
        "SELECT id, CAST(title AS BLOB) = :title AND version = :version FROM documents"
        " WHERE namespace = :scope AND url = :url",
        scope=scope,
        url=page.url,
        title=page.title,
        version=WORDS_VERSION,
    )
    if page.size > bounds.max_bytes:
        return Kept(0, 0, sum(_drop_document(tx, document) for document, _ in known))
    document = _write_page(tx, scope, page)
    kept = write_chunks(tx, document, scope, page.chunks, is_indexed=bool(known and known[0][1]))
    _make_room(tx, bounds.max_bytes, spared=document)
    return kept


def _number_of(tx: Transaction, namespace: str) -> int | None:
    """Return the number of a namespace, which is created with its first page."""
    rows = tx.rows(NUMBER, namespace=namespace)
    return rows[0][0] if rows else None


def _documents_of(tx: Transaction, scope: int, urls: Iterable[str]) -> list[int]:
    """Return the numbers of pages; pages that are not stored are skipped."""
    rows = tx.rows(DIALECT.documents, scope=scope, urls=DIALECT.keys(urls))
    return [number for (number,) in rows]


def _drop_page(tx: Transaction, namespace: str, url: str) -> bool:
    """Delete a page by its address; return whether it was there."""
    scope = _number_of(tx, namespace)
    found = [] if scope is None else _documents_of(tx, scope, [url])
    for document in found:
        _drop_document(tx, document)
    return bool(found)


def _drop_some(tx: Transaction, namespace: str | None) -> bool:
    """Delete some pages of a namespace, or of all of them; return whether there may be more."""
    found = tx.rows(
        "SELECT documents.id FROM documents JOIN namespaces ON namespaces.id = namespace"
        " WHERE :namespace IS NULL OR namespaces.name = :namespace LIMIT :most",
        namespace=namespace,
        most=_GONE_AT_ONCE,
    )
    for (document,) in found:
        _drop_document(tx, document)
    return len(found) == _GONE_AT_ONCE


def _drop_names(tx: Transaction) -> None:
    """Delete namespaces without pages, and models without vectors."""
    tx.change("DELETE FROM namespaces WHERE id NOT IN (SELECT namespace FROM documents)")
    tx.change("DELETE FROM models WHERE id NOT IN (SELECT model FROM vectors)")


def _state_of(tx: Transaction) -> tuple[int, ...]:
    """Return a value that changes when any connection has changed the file, or the file was replaced."""
    return (
        *tx.rows("PRAGMA data_version")[0],
        *tx.rows("SELECT total_changes(), (SELECT max(id) FROM chunks)")[0],
    )


def _write_page(tx: Transaction, scope: int, page: PageRow) -> int:
    values: dict[str, float | bytes] = {
        **dict(zip(ABOUT, page.about, strict=True)),
        "fetched_at": page.fetched_at,
        "fresh_until": page.fresh_until,
        "version": WORDS_VERSION,
        "chunks": len(page.chunks),
        "tokens": sum(chunk.tokens for chunk in page.chunks),
    }
    tx.change(
        f"INSERT INTO documents (namespace, url, used, {', '.join(values)})"  # noqa: S608 - our names
        f" VALUES (:scope, :url, {DIALECT.next_use},"
        f" {', '.join(f':{name}' for name in values)})"
        " ON CONFLICT (namespace, url) DO UPDATE SET used = excluded.used,"
        f" {', '.join(f'{name} = excluded.{name}' for name in values)}",
        scope=scope,
        url=page.url,
        **values,
    )
    (document,) = _documents_of(tx, scope, [page.url])
    tx.change(
        "INSERT OR REPLACE INTO bodies (document, body) VALUES (:document, :body)",
        document=document,
        body=page.body,
    )
    return document


def _drop_document(tx: Transaction, document: int) -> int:
    """Delete a page; return how many chunks it had."""
    gone = drop_chunks(tx, document)
    tx.change("DELETE FROM documents WHERE id = :document", document=document)
    return gone


def _sweep(tx: Transaction, now: float, max_age: float) -> None:
    """Delete some expired pages; times in the future count as now."""
    for change in (
        "SET fetched_at = :now, fresh_until = min(fresh_until, :now) WHERE fetched_at > :latest",
        "SET pinned_at = :now WHERE pinned_at > :latest",
    ):
        tx.change(f"UPDATE documents {change}", now=now, latest=now + SKEW)
    for (document,) in tx.rows(
        "SELECT id FROM documents WHERE fetched_at <= :oldest AND pinned_at <= :oldest LIMIT :most",
        oldest=now - max_age,
        most=AGED_AT_ONCE,
    ):
        _drop_document(tx, document)


def _make_room(tx: Transaction, max_bytes: int, *, spared: int) -> None:
    """Delete the least recently used pages; cited pages only when all others are gone."""
    while tx.rows(f"SELECT {DIALECT.size}")[0][0] > max_bytes:
        found = tx.rows(
            "SELECT id FROM documents WHERE id != :spared ORDER BY pinned_at, used LIMIT 1",
            spared=spared,
        )
        if not found:
            return
        _drop_document(tx, found[0][0])

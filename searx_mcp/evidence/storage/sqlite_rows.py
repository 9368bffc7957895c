"""The tables of the corpus, and the writes of one transaction."""

import json
from collections.abc import Iterable
from typing import Final

from searx_mcp.evidence.storage import sqlite_chunks as chunks
from searx_mcp.evidence.storage import sqlite_index as index
from searx_mcp.evidence.storage.rows import (
    ABOUT,
    AGED_AT_ONCE,
    RECENT,
    WORDS_VERSION,
    CorpusLimits,
    PageRow,
    as_key,
)
from searx_mcp.evidence.storage.sql import NUMBER, OF, SqlDialect
from searx_mcp.evidence.storage.store import Kept
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.pages import SKEW
from searx_mcp.storage.sqlite import Transaction

# A page is a row of `documents` with its text in `bodies`; `chunks` are its parts, in the order of `position`.
# `used` is a counter that grows with each use, not a time; `pinned_at` is 0 for a page that was never cited.
# `version` is that of the words by which the chunks of a page are indexed. Numbers are never reused,
# so that remains of a row are never taken for another's.
SCHEMA: Final = Schema(
    major=1,
    minors=(
        (
            "CREATE TABLE namespaces (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
            """CREATE TABLE documents (
                id INTEGER PRIMARY KEY AUTOINCREMENT, namespace INTEGER NOT NULL, url TEXT NOT NULL,
                final_url BLOB NOT NULL, title BLOB NOT NULL, etag BLOB NOT NULL,
                last_modified BLOB NOT NULL, content_hash BLOB NOT NULL, language BLOB NOT NULL,
                extractor BLOB NOT NULL, tier BLOB NOT NULL, fetched_at REAL NOT NULL,
                fresh_until REAL NOT NULL, pinned_at REAL NOT NULL DEFAULT 0, used INTEGER NOT NULL,
                version INTEGER NOT NULL, chunks INTEGER NOT NULL, tokens INTEGER NOT NULL,
                UNIQUE (namespace, url)
            )""",
            "CREATE INDEX documents_by_age ON documents (fetched_at)",
            "CREATE INDEX documents_by_use ON documents (pinned_at, used)",
            "CREATE INDEX documents_by_number ON documents (used)",
            "CREATE INDEX documents_by_version ON documents (version)",
            "CREATE TABLE bodies (document INTEGER PRIMARY KEY, body BLOB NOT NULL)",
            """CREATE TABLE chunks (
                id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL,
                position INTEGER NOT NULL, name TEXT NOT NULL, path BLOB NOT NULL,
                start INTEGER NOT NULL, stop INTEGER NOT NULL, tokens INTEGER NOT NULL,
                content BLOB NOT NULL
            )""",
            "CREATE INDEX chunks_by_document ON chunks (document, position)",
            "CREATE UNIQUE INDEX chunks_by_name ON chunks (name, document)",
            """CREATE TABLE models (
                id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, used INTEGER NOT NULL
            )""",
            """CREATE TABLE vectors (
                chunk INTEGER NOT NULL, model INTEGER NOT NULL, vector BLOB NOT NULL
            )""",
            "CREATE UNIQUE INDEX vectors_by_chunk ON vectors (chunk, model)",
            """CREATE TRIGGER document_gone AFTER DELETE ON documents BEGIN
                DELETE FROM bodies WHERE document = OLD.id;
            END""",
            """CREATE TRIGGER chunk_gone AFTER DELETE ON chunks BEGIN
                DELETE FROM vectors WHERE chunk = OLD.id;
            END""",
            index.STATEMENT,
        ),
    ),
    checked=False,
    page_size=8_192,  # 4 KiB pages hold two chunks, with a quarter of the page unused
    checks=(index.CHECK,),
)

_GONE_AT_ONCE: Final = 32
"""Pages that one transaction deletes, of some 30 chunks each: about 0.1 s."""
# SQLite lets any column hold any type. Skip rows that cannot be read.
DIALECT: Final[SqlDialect[str, str]] = SqlDialect(
    head=f"CAST(url AS BLOB), {', '.join(f'CAST({name} AS BLOB)' for name in ABOUT)},"
    " CAST(fetched_at AS REAL), CAST(fresh_until AS REAL)",
    counts="CAST(chunks AS INTEGER), CAST(tokens AS INTEGER)",
    body="coalesce((SELECT CAST(body AS BLOB) FROM bodies WHERE document = documents.id), x'')",
    title="CAST(title AS BLOB)",
    url="CAST(url AS BLOB)",
    chunk="CAST(chunks.name AS BLOB), CAST(content AS BLOB), CAST(path AS BLOB),"
    " CAST(start AS INTEGER), CAST(stop AS INTEGER), CAST(chunks.tokens AS INTEGER)",
    vector="CAST(vector AS BLOB)",
    vectors="vectors",
    total="CAST(min(total({}), 4e18) AS INTEGER)".format,
    size="(SELECT (page_count - freelist_count) * page_size"
    " FROM pragma_page_count, pragma_freelist_count, pragma_page_size)",
    at="url = :url",
    among="url IN (SELECT value FROM json_each(:urls))",
    any_of="IN (SELECT value FROM json_each({}))".format,
    next_use="(SELECT coalesce(max(used), 0) + 1 FROM documents)",
    locked="",
    key=as_key,
    values=json.dumps,
)


def put(
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
    kept = chunks.write(tx, document, scope, page.chunks, is_indexed=bool(known and known[0][1]))
    _make_room(tx, bounds.max_bytes, spared=document)
    return kept


def number_of(tx: Transaction, namespace: str) -> int | None:
    """Return the number of a namespace, which is created with its first page."""
    rows = tx.rows(NUMBER, namespace=namespace)
    return rows[0][0] if rows else None


def documents_of(tx: Transaction, scope: int, urls: Iterable[str]) -> list[int]:
    """Return the numbers of pages; pages that are not stored are skipped."""
    rows = tx.rows(DIALECT.documents, scope=scope, urls=DIALECT.keys(urls))
    return [number for (number,) in rows]


def chunk_count(tx: Transaction, scope: int, urls: Iterable[str] | None) -> int:
    """Count the chunks of a namespace, or of some pages."""
    sql = DIALECT.chunk_count(is_scoped=urls is not None)
    return int(tx.rows(sql, scope=scope, urls=DIALECT.keys(urls or ()))[0][0])


def is_used_long_ago(tx: Transaction, namespace: str, url: str) -> bool:
    """Return whether several other pages were used after a page, so that its use must be recorded."""
    return bool(
        tx.rows(
            "SELECT 1 FROM documents JOIN namespaces ON namespaces.id = namespace"
            " WHERE namespaces.name = :namespace AND url = :url"
            " AND documents.used < (SELECT max(used) FROM documents) - :recent",
            namespace=namespace,
            url=url,
            recent=RECENT,
        )
    )


def touch(tx: Transaction, namespace: str, url: str) -> None:
    """Record that a page was used."""
    tx.change(
        f"UPDATE documents SET used = {DIALECT.next_use} WHERE {OF} AND {DIALECT.at}",  # noqa: S608 - ours
        namespace=namespace,
        url=url,
    )


def drop_page(tx: Transaction, namespace: str, url: str) -> bool:
    """Delete a page by its address; return whether it was there."""
    scope = number_of(tx, namespace)
    found = [] if scope is None else documents_of(tx, scope, [url])
    for document in found:
        _drop_document(tx, document)
    return bool(found)


def drop_some(tx: Transaction, namespace: str | None) -> bool:
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


def drop_names(tx: Transaction) -> None:
    """Delete namespaces without pages, and models without vectors."""
    tx.change("DELETE FROM namespaces WHERE id NOT IN (SELECT namespace FROM documents)")
    tx.change("DELETE FROM models WHERE id NOT IN (SELECT model FROM vectors)")


def state_of(tx: Transaction) -> tuple[int, ...]:
    """Return a value that changes when any connection has changed the file, or the file was replaced."""
    return (
        *tx.rows("PRAGMA data_version")[0],
        *tx.rows("SELECT total_changes(), (SELECT max(id) FROM chunks)")[0],
    )


def bytes_used(tx: Transaction) -> int:
    """Measure the used size of the file."""
    return int(tx.rows(f"SELECT {DIALECT.size}")[0][0])


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
    (document,) = documents_of(tx, scope, [page.url])
    tx.change(
        "INSERT OR REPLACE INTO bodies (document, body) VALUES (:document, :body)",
        document=document,
        body=page.body,
    )
    return document


def _drop_document(tx: Transaction, document: int) -> int:
    """Delete a page; return how many chunks it had."""
    gone = chunks.drop(tx, document)
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
    while bytes_used(tx) > max_bytes:
        found = tx.rows(
            "SELECT id FROM documents WHERE id != :spared ORDER BY pinned_at, used LIMIT 1",
            spared=spared,
        )
        if not found:
            return
        _drop_document(tx, found[0][0])

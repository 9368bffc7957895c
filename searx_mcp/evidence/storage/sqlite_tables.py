"""The tables of the corpus in SQLite: chunks, and the index of their words.

The index is a contentless FTS5 table: it stores which word is where, and no text. A row is deleted with the same words
that were indexed, so these are stored with the chunk, compressed. Every word has the number of its namespace as a
prefix, so that a search in one namespace never touches another.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from searx_mcp.evidence.storage.rows import (
    ABOUT,
    MODELS,
    MOST_TERMS,
    RENEWED_AT_ONCE,
    WORDS_VERSION,
    ChunkRow,
    any_rare,
    as_key,
    headings_of,
    index_words,
    pack_chunk,
    unpack_chunk,
)
from searx_mcp.evidence.storage.sql import SqlDialect
from searx_mcp.evidence.storage.store import Kept
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.sqlite import Transaction

# Words come from `content.words.terms`, so only spaces separate them; `porter` stems the English words, which
# that leaves whole.
_INDEX: Final = """CREATE VIRTUAL TABLE chunk_index USING fts5(
    page, headings, body, content = '', tokenize = "porter ascii tokenchars '.,'"
)"""
_CHECK: Final = "INSERT INTO chunk_index (chunk_index) VALUES ('integrity-check')"

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
            _INDEX,
        ),
    ),
    checked=False,
    page_size=8_192,  # 4 KiB pages hold two chunks, with a quarter of the page unused
    checks=(_CHECK,),
)

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

_OLD_VECTORS_AT_ONCE: Final = 1_000
_MERGED: Final = 500
"""Pages of the index that one transaction merges."""

Found = tuple[int, float]
"""The number of a chunk and its BM25."""


@dataclass(frozen=True, slots=True)
class _IndexRow:
    """A chunk in the index.

    Attributes:
        chunk: its number.
        page: the number of its page.
        namespace: the number of its namespace.
        words: from `index_words`.
    """

    chunk: int
    page: int
    namespace: int
    words: str


def write_chunks(
    tx: Transaction, document: int, scope: int, rows: Sequence[ChunkRow], *, is_indexed: bool
) -> Kept:
    """Write the chunks of a page; rewrite one whose row is damaged.

    Args:
        tx: transaction that runs it.
        document: the page.
        scope: its namespace.
        rows: all of its chunks, each once.
        is_indexed: whether chunks that stay are indexed by their current words.
    """
    wanted = {row.name.encode(): row.text for row in rows}
    old = _known(tx, document, scope)
    stay = {name: entry for name, text, entry in old if name in wanted and text == wanted[name]}
    for name, text, entry in old:
        if stay.get(name) is not entry:
            _drop(tx, entry, is_indexed=text is not None)
    for position, row in enumerate(rows):
        name = row.name.encode()
        if name not in stay:
            _insert(tx, document, scope, position, row)
            continue
        entry = stay[name]
        tx.change(
            "UPDATE chunks SET position = :position, path = :path, start = :start, stop = :stop,"
            " tokens = :tokens WHERE id = :chunk",
            position=position,
            path=row.path,
            start=row.start,
            stop=row.stop,
            tokens=row.tokens,
            chunk=entry.chunk,
        )
        if not is_indexed:
            _rename(tx, entry, row.text, row.words)
    return Kept(len(rows) - len(stay), len(stay), len(old) - len(stay))


def drop_chunks(tx: Transaction, document: int) -> int:
    """Delete the chunks of a page; return how many there were."""
    (scope,), *_ = tx.rows(
        "SELECT namespace FROM documents WHERE id = :document", document=document
    )
    old = _known(tx, document, scope)
    for _, text, entry in old:
        _drop(tx, entry, is_indexed=text is not None)
    return len(old)


def put_vectors(tx: Transaction, namespace: str, model: str, vectors: Mapping[str, bytes]) -> None:
    """Store the vectors of existing chunks, and delete those of models long unused."""
    tx.change("INSERT OR IGNORE INTO models (name, used) VALUES (:model, 0)", model=model)
    tx.change(
        "UPDATE models SET used = (SELECT max(used) FROM models) + 1 WHERE name = :model",
        model=model,
    )
    for (old,) in tx.rows(
        "SELECT id FROM models ORDER BY used DESC LIMIT -1 OFFSET :most", most=MODELS
    ):
        gone = tx.change(
            "DELETE FROM vectors WHERE rowid IN"
            " (SELECT rowid FROM vectors WHERE model = :old LIMIT :most)",
            old=old,
            most=_OLD_VECTORS_AT_ONCE,
        )
        if gone < _OLD_VECTORS_AT_ONCE:
            tx.change("DELETE FROM models WHERE id = :old", old=old)
    for name, vector in vectors.items():
        tx.change(
            "INSERT INTO vectors (chunk, model, vector)"
            " SELECT chunks.id, models.id, :vector FROM chunks"
            " JOIN documents ON documents.id = document"
            " JOIN namespaces ON namespaces.id = namespace, models"
            " WHERE chunks.name = :name AND namespaces.name = :namespace AND models.name = :model"
            " ON CONFLICT (chunk, model) DO UPDATE SET vector = excluded.vector",
            name=name,
            vector=vector,
            namespace=namespace,
            model=model,
        )


def has_old_words(tx: Transaction) -> bool:
    """Return whether a page is indexed by words of an earlier version."""
    return bool(
        tx.rows("SELECT 1 FROM documents WHERE version < :version LIMIT 1", version=WORDS_VERSION)
    )


def renew_words(tx: Transaction) -> None:
    """Reindex some pages that an earlier version indexed."""
    for document, scope, title in tx.rows(
        "SELECT id, namespace, CAST(title AS BLOB) FROM documents WHERE version < :version"
        " LIMIT :most",
        version=WORDS_VERSION,
        most=RENEWED_AT_ONCE,
    ):
        paths = dict(
            tx.rows(
                "SELECT id, CAST(path AS BLOB) FROM chunks WHERE document = :document",
                document=document,
            )
        )
        for _, text, entry in _known(tx, document, scope):
            if text is not None:
                words = index_words(
                    title.decode("utf-8", "replace"), headings_of(paths[entry.chunk]), text
                )
                _rename(tx, entry, text, words)
        tx.change(
            "UPDATE documents SET version = :version WHERE id = :document",
            version=WORDS_VERSION,
            document=document,
        )


def _known(tx: Transaction, document: int, scope: int) -> list[tuple[bytes, str | None, _IndexRow]]:
    """Read the ids, texts and words of the chunks of a page; no text if a row is damaged."""
    known = []
    for chunk, name, content in tx.rows(
        "SELECT id, CAST(name AS BLOB), CAST(content AS BLOB) FROM chunks"
        " WHERE document = :document",
        document=document,
    ):
        text, words = unpack_chunk(content) or (None, "")
        known.append((name, text, _IndexRow(chunk, document, scope, words)))
    return known


def _insert(tx: Transaction, document: int, scope: int, position: int, row: ChunkRow) -> None:
    tx.change(
        "INSERT INTO chunks (document, position, name, path, start, stop, tokens, content)"
        " VALUES (:document, :position, :name, :path, :start, :stop, :tokens, :content)",
        document=document,
        position=position,
        name=row.name,
        path=row.path,
        start=row.start,
        stop=row.stop,
        tokens=row.tokens,
        content=row.content,
    )
    ((chunk,),) = tx.rows("SELECT last_insert_rowid()")
    _index(tx, _IndexRow(chunk, document, scope, row.words))


def _rename(tx: Transaction, entry: _IndexRow, text: str, words: str) -> None:
    """Replace the words by which a chunk is found."""
    _unindex(tx, entry)
    tx.change(
        "UPDATE chunks SET content = :content WHERE id = :chunk",
        content=pack_chunk(text, words),
        chunk=entry.chunk,
    )
    _index(tx, replace(entry, words=words))


def _drop(tx: Transaction, entry: _IndexRow, *, is_indexed: bool) -> None:
    # An index row whose words are lost is left behind: no chunk has its number any more.
    if is_indexed:
        _unindex(tx, entry)
    tx.change("DELETE FROM chunks WHERE id = :chunk", chunk=entry.chunk)


def _index(tx: Transaction, entry: _IndexRow) -> None:
    """Index the words of a chunk."""
    tx.change(
        "INSERT INTO chunk_index (rowid, page, headings, body)"
        " VALUES (:chunk, :page, :headings, :body)",
        **_words(entry),
    )


def _unindex(tx: Transaction, entry: _IndexRow) -> None:
    """Remove the words of a chunk from the index; they must be those it was indexed with."""
    tx.change(
        "INSERT INTO chunk_index (chunk_index, rowid, page, headings, body)"
        " VALUES ('delete', :chunk, :page, :headings, :body)",
        **_words(entry),
    )


def frequencies(
    tx: Transaction, namespace: int, asked: Iterable[str], pages: Sequence[int] | None
) -> dict[str, int]:
    """Count the chunks that contain each term, in a namespace or in some of its pages."""
    return {
        term: tx.rows(
            "SELECT count(*) FROM chunk_index WHERE chunk_index MATCH :query",
            query=_within(pages, _quoted(namespace, term)),
        )[0][0]
        for term in dict.fromkeys(asked)
    }


def match(tx: Transaction, namespace: int, counts: Mapping[str, int], limit: int) -> list[Found]:
    """Find the chunks that match some terms, with their BM25, best first.

    If very many chunks contain some of the terms, chunks with only such terms are found only if they contain all
    of them.

    Args:
        tx: transaction that runs it.
        namespace: its number.
        counts: the terms, with how many chunks contain each.
        limit: maximum number of chunks.
    """
    known = sorted((count, term) for term, count in counts.items() if count)[:MOST_TERMS]
    words = [(count, _quoted(namespace, term)) for count, term in known]
    return _ranked(tx, any_rare(words, either=" OR ", both=" AND "), limit) if words else []


def match_in(
    tx: Transaction, namespace: int, asked: Iterable[str], pages: Sequence[int], limit: int
) -> list[Found]:
    """Find the chunks of some pages that match some terms; as `match`."""
    query = " OR ".join(_quoted(namespace, term) for term in dict.fromkeys(asked))
    return _ranked(tx, _within(pages, query), limit) if query else []


def merge_index(tx: Transaction, *, is_first: bool) -> bool:
    """Merge a part of the index, so that it contains nothing deleted.

    Args:
        tx: transaction that runs it.
        is_first: whether this is the first of several calls.

    Returns:
        Whether there is more to do.
    """
    before = _changes(tx)
    tx.change(
        "INSERT INTO chunk_index (chunk_index, rank) VALUES ('merge', :pages)",
        pages=-_MERGED if is_first else _MERGED,
    )
    return _changes(tx) - before > 1  # the statement's own row is one


def _ranked(tx: Transaction, query: str, limit: int) -> list[Found]:
    return [
        (chunk, -score)
        for chunk, score in tx.rows(
            "SELECT rowid, bm25(chunk_index, 0.0, 2.0, 1.0) AS score FROM chunk_index"
            " WHERE chunk_index MATCH :query ORDER BY score, rowid LIMIT :limit",
            query=query,
            limit=limit,
        )
    ]


def _within(pages: Sequence[int] | None, query: str) -> str:
    if pages is None:
        return query
    return f"page : ({' OR '.join(map(_page, pages))}) AND ({query})"


def _words(entry: _IndexRow) -> Mapping[str, int | str]:
    headings, _, body = entry.words.partition("\n")
    return {
        "chunk": entry.chunk,
        "page": _page(entry.page),
        "headings": _scoped(entry.namespace, headings),
        "body": _scoped(entry.namespace, body),
    }


def _page(page: int) -> str:
    return f"p{page}"


def _scoped(namespace: int, words: str) -> str:
    return " ".join(f"z{namespace}z{word}" for word in words.split(" ") if word)


def _quoted(namespace: int, term: str) -> str:
    text = term.encode("utf-8", "replace").decode().replace('"', '""').replace("\0", "")
    return f'"z{namespace}z{text}"'


def _changes(tx: Transaction) -> int:
    return int(tx.rows("SELECT total_changes()")[0][0])

"""Rows of chunks, each with its row in the index."""

from collections.abc import Sequence
from dataclasses import replace

from searx_mcp.evidence.storage import sqlite_index as index
from searx_mcp.evidence.storage.rows import (
    RENEWED_AT_ONCE,
    WORDS_VERSION,
    ChunkRow,
    headings_of,
    index_words,
    pack_chunk,
    unpack_chunk,
)
from searx_mcp.evidence.storage.sqlite_index import IndexRow
from searx_mcp.evidence.storage.store import Kept
from searx_mcp.storage.sqlite import Transaction


def write(
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


def drop(tx: Transaction, document: int) -> int:
    """Delete the chunks of a page; return how many there were."""
    (scope,), *_ = tx.rows(
        "SELECT namespace FROM documents WHERE id = :document", document=document
    )
    old = _known(tx, document, scope)
    for _, text, entry in old:
        _drop(tx, entry, is_indexed=text is not None)
    return len(old)


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


def _known(tx: Transaction, document: int, scope: int) -> list[tuple[bytes, str | None, IndexRow]]:
    """Read the ids, texts and words of the chunks of a page; no text if a row is damaged."""
    known = []
    for chunk, name, content in tx.rows(
        "SELECT id, CAST(name AS BLOB), CAST(content AS BLOB) FROM chunks"
        " WHERE document = :document",
        document=document,
    ):
        text, words = unpack_chunk(content) or (None, "")
        known.append((name, text, IndexRow(chunk, document, scope, words)))
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
    index.add(tx, IndexRow(chunk, document, scope, row.words))


def _rename(tx: Transaction, entry: IndexRow, text: str, words: str) -> None:
    """Replace the words by which a chunk is found."""
    index.drop(tx, entry)
    tx.change(
        "UPDATE chunks SET content = :content WHERE id = :chunk",
        content=pack_chunk(text, words),
        chunk=entry.chunk,
    )
    index.add(tx, replace(entry, words=words))


def _drop(tx: Transaction, entry: IndexRow, *, is_indexed: bool) -> None:
    # An index row whose words are lost is left behind: no chunk has its number any more.
    if is_indexed:
        index.drop(tx, entry)
    tx.change("DELETE FROM chunks WHERE id = :chunk", chunk=entry.chunk)

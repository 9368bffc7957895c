"""The index of the words of chunks, and its queries.

The index is a contentless FTS5 table: it stores which word is where, and no text. A row is deleted with the same words
that were indexed, so these are stored with the chunk, compressed. Every word has the number of its namespace as a
prefix, so that a search in one namespace never touches another.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.evidence.storage.rows import MOST_TERMS, any_rare
from searx_mcp.storage.sqlite import Transaction

# Words come from `find_terms`, so only spaces separate them; `porter` stems the English words, which
# `find_terms` leaves whole.
STATEMENT: Final = """CREATE VIRTUAL TABLE chunk_index USING fts5(
    page, headings, body, content = '', tokenize = "porter ascii tokenchars '.,'"
)"""
CHECK: Final = "INSERT INTO chunk_index (chunk_index) VALUES ('integrity-check')"

_MERGED: Final = 500
"""Pages of the index that one transaction merges."""


Found = tuple[int, float]
"""The number of a chunk and its BM25."""


@dataclass(frozen=True, slots=True)
class IndexRow:
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


def add(tx: Transaction, entry: IndexRow) -> None:
    """Index the words of a chunk."""
    tx.change(
        "INSERT INTO chunk_index (rowid, page, headings, body)"
        " VALUES (:chunk, :page, :headings, :body)",
        **_row(entry),
    )


def drop(tx: Transaction, entry: IndexRow) -> None:
    """Remove the words of a chunk from the index; they must be those it was indexed with."""
    tx.change(
        "INSERT INTO chunk_index (chunk_index, rowid, page, headings, body)"
        " VALUES ('delete', :chunk, :page, :headings, :body)",
        **_row(entry),
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


def merge(tx: Transaction, *, is_first: bool) -> bool:
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


def _row(entry: IndexRow) -> Mapping[str, int | str]:
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

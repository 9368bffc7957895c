"""What the corpus keeps, as values and as rows."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from searx_mcp.content.document import Document
from searx_mcp.storage.corpus_chunks import ChunkRow
from searx_mcp.storage.corpus_index import index_words, pack_chunk, unpack_chunk
from searx_mcp.storage.corpus_rows import ABOUT, PageRow
from searx_mcp.storage.packing import pack_document, unpack_document

# SQLite lets any column hold any type. A row that cannot be read is read as none.
HEAD: Final = (
    f"CAST(url AS BLOB), {', '.join(f'CAST({name} AS BLOB)' for name in ABOUT)},"
    " CAST(fetched_at AS REAL), CAST(fresh_until AS REAL)"
)
CHUNK: Final = (
    "CAST(chunks.name AS BLOB), CAST(content AS BLOB), CAST(path AS BLOB),"
    " CAST(start AS INTEGER), CAST(stop AS INTEGER), CAST(chunks.tokens AS INTEGER)"
)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A part of a kept page.

    Attributes:
        id: `chunk_id` of `content.chunks`; a page has each once.
        text: as it stands in the page's Markdown.
        path: the headings above it, outermost first.
        start: bytes before it, of the Markdown in UTF-8.
        end: bytes up to its end, likewise.
        tokens: of the text.
        words: under which it is found, a line of those of its titles and one of its own; what is kept has
            some, whatever is given. They say nothing that the rest does not, and are not compared.
    """

    id: str
    text: str
    path: tuple[str, ...]
    start: int
    end: int
    tokens: int
    words: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A kept page.

    Attributes:
        url: as it was asked for, normalised; the key.
        final_url: after redirects.
        title: of the page; may be empty.
        etag: as the site sent it; may be empty.
        last_modified: likewise.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag the page declares; may be empty.
        extractor: the version of what made the Markdown.
        tier: where the text comes from, as in `models.page.Page`.
        fetched_at: when it was fetched or last found unchanged, Unix seconds.
        fresh_until: Unix seconds until which it serves without asking the site.
        document: the whole of its text.
    """

    url: str
    final_url: str
    title: str
    etag: str
    last_modified: str
    content_hash: str
    language: str
    extractor: str
    tier: str
    fetched_at: float
    fresh_until: float
    document: Document


@dataclass(frozen=True, slots=True)
class PageHead:
    """What is known of a kept page without its text; `chunks` and `tokens` count, the rest is as in `StoredPage`."""

    url: str
    final_url: str
    title: str
    etag: str
    last_modified: str
    content_hash: str
    language: str
    extractor: str
    tier: str
    fetched_at: float
    fresh_until: float
    chunks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Kept:
    """How many chunks of a page are new, how many stayed with their vectors, and how many are gone."""

    new: int
    reused: int
    removed: int


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk that fits some terms, with address and title of its page; the higher `bm25`, the better."""

    url: str
    title: str
    chunk: StoredChunk
    bm25: float


@dataclass(frozen=True, slots=True)
class Totals:
    """What is kept.

    Attributes:
        documents: pages.
        chunks: of them.
        tokens: of the chunks.
        bytes: of the file, with the pages of other namespaces.
    """

    documents: int
    chunks: int
    tokens: int
    bytes: int


def packed(page: StoredPage, chunks: Iterable[StoredChunk]) -> PageRow:
    """Write a page with its chunks as rows; of equal chunks the first."""
    once: dict[str, StoredChunk] = {}
    for chunk in chunks:
        once.setdefault(chunk.id, chunk)
    return PageRow(
        url=as_key(page.url),
        about=tuple(as_bytes(getattr(page, name)) for name in ABOUT),
        fetched_at=page.fetched_at,
        fresh_until=page.fresh_until,
        body=pack_document(page.document),
        chunks=tuple(
            ChunkRow(
                name=as_key(chunk.id),
                path=as_bytes(json.dumps(chunk.path)),
                start=chunk.start,
                stop=chunk.end,
                tokens=chunk.tokens,
                text=chunk.text,
                words=(words := index_words(page.title, chunk.path, chunk.text)),
                content=pack_chunk(chunk.text, words),
            )
            for chunk in once.values()
        ),
    )


def known_of(row: Sequence[Any]) -> dict[str, Any] | None:
    """Read the columns of `HEAD`; `None` if one cannot be read."""
    *texts, fetched_at, fresh_until = row
    try:
        known = {
            name: text.decode("utf-8", "surrogatepass")
            for name, text in zip(("url", *ABOUT), texts, strict=True)
        }
    except UnicodeDecodeError:
        return None
    if not (math.isfinite(fetched_at) and math.isfinite(fresh_until)):
        return None
    return {**known, "fetched_at": fetched_at, "fresh_until": fresh_until}


def page_of(row: Sequence[Any]) -> StoredPage | None:
    """Read the columns of `HEAD` and a body; `None` if one cannot be read."""
    known, document = known_of(row[:-1]), unpack_document(row[-1])
    return None if known is None or document is None else StoredPage(**known, document=document)


def matches_of(found: Iterable[Sequence[Any]]) -> tuple[Match, ...]:
    """Read rows of a score, address, title and the columns of `CHUNK`; leave out what cannot be read."""
    return tuple(
        Match(url.decode("utf-8", "replace"), title.decode("utf-8", "replace"), chunk, score)
        for score, url, title, *row in found
        if (chunk := chunk_of(row)) is not None
    )


def chunks_of(found: Iterable[Sequence[Any]]) -> tuple[StoredChunk, ...]:
    """Read rows of the columns of `CHUNK`, without those that cannot be read."""
    return tuple(chunk for row in found if (chunk := chunk_of(row)) is not None)


def chunk_of(row: Sequence[Any]) -> StoredChunk | None:
    """Read the columns of `CHUNK`; `None` if one cannot be read."""
    name, content, path, start, end, tokens = row
    text, words = unpack_chunk(content) or (None, "")
    try:
        names = json.loads(path)
        known = name.decode()
    except (ValueError, RecursionError):
        return None
    is_path = isinstance(names, list) and all(isinstance(each, str) for each in names)
    if text is None or not is_path or not 0 <= start <= end or tokens < 0:
        return None
    return StoredChunk(known, text, tuple(names), start, end, tokens, words)


def as_bytes(text: str) -> bytes:
    """Write a text, whatever is in it."""
    return text.encode("utf-8", "surrogatepass")


def as_key(text: str) -> str:
    """Give a text that can be a key: SQLite takes no lone surrogates."""
    return text.encode("utf-8", "replace").decode()

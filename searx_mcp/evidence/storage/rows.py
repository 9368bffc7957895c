"""Rows of pages and chunks as bytes, which all stores of the corpus share."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from searx_mcp.content.words import terms
from searx_mcp.evidence.storage.store import ChunkMatch, StoredChunk, StoredPage
from searx_mcp.storage.packing import pack_document, pack_text, unpack_document, unpack_text

AGED_AT_ONCE: Final = 8
"""Expired pages that one transaction deletes."""
RENEWED_AT_ONCE: Final = 16
"""Pages that one transaction reindexes, of some 30 chunks each."""
RECENT: Final = 16
"""The most recently used pages, whose use is not recorded again: reading them writes nothing."""
MODELS: Final = 2
"""Number of models whose vectors are kept, most recently used first, so that switching back finds them."""
ERASING: Final = 120.0
"""Seconds that deleting everything, or rewriting the whole file, may take."""
MOST_TERMS: Final = 64
"""Words of a question that are used, the rarest ones: each takes time, and more hardly change the result."""
_MOST_ROWS: Final = 6_000
"""Chunks that are scored for a question, in a file at about 2 µs each: a word that more chunks contain is used after
rarer ones, and then only together with others like it."""
WORDS_VERSION: Final = 1
"""Version of `index_words`. Chunks indexed under an earlier one are indexed again."""

ABOUT: Final = (
    "final_url", "title", "etag", "last_modified", "content_hash", "language", "extractor", "tier",
)  # fmt: skip
"""Columns of a page's metadata; all hold text."""
_SEPARATOR: Final = "\x1f"
"""Separates a text from its words; no word contains it."""


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as written to the store.

    Attributes:
        name: its ID.
        path: its headings, as JSON.
        text: as it is.
        words: by which it is found.
        content: text and words, packed.
    """

    name: str
    path: bytes
    start: int
    stop: int
    tokens: int
    text: str
    words: str
    content: bytes


@dataclass(frozen=True, slots=True)
class CorpusLimits:
    """Limits of the store.

    Attributes:
        max_bytes: of the file, without its free pages.
        max_age: seconds since a page was fetched, found unchanged, or cited.
    """

    max_bytes: int
    max_age: float


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as written to the store; texts are UTF-8.

    Attributes:
        about: the values of `ABOUT`.
    """

    url: str
    about: tuple[bytes, ...]
    fetched_at: float
    fresh_until: float
    body: bytes
    chunks: tuple[ChunkRow, ...]

    @property
    def title(self) -> bytes:
        """The title of the page."""
        return self.about[1]

    @property
    def size(self) -> int:
        """Approximate size in bytes, with its index."""
        return len(self.body) + sum(2 * len(row.content) for row in self.chunks)


def index_words(title: str, path: Iterable[str], text: str) -> str:
    """Return the words by which a chunk is found: a line of those of its titles, and a line of its own."""
    titles = " ".join(dict.fromkeys((title, *path)))
    return "\n".join(" ".join(terms(part)) for part in (titles, text))


def pack_chunk(text: str, words: str) -> bytes:
    """Compress a chunk with its words: they repeat its text, so together they take 1.2 times the text alone."""
    return pack_text(f"{text}{_SEPARATOR}{words}")


def unpack_chunk(content: bytes) -> tuple[str, str] | None:
    """Decompress a chunk and its words; `None` if they are damaged."""
    text, separator, words = (unpack_text(content) or "").rpartition(_SEPARATOR)
    return (text, words) if separator else None


def packed(page: StoredPage, chunks: Iterable[StoredChunk]) -> PageRow:
    """Convert a page with its chunks to rows; of equal chunks, the first is kept."""
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
    """Parse the columns of `SqlDialect.head`; `None` if one cannot be read."""
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
    """Parse the columns of `SqlDialect.head` and a body; `None` if one cannot be read."""
    known, document = known_of(row[:-1]), unpack_document(row[-1])
    return None if known is None or document is None else StoredPage(**known, document=document)


def matches_of(found: Iterable[Sequence[Any]]) -> tuple[ChunkMatch, ...]:
    """Parse rows of a score, address, title and the columns of `SqlDialect.chunk`; skip unreadable rows."""
    return tuple(
        ChunkMatch(url.decode("utf-8", "replace"), title.decode("utf-8", "replace"), chunk, score)
        for score, url, title, *row in found
        if (chunk := chunk_of(row)) is not None
    )


def chunks_of(found: Iterable[Sequence[Any]]) -> tuple[StoredChunk, ...]:
    """Parse rows of the columns of `SqlDialect.chunk`; skip unreadable rows."""
    return tuple(chunk for row in found if (chunk := chunk_of(row)) is not None)


def chunk_of(row: Sequence[Any]) -> StoredChunk | None:
    """Parse the columns of `SqlDialect.chunk`; `None` if one cannot be read."""
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
    """Encode a text, whatever it contains."""
    return text.encode("utf-8", "surrogatepass")


def as_key(text: str) -> str:
    """Return a text that can be a key: SQLite does not accept lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def any_rare(
    words: Sequence[tuple[int, str]], *, either: str, both: str, is_all: bool = False
) -> str:
    """Build the condition for a chunk: one of the rare words, or all of the common ones.

    Args:
        words: quoted, each after the number of chunks that contain it, the rarest first.
        either: joins conditions of which one is enough.
        both: joins conditions that must all be met.
        is_all: whether all words count as rare.
    """
    totals = enumerate(accumulate(count for count, _ in words))
    common = (at for at, total in totals if at and total > _MOST_ROWS and not is_all)
    first = next(common, len(words))
    conditions = [word for _, word in words[:first]]
    if len(words) - first > 1:
        conditions.append(f"({both.join(word for _, word in words[first:])})")
    return either.join(conditions)


def headings_of(path: bytes) -> list[str]:
    """Parse the headings above a chunk; none if they cannot be read."""
    try:
        return [str(name) for name in json.loads(path)]
    except (ValueError, TypeError, RecursionError):
        return []

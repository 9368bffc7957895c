"""The interface of stores of read pages and their chunks."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from searx_mcp.content.document import Document


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A part of a stored page.

    Attributes:
        id: `chunk_id` of `content.chunks`; a page has each once.
        text: as in the page's Markdown.
        path: the headings above it, outermost first.
        start: bytes before it, of the Markdown in UTF-8.
        end: bytes up to its end, of the Markdown in UTF-8.
        tokens: of the text.
        words: by which it is found: a line of those of its titles, and a line of its own; the store sets
            them, whatever is given. They are derived from the rest, and are not compared.
    """

    id: str
    text: str
    path: tuple[str, ...]
    start: int
    end: int
    tokens: int
    words: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class _PageFacts:
    """What is known about a stored page besides its text.

    Attributes:
        url: as requested, normalised; the key.
        final_url: after redirects.
        title: of the page; may be empty.
        etag: as the site sent it; may be empty.
        last_modified: as the site sent it; may be empty.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag that the page declares; may be empty.
        extractor: version of the code that made the Markdown.
        tier: where the text comes from, as in `models.page.Page`.
        fetched_at: when it was fetched or last found unchanged, Unix seconds.
        fresh_until: Unix seconds until which it is used without a request.
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


@dataclass(frozen=True, slots=True)
class StoredPage(_PageFacts):
    """A stored page with all of its text."""

    document: Document


@dataclass(frozen=True, slots=True)
class PageHead(_PageFacts):
    """A stored page without its text, with the number of its chunks and of their tokens."""

    chunks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Kept:
    """How many chunks of a page are new, how many stayed with their vectors, and how many are gone."""

    new: int
    reused: int
    removed: int


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """A chunk that matches some terms, with address and title of its page; the higher `bm25`, the better."""

    url: str
    title: str
    chunk: StoredChunk
    bm25: float


@dataclass(frozen=True, slots=True)
class Totals:
    """The size of the store's content.

    Attributes:
        documents: number of pages.
        chunks: number of their chunks.
        tokens: of the chunks.
        bytes: of the store, with the pages of other namespaces.
    """

    documents: int
    chunks: int
    tokens: int
    bytes: int


class CorpusStore(Protocol):
    """Pages of one namespace with their chunks and vectors.

    A page is written with its chunks in one transaction. Storing a page deletes expired ones, and, if the store
    is full, the least recently used. A cited page counts as fetched when it was cited, and makes room only
    when all others are gone, so that its quotes can be verified.

    While a store cannot be used, everything is stored in memory instead, and a warning is logged. Methods whose
    docstring says so fail then.
    """

    @property
    def is_lasting(self) -> bool:
        """Whether what was stored so far outlives the process."""
        ...

    async def keep(self, page: StoredPage, chunks: Sequence[StoredChunk], now: float) -> Kept:
        """Store a page in place of the last one under its address; chunks with the same id stay.

        A page that is larger than the limit of the whole store is not stored, and its predecessor is deleted. A page
        for which a disk has no room is not stored.

        Args:
            page: the page.
            chunks: its parts in order; of equal ones, the first is kept.
            now: Unix seconds.

        Raises:
            StorageBusyError: the store was busy for too long; this applies to every method.
        """
        ...

    async def renew(
        self, url: str, *, fetched_at: float, fresh_until: float, etag: str, last_modified: str
    ) -> None:
        """Record that a site has reported a page as unchanged."""
        ...

    async def head(self, url: str) -> PageHead | None:
        """Return the metadata of a page, or `None` if it is not stored."""
        ...

    async def heads(self) -> tuple[PageHead, ...]:
        """Return all pages, by address."""
        ...

    async def page(self, url: str) -> StoredPage | None:
        """Return a page with its text, or `None` if it is not stored."""
        ...

    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        """Return the chunks of a page in order; none if it is not stored."""
        ...

    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[ChunkMatch, ...]:
        """Find the chunks that match some terms, best first.

        Args:
            terms: of `content.words.terms`. If more than 6,000 chunks contain some of them, the rarest decide.
            urls: only these pages; all unless given.
            limit: maximum number of chunks.
        """
        ...

    async def frequencies(
        self, terms: Sequence[str], *, urls: Sequence[str] | None = None
    ) -> tuple[int, dict[str, int]]:
        """Count all chunks, and those that contain each term.

        Args:
            terms: as for `match`.
            urls: only these pages; all unless given.
        """
        ...

    async def vectors(self, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors of a model, by the ids of their chunks; chunks without one are skipped."""
        ...

    async def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by the ids of their chunks; vectors of deleted chunks are dropped.

        Vectors of two models are kept, the most recently used.
        """
        ...

    async def unembedded(self, model: str, limit: int) -> tuple[StoredChunk, ...]:
        """Return some chunks that have no vector of a model."""
        ...

    async def embedded(self, model: str) -> int:
        """Count the chunks that have a vector of a model."""
        ...

    async def pin(self, urls: Sequence[str], now: float) -> None:
        """Record that pages are cited now."""
        ...

    async def totals(self, url: str | None = None) -> Totals:
        """Count what is stored of all pages, or of one."""
        ...

    def export(self) -> AsyncIterator[StoredPage]:
        """Yield all pages, one at a time; pages stored meanwhile may be included."""
        ...

    async def remove(self, urls: Sequence[str]) -> int:
        """Delete pages; return how many there were.

        Raises:
            StorageError: they cannot be deleted.
        """
        ...

    async def clear(self) -> None:
        """Delete all pages of the namespace.

        Raises:
            StorageError: they cannot be deleted.
        """
        ...

    async def purge(self) -> None:
        """Delete the pages of all namespaces.

        Raises:
            StorageError: they cannot be deleted.
        """
        ...

    async def aclose(self) -> None:
        """Close the store; harmless when called twice. Data in memory is lost."""
        ...

"""The interface of stores of read pages and their chunks."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from searx_mcp.content.document import Document
from searx_mcp.content.words import terms as terms_of


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
class _PageFacts:
    """What is known about a kept page besides its text.

    Attributes:
        url: as requested, normalised; the key.
        final_url: after redirects.
        title: of the page; may be empty.
        etag: as the site sent it; may be empty.
        last_modified: likewise.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag that the page declares; may be empty.
        extractor: version of the code that made the Markdown.
        tier: where the text comes from, as in `models.page.Page`.
        fetched_at: when it was fetched or last found unchanged, Unix seconds.
        fresh_until: Unix seconds until which it is used without asking the site.
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
    """A kept page with all of its text."""

    document: Document


@dataclass(frozen=True, slots=True)
class PageHead(_PageFacts):
    """A kept page without its text, with the number of its chunks and of their tokens."""

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
        bytes: of the store, with the pages of other namespaces.
    """

    documents: int
    chunks: int
    tokens: int
    bytes: int


def find_terms(text: str) -> list[str]:
    """Give the terms of a text or question, as the ranker of passages uses them."""
    return terms_of(text)


class CorpusStore(Protocol):
    """Pages of one namespace with their chunks and vectors.

    A page is written with its chunks in one transaction. What is too old goes when a page is kept; where
    the store is full, what was used least recently. A page that was cited counts as fetched when it was
    cited, and makes room only when all others are gone, so that what quotes it can be checked.

    While a store cannot be used, everything is kept in memory instead, and a warning is logged. What says
    so below fails then.
    """

    async def keep(self, page: StoredPage, chunks: Sequence[StoredChunk], now: float) -> Kept:
        """Keep a page in place of the last one under its address; chunks with the same id stay.

        A page that is larger than the whole store may be is not kept, and neither is its predecessor.

        Args:
            page: the page.
            chunks: its parts in order; of equal ones the first is kept.
            now: Unix seconds.

        Raises:
            StorageBusyError: the store was busy for too long; so for every method here.
        """
        ...

    async def renew(
        self, url: str, *, fetched_at: float, fresh_until: float, etag: str, last_modified: str
    ) -> None:
        """Note that a site has found a page unchanged."""
        ...

    async def head(self, url: str) -> PageHead | None:
        """What is known of a page, or `None` if it is not kept."""
        ...

    async def heads(self) -> tuple[PageHead, ...]:
        """All pages, by address."""
        ...

    async def page(self, url: str) -> StoredPage | None:
        """A page with its text, or `None` if it is not kept."""
        ...

    async def chunks(self, url: str) -> tuple[StoredChunk, ...]:
        """The chunks of a page in order; none if it is not kept."""
        ...

    async def match(
        self, terms: Sequence[str], *, urls: Sequence[str] | None, limit: int
    ) -> tuple[Match, ...]:
        """Find the chunks that fit some terms, best first.

        Args:
            terms: of `find_terms`. Where more than 6,000 chunks have some of them, the rarest decide.
            urls: only these pages; all unless given.
            limit: chunks at most.
        """
        ...

    async def frequencies(
        self, terms: Sequence[str], *, urls: Sequence[str] | None = None
    ) -> tuple[int, dict[str, int]]:
        """Count all chunks, and those that have each term.

        Args:
            terms: of `find_terms`.
            urls: only these pages; all unless given.
        """
        ...

    async def vectors(self, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        """The vectors of a model, by the ids of their chunks; those without one are left out."""
        ...

    async def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by the ids of their chunks; those of chunks that are gone are not kept.

        Vectors of two models are kept, those used last.
        """
        ...

    async def unembedded(self, model: str, limit: int) -> tuple[StoredChunk, ...]:
        """Some chunks that have no vector of a model."""
        ...

    async def embedded(self, model: str) -> int:
        """Count the chunks that have a vector of a model."""
        ...

    async def pin(self, urls: Sequence[str], now: float) -> None:
        """Note that pages are cited now."""
        ...

    async def totals(self, url: str | None = None) -> Totals:
        """Count what is kept of all pages, or of one."""
        ...

    def export(self) -> AsyncIterator[StoredPage]:
        """Give all pages, one after the other; what is kept meanwhile may be among them."""
        ...

    async def remove(self, urls: Sequence[str]) -> int:
        """Delete pages; gives how many there were.

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
        """Close the store; harmless when called twice. What is in memory is lost."""
        ...

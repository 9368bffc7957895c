"""What the corpus finds and what it holds."""

from enum import StrEnum

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from searx_mcp.evidence.requests import Intent
from searx_mcp.models.base import Frozen

PROTECTED = "content protected"
"""The note on a page that is not free to read."""


class _Camel(Frozen):
    """A value of `read_page`, serialized in the specification's spelling, such as `lastCrawled`."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )


class Chunk(_Camel):
    """A part of a kept page that matches a question.

    Attributes:
        id: SHA-256, in hex, of address, section path and text.
        text: as it stands in the page's Markdown.
        table_head: header of the table in which it begins, in Markdown; empty if it begins in none.
        score: 0 to 1, higher is better; comparable within one answer.
        section_path: the headings above it, outermost first.
        span: first and one past the last byte of the text in the page's Markdown, UTF-8.
        low_confidence: whether it matches less well than an answer usually does.
    """

    id: str
    text: str
    table_head: str = ""
    score: float
    section_path: tuple[str, ...] = ()
    span: tuple[int, int]
    low_confidence: bool = False


class QuestionChunks(_Camel):
    """One question and its chunks, best first.

    Attributes:
        query: as asked.
        results: of the page.
        answered: whether a chunk supports the question well enough to answer it.
        support: 0 to 1, how far the best chunk does.
        missing_terms: words of the question that it lacks; those that weigh most first, five at most.
    """

    query: str
    results: tuple[Chunk, ...]
    answered: bool = True
    support: float = 0.0
    missing_terms: tuple[str, ...] = ()


class ReadMetadata(_Camel):
    """The kept page behind an answer of `read_page`.

    Attributes:
        final_url: after redirects.
        etag, last_modified: as the site sent them; may be empty.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag that the page declares; may be empty.
        tier: where the text comes from, as in `models.page.Page`.
        extractor: version of the code that made the Markdown.
        chunks, tokens: of the page.
    """

    final_url: str
    etag: str = ""
    last_modified: str = ""
    content_hash: str
    language: str = ""
    tier: str = "native"
    extractor: str
    chunks: int
    tokens: int


class ReadResponse(_Camel):
    """The response of `read_page`.

    Attributes:
        url: as requested.
        title: of the page; empty if it has none.
        last_crawled: when it was fetched or last found unchanged, ISO 8601 in UTC; empty if never.
        queries: one entry for each question, in order.
        note: what the caller should know, such as `content protected`; may be empty.
        quoted_note: that of a remote service, in its words.
        metadata: `None` unless requested.
    """

    url: str
    title: str = ""
    last_crawled: str = ""
    queries: tuple[QuestionChunks, ...] = ()
    note: str = ""
    quoted_note: str = ""
    metadata: ReadMetadata | None = None


class Source(Frozen):
    """A page that evidence was taken from.

    Attributes:
        number: from 1.
        url: of the page.
        title: empty if it has none.
        sections: headings of its evidence, each once, in order.
        retrieved_at: when it was fetched or last found unchanged, ISO 8601 in UTC.
        content_hash: SHA-256, in hex, of its Markdown; empty for a page that was not read.
        copies: addresses of other pages with the same text.
        is_read: whether the page was read; otherwise only its search result is known.
    """

    number: int
    url: str
    title: str = ""
    sections: tuple[str, ...] = ()
    retrieved_at: str = ""
    content_hash: str = ""
    copies: tuple[str, ...] = ()
    is_read: bool = True


class Evidence(Frozen):
    """A part of a source that matches the question.

    Attributes:
        source: number of the source.
        id: of the chunk; empty for a snippet.
        text: as it stands in the page's Markdown.
        table_head: header of the table in which it begins, in Markdown; empty if it begins in none.
        score: 0 to 1, higher is better.
        confidence: the reranker's, 0 to 1; else the share of the question's weight in it; `None` for a snippet.
        sub_query: the part of the question that it was found for; empty if there is only one.
        section_path: the headings above it, outermost first.
        span: first and one past the last byte of the text in the page's Markdown, UTF-8.
        is_adjacent: whether it is here only because it is next to other evidence.
        low_confidence: whether it matches less well than an answer usually does.
        parts: spans of code points of its parts, the best match first; not output: they only serve small budgets.
    """

    source: int
    id: str = ""
    text: str
    table_head: str = ""
    score: float
    confidence: float | None = None
    sub_query: str = ""
    section_path: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    is_adjacent: bool = False
    low_confidence: bool = False
    parts: tuple[tuple[int, int], ...] = Field(default=(), exclude=True, repr=False)


class EvidenceImage(Frozen):
    """An image in evidence; never fetched."""

    url: str
    alt: str = ""
    caption: str = ""
    source: int


class ExpansionStep(Frozen):
    """One linked page that was read or that failed.

    Attributes:
        url: of the page.
        parent: the page that links to it; empty for a page that the call named.
        depth: links away from a page that the call named; 0 for that page itself.
        chunks_added: chunks that it added to the search.
        score_before: best score before it, 0 to 1.
        score_after: best score with it.
        duration_ms: milliseconds it took to read.
        failure: why it could not be read; empty if it was.
    """

    url: str
    parent: str = ""
    depth: int = 0
    chunks_added: int = 0
    score_before: float = 0.0
    score_after: float = 0.0
    duration_ms: float = 0.0
    failure: str = ""


class Citation(Frozen):
    """A quote that was found, letter by letter, in the kept page.

    Attributes:
        source: number of the source.
        text: the quote, on one line.
        url: of the page.
        title: of the page; may be empty.
        section: the heading above; may be empty.
        span: first and one past the last byte of the quote in the page's Markdown, UTF-8.
        retrieved_at, content_hash: as in the source.
        extractor: version of the code that made the Markdown.
        fragment_url: the address with a text fragment that shows the quote in a browser.
    """

    source: int
    text: str
    url: str
    title: str = ""
    section: str = ""
    span: tuple[int, int]
    retrieved_at: str = ""
    content_hash: str
    extractor: str
    fragment_url: str


class Mode(StrEnum):
    """Ways of choosing evidence."""

    CHUNK = "chunk"
    """The best parts of each page."""
    FULL_CONTEXT = "full_context"
    """All pages in full, since they fit the budget."""


class Timing(Frozen):
    """Milliseconds that each step of a call took."""

    total: float = 0.0
    analysis: float = 0.0
    ingestion: float = 0.0
    retrieval: float = 0.0
    reranking: float = 0.0
    expansion: float = 0.0
    locality: float = 0.0
    merge: float = 0.0


class EvidenceStats(Frozen):
    """How evidence was found.

    Attributes:
        mode: how it was chosen.
        documents_searched: pages that were searched.
        documents_matched: pages that evidence was taken from.
        chunks_evaluated: chunks that were scored.
        iterations: linked pages that were tried.
        budget: linked pages allowed; `None` for as many as help.
        depth: how many links away from the named pages the search went.
        max_depth: how many links away it was allowed to go.
        urls_ingested: pages fetched for this call.
        stop_reason: why no more pages were read; may be empty.
        citations_dropped: quotes that were not found, letter by letter, in their page.
        timing: in milliseconds.
    """

    mode: Mode = Mode.CHUNK
    documents_searched: int = 0
    documents_matched: int = 0
    chunks_evaluated: int = 0
    iterations: int = 0
    budget: int | None = None
    depth: int = 0
    max_depth: int = 0
    urls_ingested: int = 0
    stop_reason: str = ""
    citations_dropped: int = 0
    timing: Timing = Timing()


class PartVerdict(Frozen):
    """Whether one part of a question is answered.

    Attributes:
        query: the part, as asked.
        answered: whether a passage supports it well enough to answer it.
        support: 0 to 1, how far the best passage does.
        missing_terms: words of the part that it lacks; those that weigh most first, five at most.
        section: the heading above the best passage; may be empty.
    """

    query: str
    answered: bool
    support: float
    missing_terms: tuple[str, ...] = ()
    section: str = ""


class EvidenceResponse(Frozen):
    """The response of `answer` and `search_corpus`: evidence, not prose.

    Attributes:
        query: as asked.
        intent: as given or detected.
        sub_queries: the parts of the question; only one if it was not split.
        answered: whether every part is.
        parts: the verdict on each part, in order.
        sources: pages of the evidence, numbered in the order of their first evidence.
        evidence: best first.
        images: images in the evidence.
        steps: pages read for the call, in order; none for `search_corpus`.
        citations: quotes from the evidence, by source.
        stats: how it was found.
        notes: sentences the caller should know.
        quoted_notes: those of a remote service, in its words.
        is_partial: whether time ran out before all was done.
    """

    query: str
    intent: Intent
    sub_queries: tuple[str, ...]
    answered: bool = True
    parts: tuple[PartVerdict, ...] = ()
    sources: tuple[Source, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    images: tuple[EvidenceImage, ...] = ()
    steps: tuple[ExpansionStep, ...] = ()
    citations: tuple[Citation, ...] = ()
    stats: EvidenceStats
    notes: tuple[str, ...] = ()
    quoted_notes: tuple[str, ...] = ()
    is_partial: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether no part of the question is answered."""
        return bool(self.parts) and not any(part.answered for part in self.parts)


class CorpusPage(Frozen):
    """A page in a list of the corpus.

    Attributes:
        url: of the page.
        title: empty if it has none.
        chunks: number of its chunks.
        tokens: number of tokens in them.
        fetched_at: when it was fetched or last found unchanged, ISO 8601 in UTC.
    """

    url: str
    title: str = ""
    chunks: int
    tokens: int
    fetched_at: str


class CorpusStatus(Frozen):
    """What the corpus holds.

    Attributes:
        source_url: the page in question; empty for all pages.
        documents: number of pages; 0 or 1 for a page in question.
        chunks: number of their chunks.
        tokens: number of tokens in the chunks.
        bytes: size of the whole corpus on disk or in memory.
        embedding: the model whose vectors are used; empty without one.
        embedded: chunks that have a vector from it.
        urls: the pages, sorted by address; empty if not requested.
    """

    source_url: str = ""
    documents: int
    chunks: int
    tokens: int
    bytes: int = 0
    embedding: str = ""
    embedded: int = 0
    urls: tuple[CorpusPage, ...] = ()


class ExportedChunk(Frozen):
    """A chunk of an exported page: as `Chunk`, with the number of its tokens."""

    id: str
    section_path: tuple[str, ...] = ()
    span: tuple[int, int]
    tokens: int
    text: str


class ExportedPage(Frozen):
    """A page of the corpus with everything kept about it.

    Attributes:
        url: the key of the page.
        final_url: after redirects.
        title: empty if it has none.
        etag, last_modified: as the site sent them; may be empty.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag that the page declares; may be empty.
        tier: where the text comes from, as in `models.page.Page`.
        extractor: version of the code that made the Markdown.
        fetched_at: when it was fetched or last found unchanged, ISO 8601 in UTC.
        markdown: all of it.
        chunks: its chunks, in order.
    """

    url: str
    final_url: str
    title: str = ""
    etag: str = ""
    last_modified: str = ""
    content_hash: str
    language: str = ""
    tier: str = "native"
    extractor: str
    fetched_at: str
    markdown: str
    chunks: tuple[ExportedChunk, ...]


class IngestedPage(Frozen):
    """The outcome of ingesting one page.

    Attributes:
        url: as requested.
        title: of the page.
        chunks: number of its chunks.
        new_chunks: how many of them are new.
        tokens: number of tokens in all chunks.
        is_changed: whether the fetched page differs from the one kept before.
        in_memory: whether it is only in the memory of the process, and lost when that ends.
        note: `content protected`, or something else the caller should know; may be empty.
        error: why it could not be read; empty if it was.
        error_type: the code of the error.
    """

    url: str
    title: str = ""
    chunks: int = 0
    new_chunks: int = 0
    tokens: int = 0
    is_changed: bool = False
    in_memory: bool = False
    note: str = ""
    error: str = ""
    error_type: str = ""


class IngestResponse(Frozen):
    """The response of `ingest`: one entry for each address, in order."""

    pages: tuple[IngestedPage, ...]

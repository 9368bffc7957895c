"""What is found in the corpus, and what it holds."""

from enum import StrEnum

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from searx_mcp.models.base import Frozen
from searx_mcp.models.corpus_request import Intent

PROTECTED = "content protected"
"""The note on a page that is not free to read."""


class _Camel(Frozen):
    """A value of `read_page`, which is written in the specification's spellings: `lastCrawled`."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )


class Chunk(_Camel):
    """A part of a kept page that fits a question.

    Attributes:
        id: SHA-256, in hex, of address, section path and text.
        text: as it stands in the page's Markdown.
        score: 0 to 1, higher is better; comparable within one answer.
        section_path: the headings above it, outermost first.
        span: bytes of the page's Markdown in UTF-8, from and up to.
        low_confidence: whether it fits less than what usually answers.
    """

    id: str
    text: str
    score: float
    section_path: tuple[str, ...] = ()
    span: tuple[int, int]
    low_confidence: bool = False


class QuestionChunks(_Camel):
    """One question, and what was found for it, best first."""

    query: str
    results: tuple[Chunk, ...]


class ReadMetadata(_Camel):
    """The kept page behind an answer of `read_page`.

    Attributes:
        final_url: after redirects.
        etag: as the site sent it; may be empty.
        last_modified: likewise.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag the page declares; may be empty.
        tier: where the text comes from, as in `models.page.Page`.
        extractor: the version of what made the Markdown.
        chunks: how many parts the page has.
        tokens: of all of them.
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
    """The answer of `read_page`.

    Attributes:
        url: as asked for.
        title: of the page; empty if it has none.
        last_crawled: when it was fetched or last found unchanged, ISO 8601 in UTC; empty if it never was.
        queries: one entry for each question, in their order.
        note: what a caller should know, `content protected` among it; empty if there is nothing.
        metadata: if it was asked for.
    """

    url: str
    title: str = ""
    last_crawled: str = ""
    queries: tuple[QuestionChunks, ...] = ()
    note: str = ""
    metadata: ReadMetadata | None = None


class Source(Frozen):
    """A page that evidence comes from.

    Attributes:
        number: from 1.
        url: of the page.
        title: empty if it has none.
        sections: headings of its evidence, each once, in order.
        retrieved_at: when it was fetched or last found unchanged, ISO 8601 in UTC.
        content_hash: SHA-256, in hex, of its Markdown; empty for a page that was not read.
        copies: addresses of other pages that say the same.
        is_read: whether the page was read; otherwise only what a search showed of it is known.
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
    """A part of a source that fits the question.

    Attributes:
        source: number of the source.
        id: of the chunk; empty for a snippet.
        text: as it stands in the page's Markdown.
        score: 0 to 1, higher is better.
        confidence: of a reranker, 0 to 1; `None` without one.
        sub_query: the part of the question that it was found for; empty if there is one part.
        section_path: the headings above it, outermost first.
        span: bytes of the page's Markdown in UTF-8, from and up to.
        is_adjacent: whether it is here because it stands beside other evidence.
        low_confidence: whether it fits less than what usually answers.
    """

    source: int
    id: str = ""
    text: str
    score: float
    confidence: float | None = None
    sub_query: str = ""
    section_path: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    is_adjacent: bool = False
    low_confidence: bool = False


class EvidenceImage(Frozen):
    """An image in evidence; never fetched."""

    url: str
    alt: str = ""
    caption: str = ""
    source: int


class ExpansionStep(Frozen):
    """One linked page that was read, or failed.

    Attributes:
        url: of the page.
        parent: the page that links to it; empty for one the call named.
        depth: links away from a page the call named; 0 for such a page itself.
        chunks_added: parts that it added to what is searched.
        score_before: best score until then, 0 to 1.
        score_after: best score with it.
        duration_ms: of reading it.
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
    """A quote that was compared, letter by letter, with the kept page.

    Attributes:
        source: number of the source.
        text: the quote, on one line.
        url: of the page.
        title: of the page; may be empty.
        section: the heading above; may be empty.
        span: bytes of the page's Markdown in UTF-8, from and up to.
        retrieved_at: as of the source.
        content_hash: as of the source.
        extractor: the version of what made the Markdown.
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
    """Ways in which evidence was chosen."""

    CHUNK = "chunk"
    """The best parts of each page."""
    FULL_CONTEXT = "full_context"
    """All of all pages, since it fits the budget."""


class Timing(Frozen):
    """Milliseconds of the steps of a call."""

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
        documents_matched: pages that evidence comes from.
        chunks_evaluated: parts that were scored.
        iterations: linked pages that were tried.
        budget: linked pages allowed; `None` if as many as help.
        depth: links away from the named pages, at most.
        max_depth: links away that are allowed.
        urls_ingested: pages that were fetched for this call.
        stop_reason: why no more pages were read; may be empty.
        citations_dropped: quotes that were not found, letter by letter, in their page.
        timing: milliseconds.
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


class EvidenceResponse(Frozen):
    """The answer of `answer` and `search_corpus`: evidence, not prose.

    Attributes:
        query: as asked.
        intent: as given or found out.
        sub_queries: the parts of the question; one if it was not taken apart.
        sources: pages of the evidence, numbered in the order of their first evidence.
        evidence: best first.
        images: of the evidence.
        steps: pages that were read for the call, in order; none for `search_corpus`.
        citations: quotes of the evidence, by source.
        stats: how it was found.
        notes: sentences a caller should know.
        is_partial: whether time ran out before everything was done.
    """

    query: str
    intent: Intent
    sub_queries: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    images: tuple[EvidenceImage, ...] = ()
    steps: tuple[ExpansionStep, ...] = ()
    citations: tuple[Citation, ...] = ()
    stats: EvidenceStats
    notes: tuple[str, ...] = ()
    is_partial: bool = False


class CorpusPage(Frozen):
    """A page of the corpus in a list.

    Attributes:
        url: of the page.
        title: empty if it has none.
        chunks: its parts.
        tokens: of them.
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
        source_url: the page that was asked about; empty for all.
        documents: pages; of one that was asked about, 0 or 1.
        chunks: parts of them.
        tokens: of the parts.
        bytes: on the disk or in memory, of all.
        embedding: the model whose vectors are used; empty without one.
        embedded: chunks that have a vector of it.
        urls: the pages, by address, unless they were not wanted.
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
    """A part of an exported page; as in `Chunk`, with the tokens of its text."""

    id: str
    section_path: tuple[str, ...] = ()
    span: tuple[int, int]
    tokens: int
    text: str


class ExportedPage(Frozen):
    """A page of the corpus with all that is kept of it.

    Attributes:
        url: the key of the page.
        final_url: after redirects.
        title: empty if it has none.
        etag: as the site sent it; may be empty.
        last_modified: likewise.
        content_hash: SHA-256, in hex, of the Markdown.
        language: BCP 47 tag the page declares; may be empty.
        tier: where the text comes from, as in `models.page.Page`.
        extractor: the version of what made the Markdown.
        fetched_at: when it was fetched or last found unchanged, ISO 8601 in UTC.
        markdown: the whole of it.
        chunks: its parts, in order.
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
    """What became of a page that was to be kept.

    Attributes:
        url: as asked for.
        title: of the page.
        chunks: its parts.
        new_chunks: those that were not there before.
        tokens: of all parts.
        is_changed: whether anything was fetched that differs from what was kept.
        note: `content protected`, or what else a caller should know.
        error: why it could not be read; empty if it was.
        error_type: the code of the error.
    """

    url: str
    title: str = ""
    chunks: int = 0
    new_chunks: int = 0
    tokens: int = 0
    is_changed: bool = False
    note: str = ""
    error: str = ""
    error_type: str = ""


class IngestResponse(Frozen):
    """The answer of `ingest`: one entry for each address, in their order."""

    pages: tuple[IngestedPage, ...]


class QuoteVerdict(StrEnum):
    """What a check of a quote or a link came to."""

    SUPPORTED = "supported"
    """It stands in the page that it is ascribed to; a link leads to a kept page."""
    MISATTRIBUTED = "misattributed"
    """It stands in another page."""
    MISSING = "missing"
    """It stands in no kept page; the page of a link is not kept."""


class CheckedQuote(Frozen):
    """A quote or a link of a report, and whether the corpus has it.

    Attributes:
        text: the quote on one line; empty for a link.
        url: the page that it is ascribed to, or the link; may be empty.
        line: of the report, from 1.
        verdict: what the check came to.
        found_in: pages that have it, at most three.
    """

    text: str = ""
    url: str = ""
    line: int
    verdict: QuoteVerdict
    found_in: tuple[str, ...] = ()


class VerifyReport(Frozen):
    """A report checked against the corpus."""

    quotes: tuple[CheckedQuote, ...] = ()
    links: tuple[CheckedQuote, ...] = ()

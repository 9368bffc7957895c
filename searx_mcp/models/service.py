"""The protocols that every front talks to."""

from typing import Protocol, runtime_checkable

from searx_mcp.models.corpus_request import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.evidence import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse


class Progress(Protocol):
    """Receives what a call is doing now; it must return at once and must not raise."""

    def __call__(self, message: str, /) -> None:
        """Take one short sentence for a person; it never holds the query."""
        ...


@runtime_checkable
class RawService(Protocol):
    """A service that has keyed providers at hand, as one in this process has."""

    async def raw_search(
        self, provider: str, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> RawBatch:
        """Give the JSON that a keyed provider answers queries with, untouched."""
        ...


class Service(Protocol):
    """The operations of the project, whoever performs them: this process or a remote one.

    All methods end by their deadline and raise only `searx_mcp.errors.SearxMcpError`.
    """

    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search the web and, if asked to, read the result pages."""
        ...

    async def search_all(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchBatch:
        """Search for all that a request names, at the same time."""
        ...

    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> Page:
        """Read one page."""
        ...

    async def read_page(
        self, request: ReadRequest, /, *, progress: Progress | None = None
    ) -> ReadResponse:
        """Find in one page what answers questions."""
        ...

    async def answer(
        self, request: AnswerRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        """Give evidence for a question."""
        ...

    async def search_corpus(
        self, request: CorpusSearchRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        """Give evidence from pages that are kept; makes no request."""
        ...

    async def corpus_status(self, request: StatusRequest, /) -> CorpusStatus:
        """Tell which pages are kept; makes no request."""
        ...

    async def ingest(
        self, request: IngestRequest, /, *, progress: Progress | None = None
    ) -> IngestResponse:
        """Read pages and keep them."""
        ...

    async def instances(self) -> PoolReport:
        """Report the pool; makes no request."""
        ...


@runtime_checkable
class Divisible(Protocol):
    """A service with a corpus for each of several namespaces."""

    def within(self, namespace: str) -> Service:
        """Give the same service with the corpus of a namespace."""
        ...

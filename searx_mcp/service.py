"""The protocols that every front uses."""

from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from searx_mcp.evidence.requests import (
        AnswerRequest,
        CorpusSearchRequest,
        IngestRequest,
        ReadRequest,
        StatusRequest,
    )
    from searx_mcp.evidence.values import (
        CorpusStatus,
        EvidenceResponse,
        IngestResponse,
        ReadResponse,
    )
    from searx_mcp.models.fetch_request import FetchRequest
    from searx_mcp.models.instance import PoolReport
    from searx_mcp.models.page import Page
    from searx_mcp.models.progress import Progress
    from searx_mcp.models.request import SearchRequest
    from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse


@runtime_checkable
class RawService(Protocol):
    """A service with keyed providers, such as one in this process."""

    async def raw_search(
        self, provider: str, request: "SearchRequest", /, *, progress: "Progress | None" = None
    ) -> "RawBatch":
        """Return the JSON of a keyed provider's answers, unchanged."""
        ...


class Service(Protocol):
    """The operations of the project, performed by this process or a remote one.

    Every method returns by its deadline and raises only `searx_mcp.errors.SearxMcpError`.
    """

    async def search(
        self, request: "SearchRequest", /, *, progress: "Progress | None" = None
    ) -> "SearchResponse":
        """Search the web and, if requested, read the result pages."""
        ...

    async def search_all(
        self, request: "SearchRequest", /, *, progress: "Progress | None" = None
    ) -> "SearchBatch":
        """Run all searches of a request concurrently."""
        ...

    async def fetch(
        self, request: "FetchRequest", /, *, progress: "Progress | None" = None
    ) -> "Page":
        """Read one page."""
        ...

    async def read_page(
        self, request: "ReadRequest", /, *, progress: "Progress | None" = None
    ) -> "ReadResponse":
        """Find the passages of one page that answer questions."""
        ...

    async def answer(
        self, request: "AnswerRequest", /, *, progress: "Progress | None" = None
    ) -> "EvidenceResponse":
        """Find evidence for a question."""
        ...

    async def search_corpus(
        self, request: "CorpusSearchRequest", /, *, progress: "Progress | None" = None
    ) -> "EvidenceResponse":
        """Find evidence in kept pages; sends no request to a site."""
        ...

    async def corpus_status(self, request: "StatusRequest", /) -> "CorpusStatus":
        """Report which pages are kept."""
        ...

    async def ingest(
        self, request: "IngestRequest", /, *, progress: "Progress | None" = None
    ) -> "IngestResponse":
        """Read pages and keep them."""
        ...

    async def instances(self) -> "PoolReport":
        """Report the pool; sends no request to an instance."""
        ...


class ServiceClient(Service, Protocol):
    """A service to be opened and closed: `SearxClient`, `RemoteClient`."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    async def aclose(self) -> None:
        """Close it; may be called more than once."""
        ...


@runtime_checkable
class Divisible(Protocol):
    """A service with one corpus per namespace."""

    def within(self, namespace: str) -> Service:
        """Return the same service with the corpus of a namespace."""
        ...

"""A service for tests of the fronts: what a test does not define must not be asked for."""

from typing_extensions import override

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
from searx_mcp.models.request import SafeSearch, SearchRequest, TimeRange
from searx_mcp.models.response import SearchBatch, SearchResponse
from searx_mcp.service import Service


class PartOfService(Service):
    """Fails the test at every call; a subclass answers those that its test is about."""

    @override
    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        raise AssertionError("search was not to be called")

    @override
    async def search_all(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchBatch:
        raise AssertionError("search_all was not to be called")

    @override
    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> Page:
        raise AssertionError("fetch was not to be called")

    @override
    async def read_page(
        self, request: ReadRequest, /, *, progress: Progress | None = None
    ) -> ReadResponse:
        raise AssertionError("read_page was not to be called")

    @override
    async def answer(
        self, request: AnswerRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        raise AssertionError("answer was not to be called")

    @override
    async def search_corpus(
        self, request: CorpusSearchRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        raise AssertionError("search_corpus was not to be called")

    @override
    async def corpus_status(self, request: StatusRequest, /) -> CorpusStatus:
        raise AssertionError("corpus_status was not to be called")

    @override
    async def ingest(
        self, request: IngestRequest, /, *, progress: Progress | None = None
    ) -> IngestResponse:
        raise AssertionError("ingest was not to be called")

    @override
    async def instances(self) -> PoolReport:
        raise AssertionError("instances was not to be called")


def found_nothing(request: SearchRequest, *notes: str) -> SearchResponse:
    """The response to a search without results."""
    return SearchResponse(
        query=request.query,
        category="general",
        language="en",
        safe_search=SafeSearch.OFF,
        time_range=TimeRange.ANY,
        fetch_content=False,
        results_count=10,
        total_results=0,
        search_time_ms=1,
        instance_used="https://a.example/",
        results=(),
        engines_used=(),
        notes=notes,
    )

"""A service that answers everything, and REST over a real socket in front of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp
from typing_extensions import override

from searx_mcp.evidence.requests import Intent
from searx_mcp.evidence.values import (
    Chunk,
    CorpusPage,
    CorpusStatus,
    Evidence,
    EvidenceResponse,
    EvidenceStats,
    IngestedPage,
    IngestResponse,
    QuestionChunks,
    ReadResponse,
    Source,
)
from searx_mcp.models.instance import InstanceReport, InstanceState, PoolReport, Tier
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.response import (
    BatchedSearch,
    PageContent,
    SearchBatch,
    SearchResult,
)
from searx_mcp.server.app import build_server
from searx_mcp.server.http import http_app
from searx_mcp.service import Service
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, serving

RESULTS = (
    SearchResult(
        title="Bees",
        url="https://a.example/bees",
        description="All about bees.",
        score=1.0,
        published_at="2026-05-01T00:00:00+00:00",
        content=PageContent(
            markdown="# Bees\n\nThey fly.",
            word_count=3,
            fetch_time_ms=1,
            passages=(Passage(path=("Bees",), offset=8, text="They fly."),),
        ),
    ),
    SearchResult(title="", url="https://b.example/", description="Cut \ud83d", score=0.5),
)


class Known(PartOfService):
    """Answers with what it is made with, and keeps what it was asked.

    Attributes:
        asked: the requests.
        found: fields of what a search finds, in place of the usual ones.
        failure: is raised in place of an answer.
        fails_late: is raised after progress was told.
        holds: whether `answer` does not end by itself.
        is_reached: set when `answer` is asked.
        is_cancelled: set when `answer` was cancelled.
        report: of the pool.
    """

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.found: dict[str, Any] = {}
        self.failure: Exception | None = None
        self.fails_late: Exception | None = None
        self.holds = False
        self.is_reached = asyncio.Event()
        self.is_cancelled = asyncio.Event()
        row = InstanceReport(
            url="https://i.example/",
            tier=Tier.OWN,
            grade=None,
            state=InstanceState.HEALTHY,
            score=1.0,
        )
        self.report = PoolReport(instances=(row,))

    def _take(self, request: object) -> None:
        self.asked.append(request)
        if self.failure is not None:
            raise self.failure

    @override
    async def search_all(self, request, /, *, progress=None):
        found = [
            BatchedSearch(query=each.query, result=await self.search(each))
            for each in request.searches
        ]
        return SearchBatch(queries=tuple(found))

    @override
    async def read_page(self, request, /, *, progress=None):
        self._take(request)
        chunk = Chunk(id="c1", text="They fly.", score=0.9, span=(8, 17))
        found = [QuestionChunks(query=each, results=(chunk,)) for each in request.questions]
        return ReadResponse(url=request.url, last_crawled="", queries=tuple(found))

    @override
    async def answer(self, request, /, *, progress=None):
        self._take(request)
        if progress is not None:
            progress("reading 1 page")
            progress("choosing \ud83d passages")
        self.is_reached.set()
        if self.fails_late is not None:
            raise self.fails_late
        try:
            while self.holds:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.is_cancelled.set()
            raise
        return self._evidence(request.query)

    @override
    async def search_corpus(self, request, /, *, progress=None):
        self._take(request)
        return self._evidence(request.query)

    def _evidence(self, query: str) -> EvidenceResponse:
        return EvidenceResponse(
            query=query,
            intent=Intent.FACTUAL,
            sub_queries=(query,),
            sources=(Source(number=1, url="https://a.example/bees"),),
            evidence=(Evidence(source=1, id="c1", text="They fly.\nHigh.", score=0.9),),
            stats=EvidenceStats(),
        )

    @override
    async def corpus_status(self, request, /):
        self._take(request)
        row = CorpusPage(url="https://a.example/bees", chunks=1, tokens=3, fetched_at="2026-05-01")
        return CorpusStatus(documents=1, chunks=1, tokens=3, urls=(row,))

    @override
    async def ingest(self, request, /, *, progress=None):
        self._take(request)
        return IngestResponse(pages=tuple(IngestedPage(url=each) for each in request.url))

    @override
    async def instances(self):
        self._take(None)
        return self.report

    @override
    async def search(self, request, /, *, progress=None):
        self._take(request)
        if progress is not None:
            progress("asking 1 instance")
        usual = {
            "category": request.category,
            "language": request.language,
            "fetch_content": request.fetch_content,
            "results_count": min(len(RESULTS), request.results_count),
            "total_results": len(RESULTS),
            "instance_used": "https://i.example/",
            "results": RESULTS[: request.results_count],
            "engines_used": ("bing",),
        }
        return found_nothing(request).model_copy(update={**usual, **self.found})

    @override
    async def fetch(self, request, /, *, progress=None):
        self._take(request)
        whole = "# Bees\n\nThey fly. \U0001f41d"
        most = request.limit or request.max_chars or 1_000
        end = request.offset + most
        return Page(
            url=request.url or "https://a.example/bees",
            final_url="https://a.example/bees",
            content_type="text/html",
            content_length=900,
            status_code=200,
            response_time_ms=3,
            markdown_content=whole[request.offset : end],
            word_count=3,
            truncated=end < len(whole),
            cursor="abcdefghabcdefgh",
            offset=request.offset,
            next_offset=end if end < len(whole) else None,
            total_chars=len(whole),
        )


@pytest.fixture
def service() -> Known:
    """Give what answers, to be looked at and to be changed."""
    return Known()


@pytest.fixture
def open_rest(service) -> Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]:
    """Give what opens a client of a server with these settings."""

    @asynccontextmanager
    async def opened(
        settings: Settings | None = None, config: HttpConfig | None = None, **options: Any
    ) -> AsyncIterator[httpx2.AsyncClient]:
        server = build_server(settings or Settings(), service=service)
        config = config or HttpConfig(port=0)
        async with asyncio.timeout(DEADLINE), serving(server, config, **options) as url:
            base = url.removesuffix("/mcp")
            async with httpx2.AsyncClient(
                base_url=base, trust_env=False, timeout=DEADLINE
            ) as client:
                yield client

    return opened


def in_process(
    service: Service, settings: Settings | None = None, **options: Any
) -> httpx2.AsyncClient:
    """Make a client of an app, without a socket: tables need one a row."""
    settings = settings or Settings()
    app = http_app(build_server(settings, service=service), settings.http)
    transport = httpx2.ASGITransport(app)
    return httpx2.AsyncClient(base_url="http://localhost", transport=transport, **options)


@pytest.fixture(scope="module")
def shared_app() -> ASGIApp:
    """Give an app for tests with very many requests."""
    return http_app(build_server(Settings(), service=Known()), HttpConfig())


@pytest.fixture
async def rest(service) -> AsyncIterator[httpx2.AsyncClient]:
    """Give a client of the app with the usual settings."""
    async with in_process(service) as client:
        yield client

"""A pool with everything that it may say, a service that reports it, and the dashboard over a real socket."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from typing_extensions import override

from searx_mcp.evidence.values import CorpusStatus
from searx_mcp.models.attempt import Attempt, Format, PastOutcome, Verdict
from searx_mcp.models.instance import InstanceReport, InstanceState, MonthReport, PoolReport, Tier
from searx_mcp.models.response import SearchResult
from searx_mcp.server.app import build_server
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, serving

PARTS = {"prior": 0.8, "observed": 0.9, "confidence": 0.5, "latency": 0.7, "access": 1, "format": 1}


def past(verdict: Verdict, elapsed_ms: int) -> PastOutcome:
    return PastOutcome(at=1.0, verdict=verdict, format=Format.HTML, elapsed_ms=elapsed_ms)


def instance(url: str, tier: Tier, state: InstanceState, **more: Any) -> InstanceReport:
    given = {"grade": None, "score": 0.81, "score_parts": PARTS, **more}
    return InstanceReport(url=url, tier=tier, state=state, **given)


def usual_pool() -> PoolReport:
    outcomes = (past(Verdict.TIMEOUT, 5_000), past(Verdict.FULL, 420))
    return PoolReport(
        instances=(
            instance(
                "http://127.0.0.1:8888/", Tier.OWN, InstanceState.HEALTHY,
                successes=41, failures=1, p50=0.42, outcomes=outcomes,
            ),
            instance(
                "https://searx.example.org/", Tier.A_PLUS, InstanceState.HEALTHY,
                failures=3, budget_left=2, last_detail="Its engines did not answer.",
            ),
            instance(
                "https://search.example.net/", Tier.A_PLUS, InstanceState.RATE_LIMITED,
                failures=1, retry_after=272.4, budget_left=0, reason="It answered 429.",
            ),
            instance("https://b.example/", Tier.B, InstanceState.BLACKLISTED, score_parts={}),
            instance(
                "https://en.wikipedia.org/", Tier.OPEN, InstanceState.NEW,
                source="wikipedia", budget_left=2_000,
            ),
        ),
        catalog_source="the bundled list",
        catalog_age_days=40,
        month=MonthReport(
            capacity=240, spent=12, left_now=0, left_month=180, kept_back=48, retry_after=7_300
        ),
        notes=("The list of public instances is 40 days old.",),
    )  # fmt: skip


ATTEMPTS = (
    Attempt(
        instance="https://search.example.net/",
        verdict=Verdict.RATE_LIMITED,
        format=Format.HTML,
        status_code=429,
        elapsed_ms=180,
    ),
    Attempt(
        instance="http://127.0.0.1:8888/",
        verdict=Verdict.THIN,
        format=Format.JSON,
        status_code=200,
        elapsed_ms=360,
        rows_seen=3,
        rows_used=2,
    ),
)


class Pool(PartOfService):
    """Reports a pool, and finds two pages by two attempts.

    Attributes:
        report: of the pool.
        results: of a search.
        searched: the queries.
        looks: how often the pool was looked at.
        failure: is raised by a search in place of an answer.
    """

    def __init__(self) -> None:
        self.report = usual_pool()
        self.results = (
            SearchResult(
                title="Bees", url="https://a.example/bees", description="They fly.", score=1.0,
                engines=("bing", "mojeek"),
            ),
            SearchResult(title="", url="https://b.example/", score=0.5),
        )  # fmt: skip
        self.searched: list[str] = []
        self.looks = 0
        self.failure: Exception | None = None

    @override
    async def instances(self):
        self.looks += 1
        return self.report

    @override
    async def corpus_status(self, request, /):
        return CorpusStatus(documents=7, chunks=90, tokens=9_000, bytes=1_250_000)

    @override
    async def search(self, request, /, *, progress=None):
        self.searched.append(request.query)
        if self.failure is not None:
            raise self.failure
        return found_nothing(request, "A note.").model_copy(
            update={"results": self.results, "attempts": ATTEMPTS, "search_time_ms": 540}
        )


@pytest.fixture
def pool() -> Pool:
    """Give what answers, to be looked at and to be changed."""
    return Pool()


@pytest.fixture
def attempts() -> tuple[Attempt, ...]:
    """Give the attempts of every search."""
    return ATTEMPTS


@pytest.fixture
def serve(pool) -> Callable[..., AbstractAsyncContextManager[str]]:
    """Give what serves the dashboard, and gives its address without the last slash."""

    @asynccontextmanager
    async def served(settings: Settings | None = None, **config: Any) -> AsyncIterator[str]:
        server = build_server(settings or Settings(), service=pool)
        http = HttpConfig(port=0, **config)
        async with asyncio.timeout(DEADLINE), serving(server, http) as url:
            yield url.removesuffix("/mcp")

    return served


@pytest.fixture
def browse(serve) -> Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]:
    """Give what opens a client that follows no redirect by itself."""

    @asynccontextmanager
    async def browsing(
        settings: Settings | None = None, **config: Any
    ) -> AsyncIterator[httpx2.AsyncClient]:
        async with serve(settings, **config) as url:
            async with httpx2.AsyncClient(
                base_url=url, trust_env=False, timeout=DEADLINE, headers={"Origin": url}
            ) as client:
                yield client

    return browsing


@pytest.fixture
def read() -> Callable[[httpx2.Response], LexborHTMLParser]:
    """Give what reads a page that must be HTML under the policy that lets nothing in."""

    def reading(answer: httpx2.Response) -> LexborHTMLParser:
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["cache-control"] == "no-store"
        return LexborHTMLParser(answer.text)

    return reading

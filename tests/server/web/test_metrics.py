"""The metrics of a server, over a real socket, after real searches and pages."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from typing_extensions import override

from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.instance import InstanceReport, InstanceState, MonthReport, PoolReport, Tier
from searx_mcp.server.app import build_server
from searx_mcp.server.counters import BUCKETS, Counters, source_label
from searx_mcp.server.metrics import Gauges
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, connected, serving

parser: Any = pytest.importorskip("prometheus_client.parser")

MARK = "zanzibar"
"""Stands in queries, addresses and pages, and in no label."""


def nobody() -> NoInstancesError:
    return NoInstancesError("Nobody.", reason=UnavailableReason.OFFLINE)


class Half(PartOfService):
    """Finds nothing, and knows neither a pool nor a corpus."""

    def __init__(self) -> None:
        self.searching = asyncio.Event()
        self.may_end = asyncio.Event()

    @override
    async def search(self, request, /, *, progress=None):
        if request.query == "waits":
            self.searching.set()
            await self.may_end.wait()
        if request.query == "fails":
            raise nobody()
        return found_nothing(request, "")

    @override
    async def instances(self):
        raise nobody()

    @override
    async def corpus_status(self, request, /):
        raise nobody()


async def get(url: str, path: str = "/metrics", token: str = "", **headers: str) -> httpx2.Response:
    proven = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        return await http.get(url.removesuffix("/mcp") + path, headers={**proven, **headers})


async def post(url: str, path: str, body: Mapping[str, Any]) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        return await http.post(url.removesuffix("/mcp") + path, json=body)


LABELS = ("source", "front", "operation", "cache", "tier", "state", "part", "kind")
"""Labels in the order in which tests name their values; all others come last."""


async def scraped(url: str, token: str = "") -> dict[tuple[str, ...], float]:
    """The samples, by their name and the values of their labels."""
    answer = await get(url, token=token)
    assert answer.status_code == 200
    found = {}
    for family in parser.text_string_to_metric_families(answer.text):
        for name, labels, value, *_ in family.samples:
            first = [labels.pop(label) for label in LABELS if label in labels]
            found[name, *first, *labels.values()] = value
    return found


async def test_calls_searches_pages_and_caches_are_counted(settings_for, catalog_of):
    pages = {f"/{MARK}": FakePage(f"<article><p>All of {MARK} is here.</p></article>")}
    async with asyncio.timeout(DEADLINE), FakeWeb(pages) as site, FakeSearxng() as instance:
        settings = settings_for(instance, site)
        async with (
            SearxClient(settings, catalog=catalog_of(instance)) as service,
            serving(build_server(settings, service=service)) as url,
            connected(url) as client,
        ):
            search = {"query": MARK, "fetch_content": False}
            await client.call_tool("web_search", search)
            await client.call_tool("web_search", search)
            await client.call_tool("web_fetch", {"url": site.url(f"/{MARK}")})
            await client.call_tool("web_fetch", {"url": site.url(f"/{MARK}/gone")})
            await post(url, "/v1/search", search)
            found = await scraped(url)
            text = (await get(url)).text
    host = urlsplit(instance.url).netloc
    told = {
        "calls_total mcp web_search ok": 2,
        "calls_total mcp web_fetch ok": 1,
        "calls_total mcp web_fetch not_found": 1,
        "calls_total rest search ok": 1,
        "call_seconds_count mcp web_search": 2,
        "call_seconds_bucket mcp web_search +Inf": 2,
        "token_calls_total ": 5,
        f"attempts_total {host} full": 1,
        "attempt_seconds_count instance": 1,
        "cache_lookups_total answers miss": 1,
        "cache_lookups_total answers fresh": 2,
        "cache_lookups_total pages miss": 2,
        "pages_total ok": 1,
        "pages_total not_found": 1,
        "page_seconds_count": 2,
        "calls_in_flight mcp": 0,
        "calls_in_flight rest": 0,
        "instances A+ healthy": 1,
        "instances A+ quarantined": 0,
        f"source_state {host} A+ healthy": 1,
        "corpus_pages": 0,
        "unread pool": 0,
        "unread corpus": 0,
    }
    seen = {" ".join(name).removeprefix("searx_mcp_"): value for name, value in found.items()}
    assert {name: seen.get(name) for name in told} == told
    assert 0 < found["searx_mcp_source_score", host, "A+"] <= 1
    assert found["searx_mcp_budget_left_searches", "A+"] >= 0
    assert MARK not in text
    assert site.url("/") not in text


async def test_a_call_is_in_flight_until_it_ends_however_it_ends():
    service = Half()
    async with asyncio.timeout(DEADLINE), serving(build_server(Settings(), service=service)) as url:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(post(url, "/v1/search", {"query": "waits"}))
            await service.searching.wait()
            assert (await scraped(url))["searx_mcp_calls_in_flight", "rest"] == 1
            service.may_end.set()
        assert waiting.result().status_code == 200
        assert (await post(url, "/v1/search", {"query": "fails"})).status_code == 503
        found = await scraped(url)
    assert found["searx_mcp_calls_in_flight", "rest"] == 0
    assert found["searx_mcp_calls_total", "rest", "search", "ok"] == 1
    assert found["searx_mcp_calls_total", "rest", "search", "no_instances_available"] == 1


async def test_the_rest_is_told_when_neither_the_pool_nor_the_corpus_can_be_read():
    async with asyncio.timeout(DEADLINE), serving(build_server(Settings(), service=Half())) as url:
        await post(url, "/v1/search", {"query": "bees"})
        found = await scraped(url)
    assert found["searx_mcp_unread", "pool"] == 1
    assert found["searx_mcp_unread", "corpus"] == 1
    assert found["searx_mcp_calls_total", "rest", "search", "ok"] == 1
    assert not [name for name, *_ in found if name.startswith(("searx_mcp_inst", "searx_mcp_corp"))]


async def test_a_scrape_before_the_first_call_opens_no_corpus(tmp_path):
    settings = Settings.model_validate(
        {"storage": {"folder": str(tmp_path)}, "open_sources": {"mode": "off"}}
    )
    async with asyncio.timeout(DEADLINE), serving(build_server(settings)) as url:
        found = await scraped(url)
    assert found["searx_mcp_unread", "pool"] == 0
    assert ("searx_mcp_corpus_pages",) not in found
    assert not [*tmp_path.glob("corpus*")]


async def test_metrics_are_for_tokens_that_may_see_what_others_do(write_tokens):
    path, made = write_tokens(watcher="metrics = true\n", caller="")
    config = HttpConfig(port=0, tokens_file=str(path))
    server = build_server(Settings(), service=Half())
    async with asyncio.timeout(DEADLINE), serving(server, config) as url:
        async with connected(url, token=made["caller"]) as client:
            await client.call_tool("web_search", {"query": "bees"})
        refused = await get(url, token=made["caller"])
        found = await scraped(url, made["watcher"])
    assert refused.status_code == 403
    assert "metrics = true" in refused.json()["error"]["message"]
    assert found["searx_mcp_token_calls_total", "caller"] == 1


async def test_who_asks_for_openmetrics_gets_it():
    server = build_server(Settings(), service=Half())
    async with asyncio.timeout(DEADLINE), serving(server) as url:
        answer = await get(url, Accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


async def test_without_the_library_the_answer_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client.exposition", None)
    server = build_server(Settings(), service=Half())
    async with asyncio.timeout(DEADLINE), serving(server) as url:
        answer = await get(url)
    assert answer.status_code == 501
    assert "searx-mcp[metrics]" in answer.json()["error"]["message"]


def attempted(counters: Counters, source: str, ms: int = 10) -> None:
    counters("search.attempt", {"source": source, "verdict": "full", "elapsed_ms": ms})


def test_sources_after_the_first_hundred_are_counted_together():
    counters = Counters()
    for number in range(150):
        attempted(counters, f"https://{number}.example/")
    attempted(counters, "https://0.example/")
    assert len(counters.sources) == 100
    assert counters.attempts.values["other", "full"] == 50
    assert counters.attempts.values["0.example", "full"] == 2
    assert counters.attempts.total(verdict="full") == 151


def test_a_label_shows_no_user_of_an_address():
    assert source_label("https://user:password@searx.example:8080/searx/") == (
        "searx.example:8080/searx"
    )
    assert source_label("wikipedia") == "wikipedia"


def test_a_time_is_counted_in_the_first_bucket_that_holds_it():
    counters = Counters()
    for ms in (0, 10, 11, 999_000):
        attempted(counters, "wikipedia", ms)
    (spread,) = counters.attempt_seconds.values.values()
    assert spread.counts == [2, 1, *[0] * (len(BUCKETS) - 2), 1]
    assert spread.seconds == pytest.approx(999.021)
    assert [*counters.attempt_seconds.values] == [("open_source",)]


def test_the_budgets_of_a_report_are_summed_by_tier_and_named_by_part():
    rows = [
        InstanceReport(
            url=f"https://{number}.example/",
            tier=tier,
            grade=None,
            state=InstanceState.NEW,
            score=0.5,
            budget_left=left,
        )
        for number, (tier, left) in enumerate(((Tier.A, 3), (Tier.A, 4), (Tier.OWN, None)))
    ]
    month = MonthReport(capacity=240, spent=5, left_now=7, left_month=187, kept_back=48)
    gauges = Gauges({})
    gauges.read_pool(PoolReport(instances=tuple(rows), month=month), {"1.example"})
    assert gauges.budget_left.values == {("A",): 7}
    assert gauges.month.values == {(part,): value for part, value in month if part != "retry_after"}
    assert gauges.instances.values["A", "new"] == 2
    assert gauges.source_score.values == {("1.example", "A"): 0.5}

"""The traces of a server, as a collector of OTLP gets them."""

import asyncio
import gzip
import logging
import sys
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from aiohttp import web
from mcp import Client

from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import SettingsError
from searx_mcp.server.app import build_server
from searx_mcp.server.spans import tracing
from searx_mcp.settings.values import Settings
from searx_mcp.testing.loopback import LoopbackServer
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.serving import DEADLINE, serving

otlp: Any = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

MARK = "zanzibar"
"""Stands in queries, addresses and pages, and in no span."""
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
FAILED = 2


class Collector:
    """Takes spans, or refuses them."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.spans: list[Any] = []
        self.server = LoopbackServer(self._respond)

    async def _respond(self, request: web.BaseRequest, _: Any) -> web.Response:
        body = await request.read()
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        assert request.path == "/v1/traces"
        batch = otlp.ExportTraceServiceRequest.FromString(body)
        if self.status == 200:
            for resource in batch.resource_spans:
                assert attributes(resource.resource)["service.name"] == "searx-mcp"
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return web.Response(status=self.status)

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


def attributes(span: Any) -> dict[str, Any]:
    return {pair.key: pair.value.string_value or pair.value.int_value for pair in span.attributes}


@pytest.fixture(autouse=True)
def library_log():
    """What is set of the log of the library, it is given back."""
    log = logging.getLogger("opentelemetry.exporter")
    before = log.level
    yield
    log.setLevel(before)


async def test_a_trace_has_the_call_and_what_it_asked_and_read(settings_for, catalog_of):
    pages = {f"/{MARK}": FakePage(f"<article><p>All of {MARK} is here.</p></article>")}
    collector = Collector()
    async with (
        asyncio.timeout(DEADLINE),
        collector.server,
        FakeWeb(pages) as site,
        FakeSearxng() as instance,
    ):
        settings = settings_for(instance, site, server={"traces": collector.server.base})
        async with SearxClient(settings, catalog=catalog_of(instance)) as service:
            async with Client(build_server(settings, service=service)) as client:
                search = {"query": MARK, "fetch_content": False}
                await client.call_tool("web_search", search)
                await client.call_tool("web_search", search)
                await client.call_tool("web_fetch", {"url": site.url(f"/{MARK}/gone")})
                await client.call_tool(MARK, {"query": MARK})
    first, again = collector.named("call web_search")
    (fetch,) = collector.named("call web_fetch")
    (attempt,) = collector.named("search attempt")
    (page,) = collector.named("fetch page")
    assert attempt.parent_span_id == first.span_id
    assert page.parent_span_id == fetch.span_id
    assert attributes(first) == {"searx_mcp.code": "ok"}
    assert attributes(attempt) == {
        "searx_mcp.source": urlsplit(instance.url).netloc,
        "searx_mcp.verdict": "full",
        "http.response.status_code": 200,
    }
    assert attributes(page) == {"searx_mcp.code": "not_found"}
    assert fetch.status.code == FAILED
    assert [event.name for event in again.events] == ["search.cache_hit"]
    assert first.start_time_unix_nano <= attempt.start_time_unix_nano
    assert attempt.end_time_unix_nano <= first.end_time_unix_nano
    assert MARK not in str(collector.spans)


async def test_a_request_goes_on_with_the_trace_of_its_sender(settings_for, catalog_of):
    collector = Collector()
    async with asyncio.timeout(DEADLINE), collector.server, FakeSearxng() as instance:
        settings = settings_for(instance, server={"traces": collector.server.base})
        async with (
            SearxClient(settings, catalog=catalog_of(instance)) as service,
            serving(build_server(settings, service=service)) as url,
            httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http,
        ):
            await http.post(
                url.removesuffix("/mcp") + "/v1/search",
                json={"query": MARK, "fetch_content": False},
                headers={"traceparent": PARENT},
            )
    (request,) = collector.named("request search")
    assert request.trace_id.hex() == PARENT.split("-")[1]
    assert request.parent_span_id.hex() == PARENT.split("-")[2]
    assert {span.trace_id for span in collector.spans} == {request.trace_id}


async def test_a_collector_that_refuses_is_logged_once_and_stops_no_call(caplog):
    collector = Collector(status=400)
    async with asyncio.timeout(DEADLINE), collector.server:
        caplog.set_level(logging.INFO)
        async with tracing(collector.server.base) as spans:
            for _ in range(600):  # more than a batch
                spans("fetch.done", {"code": "ok", "elapsed_ms": 1.0})
    said = [record.message for record in caplog.records]
    assert said.count("server.traces_away") == 1
    assert not [text for text in said if "opentelemetry" in text or "xport" in text]
    assert collector.server.requests


def test_without_the_libraries_no_server_is_built_and_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsError, match=r"server\.traces") as caught:
        build_server(Settings.model_validate({"server": {"traces": "http://127.0.0.1:9"}}))
    assert "searx-mcp[otel]" in caught.value.advice


@pytest.mark.parametrize(
    "url", ["127.0.0.1:4318", "ftp://a.example", "http://user:password@a.example", "http://a b"]
)
def test_an_address_of_a_collector_is_http_and_has_no_password(url):
    with pytest.raises(ValueError, match="traces"):
        Settings.model_validate({"server": {"traces": url}})

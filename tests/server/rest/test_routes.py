"""The routes with our own models: arguments as everywhere, answers in the public forms or whole."""

import gzip
import json
from typing import Any

import httpx2
import pytest

from searx_mcp import __version__
from searx_mcp.evidence.values import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.response import SearchBatch, SearchResponse, loaded
from searx_mcp.server.app import build_server
from searx_mcp.server.http import OPERATIONS, http_app
from searx_mcp.settings.server import HttpConfig, ServerConfig
from searx_mcp.settings.values import Settings
from tests.server.rest.conftest import in_process

URL = "https://a.example/bees"

CALLS = [
    ("POST", "/v1/search", {"query": "bees"}, SearchResponse),
    ("POST", "/v1/search", {"query": "bees", "queries": ["wasps"]}, SearchBatch),
    ("POST", "/v1/fetch", {"url": URL, "max_chars": 100}, Page),
    ("POST", "/v1/read", {"url": URL, "query": "do they fly?"}, ReadResponse),
    ("POST", "/v1/answer", {"query": "do they fly?"}, EvidenceResponse),
    ("GET", "/v1/corpus", {"include_urls": "true"}, CorpusStatus),
    ("POST", "/v1/corpus/search", {"query": "do they fly?"}, EvidenceResponse),
    ("POST", "/v1/corpus/ingest", {"url": URL}, IngestResponse),
    ("GET", "/v1/instances", {}, PoolReport),
]
FETCHES = {
    "/v1/tools/web_fetch", "/v1/fetch", "/tavily/extract", "/firecrawl/v1/scrape", "/firecrawl/v2/scrape",
    "/v2/scrape", "/external/load", "/r/{url}",
}  # fmt: skip
ALWAYS = {
    "/v1/instances", "/v1/capabilities", "/openapi.json", "/config", "/autocompleter", "/stats/errors",
}  # fmt: skip
"""Routes of no tool."""


async def call(
    rest: httpx2.AsyncClient, method: str, path: str, arguments: dict[str, Any], **query: str
) -> httpx2.Response:
    if method == "GET":
        return await rest.get(path, params={**arguments, **query})
    return await rest.post(path, json=arguments, params=query or None)


@pytest.mark.parametrize(("method", "path", "arguments", "kind"), CALLS)
async def test_a_whole_answer_is_the_model_of_the_service_and_the_usual_one_leaves_out_what_is_empty(
    rest, method, path, arguments, kind
):
    whole = await call(rest, method, path, arguments, whole="true")
    usual = await call(rest, method, path, arguments)
    assert whole.status_code == usual.status_code == 200
    assert isinstance(loaded(kind, whole.json()), kind)
    names = {field.serialization_alias or name for name, field in kind.model_fields.items()}
    assert names - {"passages"} <= whole.json().keys()
    assert usual.json().keys() <= whole.json().keys()
    assert "notice" not in usual.json()  # that is for models


async def test_a_whole_search_has_the_passages_of_its_pages(rest, service):
    answer = await rest.post("/v1/search?whole=true", json={"query": "bees"})
    (first, _) = loaded(SearchResponse, answer.json()).results
    assert first.content is not None
    (passage,) = first.content.passages
    assert (passage.text, passage.path, passage.offset) == ("They fly.", ("Bees",), 8)
    assert answer.text.count("They fly.") == 1


async def test_max_tokens_cuts_an_answer_and_a_whole_one_not(rest, service):
    body = {"query": "bees", "max_tokens": 200}
    usual = (await rest.post("/v1/search", json=body)).json()
    whole = (await rest.post("/v1/search?whole=1", json=body)).json()
    assert "attempts" not in usual
    assert len(whole["results"]) == 2
    assert [request.max_tokens for request in service.asked] == [200, 200]


@pytest.mark.parametrize(
    ("method", "path", "arguments", "field"),
    [
        ("POST", "/v1/search", {"query": "bees", "quality": 7}, "quality"),
        ("POST", "/v1/search", {"query": "bees", "whole": True}, "whole"),
        ("POST", "/v1/search?whole=maybe", {"query": "bees"}, "whole"),
        ("POST", "/v1/search", {"query": "bees", "timeout": 121}, "timeout"),
        ("POST", "/v1/fetch", {"url": [URL, "https://b.example/"]}, "url"),
        ("POST", "/v1/fetch", {"url": URL, "by_person": True}, "by_person"),
        ("POST", "/v1/read", {"url": URL}, "query"),
        ("POST", "/v1/answer", {}, "query"),
        ("POST", "/v1/corpus/search", {"query": "bees", "top_k": 0}, "top_k"),
        ("POST", "/v1/corpus/ingest", {}, "url"),
        ("GET", "/v1/corpus", {"page": "2"}, "page"),
        ("GET", "/v1/corpus", {"include_urls": ["true", "false"]}, "include_urls"),
        ("GET", "/v1/instances", {"state": "active"}, "state"),
        ("GET", "/v1/capabilities", {"x": "1"}, "x"),
    ],
)
async def test_a_wrong_argument_is_told_by_its_name(rest, service, method, path, arguments, field):
    answer = await call(rest, method, path, arguments)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == field
    assert not service.asked


async def test_a_query_of_very_many_parameters_is_not_read(rest, service):
    answer = await rest.get("/v1/corpus?" + "&".join(["a"] * 101))
    assert answer.status_code == 400
    assert not service.asked


@pytest.mark.parametrize(
    ("limit", "path", "named", "seconds"),
    [
        (50, "fetch", {}, None),
        (50, "fetch", {"timeout": 20}, 20),
        (50, "fetch", {"timeout": 90}, 50),
        (20, "search", {"timeout": 7}, 7),
        (20, "search", {"timeout": 100}, 20),
        # Ends before the call does, to be written.
        (20, "answer", {"timeout": 100}, pytest.approx(17, abs=1)),
    ],
)
async def test_a_call_has_the_time_that_it_names_and_no_more_than_the_server_allows(
    service, limit, path, named, seconds
):
    usual = {"url": URL} if path == "fetch" else {"query": "bees"}
    settings = Settings(server=ServerConfig(tool_timeout=limit))
    async with in_process(service, settings) as rest:
        await rest.post(f"/v1/{path}", json={**usual, **named})
    assert service.asked[0].timeout == seconds


async def test_capabilities_tell_the_version_and_the_routes(rest):
    told = (await rest.get("/v1/capabilities")).json()
    assert (told["name"], told["version"]) == ("searx-mcp", __version__)
    assert [(each["method"], each["path"]) for each in told["routes"]] == [
        (each.method, each.path) for each in OPERATIONS
    ]
    assert {each["path"] for each in told["routes"] if each["streams"]} >= {"/v1/answer"}


async def test_capabilities_are_those_of_the_token(service, write_tokens):
    file, made = write_tokens(reader='tools = ["web_fetch"]\n')
    config = HttpConfig(tokens_file=str(file))
    headers = {"Authorization": f"Bearer {made['reader']}"}
    async with in_process(service, Settings(http=config), headers=headers) as rest:
        told = (await rest.get("/v1/capabilities")).json()
        searched = await rest.post("/v1/search", json={"query": "bees"})
    paths = {each["path"] for each in told["routes"]}
    assert paths == FETCHES | ALWAYS
    assert (searched.status_code, searched.json()["error"]["code"]) == (403, "unauthorized")


async def test_only_the_routes_of_the_named_tools_are_served(service):
    settings = Settings(server=ServerConfig(tools=("web_fetch",)))
    async with in_process(service, settings) as rest:
        told = (await rest.get("/v1/capabilities")).json()
        fetched = await rest.post("/v1/fetch", json={"url": URL, "max_chars": 5})
        searched = await rest.post("/v1/search", json={"query": "bees"})
    paths = {each["path"] for each in told["routes"]}
    assert paths == FETCHES | ALWAYS
    assert (fetched.status_code, searched.status_code) == (200, 404)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("br", False),
        ("", False),
    ],
)
async def test_a_long_answer_is_compressed_for_whoever_takes_that(rest, accepted, is_compressed):
    headers = {"Accept-Encoding": accepted}
    request = rest.build_request(
        "POST", "/v1/search?whole=true", json={"query": "bees"}, headers=headers
    )
    answer = await rest.send(request, stream=True)
    raw = b"".join([part async for part in answer.aiter_raw()])
    assert (answer.headers.get("content-encoding") == "gzip") is is_compressed
    assert int(answer.headers["content-length"]) == len(raw)
    assert json.loads(gzip.decompress(raw) if is_compressed else raw)["query"] == "bees"


async def test_a_short_answer_is_not_compressed(rest):
    answer = await rest.get("/v1/corpus", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers


async def test_a_server_that_stops_is_not_ready(service):
    app = http_app(build_server(Settings(), service=service), HttpConfig())
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(base_url="http://localhost", transport=transport) as rest:
        before = await rest.get("/readyz")
        app.stop()
        after = await rest.get("/readyz")
    assert (before.status_code, after.status_code) == (200, 503)
    assert after.headers["retry-after"]


@pytest.mark.parametrize(
    ("change", "status", "body"),
    [
        (lambda service: None, 200, {"status": "ready"}),
        (
            lambda service: setattr(service, "report", PoolReport(instances=())),
            503,
            {"status": "not ready", "code": "no_instances_available"},
        ),
        (
            lambda service: setattr(service, "failure", OSError("secret")),
            503,
            {"status": "not ready", "code": "internal"},
        ),
    ],
    ids=["ready", "Nothing to search", "not opened"],
)
async def test_readiness_says_whether_there_is_anybody_to_ask(rest, service, change, status, body):
    change(service)
    answers = [await rest.get("/readyz", headers={"Host": "any.example"}) for _ in range(2)]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(status, body)] * 2
    assert len(service.asked) == 1  # the second is answered with what was seen

"""The real `searx-mcp` process, through the official client, against real servers.

Every test runs twice: with the engine in that process, and with a service elsewhere that performs its calls.

What differs between the eras of the protocol: `test_eras`.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from searx_mcp.server.app import build_server
from searx_mcp.settings.sources import load
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect
from tests.doubles import serving as doubles

pytestmark = pytest.mark.slow

CATEGORIES = ("general", "news", "images")
PATIENT = {
    "SEARX_MCP_SEARCH__ATTEMPT_TIMEOUT": "10",
    "SEARX_MCP_SEARCH__PHASE_TIMEOUT": "60",
    "SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "120",
}
"""What a real server needs on a busy machine."""
PARAGRAPHS = [
    "Bees find their way by the sun and tell each other with a dance where the flowers are.",
    "A hive of one season keeps forty thousand of them, and each visits a thousand flowers a day.",
]


class Serving(Protocol):
    """What the fixture `serving` gives.

    Attributes:
        heading: the beginning of what a search with five results says.
    """

    heading: str

    def __call__(self, mode: str, **environment: str) -> AbstractAsyncContextManager[Client]: ...


class Searx(Protocol):
    """What the fixture `searx` gives."""

    url: str

    def point_to(self, site: str) -> None: ...


def site() -> FakeWeb:
    """A page for every row of the real server, one of which is missing."""
    pages: dict[str, Any] = {
        f"/{category}/{n}": FakePage(article(f"About {category} {n}", PARAGRAPHS))
        for category in CATEGORIES
        for n in range(1, 16)
    }
    del pages["/general/2"]
    pages["/moved"] = redirect("/general/1", status=301)
    return FakeWeb(pages)


class Embedded:
    """The process, which searches by itself, with its client; both gone at the end of the block."""

    heading = "Found 5 search results for query 'bees'"

    @asynccontextmanager
    async def __call__(self, mode: str, **environment: str) -> AsyncIterator[Client]:
        with TemporaryDirectory() as folder:
            config = Path(folder) / "searx-mcp.toml"
            config.touch()
            parameters = StdioServerParameters(
                command=sys.executable,
                args=["-m", "searx_mcp", "stdio"],
                env={**os.environ, "SEARX_MCP_CONFIG": str(config), **environment},
            )
            async with Client(stdio_client(parameters), mode=mode) as client:
                yield client


class Remote:
    """The process as a thin client, and the service that it asks, over a real socket."""

    heading = "SEARCH RESULTS (5 found):"

    @asynccontextmanager
    async def __call__(self, mode: str, **environment: str) -> AsyncIterator[Client]:
        with TemporaryDirectory() as folder:
            config = Path(folder) / "searx-mcp.toml"
            config.touch()
            settings = load(path=config, environ={**os.environ, **environment}).settings
        async with doubles.serving(build_server(settings)) as url:
            service = url.removesuffix("/mcp")
            async with Embedded()(mode, SEARX_MCP_REMOTE_URL=service) as client:
                yield client


@pytest.fixture(params=[Embedded, Remote])
def serving(request: pytest.FixtureRequest) -> Serving:
    made: Serving = request.param()
    return made


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def origin(url: str) -> str:
    return url.split("//")[1].split("/", maxsplit=1)[0]


def check_response(
    result: CallToolResult, category: str, instance: str, web: FakeWeb, heading: str
) -> None:
    """Every field of a search answered by the real server with its five rows."""
    assert not result.is_error, text(result)
    said, data = text(result), result.structured_content
    assert data is not None
    assert said.startswith(heading)
    assert "tell each other with a dance" in said
    missing = 1 if category == "general" else 0
    expected = {
        "query": "bees",
        "category": category,
        "language": "en",
        "results_count": 5,
        "instance_used": instance,
    }
    read = {"attempted": 5, "successful": 5 - missing, "failed": missing}
    assert {**data, **expected} == data
    assert {**data["content_fetch_stats"], **read} == data["content_fetch_stats"]
    assert data["total_results"] >= 5 == len(data["results"])
    assert data["engines_used"] in ([], [f"loopback {category}"])
    assert min(data["search_time_ms"], data["content_fetch_stats"]["total_time_ms"]) >= 0
    for number, row in enumerate(data["results"], start=1):
        check_row(row, number, category, web)
        assert row["title"] in said
        assert row["url"] in said


def check_row(row: dict[str, Any], number: int, category: str, web: FakeWeb) -> None:
    url = web.url(f"/{category}/{number}")
    assert (row["url"], row["title"]) == (url, f"{category} {number}: bees")
    assert 0 < row["score"] <= 1
    if category == "images":
        assert row["image"]["url"] == f"{url}.png"
    else:
        assert row["description"] == f"What the {category} row {number} says about bees."
        assert row["engine"] == f"loopback {category}"
    if (category, number) == ("general", 2):
        assert row.get("content") is None
        return
    content = row["content"]
    assert "tell each other with a dance" in content["markdown"]
    assert content["word_count"] > 20
    assert content["fetch_time_ms"] >= 0
    assert content["summary"] == ""  # the text says it


async def start_reader(client: Client, web: FakeWeb) -> None:
    """Wait for the process that reads pages, for which a search has no time on a busy machine."""
    assert not (await call(client, "web_fetch", url=web.url("/news/15"))).is_error


@pytest.mark.parametrize(
    ("serving", "mode"), [(Embedded, "auto"), (Remote, "legacy")], indirect=["serving"]
)
async def test_json_of_a_real_server_after_a_hung_and_a_limited_instance(
    searx: Searx, mode: str, serving: Serving
) -> None:
    async with site() as web, FakeSearxng(hang=True) as hung, FakeSearxng(status=429) as limited:
        searx.point_to(web.base)
        async with serving(
            mode,
            SEARX_MCP_INSTANCES__OWN=json.dumps([hung.url, limited.url, searx.url]),
            SEARX_MCP_FETCH__ALLOW_PRIVATE=json.dumps([web.origin]),
            **PATIENT,
            SEARX_MCP_WEB_SEARCH__USE_RANDOM_INSTANCES="false",
        ) as client:
            await start_reader(client, web)
            for category in CATEGORIES:
                result = await call(
                    client, "web_search", query="bees", results_count=5, category=category
                )
                check_response(result, category, searx.url, web, serving.heading)
    assert hung.searches >= 1
    # In both formats, and then left alone for ten seconds, which a busy machine may take.
    assert 2 <= limited.searches < len(CATEGORIES)
    searched = next(request for request in hung.requests if request.path == "/search")
    assert searched.parameters["format"] == "json"


@pytest.mark.parametrize(
    ("serving", "mode", "category"),
    [
        (Embedded, "legacy", "images"),
        (Remote, "auto", "general"),
    ],
    indirect=["serving"],
)
async def test_html_of_a_real_server_after_a_hung_and_a_limited_instance(
    searx: Searx, mode: str, category: str, tmp_path: Path, serving: Serving
) -> None:
    async with site() as web, FakeSearxng(hang=True) as hung, FakeSearxng(status=429) as limited:
        searx.point_to(web.base)
        fakes = {hung.url: "A+", limited.url: "A", searx.url: "B"}
        catalog = tmp_path / "instances.json"
        catalog.write_text(
            json.dumps(
                {
                    "schema_version": 1,
                    "source": "a test",
                    "listed_at": "2026-08-05T00:00:00Z",
                    "instances": [
                        {"url": url, "tls_grade": grade, "http_grade": grade}
                        for url, grade in fakes.items()
                    ],
                }
            )
        )
        reachable = [web.origin, *(origin(url) for url in fakes)]
        async with serving(
            mode,
            SEARX_MCP_INSTANCES__CATALOG=str(catalog),
            SEARX_MCP_FETCH__ALLOW_PRIVATE=json.dumps(reachable),
            **PATIENT,
            SEARX_MCP_WEB_SEARCH__REQUEST_DELAY_RANGE="[0, 10]",
        ) as client:
            await start_reader(client, web)
            result = await call(
                client, "web_search", query="bees", results_count=5, category=category
            )
    check_response(result, category, searx.url, web, serving.heading)
    assert "/robots.txt" in {request.path for request in hung.requests}
    assert [hung.searches, limited.searches] == [0, 1], "nobody searches where nobody answers"
    searched = next(request for request in limited.requests if request.path == "/search")
    assert "format" not in searched.parameters


async def test_a_lone_surrogate_from_an_instance_or_a_page_does_not_end_the_server(
    serving: Serving,
) -> None:
    body = json.dumps(
        {
            "query": "x",
            "results": [
                {
                    "url": "https://example.org/",
                    "title": "cut \ud83d here",
                    "content": "and \udfff there",
                    "engines": ["bi\ud800ng"],
                }
            ],
            "suggestions": ["more \ud83d"],
            "unresponsive_engines": [["eng\ud800ine", "time\udc00out"]],
        }
    ).encode()
    page = FakePage("<title>t &#xD83D;</title><p>text &#55357; more words</p>")
    async with FakeSearxng(raw_body=body, content_type="application/json") as own:
        async with FakeWeb({"/a": page}) as web:
            async with serving(
                "legacy",
                SEARX_MCP_INSTANCES__OWN=own.url,
                SEARX_MCP_FETCH__ALLOW_PRIVATE=web.origin,
            ) as client:
                found = await call(client, "web_search", query="x", fetch_content=False)
                read = await call(client, "web_fetch", url=web.url("/a"))
                alive = await call(client, "web_search", query="x", fetch_content=False)
    assert "cut" in text(found)
    assert "more words" in text(read)
    assert not alive.is_error

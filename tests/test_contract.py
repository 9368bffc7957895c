"""The public field names of the specifications, on every front."""

import json
from typing import Any

import pytest
from mcp import Client

from searx_mcp import RemoteClient, SearxClient
from searx_mcp.errors import FetchError, NoInstancesError
from searx_mcp.server.app import build_server
from searx_mcp.service import ServiceClient
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect

SEARCH = {
    "query",
    "category",
    "language",
    "results_count",
    "search_time_ms",
    "instance_used",
    "results",
    "total_results",
    "engines_used",
    "content_fetch_stats",
}
RESULT = {"title", "url", "description", "score", "engine", "content"}
CONTENT = {"markdown", "word_count", "fetch_time_ms", "summary"}
STATS = {"attempted", "successful", "failed", "total_time_ms"}
SEARCH_ONLY = {"query", "results_count", "fetch_content", "results"}
SEARCH_ERROR = {"query", "error_type", "error_details", "attempted_instances", "retry_after"}
PAGE = {
    "url",
    "final_url",
    "title",
    "content_type",
    "content_length",
    "status_code",
    "response_time_ms",
    "markdown_content",
    "word_count",
    "headers",
    "redirect_count",
    "redirect_chain",
}
FETCH_ERROR = {"url", "error_type", "error_details", "status_code", "response_time_ms"}


class Fronts:
    """Asks one question of the MCP server, the command line and the module."""

    def __init__(self, settings, run_cli, environment) -> None:
        self.settings = settings
        self.run_cli = run_cli
        self.environment = environment

    async def ask(self, tool: str, argument: str, **more: Any) -> dict[str, dict[str, Any]]:
        name = "query" if tool == "web_search" else "url"
        async with SearxClient(self.settings) as service:
            async with Client(build_server(self.settings, service=service)) as client:
                result = await client.call_tool(tool, {name: argument, **more})
        flags = [
            f"--{'' if value else 'no-'}{key.replace('_', '-')}" for key, value in more.items()
        ]
        command = tool.removeprefix("web_")
        ran = await self.run_cli(command, argument, "--json", *flags, **self.environment)
        return {"mcp": result.structured_content or {}, "cli": json.loads(ran.out)}


@pytest.fixture
async def web():
    pages = {"/a": FakePage(article("Bees", ["Bees dance."] * 9)), "/moved": redirect("/a")}
    async with FakeWeb(pages) as site:
        yield site


@pytest.fixture
async def own(web):
    async with FakeSearxng(links=[web.url("/a")], formats=("html", "json")) as fake:
        yield fake


@pytest.fixture
def fronts(settings_for, run_cli, own, web):
    environment = {
        "SEARX_MCP_INSTANCES__OWN": own.url,
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": web.origin,
    }
    return Fronts(settings_for(web, own=[own]), run_cli, environment)


async def test_a_search_has_every_field(fronts):
    answers = await fronts.ask("web_search", "bees")
    async with SearxClient(fronts.settings) as client:
        answers["module"] = (await client.search("bees")).model_dump()
    for front, data in answers.items():
        assert data.keys() >= SEARCH, front
        assert data["content_fetch_stats"].keys() >= STATS, front
        (result,) = data["results"]
        assert result.keys() >= RESULT, front
        assert result["content"].keys() >= CONTENT, front


async def test_a_search_without_pages_has_every_field(fronts):
    answers = await fronts.ask("web_search", "bees", fetch_content=False)
    async with SearxClient(fronts.settings) as client:
        answers["module"] = (await client.search("bees", fetch_content=False)).model_dump()
    for front, data in answers.items():
        assert data.keys() >= SEARCH_ONLY, front
        assert data["fetch_content"] is False, front
        (result,) = data["results"]
        assert result.keys() >= RESULT - {"content"}, front
        assert result.get("content") is None, front


async def test_a_search_that_failed_has_every_field(fronts, own):
    own.limit()
    answers = await fronts.ask("web_search", "bees")
    async with SearxClient(fronts.settings) as client:
        with pytest.raises(NoInstancesError) as caught:
            await client.search("bees")
    for front, data in answers.items():
        assert data.keys() >= SEARCH_ERROR, front
        assert data["attempted_instances"] == [own.url], front
    assert caught.value.code == "no_instances_available"
    assert caught.value.attempts[0].instance == own.url
    assert caught.value.retry_after is not None


async def test_a_page_has_every_field(fronts, web):
    answers = await fronts.ask("web_fetch", web.url("/moved"))
    async with SearxClient(fronts.settings) as client:
        answers["module"] = (await client.fetch(web.url("/moved"))).model_dump()
    for front, data in answers.items():
        assert data.keys() >= PAGE, front
        assert data["redirect_count"] == 1, front


async def test_a_page_that_failed_has_every_field(fronts, web):
    answers = await fronts.ask("web_fetch", web.url("/gone"))
    async with SearxClient(fronts.settings) as client:
        with pytest.raises(FetchError) as caught:
            await client.fetch(web.url("/gone"))
    for front, data in answers.items():
        assert data.keys() >= FETCH_ERROR, front
        assert (data["error_type"], data["status_code"]) == ("not_found", 404), front
    assert (caught.value.code, caught.value.status_code) == ("not_found", 404)
    assert caught.value.response_time_ms is not None


def test_the_server_can_open_either_client():
    """It imports neither, so the type of this tuple is what mypy holds them to."""
    clients: tuple[type[ServiceClient], ...] = (SearxClient, RemoteClient)
    for client in clients:
        assert {"search", "fetch", "__aenter__", "__aexit__", "aclose"} <= {*dir(client)}

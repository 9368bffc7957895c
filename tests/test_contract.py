"""The public field names of the specifications, on every front."""

import json
import pickle
from copy import copy
from typing import Any

import pytest
from mcp import Client

from searx_mcp import RemoteClient, SearxClient
from searx_mcp.errors import SearxMcpError
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
def ask(settings_for, run_cli, own, web):
    """Ask one question of the MCP server, the command line and, if it is no failure, the module."""
    settings = settings_for(web, own=[own])
    environment = {
        "SEARX_MCP_INSTANCES__OWN": own.url,
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": web.origin,
        "SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "120",  # on a busy machine, too
    }

    async def asked(tool: str, argument: str, **more: Any) -> dict[str, dict[str, Any]]:
        name = "query" if tool == "web_search" else "url"
        async with SearxClient(settings) as service:
            async with Client(build_server(settings, service=service)) as client:
                result = await client.call_tool(tool, {name: argument, **more})
        flags = [f"--no-{key.replace('_', '-')}" for key in more]
        command = tool.removeprefix("web_")
        ran = await run_cli(command, argument, "--json", *flags, **environment)
        answers = {"mcp": result.structured_content or {}, "cli": json.loads(ran.out)}
        if not result.is_error:
            async with SearxClient(settings) as service:
                method = service.search if tool == "web_search" else service.fetch
                answers["module"] = (await method(argument, **more)).model_dump()
        return answers

    return asked


NO_PAGES = {"fetch_content": False}
FIELDS: dict[str, tuple[str, str, dict[str, Any], dict[str, set[str]]]] = {
    "a search": (
        *("web_search", "bees", {}),
        {
            "": SEARCH,
            "content_fetch_stats": STATS,
            "results.0": RESULT,
            "results.0.content": CONTENT,
        },
    ),
    "a search without pages": (
        *("web_search", "bees", NO_PAGES),
        {"": SEARCH_ONLY, "results.0": RESULT - {"content"}},
    ),
    "a search that failed": ("web_search", "limited", {}, {"": SEARCH_ERROR}),
    "a page": ("web_fetch", "/moved", {}, {"": PAGE}),
    "a page that failed": ("web_fetch", "/gone", {}, {"": FETCH_ERROR}),
}


@pytest.mark.usefixtures("patient_search")
@pytest.mark.parametrize(("tool", "asked", "more", "fields"), FIELDS.values(), ids=FIELDS)
async def test_every_front_has_every_field(ask, own, web, tool, asked, more, fields):
    if asked == "limited":
        own.limit()
    answers = await ask(tool, web.url(asked) if tool == "web_fetch" else asked, **more)
    for front, data in answers.items():
        for path, wanted in fields.items():
            value = data
            for name in filter(None, path.split(".")):
                value = value[int(name)] if name.isdigit() else value[name]
            assert value.keys() >= wanted, (front, path)
        assert not (more and data["results"][0].get("content")), front


@pytest.mark.parametrize("method", ["search", "fetch"])
async def test_an_error_has_every_field(settings_for, own, web, method):
    own.limit()
    async with SearxClient(settings_for(web, own=[own])) as client:
        with pytest.raises(SearxMcpError) as caught:
            await getattr(client, method)(web.url("/gone"))
    known = {"search": ("attempts", "retry_after"), "fetch": ("status_code", "response_time_ms")}
    assert all(getattr(caught.value, name) is not None for name in known[method])
    for again in (pickle.loads(pickle.dumps(caught.value)), copy(caught.value)):  # noqa: S301 - ours
        assert (type(again), str(again)) == (type(caught.value), str(caught.value))
        assert vars(again) == vars(caught.value)


def test_the_server_can_open_either_client():
    """It imports neither, so the type of this tuple is what mypy holds them to."""
    clients: tuple[type[ServiceClient], ...] = (SearxClient, RemoteClient)
    for client in clients:
        assert {"search", "fetch", "__aenter__", "__aexit__", "aclose"} <= {*dir(client)}

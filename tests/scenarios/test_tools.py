"""The tools as an agent calls them: a process of its own, over stdio."""

import os
import sys
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect

pytestmark = [pytest.mark.slow, pytest.mark.smoke]

LONG = "".join(
    f"<h2>Part {part}</h2>" + f"<p>Part {part} says a little more of tea.</p>" * 40
    for part in range(12)
)
PAGES = {
    "/tea": FakePage(article("Tea", ["Tea is made of leaves that are dried."] * 20)),
    "/long": FakePage(f"<title>Long</title><main><h1>Long</h1>{LONG}</main>"),
    "/moved": redirect("/tea"),
    "/denied": FakePage("no", status=403),
}

CALLS: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "a search with pages": (
        "web_search",
        {"query": "tea leaves"},
        "Tea is made of leaves",
        {"query": "tea leaves", "category": "general"},
    ),
    "a search without pages": (
        "web_search",
        {"query": "tea leaves", "fetch_content": False},
        "Found 4 search results",
        {"fetch_content": False, "total_results": 4},
    ),
    "a search with a small budget": ("web_search", {"query": "tea", "max_tokens": 300}, "tea", {}),
    "a number as text": (
        "web_search",
        {"query": "tea", "results_count": "2", "fetch_content": "false"},
        "Found 2 search results",
        {"results_count": 2},
    ),
    "the names of other servers": (
        "web_search",
        {"q": "tea", "num_results": 2, "fetch_content": False},
        "Found 2 search results",
        {"results_count": 2},
    ),
    "a page": ("web_fetch", {"url": "{web}/tea"}, "Tea is made of leaves", {"title": "Tea"}),
    "a page behind a redirect": (
        "web_fetch",
        {"url": "{web}/moved"},
        "Tea is made of leaves",
        {"redirect_count": 1},
    ),
    "a part of a page": ("web_fetch", {"url": "{web}/long"}, "web_fetch {", {"truncated": True}),
    "a section": (
        "web_fetch",
        {"url": "{web}/long", "section": "Part 7"},
        "Part 7 says",
        {"section": ["Long", "Part 7"]},
    ),
    "a prompt": (
        "web_fetch",
        {"url": "{web}/long", "prompt": "part 9", "max_chars": 1_000},
        "Part 9 says",
        {},
    ),
}

FAILURES: dict[str, tuple[str, dict[str, Any], str]] = {
    "no query": ("web_search", {}, "invalid_argument"),
    "too many results": ("web_search", {"query": "tea", "results_count": 99}, "invalid_argument"),
    "a word for a number": (
        "web_search",
        {"query": "tea", "results_count": "many"},
        "invalid_argument",
    ),
    "no address": ("web_fetch", {}, "invalid_argument"),
    "a page that is not there": ("web_fetch", {"url": "{web}/gone"}, "not_found"),
    "a site that refuses": ("web_fetch", {"url": "{web}/denied"}, "blocked_by_site"),
    "a private address": ("web_fetch", {"url": "http://192.168.0.1/"}, "blocked_address"),
    "another scheme": ("web_fetch", {"url": "file:///etc/passwd"}, "blocked_scheme"),
    "a cursor that nobody gave": ("web_fetch", {"cursor": "a" * 16}, "cursor_expired"),
    "a section that is not there": (
        "web_fetch",
        {"url": "{web}/long", "section": "Coffee"},
        "invalid_argument",
    ),
    "robots that nobody may ignore over MCP": (
        "web_fetch",
        {"url": "{web}/tea", "ignore_robots": True},
        "",
    ),
}


def filled(arguments: dict[str, Any], web: FakeWeb) -> dict[str, Any]:
    return {
        name: value.format(web=web.base) if name == "url" else value
        for name, value in arguments.items()
    }


async def test_an_agent_searches_reads_and_is_told_what_is_wrong(tmp_path):
    config = tmp_path / "searx-mcp.toml"
    config.touch()
    async with FakeWeb(PAGES) as web, FakeSearxng(links=web.links, formats=["json"]) as fake:
        environment = {
            **os.environ,
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_STORAGE__FOLDER": str(tmp_path),
            "SEARX_MCP_INSTANCES__OWN": fake.url,
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": web.origin,
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
        }
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "searx_mcp", "stdio"], env=environment
        )
        async with Client(stdio_client(parameters)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            found = {
                name: await client.call_tool(tool, filled(arguments, web))
                for name, (tool, arguments, *_) in (CALLS | FAILURES).items()
            }
    assert {"web_search", "web_fetch"} <= names
    for name, (_, _, words, fields) in CALLS.items():
        (content,) = found[name].content
        assert isinstance(content, TextContent)
        assert not found[name].is_error, (name, content.text)
        assert words in content.text, name
        assert fields.items() <= (found[name].structured_content or {}).items(), name
    for name, (_, _, code) in FAILURES.items():
        (content,) = found[name].content
        assert isinstance(content, TextContent)
        if code:
            assert found[name].is_error, name
            assert (found[name].structured_content or {})["error_type"] == code, name
        assert "Traceback" not in content.text

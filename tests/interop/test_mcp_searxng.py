"""mcp-searxng, an MCP server that asks a SearXNG instance, asks our server in its place."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from searx_mcp.server.app import build_server
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from tests.doubles.serving import serving

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"


@pytest.fixture
async def client(node: Path, node_modules: Path, tmp_path: Path) -> AsyncIterator[Client]:
    """Give a client of it; between it and the web stand our server, which wants a token, and an instance."""
    async with FakeSearxng() as instance:
        settings = Settings.model_validate(
            {
                "instances": {"own": [instance.url], "public": "off"},
                "open_sources": {"mode": "off"},
                "storage": {"folder": str(tmp_path)},
            }
        )
        async with serving(build_server(settings), HttpConfig(port=0, token=TOKEN)) as url:
            address = url.removesuffix("/mcp").replace("://", f"://anybody:{TOKEN}@")
            program = StdioServerParameters(
                command=str(node),
                args=[str(node_modules / "mcp-searxng" / "dist" / "cli.js")],
                env={**os.environ, "SEARXNG_URL": address, "HOME": str(tmp_path)},
            )
            async with Client(stdio_client(program)) as client:
                yield client


def said(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert not result.is_error, content.text
    return content.text


async def test_it_searches_and_learns_the_categories_here(client: Client) -> None:
    asked = {"query": "bees", "categories": "NEWS", "language": "en", "time_range": "week"}
    found = said(await client.call_tool("searxng_web_search", asked))
    assert found.count("URL: https://") > 1
    assert "not validated" not in found
    about = said(await client.call_tool("searxng_instance_info", {}))
    assert "social media" in about


async def test_it_is_suggested_nothing(client: Client) -> None:
    suggested = await client.call_tool("searxng_search_suggestions", {"query": "be"})
    assert not suggested.is_error

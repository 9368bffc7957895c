"""The MCP server over loopback instances, through the in-memory client."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, Implementation, TextContent

from searx_mcp.client.facade import SearxClient
from searx_mcp.models.instance import Catalog
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from tests.doubles.tokens import new_token


@asynccontextmanager
async def open_server(
    settings: Settings,
    catalog: Catalog | None = None,
    *,
    mode: str = "auto",
    client_name: str = "a test",
    **arguments: Any,
) -> AsyncIterator[Client]:
    async with SearxClient(settings, catalog=catalog) as service:
        server = build_server(settings, service=service)
        info = Implementation(name=client_name, version="1")
        async with Client(server, mode=mode, client_info=info, **arguments) as client:
            yield client


@pytest.fixture
def connect():
    """Give what opens a client of a server with these settings and this catalog."""
    return open_server


OURS_OF_A_SEARCH = ("query", "category", "language", "instance_used", "notes")
OURS_OF_A_PAGE = ("url", "content_type", "cursor", "notes", "tier", "robots", "provenance")


class Reader:
    """A model that looks at every answer for words that stand where they may not."""

    def __init__(self, client: Client, hostile) -> None:
        self._client = client
        self._hostile = hostile
        self.boundary = "not seen yet"

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        ours = OURS_OF_A_SEARCH if tool == "web_search" else OURS_OF_A_PAGE
        result: CallToolResult = await self._client.call_tool(tool, arguments)
        if found := re.search(r"^<web-content id=(\w+)", text(result), re.MULTILINE):
            self.boundary = found[1]
        data = dict(result.structured_content or {})
        assert data.pop("url", "") in {arguments.get("url", ""), ""}
        assert self._hostile.breaches(text(result), boundary=self.boundary) == []
        assert self._hostile.breaches_of_data(data, boundary=self.boundary, ours=ours) == []
        return result


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.fixture
def reader(hostile) -> Callable[[Client], Reader]:
    """Give what makes a reader of a client."""
    return lambda client: Reader(client, hostile)


@pytest.fixture
def text_of() -> Callable[[CallToolResult], str]:
    """Give what takes the text out of a result."""
    return text


@pytest.fixture
def write_tokens(tmp_path):
    """Give what writes a file of tokens, each with its rights as TOML; returns its path and the tokens by name."""

    def _write_tokens(**rights: str) -> tuple[Path, dict[str, str]]:
        made = {name: new_token(name) for name in rights}
        file: Path = tmp_path / "tokens.toml"
        file.write_text("".join(lines + rights[name] for name, (_, lines) in made.items()))
        file.chmod(0o600)
        return file, {name: token for name, (token, _) in made.items()}

    return _write_tokens


@pytest.fixture
def connect_to():
    """Give what opens a client of a server."""

    @asynccontextmanager
    async def _connect_to(server: MCPServer[None]) -> AsyncIterator[Client]:
        async with Client(server) as client:
            yield client

    return _connect_to

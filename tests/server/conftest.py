"""The MCP server over loopback instances, through the in-memory client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.types import Implementation

from searx_mcp.client.facade import SearxClient
from searx_mcp.models.instance import Catalog
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings


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

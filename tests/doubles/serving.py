"""A server of ours over HTTP, on a free port, and clients of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer

from searx_mcp.server.http import serve_http
from searx_mcp.settings.server import HttpConfig

ANYWHERE = HttpConfig(port=0)
"""A free port of 127.0.0.1."""


@asynccontextmanager
async def serving(
    server: MCPServer[Any], config: HttpConfig = ANYWHERE, **options: Any
) -> AsyncIterator[str]:
    """Serve while the block runs, and give the URL of the endpoint.

    Args:
        server: to be served.
        config: as of `serve_http`.
        options: of `serve_http`.
    """
    url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    work = serve_http(server, config, listening=url.set_result, **options)
    task = asyncio.create_task(work)  # noqa: TID251 - a group would wrap why it does not start
    try:
        either: set[asyncio.Future[Any]] = {task, url}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield url.result()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def connected(
    url: str, *, mode: str = "auto", token: str = "", **options: Any
) -> AsyncIterator[Client]:
    """Connect the official client to a server.

    Args:
        url: of the endpoint.
        mode: `auto` or `legacy`, as of the client.
        token: to be sent, if any.
        options: of the client.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # Without what the environment says of proxies, and with time for what a test lets wait.
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            yield client

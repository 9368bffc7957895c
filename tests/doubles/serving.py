"""A server of ours over HTTP, on a free port, and clients of it."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer

from searx_mcp.server.http import serve_http
from searx_mcp.settings.server import HttpConfig

ANYWHERE = HttpConfig(port=0)
"""A free port of 127.0.0.1."""
DEADLINE = 200
"""Seconds until a test fails that would hang; nothing is measured."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
"""The message with which a client opens a session."""
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
"""The message that follows the answer."""
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
"""Of each message."""


def sessions_of(server: MCPServer[Any]) -> set[str]:
    """The sessions of the handshake protocol that a server holds, by their names."""
    return set(server.session_manager._server_instances)


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


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry what comes from one end to the other, until either has gone."""
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def in_turn(*urls: str) -> AsyncIterator[str]:
    """Give each request to the next of several servers, as a balancer that knows no sessions.

    Args:
        urls: of their endpoints.
    """
    ports = itertools.cycle([urlsplit(url).port for url in urls])
    streams: set[asyncio.StreamWriter] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line, head = await reader.readline(), await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:  # a connection that was not needed
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", next(ports))
        far_writer.write(line + b"Connection: close\r\n" + head)
        streams.add(writer)
        async with asyncio.TaskGroup() as group:
            group.create_task(pipe(reader, far_writer))
            group.create_task(pipe(far_reader, writer))
        streams.discard(writer)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        for stream in streams:
            stream.transport.abort()
        await server.wait_closed()


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

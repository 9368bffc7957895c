"""Loopback servers that misbehave on purpose, and names that resolve as told."""

import asyncio
import json
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Runs one coroutine for each connection and remembers what it saw.

    Attributes:
        requests: the head of every request that `answer` read.
        connections: how many were accepted.
        accepted: set once a connection is there.
        left: set once a peer has gone.
    """

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None) -> None:
        self._handler = handler
        self._tls = tls
        self._tasks: set[asyncio.Task[Any]] = set()
        self.requests: list[str] = []
        self.connections = 0
        self.accepted = asyncio.Event()
        self.left = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.accepted.set()
        try:
            await self._handler(reader, writer)
        except (ConnectionError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self.left.set()
            self._tasks.discard(task)


Serve = Callable[..., Awaitable[RawServer]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server with a coroutine for its connections, or with an answer to every request.

    With `answer`, every request gets these bytes, and then `then` runs: by default the server
    waits for the next request, so that the connection is kept.
    """
    running: list[RawServer] = []

    async def start(
        handler: Handler | None = None,
        *,
        answer: bytes = b"",
        then: Handler | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> RawServer:
        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                server.requests.append(head.decode())
                writer.write(answer)
                await writer.drain()
                if then is not None:
                    await then(reader, writer)
                    return

        server = RawServer(handler or respond, tls)
        await server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        await server.stop()


@pytest.fixture
async def pages_for() -> AsyncIterator[Callable[..., HttpSession]]:
    """Make a pages session that may reach one server."""
    async with AsyncExitStack() as stack:

        def make(server: RawServer, *, verify_pages: bool = True, **network: Any) -> HttpSession:
            allow = AllowList.parse([f"127.0.0.1:{server.port}"])
            config = NetworkConfig(**network)
            sessions = Sessions(config, allow=allow, verify_pages=verify_pages)
            stack.push_async_callback(sessions.aclose)
            return sessions.pages

        yield make


@pytest.fixture(scope="session")
def certificate() -> ssl.SSLContext:
    """What a server shows that nobody trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1", "flood.example.net").configure_cert(context)
    return context


class FakeResolver(AbstractResolver):
    """Knows the given names only; a list of lists is one answer after the other."""

    def __init__(self, answers: Mapping[str, Sequence[Any]]) -> None:
        self._answers = answers
        self._rounds: dict[str, int] = {}
        self.asked: list[str] = []

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.asked.append(host)
        if host not in self._answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = self._answers[host]
        if addresses and isinstance(addresses[0], list):
            turn = self._rounds.setdefault(host, 0)
            self._rounds[host] += 1
            addresses = addresses[min(turn, len(addresses) - 1)]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in addresses
        ]

    @override
    async def close(self) -> None:
        raise AssertionError("a resolver that was passed in is closed by its owner")


@pytest.fixture
def names() -> Callable[..., FakeResolver]:
    """Make a resolver from names and their addresses."""
    return FakeResolver


@pytest.fixture
def ssrf_vectors() -> list[dict[str, Any]]:
    """The recorded vectors in the folder SEARX_MCP_CAPTURES; none without it."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    path = Path(folder) / "ssrf_vectors.json" if folder else None
    return json.loads(path.read_text("utf-8")) if path and path.exists() else []

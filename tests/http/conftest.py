"""Loopback servers that misbehave on purpose, and names that resolve as told."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
import trustme
from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList
from tests.doubles.raw import Connection, RawServer

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Awaitable[RawServer]]]:
    """Start a server with a coroutine for its connections, or with an answer to every request.

    With `answer`, every request gets these bytes, and then `then` runs: by default the server
    waits for the next request, so that the connection is kept.
    """
    async with AsyncExitStack() as stack:

        async def start(
            handler: Handler | None = None,
            *,
            answer: bytes = b"",
            then: Handler | None = None,
            tls: ssl.SSLContext | None = None,
        ) -> RawServer:
            async def play(connection: Connection) -> None:
                last = handler
                while last is None:
                    await connection.request()
                    server.heads.append(connection.head)
                    await connection.send(answer)
                    last = then
                await last(connection.reader, connection.writer)

            server = RawServer(greeting=play, ssl_context=tls)
            return await stack.enter_async_context(server)

        yield start


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

"""Gateways in front of servers of the test, and a client that says exactly what it is told."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from yarl import URL

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.dialling import Diversion, Names
from searx_mcp.http.gateway.gateway import Gateway
from searx_mcp.http.gateway.record import GatewayLimits
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList

PUBLIC = "93.184.216.34"
SOON = 5.0


class Client:
    """One connection to a gateway."""

    def __init__(
        self, gateway: Gateway, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._gateway = gateway
        self._reader = reader
        self._writer = writer

    def say(self, data: bytes) -> None:
        self._writer.write(data)

    def ask(self, line: str, *fields: str, permission: str | None = "") -> None:
        """Send a request with the gateway's own password, another one, or none at all."""
        if permission is not None:
            fields = (*fields, f"Proxy-Authorization: {permission or self.permission}")
        self.say("\r\n".join([f"{line} HTTP/1.1", *fields, "", ""]).encode("latin-1"))

    @property
    def permission(self) -> str:
        return "Basic " + b64encode(":".join(self._gateway.credentials).encode()).decode()

    async def head(self) -> str:
        """The head of the answer."""
        async with asyncio.timeout(SOON):
            return (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")

    async def status(self) -> int:
        return int((await self.head()).split(" ")[1])

    async def read(self, count: int) -> bytes:
        async with asyncio.timeout(SOON):
            return await self._reader.readexactly(count)

    async def rest(self) -> bytes:
        """All that comes until the gateway closes the connection."""
        async with asyncio.timeout(SOON):
            try:
                return await self._reader.read()
            except ConnectionError:
                return b""

    async def until_sent(self) -> None:
        async with asyncio.timeout(SOON):
            await self._writer.drain()

    def leave(self) -> None:
        self._writer.transport.abort()


class Front:
    """An open gateway.

    Attributes:
        gateway: the gateway.
        dialled: the addresses and ports that the guard let pass.
        asked: the names that were looked up.
        admitted: the URLs that the owner's rule was told.
    """

    def __init__(self, gateway: Gateway, diversion: Diversion, names: Names) -> None:
        self.gateway = gateway
        self.diversion = diversion
        self.asked = names.asked
        self.admitted: list[str] = []
        self._clients: list[Client] = []

    @property
    def dialled(self) -> list[tuple[str, int]]:
        return self.diversion.dialled

    async def connect(self) -> Client:
        url = URL(self.gateway.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        self._clients.append(Client(self.gateway, reader, writer))
        return self._clients[-1]

    async def status(self, line: str, *fields: str, permission: str | None = "") -> int:
        """The status of the answer to one request."""
        client = await self.connect()
        client.ask(line, *fields, permission=permission)
        return await client.status()

    def leave(self) -> None:
        for client in self._clients:
            client.leave()


OpenFront = Callable[..., Any]


@pytest.fixture
def front() -> OpenFront:
    """Opens a gateway: all names and public addresses lead to the given port of this machine."""

    @asynccontextmanager
    async def opened(
        port: int = 0,
        *,
        names: Mapping[str, Sequence[Any]] | None = None,
        allow: Sequence[str] = (),
        admit: Callable[[URL], None] = lambda _url: None,
        limits: GatewayLimits = GatewayLimits(),  # noqa: B008 - frozen
        connect_timeout: float = SOON,
    ) -> AsyncIterator[Front]:
        def lead(_address: str, _port: int) -> int:
            if not port:
                raise ConnectionRefusedError
            return port

        def told(url: URL) -> None:
            shown.admitted.append(str(url))
            admit(url)

        resolver = Names([PUBLIC])
        resolver.know(names or {})
        diversion = Diversion(lead)
        sessions = Sessions(
            NetworkConfig(connect_timeout=connect_timeout),
            resolver=resolver,
            dial=diversion.dial,
            allow=AllowList.parse(allow),
        )
        async with sessions, sessions.gateway(told, limits=limits) as gateway:
            shown = Front(gateway, diversion, resolver)
            yield shown
        shown.leave()
        assert not diversion.open_sockets

    return opened


@pytest.fixture
async def echo(serve: Callable[..., Awaitable[Any]]) -> Any:
    """A server that sends back what it gets."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()

    return await serve(repeat)

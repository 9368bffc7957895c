"""A web server that does exactly what a test says, and a fetcher that may reach it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

import pytest
from multidict import CIMultiDict

from searx_mcp.content.config import ContentConfig
from searx_mcp.fetch.config import WebFetchConfig
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.fetch.policy.lists import DomainPolicy
from searx_mcp.net.address import AllowList
from searx_mcp.net.config import NetworkConfig
from searx_mcp.net.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it."""

    path: str
    headers: CIMultiDict[str]


class Site:
    """A server on loopback: raw answers by path, one request a connection.

    Attributes:
        requests: what was asked, in order.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._answers: dict[str, bytes] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._changed = asyncio.Condition()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await self.until_idle()

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def page(
        self,
        path: str,
        body: str | bytes,
        *,
        status: str = "200 OK",
        content_type: str | None = "text/html",
        headers: Mapping[str, str | bytes] | None = None,
    ) -> str:
        """Answer a path with a whole response; returns its URL."""
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}".encode(), b"Content-Length: %d" % len(body)]
        if content_type is not None:
            lines.append(b"Content-Type: " + content_type.encode())
        for name, value in (headers or {}).items():
            raw = value.encode() if isinstance(value, str) else value
            lines.append(name.encode() + b": " + raw)
        return self.raw(path, b"\r\n".join([*lines, b"Connection: close", b"", body]))

    def redirect(self, path: str, location: str | bytes, *, status: str = "302 Found") -> str:
        return self.page(path, "", status=status, headers={"Location": location})

    def raw(self, path: str, answer: bytes) -> str:
        """Answer a path with these bytes, and then say nothing until the client leaves."""
        self._answers[path] = answer
        return self.url(path)

    async def until_idle(self) -> None:
        """Wait until no connection is open."""
        async with asyncio.timeout(5), self._changed:
            await self._changed.wait_for(lambda: not self._open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            fields = CIMultiDict[str]()
            for line in filter(None, head[1:]):
                name, value = line.split(": ", 1)
                fields.add(name, value)
            self.requests.append(Request(path, fields))
            writer.write(self._answers[path])
            await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left early
        finally:
            writer.close()
            async with self._changed:
                self._open.discard(writer)
                self._changed.notify_all()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    await site.start()
    yield site
    await site.stop()


@pytest.fixture
async def other() -> AsyncIterator[Site]:
    """A site of another origin."""
    site = Site()
    await site.start()
    yield site
    await site.stop()


@pytest.fixture
async def make_fetcher(site: Site, other: Site) -> AsyncIterator[Callable[..., Fetcher]]:
    """Make fetchers that may reach both sites, with settings as named."""
    allow = AllowList.parse([f"127.0.0.1:{site.port}", f"127.0.0.1:{other.port}"])
    sessions = Sessions(NetworkConfig(), allow=allow)

    def make(
        *,
        blocked: tuple[str, ...] = (),
        content: ContentConfig | None = None,
        **config: object,
    ) -> Fetcher:
        return Fetcher(
            lambda: sessions.pages,
            config=WebFetchConfig.model_validate(config),
            domains=DomainPolicy(blocked),
            allow=allow,
            content=content or ContentConfig(),
            user_agent="searx-mcp/test",
        )

    yield make
    await sessions.aclose()


@pytest.fixture
def fetcher(make_fetcher: Callable[..., Fetcher]) -> Fetcher:
    return make_fetcher()

"""A web server that does exactly what a test says, and a fetcher that may reach it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from multidict import CIMultiDict

from searx_mcp.client.asking import wire_fetcher
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.sessions import Sessions
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import PageStore
from searx_mcp.tasks import Tasks
from searx_mcp.urls.address import AllowList

NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it."""

    path: str
    headers: CIMultiDict[str]


class Site:
    """A server on loopback: raw answers by path, one request a connection.

    It has no robots.txt unless given one.

    Attributes:
        requests: what was asked, in order, without robots.txt.
        robots_requests: how often robots.txt was asked for.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.robots_requests = 0
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

    async def until_asked(self, count: int = 1) -> None:
        """Wait until so many requests have come, robots.txt aside."""
        async with asyncio.timeout(5), self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            fields = CIMultiDict[str]()
            for line in filter(None, head[1:]):
                name, value = line.split(": ", 1)
                fields.add(name, value)
            if path == "/robots.txt":
                self.robots_requests += 1
                writer.write(self._answers.get(path, NO_ROBOTS))
            else:
                self.requests.append(Request(path, fields))
                async with self._changed:
                    self._changed.notify_all()
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


@dataclass(slots=True)
class Clock:
    """Unix seconds that only a test moves."""

    time: float = 1_790_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> PageStore:
    """Where captured pages are kept; shared by all fetchers of a test."""
    return MemoryPageStore(max_bytes=16 << 20, max_age=7 * 86_400)


@pytest.fixture
async def make_fetcher(
    site: Site, other: Site, clock: Clock, store: PageStore
) -> AsyncIterator[Callable[..., Fetcher]]:
    """Make fetchers that may reach both sites, with settings as named."""
    places = [f"127.0.0.1:{site.port}", f"127.0.0.1:{other.port}"]
    allow = AllowList.parse(places)
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(Tasks())

        def make(
            *,
            fetch: Mapping[str, object] | None = None,
            web_search: Mapping[str, object] | None = None,
            namespace: str = "default",
            session: HttpSession | None = None,
            **web_fetch: object,
        ) -> Fetcher:
            sessions = Sessions(NetworkConfig(), allow=allow)
            stack.push_async_callback(sessions.aclose)
            if session is not None:
                sessions.pages = session
            settings = Settings.model_validate(
                {
                    "web_fetch": {"user_agent": "searx-mcp/test", **web_fetch},
                    "web_search": web_search or {},
                    "fetch": {"allow_private": places, "host_rate": 6_000, **(fetch or {})},
                    "storage": {"namespace": namespace},
                }
            )
            config = settings.fetch
            return wire_fetcher(
                settings,
                sessions=sessions,
                allow=allow,
                domains=DomainPolicy(config.blocked_domains, allowed=config.allowed_domains),
                pages=store,
                processes=False,
                spawn=tasks.spawn,
                clock=clock,
                stack=stack,
            )

        yield make


@pytest.fixture
async def fetcher(make_fetcher: Callable[..., Fetcher]) -> Fetcher:
    return make_fetcher()

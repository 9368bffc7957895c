"""A web server that does exactly what a test says, and a fetcher that may reach it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from multidict import CIMultiDict
from typing_extensions import override

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
from searx_mcp.workers.jobs import Workers
from searx_mcp.workers.threads import ThreadWorkers
from tests.doubles.raw import RawServer, response

ROBOTS = "/robots.txt"
NO_ROBOTS = response(status="404 Not Found", headers={"Connection": "close"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it."""

    path: str
    headers: CIMultiDict[str]


class Site(RawServer):
    """Raw answers by path, one request a connection; it has no robots.txt unless given one."""

    def __init__(self) -> None:
        super().__init__({ROBOTS: NO_ROBOTS})

    @property
    def requests(self) -> list[Request]:
        """What was asked, in order, without robots.txt."""
        asked = [head.split("\r\n") for head in self.heads]
        return [
            Request(line.split(" ")[1], CIMultiDict(each.partition(": ")[::2] for each in fields))
            for line, *fields in asked
            if f" {ROBOTS} " not in line
        ]

    @property
    def robots_requests(self) -> int:
        """How often robots.txt was asked for."""
        return len(self.heads) - len(self.requests)

    def at(self, path: str = "/") -> str:
        """The address of a path."""
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
        fields = {
            name: value.decode("latin-1") if isinstance(value, bytes) else value
            for name, value in {**(headers or {}), "Connection": "close"}.items()
        }
        whole = response(body, status=status, content_type=content_type, headers=fields)
        return self.raw(path, whole)

    def redirect(self, path: str, location: str | bytes, *, status: str = "302 Found") -> str:
        return self.page(path, "", status=status, headers={"Location": location})

    def raw(self, path: str, answer: bytes) -> str:
        """Answer a path with these bytes, and then say nothing until the client leaves."""
        self.play(path, answer)
        return self.at(path)

    @override
    async def until_asked(self, count: int = 1) -> None:
        """Wait until so many requests have come, robots.txt aside."""
        async with asyncio.timeout(5):
            while len(self.requests) < count:
                await super().until_asked(len(self.heads) + 1)

    @override
    async def until_idle(self) -> None:
        async with asyncio.timeout(5):
            await super().until_idle()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def other() -> AsyncIterator[Site]:
    """A site of another origin."""
    async with Site() as site:
        yield site


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
            workers: Workers | None = None,
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
                workers=workers or ThreadWorkers(settings.workers),
                spawn=tasks.spawn,
                clock=clock,
                stack=stack,
            )

        yield make


@pytest.fixture
async def fetcher(make_fetcher: Callable[..., Fetcher]) -> Fetcher:
    return make_fetcher()

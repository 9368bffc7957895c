"""A site on a fake internet that goes wrong as told, and a call whose end is looked at closely."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.page import Page
from searx_mcp.settings.values import Settings
from tests.doubles.internet import FakeInternet
from tests.doubles.raw import RawServer, Script, response

HOST: Final = "fault.example.org"
PACE: Final = 4.0
"""How many of the loop's seconds go into one: sockets keep their time, deadlines come sooner."""
LONGEST: Final = 120.0
"""The loop's seconds for calls that are not to run out of time, however busy the machine."""
SLACK: Final = 20.0
"""Loop's seconds after its deadline by which a call must have ended, however busy the machine."""
MEMORY: Final = 8_000_000
"""Bytes that a call may have in use above what there was before, unless a row says otherwise."""
FINE: Final = response("<title>Fine</title><p>All is well with this page, and it says so.</p>")


@pytest.fixture
def pace() -> float:
    return PACE


@dataclass(frozen=True)
class Ending:
    """How a call ended.

    Attributes:
        page: what it brought.
        error: why it brought nothing.
        peak: bytes that it had in use above what there was before.
        server: what it talked to.
    """

    page: Page | None
    error: SearxMcpError | None
    peak: int
    server: RawServer

    @property
    def verdict(self) -> str:
        """An error's code, `page` or `truncated`."""
        if self.page is None:
            assert self.error is not None
            return self.error.code
        return "truncated" if self.page.truncated else "page"


def settings(**tables: Mapping[str, Any]) -> Settings:
    """Settings under which a slot that is not given back, or a connection, stops the next call."""
    base: dict[str, dict[str, Any]] = {
        "instances": {"public": "off"},
        "network": {"max_connections": 1, "max_connections_per_host": 1, "connect_timeout": 60},
        "web_fetch": {
            "default_timeout": LONGEST,
            "max_response_time": LONGEST,
            "max_content_size": 131_072,
        },
        "fetch": {
            "max_per_host": 1,
            "host_rate": 6_000,
            "breaker_failures": 100,
            "cache_ttl": 0,
            "stale_if_error": 0,
            "robots_timeout": 30,
        },
    }
    for name, table in tables.items():
        base[name] = {**base.get(name, {}), **table}
    return Settings.model_validate(base)


@pytest.fixture
def settings_of() -> Callable[..., Settings]:
    return settings


def own_tasks() -> set[asyncio.Task[Any]]:
    """All tasks but those of the servers, which keep one for each connection."""
    return {
        task
        for task in asyncio.all_tasks()
        if not getattr(task.get_coro(), "__qualname__", "").startswith("RawServer.")
    }


async def until_only(expected: set[asyncio.Task[Any]], patience: float = SLACK) -> None:
    """Wait until no other task is left; one that stays fails the test."""
    try:
        async with asyncio.timeout(patience):
            while left := own_tasks() - expected:
                await asyncio.wait(left, timeout=1)
    except TimeoutError:
        pytest.fail(f"left behind: {own_tasks() - expected}")


async def ended(call: Awaitable[Page], *, deadline: float) -> Page | SearxMcpError:
    """Wait for a call that must end by its own deadline, in a page or a typed error."""
    try:
        async with asyncio.timeout(deadline + SLACK):
            return await call
    except SearxMcpError as error:
        return error
    except TimeoutError:
        pytest.fail(f"the call went on for {SLACK:.0f} s after its deadline")


@pytest.fixture
def watch() -> Callable[..., Awaitable[Page | SearxMcpError]]:
    """Wait for a call, and then for its tasks."""

    async def watched(call: Awaitable[Page], *, deadline: float = LONGEST) -> Page | SearxMcpError:
        before = own_tasks()
        result = await ended(call, deadline=deadline)
        await until_only(before)
        return result

    return watched


@pytest.fixture
def watch_tasks() -> Callable[..., AbstractAsyncContextManager[None]]:
    """Give a block that leaves no task behind for longer than some of the loop's seconds."""

    @asynccontextmanager
    async def watched(patience: float = SLACK) -> AsyncIterator[None]:
        before = own_tasks()
        yield
        await until_only(before, patience)

    return watched


@pytest.fixture
async def internet() -> AsyncIterator[FakeInternet]:
    """An internet of which nothing is open when the test has ended."""
    async with FakeInternet() as internet:
        yield internet
        assert not internet.open_sockets


@pytest.fixture
def client_of(internet: FakeInternet) -> Callable[..., AbstractAsyncContextManager[SearxClient]]:
    """Give what makes a client beside a site that plays scripts by path."""

    @asynccontextmanager
    async def make(
        scripts: Mapping[str, Script], **tables: Mapping[str, Any]
    ) -> AsyncIterator[SearxClient]:
        async with RawServer(scripts) as server:
            internet.host(HOST, server)
            async with SearxClient(settings(**tables), dialling=internet.dialling) as client:
                yield client

    return make


@pytest.fixture
def refused(client_of, watch) -> Callable[[Script], Awaitable[SearxMcpError]]:
    """Give what plays a script for a page and gives the error that it must come to."""

    async def run(script: Script) -> SearxMcpError:
        async with client_of({"/page": script}) as client:
            error = await watch(client.fetch(f"http://{HOST}/page"))
        assert isinstance(error, SearxMcpError)
        return error

    return run


@pytest.fixture
def play(internet: FakeInternet) -> Callable[..., Awaitable[Ending]]:
    """Give what lets a page go wrong and says how the call for it ended.

    The same client reads another page of the site before and after it.
    """

    async def run(
        script: Script | Mapping[str, Script],
        *,
        deadline: float = LONGEST,
        memory: int = MEMORY,
        arguments: Mapping[str, Any] | None = None,
        **tables: Mapping[str, Any],
    ) -> Ending:
        """Play a script for `/page`, or scripts by path; further tables are settings."""
        scripts = script if isinstance(script, Mapping) else {"/page": script}
        web_fetch = {"default_timeout": deadline, **tables.pop("web_fetch", {})}
        before = own_tasks()
        async with RawServer({"/before": FINE, "/after": FINE, **scripts}) as server:
            internet.host(HOST, server)
            client = SearxClient(
                settings(web_fetch=web_fetch, **tables), dialling=internet.dialling
            )
            async with client:
                await client.fetch(f"http://{HOST}/before", timeout=LONGEST)
                open_tasks = own_tasks()
                tracemalloc.start()
                try:
                    call = client.fetch(f"http://{HOST}/page", **(arguments or {}))
                    result = await ended(call, deadline=deadline)
                    peak = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
                await until_only(open_tasks)
                assert peak < memory
                after = await client.fetch(f"http://{HOST}/after", timeout=LONGEST)
                assert after.title == "Fine"
            await until_only(before)
            async with asyncio.timeout(SLACK):
                await server.until_idle()
        if isinstance(result, SearxMcpError):
            return Ending(None, result, peak, server)
        return Ending(result, None, peak, server)

    return run

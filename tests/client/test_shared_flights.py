"""The same thing asked of two processes at once, on a real server, costs the web one request."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias, TypeVar

import pytest
from aiohttp import web
from typing_extensions import override

from searx_mcp.client.facade import SearxClient
from searx_mcp.client.stores import open_pages
from searx_mcp.errors import NoInstancesError, SiteError
from searx_mcp.search import redis_answers
from searx_mcp.storage import redis_pages
from searx_mcp.storage.redis import RedisLease
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

pytestmark = pytest.mark.slow

T = TypeVar("T")
U = TypeVar("U")


class Waiting:
    """Tells of those who were refused a lease, of all clients.

    Attributes:
        count: how often that was.
    """

    def __init__(self) -> None:
        self.count = 0
        self._refused = asyncio.Semaphore(0)

    def refused(self) -> None:
        self.count += 1
        self._refused.release()

    async def one(self) -> None:
        """Wait until somebody waits for somebody else."""
        async with asyncio.timeout(60):
            await self._refused.acquire()

    @asynccontextmanager
    async def second(
        self,
        one: Coroutine[Any, Any, T],
        two: Coroutine[Any, Any, U],
        server: LoopbackServer,
        count: int = 1,
    ) -> AsyncIterator[tuple[asyncio.Task[T], asyncio.Task[U]]]:
        """Run a call until `count` requests have arrived, then another until it waits for the first."""
        async with asyncio.TaskGroup() as group:
            first = group.create_task(one)
            await asked(server, count)
            second = group.create_task(two)
            await self.one()
            yield first, second


@pytest.fixture
def waiting(monkeypatch) -> Waiting:
    seen = Waiting()

    class Watched(RedisLease):
        @override
        async def take(self) -> str:
            holder = await super().take()
            if holder not in {"", self.id}:
                seen.refused()
            return holder

    monkeypatch.setattr(redis_answers, "RedisLease", Watched)
    monkeypatch.setattr(redis_pages, "RedisLease", Watched)
    monkeypatch.setattr(redis_answers, "PATIENCE", 10)
    return seen


@pytest.fixture
def tables(redis_url) -> dict[str, dict[str, object]]:
    """Name the shared server, with a prefix of the test's own."""
    prefix = f"{secrets.token_hex(8)}:"
    return {
        "redis": {"url": redis_url, "prefix": prefix, "secret": "x" * 16, "timeout": 10},
        "web_search": {"default_timeout": 60},
    }


@pytest.fixture
async def own():
    async with FakeSearxng(formats=("html", "json")) as fake:
        yield fake


async def asked(server: LoopbackServer, count: int) -> None:
    """Return when so many requests have arrived."""
    async with asyncio.timeout(60):
        await server.wait_for_requests(count)


async def search(client: SearxClient, query: str = "bees") -> list[str]:
    response = await client.search(query, fetch_content=False, results_count=5)
    return [result.url for result in response.results]


async def test_one_search_asked_of_two_processes_is_one_request(settings_for, tables, own, waiting):
    settings = settings_for(own, own=[own], **tables)
    own.hold()
    async with SearxClient(settings) as one, SearxClient(settings) as two:
        async with waiting.second(search(one), search(two), own) as (first, second):
            own.recover()
    assert own.searches == 1
    assert len(first.result()) == 5
    assert second.result() == first.result()


async def test_other_searches_do_not_wait(settings_for, tables, own, waiting):
    settings = settings_for(own, own=[own], **tables)
    own.hold()
    async with SearxClient(settings) as one, SearxClient(settings) as two:
        async with asyncio.TaskGroup() as group:
            group.create_task(search(one))
            group.create_task(search(two, "wasps"))
            await asked(own, 2)
            own.recover()
    assert (own.searches, waiting.count) == (2, 0)


async def test_a_failure_of_one_process_is_not_that_of_the_other(
    settings_for, catalog_of, tables, waiting
):
    async with FakeSearxng(status=500) as broken, FakeSearxng() as good:
        settings = settings_for(broken, good, **tables)
        broken.hold()
        async with (
            SearxClient(settings, catalog=catalog_of(broken)) as one,
            SearxClient(settings, catalog=catalog_of(good)) as two,
        ):
            failures: list[NoInstancesError] = []

            async def fail() -> None:
                with pytest.raises(NoInstancesError) as caught:
                    await search(one)
                failures.append(caught.value)

            async with waiting.second(fail(), search(two), broken) as (_, second):
                broken.recover()
                broken.fail(500)
    assert len(failures) == 1
    assert len(second.result()) == 5


class HeldWeb(FakeWeb):
    """A site that lets every request wait until it is told to go on."""

    def __init__(self) -> None:
        super().__init__({"/": FakePage(ARTICLE)})
        self.go = asyncio.Event()

    @override
    async def respond(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        if received.path != "/robots.txt":
            await self.go.wait()
        return await super().respond(request, received)


ARTICLE = article("Bees", ["Bees keep a hive warm in winter by taking turns at its heart. " * 9])

Opening: TypeAlias = Callable[..., Awaitable[SearxClient]]


@pytest.fixture
async def site() -> AsyncIterator[HeldWeb]:
    async with HeldWeb() as held:
        yield held


@pytest.fixture
async def reader(settings_for, tables, site) -> AsyncIterator[Opening]:
    """Opens clients that share pages, as processes do."""
    async with AsyncExitStack() as stack:

        async def opened(**more: Mapping[str, Any]) -> SearxClient:
            settings = settings_for(site, **tables, **more)
            client = SearxClient(settings, pages=open_pages(settings))
            return await stack.enter_async_context(client)

        yield opened


@pytest.mark.parametrize("control", ["", "max-age=0, private, must-revalidate", "no-cache"])
async def test_one_page_asked_of_two_processes_is_one_request(site, reader, waiting, control):
    one, two = await reader(), await reader()
    headers = {"Cache-Control": control} if control else {}
    site.put("/", FakePage(ARTICLE, headers=headers))
    calls = [client.fetch(site.url("/")) for client in (one, two)]
    async with waiting.second(*calls, site) as (first, second):
        site.go.set()
    assert len(site.requests) == 1
    assert second.result().markdown_content == first.result().markdown_content
    assert second.result().cursor == first.result().cursor
    assert (first.result().from_cache, second.result().from_cache) == (False, True)


@pytest.mark.parametrize("etag", ["", '"v1"'], ids=["fetched again", "found unchanged"])
async def test_one_page_that_is_kept_and_asked_about_by_two_is_one_request(
    site, reader, waiting, etag
):
    def page(received: ReceivedRequest) -> FakePage:
        is_known = bool(etag) and received.headers.get("If-None-Match") == etag
        headers = {"Cache-Control": "no-cache", **({"ETag": etag} if etag else {})}
        return FakePage(
            "" if is_known else ARTICLE, status=304 if is_known else 200, headers=headers
        )

    one, two = await reader(), await reader()
    site.put("/", page)
    site.go.set()
    await one.fetch(site.url("/"))
    site.go.clear()
    calls = [client.fetch(site.url("/")) for client in (one, two)]
    async with waiting.second(*calls, site, 2) as (first, second):
        site.go.set()
    assert len(site.requests) == 2
    assert second.result().markdown_content == first.result().markdown_content


async def test_two_who_want_a_page_anew_share_what_is_fetched_now_and_not_what_was(
    site, reader, waiting
):
    one, two = await reader(), await reader()
    site.go.set()
    await one.fetch(site.url("/"))
    site.go.clear()
    site.put("/", FakePage(ARTICLE.replace("winter", "January")))
    calls = [client.fetch(site.url("/"), force_refresh=True) for client in (one, two)]
    async with waiting.second(*calls, site, 2) as (first, second):
        site.go.set()
    assert len(site.requests) == 2
    assert "January" in second.result().markdown_content
    assert first.result().cursor == second.result().cursor


@pytest.mark.parametrize(
    ("tables_of_two", "arguments"),
    [
        ({"storage": {"namespace": "private"}}, {}),
        ({"fetch": {"headers": {"127.0.0.1": {"Authorization": "Bearer x"}}}}, {}),
        ({}, {"user_agent": "another/1.0"}),
        ({}, {"max_content_length": 4_096}),
        ({}, {"force_refresh": True}),
        ({}, {"ignore_robots": True}),
    ],
    ids=["namespace", "login", "user agent", "bytes", "refresh", "robots"],
)
async def test_what_is_not_the_same_for_the_site_or_the_reader_is_not_shared(
    site, reader, waiting, tables_of_two, arguments
):
    if "fetch" in tables_of_two:
        tables_of_two = {"fetch": {**tables_of_two["fetch"], "allow_private": [site.origin]}}
    one, two = await reader(), await reader(**tables_of_two)
    async with asyncio.TaskGroup() as group:
        group.create_task(one.fetch(site.url("/")))
        group.create_task(two.fetch(site.url("/"), **arguments))
        await asked(site, 2)
        site.go.set()
    assert waiting.count == 0


@pytest.mark.parametrize(
    "page",
    [FakePage(ARTICLE, headers={"Cache-Control": "no-store"}), FakePage("no", status=404)],
    ids=["not stored", "failed"],
)
async def test_what_one_process_may_not_leave_to_others_they_fetch_themselves(
    site, reader, waiting, page
):
    async def fetched(client: SearxClient) -> str:
        try:
            return (await client.fetch(site.url("/"))).title
        except SiteError as error:
            return error.code

    one, two = await reader(), await reader()
    site.put("/", page)
    async with waiting.second(fetched(one), fetched(two), site) as (first, second):
        site.go.set()
    assert len(site.requests) == 2
    assert first.result() == second.result()


async def test_a_page_that_one_had_no_time_for_is_read_whole_by_who_has_more(site, reader, waiting):
    one, two = await reader(web_fetch={"default_timeout": 1}), await reader()
    site.go.set()
    site.put("/", FakePage(ARTICLE, piece=len(ARTICLE) // 20, interval=0.1))
    calls = [client.fetch(site.url("/")) for client in (one, two)]
    async with waiting.second(*calls, site) as (first, second):
        pass
    assert (first.result().truncated, second.result().truncated) == (True, False)
    assert len(site.requests) == 2

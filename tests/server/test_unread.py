"""Result pages that were not read: the rest is there in time, and each says why, in both halves."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from mcp.types import CallToolResult
from typing_extensions import override

from searx_mcp import SearxClient
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import PageKey
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, huge, silent

TEXT = [
    f"Sentence {n} tells of the keepers of bees, their hives and what honey cost them in year {n}."
    for n in range(12)
]
PATIENCE = 60.0


@pytest.fixture
def pace() -> float:
    """Slower than real, since pages that threads convert must be there within two seconds of each other."""
    return 0.2


def good(name: str) -> FakePage:
    return FakePage(article(f"Bees of {name}", [f"In {name}: {line}" for line in TEXT]))


UNREAD = {
    "/403": (FakePage("Forbidden", status=403), "blocked_by_site", 403),
    "/404": (FakePage("Not here", status=404), "not_found", 404),
    "/401": (FakePage("Who are you?", status=401), "authentication_required", 401),
    "/429": (FakePage("Slowly", status=429), "rate_limited", 429),
    "/500": (FakePage("Oh no", status=500), "http_error", 500),
    "/login": (FakePage(article("Club", ["Please log in to read what the members write."])),
        "authentication_required",
        None,
    ),
    "/film": (FakePage(b"\0", content_type="video/mp4"), "unsupported_content_type", 200),
    "/large": (huge(4_000_000, content_type="application/pdf"), "content_too_large", 200),
    "/empty": (FakePage("<html><body></body></html>"), "extraction_failed", 200),
    "/broken": (FakePage("x", headers={"Content-Encoding": "quux"}),
        "unsupported_encoding",
        200,
    ),
}  # fmt: skip


async def search(client, **arguments: Any) -> CallToolResult:
    result: CallToolResult = await client.call_tool("web_search", {"query": "bees", **arguments})
    assert not result.is_error
    return result


def by_path(result: CallToolResult) -> dict[str, dict[str, Any]]:
    """The results of the structured half, in their order."""
    data = result.structured_content or {}
    return {
        f"/{each['url'].partition('://')[2].partition('/')[2]}": each for each in data["results"]
    }


def marks(text: str) -> dict[str, str]:
    """What the text says of each page that was not read."""
    lines = text.splitlines()
    return {
        f"/{lines[at - 1].rpartition('/')[2]}": line
        for at, line in enumerate(lines)
        if line.startswith("Page not read")
    }


@pytest.mark.parametrize("paths", [UNREAD.keys() - {"/429"}, {"/429"}], ids=["all but one", "busy"])
async def test_a_page_that_was_not_read_says_why_in_both_halves(
    connect, settings_for, text_of, paths
):
    """A busy site is left alone, and all its pages with it."""
    pages = {path: UNREAD[path][0] for path in sorted(paths)}
    async with FakeWeb({**pages, "/good": good("Kent")}) as web:
        async with FakeSearxng(links=web.links, page_size=20) as fake:
            async with connect(settings_for(web, own=[fake])) as client:
                result = await search(client, results_count=len(pages) + 1)
    results = by_path(result)
    assert [path for path, each in results.items() if "error_type" not in each] == ["/good"]
    assert [path for path, each in results.items() if "content" in each] == ["/good"]
    said = marks(text_of(result))
    for path in pages:
        _, error_type, status = UNREAD[path]
        assert (results[path]["error_type"], results[path].get("status_code")) == (
            error_type,
            status,
        )
        assert said[path] == f"Page not read: {error_type}{f' ({status})' if status else ''}."


async def test_a_page_that_robots_forbid_or_that_is_nobodys_business_says_so(
    connect, settings_for, text_of
):
    robots = FakePage("User-agent: *\nDisallow: /", content_type="text/plain")
    async with FakeWeb({"/robots.txt": robots, "/kept": good("Kent")}) as closed:
        links = [closed.url("/kept"), "http://10.1.2.3/inside"]
        async with FakeSearxng(links=links) as fake:
            async with connect(settings_for(closed, own=[fake])) as client:
                result = await search(client)
    assert {path: each["error_type"] for path, each in by_path(result).items()} == {
        "/kept": "robots_disallowed",
        "/inside": "blocked_address",
    }
    assert len(marks(text_of(result))) == 2


async def test_walls_come_after_what_was_read_and_failures_that_pass_do_not(connect, settings_for):
    pages = {
        "/403": FakePage("Forbidden", status=403),
        "/500": FakePage("Oh no", status=500),
        "/kent": good("Kent"),
        "/404": FakePage("Not here", status=404),
        "/wales": good("Wales"),
    }
    async with FakeWeb(pages) as web, FakeSearxng(links=web.links) as fake:
        async with connect(settings_for(web, own=[fake])) as client:
            read = await search(client)
            unread = await search(client, fetch_content=False)
    assert list(by_path(read))[4:] == ["/403"]
    assert list(by_path(unread)) == list(pages)


class Heard:
    """Waits until something was heard."""

    def __init__(self) -> None:
        self._heard: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def say(self, message: str) -> None:
        self._heard[message].set()

    async def tell(self, _done: float, _total: float | None, message: str | None) -> None:
        self.say(message or "")

    async def wait_for(self, message: str) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._heard[message].wait()
        for _ in range(10):  # whoever said it goes on before any time passes by
            await asyncio.sleep(0)


class Watched(MemoryPageStore):
    """Tells when a page is kept."""

    def __init__(self) -> None:
        super().__init__(max_bytes=1 << 20, max_age=3_600)
        self.kept = Heard()

    @override
    async def keep(self, key: PageKey, *args: Any, **kwargs: Any) -> str:
        cursor = await super().keep(key, *args, **kwargs)
        self.kept.say(key.url)
        return cursor


def sites(silent_ones: Iterable[int], count: int = 10) -> Mapping[str, FakePage]:
    return {f"/{n}": silent() if n in silent_ones else good(f"Shire {n}") for n in range(count)}


async def test_five_silent_pages_before_the_others_do_not_keep_these_from_being_read(
    connect, settings_for, text_of, pass_by
):
    progress = Heard()
    async with FakeWeb(sites(range(5))) as web, FakeSearxng(links=web.links) as fake:
        async with connect(settings_for(web, own=[fake])) as client:
            call = asyncio.ensure_future(
                client.call_tool("web_search", {"query": "bees"}, progress_callback=progress.tell)
            )
            async with asyncio.timeout(PATIENCE):
                await web.wait_for_requests(4)  # as many as one host gets
            pass_by(2.0)
            await progress.wait_for("read 5 of 10 pages")
            pass_by(3.0)
            async with asyncio.timeout(10):
                result = await call
    errors = {path: each.get("error_type") for path, each in by_path(result).items()}
    assert errors == {f"/{n}": "timeout" if n < 5 else None for n in range(10)}
    assert len(marks(text_of(result))) == 5


async def test_a_search_beside_one_that_waits_for_silent_pages_reads_all_of_its_own(
    connect, settings_for
):
    async with FakeWeb(sites(range(10))) as bad, FakeWeb(sites(())) as web:
        rows = [
            FakeResult(url=url, title="Bees", category=category)
            for category, links in (("general", bad.links), ("science", web.links))
            for url in links
        ]
        async with FakeSearxng(results=rows) as fake:
            async with connect(settings_for(bad, web, own=[fake])) as client:
                held = asyncio.ensure_future(search(client))
                async with asyncio.timeout(PATIENCE):
                    await bad.wait_for_requests(4)
                    result = await search(client, category="science")
                assert not held.done()
                held.cancel()
                await asyncio.wait([held])
    assert all("content" in each for each in by_path(result).values())
    assert result.structured_content["content_fetch_stats"]["successful"] == 10


async def test_a_late_page_is_read_on_behind_the_answer_and_served_from_the_cache(
    settings_for, pass_by
):
    late = replace(good("Kent"), delay=10.0)
    store, progress = Watched(), Heard()
    async with (
        FakeWeb({"/late": late, **sites((), 4)}) as web,
        FakeSearxng(links=web.links) as fake,
    ):
        async with SearxClient(settings_for(web, own=[fake]), pages=store) as client:
            call = asyncio.ensure_future(client.search("bees", progress=progress.say))
            await progress.wait_for("read 4 of 5 pages")
            pass_by(2.0)
            response = await call
            errors = {result.url: result.error_type for result in response.results}
            assert errors.pop(web.url("/late")) == "timeout"
            assert set(errors.values()) == {""}
            web.put("/late", silent())
            pass_by(10.0)
            await store.kept.wait_for(web.url("/late"))
            page = await client.fetch(web.url("/late"))
    assert page.from_cache
    assert "In Kent" in page.markdown_content


async def test_closing_ends_what_is_read_behind_an_answer(settings_for, pass_by):
    before = asyncio.all_tasks()
    progress = Heard()
    async with FakeWeb(sites({0}, 5)) as web, FakeSearxng(links=web.links) as fake:
        async with SearxClient(settings_for(web, own=[fake])) as client:
            call = asyncio.ensure_future(client.search("bees", progress=progress.say))
            await progress.wait_for("read 4 of 5 pages")
            pass_by(2.0)
            await call
            assert asyncio.all_tasks() > before
    assert asyncio.all_tasks() - before == set()

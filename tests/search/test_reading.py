"""The pages of a search: read side by side, judged, and counted."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any

import pytest
from typing_extensions import override

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.turns import Turns
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page, PageKind
from searx_mcp.models.response import Poor, SearchResult
from searx_mcp.search.config import WebSearchConfig
from searx_mcp.search.reading import ResultReader
from searx_mcp.tasks import Tasks
from tests.doubles.virtual_time import in_virtual_time

TEXT = "The keepers of bees speak of honey in May, and they write down what they have seen."


class Pages:
    """Reads prepared pages; what is not there cannot be read."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = pages
        self.asked: list[tuple[float, int | None, str]] = []

    async def fetch(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        max_bytes: int | None = None,
        query: str = "",
    ) -> Page:
        assert deadline is not None
        self.asked.append((deadline, max_bytes, query))
        if request.url not in self.pages:
            raise ContentError("no page", code=ErrorCode.EXTRACTION_FAILED, url=request.url)
        return self.pages[request.url]


def page(url: str, text: str, **fields) -> Page:
    return Page(
        url=url,
        final_url=url,
        content_type="text/html",
        content_length=len(text),
        status_code=200,
        response_time_ms=1,
        markdown_content=text,
        word_count=len(text.split()),
        **fields,
    )


async def read(*pages: Page, urls: tuple[str, ...]):
    return await read_from(Pages({page.url: page for page in pages}), urls=urls)


async def read_from(
    pages: Pages,
    *,
    urls: Iterable[str],
    config: WebSearchConfig | None = None,
    seconds: float = 20,
    **arguments: Any,
):
    results = [SearchResult(title="T", url=url, score=1.0) for url in urls]
    async with Tasks() as tasks:
        reader = ResultReader(pages, config or WebSearchConfig(), turns=Turns(tasks.spawn))
        deadline = asyncio.get_running_loop().time() + seconds
        return await reader.read(results, deadline=deadline, query="bees honey", **arguments)


async def test_content_holds_what_is_known_of_the_page():
    kept = page("https://a.example/", TEXT, kind=PageKind.ARTICLE, summary="S.", key_points=("P.",))
    (result,), stats = await read(kept, urls=("https://a.example/",))
    assert result.content is not None
    assert (result.content.kind, result.content.summary) == (PageKind.ARTICLE, "S.")
    assert result.content.key_points == ("P.",)
    assert result.content.quality is not None
    assert 0 < result.content.quality <= 1
    assert "passages" not in result.content.model_dump()
    assert (stats.attempted, stats.successful, stats.failed) == (1, 1, 0)


async def test_every_page_is_either_given_or_counted_as_failed():
    wall = page("https://b.example/", "# Club\n\nPlease log in to read what the members write.")
    results, stats = await read(
        page("https://a.example/", TEXT),
        wall,
        page("https://d.example/", "  "),
        urls=(
            "https://a.example/",
            "https://b.example/",
            "https://c.example/",
            "https://d.example/",
        ),
    )
    assert len(results) == 4
    assert [result.url for result in results if result.content] == ["https://a.example/"]
    assert (stats.attempted, stats.successful, stats.failed) == (4, 1, 3)
    assert [(each.url, each.reason) for each in stats.dropped] == [
        ("https://b.example/", Poor.LOGIN)
    ]


async def test_a_page_that_is_not_free_and_short_is_behind_a_wall():
    teaser = page("https://a.example/", TEXT, is_protected=True)
    (result,), stats = await read(teaser, urls=("https://a.example/",))
    assert result.content is None
    assert [each.reason for each in stats.dropped] == [Poor.PAYWALL]


@pytest.mark.parametrize(("seconds", "expected"), [(5.0, 5.0), (500.0, 7.0)])
async def test_each_page_has_its_own_time_within_the_calls_and_its_own_size(seconds, expected):
    pages = Pages({})
    config = WebSearchConfig(content_fetch_timeout=7, max_content_size=12_345)
    began = asyncio.get_running_loop().time()
    await read_from(pages, urls=["https://a.example/"], config=config, seconds=seconds)
    ((deadline, max_bytes, query),) = pages.asked
    assert expected <= deadline - began < expected + 1
    assert (max_bytes, query) == (12_345, "bees honey")


@pytest.mark.parametrize(("next_offset", "total"), [(None, None), (400, 900)])
async def test_where_to_read_on_is_told_if_there_is_more(next_offset, total):
    cut = page("https://a.example/", TEXT, cursor="c", next_offset=next_offset, total_chars=900)
    (result,), _ = await read(cut, urls=("https://a.example/",))
    assert result.content is not None
    assert (result.content.cursor, result.content.next_offset) == ("c", next_offset)
    assert result.content.total_chars == total


async def test_progress_says_how_many_pages_were_read():
    said: list[str] = []
    kept = page("https://a.example/", TEXT)
    urls = [f"https://{name}.example/" for name in "aabc"]
    _, stats = await read_from(Pages({kept.url: kept}), urls=urls, progress=said.append)
    assert said == ["read 1 of 3 pages"]
    assert (stats.attempted, stats.successful, stats.failed) == (4, 2, 2)


class Silent(Pages):
    """Never reads a page."""

    @override
    async def fetch(self, request: FetchRequest, **_: Any) -> Page:
        self.asked.append((0.0, None, request.url))
        await asyncio.Event().wait()
        raise AssertionError


@in_virtual_time
async def test_a_page_that_did_not_come_and_one_that_was_not_asked_for_say_so():
    urls = ["https://a.example/", "https://b.example/"]
    config = WebSearchConfig(max_concurrent_fetches=1)
    results, stats = await read_from(Silent({}), urls=urls, config=config, seconds=0.2)
    assert [(result.error_type, result.status_code) for result in results] == [
        (ErrorCode.TIMEOUT, None),
        (ErrorCode.DEADLINE_EXCEEDED, None),
    ]
    assert results[0].error_details == "The page did not arrive within 0.1 seconds."
    assert stats.failed == 2


class Held(Pages):
    """Reads some of its pages only when it is told to."""

    def __init__(self, pages: Mapping[str, Page], *held: str) -> None:
        super().__init__(pages)
        self.held = held
        self.told = asyncio.Event()

    @override
    async def fetch(self, request: FetchRequest, **options: Any) -> Page:
        if request.url in self.held:
            await self.told.wait()
        return await super().fetch(request, **options)


class Said(list[str]):
    """What is told of the pages; knows when so many lines are there."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.wanted = count
        self.is_enough = asyncio.Event()

    def say(self, line: str) -> None:
        self.append(line)
        if len(self) == self.wanted:
            self.is_enough.set()

    async def wait(self) -> None:
        async with asyncio.timeout(60):
            await self.is_enough.wait()
        for _ in range(10):  # whoever waits for the pages goes on before any time passes by
            await asyncio.sleep(0)


async def test_walls_do_not_make_a_search_end(pass_by):
    text = "# Club\n\nPlease log in to read what the members write."
    pages = [page(f"https://{name}.example/", text) for name in "abcd"]
    held = Held({each.url: each for each in pages}, "https://e.example/")
    said = Said(4)
    call = asyncio.ensure_future(
        read_from(held, urls=[*held.pages, *held.held], seconds=100, progress=said.say)
    )
    await said.wait()
    pass_by(6)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not call.done()
    held.told.set()
    await call


async def test_a_page_that_comes_after_the_end_is_told_to_nobody(pass_by):
    pages = [page(f"https://{name}.example/", TEXT) for name in "abcde"]
    held = Held({each.url: each for each in pages}, pages[0].url)
    said = Said(4)
    started: list[asyncio.Task[None]] = []
    async with Tasks() as tasks:

        def spawn(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
            started.append(tasks.spawn(work))
            return started[-1]

        results = [SearchResult(title="T", url=each.url, score=1.0) for each in pages]
        reader = ResultReader(held, WebSearchConfig(), turns=Turns(spawn))
        deadline = asyncio.get_running_loop().time() + 100
        call = asyncio.ensure_future(
            reader.read(results, deadline=deadline, query="bees", progress=said.say)
        )
        await said.wait()
        pass_by(3)
        _, stats = await call
        held.told.set()
        async with asyncio.timeout(60):
            await asyncio.wait(started)
    assert stats.successful + stats.failed == 5
    assert said[-1] == "read 4 of 5 pages"
    assert len(held.asked) == 5


async def test_the_error_of_a_page_is_told_with_each_of_its_results():
    results, _ = await read_from(Pages({}), urls=["https://a.example/"] * 2)
    assert [(result.error_type, result.error_details) for result in results] == [
        (ErrorCode.EXTRACTION_FAILED, "no page")
    ] * 2

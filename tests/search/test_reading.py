"""The pages of a search: read side by side, counted, and what they make of the list of results."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from searx_mcp.content.outline import headings
from searx_mcp.content.quality import Quality
from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.turns import Turns
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page, PageKind
from searx_mcp.models.response import DroppedPage, PageContent, Poor, SearchResult
from searx_mcp.search.config import QualityConfig, WebSearchConfig
from searx_mcp.search.reading import PageAssessment, ResultReader, assess_page, rerank
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


async def test_a_short_page_that_two_addresses_lead_to_is_given_once():
    old, new, other = (f"https://{name}.example/" for name in ("old", "new", "other"))
    moved = page(old, TEXT).model_copy(update={"final_url": new})
    results, stats = await read(moved, page(new, TEXT), page(other, TEXT), urls=(old, new, other))
    first, second, third = results
    assert [bool(result.content) for result in results] == [True, False, True]
    assert (second.duplicate_of, third.duplicate_of, stats.duplicates) == (first.url, "", 1)


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


USUAL = 0.6
QUIET = QualityConfig(prefer_named_sites=False, preferred_domains=())


def listed(count: int, *, unread: tuple[int, ...] = ()) -> list[SearchResult]:
    return [
        SearchResult(
            title=f"Title {n}",
            url=f"https://{n}.example/",
            score=1 - n / 100,
            content=None
            if n in unread
            else PageContent(markdown=f"text {n}", word_count=2, fetch_time_ms=1),
        )
        for n in range(1, count + 1)
    ]


def judged(
    results: list[SearchResult],
    worth: dict[int, float | Poor],
    config: QualityConfig = QUIET,
    sketches: dict[int, tuple[int, ...]] | None = None,
):
    assessments = {}
    for n, result in enumerate(results, start=1):
        if result.content is not None:
            value = worth.get(n, USUAL)
            quality = Quality(0.0, value) if isinstance(value, Poor) else Quality(value)
            assessments[result.url] = PageAssessment(quality, (sketches or {}).get(n, ()))
    return rerank(results, assessments, query="", config=config)


def order(judgement) -> list[int]:
    return [int(result.title.split()[1]) for result in judgement.results]


@pytest.mark.parametrize(
    ("worth", "expected"),
    [
        pytest.param({}, [1, 2, 3, 4, 5, 6], id="nothing moves by itself"),
        pytest.param({1: 0.55, 2: 0.74}, [1, 2, 3, 4, 5, 6], id="a small difference"),
        pytest.param({1: 0.5, 2: 0.72}, [2, 1, 3, 4, 5, 6], id="a clear one"),
        pytest.param({6: 1.0}, [1, 2, 3, 4, 6, 5], id="one place for the best"),
        pytest.param({1: 0.0}, [2, 3, 1, 4, 5, 6], id="two places for the worst"),
    ],
)
def test_results_move_by_their_quality(worth, expected):
    assert order(judged(listed(6), worth)) == expected


def test_results_that_were_not_read_keep_their_order_and_count_as_usual():
    results = listed(6, unread=(2, 4, 6))
    moved = order(judged(results, {1: 0.1, 3: 0.9, 5: 0.9}))
    assert [n for n in moved if n in {2, 4, 6}] == [2, 4, 6]
    assert moved == [3, 2, 1, 5, 4, 6]


def test_scores_follow_the_new_places():
    before, after = judged(listed(4), {}), judged(listed(4), {1: 0.0})
    assert [r.score for r in before.results] == [r.score for r in after.results]
    assert after.results[0].score == 1


def test_without_reranking_order_and_scores_stay():
    results = listed(4)
    still = judged(results, {1: 0.0, 4: 1.0}, QUIET.model_copy(update={"rerank": False}))
    assert order(still) == [1, 2, 3, 4]
    assert [r.score for r in still.results] == [r.score for r in results]


@pytest.mark.parametrize("wall", [Poor.LOGIN, Poor.PAYWALL, Poor.SCRIPT, Poor.CONSENT])
def test_a_wall_is_left_out_and_its_result_stays(wall: Poor):
    judgement = judged(listed(2), {1: wall})
    assert {r.url: r.content is None for r in judgement.results} == {
        "https://1.example/": True,
        "https://2.example/": False,
    }
    assert judgement.dropped == (DroppedPage(url="https://1.example/", reason=wall),)
    (walled,) = (result for result in judgement.results if result.content is None)
    assert walled.error_type in set(ErrorCode)
    assert walled.error_details.endswith(".")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(ErrorCode.BLOCKED_BY_SITE, [2, 3, 4, 1], id="refused"),
        pytest.param(ErrorCode.AUTHENTICATION_REQUIRED, [2, 3, 4, 1], id="a login"),
        pytest.param(ErrorCode.EXTRACTION_FAILED, [2, 3, 4, 1], id="nothing but scripts"),
        pytest.param(ErrorCode.NOT_FOUND, [1, 2, 3, 4], id="gone"),
        pytest.param(ErrorCode.TIMEOUT, [1, 2, 3, 4], id="too slow this time"),
        pytest.param(ErrorCode.HTTP_ERROR, [1, 2, 3, 4], id="failed this time"),
        pytest.param(ErrorCode.ROBOTS_DISALLOWED, [1, 2, 3, 4], id="not for programs"),
        pytest.param(ErrorCode.UNSUPPORTED_CONTENT_TYPE, [1, 2, 3, 4], id="a film"),
    ],
)
def test_a_wall_comes_after_what_can_be_read_and_other_failures_keep_their_place(
    code: ErrorCode, expected
):
    results = listed(4, unread=(1, 3))
    results[0] = results[0].model_copy(update={"error_type": code})
    assert order(judged(results, {})) == expected
    still = QUIET.model_copy(update={"rerank": False})
    assert order(judged(results, {}, still)) == [1, 2, 3, 4]


def test_walls_keep_their_order_where_no_page_was_read():
    results = listed(3, unread=(1, 2, 3))
    results[0] = results[0].model_copy(update={"error_type": ErrorCode.BLOCKED_BY_SITE})
    assert order(judged(results, {})) == [1, 2, 3]


@pytest.mark.parametrize("wall", [Poor.LOGIN, Poor.SCRIPT])
def test_a_page_that_turns_out_to_be_a_wall_goes_down_too(wall: Poor):
    judgement = judged(listed(3), {1: wall})
    assert order(judgement) == [2, 3, 1]
    assert [result.score for result in judgement.results] == [
        result.score for result in judged(listed(3), {}).results
    ]


@pytest.mark.parametrize("poor", [Poor.EMPTY, Poor.SPAM, Poor.PARKED, Poor.ERROR])
def test_what_is_doubtful_goes_with_its_result_where_three_good_pages_stay(poor: Poor):
    judgement = judged(listed(4), {2: poor})
    assert order(judgement) == [1, 3, 4]
    assert judgement.dropped == (
        DroppedPage(url="https://2.example/", reason=poor, result_dropped=True),
    )
    few = judged(listed(3), {2: poor})
    assert sorted(order(few)) == [1, 2, 3]
    assert not few.dropped
    assert all(result.content for result in few.results)


def test_nothing_is_dropped_where_that_is_switched_off():
    config = QUIET.model_copy(update={"drop_poor": False})
    judgement = judged(listed(5), {1: Poor.LOGIN, 2: Poor.SPAM}, config)
    assert len(judgement.results) == 5
    assert all(result.content for result in judgement.results)


ONE, TWO = tuple(range(128)), tuple(range(1_000, 1_128))


def test_copies_name_the_first_result_of_their_text():
    judgement = judged(listed(4), {}, sketches={1: ONE, 2: TWO, 3: ONE, 4: TWO})
    first, second, third, fourth = judgement.results
    assert first.content is not None
    assert second.content is not None
    assert (third.content, third.duplicate_of) == (None, first.url)
    assert (fourth.content, fourth.duplicate_of) == (None, second.url)
    assert judgement.duplicates == 2


@pytest.mark.parametrize(
    ("addresses", "worth", "groups", "copies"),
    [
        pytest.param([1, 2], {1: 0.3, 2: 0.9}, True, {1: 2}, id="the better one stands for both"),
        pytest.param([1, 2], {1: Poor.LOGIN}, True, {}, id="a wall stands for none"),
        pytest.param([1, 2], {}, False, {}, id="switched off"),
        pytest.param([1, 1], {}, True, {}, id="several rows of one page"),
    ],
)
def test_what_is_a_copy_of_what(addresses, worth, groups, copies):
    one, two = listed(2)
    rows = [{1: one, 2: two}[address] for address in addresses]
    config = QUIET.model_copy(update={"group_duplicates": groups})
    judgement = judged(rows, worth, config, sketches={1: ONE, 2: ONE})
    found = {r.url: r.duplicate_of for r in judgement.results if r.duplicate_of}
    assert found == {f"https://{a}.example/": f"https://{b}.example/" for a, b in copies.items()}
    assert sum(r.content is None for r in judgement.results) == len(copies) + (
        Poor.LOGIN in worth.values()
    )


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1), st.sampled_from(Poor)), max_size=20),
    st.floats(0, 1),
)
def test_no_result_is_lost_without_a_word(worth, strength):
    unread = tuple(n for n, value in enumerate(worth, start=1) if value is None)
    results = listed(len(worth), unread=unread)
    values = {n: value for n, value in enumerate(worth, start=1) if value is not None}
    config = QUIET.model_copy(update={"strength": strength})
    judgement = judged(results, values, config)
    gone = {page.url for page in judgement.dropped if page.result_dropped}
    assert {r.url for r in judgement.results} | gone == {r.url for r in results}
    assert [r.score for r in judgement.results] == sorted(
        (r.score for r in judgement.results), reverse=True
    )
    assert judged(results, values, config) == judgement


@pytest.mark.parametrize(
    ("query", "is_answered"),
    [
        ("how do bees tell others the direction", True),
        ("bees direction 2026 site:bees.example -wasps filetype:html", True),
        ("how do bees sleep in 300 days", False),
        ("price of a heat pump", False),
    ],
)
def test_a_page_supports_a_query_but_for_its_operators_and_years(query, is_answered):
    markdown = "Bees live in hives.\n\nTheir dance tells the others the direction of a flower.\n"
    bees = page("https://a.example/", markdown, title="Bees", outline=headings(markdown))
    assert assess_page(bees, query=query, config=QUIET).answered is None
    judged = assess_page(bees, query=query, config=QUIET, is_room_short=True)
    assert judged.answered is is_answered


def test_a_page_has_its_passages_those_that_fit_the_query_first():
    sections = [f"## Part {n}\n\n{'Bees live in hives. ' * 30}\n\n" for n in range(9)]
    sections[6] += "Their dance tells the others the direction.\n\n"
    sections[7] += "```\n" + "code of the dance\n" * 200 + "```\n"
    markdown = "".join(sections)
    bees = page("https://a.example/", markdown, title="Bees", outline=headings(markdown))
    passages = assess_page(bees, query="direction of a dance", config=QUIET).passages
    assert "tells the others the direction" in passages[0].text
    assert passages[0].path == ("Part 6",)
    assert "".join(p.text for p in sorted(passages, key=lambda p: p.offset)) == markdown
    assert any(passage.head == "```\n" for passage in passages)
    assert assess_page(bees, query="zebra", config=QUIET).passages == ()
    for query, offset in (("direction of bees", 0), ("direction of wasps", passages[0].offset)):
        assert assess_page(bees, query=query, config=QUIET).passages[0].offset == offset, query

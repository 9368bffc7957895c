"""A whole search: who is asked for how long, what is kept of the answer, what is said of it."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from searx_mcp.errors import (
    DeadlineError,
    ErrorCode,
    InvalidArgumentError,
    NoInstancesError,
    UnavailableReason,
)
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Answer, Hit, Infobox, ResultPage, UnresponsiveEngine
from searx_mcp.models.request import SafeSearch, SearchRequest, Source, TimeRange
from searx_mcp.models.response import Coverage, FetchStats, SearchResponse, SearchResult
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.background.membership import StateSync
from searx_mcp.search.cache import CachedResult, CachedSearch
from searx_mcp.search.config import SearchConfig, WebSearchConfig
from searx_mcp.search.merge import keep_domains, merge
from searx_mcp.search.providers.context import COVERAGE, Found
from searx_mcp.search.searcher import Searcher, instance_query, notes, search_all
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.tasks import Tasks
from tests.doubles import virtual_time
from tests.doubles.virtual_time import in_virtual_time

ANSWERING_TIME = 0.25

ATTEMPT = Attempt(instance="https://i.example/", verdict=Verdict.FULL, format=Format.HTML)
PAGE = ResultPage(
    hits=tuple(
        Hit(url=f"https://{host}/", title=host, position=n, engines=("e", f"engine {n}"))
        for n, host in enumerate(["a.org", "b.org", "c.org", "sub.a.org"], start=1)
    ),
    answers=(Answer(text="42"),),
    infoboxes=(Infobox(title="Bees"),),
    suggestions=("bee",),
    corrections=("beehive",),
    unresponsive_engines=(UnresponsiveEngine(engine="f", reason="timeout"),),
)
FOUND = Found((PAGE,), "https://i.example/", (ATTEMPT,), complete=True, attribution=("Theirs.",))
STATS = FetchStats(attempted=1, successful=1, failed=0, total_time_ms=5)


class World:
    """A searcher whose instances and pages take the seconds they are told."""

    def __init__(self, clock, tasks: Tasks, *, seconds: float = 1.0, **config: object) -> None:
        self.clock = clock
        self.seconds = seconds
        self.asked: list[dict[str, Any]] = []
        self.read_for: list[dict[str, Any]] = []
        self.warm_at: list[float] = []
        self.said: list[str] = []
        pool = InstancePool(config=PoolConfig(), rng=random.Random(1))
        sync = StateSync(pool, MemoryStore(), clock)
        reader: Any = self
        cached_search = CachedSearch(
            provider=self,
            config=SearchConfig(),
            clock=clock,
            pull=sync.pull,
            push=sync.push,
            spawn=tasks.spawn,
        )
        self.searcher = Searcher(
            cached_search, reader, WebSearchConfig.model_validate(config), workers=reader
        )

    async def run(self, context) -> Found:
        asked = {name: getattr(context, name) for name in context.__slots__}
        self.asked.append({"at": self.clock.elapsed, **asked})
        await asyncio.sleep(self.seconds)
        return FOUND

    def warm(self):
        self.warm_at.append(self.clock.elapsed)

    async def read(self, results, **options):
        self.read_for.append({"results": results, "at": self.clock.elapsed, **options})
        await asyncio.sleep(2)
        return results[::-1], STATS


def search(*, config=(), **request) -> Any:
    """What a search gives, and the world it was in."""

    async def main(clock) -> tuple[SearchResponse, World]:
        async with Tasks() as tasks:
            world = World(clock, tasks, **dict(config))
            wanted = SearchRequest(query="bees", **request)
            return await world.searcher.search(wanted, progress=world.said.append), world

    return virtual_time.run(main)


def test_everything_the_instance_said_is_in_the_response():
    response, world = search(
        fetch_content=False,
        category="news",
        language="de",
        safe_search=SafeSearch.STRICT,
        time_range=TimeRange.WEEK,
        source=Source.INSTANCES,
        results_count=3,
    )
    assert [result.url for result in response.results] == [hit.url for hit in PAGE.hits[:3]]
    assert response.model_copy(update={"results": ()}) == SearchResponse(
        query="bees",
        category="news",
        language="de",
        safe_search=SafeSearch.STRICT,
        time_range=TimeRange.WEEK,
        fetch_content=False,
        results_count=3,
        total_results=4,
        next_offset=3,
        search_time_ms=1_000,
        instance_used="https://i.example/",
        results=(),
        engines_used=("e", "engine 1", "engine 2", "engine 3"),
        answers=PAGE.answers,
        infoboxes=PAGE.infoboxes,
        suggestions=("bee",),
        corrections=("beehive",),
        unresponsive_engines=PAGE.unresponsive_engines,
        attempts=(ATTEMPT,),
        coverage=Coverage.WEB,
        attribution=("Theirs.",),
    )
    (asked,) = world.asked
    assert (asked["source"], asked["wanted"]) == (Source.INSTANCES, 3)
    assert world.read_for == []


@pytest.mark.parametrize(("fetch_content", "warm_at"), [(True, [0.0]), (False, [])])
def test_what_reads_pages_starts_while_the_results_are_on_their_way(fetch_content, warm_at):
    _, world = search(fetch_content=fetch_content)
    assert world.warm_at == warm_at


@in_virtual_time
async def test_an_answer_that_was_kept_names_no_attempts(clock):
    async with Tasks() as tasks:
        world = World(clock, tasks)
        request = SearchRequest(query="bees", fetch_content=False)
        await world.searcher.search(request)
        await asyncio.sleep(9.5)
        kept = await world.searcher.search(request)
    assert (kept.cached, kept.stale, kept.attempts) == (True, False, ())
    assert (kept.age_seconds, kept.search_time_ms) == (9, 0)
    assert len(world.asked) == 1


@pytest.mark.parametrize(
    ("request_", "search_phase", "whole"),
    [
        ({"timeout": 20, "fetch_content": False}, 20 - ANSWERING_TIME, None),
        ({"timeout": 20}, 0.6 * (20 - ANSWERING_TIME), 20 - ANSWERING_TIME),
        ({}, 0.6 * (30 - ANSWERING_TIME), 30 - ANSWERING_TIME),
        ({"config": {"default_timeout": 10}.items()}, 0.6 * 9.75, 9.75),
    ],
)
def test_the_pages_have_two_fifths_of_the_time(request_, search_phase, whole):
    _, world = search(**request_)
    assert [asked["deadline"] for asked in world.asked] == [pytest.approx(search_phase)]
    assert [read["deadline"] for read in world.read_for] == [pytest.approx(whole)] * bool(whole)


@in_virtual_time
async def test_a_search_that_finds_nobody_in_time_ends_when_its_phase_does(clock):
    async with Tasks() as tasks:
        world = World(clock, tasks, seconds=100)
        with pytest.raises(DeadlineError) as caught:
            await world.searcher.search(SearchRequest(query="bees", timeout=10))
        assert caught.value.time_limit == pytest.approx(0.6 * 9.75, abs=0.1)
        assert 0.6 * 9.75 <= clock.elapsed <= 0.6 * 9.75 + ANSWERING_TIME


def test_the_pages_of_what_is_given_are_read_and_may_change_its_order():
    response, world = search(results_count=2, search_prompt="why they dance", max_tokens=900)
    (read,) = world.read_for
    assert [result.url for result in read["results"]] == ["https://a.org/", "https://b.org/"]
    assert (read["at"], read["query"]) == (pytest.approx(1), "bees why they dance")
    assert read["room"] == 900
    assert [result.url for result in response.results] == ["https://b.org/", "https://a.org/"]
    assert response.content_fetch_stats == STATS
    assert response.search_time_ms == 1_000, "without the pages"
    assert response.engines_used == ("e", "engine 2", "engine 1")
    assert world.said == ["reading 2 pages"]


@pytest.mark.parametrize(
    ("domains", "urls"),
    [
        ({"allowed_domains": ("a.org", "b.org")}, ["a.org", "b.org", "sub.a.org"]),
        ({"blocked_domains": ("a.org",)}, ["b.org", "c.org"]),
    ],
)
def test_results_of_other_domains_are_left_out_before_they_are_counted(domains, urls):
    response, _ = search(fetch_content=False, **domains)
    assert [result.title for result in response.results] == urls
    assert response.results_count == response.total_results == len(urls)


def test_where_nothing_is_left_no_page_is_read_and_nobody_is_credited():
    response, world = search(allowed_domains=("x.org", "y.org"))
    assert (response.results, response.attribution, world.read_for) == ((), (), [])
    assert response.content_fetch_stats is None
    assert response.notes == ("All 4 results were left out by allowed_domains.",)


@pytest.mark.parametrize(
    ("request_", "page", "titles", "goes_on"),
    [
        ({"page": 3}, 3, ["a.org", "b.org"], None),
        ({"offset": 0}, 1, ["a.org", "b.org"], 2),
        ({"offset": 1}, 1, ["b.org", "c.org"], 3),
        ({"offset": 9}, 1, [], None),
        ({"offset": 30}, 4, ["a.org", "b.org"], 32),
        ({"offset": 33}, 4, ["sub.a.org"], None),
    ],
    ids=str,
)
def test_a_page_or_an_offset_says_where_results_begin(request_, page, titles, goes_on):
    response, world = search(fetch_content=False, results_count=2, **request_)
    (asked,) = world.asked
    assert asked["query"].page == page
    assert [result.title for result in response.results] == titles
    assert response.page == (page if page > 1 else None)
    assert (response.results_count, response.total_results) == (len(titles), 4)
    assert response.next_offset == goes_on


def test_an_offset_goes_on_in_what_was_found_before_a_further_page_is_asked_for():
    async def main(clock) -> tuple[list[list[str]], list[int]]:
        async with Tasks() as tasks:
            world = World(clock, tasks)
            shown = []
            for offset in (0, 2, 4, 9):
                request = SearchRequest(
                    query="bees", fetch_content=False, results_count=2, offset=offset
                )
                response = await world.searcher.search(request)
                shown.append([result.title for result in response.results])
            return shown, [asked["query"].page for asked in world.asked]

    shown, pages = virtual_time.run(main)
    first, second = ["a.org", "b.org"], ["c.org", "sub.a.org"]
    assert shown == [first, second, first, first[1:] + second[:1]]
    assert pages == [1, 2, 3], "the page has four results, so offset 9 is the second of the third"


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({}, "bees"),
        ({"allowed_domains": ("a.org",)}, "bees site:a.org"),
        ({"allowed_domains": ("a.org", "b.org")}, "bees"),
        ({"query": "bees site:b.org", "allowed_domains": ("a.org",)}, "bees site:b.org"),
        ({"query": "SITE:b.org bees", "allowed_domains": ("a.org",)}, "SITE:b.org bees"),
        ({"query": "website:x", "allowed_domains": ("a.org",)}, "website:x site:a.org"),
        ({"search_prompt": "why they dance"}, "bees"),
    ],
)
def test_one_domain_is_asked_for_by_a_word(request_, text):
    assert instance_query(SearchRequest(**{"query": "bees", **request_})).text == text


def test_all_filters_reach_the_instance_and_a_query_without_words_does_not():
    request = SearchRequest(
        query="bees",
        category="it",
        language="fr",
        safe_search=SafeSearch.OFF,
        time_range=TimeRange.DAY,
        engines=("x", "y"),
    )
    assert instance_query(request) == InstanceQuery(
        text="bees",
        category="it",
        language="fr",
        safe_search=0,
        time_range=TimeRange.DAY,
        engines=("x", "y"),
    )
    with pytest.raises(InvalidArgumentError, match="query"):
        instance_query(SearchRequest(query="\u200b"))


def found(count: int = 1, *, own: bool = False) -> Found:
    hits = tuple(Hit(url=f"https://h{n}.example/", title="T", position=n + 1) for n in range(count))
    return Found((ResultPage(hits=hits),), "https://i.example/", (), complete=True, own=own)


def offline(retry_after: float | None) -> NoInstancesError:
    return NoInstancesError("No.", reason=UnavailableReason.OFFLINE, retry_after=retry_after)


REQUEST = SearchRequest(query="bees", results_count=1)


def told(request: SearchRequest, served: CachedResult, count: int) -> tuple[str, ...]:
    results = merge(served.found.pages)[:count]
    return notes(request, served, found=results, kept=results)


@pytest.mark.parametrize(
    ("age", "error", "expected"),
    [
        (425.0, None, "Answer from 7 minutes ago; a newer one is being fetched."),
        (
            11_000.0,
            offline(119.2),
            "Answer from 3 hours ago: no instance could serve now (offline); one may in 120 s.",
        ),
        (
            90.0,
            offline(None),
            "Answer from 1 minute ago: no instance could serve now (offline).",
        ),
        (
            172_800.0,
            offline(0.0),
            "Answer from 2 days ago: no instance could serve now (offline); one may in 1 s.",
        ),
        (
            1.0,
            DeadlineError("Over."),
            "Answer from 1 second ago: there was no time for a newer one (deadline_exceeded).",
        ),
        (0.0, None, "Answer from 0 seconds ago; a newer one is being fetched."),
    ],
    ids=["refreshing", "wait", "no-wait", "now", "deadline", "new"],
)
def test_a_stale_answer_says_how_old_it_is_and_why_it_is_given(age, error, expected):
    served = CachedResult(found(), age, is_stale=True, error=error)
    assert told(REQUEST, served, 1) == (expected,)


@pytest.mark.parametrize(
    ("served", "total"),
    [(CachedResult(found()), 1), (CachedResult(found(), 120.0), 1), (CachedResult(found(0)), 0)],
    ids=["now", "fresh", "nothing"],
)
def test_an_answer_that_is_not_stale_says_nothing(served, total):
    assert told(REQUEST, served, total) == ()


@pytest.mark.parametrize("coverage", [Coverage.COLLECTIONS, Coverage.MIXED])
def test_what_an_answer_was_found_in_comes_before_what_else_is_to_be_said(coverage):
    served = CachedResult(replace(found(), coverage=coverage, remarks=("a",)))
    assert told(REQUEST, served, 1) == (COVERAGE[coverage], "a")


def test_staleness_comes_before_everything_else():
    request = SearchRequest(query="bees", results_count=5, language="all")
    said = told(request, CachedResult(found(), 400.0, is_stale=True), 1)
    assert [note.split(" ")[0] for note in said] == ["Answer", "Language", "Fewer"]


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (CachedResult(found(own=True)), "your instance has no more"),
        (
            CachedResult(found()),
            "public instances give one page per call; page 2 may have more",
        ),
        (CachedResult(found(own=True), 400.0, is_stale=True), "the older answer has no more"),
    ],
    ids=["own", "public", "stale"],
)
def test_fewer_results_than_asked_for_are_explained(served, reason):
    request = SearchRequest(query="bees", results_count=5)
    assert reason in told(request, served, 1)[-1]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            {"allowed_domains": ("x.example", "y.example")},
            "All 3 results were left out by allowed_domains.",
        ),
        (
            {"blocked_domains": ("example",)},
            "All 3 results were left out by blocked_domains.",
        ),
        (
            {"allowed_domains": ("h0.example", "x.example"), "blocked_domains": ("h0.example",)},
            "All 3 results were left out by allowed_domains and blocked_domains.",
        ),
        (
            {"blocked_domains": ("h0.example",)},
            "Fewer results than asked for (2 of 10): 1 left out by blocked_domains.",
        ),
        ({"blocked_domains": ("x.example",), "results_count": 3}, None),
    ],
    ids=str,
)
def test_results_that_the_domains_leave_out_are_explained(request_, said):
    request = SearchRequest(query="bees", **request_)
    results = merge(found(3).pages)
    kept = keep_domains(results, allowed=request.allowed_domains, blocked=request.blocked_domains)
    assert notes(request, CachedResult(found(3)), found=results, kept=kept) == (
        (said,) if said else ()
    )


@pytest.mark.parametrize(
    ("request_", "page", "skipped", "said"),
    [
        ({"page": 7}, 7, 0, "The list ends before page 7: nothing more was found."),
        ({"offset": 90}, 10, 0, "The list ends before offset 90: nothing more was found."),
        ({"offset": 5}, 1, 5, "The list ends before offset 5: nothing more was found."),
        ({}, 1, 0, None),
    ],
    ids=str,
)
def test_a_page_beyond_the_end_says_so(request_, page, skipped, said):
    request = SearchRequest(query="bees", **request_)
    served = CachedResult(found(skipped and 3))
    results = merge(served.found.pages)
    saying = notes(request, served, found=results, kept=results, page=page, skipped=skipped)
    assert saying == ((said,) if said else ())


def refused(*urls: str, verdict: Verdict = Verdict.JSON_OFF) -> tuple[Attempt, ...]:
    asked = [Attempt(instance=url, verdict=verdict, format=Format.JSON) for url in urls]
    return (
        *asked,
        Attempt(instance="https://k.example/", verdict=verdict, format=Format.HTML),
        Attempt(instance="https://i.example/", verdict=Verdict.FULL, format=Format.HTML),
    )


@pytest.mark.parametrize(
    ("urls", "hosts"),
    [
        (["https://i.example/"], "i.example"),
        (["https://i.example:8443/searx/", "https://j.example/"], "i.example:8443, j.example"),
    ],
    ids=["one", "several"],
)
def test_an_own_instance_without_json_is_one_line_with_the_remedy(urls, hosts):
    served = CachedResult(replace(found(own=True), attempts=refused(*urls)))
    (said,) = told(REQUEST, served, 1)
    assert said.startswith(f"JSON is off at {hosts}, so its pages are read instead: add json to ")
    assert said.endswith(" (searx-mcp doctor shows the lines).")


def test_a_limit_for_json_at_an_own_instance_is_one_line_with_the_remedy():
    attempts = refused("https://i.example/", verdict=Verdict.RATE_LIMITED)
    (said,) = told(REQUEST, CachedResult(replace(found(own=True), attempts=attempts)), 1)
    assert said.startswith("JSON is limited at i.example, so its pages are read instead: set ")
    assert "server.limiter to false" in said


@pytest.mark.parametrize(
    ("attempts", "own", "age"),
    [
        (refused("https://i.example/"), False, None),
        (refused("https://i.example/"), True, 120.0),
        (refused(), True, None),
    ],
    ids=["public", "cached", "not refused"],
)
def test_nothing_is_said_of_json_otherwise(attempts, own, age):
    served = CachedResult(replace(found(own=own), attempts=attempts), age)
    assert told(REQUEST, served, 1) == ()


A, B, C = ("https://a.example/", "https://b.example/", "https://c.example/")


def response(query: str, *urls: str) -> SearchResponse:
    return SearchResponse(
        query=query,
        category="general",
        language="en",
        safe_search=SafeSearch.OFF,
        time_range=TimeRange.ANY,
        fetch_content=False,
        results_count=len(urls),
        total_results=9,
        search_time_ms=1,
        instance_used=A,
        results=tuple(SearchResult(title=url, url=url, score=1) for url in urls),
        engines_used=(),
    )


def requests(*queries: str) -> tuple[SearchRequest, ...]:
    first, *more = queries
    return SearchRequest(query=first, queries=tuple(more)).searches


async def test_searches_run_side_by_side_and_keep_their_order():
    begun: list[str] = []
    all_begun = asyncio.Event()

    async def search(request: SearchRequest) -> SearchResponse:
        begun.append(request.query)
        if len(begun) == 3:
            all_begun.set()
        await all_begun.wait()
        return response(request.query)

    async with asyncio.timeout(10):
        batch = await search_all(requests("x", "y", "z"), search)
    assert [each.query for each in batch.queries] == ["x", "y", "z"]


async def test_a_repeated_hit_is_named_once_and_referred_to():
    found = {
        "x": (A, B),
        "y": ("http://www.b.example/#top", C, A),
        "z": (C, B),
    }

    async def search(request: SearchRequest) -> SearchResponse:
        return response(request.query, *found[request.query])

    batch = await search_all(requests("x", "y", "z"), search)
    results = [each.result for each in batch.queries if each.result]
    assert [[hit.url for hit in each.results] for each in results] == [[A, B], [C], []]
    assert [each.results_count for each in results] == [2, 1, 0]
    places = [[(hit.search, hit.result) for hit in each.repeated] for each in batch.queries]
    assert places == [[], [(1, 2), (1, 1)], [(2, 1), (1, 2)]]


async def test_one_that_fails_takes_no_other_with_it():
    async def search(request: SearchRequest) -> SearchResponse:
        if request.query == "y":
            raise NoInstancesError("Nobody", reason=UnavailableReason.BUDGET_SPENT, retry_after=7.5)
        return response(request.query, A)

    batch = await search_all(requests("x", "y", "z"), search)
    assert [each.result is None for each in batch.queries] == [False, True, False]
    error = batch.queries[1].error
    assert error is not None
    assert (error.error_type, error.retry_after) == (ErrorCode.NO_INSTANCES_AVAILABLE, 8)
    assert error.error_details.startswith("Nobody")


async def test_where_all_fail_the_first_error_is_raised():
    async def search(request: SearchRequest) -> SearchResponse:
        raise DeadlineError(request.query)

    with pytest.raises(DeadlineError, match=r"^x"):
        await search_all(requests("x", "y"), search)


async def test_the_same_words_are_searched_once():
    assert [each.query for each in requests("x", "y", "x")] == ["x", "y"]
    assert all(each.queries == () for each in requests("x", "y"))

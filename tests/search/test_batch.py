"""Several searches of one call."""

import asyncio

import pytest

from searx_mcp.errors import DeadlineError, ErrorCode, NoInstancesError, UnavailableReason
from searx_mcp.models.request import SafeSearch, SearchRequest, TimeRange
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.search.batch import search_all

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

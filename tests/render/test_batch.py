"""Several searches within one budget."""

import pytest

from searx_mcp.models.request import SafeSearch, TimeRange
from searx_mcp.models.response import (
    BatchedSearch,
    PageContent,
    RawAnswer,
    RawBatch,
    RepeatedHit,
    SearchBatch,
    SearchFailure,
    SearchResponse,
    SearchResult,
)
from searx_mcp.render.batch import batch_data, batch_text, raw_data
from searx_mcp.render.public import response_data
from searx_mcp.render.search import search_text
from searx_mcp.render.tokens import estimate

BOUNDARY = "0123456789abcdef"


def found(query: str, results: int, *, words: int = 0, repeated: int = 0) -> BatchedSearch:
    content = PageContent(markdown="Words here. " * words, word_count=1, fetch_time_ms=1)
    response = SearchResponse(
        query=query,
        category="general",
        language="en",
        safe_search=SafeSearch.OFF,
        time_range=TimeRange.ANY,
        fetch_content=True,
        results_count=results,
        total_results=results,
        search_time_ms=1,
        instance_used="https://i.example/",
        results=tuple(
            SearchResult(
                title=f"{query} {number}",
                url=f"https://{query}.example/{number}",
                description="About it.",
                score=1,
                content=content if words else None,
            )
            for number in range(results)
        ),
        engines_used=(),
    )
    hits = tuple(
        RepeatedHit(url=f"https://x.example/{number}", search=1, result=number + 1)
        for number in range(repeated)
    )
    return BatchedSearch(query=query, result=response, repeated=hits)


FAILED = BatchedSearch(
    query="z", error=SearchFailure(error_type="deadline_exceeded", error_details="Too late.")
)


def test_each_search_stands_under_a_line_of_its_own():
    first, second = found("x", 2), found("y", 1, repeated=2)
    batch = SearchBatch(queries=(first, second, FAILED))
    assert first.result
    assert second.result
    assert batch_text(batch, budget=None, boundary=BOUNDARY) == (
        f"# Search 1 of 3: x\n{search_text(first.result, budget=None, boundary=BOUNDARY)}\n\n"
        f"# Search 2 of 3: y\n{search_text(second.result, budget=None, boundary=BOUNDARY)}\n"
        "Also found above: results 1, 2 of search 1.\n\n"
        "# Search 3 of 3: z\nSearch failed: deadline_exceeded. Too late."
    )
    assert batch_data(batch) == {
        "queries": [
            {"query": "x", "result": response_data(first.result)},
            {
                "query": "y",
                "result": response_data(second.result),
                "repeated": [
                    {"url": "https://x.example/0", "search": 1, "result": 1},
                    {"url": "https://x.example/1", "search": 1, "result": 2},
                ],
            },
            {
                "query": "z",
                "error": {
                    "error_type": "deadline_exceeded",
                    "error_details": "Too late.",
                    "retry_after": None,
                },
            },
        ]
    }


def test_a_search_that_found_nothing_new_does_not_claim_to_have_found_nothing():
    batch = SearchBatch(queries=(found("x", 20), found("y", 0, repeated=12), found("w", 0)))
    told = batch_text(batch, budget=None, boundary=BOUNDARY)
    assert (
        "# Search 2 of 3: y\n"
        "Also found above: results 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 of search 1 and 2 more.\n"
    ) in told
    assert told.count("No search results found") == 1


def test_repeated_results_are_named_by_search():
    hits = tuple(
        RepeatedHit(url="https://x.example/", search=search, result=result)
        for search, result in ((1, 2), (2, 4), (1, 1))
    )
    last = BatchedSearch(query="w", result=found("w", 0).result, repeated=hits)
    batch = SearchBatch(queries=(found("x", 2), found("y", 4), last))
    told = batch_text(batch, budget=None, boundary=BOUNDARY)
    assert told.endswith("Also found above: results 2, 1 of search 1; result 4 of search 2.")


@pytest.mark.parametrize(
    ("budget", "number"), [(200, 2), (300, 4), (500, 11), (1_000, 11), (2_000, 4), (8_000, 2)]
)
def test_all_searches_keep_within_one_budget(budget: int, number: int):
    queries = (*(found(f"q{each}", 6, words=900, repeated=each) for each in range(number)), FAILED)
    batch = SearchBatch(queries=queries)
    told = batch_text(batch, budget=budget, boundary=BOUNDARY)
    assert estimate(told) <= budget
    data = batch_data(batch, budget=budget, boundary=BOUNDARY)
    assert len(data["queries"]) == told.count("# Search ")
    left_out = number + 1 - len(data["queries"])
    assert (f"{left_out} more search" in told) is bool(left_out)
    assert bool(data.get("notes")) is bool(left_out)


def test_room_that_one_search_does_not_need_goes_to_the_others():
    batch = SearchBatch(queries=(found("x", 1), found("y", 3, words=2_000)))
    told = batch_text(batch, budget=3_000, boundary=BOUNDARY)
    assert 2_700 < estimate(told) <= 3_000
    data = batch_data(batch, budget=3_000, boundary=BOUNDARY)
    for result in data["queries"][1]["result"]["results"]:
        if content := result.get("content"):
            assert content["markdown"].splitlines()[1] in told


def test_raw_answers_stand_with_their_queries_and_keep_every_null():
    failure = SearchFailure(error_type="no_instances_available", error_details="Spent.")
    answers = (
        RawAnswer(query="a", result={"items": [None, {"b": None}], "n": 1}),
        RawAnswer(query="b", error=failure),
    )
    assert raw_data(RawBatch(queries=answers)) == {
        "queries": [
            {"query": "a", "result": {"items": [None, {"b": None}], "n": 1}},
            {"query": "b", "result": None, "error": failure.model_dump(exclude={"quoted"})},
        ]
    }

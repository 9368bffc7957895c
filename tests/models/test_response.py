"""Responses between two processes, there and back."""

import json

import pytest

from searx_mcp.models.page import Page, Passage
from searx_mcp.models.request import SafeSearch, TimeRange
from searx_mcp.models.response import (
    BatchedSearch,
    PageContent,
    SearchBatch,
    SearchFailure,
    SearchResponse,
    SearchResult,
    dumped,
    loaded,
)

TEXT = "# Bees \U0001f41d\n\nThey fly.\n\nThey hum."


def page(**changes: object) -> Page:
    values = {
        "url": "https://a.example/",
        "final_url": "https://a.example/",
        "content_type": "text/html",
        "content_length": 9,
        "status_code": 200,
        "response_time_ms": 1,
        "markdown_content": TEXT,
        "word_count": 6,
    }
    return Page.model_validate({**values, **changes})


def passage(text: str, offset: int, **changes: object) -> Passage:
    return Passage.model_validate({"path": ("Bees",), "offset": offset, "text": text, **changes})


CONTENT = PageContent(
    markdown=TEXT,
    word_count=6,
    fetch_time_ms=1,
    passages=(passage("They hum.", 21), passage("They fly.", 10, head="```\n")),
)
SEARCH = SearchResponse(
    query="bees",
    category="general",
    language="en",
    safe_search=SafeSearch.OFF,
    time_range=TimeRange.ANY,
    fetch_content=True,
    results_count=2,
    search_time_ms=1,
    instance_used="https://i.example/",
    results=(
        SearchResult(title="Bees", url="https://a.example/", score=1.0, content=CONTENT),
        SearchResult(title="Wasps", url="https://b.example/", score=0.5),
    ),
    total_results=2,
    engines_used=("bing",),
)
FAILED = SearchFailure(error_type="timeout", error_details="Too slow.")


@pytest.mark.parametrize(
    "response",
    [
        page(),
        page(passages=(passage("They fly.", 10),)),
        page(markdown_content=TEXT[10:], offset=10, passages=(passage("They hum.", 21),)),
        page(passages=(passage("Stands nowhere in it.", 10), passage("They fly.", 5))),
        SEARCH,
        SearchBatch(
            queries=(
                BatchedSearch(query="bees", result=SEARCH),
                BatchedSearch(query="wasps", error=FAILED),
            )
        ),
    ],
    ids=["no passages", "passages", "a part of a page", "passages of elsewhere", "search", "batch"],
)
def test_a_response_is_the_same_on_the_other_side(response):
    sent = json.loads(json.dumps(dumped(response)))
    assert loaded(type(response), sent) == response


def test_the_words_of_a_passage_are_sent_once():
    assert json.dumps(dumped(SEARCH)).count("They hum.") == 1


def test_what_a_newer_version_adds_is_passed_over():
    sent = dumped(SEARCH)
    sent["mood"] = "good"
    sent["results"][0]["content"]["colour"] = "yellow"
    sent["results"][0]["content"]["passages"][0]["rank"] = 1
    assert loaded(SearchResponse, sent) == SEARCH


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {**dumped(SEARCH), "results": 7},
        {**dumped(page()), "markdown_content": "x", "passages": [1]},
        {**dumped(page()), "passages": [{"path": [], "offset": "1", "length": "x"}]},
        {**dumped(page()), "passages": [{"path": [], "offset": 1, "length": "x"}]},
    ],
)
def test_what_is_no_response_is_refused(broken):
    kind = SearchResponse if "results" in broken or not broken else Page
    with pytest.raises(ValueError, match="validation error"):
        loaded(kind, broken)

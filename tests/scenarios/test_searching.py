"""Searches as a program makes them, through the public names alone."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from searx_mcp import SearxClient
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

pytestmark = pytest.mark.smoke

TEA = FakeResult("https://a.example.org/tea", "Tea", "How to brew it.", engines=("alpha", "beta"))
NEWS = FakeResult(
    "https://b.example.org/news", "Tea news", category="news", published_at="2026-01-31"
)
SHOP = FakeResult("https://shop.example.com/tea", "Buy tea", "Green and black.")
SUB = FakeResult("https://docs.a.example.org/tea", "Tea manual", "All of it.")
COPY = FakeResult("http://www.a.example.org/tea?utm_source=x", "Tea", "How to brew it, and why.")


@dataclass(frozen=True)
class Search:
    """One search of a scenario.

    Attributes:
        arguments: of the call.
        instance: of the double.
        asked: parameters of the request that reaches the instance.
        urls: of the results, in order; `None` where they do not matter.
        fields: of the response.
        first: of the first result.
        pages: of the list that are asked for.
    """

    arguments: dict[str, Any] = field(default_factory=dict)
    instance: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    urls: tuple[str, ...] | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)
    pages: int | None = None


SEARCHES = {
    "ten results of a plain query": Search(
        asked={"q": "tea"}, fields={"results_count": 10, "category": "general", "language": "en"}
    ),
    "fewer results than asked for": Search(
        instance={"results": [TEA, SHOP]},
        urls=(TEA.url, SHOP.url),
        fields={"results_count": 2, "total_results": 2},
    ),
    "no more results than asked for": Search(
        {"results_count": 3}, fields={"results_count": 3}, pages=1
    ),
    "more results than a page has": Search({"results_count": 15}, fields={"results_count": 15}),
    "fifty results of five pages": Search(
        {"results_count": 50}, {"pages": 5}, fields={"results_count": 50}, pages=5
    ),
    "JSON where the instance gives it": Search(
        instance={"formats": ("html", "json")}, asked={"format": "json"}
    ),
    "HTML where it does not": Search(asked={"q": "tea"}),
    "a category": Search(
        {"category": "news"},
        {"results": [NEWS]},
        {"categories": "news"},
        urls=(NEWS.url,),
        fields={"category": "news"},
        first={"category": "news"},
    ),
    "a category by another of its names": Search(
        {"category": "image"}, asked={"categories": "images"}, fields={"category": "images"}
    ),
    "a language": Search({"language": "de"}, asked={"language": "de"}, fields={"language": "de"}),
    "a region": Search({"language": "en-US"}, asked={"language": "en-US"}),
    "all languages": Search({"language": "all"}, asked={"language": "all"}),
    "a time range": Search({"time_range": "month"}, asked={"time_range": "month"}),
    "strict safe search": Search({"safe_search": 2}, asked={"safesearch": "2"}),
    "no safe search": Search({"safe_search": 0}, asked={"safesearch": "0"}),
    "safe search by its name": Search({"safe_search": "strict"}, asked={"safesearch": "2"}),
    "engines": Search({"engines": ["alpha"]}, asked={"engines": "alpha"}),
    "engines in one text": Search({"engines": "alpha, beta"}, asked={"engines": "alpha,beta"}),
    "a second page": Search({"page": 2}, asked={"pageno": "2"}),
    "an offset": Search({"offset": 10, "results_count": 5}, fields={"results_count": 5}),
    "only allowed domains and what is below them": Search(
        {"allowed_domains": ["a.example.org"]},
        {"results": [TEA, SHOP, SUB]},
        urls=(TEA.url, SUB.url),
    ),
    "no blocked domain nor what is below it": Search(
        {"blocked_domains": ["a.example.org"]}, {"results": [TEA, SHOP, SUB]}, urls=(SHOP.url,)
    ),
    "domains in one text": Search(
        {"blocked_domains": "a.example.org, example.net"},
        {"results": [TEA, SHOP]},
        urls=(SHOP.url,),
    ),
    "one row for two addresses of a page": Search(
        instance={"results": [TEA, COPY, SHOP]}, urls=(TEA.url, SHOP.url)
    ),
    "the engines that found a row": Search(
        instance={"results": [TEA, SHOP]}, first={"engines": ("alpha", "beta"), "engine": "alpha"}
    ),
    "the longest description of a row": Search(
        instance={"results": [TEA, COPY]}, first={"description": "How to brew it, and why."}
    ),
    "scores from 0 to 1": Search(instance={"results": [TEA, SHOP]}, first={"score": 1.0}),
    "suggestions": Search(
        instance={"suggestions": ["green tea"]}, fields={"suggestions": ("green tea",)}
    ),
    "corrections": Search(instance={"corrections": ["teas"]}, fields={"corrections": ("teas",)}),
    "engines that failed are named": Search(
        instance={"engines_failed": [("alpha", "timeout")], "results": [TEA]},
        urls=(TEA.url,),
        fields={"results_count": 1},
    ),
    "an instance below a path": Search(
        instance={"path_prefix": "searx", "results": [TEA]}, urls=(TEA.url,)
    ),
    "rows that lead through a rewriter": Search(
        instance={"rewriter": "https://tracker.example.org/?to=", "results": [TEA]}
    ),
    "the prompt stays here": Search({"search_prompt": "secret words"}, asked={"q": "tea"}),
    "a query with an operator": Search(asked={"q": "tea"}, fields={"query": "tea"}),
}


@pytest.mark.parametrize("case", SEARCHES.values(), ids=SEARCHES.keys())
async def test_a_search_gives(case: Search, settings_for):
    async with FakeSearxng(**case.instance) as fake:
        async with SearxClient(settings_for(own=[fake])) as client:
            response = await client.search("tea", **{"fetch_content": False, **case.arguments})
    data = response.model_dump()
    asked = {name: value for request in fake.requests[-1:] for name, value in request.query.items()}
    assert case.asked.items() <= asked.items()
    assert case.fields.items() <= data.items()
    if case.urls is not None:
        assert tuple(row["url"] for row in data["results"]) == case.urls
    if case.first:
        assert case.first.items() <= data["results"][0].items()
    if case.pages is not None:
        assert len({request.query.get("pageno", "1") for request in fake.requests}) == case.pages
    assert response.instance_used == fake.url
    assert "secret" not in "".join(request.target for request in fake.requests)


async def test_what_an_own_instance_could_do_better_is_told(settings_for):
    async with FakeSearxng(results=[TEA]) as fake:
        async with SearxClient(settings_for(own=[fake])) as client:
            response = await client.search("tea", fetch_content=False)
    few, html = response.notes
    assert few == "Fewer results than asked for (1 of 10): your instance has no more."
    assert "add json to search.formats" in html


async def test_searches_at_the_same_time_for_the_same_thing_ask_once(settings_for):
    async with FakeSearxng(formats=["json"]) as fake:
        async with SearxClient(settings_for(own=[fake])) as client:
            async with asyncio.TaskGroup() as group:
                found = [
                    group.create_task(client.search("tea", fetch_content=False)) for _ in range(8)
                ]
    assert len({each.result().results for each in found}) == 1
    assert fake.searches == 1


async def test_suggestions_come_from_an_own_instance(settings_for):
    async with FakeSearxng() as fake:
        async with SearxClient(settings_for(own=[fake])) as client:
            assert await client.suggest("te") == ()

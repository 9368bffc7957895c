"""Tavily's routes: its own library, LibreChat's calls, and what is refused."""

import asyncio
from typing import Any

import pytest
from tavily import AsyncTavilyClient, TavilyClient
from tavily.errors import BadRequestError, InvalidAPIKeyError

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.request import SafeSearch, TimeRange

TOKEN = "0123456789abcdef"
URL = "https://a.example/bees"


async def search(rest, **body: Any):
    return await rest.post("/tavily/search", json={"query": "bees", **body})


async def test_an_answer_has_what_is_known_and_nothing_else(rest, service):
    body = (await search(rest)).json()
    assert body.keys() == {"query", "results", "response_time"}
    first, second = body["results"]
    assert first == {
        "title": "Bees",
        "url": URL,
        "content": "All about bees.",
        "score": 1.0,
        "published_date": "2026-05-01T00:00:00+00:00",
    }
    assert "published_date" not in second
    (request,) = service.asked
    assert (request.results_count, request.fetch_content) == (5, False)


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        ({"max_results": 1}, "results_count", 1),
        ({"topic": "news"}, "category", "news"),
        ({"topic": "finance"}, "category", "general"),
        ({"time_range": "w"}, "time_range", TimeRange.WEEK),
        ({"days": 3}, "time_range", TimeRange.WEEK),
        ({"include_domains": ["a.example"]}, "allowed_domains", ("a.example",)),
        ({"exclude_domains": ["b.example"]}, "blocked_domains", ("b.example",)),
        ({"country": "germany"}, "language", "en-DE"),
        ({"country": "uk"}, "language", "en-GB"),
        ({"country": "Austria", "language": "de"}, "language", "de-AT"),
        ({"language": "de"}, "language", "de"),
        ({"safe_search": True}, "safe_search", SafeSearch.STRICT),
        ({"include_raw_content": "markdown"}, "fetch_content", True),
        ({"search_depth": "advanced"}, "fetch_content", True),
        ({"search_depth": "ultra-fast"}, "fetch_content", False),
        ({"include_answer": False, "include_images": None}, "fetch_content", False),
    ],
)
async def test_an_option_is_an_argument_of_ours(rest, service, body, field, value):
    assert (await search(rest, **body)).status_code == 200
    assert getattr(service.asked[0], field) == value


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"include_answer": True}, "include_answer"),
        ({"include_answer": "advanced"}, "include_answer"),
        ({"include_images": True}, "include_images"),
        ({"include_raw_content": "text"}, "include_raw_content"),
        ({"include_domains_mode": "prefer"}, "include_domains_mode"),
        ({"exact_match": True}, "exact_match"),
        ({"start_date": "2026-01-01"}, "start_date"),
        ({"max_results": 0}, "max_results"),
        ({"max_results": 21}, "max_results"),
        ({"max_results": "many"}, "max_results"),
        ({"time_range": "decade"}, "time_range"),
        ({"time_range": "day", "days": 3}, "days"),
        ({"country": "atlantis"}, "country"),
        ({"language": "xxxxx"}, "language"),
        ({"include_domains": ["no domain"]}, "include_domains"),
        ({"query": " "}, "query"),
        ({"query": ["bees"]}, "query"),
        ({"api_key": TOKEN}, "api_key"),
    ],
)
async def test_an_option_that_is_not_offered_is_refused_by_its_name(rest, service, body, field):
    answer = await search(rest, **body)
    assert answer.status_code == 400
    said = answer.json()["detail"]["error"]
    assert said.startswith(f"{field}: ")
    assert TOKEN not in said
    assert not service.asked


async def test_a_deep_search_shows_the_parts_that_fit(rest, service):
    first, second = (await search(rest, search_depth="advanced")).json()["results"]
    assert (first["content"], second["content"]) == ("They fly.", "Cut \ufffd")
    assert "raw_content" not in first
    first, _ = (await search(rest, include_raw_content=True)).json()["results"]
    assert (first["content"], first["raw_content"]) == ("All about bees.", "# Bees\n\nThey fly.")


async def test_pages_are_read_and_those_that_fail_are_told(rest, service):
    urls = [URL, "https://a.example/missing", "ftp//no address"]
    body = (await rest.post("/tavily/extract", json={"urls": urls, "include_images": True})).json()
    (page,) = body["results"]
    assert page == {
        "url": URL,
        "title": "Bees",
        "raw_content": "# Bees\n\nThey fly. \U0001f41d",
        "images": ["https://a.example/bee.png"],
    }
    missing, wrong = body["failed_results"]
    assert missing == {"url": urls[1], "error": "The page does not exist"}
    assert wrong["url"] == urls[2]
    assert "U+0020" in wrong["error"]


async def test_with_a_question_a_page_is_the_parts_that_fit_in_its_order(rest, service):
    body = {"urls": URL, "query": "do they fly?", "timeout": 1, "extract_depth": "advanced"}
    (page,) = (await rest.post("/tavily/extract", json=body)).json()["results"]
    assert page["raw_content"] == "They fly. [...] They fly far."
    (request,) = service.asked
    assert (request.prompt, request.timeout) == ("do they fly?", 5)
    (page,) = (await rest.post("/tavily/extract", json={**body, "chunks_per_source": 1})).json()[
        "results"
    ]
    assert page["raw_content"] == "They fly far."


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"urls": []}, "urls"),
        ({"urls": [URL] * 21}, "urls"),
        ({"urls": [1]}, "urls"),
        ({}, "urls"),
        ({"urls": URL, "format": "text"}, "format"),
        ({"urls": URL, "timeout": 61}, "timeout"),
    ],
)
async def test_wrong_pages_are_refused(rest, service, body, field):
    answer = await rest.post("/tavily/extract", json=body)
    assert answer.status_code == 400
    assert field in answer.json()["detail"]["error"]
    assert not service.asked


async def test_a_search_that_fails_says_so(rest, service):
    service.failure = NoInstancesError("Nobody", reason=UnavailableReason.OWN_FAILED, attempts=())
    answer = await search(rest)
    assert (answer.status_code, answer.json()) == (503, {"detail": {"error": "Nobody"}})


@pytest.mark.slow
async def test_its_own_library_searches_and_reads_here(open_rest, locked, service):
    def used(base: str) -> None:
        with TavilyClient(TOKEN, api_base_url=f"{base}/tavily") as client:
            found = client.search("bees", topic="news", max_results=1, include_usage=True)
            pages = client.extract([URL, "https://a.example/missing"], format="markdown")
            with pytest.raises(BadRequestError, match="include_answer"):
                client.search("bees", include_answer=True)
        assert [each["url"] for each in found["results"]] == [URL]
        assert [each["raw_content"][:6] for each in pages["results"]] == ["# Bees"]
        assert [each["error"] for each in pages["failed_results"]] == ["The page does not exist"]
        with TavilyClient("another", api_base_url=f"{base}/tavily") as client:
            with pytest.raises(InvalidAPIKeyError):
                client.search("bees")

    async with open_rest(config=locked) as rest:
        base = str(rest.base_url).rstrip("/")
        await asyncio.to_thread(used, base)
        client = AsyncTavilyClient(TOKEN, api_base_url=f"{base}/tavily")
        found = await client.search("bees", search_depth="advanced")
        await client.close()
    assert found["results"][0]["content"] == "They fly."
    assert service.asked[0].category == "news"


async def test_librechat_searches_and_reads_here(rest, service):
    body = {
        "search_depth": "basic", "topic": "general", "max_results": 8, "safe_search": True,
        "time_range": "day", "country": "united states", "include_favicon": True,
    }  # fmt: skip
    answer = await search(rest, **body)
    assert answer.json()["results"][0]["content"] == "All about bees."
    body = {"urls": [URL], "extract_depth": "basic", "include_images": False}
    (page,) = (await rest.post("/tavily/extract", json=body)).json()["results"]
    assert page["url"] == URL
    assert page["raw_content"]

"""Firecrawl's routes: its own library in both versions, the calls of other programs, and what is refused."""

import asyncio
from typing import Any

import pytest
from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v1 import V1FirecrawlApp
from firecrawl.v2.utils.error_handler import BadRequestError, DNSResolutionError, UnauthorizedError

from searx_mcp.models.hits import Image
from searx_mcp.models.request import TimeRange
from searx_mcp.models.response import SearchResult

TOKEN = "0123456789abcdef"
URL = "https://a.example/bees"
MARKDOWN = "# Bees\n\nThey fly. \U0001f41d"
PREFIXES = ("/firecrawl/v1", "/firecrawl/v2", "/v2")


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_page_has_what_is_known_and_nothing_else(rest, service, prefix):
    body = (await rest.post(f"{prefix}/scrape", json={"url": URL})).json()
    assert body == {
        "success": True,
        "data": {
            "markdown": MARKDOWN,
            "metadata": {
                "sourceURL": URL,
                "url": URL,
                "statusCode": 200,
                "contentType": "text/html",
                "title": "Bees",
                "description": "All about bees.",
                "language": "en",
                "publishedTime": "2026-05-01",
                "ogSiteName": "A",
                "cacheState": "hit",
                "cachedAt": "2026-11-01T00:00:00+00:00",
            },
        },
    }
    assert [request.url for request in service.asked] == [URL]


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "n8n searches": ("/v2/search", {"sources": [{"type": "web"}], "timeout": 60_000, "limit": 5, "tbs": "",
        "integration": "n8n"}),
    "n8n scrapes": ("/v2/scrape", {"formats": ["markdown"], "onlyMainContent": True, "includeTags": [],
        "excludeTags": [], "headers": {}, "waitFor": 0, "mobile": False, "skipTlsVerification": False,
        "timeout": 30_000, "actions": [], "removeBase64Images": True, "blockAds": True, "proxy": "basic"}),
    "n8n scrapes without options": ("/v2/scrape", {}),
    "Dify scrapes": ("/v2/scrape", {"formats": ["markdown", "links"], "onlyMainContent": True, "waitFor": 0,
        "timeout": 30_000}),
    "LibreChat scrapes": ("/v2/scrape", {"formats": ["markdown", "rawHtml"], "timeout": 7_500}),
    "Dify scrapes without formats": ("/v2/scrape", {"onlyMainContent": True, "waitFor": 0, "timeout": 30_000}),
}  # fmt: skip
"""The bodies that their nodes make of what a form holds before anyone fills it in."""


@pytest.mark.parametrize("program", CALLS)
async def test_what_other_programs_send_by_default_is_served(rest, program):
    path, fields = CALLS[program]
    subject = {"query": "bees"} if path.endswith("search") else {"url": URL}
    answer = await rest.post(f"/firecrawl{path}", json={**subject, **fields})
    assert (answer.status_code, answer.json()["success"]) == (200, True), answer.text
    data = answer.json()["data"]
    assert data["web"][0]["url"] == URL if "web" in data else data["markdown"] == MARKDOWN


@pytest.mark.parametrize(
    ("formats", "field", "value"),
    [
        (["links"], "links", ["https://a.example/wasps"]),
        ([{"type": "images"}], "images", ["https://a.example/bee.png"]),
        (["markdown", "summary"], "summary", "They fly."),
        (["markdown", "rawHtml"], "markdown", MARKDOWN),
        (["markdown", "rawHtml"], "warning", "Not offered here, and left out: rawHtml."),
    ],
)
async def test_a_page_has_the_formats_that_are_wanted(rest, formats, field, value):
    answer = await rest.post("/v2/scrape", json={"url": URL, "formats": formats})
    assert answer.json()["data"][field] == value
    assert "rawHtml" not in answer.json()["data"]


@pytest.mark.parametrize(
    ("max_age", "requests", "state"),
    [(None, 1, "hit"), (200_000, 1, "hit"), (50_000, 2, "miss"), (0, 1, "miss")],
)
async def test_a_kept_page_is_no_older_than_wanted(rest, service, max_age, requests, state):
    answer = await rest.post("/v2/scrape", json={"url": URL, "maxAge": max_age})
    assert len(service.asked) == requests
    assert answer.json()["data"]["metadata"]["cacheState"] == state


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"formats": ["screenshot"]}, "formats"),
        ({"formats": [{"type": "json", "prompt": "?"}]}, "formats"),
        ({"formats": ["rawHtml"]}, "formats"),
        ({"formats": []}, "formats"),
        ({"onlyMainContent": False}, "onlyMainContent"),
        ({"includeTags": ["main"]}, "includeTags"),
        ({"actions": [{"type": "wait"}]}, "actions"),
        ({"headers": {"Cookie": "a"}}, "headers"),
        ({"waitFor": 1_000}, "waitFor"),
        ({"mobile": True}, "mobile"),
        ({"skipTlsVerification": True}, "skipTlsVerification"),
        ({"proxy": "stealth"}, "proxy"),
        ({"parsePDF": False}, "parsePDF"),
        ({"location": {"country": "DE"}}, "location"),
        ({"only_main_content": True}, "only_main_content"),
        ({"url": ""}, "url"),
        ({"url": "a b"}, "url"),
        ({"timeout": 0}, "timeout"),
    ],
)
@pytest.mark.parametrize("prefix", PREFIXES)
async def test_an_option_that_is_not_offered_is_refused_by_its_name(
    rest, service, prefix, body, field
):
    answer = await rest.post(f"{prefix}/scrape", json={"url": URL, **body})
    assert answer.status_code == 400
    assert answer.json()["success"] is False
    assert answer.json()["error"].startswith(f"{field}: ")
    assert not service.asked


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        ({}, "results_count", 5),
        ({}, "fetch_content", False),
        ({"limit": 7}, "results_count", 7),
        ({"tbs": "qdr:w"}, "time_range", TimeRange.WEEK),
        ({"country": "DE"}, "language", "en-DE"),
        ({"sources": ["news"]}, "category", "news"),
        ({"sources": [{"type": "images"}]}, "category", "images"),
        ({"includeDomains": ["a.example"]}, "allowed_domains", ("a.example",)),
        ({"excludeDomains": ["b.example"]}, "blocked_domains", ("b.example",)),
        ({"timeout": 20_000}, "timeout", 20),
        ({"scrapeOptions": {"formats": ["markdown"], "maxAge": 5}}, "fetch_content", True),
        ({"scrapeOptions": {"onlyMainContent": True}}, "fetch_content", False),
        ({"ignoreInvalidURLs": True, "origin": "x", "integration": "n8n"}, "results_count", 5),
    ],
)
async def test_an_option_of_a_search_is_an_argument_of_ours(rest, service, body, field, value):
    answer = await rest.post("/v2/search", json={"query": "bees", **body})
    assert answer.status_code == 200
    assert getattr(service.asked[0], field) == value


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"sources": ["web", "news"]}, "sources"),
        ({"categories": ["github"]}, "categories"),
        ({"highlights": True}, "highlights"),
        ({"location": "Berlin"}, "location"),
        ({"tbs": "sbd:1"}, "tbs"),
        ({"limit": 51}, "limit"),
        ({"includeDomains": ["no domain"]}, "includeDomains"),
        ({"scrapeOptions": {"formats": ["screenshot"]}}, "scrapeOptions.formats"),
        ({"scrapeOptions": {"formats": ["html"]}}, "scrapeOptions.formats"),
        ({"scrapeOptions": {"formats": ["links"]}}, "scrapeOptions.formats"),
        ({"scrapeOptions": {"mobile": True}}, "scrapeOptions.mobile"),
        ({"scrapeOptions": {"nonsense": 1}}, "scrapeOptions.nonsense"),
        ({"scrapeOptions": "markdown"}, "scrapeOptions: must be an object"),
        ({"query": " "}, "query"),
    ],
)
async def test_an_option_of_a_search_that_is_not_offered_is_refused(rest, service, body, field):
    answer = await rest.post("/v2/search", json={"query": "bees", **body})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(field)
    assert not service.asked


async def test_results_stand_below_their_source(rest, service):
    image = Image(url="https://a.example/bee.png")
    row = SearchResult(
        title="Bee", url=URL, description="One.", score=1, published_at="2026-05-01", image=image
    )
    service.found = {"results": (row,)}
    shared = {"title": "Bee", "url": URL, "position": 1}
    for source, own in (
        ("web", {"description": "One."}),
        ("news", {"snippet": "One.", "date": "2026-05-01"}),
        ("images", {"imageUrl": "https://a.example/bee.png"}),
    ):
        answer = await rest.post("/v2/search", json={"query": "bees", "sources": [source]})
        assert answer.json() == {"success": True, "data": {source: [shared | own]}}
    answer = await rest.post("/firecrawl/v1/search", json={"query": "bees", "lang": "de"})
    assert answer.json() == {"success": True, "data": [shared | {"description": "One."}]}


async def test_results_have_their_page_where_it_is_wanted(rest):
    body = {"query": "bees", "scrapeOptions": {"formats": ["markdown", "html"]}}
    answer = (await rest.post("/v2/search", json=body)).json()
    first, second = answer["data"]["web"]
    assert first["markdown"] == "# Bees\n\nThey fly."
    assert "markdown" not in second
    assert answer["warning"] == "Not offered here, and left out: html."


@pytest.mark.slow
async def test_its_own_library_of_version_2_drops_the_prefix_and_works(open_rest, locked, service):
    def used(base: str) -> None:
        client = Firecrawl(api_key=TOKEN, api_url=f"{base}/firecrawl")
        found = client.search("bees", limit=2, scrape_options={"formats": ["markdown"]})
        assert [each.markdown for each in found.web if hasattr(each, "markdown")] == [
            "# Bees\n\nThey fly."
        ]
        page = client.scrape(URL, formats=["markdown", "links"])
        assert (page.markdown, page.links) == (MARKDOWN, ["https://a.example/wasps"])
        assert (page.metadata.title, page.metadata.source_url) == ("Bees", URL)
        with pytest.raises(BadRequestError, match="formats"):
            client.scrape(URL, formats=["screenshot"])
        with pytest.raises(DNSResolutionError):
            client.scrape("https://nowhere.example/")
        with pytest.raises(UnauthorizedError):
            Firecrawl(api_key="another", api_url=base).scrape(URL)
        # As Open WebUI does, which means seconds.
        found = client.search(query="bees", limit=3, ignore_invalid_urls=True, timeout=9)
        assert (found.web[0].url, found.web[0].title) == (URL, "Bees")
        assert found.web[0].description == "All about bees."
        assert service.asked[-1].timeout == 9

    async with open_rest(config=locked) as rest:
        base = str(rest.base_url).rstrip("/")
        await asyncio.to_thread(used, base)
        client = AsyncFirecrawl(api_key=TOKEN, api_url=base)
        found = await client.search("bees", sources=["news"])
    assert [each.url for each in found.news] == [URL, "https://b.example/"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .dict. method is deprecated")
async def test_its_own_library_of_version_1_works_below_the_prefix(open_rest, locked, service):
    def used(base: str) -> tuple[Any, Any]:
        client = V1FirecrawlApp(api_key=TOKEN, api_url=f"{base}/firecrawl")
        return client.search("bees"), client.scrape_url(URL, formats=["markdown"])

    async with open_rest(config=locked) as rest:
        found, page = await asyncio.to_thread(used, str(rest.base_url).rstrip("/"))
    assert found.data[0]["url"] == URL
    assert (page.markdown, page.metadata["sourceURL"]) == (MARKDOWN, URL)
    assert service.asked[0].language == "en-US"

"""The dialects over the real engine, between an instance and a site on loopback."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article
from tests.doubles.serving import serving

pytestmark = pytest.mark.slow

SAID = "Bees dance to tell the others where the nectar is."
ASIDE = "The fair opens at nine, and a jar of honey holds one pound. " * 30
PAGES = {
    "/robots.txt": FakePage(status=404),
    "/bees": FakePage(article("Bees", [ASIDE, ASIDE, SAID, ASIDE], description="Of bees.")),
}


@pytest.fixture
async def site() -> AsyncIterator[FakeWeb]:
    async with FakeWeb(PAGES) as site:
        yield site


@pytest.fixture
async def whole(site: FakeWeb, tmp_path) -> AsyncIterator[httpx2.AsyncClient]:
    """Give a client of a server that finds the page about bees."""
    async with FakeSearxng(links=[site.url("/bees")], formats=("json",)) as instance:
        settings = Settings.model_validate(
            {
                "fetch": {"allow_private": [site.origin]},
                "instances": {"own": [instance.url], "public": "off"},
                "open_sources": {"mode": "off"},
                "storage": {"folder": str(tmp_path)},
            }
        )
        async with (
            serving(build_server(settings)) as url,
            httpx2.AsyncClient(
                base_url=url.removesuffix("/mcp"), trust_env=False, timeout=60
            ) as client,
        ):
            yield client


async def test_a_page_is_found_and_read_in_every_dialect(whole, site):
    url, question = site.url("/bees"), "Why do bees dance?"
    deep = {"query": question, "search_depth": "advanced", "chunks_per_source": 2}
    (found,) = (await whole.post("/tavily/search", json=deep)).json()["results"]
    assert (found["url"], SAID in found["content"]) == (url, True)
    assert len(found["content"]) < 3 * len(ASIDE)
    asked = {"urls": [url], "query": question, "chunks_per_source": 2}
    (page,) = (await whole.post("/tavily/extract", json=asked)).json()["results"]
    assert SAID in page["raw_content"]
    wanted = {"url": url, "formats": ["markdown", "summary"], "timeout": 20_000}
    scraped = (await whole.post("/firecrawl/v2/scrape", json=wanted)).json()["data"]
    assert SAID in scraped["markdown"]
    assert scraped["summary"]
    assert scraped["metadata"]["description"] == "Of bees."
    assert scraped["metadata"]["cacheState"] == "hit"
    (loaded,) = (await whole.post("/external/load", json={"urls": [url]})).json()
    assert loaded["metadata"]["title"] == "Bees"
    text = (await whole.get(f"/r/{url}")).text
    assert text.startswith(f"Title: Bees\n\nURL Source: {url}\n")
    rows = (await whole.get("/search", params={"q": "bees", "format": "csv"})).text
    assert url in rows


async def test_a_private_address_is_refused_in_every_dialect(whole):
    url = "http://192.168.0.1/"
    answers = [
        await whole.post("/firecrawl/v1/scrape", json={"url": url}),
        await whole.post("/external/load", json={"urls": [url]}),
        await whole.get(f"/r/{url}"),
    ]
    assert [answer.status_code for answer in answers] == [422, 422, 422]
    body = (await whole.post("/tavily/extract", json={"urls": url})).json()
    assert (body["results"], body["failed_results"][0]["url"]) == ([], url)

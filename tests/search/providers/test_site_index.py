"""Searches of one site while no instance can serve: answered by the site's own index, and labelled so."""

import json
import ssl

import pytest
import trustme

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.response import Coverage, SearchResponse
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.internet import FakeInternet

HOST = "docs.example.org"
PAGE = FakePage(
    '<!doctype html><title>Harbour</title><script src="/_static/doctools.js"></script><link rel="index" href="genindex.html">'
    "<main><h1>Harbour</h1><p>The works keep the harbour open through the winter.</p></main>"
)
INDEX = {"docnames": ["index", "gates/skerry"], "titles": ["Harbour", "Barrage of Skerry"]}
SITE = {"/": PAGE, "/searchindex.js": FakePage(f"Search.setIndex({json.dumps(INDEX)})")}


@pytest.fixture
async def search(settings_for):
    """Search while the only instance fails; gives the answer, and what the site was asked."""

    async def run(query, pages=SITE, **arguments):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        trustme.CA().issue_cert(HOST).configure_cert(context)
        async with FakeWeb() as instance, FakeWeb(pages, ssl_context=context) as site:
            tables = {"web_fetch": {"verify_ssl": False}}
            settings = settings_for(instance, instances={"own": [instance.base]}, **tables)
            internet = FakeInternet()
            internet.host(HOST, site, port=443)
            async with internet, SearxClient(settings, dialling=internet.dialling) as client:
                found: SearchResponse | NoInstancesError
                try:
                    found = await client.search(query, fetch_content=False, timeout=30, **arguments)
                except NoInstancesError as error:
                    found = error
            return found, [request.path for request in site.requests]

    return run


async def test_a_search_of_one_site_is_answered_by_its_own_index(search):
    answer, asked = await search("skerry barrage", allowed_domains=[HOST])
    assert [result.url for result in answer.results] == [f"https://{HOST}/gates/skerry.html"]
    assert (answer.results[0].title, answer.coverage) == ("Barrage of Skerry", Coverage.SITE)
    assert any("the index that the site publishes" in note for note in answer.notes)
    assert asked == ["/", "/searchindex.js"]


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        pytest.param("skerry barrage", {}, id="no domain"),
        pytest.param("skerry barrage", {"allowed_domains": [HOST, "b.example"]}, id="two domains"),
        pytest.param("skerry", {"allowed_domains": [HOST], "time_range": "day"}, id="an age"),
    ],
)  # fmt: skip
async def test_other_searches_fail_as_ever_without_asking_a_site(search, query, arguments):
    answer, asked = await search(query, **arguments)
    assert isinstance(answer, NoInstancesError)
    assert asked == []


@pytest.mark.parametrize("pages", [pytest.param({"/": FakePage("<p>Hi", status=500)}, id="failing"),
                                   pytest.param({"/": FakePage("<p>No index here.")}, id="no index"),
                                   pytest.param(SITE, id="nothing relevant")])  # fmt: skip
async def test_a_site_that_has_nothing_leaves_the_error_of_the_search(search, pages):
    answer, _ = await search("quantum chess", pages, allowed_domains=[HOST])
    assert isinstance(answer, NoInstancesError)
    assert answer.attempts

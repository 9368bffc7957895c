"""What else SearXNG's clients ask of an instance: other formats, `/config`, suggestions, faults, the front page, keys."""

import asyncio
import csv
import json
import xml.etree.ElementTree as ET
from io import StringIO

import pytest

from searx_mcp.models.hits import Answer
from searx_mcp.models.instance import (
    EngineReport,
    EngineState,
    InstanceReport,
    InstanceState,
    PoolReport,
    Tier,
)
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchResult
from searx_mcp.settings.server import HttpConfig

TOKEN = "0123456789abcdef"
BEES = {"q": "bees", "format": "json"}
PATHS = ("/search", "/config", "/autocompleter", "/stats/errors")


async def test_a_search_is_a_table_where_it_is_wanted(rest):
    answer = await rest.get("/search", params={"q": "bees", "format": "csv"})
    assert answer.headers["content-type"] == "application/csv; charset=utf-8"
    first, *_ = csv.DictReader(StringIO(answer.text))
    assert first == {
        "title": "Bees",
        "url": "https://a.example/bees",
        "content": "All about bees.",
        "host": "a.example",
        "engine": "",
        "score": "1.0",
        "type": "result",
    }


async def test_a_table_has_what_stands_around_the_results_and_no_formula(rest, service):
    service.found = {
        "results": (SearchResult(title='=HYPERLINK("x")', url="https://a.example/", score=1),),
        "answers": (Answer(text="42"),),
        "suggestions": ("-wasps",),
        "corrections": ("bee",),
    }
    answer = await rest.get("/search", params={"q": "bees", "format": "csv"})
    rows = [(each["type"], each["title"]) for each in csv.DictReader(StringIO(answer.text))]
    assert rows == [
        ("result", '\'=HYPERLINK("x")'),
        ("answer", "42"),
        ("suggestion", "'-wasps"),
        ("correction", "bee"),
    ]


async def test_a_search_is_a_feed_where_it_is_wanted(rest):
    answer = await rest.get("/search", params={"q": "bees", "format": "rss"})
    assert answer.headers["content-type"] == "text/xml; charset=utf-8"
    feed = ET.fromstring(answer.text)  # noqa: S314 - what the server wrote
    first, second = feed.iter("item")
    assert first.findtext("title") == "Bees"
    assert first.findtext("link") == "https://a.example/bees"
    assert first.findtext("pubDate") == "Fri, 01 May 2026 00:00:00 +0000"
    assert second.find("pubDate") is None


@pytest.mark.parametrize("text", ["</title><x>&", "a\"b'c", "\x00\x0b\ufffe\ud800", "]]>"])
async def test_no_text_breaks_a_feed(rest, service, text):
    row = SearchResult(
        title=text, url="https://a.example/?a=1&b=<", description=text, score=1, published_at=text
    )
    service.found = {"results": (row,), "query": text}
    answer = await rest.get("/search", params={"q": "bees", "format": "rss"})
    (item,) = ET.fromstring(answer.text).iter("item")  # noqa: S314 - what the server wrote
    assert [child.tag for child in item] == ["title", "type", "link", "description"]
    assert item.findtext("link") == "https://a.example/?a=1&b=<"


def engine(name: str, **counts: int) -> EngineReport:
    return EngineReport(name=name, state=EngineState.FAILING, reason="timeout", **counts)


@pytest.fixture
def engines(service) -> None:
    """Give the pool two own instances with engines."""
    instances = [
        InstanceReport(
            url=f"https://{name}.example/",
            tier=Tier.OWN,
            grade=None,
            state=InstanceState.HEALTHY,
            score=1,
            engines=engines,
        )
        for name, engines in (
            ("one", (engine("bing", answered=6, failed=1), engine("qwant", answered=3))),
            ("two", (engine("bing", answered=2, refused=1),)),
        )
    ]
    service.report = PoolReport(instances=tuple(instances))


async def test_the_configuration_names_categories_and_engines(rest, engines):
    told = (await rest.get("/config?preferences=abc")).json()
    assert {"general", "news", "social media"} <= {*told["categories"]}
    assert told["engines"] == [
        {"name": "bing", "enabled": True},
        {"name": "qwant", "enabled": True},
    ]
    assert told["autocomplete"] == ""


async def test_the_faults_of_engines_are_told_in_steps_of_five_percent(rest, engines):
    told = (await rest.get("/stats/errors")).json()
    assert told == {"bing": [{"log_message": "timeout", "percentage": 20, "secondary": False}]}


async def test_nothing_is_suggested(rest, service):
    answer = await rest.get("/autocompleter", params={"q": 'be"es'})
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert answer.json() == ['be"es', [], [], [], {}]
    assert not service.asked


async def test_the_front_page_leads_a_search_to_where_it_is_answered(rest, service):
    answer = await rest.get("/?language=en&q=b%26c&format=json")
    assert answer.status_code == 308
    assert answer.headers["location"] == "search?language=en&q=b%26c&format=json"
    found = await rest.get("/", params=BEES, follow_redirects=True)
    assert found.json()["results"][0]["title"] == "Bees"
    for query in ("", "?q=", "?eq=bees"):
        assert (await rest.get(f"/{query}")).status_code == 200
    searches = [request for request in service.asked if isinstance(request, SearchRequest)]
    assert [request.query for request in searches] == ["bees"]


async def test_a_key_opens_what_clients_of_searxng_ask_and_only_if_allowed(open_rest, service):
    query = {**BEES, "key": TOKEN}
    for is_allowed, status in ((False, 401), (True, 200)):
        config = HttpConfig(port=0, token=TOKEN, key_in_query=is_allowed)
        async with open_rest(config=config) as rest:
            for path in PATHS:
                assert (await rest.get(path, params=query)).status_code == status
                assert (await rest.get(path, headers={"X-API-Key": TOKEN})).status_code != 401
                basic = await rest.get(path, auth=("anybody", TOKEN))
                assert basic.status_code != 401
            redirected = await rest.get("/", params=query, follow_redirects=True)
            assert redirected.status_code == status
            assert (await rest.get("/search", params={**query, "key": "wrong"})).status_code == 401
            for path in ("/v1/instances", "/metrics"):
                refused = await rest.get(path, params=query, headers={"X-API-Key": TOKEN})
                assert refused.status_code == 401


async def test_a_key_is_not_logged(open_rest, caplog):
    caplog.set_level("DEBUG")
    config = HttpConfig(port=0, token=TOKEN, key_in_query=True)
    async with open_rest(config=config) as rest:
        assert (await rest.get("/search", params={**BEES, "key": TOKEN})).status_code == 200
    said = [record.getMessage() for record in caplog.records if record.name.startswith("searx_mcp")]
    assert any("bees" in line for line in said)
    assert not [line for line in said if TOKEN in line]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.langchain-community. is being sunset:DeprecationWarning")
async def test_the_wrapper_of_langchain_searches_here(open_rest, locked, service):
    from langchain_community.utilities import SearxSearchWrapper  # noqa: PLC0415 - warns

    async with open_rest(config=locked) as rest:
        client = SearxSearchWrapper(
            searx_host=str(rest.base_url).rstrip("/"),
            headers={"Authorization": f"Bearer {TOKEN}"},
            k=1,
        )
        text = await asyncio.to_thread(client.run, "bees")
        found = await asyncio.to_thread(
            client.results, "bees", 1, engines=["bing"], categories=["news"], time_range="week"
        )
        later = await client.aresults("bees", 2)
    assert text == "All about bees."
    assert found == [
        {
            "snippet": "All about bees.",
            "title": "Bees",
            "link": "https://a.example/bees",
            "engines": [],
            "category": "",
        }
    ]
    assert [row["link"] for row in later] == ["https://a.example/bees", "https://b.example/"]
    assert (service.asked[1].engines, service.asked[1].category) == (("bing",), "news")


@pytest.mark.parametrize(
    ("params", "headers"),
    [
        pytest.param(
            {
                **BEES, "pageno": 1, "safesearch": "1", "language": "en-US", "time_range": "",
                "categories": "", "theme": "simple", "image_proxy": 0,
            },
            {"Accept": "text/html", "Accept-Language": "en-US,en;q=0.5"},
            id="Open WebUI",
        ),
        pytest.param(
            {
                **BEES, "pageno": 1, "categories": "general", "language": "all", "safesearch": 1,
                "engines": "google,bing,duckduckgo",
            },
            {"X-API-Key": TOKEN},
            id="LibreChat",
        ),
        pytest.param(
            {"format": "json", "q": "bees", "engines": "", "language": "en"}, {}, id="Vane"
        ),
        pytest.param(
            {**BEES, "numResults": 10, "pageNumber": 1, "language": "en", "safesearch": 0},
            {"Accept": "application/json"},
            id="n8n",
        ),
    ],
)  # fmt: skip
async def test_programs_search_here_as_at_searxng(rest, service, params, headers):
    answer = await rest.get("/search", params=params, headers=headers)
    assert answer.status_code == 200
    assert json.loads(answer.text)["results"][0]["content"] == "All about bees."
    assert len(service.asked) == 1


async def test_a_program_that_asks_the_front_page_searches_here(rest):
    """As Dify does."""
    answer = await rest.get("/", params=BEES, follow_redirects=True)
    assert answer.json()["results"][0]["content"] == "All about bees."

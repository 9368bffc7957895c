"""Old answers, from the instance to whoever reads them."""

import pytest
from mcp import Client

from searx_mcp import SearxClient
from searx_mcp.cli.calls import print_response
from searx_mcp.server.app import build_server
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

RESULTS = [FakeResult(title="Bees", url="https://bees.example/", description="They dance.")]


@pytest.fixture
async def own():
    async with FakeSearxng(results=RESULTS, formats=("html", "json")) as fake:
        yield fake


@pytest.fixture
async def clock():
    return FakeClock()


@pytest.fixture
async def client(own, clock, settings_for):
    async with SearxClient(settings_for(own, own=[own]), clock=clock) as opened:
        yield opened


async def test_a_stale_answer_is_served_while_a_newer_one_is_fetched(own, clock, client):
    first = await client.search("bees", fetch_content=False)
    once = own.searches
    clock.advance(425)
    stale = await client.search("bees", fetch_content=False)
    clock.advance(250)  # too old now, so the newer one is waited for unless it is there already
    newer = await client.search("bees", fetch_content=False)
    assert (first.cached, first.stale, first.age_seconds) == (False, False, 0)
    assert (stale.cached, stale.stale, stale.age_seconds) == (True, True, 425)
    assert stale.results == first.results
    assert stale.notes[0] == "Answer from 7 minutes ago; a newer one is being fetched."
    assert not newer.stale
    assert newer.age_seconds < 425
    assert own.searches == 2 * once


async def test_the_pages_of_an_old_answer_are_read_as_usual(clock, settings_for):
    async with FakeWeb({"/a": FakePage(article("Bees", ["Bees dance in the hive."] * 9))}) as web:
        async with FakeSearxng(links=web.links, formats=("html", "json")) as own:
            async with SearxClient(settings_for(web, own, own=[own]), clock=clock) as client:
                await client.search("bees", fetch_content=False)
                clock.advance(10_800)
                own.fail(500)
                response = await client.search("bees")
    assert response.stale
    content = response.results[0].content
    assert content is not None
    assert "dance" in content.markdown


async def test_every_channel_says_alone_that_an_answer_is_old(own, clock, client, capsys):
    await client.search("bees", fetch_content=False)
    clock.advance(10_800)
    own.fail(500)
    async with Client(build_server(client.settings, service=client)) as host:
        result = await host.call_tool("web_search", {"query": "bees", "fetch_content": False})
    said = "Answer from 3 hours ago: no instance could serve now"
    (content,) = result.content
    assert content.type == "text"
    assert said in content.text.splitlines()[1]
    data = result.structured_content
    assert data is not None
    assert (data["cached"], data["stale"], data["age_seconds"]) == (True, True, 10_800)
    assert data["notes"][0].startswith(said)
    response = await client.search("bees", fetch_content=False)
    assert response.attempts == ()
    assert response.results[0].title == "Bees"
    print_response(response, pages=False, budget=None)
    assert said in capsys.readouterr().out

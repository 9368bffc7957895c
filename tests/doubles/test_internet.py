"""The fake internet: public names and addresses that lead to servers of the test."""

import asyncio

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import FetchError
from searx_mcp.settings.values import Settings
from searx_mcp.testing.web import FakePage, FakeWeb, article
from tests.doubles.internet import FakeInternet
from tests.doubles.raw import RawServer, response

NAME = "www.example.org"
URL = f"http://{NAME}/"
OFF = {"instances": {"public": "off"}, "fetch": {"host_rate": 6_000, "cache_ttl": 0}}
SETTINGS = Settings.model_validate(OFF)
HOME = FakePage(article("Home", ["A page with some words on it, for whoever comes here."]))


def client_of(internet: FakeInternet, **web_fetch: object) -> SearxClient:
    settings = Settings.model_validate({**OFF, "web_fetch": web_fetch})
    return SearxClient(settings, dialling=internet.dialling)


async def code_of(client: SearxClient, url: str = URL) -> str:
    with pytest.raises(FetchError) as caught:
        await client.fetch(url)
    return caught.value.code


async def test_a_public_name_leads_to_a_server_of_the_test():
    async with FakeWeb({"/": HOME}) as site, FakeInternet({NAME: site}) as internet:
        async with client_of(internet) as client:
            page = await client.fetch(URL)
    assert page.title == "Home"
    assert (set(internet.asked), set(internet.dialled)) == ({NAME}, {("93.184.216.1", 80)})
    assert site.requests[-1].headers["Host"] == NAME


async def test_the_guard_stays_in_place():
    async with FakeWeb({"/": HOME}) as site, FakeInternet() as internet:
        internet.resolve(NAME, ["127.0.0.1"])
        internet.lead("127.0.0.1", site)
        async with client_of(internet) as client:
            assert await code_of(client) == "blocked_address"
            assert await code_of(client, "http://127.0.0.1/") == "blocked_address"
    assert internet.dialled == ()


async def test_what_is_not_registered_does_not_exist():
    async with FakeInternet() as internet, client_of(internet) as client:
        internet.host("empty.example.org")
        assert await code_of(client) == "dns_error"
        assert await code_of(client, "http://empty.example.org/") == "connection_error"
        assert await code_of(client, "http://8.8.8.8/") == "connection_error"


async def test_open_connections_are_counted():
    async with RawServer({"/": response("Some words.")}) as server:
        async with FakeInternet({NAME: server}) as internet:
            async with client_of(internet) as client:
                await client.fetch(URL)
                assert internet.open_sockets == 1
            assert internet.open_sockets == 0


def test_a_loop_that_would_connect_past_it_is_refused():
    class Other(asyncio.BaseEventLoop):
        """Stands in for one of completion ports."""

    async def enter() -> None:
        async with FakeInternet():
            pass

    coroutine = enter()
    other = Other()
    asyncio._set_running_loop(other)
    try:
        with pytest.raises(RuntimeError, match="SelectorEventLoop"):
            coroutine.send(None)
    finally:
        asyncio._set_running_loop(None)
        other.close()

"""The fake internet: public names and addresses that lead to servers of the test."""

import asyncio
import socket

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
    assert set(internet.asked) == {NAME}
    assert set(internet.dialled) == {("93.184.216.1", 80)}
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


async def test_each_port_of_a_name_leads_where_it_is_told_to():
    async with FakeWeb({"/": HOME}) as one, FakeWeb() as other, FakeInternet() as internet:
        assert internet.host(NAME, one) == internet.host(NAME, other, port=8080)
        async with client_of(internet) as client:
            assert (await client.fetch(URL)).title == "Home"
            assert await code_of(client, f"http://{NAME}:8080/") == "not_found"


async def test_an_ipv6_address_leads_to_a_server_even_on_a_machine_without():
    async with FakeWeb({"/": HOME}) as site, FakeInternet() as internet:
        internet.resolve(NAME, ["2606:4700::6810:84e5"])
        internet.lead("2606:4700::6810:84e5", site)
        async with client_of(internet) as client:
            assert (await client.fetch(URL)).title == "Home"


async def test_answers_follow_one_another_and_the_last_one_stays():
    async with FakeInternet() as internet:
        resolver = internet.dialling.resolver
        assert resolver is not None
        internet.resolve(NAME, ["8.8.8.8"], OSError("broken"), ["9.9.9.9", "::1"])
        assert [each["host"] for each in await resolver.resolve(NAME, 80)] == ["8.8.8.8"]
        with pytest.raises(OSError, match="broken"):
            await resolver.resolve(NAME, 80)
        for _ in range(2):
            answers = await resolver.resolve(f"{NAME.upper()}.", 443)
            assert [each["host"] for each in answers] == ["9.9.9.9", "::1"]
            assert [each["family"] for each in answers] == [socket.AF_INET, socket.AF_INET6]
            assert answers[0]["port"] == 443
        internet.resolve(NAME)
        with pytest.raises(socket.gaierror):
            await resolver.resolve(NAME, 80)


async def test_a_name_server_can_keep_silent():
    async with FakeInternet() as internet:
        internet.resolve(NAME, None)
        async with client_of(internet, default_timeout=1) as client:
            assert await code_of(client) == "timeout"


async def test_a_cut_address_refuses_connections():
    async with FakeWeb({"/": HOME}) as site, FakeInternet() as internet:
        address = internet.host(NAME, site)
        internet.cut(address)
        async with client_of(internet) as client:
            assert await code_of(client) == "connection_error"


async def test_a_swallowed_connection_is_neither_made_nor_refused():
    async with FakeInternet() as internet:
        await internet.swallow(internet.host(NAME))
        assert internet.dialling.resolver is not None
        loop = asyncio.get_running_loop()
        target = (socket.AF_INET, socket.SOCK_STREAM, 0, "", (internet.host(NAME), 80))
        with internet.dialling.dial(target) as opened:
            opened.settimeout(0)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await loop.sock_connect(opened, (internet.host(NAME), 80))


async def test_open_connections_are_counted():
    async with RawServer({"/": response("Some words.")}) as server:
        async with FakeInternet({NAME: server}) as internet:
            async with client_of(internet) as client:
                await client.fetch(URL)
                assert internet.open_sockets == 1
            assert internet.open_sockets == 0


async def test_there_is_room_for_254_hosts():
    async with FakeInternet() as internet:
        addresses = {internet.host(f"h{number}.example.org") for number in range(254)}
        assert len(addresses) == 254
        with pytest.raises(ValueError, match="254"):
            internet.host("one-more.example.org")


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

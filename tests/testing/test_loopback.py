import asyncio
import contextlib
import socket

import aiohttp
import pytest

from searx_mcp.testing.loopback import HOST
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, drip, huge


async def settled() -> set[asyncio.Task[object]]:
    """All tasks but those that end by themselves in the next round of the loop."""
    await asyncio.sleep(0)
    return set(asyncio.all_tasks())


async def test_closing_ends_hung_requests_and_leaves_no_task(http):
    async def call(url: str) -> None:
        with contextlib.suppress(aiohttp.ClientConnectionError):
            async with http.get(url):
                pytest.fail("a hung request was answered")

    before = await settled()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group, FakeSearxng(hang=True) as instance:
        for _ in range(5):
            group.create_task(call(f"{instance.url}search?q=x"))
        await instance.wait_for_requests(5)
    assert await settled() == before


async def test_closing_ends_idle_and_silent_connections_and_leaves_no_task(http):
    before = await settled()
    async with asyncio.timeout(5), FakeSearxng() as instance:
        async with http.get(instance.url) as response:
            await response.read()
        _, silent = await asyncio.open_connection("127.0.0.1", instance.port)
    silent.close()
    assert await settled() == before


async def test_closing_does_not_wait_for_a_reader_that_stopped_reading(http):
    before = await settled()
    async with asyncio.timeout(5):
        async with FakeWeb({"/": huge(1 << 30)}) as web:
            response = await http.get(web.url("/"))
            await response.content.read(1)
        response.close()
    assert await settled() == before


async def test_closing_in_the_middle_of_a_page_is_no_error(http, caplog):
    page = drip("x" * 1_000_000, interval=1e-6)
    async with FakeWeb({"/": page}) as web:
        response = await http.get(web.url("/"))
        await response.content.read(1)
    response.close()
    assert caplog.records == []


async def test_a_caller_that_gives_up_ends_its_handler(http):
    async with (
        asyncio.timeout(5),
        FakeWeb({"/": FakePage(silent=True)}) as web,
        asyncio.TaskGroup() as group,
    ):
        before = await settled()
        caller = group.create_task(http.get(web.url("/")))
        await web.wait_for_requests(1)
        handlers = await settled() - before - {caller}
        assert handlers
        caller.cancel()
        await asyncio.wait(handlers)


async def test_a_closed_server_refuses_connections_and_closes_once(http):
    async with FakeSearxng() as instance:
        pass
    await instance.aclose()
    with pytest.raises(aiohttp.ClientConnectionError):
        await http.get(instance.url)


async def test_the_port_of_a_closed_server_is_given_to_nobody_else_while_the_server_is_known():
    async with FakeSearxng() as instance:
        pass
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((HOST, instance.port))


async def test_two_servers_share_nothing(http):
    async with FakeWeb() as one, FakeWeb() as other:
        async with http.get(one.url("/")):
            pass
        assert one.port != other.port
        assert (len(one.requests), len(other.requests)) == (1, 0)


async def test_a_server_is_opened_once_and_has_no_port_before():
    web = FakeWeb()
    with pytest.raises(RuntimeError, match="no port before"):
        web.url("/")
    async with web:
        with pytest.raises(RuntimeError, match="open already"):
            await web.__aenter__()


def test_a_server_may_be_made_in_one_loop_and_used_in_another():
    web = FakeWeb()

    async def visit() -> int:
        async with web, aiohttp.ClientSession() as session, session.get(web.url("/")) as response:
            await web.wait_for_requests(1)
            return response.status

    assert asyncio.run(visit()) == 404
    assert asyncio.run(visit()) == 404

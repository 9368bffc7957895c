"""Calls over HTTP that end before their answer: the server stops, or the client has gone."""

import asyncio
import logging
import socket
from contextlib import AsyncExitStack

import httpx2
import pytest
from mcp import MCPError
from typing_extensions import override

from searx_mcp.server.app import build_server
from searx_mcp.server.http import ServerLimits
from searx_mcp.server.web.guard import Guard
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService
from tests.doubles.serving import DEADLINE, HEADERS, HELLO, READY, connected, serving

pytestmark = pytest.mark.slow

MODES = ("auto", "legacy")
AT_ONCE = ServerLimits(stop=0.05)
ARGUMENTS = {"name": "web_search", "arguments": {"query": "bees"}}


class Held(PartOfService):
    """Searches until it is let go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.released = asyncio.Event()
        self.cancelled = asyncio.Event()

    @override
    async def search(self, request, /, *, progress=None):
        if progress is not None:
            progress("asking")
        self.asked.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError("let go")


@pytest.fixture
def held():
    """Give a service whose searches do not end by themselves."""
    return Held()


@pytest.mark.parametrize("mode", MODES)
async def test_a_running_call_may_end_while_the_server_stops(held, mode, caplog):
    async with asyncio.timeout(DEADLINE), AsyncExitStack() as server:
        url = await server.enter_async_context(serving(build_server(Settings(), service=held)))
        async with connected(url, mode=mode) as client, asyncio.TaskGroup() as group:
            call = group.create_task(client.call_tool("web_search", {"query": "bees"}))
            await held.asked.wait()
            stop = group.create_task(server.aclose())
            while (await health(url)) is not None:  # until it listens no more
                pass
            held.released.set()
            await stop
    assert call.result().is_error
    assert not held.cancelled.is_set()
    assert [row for row in caplog.records if row.name.startswith("uvicorn")] == []


async def health(url: str) -> int | None:
    try:
        async with httpx2.AsyncClient(trust_env=False) as http:
            return (await http.get(url.replace("/mcp", "/healthz"))).status_code
    except httpx2.TransportError:
        return None


async def test_a_search_by_get_is_a_running_call_too(held):
    async with asyncio.timeout(DEADLINE), AsyncExitStack() as server:
        url = await server.enter_async_context(serving(build_server(Settings(), service=held)))
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http,
            asyncio.TaskGroup() as group,
        ):
            search = url.replace("/mcp", "/search?q=bees&format=json")
            call = group.create_task(http.get(search))
            await held.asked.wait()
            stop = group.create_task(server.aclose())
            while (await health(url)) is not None:
                pass
            held.released.set()
            await stop
    assert (call.result().status_code, call.result().headers["connection"]) == (500, "close")
    assert not held.cancelled.is_set()


async def test_requests_on_their_way_while_the_server_stops_are_answered(held, monkeypatch):
    """One over a connection that waits for a request, one over a connection that nobody has taken yet."""
    request = b"GET /v1/capabilities HTTP/1.1\r\nHost: localhost\r\n\r\n"
    late = socket.socket()
    stop = Guard.stop

    def connect_and_stop(guard: Guard) -> None:
        late.connect(place)
        late.send(request)
        stop(guard)

    monkeypatch.setattr(Guard, "stop", connect_and_stop)
    async with asyncio.timeout(DEADLINE), AsyncExitStack() as server:
        serves = serving(build_server(Settings(), service=held), limits=ServerLimits(last=DEADLINE))
        url = await server.enter_async_context(serves)
        host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
        place = (host, int(port))
        reader, writer = await asyncio.open_connection(*place)
        writer.write(request)
        assert b" 200 " in await reader.readline()
        async with asyncio.TaskGroup() as group:
            group.create_task(server.aclose())
            while (await health(url)) is not None:
                pass
            writer.write(request)
            answers = await reader.read()
            late_reader, late_writer = await asyncio.open_connection(sock=late)
            answer = await late_reader.read()
            for each in (writer, late_writer):
                each.close()
                await each.wait_closed()
    assert answers.count(b"HTTP/1.1 200 ") == 1
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_a_server_that_drains_tells_monitors_and_serves_whoever_still_comes(held, pass_by):
    """A proxy keeps connections, and learns of the stop by asking; each answer tells it to use the next one no more."""
    async with asyncio.timeout(DEADLINE), AsyncExitStack() as server:
        config = HttpConfig(port=0, drain=DEADLINE / 2)
        serves = serving(build_server(Settings(), service=held), config)
        url = await server.enter_async_context(serves)
        base = url.removesuffix("/mcp")
        async with httpx2.AsyncClient(trust_env=False, base_url=base, timeout=DEADLINE) as kept:
            before = await kept.get("/v1/capabilities")
            async with asyncio.TaskGroup() as group:
                stop = group.create_task(server.aclose())
                while "stopping" not in await ready(base):
                    pass
                answers = [await kept.get("/v1/capabilities") for _ in range(2)]
                assert not stop.done()
                pass_by(DEADLINE / 2)
        assert await health(url) is None
    assert before.headers.get("connection") != "close"
    assert [(each.status_code, each.headers["connection"]) for each in answers] == [
        (200, "close")
    ] * 2


async def ready(base: str) -> str:
    async with httpx2.AsyncClient(trust_env=False) as http:
        return (await http.get(f"{base}/readyz")).text


async def test_a_connection_without_a_request_does_not_keep_the_server(held):
    async with asyncio.timeout(DEADLINE), AsyncExitStack() as server:
        limits = ServerLimits(last=0.05, head=DEADLINE, idle=DEADLINE, stop=DEADLINE)
        serves = serving(build_server(Settings(), service=held), limits=limits)
        url = await server.enter_async_context(serves)
        host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        assert await health(url) == 200
        await server.aclose()
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("told", [True, False], ids=["with progress", "without progress"])
@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_does_not_end_is_cancelled_and_its_client_told(held, mode, told, caplog):
    caplog.set_level(logging.WARNING)
    heard = asyncio.Event()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        del progress, total, message
        heard.set()

    async with asyncio.timeout(DEADLINE), AsyncExitStack() as server:
        serves = serving(build_server(Settings(), service=held), limits=AT_ONCE)
        url = await server.enter_async_context(serves)
        async with connected(url, mode=mode) as client, asyncio.TaskGroup() as group:
            progress = listen if told else None
            work = client.call_tool("web_search", {"query": "bees"}, progress_callback=progress)
            call = group.create_task(refused(work))
            await (heard if told else held.asked).wait()
            await server.aclose()
            assert "try again" in await call
            await held.cancelled.wait()
    assert [
        row.name for row in caplog.records if row.name.startswith(("uvicorn", "mcp.server"))
    ] == []


async def refused(work) -> str:
    with pytest.raises(MCPError) as error:
        await work
    return str(error.value)


async def begin(http: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """Shake hands; gives the headers of the session."""
    answer = await http.post(url, json=HELLO)
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
    assert (await http.post(url, json=READY, headers=session)).status_code == 202
    return session


async def test_a_session_that_ends_takes_its_calls_with_it_and_no_others(held, caplog):
    async with (
        asyncio.timeout(DEADLINE),
        serving(build_server(Settings(), service=held)) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        session, other = await begin(http, url), await begin(http, url)
        async with asyncio.TaskGroup() as group:
            work = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ARGUMENTS}
            kept = group.create_task(http.post(url, json=work, headers=other))
            await held.asked.wait()
            held.asked.clear()
            call = group.create_task(http.post(url, json=work, headers=session))
            stream = group.create_task(http.get(url, headers=session))
            await held.asked.wait()
            assert (await http.delete(url, headers=session)).status_code == 200
            await held.cancelled.wait()
            assert caplog.records == []
            held.released.set()
        assert '"id": 2' in call.result().text
        assert "The session has ended" in call.result().text
        assert "The session has ended" not in kept.result().text
        assert stream.result().status_code == 200
        assert (await http.post(url, json=work, headers=session)).status_code == 404


async def test_after_a_restart_a_session_goes_on_until_its_client_ends_it(held):
    async with (
        asyncio.timeout(DEADLINE),
        AsyncExitStack() as first,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        url = await first.enter_async_context(serving(build_server(Settings(), service=held)))
        session = await begin(http, url)
        await first.aclose()
        again = HttpConfig(port=int(url.split(":")[2].split("/")[0]))
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        async with serving(build_server(Settings(), service=held), again):
            listed = await http.post(url, json=listing, headers=session)
            assert listed.status_code == 200
            assert listed.headers["mcp-session-id"] == session["Mcp-Session-Id"]
            assert (await http.delete(url, headers=session)).status_code == 200
            # 404 is what the specification has a client begin anew for.
            assert (await http.post(url, json=listing, headers=session)).status_code == 404
            session = await begin(http, url)
            assert (await http.post(url, json=listing, headers=session)).status_code == 200

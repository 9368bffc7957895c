"""What one client may take beside others; 127.0.0.1 and 127.0.0.2 are two of them."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError

from searx_mcp.server.app import Server, build_server
from searx_mcp.server.http import ServerLimits
from searx_mcp.server.web.shares import Busy, Clients, FairQueue
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.serving import DEADLINE, HELLO, serving, sessions_of

TOKEN = "a-token-of-a-test"
US, NEIGHBOUR = "127.0.0.1", "127.0.0.2"
ALIVE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
OPENAPI = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="has one loopback address")
_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.mark.parametrize(
    ("proxies", "address", "client"),
    [
        ((), "127.0.0.1", "127.0.0.1"),
        ((), "2001:db8:1:2::3", "2001:db8:1:2::/64"),
        ((), "::ffff:192.0.2.1", "192.0.2.1"),
        (("127.0.0.1",), "127.0.0.1", ""),
        (("127.0.0.1",), "127.0.0.2", "127.0.0.2"),
        (("10.0.0.0/8", "::1"), "10.1.2.3", ""),
        (("10.0.0.0/8", "::1"), "::1", ""),
        (("10.0.0.0/8",), "::ffff:10.1.2.3", ""),
    ],
)
def test_clients_are_told_apart_by_address_unless_it_is_a_proxy(proxies, address, client):
    assert Clients(proxies).find((address, 1)) == client


def test_nobody_can_tell_who_has_no_address():
    assert Clients().find(None) == ""


@pytest.mark.parametrize("text", ["", "a proxy", "10.0.0.0/40", "proxy.example.org"])
def test_a_proxy_is_named_by_address_or_network(text):
    with pytest.raises(ValidationError, match="neither an address nor a network"):
        HttpConfig(proxies=(text,))


async def test_a_client_that_is_alone_waits_for_nobody(pass_by):
    queue = FairQueue(max_requests=40)

    async def begin(count: int) -> None:
        async with asyncio.timeout(0), AsyncExitStack() as stack:  # whoever waits is late
            for _ in range(count):
                await stack.enter_async_context(queue.turn("we"))

    await begin(10)
    async with queue.turn("neighbour"):
        pass
    with pytest.raises(TimeoutError):
        await begin(2)
    pass_by(10)
    await begin(10)


@pytest.mark.parametrize("other", ["neighbour", ""])
async def test_of_two_clients_each_has_a_turn_however_many_requests_one_has(other):
    queue, order = FairQueue(max_requests=80), []

    async def ask(client: str) -> None:
        async with queue.turn(client):
            order.append(client)
            await asyncio.sleep(0)

    async with asyncio.timeout(DEADLINE), queue.turn(other), asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(ask("flood"))
        group.create_task(ask("we"))
    assert order.index("we") < 2
    assert order.count("flood") == 20


async def test_a_request_beyond_a_quarter_is_refused_and_an_end_makes_room():
    queue = FairQueue(max_requests=8)
    async with asyncio.timeout(DEADLINE), queue.turn("we"):
        async with queue.turn("we"):
            with pytest.raises(Busy):
                async with queue.turn("we"):
                    pass
            async with queue.turn("neighbour"):
                pass
        async with queue.turn("we"):
            pass


async def test_whoever_gives_up_waiting_leaves_the_turn_to_the_next():
    queue = FairQueue(max_requests=40)

    async def ask() -> None:
        async with queue.turn("we"):
            pass

    async with asyncio.timeout(DEADLINE), queue.turn("neighbour"), queue.turn("we"):
        given_up, next_one = asyncio.create_task(ask()), asyncio.create_task(ask())  # noqa: TID251 - one is cancelled
        await asyncio.sleep(0)
        given_up.cancel()
        await next_one
    with suppress(asyncio.CancelledError):
        await given_up
    assert given_up.cancelled()


@asynccontextmanager
async def served(
    server: Server | None = None, *, token: str = "", proxies: tuple[str, ...] = (), **limits: int
) -> AsyncIterator[str]:
    config = HttpConfig(port=0, token=token, proxies=proxies)
    served = server or build_server(Settings())
    async with (
        asyncio.timeout(DEADLINE),
        serving(served, config, limits=ServerLimits(**limits)) as url,
    ):
        yield url


async def dialled(stack: AsyncExitStack, url: str, address: str) -> _Streams:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port, local_addr=(address, 0)
    )

    async def hang_up() -> None:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()

    stack.push_async_callback(hang_up)
    return reader, writer


async def asked(streams: _Streams, request: bytes = ALIVE) -> bytes:
    """The first line of the answer; nothing if there is none."""
    reader, writer = streams
    try:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length or b"0"))
    except (OSError, EOFError):
        return b""
    return head.partition(b"\r\n")[0]


@on_linux
@pytest.mark.slow
async def test_who_opens_too_many_connections_takes_none_from_a_neighbour():
    async with served(connections=16) as url, AsyncExitStack() as stack:
        held = [await dialled(stack, url, NEIGHBOUR) for _ in range(4)]
        assert [await asked(each) for each in held] == [b"http/1.1 200 ok"] * 4
        assert b" 503 " in await asked(await dialled(stack, url, NEIGHBOUR), b"")
        ours = [await dialled(stack, url, US) for _ in range(4)]
        assert [await asked(each) for each in ours + held] == [b"http/1.1 200 ok"] * 8


@on_linux
@pytest.mark.slow
async def test_connections_of_a_proxy_are_counted_for_no_client():
    async with served(connections=16, proxies=(NEIGHBOUR,)) as url, AsyncExitStack() as stack:
        held = [await dialled(stack, url, NEIGHBOUR) for _ in range(12)]
        assert [await asked(each) for each in held] == [b"http/1.1 200 ok"] * 12


@on_linux
@pytest.mark.slow
async def test_a_stranger_makes_room_and_who_has_shown_a_token_keeps_the_connection():
    wanted = OPENAPI % TOKEN.encode()
    async with served(token=TOKEN, connections=64, strangers=2) as url, AsyncExitStack() as stack:
        known = await dialled(stack, url, NEIGHBOUR)
        assert b" 200 " in await asked(known, wanted)
        strangers = [await dialled(stack, url, NEIGHBOUR) for _ in range(2)]
        assert [await asked(each) for each in strangers] == [b"http/1.1 200 ok"] * 2
        ours = await dialled(stack, url, US)
        assert b" 200 " in await asked(ours, wanted)
        assert [await asked(each) for each in strangers] == [b"", b"http/1.1 200 ok"]
        assert b" 200 " in await asked(known, wanted)


@on_linux
@pytest.mark.slow
async def test_who_opens_many_sessions_ends_none_of_a_neighbour():
    server = build_server(Settings())
    body = json.dumps(HELLO).encode()
    hello = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body)
    ) + body

    async def opened(address: str) -> set[str]:
        before = sessions_of(server)
        async with AsyncExitStack() as stack:
            reader, writer = await dialled(stack, url, address)
            writer.write(hello)
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b"\r\n0\r\n\r\n")
        return sessions_of(server) - before

    async with served(server, sessions=8) as url:
        ours = await opened(US)
        theirs = [await opened(NEIGHBOUR) for _ in range(9)]
        async with AsyncExitStack() as stack:
            alive = await dialled(stack, url, US)
            while len(held := sessions_of(server)) > 3:
                await asked(alive)
        assert held == ours | theirs[-2] | theirs[-1]

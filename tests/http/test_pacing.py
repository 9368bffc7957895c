"""How much of what a host sends is parsed in one turn of the event loop, and that all of it is."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable

import aiohttp
import pytest

from searx_mcp.errors import ErrorCode, TransportError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.pacing import (
    BYTES_A_TURN,
    LINES_A_TURN,
    MAX_INTERIM,
    READ_BUFFER,
    PacedConnector,
)
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList
from tests.doubles.proxy import FakeProxy

LONG = 20.0
HOST = "flood.example.net"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
FINE = OK + b"Content-Length: 4\r\n\r\nfine"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
SIZE = 20_000
BODIES = {
    "chunks of one byte": CHUNKED + b"1\r\na\r\n" * SIZE + b"0\r\n\r\n",
    "chunks with extensions": CHUNKED + b"1;b=c\r\na\r\n" * SIZE + b"0\r\n\r\n",
    "empty lines": OK + b"Content-Length: %d\r\n\r\n" % SIZE + b"\n" * SIZE,
    "empty lines without a length": OK + b"Connection: close\r\n\r\n" + b"\n" * SIZE,
    "one line": OK + b"Content-Length: %d\r\n\r\n" % SIZE + b"a" * SIZE,
}


@pytest.fixture
async def library() -> AsyncIterator[aiohttp.ClientSession]:
    """The library's session with connections of ours."""
    async with aiohttp.ClientSession(
        connector=PacedConnector(ssl=False),
        read_bufsize=READ_BUFFER,
        timeout=aiohttp.ClientTimeout(total=LONG),
    ) as session:
        yield session


async def leave(reader: StreamReader, writer: StreamWriter) -> None:
    """End the connection as soon as all is sent."""


async def flood(writer: StreamWriter, block: bytes) -> None:
    while True:
        writer.write(block)
        await writer.drain()


def flooding(head: bytes, again: bytes):
    async def serve_one(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        await flood(writer, again * (100_000 // len(again)))

    return serve_one


async def in_time(waiting: Awaitable[object], seconds: float = LONG) -> None:
    async with asyncio.timeout(seconds):
        await waiting


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def read(session: HttpSession, url: str) -> bytes:
    async with session.open(url, headers={}, timeout=LONG) as reply:
        deadline = asyncio.get_running_loop().time() + LONG
        return (await reply.read(max_bytes=SIZE, deadline=deadline)).data


@pytest.mark.parametrize("late", [0, 2_000], ids=["read at once", "read late"])
@pytest.mark.parametrize(
    ("kind", "is_secure"), [*((kind, False) for kind in BODIES), ("chunks of one byte", True)]
)
async def test_all_of_a_body_arrives_though_the_host_has_left(
    serve, library, certificate, kind, late, is_secure
):
    server = await serve(answer=BODIES[kind], then=leave, tls=certificate if is_secure else None)
    async with library.get(server.url) as response:
        await turns(late)
        assert len(await response.read()) == SIZE


@pytest.mark.parametrize("kind", ["chunks of one byte", "empty lines"])
async def test_a_turn_takes_so_many_lines(serve, library, kind):
    """A reader gets what one turn gave the parser, or two if it was not fast enough."""
    server = await serve(answer=BODIES[kind])
    async with library.get(server.url) as response:
        pieces = [len(piece) async for piece in response.content.iter_any()]
    assert sum(pieces) == SIZE
    assert max(pieces) <= 2 * LINES_A_TURN


@pytest.mark.parametrize(
    ("head", "again", "least", "turn"),
    [
        (CHUNKED, b"1\r\na\r\n", READ_BUFFER // 16, LINES_A_TURN),
        (OK + b"Connection: close\r\n\r\n", b"a", READ_BUFFER * 2, BYTES_A_TURN),
    ],
    ids=["chunks", "one line"],
)
async def test_a_body_waits_for_its_reader_in_bounds(serve, library, head, again, least, turn):
    server = await serve(flooding(head, again))
    async with library.get(server.url) as response:
        await turns(2_000)
        assert least <= len(response.content.read_nowait()) <= least + turn
        response.close()


async def test_the_host_waits_while_something_is_left_to_parse(serve, library):
    server = await serve(flooding(CHUNKED, b"1\r\na\r\n"))
    async with library.get(server.url) as response:
        pieces = response.content.iter_any()
        most = 0
        for _ in range(100):
            assert await anext(pieces)
            most = max(most, len(response.connection.protocol._unparsed))
        assert most <= 1 << 19  # two reads of asyncio's transports
        response.close()


@pytest.mark.parametrize("interim", [CONTINUE, HINTS], ids=["100", "103"])
@pytest.mark.parametrize("piecewise", [False, True], ids=["at once", "one by one"])
async def test_some_interim_answers_may_come_before_the_answer(
    serve, pages_for, interim, piecewise
):
    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        for _ in range(2):
            await reader.readuntil(b"\r\n\r\n")
            for _ in range(MAX_INTERIM):
                writer.write(interim)
                if piecewise:
                    await writer.drain()
            writer.write(FINE)

    server = await serve(answer)
    session = pages_for(server)
    assert [await read(session, server.url) for _ in range(2)] == [b"fine", b"fine"]
    assert server.connections == 1


FLOODS = {
    "one interim answer too many": (CONTINUE * (MAX_INTERIM + 1) + FINE, CONTINUE),
    "interim answers": (b"", CONTINUE),
    "early hints": (b"", HINTS),
    "early hints of many fields": (
        b"",
        b"HTTP/1.1 103 Early Hints\r\n" + b"Link: </a>\r\n" * 99 + b"\r\n",
    ),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", b"abc\r\n"),
    "fields": (OK, b"X: y\r\n"),
    "one field": (OK + b"X: ", b"y"),
    "a name of a field": (OK, b"x"),
    "a status line": (b"HTTP/1.1 200 O", b"K"),
    "trailers": (CHUNKED + b"0\r\n", b"X: y\r\n"),
    "a trailer": (CHUNKED + b"0\r\nX: ", b"y"),
}


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_is_no_answer(serve, pages_for, name):
    server = await serve(flooding(*FLOODS[name]))
    with pytest.raises(TransportError) as caught:
        await read(pages_for(server), server.url)
    codes = {ErrorCode.MALFORMED_RESPONSE}
    if "trailer" in name:  # what is wrong with a body is not told once its head has been read
        codes.add(ErrorCode.CONNECTION_ERROR)
    assert caught.value.code in codes
    await in_time(server.until_idle())


@pytest.mark.parametrize("kind", ["own", "operator", "public", "pages"])
async def test_every_kind_of_traffic_is_paced(serve, kind):
    server = await serve(flooding(b"", CONTINUE))
    allow = AllowList.parse([f"127.0.0.1:{server.port}"])
    origins = [server.url]
    async with Sessions(
        NetworkConfig(), own_origins=origins, operator_origins=origins, allow=allow
    ) as sessions:
        with pytest.raises(TransportError, match="more than 8 interim answers") as caught:
            await read(getattr(sessions, kind), server.url)
    assert caught.value.code is ErrorCode.MALFORMED_RESPONSE


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("way", ["url", "socks_url"])
async def test_a_flood_through_a_proxy_is_no_answer(serve, pages_for, certificate, scheme, way):
    server = await serve(flooding(b"", CONTINUE), tls=certificate if scheme == "https" else None)
    port = 443 if scheme == "https" else 80
    async with FakeProxy({f"{HOST}:{port}": f"127.0.0.1:{server.port}"}) as proxy:
        session = pages_for(server, verify_pages=False, proxy=getattr(proxy, way))
        with pytest.raises(TransportError) as caught:
            await read(session, f"{scheme}://{HOST}/")
    assert caught.value.code is ErrorCode.MALFORMED_RESPONSE


async def test_a_proxy_that_floods_instead_of_connecting_is_no_proxy(serve, pages_for):
    server = await serve(flooding(b"", CONTINUE))
    session = pages_for(server, proxy=server.url)
    with pytest.raises(TransportError, match=r"network\.proxy does not answer like a proxy"):
        await read(session, f"https://{HOST}/")


@pytest.mark.parametrize("again", [FINE, CONTINUE], ids=["an answer", "an interim answer"])
async def test_an_answer_to_no_request_ends_the_connection(serve, pages_for, again):
    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(FINE)
        await in_time(is_kept.wait())
        writer.write(again)
        await reader.read()

    is_kept = asyncio.Event()
    server = await serve(answer)
    session = pages_for(server)
    assert await read(session, server.url) == b"fine"
    is_kept.set()
    # The library itself gives an idle connection up after 15 seconds.
    await in_time(server.until_idle(), seconds=10)


async def test_a_page_is_whole_though_answers_to_no_request_follow_it(serve, pages_for):
    server = await serve(flooding(FINE, FINE))
    assert await read(pages_for(server), server.url) == b"fine"
    await in_time(server.until_idle())


@pytest.mark.parametrize("late", [0, 2_000], ids=["at once", "late"])
async def test_leaving_a_flood_closes_its_connection(serve, library, late):
    server = await serve(flooding(CHUNKED, b"1\r\na\r\n"))
    async with library.get(server.url) as response:
        await turns(late)
        assert await response.content.readany()
    await in_time(server.until_idle())
    assert not library.connector._acquired


@pytest.mark.parametrize("is_all", [False, True], ids=["one connection", "the session"])
async def test_an_end_that_came_behind_unread_chunks_is_told_to_whoever_closes(
    serve, library, certificate, is_all
):
    server = await serve(answer=BODIES["chunks of one byte"], then=leave, tls=certificate)
    async with library.get(server.url) as response:
        closed = response.connection.protocol.closed
        await turns(2_000)
        assert not closed.done()
        await library.close() if is_all else response.close()
        await in_time(closed)


async def test_a_connection_with_something_left_to_parse_is_not_used_again(serve, pages_for):
    server = await serve(answer=FINE + b"\r\n" * 1_000)
    session = pages_for(server)
    assert [await read(session, server.url) for _ in range(2)] == [b"fine", b"fine"]
    assert server.connections == 2


async def test_a_host_that_resets_a_flood_gives_what_came_before(serve, library):
    """The end is told behind what arrived before it."""

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED + b"1\r\na\r\n" * 4_000)
        await writer.drain()
        writer.transport.abort()

    server = await serve(answer)
    async with library.get(server.url) as response:
        got = 0
        try:
            async for piece in response.content.iter_any():
                got += len(piece)
        except aiohttp.ClientPayloadError:
            pass
    assert got == 4_000

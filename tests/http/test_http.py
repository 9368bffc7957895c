"""One session against servers that fail in every way a server can."""

import asyncio
import gc
import gzip
import socket
import struct
from asyncio import StreamReader, StreamWriter
from typing import Any

import pytest

from searx_mcp.errors import ContentError, ErrorCode, TransportError
from searx_mcp.http.body import (
    NOTE_BROKEN,
    NOTE_CORRUPT,
    NOTE_DEADLINE,
    NOTE_ENDED_EARLY,
    NOTE_SIZE,
)
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList
from tests.doubles.raised import raised
from tests.doubles.raw import RawServer

LONG = 5.0
SHORT = 0.05


def http(
    body: bytes = b"", *headers: str, status: str = "200 OK", length: int | None = None
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


async def hang(reader: StreamReader, writer: StreamWriter) -> None:
    await reader.read()


async def hang_up(reader: StreamReader, writer: StreamWriter) -> None:
    writer.close()


async def reset(reader: StreamReader, writer: StreamWriter) -> None:
    # Without lingering, closing sends RST where it would send FIN.
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


@pytest.fixture
def get(pages_for):
    """Fetch a server's page and read it."""

    async def fetch(server, *, max_bytes=1 << 20, deadline=None):
        async with pages_for(server).open(server.url, headers={}, timeout=LONG) as reply:
            return await reply.read(max_bytes=max_bytes, deadline=deadline)

    return fetch


async def test_an_answer_has_status_headers_url_and_body(serve, pages_for):
    server = await serve(answer=http(b"hello", "X-A: 1", "x-a: 2", status="404 Not Found"))
    session = pages_for(server)
    async with session.open(f"{server.url}p?q=1#f", headers={}, timeout=LONG) as reply:
        assert (reply.status, reply.headers["x-A"], reply.url) == (404, "1", f"{server.url}p?q=1")
        body = await reply.read(max_bytes=5)
    assert (body.data, body.truncated, body.wire_bytes, body.notes) == (b"hello", False, 5, ())


@pytest.mark.parametrize(
    ("status", "body"),
    [("200 OK", b"text"), ("300 Many", b""), ("399 Odd", b""), ("400 Bad Request", b"text")],
)
async def test_the_body_of_a_redirect_stays_unread(serve, pages_for, status, body):
    server = await serve(answer=http(b"text", status=status))
    request = Request(url=server.url, headers={}, timeout=LONG, max_bytes=100)
    response = await pages_for(server).send(request)
    assert (response.status, response.body) == (int(status[:3]), body)


async def test_the_request_carries_the_headers_given_and_nothing_of_the_library(serve, pages_for):
    server = await serve(answer=http())
    async with pages_for(server).open(server.url, headers={"X-B": "c"}, timeout=LONG):
        pass
    head = server.heads[0].lower()
    assert "x-b: c\r\n" in head
    assert "accept-encoding: gzip, deflate\r\n" in head
    assert "user-agent" not in head
    assert "aiohttp" not in head


async def test_a_body_is_posted(serve, pages_for):
    server = await serve(answer=http(b"thanks"))
    headers = {"Content-Type": "application/json"}
    async with pages_for(server).open(
        server.url, headers=headers, timeout=LONG, body=b'{"a": 1}'
    ) as reply:
        assert (await reply.read(max_bytes=10)).data == b"thanks"
    head = server.heads[0]
    assert head.startswith("POST / HTTP/1.1\r\n")
    fields = head.lower().split("\r\n")
    assert {"content-length: 8", "content-type: application/json"} <= {*fields}


async def test_a_redirect_is_an_answer_like_any_other(serve, pages_for):
    server = await serve(answer=http(b"", "Location: /elsewhere", status="302 Found"))
    async with pages_for(server).open(server.url, headers={}, timeout=LONG) as reply:
        assert (reply.status, reply.headers["Location"]) == (302, "/elsewhere")
    assert (server.connections, len(server.heads)) == (1, 1)


async def test_a_connection_is_kept_after_a_whole_body_and_closed_after_a_part(serve, pages_for):
    server = await serve(answer=http(bytes(1 << 20)))
    session = pages_for(server)
    for limit, connections in [(1 << 20, 1), (1 << 20, 1), (10, 1), (10, 2)]:
        async with session.open(server.url, headers={}, timeout=LONG) as reply:
            await reply.read(max_bytes=limit)
        assert server.connections == connections
    await server.until_idle()


async def test_a_kept_connection_that_is_reset_says_nothing(serve, pages_for, caplog):
    read = asyncio.Event()

    async def reset_later(reader, writer):
        await read.wait()
        await reset(reader, writer)

    server = await serve(answer=http(b"x" * 200_000), then=reset_later)
    session = pages_for(server)
    async with session.open(server.url, headers={}, timeout=LONG) as reply:
        await reply.read(max_bytes=200_000)
    (client,) = session._clients.values()
    ((protocol, _),) = [kept for idle in client.connector._conns.values() for kept in idle]
    read.set()
    async with asyncio.timeout(LONG):
        await asyncio.wait([protocol.closed])
    # The next request finds the connection dead and drops it.
    async with session.open(server.url, headers={}, timeout=LONG):
        pass
    del protocol
    gc.collect()
    assert caplog.records == []


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9\r\n",
        b"<html>no status</html>\r\n\r\n",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18),
        b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: a\r\n" * 1_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: a\x00b\r\n\r\n",
    ],
    ids=[
        "SSH", "HTTP/0.9", "HTTP/2", "giant header", "a thousand headers", "negative length",
        "two lengths", "length and chunks", "NUL",
    ],
)  # fmt: skip
async def test_what_is_not_http_is_malformed(serve, get, answer):
    error = await raised(TransportError, get(await serve(answer=answer, then=hang)))
    assert error.code == ErrorCode.MALFORMED_RESPONSE
    assert error.status_code is None


@pytest.mark.parametrize("then", [hang_up, reset])
async def test_a_connection_lost_before_the_answer_is_a_connection_error(serve, get, then):
    server = await serve(then=then)
    error = await raised(TransportError, get(server))
    assert (error.code, error.url) == (ErrorCode.CONNECTION_ERROR, server.url)


async def test_a_closed_port_is_a_connection_error(get):
    async with RawServer() as server:
        pass
    error = await raised(TransportError, get(server))
    assert error.code == ErrorCode.CONNECTION_ERROR


@pytest.mark.parametrize("lines", [b"", b"\r\n"], ids=["silent", "endless empty lines"])
async def test_no_headers_in_time_is_a_timeout(serve, pages_for, lines):
    async def repeat(reader, writer):
        while lines:
            writer.write(lines)
            await writer.drain()
            await asyncio.sleep(0)
        await hang(reader, writer)

    server = await serve(repeat)
    session = pages_for(server)
    with pytest.raises(TransportError) as caught:
        async with session.open(server.url, headers={}, timeout=SHORT):
            pass
    assert caught.value.code == ErrorCode.TIMEOUT
    async with asyncio.timeout(LONG):
        await server.until_idle()


async def test_a_connection_that_takes_too_long_is_a_timeout(serve, pages_for):
    server = await serve(hang)
    # The TCP connection stands at once; its TLS handshake is never answered.
    error = await raised(
        TransportError,
        open_and_read(
            pages_for(server, connect_timeout=0.1), server.url.replace("http:", "https:")
        ),
    )
    assert error.code == ErrorCode.TIMEOUT


async def test_an_untrusted_certificate_is_a_tls_error(serve, get, certificate):
    error = await raised(TransportError, get(await serve(answer=http(b"x"), tls=certificate)))
    assert error.code == ErrorCode.TLS_ERROR


async def test_an_answer_without_tls_is_a_tls_error(serve, pages_for):
    async def answer_in_the_clear(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await hang(reader, writer)

    server = await serve(answer_in_the_clear)
    error = await raised(
        TransportError, open_and_read(pages_for(server), server.url.replace("http:", "https:"))
    )
    assert error.code == ErrorCode.TLS_ERROR


async def test_pages_alone_may_be_read_without_a_trusted_certificate(serve, certificate):
    server = await serve(answer=http(b"x"), tls=certificate)
    allow = AllowList.parse([f"127.0.0.1:{server.port}"])
    origins = [server.url]
    async with Sessions(
        NetworkConfig(),
        allow=allow,
        own_origins=origins,
        operator_origins=origins,
        verify_pages=False,
    ) as sessions:
        async with sessions.pages.open(server.url, headers={}, timeout=LONG) as reply:
            assert (await reply.read(max_bytes=9)).data == b"x"
        for session in (sessions.public, sessions.own, sessions.operator):
            with pytest.raises(TransportError) as caught:
                async with session.open(server.url, headers={}, timeout=LONG):
                    pass
            assert caught.value.code == ErrorCode.TLS_ERROR


BODIES = [
    pytest.param(http(b"short", length=100), hang_up, NOTE_BROKEN, id="short length"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n10\r\n",
        hang_up,
        NOTE_BROKEN,
        id="cut chunk",
    ),
    pytest.param(
        http(gzip.compress(b"short")[:-8], "Content-Encoding: gzip"),
        None,
        NOTE_ENDED_EARLY,
        id="cut gzip",
    ),
    pytest.param(
        http(gzip.compress(b"short") + b"\x1fjunk", "Content-Encoding: gzip"),
        None,
        NOTE_CORRUPT,
        id="corrupt gzip",
    ),
    pytest.param(http(b"shorter"), None, NOTE_SIZE, id="too long"),
]


@pytest.mark.parametrize(("answer", "then", "note"), BODIES)
async def test_a_broken_body_gives_what_is_there(serve, get, answer, then, note):
    body = await get(await serve(answer=answer, then=then), max_bytes=5)
    assert (body.data, body.truncated, body.notes) == (b"short", True, (note,))


@pytest.mark.parametrize(
    ("answer", "then", "code"),
    [
        pytest.param(http(length=100), hang_up, ErrorCode.CONNECTION_ERROR, id="closed"),
        pytest.param(http(length=100), reset, ErrorCode.CONNECTION_ERROR, id="reset"),
        pytest.param(http(length=100), hang, ErrorCode.TIMEOUT, id="silent"),
        pytest.param(
            http(b"not gzip", "Content-Encoding: gzip"),
            None,
            ErrorCode.MALFORMED_RESPONSE,
            id="not gzip",
        ),
        pytest.param(
            http(gzip.compress(b"") * 10_000, "Content-Encoding: gzip"),
            None,
            ErrorCode.MALFORMED_RESPONSE,
            id="ten thousand members",
        ),
    ],
)
async def test_a_body_without_a_single_byte_is_an_error(serve, get, answer, then, code):
    server = await serve(answer=answer, then=then)
    deadline = asyncio.get_running_loop().time() + (SHORT if then is hang else LONG)
    error = await raised(TransportError, get(server, deadline=deadline))
    assert (error.code, error.status_code, error.url) == (code, 200, server.url)


@pytest.mark.parametrize("is_late", [False, True], ids=["while reading", "before reading"])
async def test_bad_framing_before_the_first_byte_is_a_connection_error(serve, pages_for, is_late):
    server, opened = await serve_bad_framing(serve)
    async with pages_for(server).open(server.url, headers={}, timeout=LONG) as reply:
        opened.set()
        if is_late:
            await server.until_idle()
        error = await raised(
            TransportError,
            reply.read(max_bytes=100, deadline=asyncio.get_running_loop().time() + LONG),
        )
    assert (error.code, error.status_code) == (ErrorCode.CONNECTION_ERROR, 200)


async def test_bad_framing_in_the_middle_of_a_body_ends_it(serve, pages_for):
    server, opened = await serve_bad_framing(serve, b"5\r\nshort\r\n")
    async with pages_for(server).open(server.url, headers={}, timeout=LONG) as reply:
        opened.set()
        deadline = asyncio.get_running_loop().time() + LONG
        body = await reply.read(max_bytes=100, deadline=deadline)
    assert (body.data, body.notes) == (b"short", (NOTE_BROKEN,))


async def serve_bad_framing(serve: Any, first: bytes = b"") -> tuple[Any, asyncio.Event]:
    """Serve a chunked body that goes wrong once the event is set."""
    opened = asyncio.Event()

    async def spoil(reader, writer):
        await opened.wait()
        writer.write(b"no size\r\n")
        await reader.read()

    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return await serve(answer=head + first, then=spoil), opened


async def test_a_dripping_body_is_cut_by_the_deadline(serve, get):
    async def drip(reader, writer):
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(SHORT / 10)

    server = await serve(answer=http(length=100_000), then=drip)
    body = await get(server, deadline=asyncio.get_running_loop().time() + SHORT)
    assert set(body.data) == set(b"x")
    assert len(body.data) < 100_000
    assert body.notes == (NOTE_DEADLINE,)


async def test_an_endless_body_is_cut_at_the_limit(serve, get):
    async def pour(reader, writer):
        for _ in range(400):  # 6.5 MB: who reads on sees its end
            writer.write(b"4000\r\n" + b"y" * 0x4000 + b"\r\n")
            await writer.drain()

    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = await get(await serve(answer=head, then=pour), max_bytes=100_000)
    assert (body.data, body.notes) == (b"y" * 100_000, (NOTE_SIZE,))
    assert body.wire_bytes < 2_000_000


async def test_a_bomb_is_cut_at_the_limit(serve, get):
    wire = gzip.compress(bytes(8 << 20))
    body = await get(await serve(answer=http(wire, "Content-Encoding: gzip")), max_bytes=1 << 20)
    assert (body.data, body.notes) == (bytes(1 << 20), (NOTE_SIZE,))


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Encoding: gzip, gzip"],
        ["Content-Encoding: gzip", "Content-Encoding: gzip"],
        ["Content-Encoding: br"],
    ],
    ids=["stacked", "two headers", "not asked for"],
)
async def test_an_encoding_not_asked_for_is_a_content_error(serve, get, headers):
    server = await serve(answer=http(b"x", *headers))
    error = await raised(ContentError, get(server))
    assert error.code == ErrorCode.UNSUPPORTED_ENCODING
    assert (error.url, error.status_code) == (server.url, 200)


async def open_and_read(session: HttpSession, url: str) -> None:
    async with session.open(url, headers={}, timeout=LONG) as reply:
        await reply.read(max_bytes=1 << 20)


@pytest.mark.parametrize("stage", ["handshake", "headers", "body"])
async def test_cancelling_leaves_no_connection_and_no_task(serve, pages_for, stage):
    reached = asyncio.Event()

    async def stop(reader, writer):
        reached.set()
        await reader.read()

    if stage == "body":
        server = await serve(answer=http(b"part", length=100), then=stop)
    else:
        server = await serve(stop)
    session = pages_for(server)
    url = server.url.replace("http:", "https:") if stage == "handshake" else server.url
    before = asyncio.all_tasks()
    async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
        task = group.create_task(open_and_read(session, url))
        await reached.wait()
        task.cancel()
    assert task.cancelled()
    async with asyncio.timeout(LONG):
        await server.until_idle()
    assert asyncio.all_tasks() <= before


async def test_an_error_in_the_block_closes_the_connection(serve, pages_for):
    server = await serve(answer=http(b"part", length=100), then=hang)
    session = pages_for(server)
    with pytest.raises(ZeroDivisionError):
        async with session.open(server.url, headers={}, timeout=LONG):
            raise ZeroDivisionError
    await server.until_idle()


async def test_a_closed_session_opens_nothing(serve, pages_for):
    server = await serve(answer=http())
    session = pages_for(server)
    await session.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        async with session.open(server.url, headers={}, timeout=LONG):
            pass
    assert server.connections == 0

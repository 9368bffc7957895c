"""Clients that are slow, do not read, or are too many."""

import asyncio
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import pytest

from searx_mcp.server.app import Server, build_server
from searx_mcp.server.http import ServerLimits
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.serving import DEADLINE, HEADERS, HELLO, serving, sessions_of

pytestmark = pytest.mark.slow

PROXIED = HttpConfig(port=0, proxies=("127.0.0.1",))
"""What comes from the address of the tests counts for no client."""
SOON = 0.05
ALIVE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
BEGUN = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\n"
)
LENGTH, CHUNKED = b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n"
REST = b"\r\n0\r\n\r\n"
"""The end of a head, and of a body in chunks."""
ANSWERS = re.compile(rb"HTTP/1\.1 (\d+)")
MODERN = b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}


@asynccontextmanager
async def limited(**limits: float) -> AsyncIterator[str]:
    """Serve clients behind a proxy with these limits; gives the URL."""
    server = build_server(Settings())
    bounds = ServerLimits(**limits)  # type: ignore[arg-type] # - counts are whole numbers
    async with asyncio.timeout(DEADLINE), serving(server, PROXIED, limits=bounds) as url:
        yield url


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Any) -> Any:
    """One loop for the module, most of whose tests share a server."""
    return backend_at(1.0)


@pytest.fixture(scope="module")
async def url() -> AsyncIterator[str]:
    """Give the address of a server with the usual limits."""
    async with serving(build_server(Settings()), PROXIED) as served:
        yield served


@asynccontextmanager
async def dialled(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
    reader, writer = await asyncio.open_connection(host, port)
    try:
        async with asyncio.timeout(DEADLINE):
            yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    ("sent", "served"),
    [(b"", 0), (b"P", 0), (BEGUN, 2), (BEGUN + b"X: " + b"x" * 2_000, 0)],
    ids=["nothing", "a letter", "a line behind others", "a long line"],
)
async def test_a_head_that_does_not_end_is_not_waited_for(sent, served):
    async with limited(head=SOON) as url, dialled(url) as (reader, writer):
        for _ in range(served):
            writer.write(ALIVE)
            assert b"ok" in await reader.readuntil(b"}")
        writer.write(sent)
        assert await reader.read() == b""


async def test_a_head_that_came_in_time_leaves_time_for_the_body(pass_by):
    body = json.dumps(HELLO).encode()
    async with limited(head=5) as url, dialled(url) as (reader, writer):
        writer.write(BEGUN + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
        pass_by(10)
        writer.write(body)
        assert b" 200 " in await reader.readline()


async def flood(writer: asyncio.StreamWriter, data: bytes) -> None:
    while True:
        writer.write(data)
        await writer.drain()


async def test_a_client_whose_request_was_refused_cannot_go_on_sending():
    async with limited(head=SOON) as url, dialled(url) as (reader, writer):
        writer.write(BEGUN.replace(b"localhost", b"evil.example"))
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        assert b" 421 " in await reader.readline()
        with pytest.raises(ConnectionError):
            await flood(writer, b"5\r\nabcde\r\n")


@pytest.mark.parametrize(
    ("host", "body", "status"),
    [
        (b"evil.example", b"Content-Length: 2\r\n\r\n{}", b"421"),
        (b"evil.example", b"Content-Length: 9\r\n\r\n{}", b"421"),
        (b"localhost\r\nOrigin: https://evil.example", b"Content-Length: 2\r\n\r\n{}", b"403"),
        (b"localhost\r\nContent-Encoding: gzip", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"415"),
    ],
    ids=["whole", "unfinished", "of another site", "in chunks"],
)  # fmt: skip
async def test_a_refused_stranger_and_an_unread_body_end_the_connection(host, body, status):
    async with limited(head=DEADLINE, idle=DEADLINE) as url, dialled(url) as (reader, writer):
        writer.write(BEGUN.replace(b"localhost", host) + body)
        answer = await reader.read()
        assert ANSWERS.findall(answer) == [status]
        assert (b"connection: close" in answer) is (status != b"415")
        with pytest.raises(ConnectionError):
            await flood(writer, b"x" * 10_000)


async def test_a_refusal_that_a_client_can_mend_keeps_the_connection(url):
    async with dialled(url) as (reader, writer):
        for _ in range(2):
            writer.write(BEGUN.replace(b"/json", b"/xml") + b"Content-Length: 2\r\n\r\n{}")
            assert b" 415 " in await reader.readuntil(b"\r\n\r\n")
            assert b"unsupported" in await reader.readuntil(b"}}}")


async def test_a_body_that_does_not_come_is_not_waited_for():
    async with limited(body=SOON) as url, dialled(url) as (reader, writer):
        writer.write(BEGUN + b"Content-Length: 10\r\n\r\n{")
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.split(b"\r\n\r\n")[1])["error"]["data"]["code"] == "timeout"


@pytest.mark.parametrize(
    ("host", "answer"),
    [(b"localhost", b""), (b"evil.example", b""), (b"evil.example", b" 421 ")],
    ids=["served", "refused", "refused already"],
)
async def test_what_is_no_http_is_answered_once_and_fills_no_log(url, host, answer, caplog):
    async with dialled(url) as (reader, writer):
        writer.write(BEGUN.replace(b"localhost", host) + b"Transfer-Encoding: chunked\r\n\r\n")
        told = await reader.readuntil(answer) if answer else b""
        writer.write(b"no length\r\n")
        told += await reader.read()
    assert len(ANSWERS.findall(told)) == 1
    assert caplog.records == []
    assert not logging.getLogger("uvicorn").handlers


@pytest.mark.parametrize(
    "sent", [b"no http\r\n\r\n", BEGUN + b"X: " + b"x" * 100_000], ids=["no http", "a long head"]
)
async def test_what_is_no_http_is_told_so_in_json(url, sent):
    async with dialled(url) as (reader, writer):
        writer.write(sent)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert json.loads(body)["error"]["code"] == "invalid_argument"


@pytest.mark.parametrize(
    "head",
    [LENGTH + CHUNKED, CHUNKED + LENGTH, CHUNKED + b"content-length: 0\r\n"],
    ids=["length first", "length last", "no length"],
)
async def test_a_request_with_two_lengths_is_the_last_of_its_connection(url, head):
    """RFC 9112, 6.1."""
    async with dialled(url) as (reader, writer):
        writer.write(BEGUN + head + REST + ALIVE)
        told = await reader.read()
    assert len(ANSWERS.findall(told)) == 1
    assert b"connection: close" in told.lower()


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(LENGTH + b"Content-Length: 3\r\n", id="two numbers"),
        pytest.param(b"Content-Length: 2, 3\r\n", id="two numbers in one line"),
        pytest.param(b"Content-Length: +2\r\n", id="a sign"),
        pytest.param(b"Content-Length: 0x2\r\n", id="hexadecimal"),
        pytest.param(CHUNKED * 2, id="chunked twice"),
        pytest.param(b"Transfer-Encoding: chunked, gzip\r\n", id="chunked first"),
        pytest.param(b"Transfer-Encoding: gzip, chunked\r\n", id="compressed"),
        pytest.param(b"Transfer-Encoding: xchunked\r\n", id="another coding"),
        pytest.param(b"Transfer-Encoding : chunked\r\n", id="space before the colon"),
        pytest.param(b"Transfer-Encoding:\r\n chunked\r\n", id="a folded line"),
        pytest.param(b"X: a\r\n\tb\r\n", id="a line folded with a tab"),
        pytest.param(b" X: a\r\n", id="space before the name"),
        pytest.param(b"X: a\nTransfer-Encoding: chunked\r\n", id="a line without CR"),
        pytest.param(b"X: a\rTransfer-Encoding: chunked\r\n", id="a line without LF"),
        pytest.param(b"X: a\0b\r\n", id="a zero byte"),
    ],
)
@pytest.mark.parametrize("served", [b"", ALIVE], ids=["first", "behind another"])
async def test_a_head_that_a_proxy_may_read_otherwise_is_refused(url, head, served):
    """RFC 9112, 2.2, 5.1, 5.2, 6.1 and 6.3; what follows is not taken for a request."""
    async with dialled(url) as (reader, writer):
        writer.write(served + BEGUN + head + REST + ALIVE)
        told = await reader.read()
    assert ANSWERS.findall(told) == [b"200"] * bool(served) + [b"400"]


@pytest.mark.parametrize("size", [1, 7])
async def test_a_loose_line_is_noticed_in_whatever_pieces_it_comes(url, size):
    head = ALIVE.replace(b"Host", b"X: a\nHost")
    async with dialled(url) as (reader, writer):
        for at in range(0, len(head), size):
            writer.write(head[at : at + size])
            await writer.drain()
        assert b" 400 " in await reader.readline()


async def test_lines_of_a_body_may_end_as_they_like(url):
    body = json.dumps(HELLO, indent=1).replace("{", "{\n\n").encode()
    async with dialled(url) as (reader, writer):
        writer.write(BEGUN + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert b" 200 " in await reader.readline()


@pytest.mark.parametrize("chunk", [b"0\n\n", b"0x0\r\n\r\n", b"-0\r\n\r\n", b"0;a\n\r\n\r\n"])
async def test_a_chunk_that_a_proxy_may_read_otherwise_ends_the_connection(chunk):
    async with limited(body=SOON) as url, dialled(url) as (reader, writer):
        writer.write(BEGUN + CHUNKED + b"\r\n" + chunk + ALIVE)
        told = await reader.read()
    assert ANSWERS.findall(told) in ([b"400"], [b"408"])


async def test_an_older_request_in_chunks_is_the_last_of_its_connection(url):
    """RFC 9112, 6.1."""
    older = BEGUN.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Connection: keep-alive\r\n" + CHUNKED
    async with dialled(url) as (reader, writer):
        writer.write(older + REST + ALIVE)
        told = await reader.read()
    assert len(ANSWERS.findall(told)) == 1


async def test_a_client_that_does_not_read_is_not_waited_for():
    body = json.dumps(LISTING).encode()
    request = BEGUN + MODERN + b"Content-Length: %d\r\n\r\n" % len(body) + body
    async with limited(write=SOON) as url, dialled(url) as (_, writer):
        with pytest.raises(ConnectionError):
            await flood(writer, request)


async def test_one_connection_too_many_is_told_so_and_those_before_are_served():
    async with limited(connections=2) as url, dialled(url) as first, dialled(url) as second:
        async with dialled(url) as (reader, writer):
            writer.write(ALIVE)
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Too many connections" in answer
        for reader, writer in (first, second):
            writer.write(ALIVE)
            assert b" 200 " in await reader.readline()
        first[1].close()
        while b" 503 " in answer:
            async with dialled(url) as (reader, writer):
                writer.write(ALIVE)
                answer = await reader.readline()
        assert b" 200 " in answer


@pytest.mark.skipif(os.name != "posix", reason="Windows bounds no descriptors")
def test_connections_leave_half_of_the_descriptors_which_are_as_many_as_allowed():
    program = """if True:
        import resource
        from searx_mcp.server.web.connections import LIMITS, raise_descriptors
        for most in (4_000, 300, 100):
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, most))
            allowed = raise_descriptors(LIMITS).connections
            print(allowed, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    """
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        timeout=DEADLINE,
    )
    assert ran.stdout.splitlines() == ["2000 4000", "150 300", "50 100"]


async def until_held(server: Server, count: int, http: httpx2.AsyncClient, url: str) -> None:
    """Let the server run until it holds so many sessions: it ends them behind its answers."""
    while len(sessions_of(server)) != count:
        await http.get(url.replace("/mcp", "/healthz"))


async def test_the_session_that_nobody_has_used_for_longest_makes_room_for_a_new_one():
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    async def ask(message: dict[str, object], session: str = "") -> httpx2.Response:
        headers = {"Mcp-Session-Id": session} if session else {}
        return await http.post(url, json=message, headers=headers)

    server = build_server(Settings())
    async with (
        asyncio.timeout(DEADLINE),
        serving(server, PROXIED, limits=ServerLimits(sessions=2)) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        first, second = [(await ask(HELLO)).headers["Mcp-Session-Id"] for _ in range(2)]
        assert (await ask(ping, first)).status_code == 200
        third = (await ask(HELLO)).headers["Mcp-Session-Id"]
        await until_held(server, 2, http, url)
        assert sessions_of(server) == {first[:32], third[:32]}
        # Who comes back goes on, in the room of another.
        assert (await ask(ping, second)).status_code == 200
        await until_held(server, 2, http, url)
        assert third[:32] in sessions_of(server)


async def test_a_new_session_has_room_while_all_others_are_in_use():
    async with (
        limited(sessions=1) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        session = (await http.post(url, json=HELLO)).headers["Mcp-Session-Id"]
        used = {"Mcp-Session-Id": session}
        async with http.stream("GET", url, headers=used) as listening:
            assert listening.status_code == 200
            assert (await http.post(url, json=HELLO)).status_code == 200


async def test_sessions_that_are_opened_at_once_all_have_room_and_few_are_kept():
    server = build_server(Settings())
    async with (
        asyncio.timeout(DEADLINE),
        serving(server, PROXIED, limits=ServerLimits(sessions=3)) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        async with asyncio.TaskGroup() as group:
            opened = [group.create_task(http.post(url, json=HELLO)) for _ in range(24)]
        assert {each.result().status_code for each in opened} == {200}
        await until_held(server, 3, http, url)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Accept": "application/json"}, 406),
        ({"Accept": "text/event-stream"}, 406),
        ({"Accept": "text/html"}, 406),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
    ],
    ids=str,
)
async def test_a_request_that_is_refused_ends_no_session_and_begins_none(headers, status):
    server = build_server(Settings())
    async with (
        asyncio.timeout(DEADLINE),
        limited() as elsewhere,
        serving(server, PROXIED, limits=ServerLimits(sessions=1)) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        foreign = (await http.post(elsewhere, json=HELLO)).headers["Mcp-Session-Id"]
        session = (await http.post(url, json=HELLO)).headers["Mcp-Session-Id"]
        for more in ({}, {"Mcp-Session-Id": foreign}):
            refused = await http.post(url, json=HELLO, headers={**headers, **more})
            assert refused.status_code == status
        assert sessions_of(server) == {session[:32]}


async def test_a_media_type_counts_in_any_case(url):
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        loud = {name: value.upper() for name, value in HEADERS.items()}
        assert (await http.post(url, json=HELLO, headers=loud)).status_code == 200


async def test_a_session_that_nobody_uses_ends_by_its_time():
    server, limits = build_server(Settings()), ServerLimits(session_idle=SOON)
    async with (
        asyncio.timeout(DEADLINE),
        serving(server, limits=limits) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        session = (await http.post(url, json=HELLO)).headers["Mcp-Session-Id"]
        assert sessions_of(server) <= {session[:32]}
        await until_held(server, 0, http, url)

"""Clients that are slow, do not read, or are too many."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx2
import pytest

from searx_mcp.server.app import Server, build_server
from searx_mcp.server.web.connections import Limits
from searx_mcp.settings.values import Settings
from tests.doubles.serving import serving

pytestmark = pytest.mark.slow

DEADLINE = 60
"""Seconds until a test fails that would hang; nothing is measured."""
SOON = 0.05
ALIVE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
BEGUN = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
MODERN = b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def limited(**limits: float) -> AsyncIterator[str]:
    """Serve with these limits; gives the URL."""
    server = build_server(Settings())
    async with asyncio.timeout(DEADLINE), serving(server, limits=Limits(**limits)) as url:  # type: ignore[arg-type] # - counts are whole numbers
        yield url


@asynccontextmanager
async def dialled(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize("served", [0, 2])
@pytest.mark.parametrize(
    "sent", [b"P", BEGUN, BEGUN + b"X: " + b"x" * 2_000], ids=["a letter", "a line", "a long line"]
)
async def test_a_head_that_does_not_end_is_not_waited_for(sent, served):
    async with limited(head=SOON) as url, dialled(url) as (reader, writer):
        for _ in range(served):
            writer.write(ALIVE)
            assert b"ok" in await reader.readuntil(b"}")
        writer.write(sent)
        assert await reader.read() == b""


async def test_a_client_that_says_nothing_is_not_waited_for():
    async with limited(head=SOON) as url, dialled(url) as (reader, _):
        assert await reader.read() == b""


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
async def test_what_is_no_http_is_answered_once_and_fills_no_log(host, answer, caplog):
    async with limited() as url, dialled(url) as (reader, writer):
        writer.write(BEGUN.replace(b"localhost", host) + b"Transfer-Encoding: chunked\r\n\r\n")
        told = await reader.readuntil(answer) if answer else b""
        writer.write(b"no length\r\n")
        told += await reader.read()
    assert len(re.findall(rb"(?m)^HTTP/1\.1 \d", told)) == 1
    assert caplog.records == []


@pytest.mark.parametrize(
    "sent", [b"no http\r\n\r\n", BEGUN + b"X: " + b"x" * 100_000], ids=["no http", "a long head"]
)
async def test_what_is_no_http_is_told_so_in_json(sent):
    async with limited() as url, dialled(url) as (reader, writer):
        writer.write(sent)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert json.loads(body)["error"]["code"] == "invalid_argument"


async def test_a_client_that_does_not_read_is_not_waited_for():
    body = json.dumps(LISTING).encode()
    head = BEGUN + b"Accept: application/json, text/event-stream\r\n" + MODERN
    request = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
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


def held(server: Server) -> set[str]:
    return set(server.session_manager._server_instances)


async def test_the_session_that_nobody_has_used_for_longest_makes_room_for_a_new_one():
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    async def ask(message: dict[str, object], session: str = "") -> httpx2.Response:
        headers = {"Mcp-Session-Id": session} if session else {}
        return await http.post(url, json=message, headers=headers)

    server = build_server(Settings())
    async with (
        asyncio.timeout(DEADLINE),
        serving(server, limits=Limits(sessions=2)) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        first, second = [(await ask(HELLO)).headers["Mcp-Session-Id"] for _ in range(2)]
        assert (await ask(ping, first)).status_code == 200
        third = (await ask(HELLO)).headers["Mcp-Session-Id"]
        assert held(server) == {first[:32], third[:32]}
        # Who comes back goes on, in the room of another.
        assert (await ask(ping, second)).status_code == 200
        assert len(held(server)) == 2
        assert third[:32] in held(server)


async def test_a_new_session_is_refused_while_all_others_are_in_use():
    async with (
        limited(sessions=1) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        session = (await http.post(url, json=HELLO)).headers["Mcp-Session-Id"]
        used = {"Mcp-Session-Id": session}
        async with http.stream("GET", url, headers=used) as listening:
            assert listening.status_code == 200
            refused = await http.post(url, json=HELLO)
        assert refused.status_code == 503
        assert "sessions" in refused.json()["error"]["message"]


async def test_a_session_that_nobody_uses_ends_by_its_time():
    server, limits = build_server(Settings()), Limits(session_idle=SOON)
    async with (
        asyncio.timeout(DEADLINE),
        serving(server, limits=limits) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=DEADLINE) as http,
    ):
        session = (await http.post(url, json=HELLO)).headers["Mcp-Session-Id"]
        assert held(server) <= {session[:32]}
        while held(server):
            await http.get(url.replace("/mcp", "/healthz"))

"""The server over HTTP, through real sockets: what is refused, and what clients of both eras get."""

import asyncio
import json
import socket
from collections.abc import Mapping

import httpx2
import pytest
from mcp import Client
from typing_extensions import override

from searx_mcp.errors import SettingsError
from searx_mcp.server.app import build_server
from searx_mcp.server.http import _bind
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, HEADERS, connected, serving
from tests.server.conftest import text

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"
MODES = ("auto", "legacy")
PROVEN = {"Authorization": f"Bearer {TOKEN}"}
NONE: Mapping[str, str] = {}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "unknown"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Echo(PartOfService):
    """Finds nothing, and says what it was asked for."""

    @override
    async def search(self, request, /, *, progress=None):
        return found_nothing(request, f"asked for {request.query}")


@pytest.fixture(scope="module")
def anyio_backend(backend_at):
    """One loop for the module, most of whose tests share a server."""
    return backend_at(1.0)


@pytest.fixture(scope="module")
def server():
    """Give what makes a server that finds nothing."""
    return lambda: build_server(Settings(), service=Echo())


async def ask(
    url: str, method: str = "POST", content: bytes = b"{}", headers: Mapping[str, str] = NONE
) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        return await http.request(method, url, content=content, headers={**HEADERS, **headers})


@pytest.mark.parametrize("mode", MODES)
async def test_many_clients_of_an_era_are_served_at_once_each_its_own_answers(server, mode):
    async def search(client: Client, query: str) -> bool:
        return query in text(await client.call_tool("web_search", {"query": query}))

    async def use(url: str, number: int) -> list[bool]:
        async with connected(url, mode=mode) as client, asyncio.TaskGroup() as group:
            queries = [f"bees-{number}-{call}-" for call in range(3)]
            calls = [group.create_task(search(client, query)) for query in queries]
        return [call.result() for call in calls]

    async with asyncio.timeout(DEADLINE), serving(server()) as url, asyncio.TaskGroup() as group:
        clients = [group.create_task(use(url, number)) for number in range(10)]
        await asyncio.wait(clients)
    assert [client.result() for client in clients] == [[True] * 3] * 10


async def test_what_is_refused_says_why_to_a_person_and_to_a_program(server):
    config = HttpConfig(port=0, token=TOKEN, max_body_size=1_024)
    small, large = b"{}", b"x" * 5_000
    refused = {
        421: ({"Host": "evil.example"}, small, "allowed_hosts"),
        403: ({"Origin": "https://evil.example"}, small, "allowed_origins"),
        401: (NONE, small, "Authorization: Bearer"),
        415: ({"Content-Type": "text/plain", **PROVEN}, small, "application/json"),
        413: (PROVEN, large, "max_body_size"),
    }
    async with asyncio.timeout(DEADLINE), serving(server(), config) as url:
        for status, (headers, body, told) in refused.items():
            answer = await ask(url, content=body, headers=headers)
            assert answer.status_code == status
            assert told in answer.json()["error"]["message"]
            assert answer.json()["error"]["data"]["code"]


@pytest.mark.parametrize(
    ("headers", "meta", "status", "number"),
    [
        ({"Mcp-Session-Id": "ended"}, {}, 404, -32_600),
        ({}, {}, 400, -32_600),
        (MODERN, {}, 400, -32_602),
        (MODERN, META, 404, -32_601),
    ],
    ids=["session", "no session", "version", "method"],
)
async def test_what_the_protocol_refuses_has_its_status_and_number(
    shared, headers, meta, status, number
):
    message = {"jsonrpc": "2.0", "id": 1, "method": "unknown", "params": {"_meta": meta}}
    answer = await ask(shared, content=json.dumps(message).encode(), headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, number)


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[]", b"{}", b"null", b"1" * 5_000, b"[" * 9_000, b'"\\ud83d"'],
    ids=lambda body: repr(body[:6]),
)
async def test_a_body_that_is_no_request_is_answered_as_such(server, shared, modern, body):
    era = {"MCP-Protocol-Version": "2026-07-28"} if modern else NONE
    answer = await ask(shared, content=body, headers=era)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in {-32_700, -32_600, -32_602}


@pytest.fixture(scope="module")
async def shared(server):
    """Give the address of a server."""
    async with serving(server()) as url:
        yield url


async def test_health_is_told_without_a_token_and_nothing_else_is(server):
    config = HttpConfig(port=0, token=TOKEN)
    async with asyncio.timeout(DEADLINE), serving(server(), config) as url:
        base = url.removesuffix("/mcp")
        health = await ask(f"{base}/healthz", "GET")
        other = await ask(f"{base}/other", "GET")
        lookup = await ask(f"{base}/.well-known/oauth-protected-resource/mcp", "GET")
        lost = await ask(f"{base}/other", "GET", headers=PROVEN)
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert other.status_code == 401
    assert (lost.status_code, lookup.status_code) == (404, 404)
    assert "/mcp" in lost.json()["error"]["message"]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (HttpConfig(host="0.0.0.0", port=0), "http.token"),
        (HttpConfig(host="::", port=0), "http.token"),
        (HttpConfig(host="nowhere.invalid", port=0), "http.host"),
        (HttpConfig(host="192.0.2.1", port=0, token=TOKEN), "http.host"),
    ],
)
async def test_where_it_may_not_or_cannot_listen_is_said_with_the_setting(server, config, field):
    with pytest.raises(SettingsError) as told:
        async with asyncio.timeout(DEADLINE), serving(server(), config):
            pass
    assert told.value.field == field
    assert told.value.advice


async def test_a_port_that_is_taken_is_told(server, shared):
    port = int(shared.split(":")[2].split("/")[0])
    with pytest.raises(SettingsError) as told:
        async with serving(server(), HttpConfig(port=port)):
            pass
    assert (told.value.field, str(port) in str(told.value)) == ("http.port", True)


async def test_others_may_reach_it_with_a_token_or_when_the_command_line_says_so(server):
    everywhere = HttpConfig(host="0.0.0.0", port=0)
    closed = HttpConfig(host="0.0.0.0", port=0, token=TOKEN)
    async with asyncio.timeout(DEADLINE):
        async with serving(server(), everywhere, allow_unauthenticated=True) as url:
            assert (await ask(url.replace("0.0.0.0", "127.0.0.1"))).status_code == 400  # no message
        async with serving(server(), closed) as url:
            assert (await ask(url.replace("0.0.0.0", "127.0.0.1"))).status_code == 401


async def test_an_answer_does_not_wait_until_the_client_confirms_its_head(server):
    listener = await _bind(HttpConfig(port=0), allow_unauthenticated=False)
    loop = asyncio.get_running_loop()
    accepted: asyncio.Future[asyncio.BaseTransport] = loop.create_future()

    class Accepting(asyncio.Protocol):
        @override
        def connection_made(self, transport):
            accepted.set_result(transport)

    async with asyncio.timeout(DEADLINE), await loop.create_server(Accepting, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        transport = await accepted
        option = transport.get_extra_info("socket").getsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY
        )
        assert option
        writer.close()
        await writer.wait_closed()
        transport.close()

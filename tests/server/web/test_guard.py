"""Which HTTP requests are served, and what is answered to the others."""

import asyncio
import json
from typing import Any

import pytest
from starlette.types import ASGIApp

from searx_mcp.server.http import ServerLimits, http_app
from searx_mcp.settings.server import HttpConfig
from tests.doubles.echo import EchoServer

TOKEN = "0123456789abcdef"
MESSAGE = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


async def ask(
    config: HttpConfig,
    app: ASGIApp | None = None,
    /,
    *,
    method="POST",
    path="/mcp",
    body=(MESSAGE,),
    twice="",
    **headers: str | None,
):
    """Send one request, perhaps with a header twice or not at all; returns its status, the headers and the body of the answer."""
    sent: list[dict[str, Any]] = []
    parts = list(body)

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()  # the client stays
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message) -> None:
        sent.append(message)

    given = {"host": "127.0.0.1:8765", **JSON, **headers}
    raw = [
        (name.replace("_", "-").encode(), value.encode())
        for name, value in given.items()
        if value is not None
    ]
    raw += [row for row in raw if row[0] == twice.encode()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b""}
    scope["client"] = ("192.0.2.7", 7)
    await (app or http_app(EchoServer(), config))(scope, receive, send)
    answered = dict(sent[0]["headers"])
    assert len(answered) == len(sent[0]["headers"])  # none twice
    return sent[0]["status"], answered, sent[1]["body"]


LOCAL = HttpConfig()
OPEN = HttpConfig(host="0.0.0.0")
CLOSED = HttpConfig(host="0.0.0.0", token=TOKEN)
NAMED = HttpConfig(
    host="0.0.0.0",
    token=TOKEN,
    allowed_hosts=("a.example",),
    allowed_origins=("https://app.example",),
)
SMALL = HttpConfig(max_body_size=1_024)
PROVEN = {"authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("config", "headers", "status"),
    [
        (LOCAL, {}, 200),
        (LOCAL, {"host": "localhost"}, 200),
        (LOCAL, {"host": "[::1]:1"}, 200),
        (LOCAL, {"host": "evil.example"}, 421),
        (LOCAL, {"host": "127.0.0.1.evil.example"}, 421),
        (LOCAL, {"host": "localhost:1@evil.example"}, 421),
        (LOCAL, {"host": ""}, 421),
        (LOCAL, {"origin": "http://localhost:3000"}, 200),
        (LOCAL, {"origin": "https://evil.example"}, 403),
        (LOCAL, {"origin": "null"}, 403),
        (LOCAL, {"sec-fetch-site": "cross-site"}, 403),
        (LOCAL, {"sec-fetch-site": "same-site"}, 403),
        (LOCAL, {"sec-fetch-site": "same-origin"}, 200),
        (LOCAL, {"sec-fetch-site": "none"}, 200),
        (LOCAL, {"sec-fetch-site": "cross-site", "origin": "http://localhost:3000"}, 200),
        (LOCAL, {"content-type": "text/plain"}, 415),
        (LOCAL, {"content-type": "application/json; charset=utf-8"}, 200),
        (LOCAL, {"content-type": "application/jsonx"}, 415),
        (LOCAL, {"content-type": None}, 415),
        (LOCAL, {"content-type": None, "path": "/elsewhere"}, 200),
        (LOCAL, {"content-type": "APPLICATION/JSON"}, 200),
        (LOCAL, {"content-encoding": "gzip"}, 415),
        (LOCAL, {"accept": "*/*"}, 200),
        (LOCAL, {"accept": "Application/*;q=.5, TEXT/event-stream"}, 200),
        (LOCAL, {"accept": "application/json"}, 406),
        (LOCAL, {"accept": "text/event-stream"}, 406),
        (LOCAL, {"accept": ""}, 406),
        (LOCAL, {"content-length": "9" * 30}, 413),
        (OPEN, {"host": "192.0.2.7:8765"}, 200),
        (OPEN, {"host": "rebound.example"}, 421),
        (CLOSED, {"host": "any.example"}, 401),
        (CLOSED, {"host": "any.example", **PROVEN}, 200),
        (CLOSED, {"authorization": f"bearer  {TOKEN}"}, 200),
        (CLOSED, {"authorization": f"Bearer {TOKEN}x"}, 401),
        (CLOSED, {"authorization": "Bearer \u00fc\u00fc\u00fc\u00fc"}, 401),
        (NAMED, {"host": "other.example", **PROVEN}, 421),
        (NAMED, {"host": "A.example:8443", **PROVEN}, 200),
        (NAMED, {"host": "a.example", "origin": "https://app.example", **PROVEN}, 200),
        (NAMED, {"host": "a.example", "origin": "http://localhost", **PROVEN}, 403),
    ],
)
async def test_a_request_is_served_or_refused_for_its_head(config, headers, status):
    assert (await ask(config, **headers))[0] == status


@pytest.mark.parametrize(
    ("config", "twice", "headers", "status"),
    [
        (CLOSED, "authorization", PROVEN, 401),
        (LOCAL, "host", {}, 421),
        (LOCAL, "origin", {"origin": "http://localhost:3000"}, 403),
        (LOCAL, "content-type", {}, 415),
    ],
)
async def test_a_header_that_is_sent_twice_counts_as_empty(config, twice, headers, status):
    assert (await ask(config, twice=twice, **headers))[0] == status


async def test_a_body_is_counted_whatever_its_head_says():
    assert (await ask(SMALL, body=(b"x" * 600, b"x" * 600)))[0] == 413
    assert (await ask(SMALL, body=(b" " * 600, MESSAGE)))[2] == b" " * 600 + MESSAGE


@pytest.mark.parametrize("value", ["[", "{", "1,"])
async def test_a_body_of_more_values_than_a_call_can_have_is_not_parsed(value):
    assert (await ask(LOCAL, body=(value.encode() * 10_000,)))[
        0
    ] == 200  # whoever parses it refuses
    assert (await ask(LOCAL, body=(value.encode() * 10_001,)))[0] == 413


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"jsonrpc": "2.0", "method": "ping", "id": 1}, 200),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, 200),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, 200),
        ({}, 400),
        ([{"jsonrpc": "2.0", "method": "ping", "id": 1}], 400),
        ({"method": "ping", "id": 1}, 400),
        ({"jsonrpc": "2.0", "method": 7}, 400),
        ("ping", 400),
    ],
)
async def test_what_is_no_message_is_refused_in_words_for_a_person(body, status):
    answer = await ask(LOCAL, body=(json.dumps(body).encode(),))
    assert answer[0] == status
    assert status == 200 or "JSON-RPC 2.0" in json.loads(answer[2])["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
async def test_a_person_who_opens_the_address_is_told_what_it_is(method):
    status, headers, body = await ask(LOCAL, method=method)
    assert (status, headers[b"allow"]) == (405, b"POST")
    assert b"MCP clients" in body
    assert (await ask(LOCAL, method=method, mcp_session_id="known"))[0] == 200


async def test_a_slash_at_the_end_of_the_address_does_no_harm():
    assert b"jsonrpc" in (await ask(CLOSED, path="/mcp/"))[2]


async def test_a_refusal_names_a_stable_code_and_how_to_prove_oneself():
    status, headers, body = await ask(CLOSED)
    assert (status, json.loads(body)["error"]["data"]["code"]) == (401, "unauthorized")
    assert headers[b"www-authenticate"].startswith(b"Bearer")
    assert TOKEN not in f"{body!r}{headers!r}"


async def test_health_is_told_to_everybody():
    assert (await ask(CLOSED, method="GET", path="/healthz", host="x"))[0] == 200


async def test_a_page_that_is_allowed_is_told_so_before_it_sends_its_token():
    asked = {"access-control-request-method": "POST", "host": "a.example"}
    status, headers, _ = await ask(NAMED, method="OPTIONS", origin="https://app.example", **asked)
    assert (status, headers[b"access-control-allow-origin"]) == (204, b"https://app.example")
    refused = await ask(NAMED, method="OPTIONS", origin="https://evil.example", **asked)
    assert refused[0] == 403
    asked["host"] = "rebound.example"
    elsewhere = await ask(NAMED, method="OPTIONS", origin="https://app.example", **asked)
    assert elsewhere[0] == 421


async def test_one_request_too_many_of_a_client_is_told_to_come_back():
    may_answer = asyncio.Event()

    app = http_app(EchoServer(may_answer), LOCAL, ServerLimits(connections=8))
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(ask(LOCAL, app)) for _ in range(2)]
        await asyncio.sleep(0)
        status, headers, _ = await ask(LOCAL, app)
        may_answer.set()
    assert (status, headers[b"retry-after"]) == (503, b"5")
    assert [each.result()[0] for each in held] == [200, 200]

"""Sessions of the handshake protocol that go on in another process."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
import pytest
from typing_extensions import override

from searx_mcp.server.app import Server, build_server
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, HEADERS, HELLO, serving, sessions_of

pytestmark = pytest.mark.slow

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
SEARCH = {"name": "web_search", "arguments": {"query": "bees"}}
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": SEARCH}


class Counted(PartOfService):
    """Finds nothing once it may answer, and counts who asked."""

    def __init__(self) -> None:
        self.count = 0
        self.is_asked, self.may_answer, self.is_cancelled = (asyncio.Event() for _ in range(3))
        self.may_answer.set()

    @override
    async def search(self, request, /, *, progress=None):
        self.count += 1
        if progress is not None:
            progress("asking")
        self.is_asked.set()
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.is_cancelled.set()
            raise
        return found_nothing(request)


class Process:
    """A server, as if in a process of its own."""

    def __init__(self, service: Counted, server: Server, url: str) -> None:
        self.service = service
        self.url = url
        self.server = server


@asynccontextmanager
async def process(**http: object) -> AsyncIterator[Process]:
    settings = Settings.model_validate({"http": {"port": 0, **http}})
    service = Counted()
    server = build_server(settings, service=service)
    async with serving(server, settings.http) as url:
        yield Process(service, server, url)


@asynccontextmanager
async def two(**http: object) -> AsyncIterator[tuple[Process, Process]]:
    async with asyncio.timeout(DEADLINE), process(**http) as one, process(**http) as other:
        yield one, other


async def ask(
    at: Process,
    message: object,
    session: str = "",
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> httpx2.Response:
    sent = {**HEADERS, **(headers or {}), **({"Mcp-Session-Id": session} if session else {})}
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        content = json.dumps(message) if method == "POST" else ""
        return await http.request(method, at.url, content=content, headers=sent)


async def begin(at: Process, name: str = "a test", headers: Mapping[str, str] | None = None) -> str:
    client = {"name": name, "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    answer = await ask(at, {**HELLO, "params": params}, headers=headers)
    assert answer.status_code == 200
    session: str = answer.headers["mcp-session-id"]
    return session


async def test_the_id_of_a_session_stays_the_same_wherever_it_goes_on():
    async with two() as (one, other):
        session = await begin(one)
        answers = [await ask(each, PING, session) for each in (other, one, other)]
        assert (len(sessions_of(one.server)), len(sessions_of(other.server))) == (1, 1)
    assert {answer.headers["mcp-session-id"] for answer in answers} == {session}
    assert len(session) < 200
    assert session.isprintable()


async def test_a_process_begins_one_session_however_many_requests_come_at_once():
    async with two() as (one, other):
        session = await begin(one)
        async with asyncio.TaskGroup() as group:
            calls = [{**CALL, "id": number} for number in range(8)]
            asked = [group.create_task(ask(other, call, session)) for call in calls]
        assert len(sessions_of(other.server)) == 1
    assert {each.result().status_code for each in asked} == {200}


async def test_a_client_cancels_where_its_session_goes_on():
    async with two() as (one, other):
        session = await begin(one)
        other.service.may_answer.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(ask(other, CALL, session))
            await other.service.is_asked.wait()
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": 7}}
            await ask(other, {"jsonrpc": "2.0", **cancelled}, session)
            await other.service.is_cancelled.wait()


async def test_a_cancellation_that_reaches_another_process_leaves_the_call_to_its_connection():
    async with two() as (one, other):
        session = await begin(one)
        one.service.may_answer.clear()
        async with asyncio.TaskGroup() as group:
            call = group.create_task(ask(one, CALL, session))
            await one.service.is_asked.wait()
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": 7}}
            told = await ask(other, {"jsonrpc": "2.0", **cancelled}, session)
            assert told.status_code == 202
            assert not one.service.is_cancelled.is_set()
            call.cancel()
            await one.service.is_cancelled.wait()


async def test_progress_and_the_stream_of_a_session_come_from_whichever_process_is_asked():
    async with two() as (one, other):
        session = await begin(one)
        with_progress = {**SEARCH, "_meta": {"progressToken": "p"}}
        answer = await ask(other, {**CALL, "params": with_progress}, session)
        lines = answer.text.splitlines()
        told = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        assert [row.get("method", row.get("id")) for row in told] == ["notifications/progress", 7]
        assert told[0]["params"]["progressToken"] == "p"
        headers = {**HEADERS, "Mcp-Session-Id": session}
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=DEADLINE, headers=headers) as http,
            http.stream("GET", other.url) as stream,
        ):
            assert stream.status_code == 200
            assert stream.headers["content-type"].startswith("text/event-stream")


async def test_a_session_may_be_ended_at_any_process_and_is_then_over_there():
    async with two() as (one, other):
        session = await begin(one)
        assert (await ask(other, None, session, "DELETE")).status_code == 200
        assert (await ask(other, PING, session)).status_code == 404
        assert (await ask(other, None, session, "DELETE")).status_code == 404
        assert len(sessions_of(other.server)) == 0
        assert (await ask(one, None, session, "DELETE")).status_code == 200
        assert (await ask(one, PING, session)).status_code == 404


async def test_a_session_goes_on_under_each_token_by_itself(write_tokens):
    path, made = write_tokens(a="", b="")
    tokens = {name: {"Authorization": f"Bearer {token}"} for name, token in made.items()}
    async with two(tokens_file=str(path)) as (one, other):
        session = await begin(one, headers=tokens["a"])
        assert (await ask(one, PING, session, headers=tokens["b"])).status_code == 404
        for name in ("b", "a", "b"):
            assert (await ask(other, PING, session, headers=tokens[name])).status_code == 200
        assert len(sessions_of(other.server)) == 2
        assert (await ask(other, None, session, "DELETE", tokens["b"])).status_code == 200
        assert (await ask(other, PING, session, headers=tokens["a"])).status_code == 200


@pytest.mark.parametrize("name", ["", "蜂" * 500, 'a "b"\n\x00'])
async def test_whatever_a_client_calls_itself_its_session_goes_on(name):
    async with two() as (one, other):
        session = await begin(one, name)
        assert (await ask(other, PING, session)).status_code == 200
    assert len(session) < 1_000


def written(told: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "session",
    [
        "0" * 32,
        "0" * 32 + ".",
        "0" * 32 + ".A",
        "0" * 32 + "." + written("2025-06-18"),
        "0" * 32 + "." + written(["2025-06-18", "a"]),
        "0" * 32 + "." + written(["2025-06-18", {"name": "a"}, "1"]),
        "0" * 32 + "." + base64.urlsafe_b64encode(b"[" * 800).decode(),
        "0" * 32 + "." + base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        "0" * 32 + "." + "A" * 5_000,
        "X" * 32 + "." + written(["2025-06-18", "a", "1"]),
        "..",
    ],
)
async def test_an_id_that_is_none_of_ours_begins_nothing(session):
    async with asyncio.timeout(DEADLINE), process() as one:
        for message, method in ((PING, "POST"), (None, "GET"), (None, "DELETE")):
            answer = await ask(one, message, session, method)
            assert answer.status_code in ({200, 404} if method == "DELETE" else {404})
        assert len(sessions_of(one.server)) == 0

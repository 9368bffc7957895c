"""The progress of a service of ours, which tells of it in events."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from typing_extensions import override

from searx_mcp.errors import DeadlineError, ErrorCode, SearxMcpError, SiteError
from searx_mcp.evidence.requests import AnswerRequest
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import dumped
from searx_mcp.remote.exchange import Events
from searx_mcp.render.structured import scrub
from tests.doubles.raw import RawServer
from tests.remote.conftest import answer, asking
from tests.remote.test_client import met
from tests.server.rest.conftest import Known

QUESTION = AnswerRequest(query="do they fly?")
SEARCH = SearchRequest(query="bees")
ONE, TWO = "read 1 of 3 pages", "Searching the web..."
OTHERWISE = "the remote service is at work"


def event(name: str, data: object) -> bytes:
    written = data if isinstance(data, bytes) else json.dumps(data).encode()
    return b"event: %s\ndata: %s\n\n" % (name.encode(), written)


def progress(message: object) -> bytes:
    return event("progress", {"progress": 1, "message": message})


@pytest.fixture
async def raw() -> AsyncIterator[RawServer]:
    """Give a service that tells of the progress of searches."""
    routes = {"routes": [{"path": "/v1/search", "streams": True}]}
    async with RawServer({"/v1/capabilities": answer(200, routes)}) as server:
        yield server


async def asked(raw: RawServer, body: bytes, told: list[str]) -> None:
    raw.play("/v1/search?whole=true", answer(200, body, content_type="text/event-stream"))
    async with asking(raw.url) as client:
        await client.search(SEARCH, progress=told.append)


async def test_progress_is_passed_on_and_the_answer_is_the_same() -> None:
    service, told = Known(), list[str]()
    async with met(service) as client:
        found = await client.answer(QUESTION, progress=told.append)
    assert told == [
        "asking the remote service",
        "reading 1 page",
        "the remote service is at work",
    ]
    assert dumped(found) == scrub(dumped(await service.answer(QUESTION)))


@pytest.mark.parametrize(
    "failure",
    [
        DeadlineError("The call was not completed"),
        SiteError("It is gone.", code=ErrorCode.NOT_FOUND, url="https://a.example/"),
        SiteError("Slow down.", code=ErrorCode.RATE_LIMITED, retry_after=60),
    ],
    ids=lambda each: each.code,
)
async def test_a_failure_after_progress_is_the_one_of_the_service(failure: SearxMcpError) -> None:
    service = Known()
    service.fails_late = failure
    async with met(service) as client:
        with pytest.raises(type(failure)) as caught:
            await client.answer(QUESTION, progress=lambda _: None)
    assert caught.value.code is failure.code
    assert failure.message in caught.value.quoted


async def test_progress_is_told_while_the_call_goes_on_and_a_call_that_is_given_up_ends_there() -> (
    None
):
    service, is_told = Known(), asyncio.Event()
    service.holds = True

    def tell(message: str) -> None:
        if message == "reading 1 page":
            is_told.set()

    async with met(service) as client, asyncio.TaskGroup() as group:
        asking_it = group.create_task(client.answer(QUESTION, progress=tell))
        await is_told.wait()
        assert not service.is_cancelled.is_set()
        asking_it.cancel()
        await service.is_cancelled.wait()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "ends without a result"),
        (b"\n\n", "ends without a result"),
        (progress("1 page"), "ends without a result"),
        (event("result", {})[:-1], "ends without a result"),
        (event("other", {}), "ends without a result"),
        (event("result", b"{"), "is not valid JSON"),
        (event("result", b"[" + b"[]," * 600_000 + b"1]"), "has more than 1,000,000 values"),
        (event("result", {}), "does not fit this call"),
        (event("error", {}), "failed (HTTP 500)"),
        (event("error", {"error": {"status": 204}}), "failed (HTTP 500)"),
        (event("error", {"error": {"status": 429}}), "refuses further requests"),
    ],
    ids=range(11),
)
async def test_an_answer_that_does_not_end_as_it_should_is_an_error(
    raw: RawServer, body: bytes, words: str
) -> None:
    with pytest.raises(SearxMcpError) as caught:
        await asked(raw, body, [])
    assert words in caught.value.message


async def test_a_route_that_tells_nothing_is_not_asked_for_events(raw: RawServer) -> None:
    raw.play("/v1/capabilities", answer(200, {"routes": [{"path": "/v1/search"}]}))
    with pytest.raises(SearxMcpError):
        await asked(raw, b"", [])
    assert "Accept: application/json" in raw.heads[-1].splitlines()


def test_messages_are_told_as_soon_as_they_are_whole_however_they_arrive() -> None:
    told: list[str] = []
    events, body = Events(told.append), bytearray()
    whole = b":\n\n" + progress(ONE) + b":\n\n" + progress(TWO) + event("result", {"a": 1})
    for at, byte in enumerate(whole):
        body.append(byte)
        events(body)
        expected = [word for word in (ONE, TWO) if progress(word) in whole[: at + 1]]
        assert told == expected


class Counted(bytearray):
    """Counts the bytes that are searched."""

    searched = 0

    @override
    def find(self, *arguments: Any) -> int:
        found, begin = super().find(*arguments), arguments[1]
        self.searched += (len(self) if found < 0 else found + 2) - begin
        return found


@pytest.mark.parametrize("part", [b"x", b"\n", b":\n\n"])
def test_no_byte_of_a_long_answer_is_looked_at_again(part: bytes) -> None:
    body = Counted()
    events = Events(lambda _: None)
    for _ in range(500):
        body += part
        events(body)
    assert body.searched <= 3 * len(body)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (progress("read 1\u200b of\n3 pages"), [ONE]),
        (progress(f"{ONE} Obey."), [OTHERWISE]),
        (progress("x" * 1_000), [OTHERWISE]),
        (progress("x" * 2_000), []),
        (progress(ONE) * 2_000, [ONE] * 1_000),
        (b":\n\n" * 1_000 + progress(ONE), []),
        (progress(""), []),
        (progress(7), []),
        (event("progress", [1]), []),
        (event("progress", b"{" * 1_000), []),
        (event("note", {"message": ONE}), []),
    ],
    ids=range(11),
)
async def test_what_is_passed_on_is_bounded(raw: RawServer, sent: bytes, told: list[str]) -> None:
    found: list[str] = []
    with pytest.raises(SearxMcpError, match="ends without a result"):
        await asked(raw, sent, found)
    assert found == ["asking the remote service", *told]

"""Progress as server-sent events, and clients that go, over a real socket."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from searx_mcp.errors import DeadlineError
from searx_mcp.server.http import ServerLimits

pytestmark = pytest.mark.slow

PATH, BODY = "/v1/answer", {"query": "do they fly?"}
EVENTS = {"Accept": "text/event-stream"}


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in block.split("\n") if line[:1] not in {"", ":"}
        )
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


async def test_progress_comes_before_the_result_in_one_stream(open_rest, service):
    async with open_rest() as rest:
        answer = await rest.post(PATH, json=BODY, headers={**EVENTS, "Accept-Encoding": "gzip"})
        plain = await rest.post(PATH, json=BODY)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "content-encoding" not in answer.headers
    *progress, (last, result) = events_of(answer.text)
    assert progress == [
        ("progress", {"progress": 1, "message": "reading 1 page"}),
        ("progress", {"progress": 2, "message": "choosing \ufffd passages"}),
    ]
    assert (last, result) == ("result", plain.json())
    assert plain.headers["content-type"] == "application/json"


async def test_a_failure_has_its_status_until_the_stream_has_begun_and_is_its_last_event_then(
    open_rest, service
):
    async with open_rest() as rest:
        wrong = await rest.post(PATH, json={"query": ""}, headers=EVENTS)
        service.failure = DeadlineError("The call was not completed")
        early = await rest.post(PATH, json=BODY, headers=EVENTS)

        service.failure = None
        service.fails_late = DeadlineError("The call was not completed")
        late = await rest.post(PATH, json=BODY, headers=EVENTS)
    assert (wrong.status_code, early.status_code, late.status_code) == (422, 504, 200)
    assert wrong.headers["content-type"] == "application/json"
    name, told = events_of(late.text)[-1]
    assert (name, told["error"]["code"], told["error"]["status"]) == (
        "error",
        "deadline_exceeded",
        504,
    )


@pytest.mark.parametrize("headers", [EVENTS, {}], ids=["events", "one piece"])
async def test_a_client_that_goes_ends_its_call(open_rest, service, headers, caplog):
    service.holds = True
    async with open_rest() as rest:
        caplog.set_level("INFO", "searx_mcp.server")
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(rest.post(PATH, json=BODY, headers=headers))
            await service.is_reached.wait()
            asking.cancel()
        await service.is_cancelled.wait()
        service.holds = False
        assert (await rest.post(PATH, json=BODY)).status_code == 200
    lines = [line for line in caplog.messages if line.startswith("server.response")]
    assert "code=cancelled" in lines[0]


@pytest.mark.parametrize("headers", [EVENTS, {}], ids=["events", "one piece"])
async def test_a_server_that_stops_tells_whoever_waits(open_rest, service, headers):
    service.holds = True
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        async with asyncio.TaskGroup() as group, open_rest(limits=ServerLimits(stop=0.1)) as rest:
            url = rest.base_url.join(PATH)
            asking = group.create_task(client.post(url, json=BODY, headers=headers))
            await service.is_reached.wait()
        answer = asking.result()
    if headers:
        name, told = events_of(answer.text)[-1]
        assert name == "error"
    else:
        assert answer.status_code == 503
        told = answer.json()
    assert told["error"]["code"] == "connection_error"
    assert "stopping" in told["error"]["message"]
    assert service.is_cancelled.is_set()

"""A service of ours, which announces all its routes, behind a real socket."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.errors import (
    DeadlineError,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    SiteError,
    UnavailableReason,
)
from searx_mcp.errors import ErrorCode as Code
from searx_mcp.evidence.requests import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import dumped
from searx_mcp.remote.client import RemoteClient
from searx_mcp.render.structured import scrub
from searx_mcp.server.app import build_server
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings
from tests.doubles.raw import Connection, RawServer
from tests.doubles.serving import serving
from tests.remote.conftest import asking
from tests.server.rest.conftest import Known
from tests.server.rest.test_raw_search import RESULT, Keyed

CAPABILITIES = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 34\r\n\r\n"
    b'{"routes": [{"path": "/v1/answer"}]}'.replace(b": ", b":")
)
"""Of a service that has one route alone."""
REQUESTS: dict[str, Any] = {
    "search": SearchRequest(
        query="bees",
        category="news",
        language="de",
        results_count=3,
        safe_search=0,
        time_range="week",
        allowed_domains=("a.example",),
        engines=("bing",),
        search_prompt="honey",
        timeout=9,
        max_tokens=700,
        offset=4,
    ),
    "fetch": FetchRequest(
        url="https://a.example/",
        offset=10,
        max_chars=500,
        prompt="bees",
        images="inline",
        timeout=9,
    ),
    "read_page": ReadRequest(url="https://a.example/", query=("a?", "b?"), timeout=9),
    "answer": AnswerRequest(query="why?", url=("https://a.example/",), timeout=9, max_tokens=700),
    "search_corpus": CorpusSearchRequest(query="why?", top_k=5),
    "corpus_status": StatusRequest(source_url="https://a.example/", include_urls=False),
    "ingest": IngestRequest(url=("https://a.example/",), force_refresh=True, timeout=9),
}


async def hang(connection: Connection) -> None:
    await connection.hang()


@asynccontextmanager
async def met(service: Known) -> AsyncIterator[RemoteClient]:
    async with serving(build_server(Settings(), service=service)) as url:
        async with asking(url.removesuffix("/mcp")) as client:
            yield client


async def test_every_call_arrives_as_it_was_made_and_its_answer_comes_back_whole() -> None:
    service = Known()
    async with met(service) as client:
        for name, request in REQUESTS.items():
            answer = await getattr(client, name)(request)
            arrived = service.asked[-1]
            assert arrived == request, name
            expected = dumped(await getattr(service, name)(request))
            assert dumped(answer) == scrub(expected), name
        assert await client.instances() == service.report
        assert await client.offered() == {*Tool}


async def test_several_searches_are_one_request() -> None:
    service = Known()
    request = SearchRequest(query="bees", queries=("wasps",))
    async with met(service) as client:
        batch = await client.search_all(request)
    assert [each.query for each in batch.queries] == ["bees", "wasps"]


async def test_the_json_of_a_provider_comes_back_untouched() -> None:
    service = Keyed()
    request = SearchRequest(query="bees", queries=("wasps",), results_count=20)
    async with met(service) as client:
        batch = await client.raw_search("google", request)
        with pytest.raises(InvalidArgumentError) as caught:
            await client.raw_search("bing", request)
    assert [(each.query, each.result) for each in batch.queries] == [
        ("bees", scrub(RESULT)),
        ("wasps", scrub(RESULT)),
    ]
    assert service.asked[0] == ("google", request.model_copy(update={"timeout": 30}))
    assert caught.value.field == "provider"


@pytest.mark.slow
async def test_the_example_prints_what_the_service_finds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "remote.md").read_text("utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    async with serving(build_server(Settings(), service=Known())) as url:
        code = example.replace("https://search.example.org", url.removesuffix("/mcp"))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", code), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert "https://a.example/bees" in output.decode()


async def test_passages_come_back_for_the_text_that_a_model_reads() -> None:
    async with met(Known()) as client:
        found = await client.search(SearchRequest(query="bees"))
    content = found.results[0].content
    assert content is not None
    assert [passage.text for passage in content.passages] == ["They fly."]


@pytest.mark.parametrize(
    "failure",
    [
        NoInstancesError(
            "All are busy",
            reason=UnavailableReason.BUDGET_SPENT,
            retry_after=30,
            attempts=(
                Attempt(
                    instance="https://i.example/", verdict=Verdict.CHALLENGE, format=Format.JSON
                ),
            ),
        ),
        SiteError(
            "The page is gone.", code=Code.NOT_FOUND, url="https://a.example/", status_code=410
        ),
        SearxMcpError("Something is wrong", code=Code.INTERNAL),
    ],
)
async def test_an_error_comes_back_as_what_it_is_and_its_words_as_a_quote(
    failure: SearxMcpError,
) -> None:
    service = Known()
    service.failure = failure
    async with met(service) as client:
        with pytest.raises(type(failure)) as caught:
            await client.search(SearchRequest(query="bees"))
    assert failure.message in caught.value.quoted
    assert failure.message not in caught.value.message + caught.value.advice
    assert caught.value.code is failure.code
    assert getattr(caught.value, "attempts", ()) == getattr(failure, "attempts", ())
    assert getattr(caught.value, "status_code", None) == getattr(failure, "status_code", None)


async def test_it_can_be_opened_again_and_closing_twice_is_harmless() -> None:
    client = RemoteClient(Settings(remote={"url": "http://127.0.0.1:9/"}))
    for _ in range(2):
        async with client:
            await client.aclose()
    with pytest.raises(RuntimeError, match="open the RemoteClient first"):
        await client.search(SearchRequest(query="bees"))
    assert repr(client) == "<RemoteClient closed>"


async def test_calls_at_a_service_that_hangs_share_a_request_and_end_at_their_own_time() -> None:
    loop = asyncio.get_running_loop()

    async def ended(client: RemoteClient, seconds: float | None) -> float:
        begun = loop.time()
        with pytest.raises(DeadlineError, match="timed out after"):
            await client.search(SearchRequest(query="bees", timeout=seconds))
        return loop.time() - begun

    async with RawServer({"/v1/capabilities": hang}) as raw, asking(raw.url, timeout=3) as client:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(ended(client, each)) for each in (*[None] * 6, 1)]
        asked = raw.connections
    assert [call.result() for call in calls] == pytest.approx([*[3] * 6, 1], abs=0.5)
    assert asked <= 2, "one for all; perhaps another as the first one ends"


async def test_a_call_that_joins_a_request_near_its_end_has_time_for_another() -> None:
    async def hang(connection: Connection) -> None:
        reached.set()
        await connection.hang()

    reached = asyncio.Event()
    async with RawServer({"/v1/capabilities": hang}) as raw, asking(raw.url, timeout=2) as client:
        first = asyncio.ensure_future(client.search(SearchRequest(query="bees")))
        await reached.wait()
        await asyncio.wait([first], timeout=1)
        second = asyncio.ensure_future(client.offered())
        raw.play("/v1/capabilities", CAPABILITIES)
        with pytest.raises(DeadlineError):
            await first
        assert await second == {Tool.ANSWER}


async def test_the_time_of_a_call_counts_from_its_beginning() -> None:
    async def late(connection: Connection) -> None:
        loop.call_later(1, go.set)
        await go.wait()
        await connection.send(CAPABILITIES)

    scripts = {"/v1/capabilities": late, "/v1/answer?whole=true": hang}
    loop, go = asyncio.get_running_loop(), asyncio.Event()
    async with RawServer(scripts) as raw, asking(raw.url, timeout=2) as client:
        begun = loop.time()
        with pytest.raises(DeadlineError, match="after 2000 ms"):
            await client.answer(AnswerRequest(query="why?"))
        assert loop.time() - begun == pytest.approx(2, abs=0.5)


async def test_a_service_that_was_away_for_a_moment_has_all_its_tools_again(pass_by) -> None:
    async with RawServer() as raw, asking(raw.url) as client:
        few = await client.offered()
        raw.play("/v1/capabilities", CAPABILITIES)
        pass_by(50)
        still_few = await client.offered()
        pass_by(10)
        assert await client.offered() == {Tool.ANSWER}
        pass_by(10_000)
        await client.offered()
    assert few == still_few == {Tool.WEB_SEARCH, Tool.WEB_FETCH, Tool.SEARCH, Tool.FETCH}
    assert len(raw.heads) == 2


async def test_a_caller_that_leaves_takes_the_request_of_nobody_else_along() -> None:
    async def hang(connection: Connection) -> None:
        reached.set()
        await go.wait()
        await connection.send(CAPABILITIES)

    reached, go = asyncio.Event(), asyncio.Event()
    async with RawServer({"/v1/capabilities": hang}) as raw, asking(raw.url) as client:
        leaving, staying = (asyncio.ensure_future(client.offered()) for _ in range(2))
        await reached.wait()
        leaving.cancel()
        await asyncio.wait([leaving])
        go.set()
        assert await staying == {Tool.ANSWER}
    assert raw.connections == 1

import asyncio
import gzip
import logging
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import NoReturn

import pytest
import trustme
from aiohttp import web

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.net.config import NetworkConfig
from searx_mcp.net.sessions import Sessions
from searx_mcp.searxng.persona import Personas, honest
from searx_mcp.searxng.request import InstanceQuery
from searx_mcp.searxng.upstream import MAX_BODY, MAX_ON_LOOP, Upstream

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

QUERY = InstanceQuery("hello world")
RESULT = {"title": "A", "engine": "bing", "content": ""}


@dataclass
class Instance:
    """A server on loopback that answers with whatever `handler` says, and remembers requests."""

    handler: Handler
    url: str = ""
    requests: list[web.BaseRequest] = field(default_factory=list)


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Awaitable[Instance]]]:
    """Start instances; all are stopped at the end."""
    runners: list[web.ServerRunner] = []

    async def run(handler: Handler, *, tls: ssl.SSLContext | None = None) -> Instance:
        instance = Instance(handler)

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            instance.requests.append(request)
            return await instance.handler(request)

        runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        port = runner.addresses[0][1]
        instance.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/sx/"
        return instance

    yield run
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
async def upstream_for(
    rng: random.Random,
) -> AsyncIterator[Callable[..., Upstream]]:
    """Make an upstream whose own instances are the given ones."""
    made: list[Sessions] = []

    def make(*urls: str) -> Upstream:
        sessions = Sessions(NetworkConfig(), own_origins=urls)
        made.append(sessions)
        personas = Personas(rotate=False, rng=rng, user_agent_source=lambda _rng: "")
        return Upstream(own=lambda: sessions.own, public=lambda: sessions.public, personas=personas)

    yield make
    for sessions in made:
        await sessions.aclose()


Start = Callable[..., Awaitable[Instance]]
UpstreamFor = Callable[..., Upstream]


def _results(count: int) -> dict[str, object]:
    return {"results": [RESULT | {"url": f"https://a.example/{n}"} for n in range(count)]}


def _always(response: Callable[[], web.StreamResponse]) -> Handler:
    async def handler(_request: web.BaseRequest) -> web.StreamResponse:
        return response()

    return handler


async def test_a_search_asks_once_under_the_prefix_and_reads_the_answer(
    start: Start, upstream_for: UpstreamFor
) -> None:
    instance = await start(_always(lambda: web.json_response(_results(5))))

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert outcome.verdict is Verdict.FULL
    assert outcome.page is not None
    assert len(outcome.page.hits) == 5
    assert (outcome.status_code, outcome.format) == (200, Format.JSON)
    assert outcome.elapsed > 0
    (request,) = instance.requests
    assert request.path == "/sx/search"
    assert request.query["q"] == "hello world"
    assert request.headers["User-Agent"] == honest()["User-Agent"]
    assert not {"Referer", "Cookie"} & set(request.headers)


async def test_a_large_page_is_parsed_all_the_same(
    start: Start, upstream_for: UpstreamFor, results_page: Callable[..., bytes]
) -> None:
    row = '<article class="result"><h3><a href="https://a.example/">A</a></h3></article>'
    body = results_page(row * 3, beside=f"<p>{'x' * MAX_ON_LOOP}</p>")
    instance = await start(_always(lambda: web.Response(body=body, content_type="text/html")))

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.HTML, timeout=5
    )

    assert outcome.verdict is Verdict.FULL


async def test_a_compressed_answer_is_decoded(start: Start, upstream_for: UpstreamFor) -> None:
    body = gzip.compress(b'{"results": [], "answers": ["42"]}')
    instance = await start(
        _always(lambda: web.Response(body=body, headers={"Content-Encoding": "gzip"}))
    )

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert outcome.verdict is Verdict.FULL


@pytest.mark.parametrize(
    ("status", "headers", "verdict"),
    [
        pytest.param(302, {"Location": "/sx/"}, Verdict.BLOCKED, id="redirect is not followed"),
        pytest.param(429, {"Retry-After": "7"}, Verdict.RATE_LIMITED, id="rate limited"),
        pytest.param(403, {}, Verdict.JSON_OFF, id="JSON off"),
        pytest.param(500, {}, Verdict.SERVER_ERROR, id="server error"),
        pytest.param(
            503, {"Content-Encoding": "br"}, Verdict.SERVER_ERROR, id="failure nobody can decode"
        ),
        pytest.param(
            200, {"Content-Encoding": "br"}, Verdict.MALFORMED, id="answer nobody can decode"
        ),
    ],
)
async def test_a_status_becomes_an_outcome(
    start: Start, upstream_for: UpstreamFor, status: int, headers: dict[str, str], verdict: Verdict
) -> None:
    instance = await start(_always(lambda: web.Response(status=status, headers=headers, body=b"x")))

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert (outcome.verdict, outcome.status_code) == (verdict, status)
    assert outcome.retry_after == (7.0 if status == 429 else None)
    assert outcome.detail
    assert len(instance.requests) == 1


async def test_a_body_without_end_is_cut(start: Start, upstream_for: UpstreamFor) -> None:
    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(MAX_BODY // 65_536 + 4):
            await response.write(b" " * 65_536)
        return response

    instance = await start(endless)

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=20
    )

    assert outcome.verdict is Verdict.MALFORMED
    assert outcome.detail == "The answer was cut off."


@pytest.mark.parametrize("headers_first", [False, True], ids=["no answer", "no body"])
async def test_a_silent_instance_times_out(
    start: Start, upstream_for: UpstreamFor, *, headers_first: bool
) -> None:
    released = asyncio.Event()

    async def silent(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        if headers_first:
            await response.prepare(request)
            await response.write(b"{")
        await released.wait()
        return response

    instance = await start(silent)

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=0.05
    )
    released.set()

    assert outcome.verdict is Verdict.TIMEOUT
    assert outcome.elapsed > 0


async def test_a_closed_port_is_a_connection_failure(
    upstream_for: UpstreamFor, unused_url: str
) -> None:
    outcome = await upstream_for(unused_url).search(
        unused_url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert (outcome.verdict, outcome.status_code) == (Verdict.CONNECTION, None)


async def test_a_name_that_does_not_resolve_is_a_dns_failure(upstream_for: UpstreamFor) -> None:
    url = "http://nowhere.invalid/"  # RFC 6761 §6.4: never resolves

    outcome = await upstream_for(url).search(url, QUERY, own=True, format=Format.JSON, timeout=5)

    assert outcome.verdict is Verdict.DNS


async def test_an_unknown_certificate_is_a_tls_failure(
    start: Start, upstream_for: UpstreamFor
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    instance = await start(_always(lambda: web.Response(body=b"{}")), tls=context)

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert outcome.verdict is Verdict.TLS
    assert not instance.requests


async def test_an_answer_that_is_not_http_is_malformed(upstream_for: UpstreamFor) -> None:
    async def babble(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        outcome = await upstream_for(url).search(
            url, QUERY, own=True, format=Format.JSON, timeout=5
        )

    assert outcome.verdict is Verdict.MALFORMED


async def test_a_public_instance_at_a_private_address_is_never_reached(
    start: Start, upstream_for: UpstreamFor
) -> None:
    instance = await start(_always(lambda: web.json_response(_results(5))))

    outcome = await upstream_for(instance.url).search(
        instance.url, QUERY, own=False, format=Format.HTML, timeout=5
    )

    assert outcome.verdict is Verdict.CONNECTION
    assert not instance.requests


async def test_an_unusable_address_is_an_outcome_too(upstream_for: UpstreamFor) -> None:
    outcome = await upstream_for().search(
        "http://[broken/", QUERY, own=True, format=Format.HTML, timeout=5
    )

    assert outcome.verdict is Verdict.CONNECTION


async def test_a_mistake_of_ours_costs_one_attempt(
    rng: random.Random, caplog: pytest.LogCaptureFixture
) -> None:
    def no_session() -> NoReturn:
        raise RuntimeError("a bug")

    personas = Personas(rotate=False, rng=rng, user_agent_source=lambda _rng: "")
    upstream = Upstream(own=no_session, public=no_session, personas=personas)

    with caplog.at_level(logging.ERROR):
        outcome = await upstream.search(
            "https://a.example/", QUERY, own=True, format=Format.HTML, timeout=5
        )

    assert outcome.verdict is Verdict.MALFORMED
    assert "searxng.attempt_crashed" in caplog.messages
    assert "hello world" not in caplog.text


async def test_cancelling_a_search_cancels_it(start: Start, upstream_for: UpstreamFor) -> None:
    asked, released = asyncio.Event(), asyncio.Event()

    async def silent(_request: web.BaseRequest) -> web.StreamResponse:
        asked.set()
        await released.wait()
        return web.Response()

    instance = await start(silent)
    upstream = upstream_for(instance.url)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(
            upstream.search(instance.url, QUERY, own=True, format=Format.JSON, timeout=30)
        )
        await asked.wait()
        task.cancel()
    released.set()

    assert task.cancelled()


@pytest.mark.parametrize(
    ("health", "home", "alive"),
    [
        pytest.param((200, "OK"), 500, True, id="healthy"),
        pytest.param((200, "OK\n"), 500, True, id="healthy with a line end"),
        pytest.param((200, "<h1>Welcome</h1>"), 200, False, id="another program"),
        pytest.param((404, "Not Found"), 200, True, id="older than the health check"),
        pytest.param((404, "Not Found"), 503, False, id="nothing there"),
        pytest.param((503, "OK"), 200, False, id="failing"),
        pytest.param((302, ""), 200, False, id="redirect"),
    ],
)
async def test_an_instance_is_alive_when_it_says_so(
    start: Start, upstream_for: UpstreamFor, health: tuple[int, str], home: int, *, alive: bool
) -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        status, text = health if request.path == "/sx/healthz" else (home, "")
        return web.Response(status=status, text=text)

    instance = await start(handler)

    assert await upstream_for(instance.url).is_alive(instance.url, own=True, timeout=5) is alive
    assert all("q" not in request.query for request in instance.requests)


async def test_an_unreachable_instance_is_not_alive(
    upstream_for: UpstreamFor, unused_url: str
) -> None:
    assert not await upstream_for(unused_url).is_alive(unused_url, own=True, timeout=5)


@pytest.fixture
async def unused_url() -> str:
    """An address on loopback where nobody listens."""
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return f"http://127.0.0.1:{port}/"


async def test_rows_nobody_can_read_are_told_with_the_version_and_without_the_query(
    start: Start, upstream_for: UpstreamFor, caplog: pytest.LogCaptureFixture
) -> None:
    row = '<article class="result"><h4>hello world</h4></article>'
    page = (
        '<html><head><meta name="generator" content="searxng/2030.1.1"></head>'
        f'<body class="results_endpoint"><div id="urls">{row * 4}</div></body></html>'
    )
    instance = await start(_always(lambda: web.Response(text=page, content_type="text/html")))

    with caplog.at_level(logging.WARNING):
        outcome = await upstream_for(instance.url).search(
            instance.url, QUERY, own=True, format=Format.HTML, timeout=5
        )

    assert (outcome.rows_seen, outcome.rows_used, outcome.has_drifted) == (4, 0, True)
    host = instance.url.split("/")[2]
    assert caplog.messages == [
        f"searxng.markup_drift instance={host} version=searxng/2030.1.1 rows_seen=4 rows_used=0"
    ]


async def test_a_captured_answer_comes_as_it_was_sent(
    start: Start, upstream_for: UpstreamFor
) -> None:
    instance = await start(_always(lambda: web.json_response(_results(5), headers={"X-Test": "1"})))

    outcome, received = await upstream_for(instance.url).capture(
        instance.url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert outcome.verdict is Verdict.FULL
    assert (outcome.rows_seen, outcome.rows_used) == (5, 5)
    assert received is not None
    assert (received.status, received.headers["X-Test"]) == (200, "1")
    assert b"https://a.example/4" in received.body


async def test_nothing_is_captured_where_nothing_came(
    upstream_for: UpstreamFor, unused_url: str
) -> None:
    outcome, received = await upstream_for(unused_url).capture(
        unused_url, QUERY, own=True, format=Format.JSON, timeout=5
    )

    assert outcome.verdict is Verdict.CONNECTION
    assert received is None


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        pytest.param(200, '["rust", ["rust book", "rust async"], [], {}]', 2, id="for browsers"),
        pytest.param(200, '["rust book"]', 1, id="for pages"),
        pytest.param(200, "[]", 0, id="none"),
        pytest.param(429, '["rust book"]', 0, id="refused"),
    ],
)
async def test_suggestions_are_asked_for_under_the_prefix(
    start: Start, upstream_for: UpstreamFor, status: int, text: str, expected: int
) -> None:
    instance = await start(_always(lambda: web.Response(status=status, text=text)))

    found = await upstream_for(instance.url).suggest(instance.url, "rust !!g", own=True, timeout=5)

    assert len(found) == expected
    (request,) = instance.requests
    assert (request.path, request.query["q"]) == ("/sx/autocompleter", 'rust "!!g"')


async def test_an_instance_that_is_gone_suggests_nothing(
    upstream_for: UpstreamFor, unused_url: str
) -> None:
    assert await upstream_for(unused_url).suggest(unused_url, "rust", own=True, timeout=5) == ()

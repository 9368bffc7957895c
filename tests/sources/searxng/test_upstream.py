import asyncio
import gzip
import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest
import trustme

from searx_mcp.http.body import Response
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.robots import MAX_ROBOTS, RobotsDecision
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.sources.searxng.request import Personas, honest
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.web import FakePage, FakeWeb, PageMaker, drip, huge, silent
from searx_mcp.urls.address import AllowList
from searx_mcp.workers.jobs import MAX_ON_LOOP
from tests.doubles.raw import RawServer

MAX_BODY = 2 * 1_048_576
MAX_CONFIG = 2_000_000

QUERY = InstanceQuery("hello world")
RESULT = {"title": "A", "engine": "bing", "content": ""}


def answer(value: object, **fields: Any) -> FakePage:
    return FakePage(json.dumps(value), "application/json", **fields)


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Awaitable[FakeWeb]]]:
    """Start instances that answer everything with one page; all are closed at the end."""
    async with AsyncExitStack() as stack:

        async def run(page: FakePage | PageMaker, *, tls: ssl.SSLContext | None = None) -> FakeWeb:
            always = (lambda _: page) if isinstance(page, FakePage) else page
            return await stack.enter_async_context(FakeWeb(otherwise=always, ssl_context=tls))

        yield run


def certificate() -> ssl.SSLContext:
    """What nobody trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


def url_of(instance: FakeWeb) -> str:
    return instance.url("/sx/")


BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture
async def upstream_for() -> AsyncIterator[Callable[..., Upstream]]:
    """Make an upstream whose own instances are the given ones; it may ask `public` ones too."""
    made: list[Sessions] = []

    def make(*urls: str, public: Iterable[str] = (), rotate: bool = False) -> Upstream:
        allow = AllowList.parse(urlsplit(url).netloc for url in public)
        sessions = Sessions(NetworkConfig(), own_origins=urls, allow=allow)
        made.append(sessions)
        personas = Personas(rotate=rotate, seed=1, user_agent_source=lambda _rng: BROWSER)
        return Upstream(own=lambda: sessions.own, public=lambda: sessions.public, personas=personas)

    yield make
    for sessions in made:
        await sessions.aclose()


OWN: dict[str, Any] = {"own": True, "format": Format.JSON, "timeout": 5}


@pytest.fixture
def search(upstream_for: Callable[..., Upstream]) -> Callable[..., Awaitable[Outcome]]:
    """Search at an instance, which is an own one unless told."""

    async def run(instance: FakeWeb, **options: Any) -> Outcome:
        options = OWN | options
        url = url_of(instance)
        upstream = upstream_for(url) if options["own"] else upstream_for(public=[url])
        return await upstream.search(url, QUERY, **options)

    return run


def _results(count: int) -> dict[str, object]:
    return {"results": [RESULT | {"url": f"https://a.example/{n}"} for n in range(count)]}


async def test_a_search_asks_once_under_the_prefix_and_reads_the_answer(start, search):
    instance = await start(answer(_results(5)))
    outcome = await search(instance)
    assert outcome.verdict is Verdict.FULL
    assert outcome.page is not None
    assert (len(outcome.page.hits), outcome.status_code, outcome.format) == (5, 200, Format.JSON)
    assert outcome.elapsed > 0
    (request,) = instance.requests
    assert (request.path, request.query["q"]) == ("/sx/search", "hello world")
    assert request.headers["User-Agent"] == honest()["User-Agent"]
    assert not {"Referer", "Cookie"} & set(request.headers)


async def test_a_large_page_is_parsed_all_the_same(start, search, results_page):
    row = '<article class="result"><h3><a href="https://a.example/">A</a></h3></article>'
    body = results_page(row * 3, beside=f"<p>{'x' * MAX_ON_LOOP}</p>")
    instance = await start(FakePage(body))
    outcome = await search(instance, format=Format.HTML)
    assert outcome.verdict is Verdict.FULL


async def test_a_compressed_answer_is_decoded(start, search):
    body = gzip.compress(b'{"results": [], "answers": ["42"]}')
    instance = await start(FakePage(body, headers={"Content-Encoding": "gzip"}))
    outcome = await search(instance)
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
async def test_a_status_becomes_an_outcome(start, search, status, headers, verdict):
    instance = await start(FakePage(b"x", status=status, headers=headers))
    outcome = await search(instance)
    assert (outcome.verdict, outcome.status_code) == (verdict, status)
    assert outcome.retry_after == (7.0 if status == 429 else None)
    assert outcome.detail
    assert len(instance.requests) == 1


async def test_a_body_without_end_is_cut(start, search):
    outcome = await search(await start(huge(MAX_BODY + 300_000)), timeout=20)
    assert (outcome.verdict, outcome.detail) == (Verdict.MALFORMED, "The answer was cut off.")


@pytest.mark.parametrize("page", [silent(), drip("{}", interval=60)], ids=["no answer", "no body"])
async def test_a_silent_instance_times_out(start, search, page):
    outcome = await search(await start(page), timeout=0.05)
    assert outcome.verdict is Verdict.TIMEOUT
    assert outcome.elapsed > 0


async def test_an_answer_that_is_not_http_is_malformed(upstream_for):
    async with RawServer(greeting=b"SSH-2.0-OpenSSH_9.2\r\n\r\n") as server:
        url = f"http://127.0.0.1:{server.port}/"
        outcome = await upstream_for(url).search(url, QUERY, **OWN)
    assert outcome.verdict is Verdict.MALFORMED


async def test_a_mistake_of_ours_costs_one_attempt(caplog):
    def no_session() -> NoReturn:
        raise RuntimeError("a bug")

    personas = Personas(rotate=False, seed=1, user_agent_source=lambda _rng: "")
    upstream = Upstream(own=no_session, public=no_session, personas=personas)
    with caplog.at_level(logging.ERROR):
        outcome = await upstream.search(
            "https://a.example/", QUERY, own=True, format=Format.HTML, timeout=5
        )
    assert outcome.verdict is Verdict.MALFORMED
    assert "sources.request_crashed source=https://a.example/" in caplog.messages
    assert "hello world" not in caplog.text


async def test_cancelling_a_search_cancels_it(start, search):
    instance = await start(silent())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(search(instance, timeout=30))
        await instance.wait_for_requests(1)
        task.cancel()
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
async def test_an_instance_is_alive_when_it_says_so(start, upstream_for, health, home, alive):
    def page(got: ReceivedRequest) -> FakePage:
        status, text = health if got.path == "/sx/healthz" else (home, "")
        return FakePage(text, status=status)

    instance = await start(page)
    url = url_of(instance)
    assert await upstream_for(url).is_alive(url, own=True, timeout=5) is alive
    assert all("q" not in request.query for request in instance.requests)


@pytest.mark.parametrize("rotate", [True, False])
async def test_only_searches_carry_a_persona(start, upstream_for, rotate):
    instance = await start(FakePage(status=404))
    url = url_of(instance)
    upstream = upstream_for(public=[url], rotate=rotate)
    await upstream.robots(url, format=Format.HTML, timeout=5)
    await upstream.is_alive(url, own=False, timeout=5)
    await upstream.config(url, own=False, timeout=5)
    await upstream.search(url, QUERY, own=False, format=Format.HTML, timeout=5)
    name = honest()["User-Agent"]
    requests = [*instance.robots_requests, *instance.requests]
    assert [(request.path, request.headers["User-Agent"]) for request in requests] == [
        ("/robots.txt", name),
        ("/sx/healthz", name),
        ("/sx/", name),
        ("/sx/config", name),
        ("/sx/search", BROWSER if rotate else name),
    ]


@pytest.fixture
def unused_url() -> Iterator[str]:
    """An address nobody listens at, and nobody else can take meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/"


async def test_rows_nobody_can_read_are_told_with_the_version_and_without_the_query(
    start, search, caplog
):
    row = '<article class="result"><h4>hello world</h4></article>'
    page = (
        '<html><head><meta name="generator" content="searxng/2030.1.1"></head>'
        f'<body class="results_endpoint"><div id="urls">{row * 4}</div></body></html>'
    )
    instance = await start(FakePage(page))
    with caplog.at_level(logging.WARNING):
        outcome = await search(instance, format=Format.HTML)
    assert (outcome.page.rows_seen, len(outcome.page.hits), outcome.has_drifted) == (4, 0, True)
    host = url_of(instance).split("/")[2]
    assert caplog.messages == [
        f"searxng.markup_drift instance={host} version=searxng/2030.1.1 rows_seen=4 rows_used=0"
    ]


async def test_a_captured_answer_comes_as_it_was_sent(start, search):
    instance = await start(answer(_results(5), headers={"X-Test": "1"}))
    kept: list[Response] = []
    outcome = await search(instance, keep=kept.append)
    assert (outcome.verdict, outcome.page.rows_seen, len(outcome.page.hits)) == (Verdict.FULL, 5, 5)
    (received,) = kept
    assert (received.status, received.headers["X-Test"]) == (200, "1")
    assert b"https://a.example/4" in received.body


async def test_nothing_is_captured_where_nothing_came(upstream_for, unused_url):
    kept: list[Response] = []
    outcome = await upstream_for(unused_url).search(unused_url, QUERY, **OWN, keep=kept.append)
    assert outcome.verdict is Verdict.CONNECTION
    assert not kept


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
    start, upstream_for, status, text, expected
):
    instance = await start(FakePage(text, status=status))
    url = url_of(instance)
    found = await upstream_for(url).suggest(url, "rust !!g", own=True, timeout=5)
    assert len(found) == expected
    (request,) = instance.requests
    assert (request.path, request.query["q"]) == ("/sx/autocompleter", 'rust "!!g"')


def _home(got: ReceivedRequest) -> FakePage:
    """Four rows that lead back to the instance, and one that does not."""
    addresses = [f"http://{got.headers['Host']}/sx/{n}" for n in range(4)]
    return answer(
        {"results": [RESULT | {"url": url} for url in [*addresses, "https://a.example/"]]}
    )


async def test_hits_that_lead_home_count_against_a_public_instance(start, search):
    instance = await start(_home)
    outcome = await search(instance, own=False, format=Format.HTML)
    assert outcome.verdict is Verdict.THIN
    assert outcome.page is not None
    assert [hit.url for hit in outcome.page.hits] == ["https://a.example/"]
    assert outcome.trust_violation == "4 of 5 results lead back to the instance itself."


async def test_an_answer_of_traps_alone_is_untrusted_and_no_drift(start, search, caplog):
    rows = {"results": [RESULT | {"url": f"https://t.example/?to=https://{n}.example/"}
                        for n in range(4)]}  # fmt: skip
    instance = await start(answer(rows))
    outcome = await search(instance, own=False, format=Format.HTML)
    assert outcome.verdict is Verdict.UNTRUSTED
    assert outcome.trust_violation == outcome.detail == "4 of 4 results lead through t.example."
    assert not outcome.has_drifted
    assert not caplog.messages


async def test_an_own_instance_may_lead_home(start, search):
    instance = await start(_home)
    outcome = await search(instance)
    assert (outcome.verdict, len(outcome.page.hits), outcome.trust_violation) == (
        Verdict.FULL,
        5,
        "",
    )


ROBOTS = "User-agent: searx-mcp\nUser-agent: *\nDisallow: /*?*q=*\n"


@pytest.mark.parametrize(
    ("status", "text", "opted_out"),
    [
        pytest.param(200, ROBOTS, True, id="names us"),
        pytest.param(200, "User-agent: searx-mcp\nDisallow: /sx/", True, id="closes the prefix"),
        pytest.param(200, "User-agent: searx-mcp\nDisallow: /search", False, id="another path"),
        pytest.param(200, "User-agent: *\nDisallow: /", False, id="for crawlers"),
        pytest.param(200, f"{ROBOTS}{'#' * MAX_ROBOTS}", True, id="too long, and names us"),
        pytest.param(200, "#" * (MAX_ROBOTS + 1), False, id="too long"),
        pytest.param(200, "", False, id="empty"),
        pytest.param(204, "", False, id="no content"),
        pytest.param(301, ROBOTS, False, id="redirect"),
        pytest.param(401, ROBOTS, False, id="password"),
        pytest.param(404, ROBOTS, False, id="none"),
        pytest.param(429, ROBOTS, False, id="limited"),
    ],
)
async def test_a_robots_txt_at_the_root_of_the_origin_is_obeyed(
    start, upstream_for, status, text, opted_out
):
    instance = await start(FakePage(text, status=status))
    url = url_of(instance)
    decision = await upstream_for(public=[url]).robots(url, format=Format.HTML, timeout=5)
    assert isinstance(decision, RobotsDecision)
    assert decision.allowed is not opted_out
    (request,) = instance.robots_requests
    assert request.target == "/robots.txt"
    assert request.headers["User-Agent"] == honest()["User-Agent"]


@pytest.mark.parametrize(
    ("status", "headers", "body", "verdict"),
    [
        pytest.param(500, {}, b"", Verdict.SERVER_ERROR, id="failing"),
        pytest.param(503, {"Retry-After": "7"}, b"", Verdict.SERVER_ERROR, id="busy"),
        pytest.param(
            503, {}, b"<title>Just a moment...</title>", Verdict.CHALLENGE, id="challenge"
        ),
        pytest.param(
            200, {"Content-Encoding": "br"}, b"x", Verdict.MALFORMED, id="nobody can decode it"
        ),
        pytest.param(
            200,
            {"Content-Encoding": "gzip"},
            gzip.compress(b"#" * 99)[:-9],
            Verdict.MALFORMED,
            id="cut off",
        ),
    ],
)
async def test_a_robots_txt_that_cannot_be_had_is_a_failure(
    start, upstream_for, status, headers, body, verdict
):
    instance = await start(FakePage(body, status=status, headers=headers))
    url = url_of(instance)
    failure = await upstream_for(public=[url]).robots(url, format=Format.JSON, timeout=5)
    assert isinstance(failure, Outcome)
    assert (failure.verdict, failure.format, failure.status_code) == (verdict, Format.JSON, status)
    assert failure.retry_after == (7.0 if headers.get("Retry-After") else None)
    assert failure.detail
    assert failure.elapsed > 0


async def test_a_host_that_cannot_be_reached_is_a_failure(start, upstream_for, unused_url):
    instance = await start(FakePage(ROBOTS))
    encrypted = await start(FakePage(ROBOTS), tls=certificate())
    cases = {
        unused_url: Verdict.CONNECTION,
        "https://nowhere.invalid:8443/": Verdict.DNS,  # RFC 6761 §6.4: never resolves
        url_of(encrypted): Verdict.TLS,
        url_of(instance): Verdict.CONNECTION,  # a private address, and not allowed
        "http://[broken/": Verdict.CONNECTION,
    }
    upstream = upstream_for(public=[*cases][:3])
    for url, verdict in cases.items():
        failure = await upstream.robots(url, format=Format.HTML, timeout=5)
        search = await upstream.search(url, QUERY, own=False, format=Format.HTML, timeout=5)
        assert isinstance(failure, Outcome)
        for each in (failure, search):
            assert (each.verdict, each.status_code) == (verdict, None), url
    assert not instance.requests
    assert not encrypted.requests


async def test_a_robots_txt_that_does_not_come_in_time_is_a_failure(start, upstream_for):
    url = url_of(await start(silent()))
    failure = await upstream_for(public=[url]).robots(url, format=Format.HTML, timeout=0.05)
    assert isinstance(failure, Outcome)
    assert failure.verdict is Verdict.TIMEOUT


CONFIG = '{"version": "2026.8.22", "limiter": {"enabled": false}}'


@pytest.mark.parametrize(
    ("status", "text", "version"),
    [
        pytest.param(200, CONFIG, "2026.8.22", id="read"),
        pytest.param(200, f"\ufeff{CONFIG}", "2026.8.22", id="with a BOM"),
        pytest.param(200, f"{CONFIG}{' ' * MAX_ON_LOOP}", "2026.8.22", id="read in a thread"),
        pytest.param(200, f"{' ' * MAX_CONFIG}{CONFIG}", None, id="too long"),
        pytest.param(200, "<h1>Welcome</h1>", None, id="another program"),
        pytest.param(302, CONFIG, None, id="redirect"),
        pytest.param(404, CONFIG, None, id="none"),
        pytest.param(503, CONFIG, None, id="failing"),
    ],
)
@pytest.mark.parametrize("own", [True, False], ids=["own", "public"])
async def test_config_is_asked_for_under_the_prefix(
    start, upstream_for, status, text, version, own
):
    instance = await start(FakePage(text, status=status))
    url = url_of(instance)
    upstream = upstream_for(url) if own else upstream_for(public=[url])
    facts = await upstream.config(url, own=own, timeout=5)
    assert (facts.version if facts else None) == version
    (request,) = instance.requests
    assert request.path == "/sx/config"


async def test_an_instance_that_is_gone_tells_nothing(upstream_for, unused_url):
    upstream = upstream_for(unused_url)
    asked = (upstream.is_alive, upstream.config)
    assert [await each(unused_url, own=True, timeout=5) for each in asked] == [False, None]
    assert await upstream.suggest(unused_url, "rust", own=True, timeout=5) == ()


@pytest.mark.parametrize(
    ("url", "resolves"),
    [
        pytest.param("https://nowhere.invalid:8443/", False, id="no such name"),
        pytest.param("https://192.0.2.1/", True, id="a literal address"),
        pytest.param("ftp://a.example/", True, id="may not be asked: a search says why"),
    ],
)
async def test_a_host_resolves_unless_its_name_has_no_address(upstream_for, url, resolves):
    upstream = upstream_for(public=["https://nowhere.invalid:8443/", "https://192.0.2.1:443/"])
    assert await upstream.resolves(url, timeout=5) is resolves

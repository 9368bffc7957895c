"""Sequences measured at SearXNG 2026.8.22; see docs/guides/testing.md."""

import ssl
from typing import Any

import aiohttp
import pytest
import trustme

from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.limiter import FakeLimiter
from searx_mcp.testing.searxng import FakeSearxng

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/143.0.0.0 Safari/537.36"


SEARCH = "search?q=x"
HTML, JSON, GERMAN, STYLESHEET, FORM = (
    {"path": SEARCH}, {"path": f"{SEARCH}&format=json"},
    {"path": SEARCH, "headers": {"Accept-Language": "de"}},
    {"path": "clientfakesearxngtoken.css"},
    {"path": "search", "method": "POST", "data": {"q": "x", "format": "json"}},
)  # fmt: skip
"""What is asked for; the others have the usual headers."""
LOADED = (0, STYLESHEET, [200])
PUBLIC = {"link_token": True}


async def ask(
    http: aiohttp.ClientSession,
    instance: FakeSearxng,
    path: str,
    *,
    method: str = "GET",
    **how: Any,
) -> aiohttp.ClientResponse:
    url = f"{instance.url}{path}"
    async with http.request(method, url, allow_redirects=False, **how) as response:
        await response.read()
    return response


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        # The four answered calls are an hour old in the end, the refused ones are not.
        pytest.param(
            {},
            [(0, JSON, [200] * 4 + [429]), (1_800, JSON, [429] * 4), (1_800, JSON, [429]), (3_600, JSON, [200])],
            id="JSON gets four calls an hour, and refused calls count",
        ),
        pytest.param({}, [(0, JSON, [200] * 4 + [429]), (0, HTML, [200])], id="HTML counts apart"),
        pytest.param({}, [(0, FORM, [200] * 7)], id="JSON in a posted form is not counted"),
        pytest.param(
            {}, [(0, HTML, [200] * 15 + [429] * 3), (20, HTML, [200])], id="a burst of HTML"
        ),
        pytest.param({}, [(3, HTML, [200])] * 150 + [(3, HTML, [429])], id="150 in ten minutes"),
        pytest.param(
            PUBLIC, [(0, HTML, [200, 200, 429, 302, 302])], id="a fast client is sent home"
        ),
        pytest.param(
            PUBLIC,
            [(11, HTML, [200])] * 3 + [(11, HTML, [302])] * 3 + [(30 * 86_400 + 11, HTML, [200])],
            id="a slow client is sent home for thirty days",
        ),
        pytest.param(
            PUBLIC,
            [LOADED, (0, HTML, [200] * 35), (0, JSON, [200] * 4 + [429] * 2), (3_600, HTML, [200, 200, 429])],
            id="the stylesheet lifts the limits of HTML, not those of JSON",
        ),
        pytest.param(
            PUBLIC, [LOADED, (0, GERMAN, [200, 200, 429])], id="for the headers it came with"
        ),
        pytest.param(
            PUBLIC, [LOADED, *[(3_599, HTML, [200])] * 10], id="each search renews its hour"
        ),
        pytest.param(
            PUBLIC,
            [LOADED, *[(0, HTML, [200]), (11, GERMAN, [200])] * 10, (0, HTML, [200]), (11, GERMAN, [429])],
            id="it clears its address, but not the short windows",
        ),
    ],
)  # fmt: skip
async def test_calls_are_counted_in_windows(http, options, steps):
    clock = FakeClock()
    limiter = FakeLimiter(clock=clock)
    async with FakeSearxng(formats=("html", "json"), limiter=limiter, **options) as instance:
        for seconds, request, statuses in steps:
            clock.advance(seconds)
            assert [(await ask(http, instance, **request)).status for _ in statuses] == statuses


async def test_a_refusal_says_too_many_requests_and_nothing_else(http):
    async with FakeSearxng(limiter=FakeLimiter(clock=FakeClock())) as instance:
        for _ in range(15):
            await ask(http, instance, SEARCH)
        async with http.get(f"{instance.url}{SEARCH}") as response:
            assert (response.status, response.content_type) == (429, "text/html")
            assert await response.read() == b"Too Many Requests"
            assert "Retry-After" not in response.headers


async def test_who_is_sent_home_is_told_to_store_nothing(http):
    limiter = FakeLimiter(clock=FakeClock())
    async with FakeSearxng(limiter=limiter, path_prefix="/searx", link_token=True) as instance:
        for _ in range(3):
            await ask(http, instance, SEARCH)
        response = await ask(http, instance, SEARCH)
        assert response.headers["Location"] == "/searx/"
        assert response.headers["Cache-Control"] == "no-store, max-age=0"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="honest"),
        pytest.param({"User-Agent": "curl/8.5.0"}, 429, id="curl"),
        pytest.param({"User-Agent": ""}, 429, id="no-agent"),
        pytest.param({"User-Agent": "python-httpx/0.28"}, 200, id="httpx"),
        pytest.param({"User-Agent": "Python/3.13 aiohttp/3.14"}, 429, id="aiohttp"),
        pytest.param({"User-Agent": "python-requests/2.32"}, 429, id="requests"),
        pytest.param({"User-Agent": "my-Python-tool/1"}, 200, id="python-not-at-the-start"),
        pytest.param({"User-Agent": CHROME}, 200, id="browser-over-http"),
        pytest.param({"Accept": "application/json"}, 429, id="accept-json-only"),
        pytest.param({"Accept": "*/*"}, 200, id="accept-anything"),
        pytest.param({"Accept": ""}, 429, id="no-accept"),
        pytest.param({"Accept": "text/html"}, 200, id="accept-html"),
        pytest.param({"Accept-Language": ""}, 429, id="no-language"),
        pytest.param({"Accept-Encoding": ""}, 429, id="no-encoding"),
        pytest.param({"Accept-Encoding": "br, zstd"}, 429, id="encoding-without-gzip"),
        pytest.param({"Accept-Encoding": "gzip;q=1.0"}, 429, id="encoding-with-quality"),
        pytest.param({"Connection": "close"}, 200, id="connection-close"),
    ],
)
async def test_headers_of_a_search_are_checked(http, headers: dict[str, str], status: int):
    async with (
        FakeSearxng(limiter=FakeLimiter(clock=FakeClock())) as instance,
        http.get(f"{instance.url}search?q=x", headers=headers) as response,
    ):
        assert response.status == status


@pytest.mark.parametrize(
    ("path", "status"),
    [("healthz", 200), ("config", 429), ("stats/errors", 429), ("", 429), ("nowhere", 429)],
)
async def test_pages_look_at_the_user_agent_only_and_healthz_at_nothing(http, path, status):
    limiter = FakeLimiter(clock=FakeClock())
    async with FakeSearxng(limiter=limiter) as instance:
        url = f"{instance.url}{path}"
        async with http.get(url, headers={"User-Agent": "curl/8"}) as response:
            assert response.status == status
        async with http.get(url, headers={"Accept": "", "Accept-Language": ""}) as response:
            assert response.status == (404 if path == "nowhere" else 200)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"User-Agent": CHROME}, 302, id="browser"),
        pytest.param({"User-Agent": CHROME, "Sec-Fetch-Mode": "no-cors"}, 302, id="other-mode"),
        pytest.param({"User-Agent": CHROME, "Sec-Fetch-Mode": "navigate"}, 200, id="navigating"),
        *(
            pytest.param({"User-Agent": f"Mozilla/5.0 {browser}"}, status, id=browser)
            for browser, status in {
                "Chrome/80": 302, "Chrome/79.9": 200, "Firefox/90.0": 302, "Firefox/89.9": 200,
                "Version/16.4 Safari/605": 302, "Version/16.3 Safari/605": 200, "Version/16 Safari/605": 200,
            }.items()
        ),
        pytest.param({}, 200, id="honest"),
    ],
)  # fmt: skip
async def test_over_https_a_browser_has_to_send_sec_fetch_mode(http, headers, status):
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    limiter = FakeLimiter(clock=FakeClock())
    async with FakeSearxng(limiter=limiter, ssl_context=server) as instance:
        assert instance.url.startswith("https://127.0.0.1:")
        async with http.get(
            f"{instance.url}search?q=x", headers=headers, ssl=client, allow_redirects=False
        ) as response:
            assert response.status == status


async def test_a_limiter_without_a_clock_runs_in_real_time(http):
    async with FakeSearxng(link_token=True) as instance:
        seen = [(await ask(http, instance, SEARCH)).status for _ in range(4)]
        assert seen == [200, 200, 429, 302]

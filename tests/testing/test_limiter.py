"""Sequences measured at SearXNG 2026.8.22; see docs/guides/testing.md."""

import ssl

import aiohttp
import pytest
import trustme

from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.limiter import FakeLimiter
from searx_mcp.testing.searxng import FakeSearxng

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/143.0.0.0 Safari/537.36"


async def search(
    http: aiohttp.ClientSession, instance: FakeSearxng, **parameters: str
) -> aiohttp.ClientResponse:
    url = f"{instance.url}search"
    query = {"q": "hello", **parameters}
    async with http.get(url, params=query, allow_redirects=False) as response:
        await response.read()
    return response


async def statuses(
    http: aiohttp.ClientSession, instance: FakeSearxng, count: int, **parameters: str
) -> list[int]:
    return [(await search(http, instance, **parameters)).status for _ in range(count)]


async def test_json_gets_four_calls_an_hour_and_refused_calls_count_too(http):
    clock = FakeClock()
    formats = ("html", "json")
    async with FakeSearxng(formats=formats, limiter=FakeLimiter(clock=clock)) as instance:
        assert await statuses(http, instance, 5, format="json") == [200] * 4 + [429]
        clock.advance(1_800)
        assert await statuses(http, instance, 4, format="json") == [429] * 4
        clock.advance(1_800)
        # The four answered calls are an hour old, the refused ones are not.
        assert await statuses(http, instance, 1, format="json") == [429]
        clock.advance(3_600)
        assert await statuses(http, instance, 1, format="json") == [200]


async def test_html_is_still_answered_to_who_used_up_json(http):
    formats = ("html", "json")
    async with FakeSearxng(formats=formats, limiter=FakeLimiter(clock=FakeClock())) as instance:
        assert (await statuses(http, instance, 5, format="json"))[-1] == 429
        assert await statuses(http, instance, 1) == [200]


async def test_json_in_a_posted_form_is_not_counted(http):
    formats = ("html", "json")
    async with FakeSearxng(formats=formats, limiter=FakeLimiter(clock=FakeClock())) as instance:
        form = {"q": "hello", "format": "json"}
        for _ in range(7):
            async with http.post(f"{instance.url}search", data=form) as response:
                assert response.status == 200
                assert response.content_type == "application/json"


async def test_a_burst_of_html_is_refused_from_the_sixteenth_call_on(http):
    clock = FakeClock()
    async with FakeSearxng(limiter=FakeLimiter(clock=clock)) as instance:
        assert await statuses(http, instance, 18) == [200] * 15 + [429] * 3
        clock.advance(20)
        assert await statuses(http, instance, 1) == [200]


async def test_more_than_150_calls_in_ten_minutes_are_refused(http):
    clock = FakeClock()
    async with FakeSearxng(limiter=FakeLimiter(clock=clock)) as instance:
        for _ in range(150):
            assert await statuses(http, instance, 1) == [200]
            clock.advance(3)
        assert await statuses(http, instance, 1) == [429]


async def test_a_refusal_says_too_many_requests_and_nothing_else(http):
    async with FakeSearxng(limiter=FakeLimiter(clock=FakeClock())) as instance:
        await statuses(http, instance, 15)
        async with http.get(f"{instance.url}search?q=x") as response:
            assert await response.read() == b"Too Many Requests"
            assert response.content_type == "text/html"
            assert "Retry-After" not in response.headers


async def test_without_the_stylesheet_a_fast_client_is_refused_and_then_sent_home(http):
    limiter = FakeLimiter(clock=FakeClock())
    async with FakeSearxng(limiter=limiter, link_token=True) as instance:
        assert await statuses(http, instance, 5) == [200, 200, 429, 302, 302]


async def test_without_the_stylesheet_a_slow_client_is_sent_home_for_thirty_days(http):
    clock = FakeClock()
    async with FakeSearxng(limiter=FakeLimiter(clock=clock), link_token=True) as instance:
        seen = []
        for _ in range(6):
            seen += await statuses(http, instance, 1)
            clock.advance(11)
        assert seen == [200, 200, 200, 302, 302, 302]
        clock.advance(30 * 86_400)
        assert await statuses(http, instance, 1) == [200]


async def test_who_is_sent_home_is_told_to_store_nothing(http):
    limiter = FakeLimiter(clock=FakeClock())
    instance = FakeSearxng(limiter=limiter, link_token=True, path_prefix="/searx")
    async with instance:
        await statuses(http, instance, 3)
        response = await search(http, instance)
        assert response.headers["Location"] == "/searx/"
        assert response.headers["Cache-Control"] == "no-store, max-age=0"


async def test_the_stylesheet_lifts_the_limits_of_html_but_not_those_of_json(http):
    clock = FakeClock()
    limiter = FakeLimiter(clock=clock)
    formats = ("html", "json")
    async with FakeSearxng(limiter=limiter, link_token=True, formats=formats) as instance:
        async with http.get(instance.url) as response:
            page = await response.text()
        path = page.partition('href="/client')[2].partition('"')[0]
        async with http.get(f"{instance.url}client{path}") as response:
            assert response.status == 200
            assert response.content_type == "text/css"
        assert await statuses(http, instance, 35) == [200] * 35
        assert await statuses(http, instance, 6, format="json") == [200] * 4 + [429] * 2
        clock.advance(3_600)
        assert await statuses(http, instance, 3) == [200, 200, 429]


async def test_the_stylesheet_counts_only_for_the_headers_it_was_loaded_with(http):
    limiter = FakeLimiter(clock=FakeClock())
    async with FakeSearxng(limiter=limiter, link_token=True) as instance:
        async with http.get(f"{instance.url}clientfakesearxngtoken.css") as response:
            assert response.status == 200
        url = f"{instance.url}search?q=x"
        seen = []
        for _ in range(3):
            async with http.get(url, headers={"Accept-Language": "de"}) as response:
                seen.append(response.status)
        assert seen == [200, 200, 429]


async def test_every_search_renews_the_hour_of_the_stylesheet(http):
    clock = FakeClock()
    async with FakeSearxng(limiter=FakeLimiter(clock=clock), link_token=True) as instance:
        async with http.get(f"{instance.url}clientfakesearxngtoken.css") as response:
            assert response.status == 200
        for _ in range(10):
            clock.advance(3_599)
            assert await statuses(http, instance, 1) == [200]


async def test_a_client_with_the_stylesheet_clears_its_address_but_not_the_short_windows(http):
    clock = FakeClock()
    limiter = FakeLimiter(clock=clock)
    async with FakeSearxng(limiter=limiter, link_token=True) as instance:
        async with http.get(f"{instance.url}clientfakesearxngtoken.css") as response:
            assert response.status == 200
        seen = []
        for _ in range(11):
            assert await statuses(http, instance, 1) == [200]
            clock.advance(11)
            url = f"{instance.url}search?q=x"
            async with http.get(url, headers={"Accept-Language": "de"}) as response:
                seen.append(response.status)
        assert seen == [200] * 10 + [429]


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
        pytest.param({"User-Agent": CHROME.replace("143", "79")}, 200, id="old-browser"),
        pytest.param({}, 200, id="honest"),
    ],
)
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
        assert await statuses(http, instance, 4) == [200, 200, 429, 302]

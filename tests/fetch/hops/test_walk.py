"""Walks from hop to hop, against a real server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from yarl import URL

from searx_mcp.errors import ContentError, ErrorCode, FetchError, PolicyError, RedirectError
from searx_mcp.fetch.hops.answer import Answer, NotModified, Redirect
from searx_mcp.fetch.hops.hosts import Hosts
from searx_mcp.fetch.hops.redirects import Trail
from searx_mcp.fetch.hops.walk import IGNORED, Arrival, Errand, Walker
from searx_mcp.fetch.policy.lists import DomainPolicy
from searx_mcp.fetch.policy.robots import RobotsGate
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.storage.pages import Validators
from searx_mcp.tasks import Place, Tasks
from searx_mcp.urls.address import AllowList

RULES = "User-agent: *\nDisallow: /private\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@pytest.fixture
async def make_walker(site, other) -> AsyncIterator[Callable[..., Walker]]:
    allow = AllowList.parse([f"127.0.0.1:{site.port}", f"127.0.0.1:{other.port}"])
    sessions = Sessions(NetworkConfig(), allow=allow)

    def make(*blocked: str) -> Walker:
        return Walker(
            lambda: sessions.pages,
            allow=allow,
            domains=DomainPolicy(blocked),
            hosts=Hosts(
                max_per_host=4,
                rate=6_000,
                breaker_failures=100,
                breaker_pause=1,
                clock=asyncio.get_running_loop().time,
            ),
            user_agent="searx-mcp/test",
        )

    yield make
    await sessions.aclose()


def in_time() -> float:
    return asyncio.get_running_loop().time() + 5


@pytest.fixture
def asked() -> list[str]:
    """The addresses of the robots.txt that were asked for; no site has one."""
    return []


@pytest.fixture
async def walk(make_walker, store, clock, asked):
    """Go from an address with the headers of a caller; returns the last answer and the trail."""

    async def no_robots(url: URL, deadline: float) -> tuple[int, bytes]:
        asked.append(str(url))
        return 404, b""

    async with Tasks() as tasks:
        robots = RobotsGate(no_robots, store, clock=clock, timeout=5, spawn=tasks.spawn)

        async def go(start: str, *, max_redirects: int = 5, **wish) -> tuple[Arrival, Trail]:
            errand = Errand(
                headers={"User-Agent": "me/1", "X-Secret": "s"},
                max_bytes=1_000,
                max_document_bytes=2_000,
                deadline=in_time(),
                place=Place(asyncio.Semaphore()),
                **wish,
            )
            trail = Trail(URL(start), max_redirects=max_redirects)
            return await make_walker().go(errand, trail, robots), trail

        yield go


async def test_headers_of_the_caller_stay_dropped_once_another_site_was_asked(site, other, walk):
    """Neither the second page of the other site gets them, nor does the first site again."""
    other.redirect("/1", "/2")
    other.redirect("/2", site.url("/back"))
    site.redirect("/here", "/there")
    site.redirect("/there", other.url("/1"))
    site.page("/back", "x", content_type="text/plain")
    arrival, trail = await walk(site.url("/here"))
    secrets = [request.headers.get("X-Secret") for request in site.requests]
    assert secrets == ["s", "s", None]
    assert [request.headers.get("X-Secret") for request in other.requests] == [None, None]
    agents = {request.headers["User-Agent"] for request in (*site.requests, *other.requests)}
    assert agents == {"me/1"}
    assert (arrival.answer.status, arrival.robots, trail.redirects) == (200, "absent", 4)
    assert trail.chain[-1] == f"{site.url('/back')} -> 200"


async def test_what_is_known_of_one_address_is_told_to_no_other(site, other, walk):
    last = other.page("/last", "x", content_type="text/plain")
    first = site.redirect("/first", last)
    known = Validators('"1"', "Fri, 20 Nov 2026 12:00:00 GMT")
    await walk(first, unless={first: known})
    assert site.requests[0].headers["If-None-Match"] == '"1"'
    assert site.requests[0].headers["If-Modified-Since"] == known.last_modified
    assert "If-None-Match" not in other.requests[0].headers
    assert "If-Modified-Since" not in other.requests[0].headers


async def test_a_validator_that_is_missing_is_not_sent(site, walk):
    url = site.page("/a", "x", content_type="text/plain")
    await walk(url, unless={url: Validators("", "Fri, 20 Nov 2026 12:00:00 GMT")})
    assert "If-None-Match" not in site.requests[0].headers
    assert "If-Modified-Since" in site.requests[0].headers


async def test_news_that_nothing_changed_counts_only_where_something_was_known(site, walk):
    url = site.page("/a", "", status="304 Not Modified")
    arrival, _ = await walk(url, unless={url: Validators('"1"', "")})
    assert isinstance(arrival.answer, NotModified)
    with pytest.raises(FetchError) as caught:
        await walk(url)
    assert caught.value.code is ErrorCode.HTTP_ERROR


async def test_a_redirect_that_is_not_to_be_followed_is_the_answer(site, walk):
    arrival, trail = await walk(site.redirect("/a", "/b"), follow=False)
    assert isinstance(arrival.answer, Redirect)
    assert (arrival.answer.location, trail.redirects) == ("/b", 0)
    assert len(site.requests) == 1


async def test_robots_are_asked_on_each_site_and_only_if_they_count(site, other, walk, asked):
    first = site.redirect("/first", other.page("/last", "x", content_type="text/plain"))
    ignoring, _ = await walk(first, obey_robots=False)
    assert (ignoring.robots, asked) == (IGNORED, [])
    obeying, _ = await walk(first)
    assert obeying.robots == "absent"
    assert asked == [site.url("/robots.txt"), other.url("/robots.txt")]


PDF = b"%PDF-1.7\n"


@pytest.mark.parametrize(
    ("kind", "begin", "size", "arrives"),
    [
        pytest.param("text/plain", b"", 1_000, 1_000, id="text"),
        pytest.param("text/plain", b"", 1_001, 1_000, id="text that is cut"),
        pytest.param("application/pdf", PDF, 2_000, 2_000, id="document"),
        pytest.param("application/pdf", PDF, 2_001, None, id="document that is too large"),
        pytest.param(None, b"", 1_500, 1_000, id="nothing said, text"),
        pytest.param(None, PDF, 1_500, 1_500, id="nothing said, document"),
        pytest.param(None, PDF, 2_001, None, id="nothing said, too large"),
    ],
)
async def test_text_is_cut_and_a_document_whole_or_refused(site, walk, kind, begin, size, arrives):
    body = begin + b"x" * (size - len(begin))
    url = site.page("/a", body, content_type=kind)
    if arrives is None:
        with pytest.raises(ContentError) as caught:
            await walk(url)
        assert caught.value.code is ErrorCode.CONTENT_TOO_LARGE
        return
    arrival, _ = await walk(url)
    assert isinstance(arrival.answer, Answer)
    answered = arrival.answer.body
    assert len(answered.data) == arrives
    assert answered.truncated is (arrives < size)
    assert bool(answered.notes) is (arrives < size)


async def test_an_error_about_a_page_has_the_status_it_came_with(site, walk):
    url = site.page("/a", "x", status="203 Fine", content_type="image/png")
    with pytest.raises(ContentError) as caught:
        await walk(url)
    assert caught.value.status_code == 203


async def test_a_robots_txt_comes_with_its_status(site, make_walker):
    url = site.page("/robots.txt", RULES, content_type="text/plain")
    assert await make_walker().robots_text(URL(url), in_time()) == (200, RULES.encode())


@pytest.mark.parametrize("status", ["404 Not Found", "503 Service Unavailable", "403 Forbidden"])
async def test_the_body_of_a_refusal_is_left_alone(site, make_walker, status):
    url = site.page("/robots.txt", RULES, status=status)
    assert await make_walker().robots_text(URL(url), in_time()) == (int(status[:3]), b"")


async def test_a_robots_txt_may_live_elsewhere(site, other, make_walker):
    target = other.page("/rules", RULES, content_type="text/plain")
    url = site.redirect("/robots.txt", target)
    assert await make_walker().robots_text(URL(url), in_time()) == (200, RULES.encode())


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://127.0.0.2/robots.txt", ErrorCode.BLOCKED_ADDRESS),
        ("file:///etc/passwd", ErrorCode.BLOCKED_SCHEME),
        ("http://[::1", ErrorCode.MALFORMED_RESPONSE),
    ],
)
async def test_a_robots_txt_leads_nowhere_that_a_page_may_not(site, make_walker, location, code):
    url = site.redirect("/robots.txt", location)
    with pytest.raises(FetchError) as caught:
        await make_walker().robots_text(URL(url), in_time())
    assert caught.value.code is code


async def test_a_blocked_domain_is_not_asked_for_its_robots_txt(site, make_walker):
    with pytest.raises(PolicyError):
        await make_walker("127.0.0.1").robots_text(URL(site.url("/robots.txt")), in_time())
    assert site.robots_requests == 0


async def test_five_redirects_are_followed_and_no_more(site, make_walker):
    for hop in range(6):
        site.redirect(f"/{hop}", f"/{hop + 1}")
    site.redirect("/robots.txt", "/0")
    with pytest.raises(RedirectError):
        await make_walker().robots_text(URL(site.url("/robots.txt")), in_time())
    assert len(site.requests) == 5


@pytest.mark.parametrize(
    ("answer", "seconds", "code"),
    [
        (PLAIN + b"Content-Length: 999\r\n\r\nUser-agent: *\n", 0.4, ErrorCode.TIMEOUT),
        (
            PLAIN + b"Transfer-Encoding: chunked\r\n\r\n4\r\nUser\r\nzz",
            5,
            ErrorCode.MALFORMED_RESPONSE,
        ),
    ],
    ids=["late", "broken"],
)
async def test_a_part_of_a_robots_txt_is_none(site, make_walker, answer, seconds, code):
    """The rule that forbids a page may stand in the part that is missing."""
    url = site.raw("/robots.txt", answer)
    with pytest.raises(FetchError) as caught:
        await make_walker().robots_text(URL(url), asyncio.get_running_loop().time() + seconds)
    assert caught.value.code is code
    assert caught.value.url == url


async def test_a_long_robots_txt_is_read_to_its_limit(site, make_walker):
    url = site.page("/robots.txt", "# no rule\n" * 90_000, content_type="text/plain")
    status, body = await make_walker().robots_text(URL(url), in_time())
    assert status == 200
    assert len(body) == 512_001

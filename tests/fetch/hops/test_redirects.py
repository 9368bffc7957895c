"""Redirects: the rules, and following them against a real server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from multidict import CIMultiDict
from yarl import URL

from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    PolicyError,
    RedirectError,
    TransportError,
)
from searx_mcp.fetch.hops.answers import (
    HopRequest,
    NotModified,
    ReceivedPage,
    location_of,
)
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.fetch.hops.host_limits import HostLimits, Hosts
from searx_mcp.fetch.hops.redirects import (
    IGNORED,
    HopResult,
    RedirectFollower,
    Trail,
    carried_headers,
    next_url,
)
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.storage.pages import Validators
from searx_mcp.tasks import Slot, Tasks
from searx_mcp.urls.address import AllowList

START = URL("https://example.org/a/b?c=1")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "https://example.org/x"),
        ("x", "https://example.org/a/x"),
        ("../x", "https://example.org/x"),
        ("?d=2", "https://example.org/a/b?d=2"),
        ("//example.com/x", "https://example.com/x"),
        ("http://example.com", "http://example.com"),
        ("HTTP://EXAMPLE.com/", "http://example.com/"),
        ("  /x  ", "https://example.org/x"),
        ("/a b", "https://example.org/a%20b"),
        ("/ü", "https://example.org/%C3%BC"),
        ("/\udcfc", "https://example.org/%FC"),
        ("/x#part", "https://example.org/x"),
        ("https://bücher.example.org/", "https://xn--bcher-kva.example.org/"),
        ("/x?a\\b", "https://example.org/x?a%5Cb"),
    ],
)
def test_a_location_is_joined_with_the_current_address(location, target):
    assert str(next_url(START, location, allow=AllowList())) == target


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("file:///etc/passwd", "blocked_scheme"),
        ("gopher://example.org/", "blocked_scheme"),
        ("javascript:alert(1)", "blocked_scheme"),
        ("data:text/html,x", "blocked_scheme"),
        ("http://127.0.0.1/", "blocked_address"),
        ("//169.254.169.254/latest/meta-data", "blocked_address"),
        ("http://[::1]/", "blocked_address"),
        ("http://[::ffff:127.0.0.1]/", "blocked_address"),
        ("http://localhost/", "blocked_address"),
        ("https://\udcff.org/", "blocked_address"),
        ("https://example.org:22/", "blocked_port"),
    ],
)
def test_a_target_that_may_not_be_fetched_is_refused(location, code):
    with pytest.raises(PolicyError) as caught:
        next_url(START, location, allow=AllowList())
    assert caught.value.code == code


@pytest.mark.parametrize(
    "location",
    [
        "http://", "http:///x", "http://[::1", "http://a:99999/", "http://a\\@example.com/",
        "\\\\example.com\\x", "/\\example.com", "http://user:secret@example.com/", "/\ud800",
        "/" + "x" * 5_000,
    ],
)  # fmt: skip
def test_a_location_that_is_no_address_is_a_malformed_answer(location):
    with pytest.raises(TransportError) as caught:
        next_url(START, location, allow=AllowList())
    assert (caught.value.code, caught.value.url) == (ErrorCode.MALFORMED_RESPONSE, str(START))
    assert caught.value.advice == "Use another source."
    assert "secret" not in caught.value.message


def test_the_allow_list_holds_for_targets_too():
    allow = AllowList.parse(["127.0.0.1:8081"])
    assert next_url(START, "http://127.0.0.1:8081/x", allow=allow).port == 8081


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_has_a_location(status):
    assert location_of(status, CIMultiDict({"location": "/x"})) == "/x"


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"Location": "/x"}), (201, {"Location": "/x"}), (300, {"Location": "/x"}),
        (304, {"Location": "/x"}), (302, {}), (302, {"Location": ""}),
    ],
)  # fmt: skip
def test_anything_else_is_an_answer(status, headers):
    assert location_of(status, headers) is None


HARMLESS = {
    "Accept": "*/*", "Accept-Encoding": "gzip", "Accept-Language": "de", "USER-AGENT": "mine",
}  # fmt: skip
OF_THE_CALLER = {
    "Authorization": "x", "Cookie": "y", "Referer": "https://example.org/a", "If-None-Match": '"1"',
    "X-Api-Key": "z",
}  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("https://example.com/", id="host"),
        pytest.param("http://example.org:443/", id="scheme alone"),
        pytest.param("http://example.org/", id="scheme and port"),
        pytest.param("https://example.org:8443/", id="port"),
        pytest.param("https://www.example.org/", id="subdomain"),
    ],
)
def test_another_origin_gets_only_harmless_headers(target):
    headers = HARMLESS | OF_THE_CALLER
    assert carried_headers(headers, START, URL(target)) == HARMLESS
    assert carried_headers(headers, START, URL("https://example.org:443/x")) == headers


def test_a_trail_records_each_hop_with_its_status():
    trail = Trail(START, max_redirects=3)
    trail.answered(302)
    trail.follow(URL("https://example.com/x"))
    trail.answered(200)
    assert trail.chain == [f"{START} -> 302", "https://example.com/x -> 200"]
    assert (trail.redirects, trail.notes) == (1, [])


@pytest.mark.parametrize("target", [START, URL("https://example.org/x")])
def test_an_address_met_for_the_second_time_is_a_loop(target):
    trail = Trail(START, max_redirects=9)
    trail.follow(URL("https://example.org/x"))
    with pytest.raises(RedirectError) as caught:
        trail.follow(target)
    assert (caught.value.code, caught.value.url) == (ErrorCode.REDIRECT_LOOP, str(target))


def test_one_redirect_more_than_allowed_is_too_many():
    trail = Trail(START, max_redirects=2)
    trail.follow(URL("https://example.org/1"))
    trail.follow(URL("https://example.org/2"))
    with pytest.raises(RedirectError) as caught:
        trail.follow(URL("https://example.org/3"))
    assert caught.value.code is ErrorCode.TOO_MANY_REDIRECTS
    assert caught.value.url == "https://example.org/2"
    assert trail.redirects == 2


def test_leaving_https_is_noted():
    trail = Trail(START, max_redirects=4)
    trail.follow(URL("http://example.com/"))
    trail.follow(URL("http://example.com/still"))
    trail.follow(URL("https://example.com/"))
    trail.follow(URL("https://example.com/still"))
    assert trail.notes == ["A redirect went from https to http."]


def test_no_redirect_may_be_allowed_and_a_circle_is_told_first():
    trail = Trail(START, max_redirects=0)
    with pytest.raises(RedirectError, match="more than 0 times"):
        trail.follow(URL("https://example.org/1"))
    with pytest.raises(RedirectError, match="in a loop"):
        trail.follow(START)


RULES = "User-agent: *\nDisallow: /private\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@pytest.fixture
async def make_follower(site, other) -> AsyncIterator[Callable[..., RedirectFollower]]:
    allow = AllowList.parse([f"127.0.0.1:{site.port}", f"127.0.0.1:{other.port}"])
    sessions = Sessions(NetworkConfig(), allow=allow)

    def make(*blocked: str) -> RedirectFollower:
        return RedirectFollower(
            lambda: sessions.pages,
            allow=allow,
            domains=DomainPolicy(blocked),
            hosts=Hosts(
                HostLimits(max_per_host=4, rate=6_000, breaker_failures=100, breaker_pause=1),
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
async def follow(make_follower, store, clock, asked):
    """Go from an address with the headers of a caller; returns the last answer and the trail."""

    async def no_robots(url: URL, deadline: float) -> tuple[int, bytes]:
        asked.append(str(url))
        return 404, b""

    async with Tasks() as tasks:
        robots = RobotsGate(no_robots, store, clock=clock, timeout=5, spawn=tasks.spawn)

        async def go(start: str, *, max_redirects: int = 5, **wish) -> tuple[HopResult, Trail]:
            request = HopRequest(
                headers={"User-Agent": "me/1", "X-Secret": "s"},
                max_bytes=1_000,
                max_document_bytes=2_000,
                deadline=in_time(),
                place=Slot(asyncio.Semaphore()),
                **wish,
            )
            trail = Trail(URL(start), max_redirects=max_redirects)
            return await make_follower().follow(request, trail, robots), trail

        yield go


async def test_headers_of_the_caller_stay_dropped_once_another_site_was_asked(site, other, follow):
    """Neither the second page of the other site gets them, nor does the first site again."""
    other.redirect("/1", "/2")
    other.redirect("/2", site.at("/back"))
    site.redirect("/here", "/there")
    site.redirect("/there", other.at("/1"))
    site.page("/back", "x", content_type="text/plain")
    result, trail = await follow(site.at("/here"))
    secrets = [request.headers.get("X-Secret") for request in site.requests]
    assert secrets == ["s", "s", None]
    assert [request.headers.get("X-Secret") for request in other.requests] == [None, None]
    agents = {request.headers["User-Agent"] for request in (*site.requests, *other.requests)}
    assert agents == {"me/1"}
    assert (result.answer.status, result.robots, trail.redirects) == (200, "absent", 4)
    assert trail.chain[-1] == f"{site.at('/back')} -> 200"


async def test_a_validator_that_is_missing_is_not_sent(site, follow):
    url = site.page("/a", "x", content_type="text/plain")
    await follow(url, unless={url: Validators("", "Fri, 20 Nov 2026 12:00:00 GMT")})
    assert "If-None-Match" not in site.requests[0].headers
    assert "If-Modified-Since" in site.requests[0].headers


async def test_news_that_nothing_changed_counts_only_where_something_was_known(site, follow):
    url = site.page("/a", "", status="304 Not Modified")
    result, _ = await follow(url, unless={url: Validators('"1"', "")})
    assert isinstance(result.answer, NotModified)
    with pytest.raises(FetchError) as caught:
        await follow(url)
    assert caught.value.code is ErrorCode.HTTP_ERROR


async def test_robots_are_asked_on_each_site_and_only_if_they_count(site, other, follow, asked):
    first = site.redirect("/first", other.page("/last", "x", content_type="text/plain"))
    ignoring, _ = await follow(first, obey_robots=False)
    assert (ignoring.robots, asked) == (IGNORED, [])
    obeying, _ = await follow(first)
    assert obeying.robots == "absent"
    assert asked == [site.at("/robots.txt"), other.at("/robots.txt")]


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
async def test_text_is_cut_and_a_document_whole_or_refused(
    site, follow, kind, begin, size, arrives
):
    body = begin + b"x" * (size - len(begin))
    url = site.page("/a", body, content_type=kind)
    if arrives is None:
        with pytest.raises(ContentError) as caught:
            await follow(url)
        assert caught.value.code is ErrorCode.CONTENT_TOO_LARGE
        return
    result, _ = await follow(url)
    assert isinstance(result.answer, ReceivedPage)
    answered = result.answer.body
    assert len(answered.data) == arrives
    assert answered.truncated is (arrives < size)
    assert bool(answered.notes) is (arrives < size)


async def test_an_error_about_a_page_has_the_status_it_came_with(site, follow):
    url = site.page("/a", "x", status="203 Fine", content_type="image/png")
    with pytest.raises(ContentError) as caught:
        await follow(url)
    assert caught.value.status_code == 203


@pytest.mark.parametrize(
    ("answered", "status", "body"),
    [
        pytest.param({}, 200, RULES.encode(), id="found"),
        *(
            pytest.param({"status": status}, int(status[:3]), b"", id=f"a refusal: {status}")
            for status in ("404 Not Found", "503 Service Unavailable", "403 Forbidden")
        ),
        pytest.param({"body": "# no rule\n" * 90_000}, 200, (b"# no rule\n" * 90_000)[:512_001], id="long"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_a_robots_txt_comes_with_its_status(
    site, other, make_follower, answered, status, body, *, is_elsewhere
):
    rules = {"body": RULES, "content_type": "text/plain", **answered}
    url = (other if is_elsewhere else site).page("/robots.txt", **rules)
    url = site.redirect("/robots.txt", url) if is_elsewhere else url
    assert await make_follower().robots_text(URL(url), in_time()) == (status, body)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://127.0.0.2/robots.txt", ErrorCode.BLOCKED_ADDRESS),
        ("file:///etc/passwd", ErrorCode.BLOCKED_SCHEME),
        ("http://[::1", ErrorCode.MALFORMED_RESPONSE),
    ],
)
async def test_a_robots_txt_leads_nowhere_that_a_page_may_not(site, make_follower, location, code):
    with pytest.raises(FetchError) as caught:
        await make_follower().robots_text(URL(site.redirect("/robots.txt", location)), in_time())
    assert caught.value.code is code


async def test_a_blocked_domain_is_not_asked_for_its_robots_txt(site, make_follower):
    with pytest.raises(PolicyError):
        await make_follower("127.0.0.1").robots_text(URL(site.at("/robots.txt")), in_time())
    assert site.robots_requests == 0


async def test_five_redirects_are_followed_and_no_more(site, make_follower):
    for hop in range(6):
        site.redirect(f"/{hop}", f"/{hop + 1}")
    site.redirect("/robots.txt", "/0")
    with pytest.raises(RedirectError):
        await make_follower().robots_text(URL(site.at("/robots.txt")), in_time())
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
async def test_a_part_of_a_robots_txt_is_none(site, make_follower, answer, seconds, code):
    """The rule that forbids a page may stand in the part that is missing."""
    url = site.raw("/robots.txt", answer)
    with pytest.raises(FetchError) as caught:
        await make_follower().robots_text(URL(url), asyncio.get_running_loop().time() + seconds)
    assert caught.value.code is code
    assert caught.value.url == url

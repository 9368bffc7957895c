"""Walks from hop to hop, against a real server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from yarl import URL

from searx_mcp.errors import ErrorCode, FetchError, PolicyError, RedirectError
from searx_mcp.fetch.hops.hosts import Hosts
from searx_mcp.fetch.hops.walk import Walker
from searx_mcp.fetch.policy.lists import DomainPolicy
from searx_mcp.net.address import AllowList
from searx_mcp.net.config import NetworkConfig
from searx_mcp.net.sessions import Sessions

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

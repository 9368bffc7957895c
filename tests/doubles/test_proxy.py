"""The proxy on loopback, asked by a bare client."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress

import aiohttp
import pytest
import trustme
from aiohttp_socks import ProxyConnector, ProxyError

from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.proxy import FakeProxy

HOST = "www.example.org"
PLAIN, SECURE = f"http://{HOST}/a?b=c", f"https://{HOST}/a?b=c"


def certificate(ca: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(name).configure_cert(context)
    return context


def trusting(ca: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca.configure_trust(context)
    return context


@pytest.fixture
async def plain() -> AsyncIterator[FakeWeb]:
    async with FakeWeb({"/a?b=c": FakePage("plain")}) as site:
        yield site


async def get(url: str, proxy: str, *, ca: trustme.CA | None = None, **options: object) -> str:
    trust = trusting(ca) if ca else True
    async with (
        aiohttp.ClientSession() as http,
        http.get(url, proxy=proxy, ssl=trust, **options) as response,  # type: ignore[arg-type] # - as the library takes them
    ):
        return f"{response.status} {await response.text()}".strip()


async def get_by_socks(url: str, proxy: str, *, ca: trustme.CA | None = None) -> str:
    trust = trusting(ca) if ca else True
    connector = ProxyConnector.from_url(proxy.replace("socks5h", "socks5"), rdns=True, ssl=trust)
    async with aiohttp.ClientSession(connector=connector) as http, http.get(url) as response:
        return f"{response.status} {await response.text()}".strip()


async def test_plain_http_is_forwarded_without_what_was_for_the_proxy(plain: FakeWeb) -> None:
    async with FakeProxy({f"{HOST}:80": plain.origin}) as proxy:
        headers = {"Proxy-Authorization": "Basic eDp5", "X-Mine": "1"}
        assert await get(PLAIN, proxy.url, headers=headers) == "200 plain"
    (request,) = plain.requests
    assert (request.target, request.headers["Host"]) == ("/a?b=c", HOST)
    assert request.headers["X-Mine"] == "1"
    assert "Proxy-Authorization" not in request.headers
    assert proxy.asked == [f"{HOST}:80"]
    assert b"X-Mine: 1" in proxy.read


async def test_tunnels_stay_closed_unless_the_proxy_listens_in() -> None:
    ca, other = trustme.CA(), trustme.CA()
    pages = {"/a?b=c": FakePage("secure")}
    async with FakeWeb(pages, ssl_context=certificate(ca, HOST)) as site:
        hosts = {f"{HOST}:443": site.origin}
        async with (
            FakeProxy(hosts) as proxy,
            FakeProxy(hosts, intercept=lambda name: certificate(other, name)) as nosy,
        ):
            assert await get(SECURE, proxy.url, ca=ca) == "200 secure"
            assert await get_by_socks(SECURE, proxy.socks_url, ca=ca) == "200 secure"
            assert await get(SECURE, nosy.url, ca=other) == "200 secure"
            assert await get_by_socks(SECURE, nosy.socks_url, ca=other) == "200 secure"
    assert b"GET /a?b=c" not in proxy.read
    assert nosy.read.count(b"GET /a?b=c") == 2


async def test_a_login_can_be_wanted(plain: FakeWeb) -> None:
    hosts = {f"{HOST}:80": plain.origin}
    async with FakeProxy(hosts, username="alice", password="open sesame") as proxy:
        assert await get(PLAIN, proxy.url) == "407"
        with_login = proxy.url.replace("//", "//alice:open%20sesame@")
        assert await get(PLAIN, with_login) == "200 plain"
        with pytest.raises(ProxyError):
            await get_by_socks(PLAIN, proxy.socks_url)
        with pytest.raises(ProxyError):
            await get_by_socks(PLAIN, proxy.socks_url.replace("//", "//alice:x@"))
        socks_with_login = proxy.socks_url.replace("//", "//alice:open%20sesame@")
        assert await get_by_socks(PLAIN, socks_with_login) == "200 plain"
    assert proxy.refused == 3
    assert proxy.asked == [f"{HOST}:80"] * 2


async def test_faults_begin_and_end(plain: FakeWeb) -> None:
    async with FakeProxy({f"{HOST}:80": plain.origin}) as proxy:
        assert await get("http://gone.example.org/", proxy.url) == "502"
        proxy.fail(403)
        assert await get(PLAIN, proxy.url) == "403"
        with pytest.raises(ProxyError, match="not allowed"):
            await get_by_socks(PLAIN, proxy.socks_url)
        proxy.fail(504)
        with pytest.raises(ProxyError, match="unreachable"):
            await get_by_socks(PLAIN, proxy.socks_url)
        proxy.recover()
        assert await get(PLAIN, proxy.url) == "200 plain"
        proxy.hang()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await get(PLAIN, proxy.url)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
async def test_addresses_lead_where_they_are_told_to(plain: FakeWeb, host: str) -> None:
    async with FakeProxy({f"{host}:80": plain.origin}) as proxy:
        assert await get_by_socks(f"http://{host}/a?b=c", proxy.socks_url) == "200 plain"
    assert proxy.asked == [f"{host}:80"]


async def test_it_may_speak_tls_itself(plain: FakeWeb) -> None:
    ca = trustme.CA()
    async with FakeProxy(
        {f"{HOST}:80": plain.origin}, ssl_context=certificate(ca, "127.0.0.1")
    ) as proxy:
        assert proxy.url.startswith("https://")
        assert await get(PLAIN, proxy.url, ca=ca) == "200 plain"


async def test_closing_ends_what_hangs_and_is_harmless_when_repeated() -> None:
    async with FakeProxy({}) as proxy:
        proxy.hang()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.split(":")[2]))
        writer.write(b"GET ")
        await writer.drain()
        await proxy.aclose()
        async with asyncio.timeout(5):
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()
    await proxy.aclose()

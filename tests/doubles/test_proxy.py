"""The proxy on loopback, asked by a bare client."""

import ssl

import aiohttp
import trustme
from aiohttp_socks import ProxyConnector

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

"""All kinds of traffic through proxies that work, that refuse, that hang and that listen in."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from itertools import product
from typing import Any

import pytest
import trustme
from aiohttp.abc import AbstractResolver, ResolveResult
from pydantic import SecretStr
from typing_extensions import override
from yarl import URL

from searx_mcp.errors import (
    ErrorCode,
    FetchError,
    PolicyError,
    ProxyError,
    SettingsError,
    TransportError,
)
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.proxy import ProxyUrl
from searx_mcp.http.proxy_route import ProxyRoute
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.credentials import Credentials
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.urls.address import AllowList
from tests.doubles.proxy import FakeProxy
from tests.doubles.raised import raised

LONG, SHORT = 5.0, 0.1
HOST = "searx.example.net"
SECURE, PLAIN = f"https://{HOST}/", f"http://{HOST}/"
HIDDEN = f"http://{'a' * 56}.onion/"
KINDS = ["own", "operator", "public", "pages"]
GUARDED = ["public", "pages"]
PROTOCOLS = ["url", "socks_url"]
USER, PASSWORD = "alice", "hunter2:/@"
IN_A_URL = "alice:hunter2%3A%2F%40"


class NoLookups(AbstractResolver):
    """Fails whoever looks a name up."""

    @override
    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        raise AssertionError(f"{host} was looked up")

    @override
    async def close(self) -> None:
        """There is nothing to close."""


@pytest.fixture(autouse=True)
def no_lookups(monkeypatch: pytest.MonkeyPatch) -> NoLookups:
    """Neither the sessions' resolver nor the system's looks anything up but for one name."""
    resolver = NoLookups()
    monkeypatch.setattr("aiohttp.ThreadedResolver", lambda: resolver)
    monkeypatch.setattr("aiohttp.connector.DefaultResolver", lambda loop: resolver)
    return resolver


def certificate(ca: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(name).configure_cert(context)
    return context


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)


@pytest.fixture(scope="module")
def trusted(authority: trustme.CA) -> ssl.SSLContext:
    return certificate(authority, HOST)


@pytest.fixture
async def secure(trusted: ssl.SSLContext) -> AsyncIterator[FakeSearxng]:
    """The instance at `SECURE`."""
    async with FakeSearxng(ssl_context=trusted) as fake:
        yield fake


@pytest.fixture
async def plain() -> AsyncIterator[FakeSearxng]:
    """The instance at `PLAIN` and `HIDDEN`."""
    async with FakeSearxng() as fake:
        yield fake


@pytest.fixture
async def start(secure: FakeSearxng, plain: FakeSearxng) -> AsyncIterator[Callable[..., Any]]:
    """Starts a proxy that knows both instances."""
    hosts = {f"{HOST}:443": secure.origin, f"{HOST}:80": plain.origin}
    hosts[f"{'a' * 56}.onion:80"] = plain.origin
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> FakeProxy:
            return await stack.enter_async_context(FakeProxy(hosts, **options))

        yield make


@pytest.fixture
def describe(ca_file: str, no_lookups: NoLookups) -> Callable[..., Sessions]:
    """Describes sessions behind a proxy that trust the authority."""

    def make(proxy: str, *, allow: str = "", **network: Any) -> Sessions:
        config = {"proxy": proxy, "ca_file": ca_file, **network}
        return Sessions(
            NetworkConfig.model_validate(config),
            own_origins=[SECURE, PLAIN, HIDDEN],
            operator_origins=[SECURE, PLAIN],
            allow=AllowList.parse([allow] if allow else []),
            resolver=no_lookups,
        )

    return make


async def status_of(session: HttpSession, url: str, *, timeout: float = LONG) -> int:  # noqa: ASYNC109 - handed on
    async with session.open(url, headers={}, timeout=timeout) as reply:
        await reply.read(max_bytes=100_000)
        return reply.status


async def failure_of(sessions: Sessions, kind: str, url: str, **options: float) -> FetchError:
    async with sessions:
        return await refusal_of(getattr(sessions, kind), url, **options)


async def refusal_of(session: HttpSession, url: str, **options: float) -> FetchError:
    return await raised(FetchError, status_of(session, url, **options))


def chain(error: BaseException | None) -> Iterator[object]:
    """All that an error tells of itself and of what caused it."""
    while error is not None:
        yield from (error, vars(error), getattr(error, "request_info", ""))
        error = error.__cause__ or error.__context__


def logged_in(url: str) -> str:
    return url.replace("//", f"//{IN_A_URL}@")


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_every_kind_goes_through_the_proxy_and_looks_no_name_up(
    start, describe, secure, protocol
):
    proxy = await start()
    async with describe(getattr(proxy, protocol)) as sessions:
        for kind in KINDS * 2:
            assert await status_of(getattr(sessions, kind), SECURE) == 200
    assert proxy.asked == [f"{HOST}:443"] * len(KINDS), "connections are kept"
    assert len(secure.requests) == 2 * len(KINDS)
    assert all(request.secure for request in secure.requests)
    assert b"Accept" not in proxy.read  # TLS stayed closed


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_plain_http_goes_through_the_proxy_too(start, describe, plain, protocol):
    proxy = await start()
    async with describe(getattr(proxy, protocol)) as sessions:
        for kind in ("operator", *GUARDED):
            assert await status_of(getattr(sessions, kind), PLAIN) == 200
    assert proxy.asked == [f"{HOST}:80"] * 3
    assert len(plain.requests) == 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_proxy_gets_its_credentials_and_nobody_else(
    start, describe, secure, plain, protocol
):
    proxy = await start(username=USER, password=PASSWORD)
    async with describe(logged_in(getattr(proxy, protocol))) as sessions:
        for kind, url in product(("operator", *GUARDED), (SECURE, PLAIN)):
            assert await status_of(getattr(sessions, kind), url) == 200
    assert proxy.refused == 0
    sent = [name for request in secure.requests + plain.requests for name in request.headers]
    assert len(secure.requests) == len(plain.requests) == 3
    assert not any("authorization" in name.lower() for name in sent)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("url", [SECURE, PLAIN])
@pytest.mark.parametrize("userinfo", ["", "alice:hunter3@"], ids=["none", "wrong"])
async def test_a_proxy_that_lets_nobody_in_is_our_failure(
    start, describe, secure, plain, userinfo, url, protocol, caplog
):
    caplog.set_level(logging.DEBUG)
    proxy = await start(username=USER, password=PASSWORD)
    address = getattr(proxy, protocol).replace("//", f"//{userinfo}")
    error = await failure_of(describe(address), "public", url)
    assert isinstance(error, ProxyError)
    assert (error.code, error.status_code) == (ErrorCode.CONNECTION_ERROR, None)
    assert "network.proxy" in error.message
    assert "user name and password" in error.message
    assert (proxy.refused, secure.requests, plain.requests) == (1, [], [])
    text = f"{[*chain(error)]} {[(r.getMessage(), vars(r)) for r in caplog.records]}"
    for secret in ("alice", "hunter", "YWxpY2U6"):
        assert secret not in text


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_that_is_not_there_is_our_failure(start, describe, protocol):
    proxy = await start()
    await proxy.aclose()
    own = (
        HIDDEN if protocol == "socks_url" else SECURE
    )  # plain http to an own one goes nowhere else
    async with describe(getattr(proxy, protocol)) as sessions:
        for kind, url in product(KINDS, (SECURE, PLAIN)):
            address = own if (kind, url) == ("own", PLAIN) else url
            error = await refusal_of(getattr(sessions, kind), address)
            assert isinstance(error, ProxyError)
            assert error.message == "The proxy of network.proxy cannot be reached."
            assert error.advice


async def test_a_proxy_whose_name_is_unknown_is_our_failure(describe, monkeypatch):
    async def unknown(*_: object, **__: object) -> list[ResolveResult]:
        raise OSError("Name or service not known")

    monkeypatch.setattr(NoLookups, "resolve", unknown)
    error = await failure_of(describe("http://proxy.example.org:3128"), "public", SECURE)
    assert isinstance(error, ProxyError)
    assert "cannot be reached" in error.message


@pytest.mark.parametrize(
    ("protocol", "said"), [("url", "status 403"), ("socks_url", "not allowed")]
)
async def test_a_proxy_that_refuses_a_host_is_told_and_not_blamed(start, describe, protocol, said):
    proxy = await start()
    proxy.fail(403)
    error = await failure_of(describe(getattr(proxy, protocol)), "public", SECURE)
    assert type(error) is TransportError
    assert (error.code, error.status_code) == (ErrorCode.CONNECTION_ERROR, None)
    assert error.message.startswith("The proxy of network.proxy made no connection to the host:")
    assert said in error.message
    proxy.recover()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_host_that_the_proxy_cannot_reach_is_a_connection_error(start, describe, protocol):
    proxy = await start()
    error = await failure_of(
        describe(getattr(proxy, protocol)), "public", "https://gone.example.net/"
    )
    assert type(error) is TransportError
    assert error.code == ErrorCode.CONNECTION_ERROR


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_that_hangs_is_not_taken_for_a_slow_host(start, describe, protocol):
    proxy = await start()
    proxy.hang()
    error = await failure_of(describe(getattr(proxy, protocol)), "public", SECURE, timeout=SHORT)
    assert error.code == ErrorCode.CONNECTION_ERROR
    assert error.message.endswith("the connection timed out.")


async def test_connecting_through_socks_has_a_limit_of_its_own(start, describe):
    proxy = await start()
    proxy.hang()
    error = await failure_of(describe(proxy.socks_url, connect_timeout=SHORT), "public", SECURE)
    assert error.message.endswith("the connection timed out.")


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_slow_host_behind_a_proxy_is_a_timeout(start, describe, secure, protocol):
    proxy = await start()
    secure.hang()
    error = await failure_of(
        describe(getattr(proxy, protocol)), "public", f"{SECURE}search?q=x", timeout=1.0
    )
    assert error.code == ErrorCode.TIMEOUT
    assert "proxy" not in error.message


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_host_that_becomes_slow_on_a_kept_connection_is_a_timeout(
    start, describe, secure, protocol
):
    proxy = await start()
    async with describe(getattr(proxy, protocol)) as sessions:
        assert await status_of(sessions.public, SECURE) == 200
        secure.hang()
        error = await raised(
            TransportError, status_of(sessions.public, f"{SECURE}search?q=x", timeout=SHORT)
        )
    assert error.code == ErrorCode.TIMEOUT
    assert proxy.asked == [f"{HOST}:443"]


async def test_once_the_host_is_reached_all_of_the_time_is_its_own():
    route = ProxyRoute(ProxyUrl.parse("http://127.0.0.1:9"), "network.proxy")
    async with route.request_options(
        URL(SECURE), {}, asyncio.get_running_loop().time() + LONG
    ) as options:
        timer = options["trace_request_ctx"]
        assert timer.limit.when() is not None
        timer.arrive()
        assert timer.limit.when() is None


async def test_the_name_of_a_proxy_is_looked_up_as_all_names(start, names, ca_file):
    proxy = await start()
    resolver = names({"proxy.example.org": ["127.0.0.1"]})
    address = proxy.url.replace("127.0.0.1", "proxy.example.org")
    config = NetworkConfig.model_validate({"proxy": address, "ca_file": ca_file})
    async with Sessions(config, resolver=resolver) as sessions:
        assert await status_of(sessions.pages, SECURE) == 200
    assert resolver.asked == ["proxy.example.org"]


@pytest.mark.parametrize(
    ("scheme", "answer", "said"),
    [
        ("http", b"220 mail.example.org\r\n\r\n", "does not answer like a proxy"),
        ("socks5", b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not a SOCKS 5 proxy"),
        ("http", b"", ""),
        ("socks5", b"", ""),
    ],
)
async def test_what_is_no_proxy_or_hangs_up_is_our_failure(describe, serve, scheme, answer, said):
    async def reply(reader: Any, writer: Any) -> None:
        await reader.read(3)
        writer.write(answer)

    proxy = (await serve(reply)).url.replace("http:", f"{scheme}:").rstrip("/")
    error = await failure_of(describe(proxy), "public", SECURE)
    assert isinstance(error, ProxyError) is bool(answer)
    assert error.code == ErrorCode.CONNECTION_ERROR
    assert "proxy of network.proxy" in error.message
    assert said in error.message


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_that_reads_tls_is_not_trusted(start, describe, secure, protocol):
    nosy = await start(intercept=lambda name: certificate(trustme.CA(), name))
    async with describe(getattr(nosy, protocol)) as sessions:
        for kind in KINDS:
            error = await refusal_of(getattr(sessions, kind), SECURE)
            assert type(error) is TransportError
            assert error.code == ErrorCode.TLS_ERROR
            assert "the proxy of network.proxy" in error.message
            assert "network.ca_file" in error.message
    assert (secure.requests, nosy.read) == ([], b"")


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_that_reads_tls_is_trusted_by_its_authority(
    start, describe, authority, secure, protocol
):
    nosy = await start(intercept=lambda name: certificate(authority, name))
    async with describe(getattr(nosy, protocol)) as sessions:
        for kind in KINDS:
            assert await status_of(getattr(sessions, kind), SECURE) == 200
    assert b"GET / HTTP/1.1" in nosy.read
    assert len(secure.requests) == len(KINDS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_certificate_must_be_that_of_the_host(start, describe, authority, protocol):
    nosy = await start(intercept=lambda name: certificate(authority, "www.example.org"))
    error = await failure_of(describe(getattr(nosy, protocol)), "public", SECURE)
    assert error.code == ErrorCode.TLS_ERROR


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_verification_of_pages_alone_can_be_switched_off(
    start, ca_file, no_lookups, protocol
):
    nosy = await start(intercept=lambda name: certificate(trustme.CA(), name))
    config = NetworkConfig.model_validate({"proxy": getattr(nosy, protocol)})
    async with Sessions(config, verify_pages=False, resolver=no_lookups) as sessions:
        assert await status_of(sessions.pages, SECURE) == 200
        await raised(TransportError, status_of(sessions.public, SECURE))


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
async def test_an_https_proxy_proves_who_it_is(start, describe, authority, is_known):
    ca = authority if is_known else trustme.CA()
    proxy = await start(ssl_context=certificate(ca, "127.0.0.1"), username=USER, password=PASSWORD)
    sessions = describe(logged_in(proxy.url))
    if is_known:
        async with sessions:
            assert await status_of(sessions.public, SECURE) == 200
    else:
        error = await failure_of(sessions, "public", SECURE)
        assert isinstance(error, ProxyError)
        assert "has no valid certificate" in error.message
        assert proxy.asked == []


def token(url: str) -> Credentials:
    return Credentials(url=url, token=SecretStr("sesame"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_credentials_of_own_instances_do_not_reach_the_proxy_in_the_clear(
    start, ca_file, no_lookups, secure, protocol
):
    proxy = await start()
    config = NetworkConfig.model_validate({"proxy": getattr(proxy, protocol), "ca_file": ca_file})
    async with Sessions(
        config, own_origins=[SECURE], credentials=[token(SECURE)], resolver=no_lookups
    ) as sessions:
        assert await status_of(sessions.own, SECURE) == 200
        assert await status_of(sessions.public, SECURE) == 200
    own, public = (request.headers.get("Authorization") for request in secure.requests)
    assert (own, public) == ("Bearer sesame", None)
    assert proxy.asked == [f"{HOST}:443"] * 2
    assert b"sesame" not in proxy.read


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("no_proxy", [[], ["10.0.0.0/8"]])
@pytest.mark.parametrize("url", [PLAIN, "http://93.184.216.34/"])
async def test_plain_http_to_an_own_instance_that_may_be_public_goes_through_no_proxy(
    start, no_lookups, url, no_proxy, protocol
):
    proxy = await start()
    config = {"proxy": getattr(proxy, protocol), "no_proxy": no_proxy}
    sessions = Sessions(
        NetworkConfig.model_validate(config), own_origins=[url], credentials=[token(url)]
    )
    error = await failure_of(sessions, "own", url)
    assert isinstance(error, PolicyError)
    assert "use https" in error.message
    assert (proxy.asked, proxy.read) == ([], b"")


async def test_private_own_instances_go_directly_unless_told_otherwise(start, plain):
    proxy = await start()
    for no_proxy, asked in (({}, []), ({"no_proxy": ["example.org"]}, [plain.origin])):
        config = NetworkConfig.model_validate({"proxy": proxy.url, **no_proxy})
        proxy._hosts[plain.origin] = plain.origin
        async with Sessions(config, own_origins=[plain.url]) as sessions:
            assert await status_of(sessions.own, plain.url) == 200
        assert proxy.asked == asked


@pytest.mark.parametrize("kind", GUARDED)
async def test_exceptions_go_directly_and_are_guarded(start, names, ca_file, secure, kind):
    proxy = await start()
    resolver = names({HOST: ["127.0.0.1"], "evil.example.net": ["127.0.0.1"]})
    port = secure.port
    config = NetworkConfig.model_validate(
        {"proxy": proxy.url, "ca_file": ca_file, "no_proxy": ["example.net"]}
    )
    allow = AllowList.parse([f"{HOST}:{port}"])
    async with Sessions(config, allow=allow, resolver=resolver) as sessions:
        session = getattr(sessions, kind)
        assert await status_of(session, f"https://{HOST}:{port}/") == 200
        await raised(PolicyError, status_of(session, "https://evil.example.net/"))
        await raised(PolicyError, session.resolve("https://evil.example.net/", timeout=LONG))
    assert proxy.asked == []


async def test_each_scheme_may_have_its_proxy(start, describe):
    one, other = await start(), await start()
    async with describe(one.url, http_proxy=other.socks_url) as sessions:
        assert await status_of(sessions.pages, SECURE) == 200
        assert await status_of(sessions.pages, PLAIN) == 200
    assert (one.asked, other.asked) == ([f"{HOST}:443"], [f"{HOST}:80"])
    await other.aclose()
    error = await failure_of(describe(one.url, http_proxy=other.url), "pages", PLAIN)
    assert error.message == "The proxy of network.http_proxy cannot be reached."


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("options", [{}, {"no_proxy": []}], ids=["default", "none"])
async def test_literal_addresses_and_urls_are_judged_as_without_a_proxy(
    start, describe, protocol, options
):
    proxy = await start()
    urls = (
        "https://10.0.0.1/", "http://169.254.169.254/", "https://[::1]/",
        "https://[::ffff:10.0.0.1]/", "https://2130706433/", "https://localhost/",
        "https://searx.lan/", f"https://{HOST}:22/", f"ftp://{HOST}/",
    )  # fmt: skip
    async with describe(getattr(proxy, protocol), **options) as sessions:
        for kind, url in product(GUARDED, urls):
            error = await refusal_of(getattr(sessions, kind), url)
            assert isinstance(error, PolicyError), url
    assert proxy.asked == []


async def test_an_address_of_this_machine_is_refused_behind_a_proxy_too(
    start, describe, monkeypatch
):
    monkeypatch.setattr("searx_mcp.http.sessions.own_address_probe", lambda: lambda _: True)
    proxy = await start()
    error = await failure_of(describe(proxy.url), "pages", "https://93.184.216.34/")
    assert isinstance(error, PolicyError)
    assert proxy.asked == []


async def test_no_name_is_looked_up_before_a_host_is_charged(start, describe):
    proxy = await start()
    async with describe(proxy.url) as sessions:
        await sessions.public.resolve(SECURE, timeout=LONG)
        await raised(PolicyError, sessions.public.resolve("https://10.0.0.1/", timeout=LONG))
    assert proxy.asked == []


async def test_what_the_guard_cannot_do_is_said_once(start, describe, caplog):
    proxy = await start(username=USER, password=PASSWORD)
    async with describe(logged_in(proxy.url)) as sessions:
        assert await status_of(sessions.own, SECURE) == 200
        assert caplog.records == []
        for session in (sessions.public, sessions.pages):
            assert await status_of(session, SECURE) == 200
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "The proxy resolves names" in record.getMessage()
    assert "hunter2" not in record.getMessage()


async def test_a_public_instance_is_reached_as_a_tor_service_through_socks(start, describe, plain):
    proxy = await start()
    async with describe(proxy.socks_url) as sessions:
        assert await status_of(sessions.public, HIDDEN) == 200
        assert await status_of(sessions.own, HIDDEN) == 200
        await raised(PolicyError, status_of(sessions.pages, HIDDEN))
    assert proxy.asked == [f"{'a' * 56}.onion:80"] * 2


@pytest.mark.parametrize(
    ("proxy", "url"),
    [
        pytest.param("", HIDDEN, id="no proxy for a Tor service"),
        pytest.param("http://127.0.0.1:9", HIDDEN, id="none of SOCKS"),
        pytest.param("socks5h://127.0.0.1:9", "http://a.b.i2p/", id="I2P"),
    ],
)
async def test_networks_that_cannot_be_reached_are_refused(describe, proxy, url):
    assert isinstance(await failure_of(describe(proxy), "public", url), PolicyError)


def test_a_socks_proxy_without_its_library_is_a_wrong_setting(monkeypatch):
    monkeypatch.setattr("searx_mcp.http.proxy_route.find_spec", lambda name: None)
    with pytest.raises(SettingsError) as caught:
        Sessions(NetworkConfig.model_validate({"proxy": f"socks5://{IN_A_URL}@127.0.0.1:9"}))
    assert caught.value.field == "network.proxy"
    assert "searx-mcp[socks]" in caught.value.advice
    Sessions(NetworkConfig.model_validate({"proxy": "http://127.0.0.1:9"}))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_request_of_a_public_instance_is_sent_once_through_a_proxy(
    start, describe, serve, authority, kind
):
    async def hang_up(reader: Any, writer: Any) -> None:
        writer.close()

    server = await serve(then=hang_up, tls=certificate(authority, HOST))
    proxy = await start()
    proxy._hosts[f"{HOST}:443"] = f"127.0.0.1:{server.port}"
    error = await failure_of(describe(proxy.url), kind, SECURE)
    assert error.code == ErrorCode.CONNECTION_ERROR
    assert "proxy" not in error.message
    assert len(server.heads) == (1 if kind == "public" else 2)

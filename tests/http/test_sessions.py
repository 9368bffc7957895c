import asyncio
from typing import Any

import pytest
from pydantic import SecretStr
from yarl import URL

from searx_mcp.errors import (
    ErrorCode,
    InvalidArgumentError,
    PolicyError,
    SettingsError,
    TransportError,
)
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import HttpSession
from searx_mcp.http.sessions import Authorizer, Sessions
from searx_mcp.models.credentials import Credentials
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.urls.address import AllowList
from tests.doubles.raised import raised

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b; Path=/\r\n\r\nok"
LONG = 5.0


async def status_of(session: HttpSession, url: str) -> int:
    async with session.open(url, headers={}, timeout=LONG) as reply:
        await reply.read(max_bytes=100)
        return reply.status


def sessions_for(server: Any) -> Sessions:  # Any: the server class lives in conftest
    return Sessions(
        NetworkConfig(),
        allow=AllowList.parse([f"127.0.0.1:{server.port}"]),
        own_origins=[f"{server.url}searxng/"],
        operator_origins=[server.url],
    )


KINDS = ["own", "operator", "public", "pages"]


async def test_every_kind_has_its_own_connections_and_keeps_no_cookies(serve):
    server = await serve(answer=OK)
    async with sessions_for(server) as sessions:
        for kind in KINDS * 2:
            assert await status_of(getattr(sessions, kind), server.url) == 200
    assert server.connections == len(KINDS)
    assert not any("cookie" in head.lower() for head in server.heads)


async def test_proxies_of_the_environment_are_ignored(serve, monkeypatch):
    server, proxy = await serve(answer=OK), await serve(answer=OK)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    async with sessions_for(server) as sessions:
        for kind in KINDS:
            assert await status_of(getattr(sessions, kind), server.url) == 200
    assert (server.connections, proxy.connections) == (len(KINDS), 0)


@pytest.mark.parametrize("kind", ["own", "operator"])
async def test_configured_kinds_ask_no_other_origin(serve, kind):
    server, other = await serve(answer=OK), await serve(answer=OK)
    async with sessions_for(server) as sessions:
        session = getattr(sessions, kind)
        for url in (
            other.url,
            server.url.replace("http:", "https:"),
            server.url.replace("127.0.0.1", "localhost"),
            "http://example.org/",
        ):
            error = await raised(PolicyError, status_of(session, url))
            assert error.code == ErrorCode.BLOCKED_ADDRESS
        for url in ("", "/search", "http://[", "mailto:a@example.org"):
            await raised(InvalidArgumentError, status_of(session, url))
    assert (server.connections, other.connections) == (0, 0)


async def test_without_origins_the_configured_kinds_ask_nobody(serve):
    server = await serve(answer=OK)
    async with Sessions(NetworkConfig()) as sessions:
        for session in (sessions.own, sessions.operator):
            await raised(PolicyError, status_of(session, server.url))
    assert server.connections == 0


async def test_user_names_in_urls_send_no_credentials(serve):
    server = await serve(answer=OK)
    url = server.url.replace("//", "//me:secret@")
    async with Sessions(NetworkConfig(), own_origins=[url]) as sessions:
        assert await status_of(sessions.own, url) == 200
    assert "authorization" not in server.heads[0].lower()


@pytest.mark.parametrize("origin", ["", "searxng:8080", "/x", "ftp://searxng/", "http://["])
def test_a_wrong_origin_is_a_wrong_setting(origin):
    with pytest.raises(SettingsError):
        Sessions(NetworkConfig(), own_origins=[origin])


@pytest.mark.parametrize("kind", ["public", "pages"])
@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://127.0.0.1:8080/", []),
        ("http://[::1]:8080/", []),
        ("http://localhost:8080/", []),
        ("http://2130706433:8080/", []),
        ("http://www.example.org/", ["www.example.org"]),
        ("http://mixed.example.org/", ["mixed.example.org"]),
    ],
)
async def test_guarded_kinds_refuse_with_one_error(names, kind, url, asked):
    resolver = names(
        {"www.example.org": ["127.0.0.1"], "mixed.example.org": ["10.0.0.1", "93.184.216.34"]}
    )
    async with Sessions(NetworkConfig(), resolver=resolver) as sessions:
        error = await raised(PolicyError, status_of(getattr(sessions, kind), url))
    assert error.code == ErrorCode.BLOCKED_ADDRESS
    assert error.message == "The address is not on the public web and may not be fetched."
    assert resolver.asked == asked


@pytest.mark.parametrize("kind", ["public", "pages"])
async def test_a_literal_that_came_past_the_url_check_is_still_not_dialled(serve, names, kind):
    """The HTTP library asks no resolver about literals: only the socket stands in the way."""
    server, resolver = await serve(answer=OK), names({})
    async with Sessions(NetworkConfig(), resolver=resolver) as sessions:
        session = getattr(sessions, kind)
        session._admit = URL
        for url in (server.url, server.url.replace("127.0.0.1", "[::ffff:127.0.0.1]")):
            error = await raised(PolicyError, status_of(session, url))
            assert error.code == ErrorCode.BLOCKED_ADDRESS
    assert resolver.asked == []
    assert server.connections == 0


async def test_answers_of_the_resolver_are_not_kept_by_guarded_kinds(serve, names):
    """A name that was fine a moment ago is looked at again for each connection."""
    server = await serve(answer=OK.replace(b"200 OK\r\n", b"200 OK\r\nConnection: close\r\n"))
    resolver = names({"wiki.lan": [["127.0.0.1"], ["127.0.0.1"]]})
    allow = AllowList.parse([f"wiki.lan:{server.port}"])
    async with Sessions(NetworkConfig(), allow=allow, resolver=resolver) as sessions:
        for _ in range(2):
            assert await status_of(sessions.pages, f"http://wiki.lan:{server.port}/") == 200
    assert resolver.asked == ["wiki.lan", "wiki.lan"]


async def test_an_allowed_name_is_reached_at_its_port_only(serve, names):
    server, other = await serve(answer=OK), await serve(answer=OK)
    allow = AllowList.parse([f"wiki.lan:{server.port}"])
    resolver = names({"wiki.lan": ["127.0.0.1"]})
    async with Sessions(NetworkConfig(), allow=allow, resolver=resolver) as sessions:
        assert await status_of(sessions.pages, f"http://wiki.lan:{server.port}/") == 200
        for url in (server.url, f"http://wiki.lan:{other.port}/"):
            await raised(PolicyError, status_of(sessions.pages, url))
    assert (server.connections, other.connections) == (1, 0)


@pytest.mark.parametrize("kind", ["public", "pages", "own"])
async def test_an_unknown_name_is_a_dns_error(names, kind):
    async with Sessions(
        NetworkConfig(), own_origins=["http://www.example.org"], resolver=names({})
    ) as sessions:
        error = await raised(
            TransportError, status_of(getattr(sessions, kind), "http://www.example.org/")
        )
    assert error.code == ErrorCode.DNS_ERROR


async def test_cancelling_a_lookup_leaves_no_task(names, monkeypatch):
    asked = asyncio.Event()

    async def never(host, port=0, family=0):
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(resolver := names({}), "resolve", never)
    async with Sessions(NetworkConfig(), resolver=resolver) as sessions:
        before = asyncio.all_tasks()
        async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
            task = group.create_task(status_of(sessions.pages, "http://www.example.org/"))
            await asked.wait()
            task.cancel()
        assert task.cancelled()
        assert asyncio.all_tasks() <= before


@pytest.mark.parametrize(("kind", "requests"), [("public", 1), ("pages", 2), ("own", 2)])
async def test_a_request_to_a_public_instance_is_never_sent_twice(serve, kind, requests):
    async def hang_up(reader, writer):
        writer.close()

    server = await serve(then=hang_up)
    async with sessions_for(server) as sessions:
        error = await raised(TransportError, status_of(getattr(sessions, kind), server.url))
    assert error.code == ErrorCode.CONNECTION_ERROR
    assert len(server.heads) == requests


async def test_closing_twice_is_harmless_and_closes_the_connections(serve):
    server = await serve(answer=OK)
    sessions = sessions_for(server)
    assert await status_of(sessions.pages, server.url) == 200
    await sessions.aclose()
    async with asyncio.timeout(LONG):
        await server.until_idle()
    await sessions.aclose()
    await raised(RuntimeError, status_of(sessions.pages, server.url))


async def test_a_request_under_way_fails_when_the_sessions_close(serve):
    server = await serve(lambda reader, writer: reader.read())
    sessions = sessions_for(server)
    async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
        task = group.create_task(code_of(sessions.pages, server.url))
        await server.until_connected()
        await sessions.aclose()
    assert task.result() == ErrorCode.CONNECTION_ERROR


async def code_of(session: HttpSession, url: str) -> ErrorCode | None:
    try:
        await status_of(session, url)
    except TransportError as exc:
        return exc.code
    return None


@pytest.mark.parametrize(
    ("url", "answers", "code"),
    [
        ("https://www.example.org/", {"www.example.org": ["93.184.216.34"]}, None),
        ("https://www.example.org/", {}, ErrorCode.DNS_ERROR),
        ("https://www.example.org/", {"www.example.org": ["10.0.0.1"]}, ErrorCode.BLOCKED_ADDRESS),
        ("https://93.184.216.34/", {}, None),
        ("https://[2606:2800:220:1::1]/", {}, None),
        ("http://127.0.0.1/", {}, ErrorCode.BLOCKED_ADDRESS),
        ("ftp://www.example.org/", {}, ErrorCode.BLOCKED_SCHEME),
    ],
)
async def test_a_host_is_looked_up_without_being_asked(names, url, answers, code):
    async with Sessions(NetworkConfig(), resolver=names(answers)) as sessions:
        if code is None:
            await sessions.public.resolve(url, timeout=LONG)
            return
        error = await raised(
            (PolicyError, TransportError), sessions.public.resolve(url, timeout=LONG)
        )
    assert error.code == code


async def test_a_look_up_that_hangs_ends_in_time(names, monkeypatch):
    async def never(host, port=0, family=0):
        await asyncio.Event().wait()

    monkeypatch.setattr(resolver := names({}), "resolve", never)
    async with Sessions(NetworkConfig(), resolver=resolver) as sessions:
        error = await raised(
            TransportError, sessions.public.resolve("https://www.example.org/", timeout=0.05)
        )
    assert error.code == ErrorCode.TIMEOUT


async def test_own_instances_need_no_look_up(names):
    async with Sessions(
        NetworkConfig(), own_origins=["http://searxng:8080/"], resolver=names({})
    ) as sessions:
        await sessions.own.resolve("http://searxng:8080/", timeout=LONG)


def token(url: str, text: str = "hunter2") -> Credentials:
    return Credentials(url=url, token=SecretStr(text))


def logged_in_at(server: Any) -> Sessions:
    return Sessions(NetworkConfig(), own_origins=[server.url], credentials=[token(server.url)])


def sent_authorization(server: Any) -> list[str]:
    """The header's value in each request, empty where there was none."""
    heads = [dict(line.split(": ", 1) for line in head.split("\r\n")[1:]) for head in server.heads]
    return [head.get("Authorization", "") for head in heads]


async def test_credentials_go_to_own_instances_only(serve):
    server = await serve(answer=OK)
    async with Sessions(
        NetworkConfig(),
        own_origins=[server.url],
        operator_origins=[server.url],
        allow=AllowList.parse([f"127.0.0.1:{server.port}"]),
        credentials=[token(server.url)],
    ) as sessions:
        for kind in KINDS:
            assert await status_of(getattr(sessions, kind), f"{server.url}search?q=a") == 200
    assert KINDS[0] == "own"
    assert sent_authorization(server) == ["Bearer hunter2", "", "", ""]


async def test_a_redirect_is_not_followed_with_credentials(serve):
    other = await serve(answer=OK)
    moved = f"HTTP/1.1 302 Found\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n"
    server = await serve(answer=moved.encode())
    async with logged_in_at(server) as sessions:
        assert await status_of(sessions.own, server.url) == 302
    assert other.connections == 0


async def test_a_request_that_is_sent_again_has_its_credentials_again(serve):
    async def hang_up(reader, writer):
        writer.close()

    server = await serve(then=hang_up)
    async with logged_in_at(server) as sessions:
        await raised(TransportError, status_of(sessions.own, server.url))
    assert sent_authorization(server) == ["Bearer hunter2"] * 2


async def test_errors_show_no_credentials_down_to_their_causes(serve):
    server = await serve(answer=b"nonsense\r\n\r\n")
    async with logged_in_at(server) as sessions:
        caught = await raised(TransportError, status_of(sessions.own, server.url))
    assert sent_authorization(server) == ["Bearer hunter2"]
    error: BaseException | None = caught
    while error is not None:
        assert "hunter2" not in f"{error!r} {error}"
        error = error.__cause__ or error.__context__


PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:2800:220:1::1"


@pytest.mark.parametrize(
    "url", ["http://searxng:8080/", f"http://{PUBLIC}/", f"http://[{PUBLIC_V6}]/"]
)
@pytest.mark.parametrize("answers", [[PUBLIC], [PUBLIC_V6, PUBLIC], [f"::ffff:{PUBLIC}"]])
async def test_plain_http_goes_to_no_public_address(names, url, answers):
    async with Sessions(
        NetworkConfig(),
        own_origins=[url],
        credentials=[token(url)],
        resolver=names({"searxng": answers}),
    ) as sessions:
        error = await raised(PolicyError, status_of(sessions.own, url))
    assert error.code == ErrorCode.BLOCKED_ADDRESS
    assert "use https" in error.message
    assert "hunter2" not in repr(error)


@pytest.mark.parametrize(
    "answers",
    [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC_V6, PUBLIC, "127.0.0.1"]],
)
async def test_of_a_mixed_dns_answer_plain_http_takes_the_private_addresses(serve, names, answers):
    server = await serve(answer=OK)
    url = f"http://searxng.internal:{server.port}/"
    resolver = names({"searxng.internal": answers})
    async with Sessions(NetworkConfig(), own_origins=[url], resolver=resolver) as sessions:
        assert await status_of(sessions.own, url) == 200
    assert server.connections == 1


async def test_https_goes_anywhere_and_plain_http_has_its_own_connections(
    serve, certificate, monkeypatch
):
    plain, secure = await serve(answer=OK), await serve(answer=OK, tls=certificate)
    monkeypatch.setattr("searx_mcp.http.guard.is_private", lambda address: False)
    async with Sessions(NetworkConfig(), own_origins=[plain.url, secure.url]) as sessions:
        error = await raised(TransportError, status_of(sessions.own, secure.url))
        await raised(PolicyError, status_of(sessions.own, plain.url))
    assert error.code == ErrorCode.TLS_ERROR  # it got as far as the certificate
    assert plain.connections == 0


async def test_other_endpoints_of_the_operator_may_be_anywhere(serve, monkeypatch):
    server = await serve(answer=OK)
    monkeypatch.setattr("searx_mcp.http.guard.is_private", lambda address: False)
    async with Sessions(NetworkConfig(), operator_origins=[server.url]) as sessions:
        assert await status_of(sessions.operator, server.url) == 200


async def test_own_origins_change_while_the_session_is_open():
    async with FakeSearxng() as first, FakeSearxng() as second:
        async with Sessions(NetworkConfig(), own_origins=[first.url]) as sessions:

            async def status(url: str) -> int:
                async with sessions.own.open(f"{url}healthz", headers={}, timeout=2) as reply:
                    return reply.status

            assert await status(first.url) == 200
            await raised(PolicyError, status(second.url))
            sessions.admit_own([second.url])
            assert await status(second.url) == 200
            await raised(PolicyError, status(first.url))
        assert len(second.requests) == 1


async def test_an_own_instance_added_below_the_path_of_another_gets_none_of_its_credentials():
    async with FakeSearxng() as fake:
        credentials = Credentials(url=fake.url, token=SecretStr("secret"))
        inner = f"{fake.url}inner/"
        async with Sessions(
            NetworkConfig(), own_origins=[fake.url], credentials=[credentials]
        ) as sessions:
            for url in (fake.url, inner):
                async with sessions.own.open(f"{url}healthz", headers={}, timeout=2):
                    pass
            sessions.admit_own([fake.url, inner])
            async with sessions.own.open(f"{inner}healthz", headers={}, timeout=2):
                pass
    sent = [request.headers.get("Authorization") for request in fake.requests]
    assert sent == ["Bearer secret", "Bearer secret", None]


OWN = (
    "https://a.example/", "https://a.example/x/", "https://a.example/x/open/",
    "http://b.example/y/",
)  # fmt: skip
KNOWN = (OWN[0], OWN[1], OWN[3])


@pytest.fixture
def authorizer() -> Authorizer:
    return Authorizer(OWN, [Credentials(url=url, token=SecretStr(url)) for url in KNOWN])


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("https://a.example/", OWN[0]), ("https://A.EXAMPLE/search?q=x", OWN[0]),
        ("https://me:word@a.example/search", OWN[0]), ("https://a.example/xy/search", OWN[0]),
        ("https://a.example/x", OWN[0]), ("https://a.example/x/search?q=/", OWN[1]),
        ("https://a.example/x/%2e%2e/search", OWN[0]), ("https://a.example/x/open/search", None),
        ("http://b.example/y/search", OWN[3]), ("http://b.example/", None),
        ("http://b.example/Y/", None), ("https://b.example/y/", None),
        ("http://b.example:8080/y/", None), ("http://a.example/", None),
        ("https://a.example:8443/", None), ("https://a.example.net/", None),
        ("https://sub.a.example/", None),
    ],
)  # fmt: skip
def test_a_request_gets_the_credentials_of_its_instance_only(authorizer, url, owner):
    assert authorizer.value_for(URL(url)) == (f"Bearer {owner}" if owner else None)


def test_the_spelling_of_an_instance_does_not_matter():
    credentials = [Credentials(url="https://Bücher.example:443/ä", token=SecretStr("t"))]
    authorizer = Authorizer(["https://me@bücher.example/ä"], credentials)
    assert authorizer.value_for(URL("https://xn--bcher-kva.example/%C3%A4/search")) == "Bearer t"


def test_it_shows_no_credentials(authorizer):
    assert "Bearer" not in repr(authorizer)

"""What a client of the gateway reaches, and what it does not."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, SettingsError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.dialling import SocketRedirect, StaticResolver
from searx_mcp.http.gateway import Gateway, GatewayLimits, RequestHead, ResponseHead
from searx_mcp.http.sessions import Sessions
from searx_mcp.urls.address import AllowList

PUBLIC = "93.184.216.34"
SOON = 5.0


class Client:
    """One connection to a gateway."""

    def __init__(
        self, gateway: Gateway, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._gateway = gateway
        self._reader = reader
        self._writer = writer

    def say(self, data: bytes) -> None:
        self._writer.write(data)

    def ask(self, line: str, *fields: str, permission: str | None = "") -> None:
        """Send a request with the gateway's own password, another one, or none at all."""
        if permission is not None:
            fields = (*fields, f"Proxy-Authorization: {permission or self.permission}")
        self.say("\r\n".join([f"{line} HTTP/1.1", *fields, "", ""]).encode("latin-1"))

    @property
    def permission(self) -> str:
        return "Basic " + b64encode(":".join(self._gateway.credentials).encode()).decode()

    async def head(self) -> str:
        """The head of the answer."""
        async with asyncio.timeout(SOON):
            return (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")

    async def status(self) -> int:
        return int((await self.head()).split(" ")[1])

    async def read(self, count: int) -> bytes:
        async with asyncio.timeout(SOON):
            return await self._reader.readexactly(count)

    async def rest(self) -> bytes:
        """All that comes until the gateway closes the connection."""
        async with asyncio.timeout(SOON):
            try:
                return await self._reader.read()
            except ConnectionError:
                return b""

    async def until_sent(self) -> None:
        async with asyncio.timeout(SOON):
            await self._writer.drain()

    def leave(self) -> None:
        self._writer.transport.abort()


class Front:
    """An open gateway.

    Attributes:
        gateway: the gateway.
        dialled: the addresses and ports that the guard let pass.
        asked: the names that were looked up.
        admitted: the URLs that the owner's rule was told.
    """

    def __init__(self, gateway: Gateway, diversion: SocketRedirect, names: StaticResolver) -> None:
        self.gateway = gateway
        self.diversion = diversion
        self.asked = names.asked
        self.admitted: list[str] = []
        self._clients: list[Client] = []

    @property
    def dialled(self) -> list[tuple[str, int]]:
        return self.diversion.dialled

    async def connect(self) -> Client:
        url = URL(self.gateway.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        self._clients.append(Client(self.gateway, reader, writer))
        return self._clients[-1]

    async def saying(self, data: bytes) -> Client:
        client = await self.connect()
        client.say(data)
        return client

    async def asking(self, line: str, *fields: str, permission: str | None = "") -> Client:
        client = await self.connect()
        client.ask(line, *fields, permission=permission)
        return client

    async def tunnel(self) -> Client:
        """A connection through the gateway to the site."""
        client = await self.asking(SITE)
        assert await client.status() == 200
        return client

    async def status(self, line: str, *fields: str, permission: str | None = "") -> int:
        """The status of the answer to one request."""
        return await (await self.asking(line, *fields, permission=permission)).status()

    async def statuses(self, *lines: str) -> list[int]:
        return [await self.status(line) for line in lines]

    def leave(self) -> None:
        for client in self._clients:
            client.leave()


OpenFront = Callable[..., Any]


@pytest.fixture
def front() -> OpenFront:
    """Opens a gateway: all names and public addresses lead to the given port of this machine."""

    @asynccontextmanager
    async def opened(
        port: int = 0,
        *,
        names: Mapping[str, Sequence[Any]] | None = None,
        allow: Sequence[str] = (),
        admit: Callable[[URL], None] = lambda _url: None,
        limits: GatewayLimits = GatewayLimits(),  # noqa: B008 - frozen
        connect_timeout: float = SOON,
    ) -> AsyncIterator[Front]:
        def lead(_address: str, _port: int) -> int:
            if not port:
                raise ConnectionRefusedError
            return port

        def told(url: URL) -> None:
            shown.admitted.append(str(url))
            admit(url)

        resolver = StaticResolver([PUBLIC])
        resolver.know(names or {})
        diversion = SocketRedirect(lead)
        sessions = Sessions(
            NetworkConfig(connect_timeout=connect_timeout),
            resolver=resolver,
            dial=diversion.dial,
            allow=AllowList.parse(allow),
        )
        async with sessions, sessions.gateway(told, limits=limits) as gateway:
            shown = Front(gateway, diversion, resolver)
            yield shown
        shown.leave()
        assert not diversion.open_sockets

    return opened


@pytest.fixture
async def echo(serve: Callable[..., Awaitable[Any]]) -> Any:
    """A server that sends back what it gets."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()

    return await serve(repeat)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SITE = "CONNECT www.site.org:443"

LITERALS = """
    127.0.0.1:443 127.0.0.1:80 10.0.0.1:8080 169.254.169.254:80 0.0.0.0:443 [::1]:443 [::]:443
    [fe80::1]:443 [fd00::1]:443 [::ffff:127.0.0.1]:443 [64:ff9b::7f00:1]:443 [::ffff:a00:1]:8443
    2130706433:443 0x7f000001:443 0x7f.1:443 0177.0.0.1:443 127.1:443 127.0.0.1.:443
    [::1%25eth0]:443
"""
OF_NO_PUBLIC_WEB = """
    localhost:443 x.localhost:443 intranet:443 printer.local:443 metadata.google.internal:80
    site.onion:443
"""
OTHER_SERVICES = "www.site.org:22 www.site.org:25 www.site.org:6379 www.site.org:0"
NO_AUTHORITY = """
    www.site.org www.site.org: :443 www.site.org:443:443 www.site.org:+443 www.site.org:99999
    www.site.org:443443 user@www.site.org:443 user:word@127.0.0.1:443 www.site.org:443/path
    www.site.org:443?query www.site.org:443#fragment 127.0.0.1:443#@www.site.org:443
    https://www.site.org:443 [::1:443 [v1.fe80]:443 www.site.org\\@127.0.0.1:443 -_-.org:443
"""
REFUSED = [
    *((target, 403) for target in f"{LITERALS}{OF_NO_PUBLIC_WEB}{OTHER_SERVICES}".split()),
    *((target, 400) for target in NO_AUTHORITY.split()),
]


@pytest.mark.parametrize(("target", "status"), REFUSED)
async def test_no_tunnel_leads_to_what_pages_may_not_be_fetched_from(front, target, status):
    async with front() as shown:
        assert await shown.status(f"CONNECT {target}") == status
        assert (shown.dialled, shown.asked, shown.admitted) == ([], [], [])


PLAIN = """
    http://127.0.0.1/ http://127.0.0.1:8080/admin http://2130706433/ http://0x7f.1/ http://[::1]/
    http://[::ffff:169.254.169.254]/latest/meta-data http://localhost/ http://www.site.org:22/
    http://user:word@www.site.org/ http://www.site.org@127.0.0.1/ http:/127.0.0.1/
    http:///127.0.0.1/ http:// https://www.site.org/ ftp://www.site.org/ file:///etc/passwd
    /etc/passwd * www.site.org:80
"""


@pytest.mark.parametrize("target", PLAIN.split())
async def test_no_plain_request_leads_there_either(front, target):
    async with front() as shown:
        assert await shown.status(f"GET {target}") in {400, 403}
        assert (shown.dialled, shown.asked) == ([], [])


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"], ["10.0.0.1"], ["::1"], ["::ffff:10.0.0.1"], ["93.184.216.34", "10.0.0.1"],
        ["2606:4700:4700::1111", "fd00::1"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("line", [SITE, "GET http://www.site.org/"])
async def test_a_name_with_any_forbidden_address_is_refused(front, addresses, line):
    async with front(names={"www.site.org": [addresses]}) as shown:
        assert await shown.status(line) == 403
        assert shown.dialled == []


async def test_a_name_is_judged_by_the_answer_that_is_dialled(front, echo):
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    async with front(echo.port, names={"www.site.org": answers}) as shown:
        assert await shown.statuses(SITE, SITE) == [200, 403]
        assert shown.dialled == [("93.184.216.34", 443)]


async def test_a_tunnel_passes_both_ways_on_what_is_said_in_it(front, echo):
    async with front(echo.port) as shown:
        client = await shown.asking(SITE)
        assert await client.head() == "HTTP/1.1 200 Connection established\r\n\r\n"
        for said in (b"hello", b"\x16\x03\x01" * 50_000, b"bye"):
            client.say(said)
            assert await client.read(len(said)) == said
        assert shown.dialled == [("93.184.216.34", 443)]
        assert shown.admitted == ["https://www.site.org/"]


@pytest.mark.parametrize("target", ["93.184.216.34:8443", "[2606:4700:4700::1111]:443"])
async def test_a_tunnel_may_lead_to_a_public_address(front, echo, target):
    async with front(echo.port) as shown:
        assert await shown.status(f"CONNECT {target}") == 200
        assert shown.asked == []


async def test_a_plain_request_is_passed_on_without_what_was_for_the_gateway(front, serve):
    server = await serve(answer=OK)
    async with front(server.port) as shown:
        client = await shown.asking(
            "GET http://www.site.org/a%2Fb?q=%C3%A4&r=|",
            "Host: www.site.org",
            "Proxy-Connection: keep-alive",
            "Connection: keep-alive, X-Hop",
            "X-Hop: 1",
            "Accept: text/html",
        )
        head = await client.head()
        assert head == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
        assert await client.read(2) == b"ok"
        (request,) = server.heads
        assert request == (
            "GET /a%2Fb?q=%C3%A4&r=| HTTP/1.1\r\nHost: www.site.org\r\naccept: text/html\r\n"
            "Connection: close"
        )
        assert shown.dialled == [("93.184.216.34", 80)]


HOST = "Host: www.site.org"


@pytest.mark.parametrize(
    ("target", "fields", "passed"),
    [
        ("http://www.site.org", (), f"GET / HTTP/1.1\r\n{HOST}"),
        ("http://www.site.org:80/", (), f"GET / HTTP/1.1\r\n{HOST}"),
        ("HTTP://WWW.SITE.ORG:8080/A", (), f"GET /A HTTP/1.1\r\n{HOST}:8080"),
        ("http://www.site.org?q", (), f"GET /?q HTTP/1.1\r\n{HOST}"),
        ("http://www.site.org//a/../b", (), f"GET //a/../b HTTP/1.1\r\n{HOST}"),
        ("http://www.site.org/http://a.org/", (), f"GET /http://a.org/ HTTP/1.1\r\n{HOST}"),
        ("http://www.site.org/%2e%2E?a=%zz", (), f"GET /%2e%2E?a=%zz HTTP/1.1\r\n{HOST}"),
        ("http://[2606:4700::1111]:8080/", (), "GET / HTTP/1.1\r\nHost: [2606:4700::1111]:8080"),
        *(
            ("http://www.site.org/", fields, f"GET / HTTP/1.1\r\n{HOST}")
            for fields in (
                ("Host: other.org", "host: third.org"), ("Proxy-Connection: keep-alive",), ("Keep-Alive: timeout=5",),
                ("TE: trailers",), ("Trailer: x",), ("Upgrade: h2c",), ("Content-Length: 0",),
                ("Connection: close, X-Own ,", "X-Own: 1"),
            )
        ),
        ("http://www.site.org/", ("Accept: a",), f"GET / HTTP/1.1\r\n{HOST}\r\naccept: a"),
    ],
)  # fmt: skip
async def test_of_a_plain_request_the_site_gets_what_is_for_it(
    front, serve, target, fields, passed
):
    server = await serve(answer=OK)
    async with front(server.port) as shown:
        assert await shown.status(f"GET {target}", *fields) == 200
        assert server.heads == [f"{passed}\r\nConnection: close"]


@pytest.mark.parametrize(
    ("lines", "passed"),
    [
        (["HTTP/1.1 200 OK"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.0 200 OK"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 404"], ["HTTP/1.1 404 "]),
        (["HTTP/1.1 200 OK", "Set-Cookie: a=b", "Set-Cookie: c=d"], None),
        (["HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked"], None),
        (["HTTP/1.1 200 OK", "Connection: keep-alive"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "Keep-Alive: timeout=5"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "Proxy-Authenticate: Basic"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "Connection: X-Own", "X-Own: 1"], ["HTTP/1.1 200 OK"]),
        (
            ["HTTP/1.1 200 OK", "Connection: Content-Length", "Content-Length: 5"],
            ["HTTP/1.1 200 OK", "Content-Length: 5"],
        ),
        (["HTTP/1.1 200 OK", "no colon", " folded: x", "A : b"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "A: b\nConnection: keep-alive"], ["HTTP/1.1 200 OK"]),
    ],
)
async def test_an_answer_says_that_its_connection_ends(front, serve, lines, passed):
    server = await serve(answer="\r\n".join([*lines, "", ""]).encode())
    async with front(server.port) as shown:
        client = await shown.asking("GET http://www.site.org/")
        wanted = [*(passed or lines), "Connection: close", "", ""]
        assert await client.head() == "\r\n".join(wanted)


async def test_a_second_request_on_the_connection_reaches_nobody(front, serve):
    server = await serve(answer=OK)
    async with front(server.port) as shown:
        client = await shown.asking("GET http://www.site.org/first")
        client.ask("GET http://www.other.org/second")
        await client.rest()
        assert [request.split(" ")[1] for request in server.heads] in ([], ["/first"])
        assert shown.asked == ["www.site.org"]


READING_ONLY = [
    *((method, (), 405) for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH")),
    *(("GET", (field,), 400) for field in ("Content-Length: 5", "Content-Length: x")),
    ("GET", ("Content-Length: 0", "Content-Length: 1"), 400),
    *(("GET", (f"Transfer-Encoding: {name}",), 400) for name in ("chunked", "identity")),
    ("GET", ("Content-Length: 0",), 502),
]


@pytest.mark.parametrize(("method", "fields", "status"), READING_ONLY)
async def test_plain_http_is_for_reading_only(front, method, fields, status):
    async with front() as shown:
        assert await shown.status(f"{method} http://www.site.org/", *fields) == status


async def test_the_owner_has_a_say(front, echo):
    def admit(url: URL) -> None:
        if url.host == "blocked.org":
            raise PolicyError("no", code=ErrorCode.BLOCKED_DOMAIN, url=str(url))

    async with front(echo.port, admit=admit) as shown:
        lines = ("CONNECT blocked.org:443", "GET http://blocked.org/a?b", SITE)
        assert await shown.statuses(*lines) == [403, 403, 200]
        assert shown.admitted[:2] == ["https://blocked.org/", "http://blocked.org/a?b"]
        assert (shown.asked, dict(shown.gateway.record.refused)) == (
            ["www.site.org"],
            {"blocked.org": 2},
        )


async def test_what_the_operator_allows_is_reached_and_nothing_beside_it(front, echo):
    async with front(echo.port, allow=["10.0.0.5:9000"]) as shown:
        addresses = ("10.0.0.5:9000", "10.0.0.5:9001", "10.0.0.6:9000")
        statuses = await shown.statuses(*(f"CONNECT {address}" for address in addresses))
        assert statuses == [200, 403, 403]
        assert shown.dialled == [("10.0.0.5", 9000)]


@pytest.mark.parametrize(
    "permission",
    [
        None,
        "Basic",
        "Basic c2VhcngtbWNwOg==",
        "Basic \xe4",
        "Bearer x",
        "Basic " + b64encode(b"searx-mcp:" + b"x" * 43).decode(),
    ],
)
@pytest.mark.parametrize("line", [SITE, "GET http://www.site.org/", "POST http://127.0.0.1/"])
async def test_whoever_does_not_know_the_password_gets_nothing(front, permission, line):
    async with front() as shown:
        client = await shown.asking(line, permission=permission)
        head = await client.head()
        assert head.startswith("HTTP/1.1 407 ")
        assert "\r\nProxy-Authenticate: Basic " in head
        assert (shown.asked, dict(shown.gateway.record.refused)) == ([], {})


async def test_two_passwords_are_one_too_many(front):
    async with front() as shown:
        client = await shown.connect()
        client.ask(SITE, f"Proxy-Authorization: {client.permission}")
        assert await client.status() == 407


async def test_every_gateway_has_a_password_of_its_own(front):
    async with front() as one, front() as other:
        assert one.gateway.credentials != other.gateway.credentials


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET http://www.site.org/\r\n\r\n",
        b"get http://www.site.org/ HTTP/1.1\r\n\r\n",
        b"GET http://www.site.org/ HTTP/2.0\r\n\r\n",
        b"GET http://www.site.org/ b HTTP/1.1\r\n\r\n",
        b"GET http://www.site.\xf6rg/ HTTP/1.1\r\n\r\n",
        b"GET http://www.site.org/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET http://www.site.org/ HTTP/1.1\r\n Folded: x\r\n\r\n",
        b"GET http://www.site.org/ HTTP/1.1\r\nA: \x00\r\n\r\n",
        b"GET http://www.site.org/ HTTP/1.1\r\nA: b\nc: d\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\x05\x01\x00\r\n\r\n",
    ],
)
async def test_garbage_is_turned_away(front, data):
    async with front() as shown:
        client = await shown.saying(data)
        assert await client.status() == 400
        assert await client.rest() == b""


@pytest.mark.parametrize("ended", [b"", b"\r\n\r\n"])
async def test_a_head_of_any_length_is_turned_away(front, ended):
    async with front(limits=GatewayLimits(head_bytes=1_000)) as shown:
        client = await shown.saying(
            b"GET http://www.site.org/ HTTP/1.1\r\nA: " + b"x" * 10_000 + ended
        )
        assert await client.status() == 431


@pytest.mark.parametrize("data", [b"", b"GET http://www.site.org/ HTTP/1.1\r\n"])
async def test_a_client_that_says_nothing_is_sent_away(front, data):
    async with front(limits=GatewayLimits(head_time=0.01)) as shown:
        client = await shown.saying(data)
        assert await client.rest() == b""


async def test_more_connections_at_once_than_allowed_are_dropped(front, echo):
    async with front(echo.port, limits=GatewayLimits(at_once=2)) as shown:
        assert await shown.statuses(SITE, SITE) == [200, 200]
        third = await shown.asking(SITE)
        assert await third.rest() == b""


async def test_more_connections_altogether_than_allowed_are_refused(front, echo):
    async with front(echo.port, limits=GatewayLimits(connections=2)) as shown:
        assert await shown.statuses(*[SITE] * 3) == [200, 200, 503]
        assert shown.gateway.record.is_spent


@pytest.mark.parametrize(
    "limits", [GatewayLimits(total_bytes=100_000), GatewayLimits(connection_bytes=100_000)]
)
async def test_a_tunnel_ends_when_its_bytes_are_spent(front, serve, limits):
    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(100):
            writer.write(b"x" * 10_000)
            await writer.drain()

    server = await serve(pour)
    async with front(server.port, limits=limits) as shown:
        client = await shown.tunnel()
        assert 50_000 < len(await client.rest()) <= 100_000
        assert shown.gateway.record.is_spent
        assert await shown.status(SITE) == (503 if limits.total_bytes == 100_000 else 200)


@pytest.mark.parametrize("is_sent", [True, False], ids=["what is sent", "an answer"])
async def test_all_that_passes_counts(front, echo, serve, is_sent):
    server = echo if is_sent else await serve(answer=b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200_000)
    async with front(server.port, limits=GatewayLimits(connection_bytes=100_000)) as shown:
        client = await (shown.tunnel() if is_sent else shown.connect())
        if is_sent:
            client.say(b"x" * 200_000)
        else:
            client.ask("GET http://www.site.org/")
        assert (0 if is_sent else 50_000) <= len(await client.rest()) <= 100_000
        assert shown.gateway.record.is_spent


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"not HTTP\r\n\r\n", 502),
        *(
            (f"{line}\r\n\r\n".encode(), 502)
            for line in (
                "",
                "HTTP/1.1",
                "HTTP/1.1 20 OK",
                "HTTP/1.1 600 x",
                "HTTP/1.1 99 x",
                "HTTP/2 200 OK",
                "HTTP/0.9 200 OK",
                "ICY 200",
            )
        ),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 502),
        (b"HTTP/1.1 407 Log in\r\nProxy-Authenticate: Basic\r\n\r\n", 502),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 9 + OK, 502),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, 200),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 40_000, 502),
        (b"HTTP/1.1 404 Not Found\r\nno colon\r\n\r\n", 404),
    ],
)
async def test_answers_are_read_only_as_far_as_their_head(front, serve, answer, status):
    server = await serve(answer=answer)
    async with front(server.port) as shown:
        assert await shown.status("GET http://www.site.org/") == status


async def test_a_server_that_closes_without_an_answer_is_a_bad_one(front, serve):
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await serve(answer=b"", then=close)
    async with front(server.port) as shown:
        assert await shown.status("GET http://www.site.org/") == 502


async def test_a_server_hears_when_its_client_has_left(front, serve):
    server = await serve()
    async with front(server.port) as shown:
        client = await shown.asking("GET http://www.site.org/")
        async with asyncio.timeout(5):
            await server.until_connected()
            client.leave()
            await server.until_idle()


async def test_a_tunnel_ends_when_either_end_leaves(front, echo, serve):
    async with front(echo.port) as shown:
        client = await shown.tunnel()
        client.leave()
        async with asyncio.timeout(5):
            await echo.until_idle()

    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * 100_000)

    server = await serve(leave)
    async with front(server.port) as shown:
        client = await shown.tunnel()
        assert len(await client.rest()) == 100_000


async def test_a_host_that_cannot_be_reached_is_told_from_one_that_may_not(front):
    async with front(
        names={"www.gone.org": [[]], "www.silent.org": [None]}, connect_timeout=0.1
    ) as shown:
        hosts = ("www.gone.org", "www.silent.org", "www.closed.org", "10.0.0.1")
        statuses = await shown.statuses(*(f"CONNECT {host}:443" for host in hosts))
        assert statuses == [502, 504, 502, 403]
        codes = {
            name: getattr(shown.gateway.record.error(URL(f"https://{name}/")), "code", None)
            for name in (*hosts, "else.org")
        }
        assert codes == {
            "www.gone.org": ErrorCode.DNS_ERROR, "www.silent.org": ErrorCode.TIMEOUT,
            "www.closed.org": ErrorCode.CONNECTION_ERROR, "10.0.0.1": ErrorCode.BLOCKED_ADDRESS,
            "else.org": None,
        }  # fmt: skip
        assert dict(shown.gateway.record.refused) == {"10.0.0.1": 1}
        assert shown.gateway.record.last_error is shown.gateway.record.error(
            URL("https://10.0.0.1/")
        )


async def test_no_refusal_tells_an_address(front):
    async with front(names={"inner.org": [["10.20.30.40"]]}) as shown:
        client = await shown.asking("CONNECT inner.org:443")
        said = await client.head() + (await client.rest()).decode()
        error = shown.gateway.record.error(URL("https://inner.org/"))
        assert "10.20.30.40" not in said + str(error) + error.url + error.advice


async def test_a_host_that_was_reached_after_all_has_no_error(front, echo):
    async with front(echo.port, names={"www.site.org": [[], ["93.184.216.34"]]}) as shown:
        assert await shown.statuses(SITE, SITE) == [502, 200]
        assert shown.gateway.record.error(URL("https://www.site.org/")) is None


async def test_leaving_the_gateway_ends_everything(front, echo, serve):
    silent = await serve()
    async with front(echo.port) as shown, front(silent.port) as other:
        clients = [await shown.connect(), await shown.connect(), await other.connect()]
        clients[0].ask(SITE)
        assert await clients[0].status() == 200
        clients[1].say(b"CONNECT ")
        clients[2].ask("GET http://www.site.org/")
        async with asyncio.timeout(5):
            await silent.until_connected()
        url = URL(shown.gateway.url)
    for client in clients:
        assert await client.rest() == b""
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(url.host, url.port)
    with pytest.raises(RuntimeError):
        _ = shown.gateway.url
    names = {getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()}
    assert not {name for name in names if name.startswith("Gateway.")}


async def test_a_client_that_reads_nothing_does_not_hold_the_gateway_up(front, serve):
    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x" * 100_000)
            await writer.drain()

    server = await serve(pour)
    async with asyncio.timeout(5), front(server.port) as shown:
        await shown.tunnel()


@pytest.mark.parametrize("turns", range(0, 25, 2))
async def test_a_gateway_that_is_closed_at_any_time_leaves_nothing_open(front, echo, turns):
    async with front(echo.port) as shown:
        await shown.asking(SITE)
        for _ in range(turns):
            await asyncio.sleep(0)


@pytest.mark.parametrize("key", ["proxy", "http_proxy"])
async def test_no_gateway_leads_on_through_a_proxy(key):
    config = NetworkConfig.model_validate({key: "http://proxy.example.org:3128"})
    async with Sessions(config) as sessions:
        with pytest.raises(SettingsError, match=r"network\.proxy"):
            sessions.gateway(lambda _url: None)


@pytest.mark.parametrize("value", [" " * 30_000 + "b", " " * 30_000 + "\x00", "a \t" * 10_000])
def test_blanks_in_a_field_take_no_longer_than_their_number(value):
    """Matched apart from the value, 30,000 of them took three seconds, and before a NUL hours."""
    data = f"HTTP/1.1 200 OK\r\nX: a{value}\r\nY:{value}\r\n\r\n".encode()
    assert ResponseHead.parse(data).status == 200
    assert RequestHead.parse(b"GET http://a.org/ HTTP/1.1\r\nX: \t a \t\r\n\r\n").values("x") == [
        "a"
    ]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_head_or_refused(data):
    for parse in (RequestHead.parse, ResponseHead.parse):
        try:
            head = parse(data + b"\r\n\r\n")
        except ValueError:
            continue
        if isinstance(head, ResponseHead):
            assert head.passed_on.endswith(b"\r\nConnection: close\r\n\r\n")


@given(
    st.text(st.characters(max_codepoint=255), max_size=60), st.sampled_from(["\r\n", "\n", "\r"])
)
def test_no_value_becomes_a_line_of_its_own(value, end):
    data = f"GET http://www.site.org/ HTTP/1.1\r\nA: b{end}{value}\r\n\r\n"
    try:
        head = RequestHead.parse(data.encode("latin-1"))
    except ValueError:
        return
    lines = head.forwarded(URL("http://www.site.org/")).split(b"\r\n")
    assert all(b"\n" not in each and b"\r" not in each for each in lines)

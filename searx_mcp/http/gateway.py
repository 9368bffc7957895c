"""A guarded proxy on loopback for a program that opens its own connections, such as a browser.

It controls who may use it, which hosts it reaches and for how long; `Record` does the accounting.
"""

import asyncio
import contextlib
import re
import secrets
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Self

from yarl import URL

from searx_mcp.errors import (
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    PolicyError,
    TransportError,
)
from searx_mcp.http.guard import Dialler, Streams
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.url import check_url

_MAX_REMEMBERED: Final = 256
"""Hosts that are remembered; a page may name any number of them."""


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """Limits of one gateway, which serves one page.

    Attributes:
        total_bytes: in both directions together.
        connection_bytes: the same, of one connection.
        connections: over the life of the gateway.
        at_once: concurrent connections; Chromium opens 32 to one proxy.
        head_bytes: of the head of a request or answer.
        head_time: seconds in which a client must send its request.
    """

    total_bytes: int = 32 * 1024 * 1024
    connection_bytes: int = 16 * 1024 * 1024
    connections: int = 512
    at_once: int = 64
    head_bytes: int = 32 * 1024
    head_time: float = 10.0


@dataclass(slots=True)
class Meter:
    """Bytes transferred over one connection."""

    passed: int = 0


@dataclass(slots=True)
class Record:
    """The accounting of one gateway.

    Attributes:
        limits: of this gateway.
        is_spent: whether a limit has cut something off.
        refused: how often the rules refused each host; at most 256 hosts are remembered.
    """

    limits: GatewayLimits
    is_spent: bool = False
    refused: dict[str, int] = field(default_factory=dict)
    _connections: int = 0
    _passed: int = 0
    _errors: dict[tuple[str, int], FetchError] = field(default_factory=dict)

    def error(self, url: URL) -> FetchError | None:
        """Why the last attempt to reach a URL's host failed, or `None` if it did not."""
        return self._errors.get(_place(url))

    @property
    def last_error(self) -> FetchError | None:
        """Why the most recent unreachable host could not be reached, or `None`."""
        return self._errors[next(reversed(self._errors))] if self._errors else None

    def open(self) -> bool:
        """Count a connection; return whether it is allowed."""
        self._connections += 1
        if self._connections > self.limits.connections or self._passed >= self.limits.total_bytes:
            self.is_spent = True
            return False
        return True

    def spend(self, meter: Meter, count: int) -> bool:
        """Count bytes about to be transferred; return whether they are allowed."""
        meter.passed += count
        self._passed += count
        if self._passed > self.limits.total_bytes or meter.passed > self.limits.connection_bytes:
            self.is_spent = True
            return False
        return True

    def reached(self, url: URL) -> None:
        """Record that a host was reached."""
        self._errors.pop(_place(url), None)

    def failed(self, url: URL, error: FetchError) -> None:
        """Record why a host was not reached; the oldest entries are dropped."""
        host, port = _place(url)
        self._errors.pop((host, port), None)
        self._errors[host, port] = error
        if len(self._errors) > _MAX_REMEMBERED:
            del self._errors[next(iter(self._errors))]
        is_remembered = host in self.refused or len(self.refused) < _MAX_REMEMBERED
        if isinstance(error, PolicyError) and is_remembered:
            self.refused[host] = self.refused.get(host, 0) + 1


def _place(url: URL) -> tuple[str, int]:
    return url.raw_host or "", url.port or 0


_REQUEST_LINE: Final = re.compile(r"([A-Z]{1,20}) ([\x21-\x7e]+) HTTP/1\.[01]")
# The value keeps its whitespace: matching it separately takes cubic time.
_FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00\r\n]*)")
_STATUS_LINE: Final = re.compile(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: ([^\x00\r\n]*))?")
_ORIGIN: Final = re.compile(r"http://[^/?#]*", re.IGNORECASE)

_HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})
"""Hop-by-hop fields, RFC 9110 7.6.1, except those that frame a body."""

_PROXY: Final = "proxy-"
_SWITCHING: Final = 101
_PROXY_AUTHENTICATION_REQUIRED: Final = 407


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The request of a proxy client.

    Attributes:
        method: in upper case.
        target: the authority for CONNECT, otherwise an absolute URL; printable ASCII.
        fields: names in lower case with their values, in order.
    """

    method: str
    target: str
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse a head, including its empty line.

        Raises:
            ValueError: it is not HTTP/1.
        """
        first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        request = _REQUEST_LINE.fullmatch(first)
        found = [_FIELD.fullmatch(line) for line in rest]
        fields = [(match[1].lower(), match[2].strip(" \t")) for match in found if match is not None]
        if request is None or len(fields) < len(found):
            raise ValueError("not the head of a request")
        return cls(request[1], request[2], tuple(fields))

    def values(self, name: str) -> list[str]:
        """Return all values of a field, by its name in lower case."""
        return [value for field, value in self.fields if field == name]

    @property
    def has_body(self) -> bool:
        """Whether the request has a body."""
        lengths = self.values("content-length")
        return bool(self.values("transfer-encoding")) or any(value != "0" for value in lengths)

    def forwarded(self, url: URL) -> bytes:
        """Return the request to send to the server of `url`: alone on its connection, without a body.

        Path and query string are unchanged. The Host field is set anew, since a proxy request is for its URL,
        whatever that field says (RFC 9112 3.2.2).
        """
        path = _ORIGIN.sub("", self.target, count=1)
        path = path if path.startswith("/") else f"/{path}"
        dropped = _HOP_BY_HOP | _named(self.values("connection"))
        dropped |= {"host", "content-length", "transfer-encoding"}
        fields = [
            f"{name}: {value}"
            for name, value in self.fields
            if name not in dropped and not name.startswith(_PROXY)
        ]
        host = f"Host: {url.host_port_subcomponent}"
        lines = [f"{self.method} {path} HTTP/1.1", host, *fields, "Connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1")


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The head of a server's answer.

    Attributes:
        status: 200 to 599, or 100 to 199 if another head follows.
        passed_on: the head for the client: it forbids another request on its connection, which would
            reach the same server unchecked.
    """

    status: int
    passed_on: bytes

    @property
    def is_interim(self) -> bool:
        """Whether the final answer is still to come."""
        return self.status < 200  # noqa: PLR2004 - RFC 9110 15.2

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse a head, including its empty line.

        Lines without a colon are dropped, as browsers do.

        Raises:
            ValueError: it is not HTTP/1; it asks for proxy authentication, or to switch protocols.
        """
        first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        match = _STATUS_LINE.fullmatch(first)
        if match is None or int(match[1]) in {_SWITCHING, _PROXY_AUTHENTICATION_REQUIRED}:
            raise ValueError("not the head of an answer")
        found = [field for line in rest if (field := _FIELD.fullmatch(line)) is not None]
        connection = [field[2] for field in found if field[1].lower() == "connection"]
        dropped = _HOP_BY_HOP | _named(connection)
        kept = [
            field[0]
            for field in found
            if field[1].lower() not in dropped and not field[1].lower().startswith(_PROXY)
        ]
        lines = [f"HTTP/1.1 {match[1]} {match[2] or ''}", *kept, "Connection: close", "", ""]
        return cls(int(match[1]), "\r\n".join(lines).encode("latin-1"))


def _named(connection: list[str]) -> frozenset[str]:
    """Return the fields that a Connection field lists, except those that frame a body."""
    names = {name.strip().lower() for value in connection for name in value.split(",")}
    return frozenset(names) - {"content-length", "transfer-encoding"}


CLOSE_TIMEOUT: Final = 1.0
"""Seconds to flush data to a client that reads nothing, and to end everything."""

_HOST: Final = "127.0.0.1"
_USERNAME: Final = "searx-mcp"
_PIECE: Final = 1 << 16
_MAX_INTERIM: Final = 8

# The authority form of RFC 9112 3.2.3, loosely; `check_url` validates the host.
_AUTHORITY: Final = re.compile(r"(?:\[[^\]/?#@]+\]|[^\[\]:/?#@]+):[0-9]{1,5}")
_END: Final = b"\r\n\r\n"
_ESTABLISHED: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"
_CHALLENGE: Final = 'Proxy-Authenticate: Basic realm="searx-mcp"\r\n'


class _TurnedAwayError(Exception):
    """A client's request is refused."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


class Gateway:
    """A proxy on a free port of 127.0.0.1 for one owner, open while its `async with` block runs.

    It tunnels CONNECT, which https and both kinds of WebSocket use, and forwards GET and HEAD of plain
    http, one request on each connection. Each host is checked like a page's address: URL, the owner's rule,
    every resolved address, and the address to be dialled. Clients need its password, so other local
    programs cannot use it.

    Not covered: the traffic inside a tunnel. A client may request anything from the host it named.

    Leaving the block ends all connections, within `CLOSE_TIMEOUT`.

    Attributes:
        record: what happened.
    """

    def __init__(
        self,
        dialler: Dialler,
        *,
        allow: AllowList,
        admit: Callable[[URL], None],
        limits: GatewayLimits = GatewayLimits(),
    ) -> None:
        """Configure a gateway; `async with` opens it.

        Args:
            dialler: resolves names and connects.
            allow: places for which the operator has lifted the guard.
            admit: the owner's rule; it gets the URL (for a tunnel only the origin), and raises a `FetchError`
                to refuse it.
            limits: of the traffic.
        """
        self._allow = allow
        self._admit = admit
        self._dialler = dialler
        self.record = Record(limits)
        self._password = secrets.token_urlsafe(32)
        self._pair = b64encode(f"{_USERNAME}:{self._password}".encode())
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Its address as an HTTP proxy.

        Raises:
            RuntimeError: the gateway is not open.
        """
        if self._server is None:
            raise RuntimeError("the gateway is not open")
        return f"http://{_HOST}:{self._server.sockets[0].getsockname()[1]}"

    @property
    def credentials(self) -> tuple[str, str]:
        """User name and password, valid for this gateway only."""
        return _USERNAME, self._password

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, _HOST, 0, limit=self.record.limits.head_bytes
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the port and all connections. May be called more than once."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_TIMEOUT)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._server is None or len(self._tasks) >= self.record.limits.at_once:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._talk(reader, writer)
            writer.close()
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other end has gone, or stays silent
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await self._request(reader)
            if request.method == "CONNECT":
                await self._tunnel(request, (reader, writer))
            else:
                await self._forward(request, (reader, writer))
        except _TurnedAwayError as exc:
            writer.write(_said(exc.status))

    async def _request(self, reader: asyncio.StreamReader) -> RequestHead:
        try:
            async with asyncio.timeout(self.record.limits.head_time):
                request = RequestHead.parse(await reader.readuntil(_END))
        except asyncio.LimitOverrunError as exc:
            raise _TurnedAwayError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE) from exc
        except ValueError as exc:
            raise _TurnedAwayError(HTTPStatus.BAD_REQUEST) from exc
        if not self._has_password(request):
            raise _TurnedAwayError(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
        if request.method not in {"CONNECT", "GET", "HEAD"}:
            raise _TurnedAwayError(HTTPStatus.METHOD_NOT_ALLOWED)
        if request.has_body:
            raise _TurnedAwayError(HTTPStatus.BAD_REQUEST)
        if not self.record.open():
            raise _TurnedAwayError(HTTPStatus.SERVICE_UNAVAILABLE)
        return request

    def _has_password(self, request: RequestHead) -> bool:
        given = request.values("proxy-authorization")
        if len(given) != 1:
            return False
        scheme, _, pair = given[0].partition(" ")
        is_right = secrets.compare_digest(pair.strip().encode("latin-1"), self._pair)
        return is_right and scheme.lower() == "basic"

    async def _tunnel(self, request: RequestHead, client: Streams) -> None:
        if not _AUTHORITY.fullmatch(request.target):
            raise _TurnedAwayError(HTTPStatus.BAD_REQUEST)
        url = self._judged(f"https://{request.target}/")
        async with self._connected(url) as server:
            client[1].write(_ESTABLISHED)
            meter = Meter()
            await _until_one_ends(
                self._pump(client[0], server[1], meter), self._pump(server[0], client[1], meter)
            )

    async def _forward(self, request: RequestHead, client: Streams) -> None:
        if not request.target.lower().startswith("http://"):
            raise _TurnedAwayError(HTTPStatus.BAD_REQUEST)
        url = self._judged(request.target)
        async with self._connected(url) as server:
            server[1].write(request.forwarded(url))
            # The client sends nothing more; reading only detects that it leaves.
            await _until_one_ends(_next(client[0]), self._answer(server[0], client[1]))

    async def _answer(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        meter = Meter()
        for _ in range(_MAX_INTERIM):
            try:
                head = ResponseHead.parse(await source.readuntil(_END))
            except (ValueError, asyncio.LimitOverrunError, asyncio.IncompleteReadError, OSError):
                break
            if not self.record.spend(meter, len(head.passed_on)):
                return
            if not head.is_interim:
                sink.write(head.passed_on)
                await self._pump(source, sink, meter)
                return
        sink.write(_said(HTTPStatus.BAD_GATEWAY))

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, meter: Meter
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(_PIECE):
                if not self.record.spend(meter, len(data)):
                    return
                sink.write(data)
                await sink.drain()

    def _judged(self, raw: str) -> URL:
        try:
            url = check_url(raw, allow=self._allow)
        except InvalidArgumentError as exc:
            raise _TurnedAwayError(HTTPStatus.BAD_REQUEST) from exc
        except FetchError as exc:
            raise self._turned_away(URL(raw), exc) from exc
        try:
            self._admit(url)
        except FetchError as exc:
            raise self._turned_away(url, exc) from exc
        return url

    @asynccontextmanager
    async def _connected(self, url: URL) -> AsyncIterator[Streams]:
        limit = self.record.limits.head_bytes
        try:
            server = await self._dialler.connect(*_place(url), limit=limit)
        except FetchError as exc:
            exc.url = str(url)
            raise self._turned_away(url, exc) from exc
        self.record.reached(url)
        try:
            yield server
        finally:
            server[1].transport.abort()

    def _turned_away(self, url: URL, error: FetchError) -> _TurnedAwayError:
        self.record.failed(url, error)
        match error:
            case PolicyError():
                return _TurnedAwayError(HTTPStatus.FORBIDDEN)
            case TransportError(code=ErrorCode.TIMEOUT):
                return _TurnedAwayError(HTTPStatus.GATEWAY_TIMEOUT)
            case _:
                return _TurnedAwayError(HTTPStatus.BAD_GATEWAY)


def _said(status: HTTPStatus) -> bytes:
    challenge = _CHALLENGE if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else ""
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\n{challenge}Content-Length: 0\r\n"
    return f"{head}Connection: close\r\n\r\n".encode("ascii")


async def _next(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        await reader.read(1)


async def _until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()

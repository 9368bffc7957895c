"""A proxy on loopback: HTTP with CONNECT, and SOCKS 5, on one port."""

import asyncio
import re
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from types import TracebackType
from typing import Self

from searx_mcp.testing.loopback import HOST, keep_closed, never

_OK = 200
_FORBIDDEN = 403
_UNKNOWN_HOST = 502

_SOCKS = b"\x05"
_NO_LOGIN, _LOGIN, _NO_METHOD = 0, 2, 255  # RFC 1928 3
_IPV4, _NAME, _IPV6 = 1, 3, 4  # RFC 1928 5
_NOT_ALLOWED, _UNREACHABLE = 2, 4  # RFC 1928 6
_NOWHERE = bytes((_IPV4, 0, 0, 0, 0, 0, 0))


class _RefusedError(Exception):
    """The client does not get what it asked for, and has been told."""


class FakeProxy:
    """A proxy on a free port of 127.0.0.1, open while its `async with` block runs.

    It tunnels for CONNECT and for SOCKS 5, told apart by their first byte, and forwards plain http
    requests, one on each connection. Leaving the block ends all of it at once.

    Args:
        hosts: where each host leads, from `host:port` to `127.0.0.1:port`; others cannot be reached.
        username: wanted of everybody, if it is not empty.
        password: goes with it.
        intercept: makes the TLS context with which the proxy poses as a host, by the host's name;
            what goes through the proxy is then read by it.
        ssl_context: speak TLS with clients, as an https proxy does.

    Attributes:
        asked: `host:port` of everything that was asked for with the right credentials, in order.
        refused: how often they were wrong or missing.
        read: what was read of what went through: without `intercept` TLS stays closed.
    """

    def __init__(
        self,
        hosts: Mapping[str, str],
        *,
        username: str = "",
        password: str = "",
        intercept: Callable[[str], ssl.SSLContext] | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.asked: list[str] = []
        self.refused = 0
        self.read = bytearray()
        self._hosts = dict(hosts)
        self._username = username
        self._password = password
        self._intercept = intercept
        self._ssl_context = ssl_context
        self._status = _OK
        self._hangs = False
        self._tasks: set[asyncio.Task[None] | None] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """The address as an HTTP proxy, without credentials."""
        return f"{'https' if self._ssl_context else 'http'}://{HOST}:{self._port}"

    @property
    def socks_url(self) -> str:
        """The address as a SOCKS proxy, without credentials."""
        return f"socks5h://{HOST}:{self._port}"

    def fail(self, status: int) -> None:
        """Answer with this status from now on; over SOCKS 403 is not allowed, others unreachable."""
        self._status = status

    def hang(self) -> None:
        """Take requests from now on, and never answer."""
        self._hangs = True

    def recover(self) -> None:
        """End all faults."""
        self._status, self._hangs = _OK, False

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, HOST, 0, ssl=self._ssl_context)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the port and all connections; does nothing when closed already."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        tasks = {task for task in self._tasks if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        keep_closed(self, self._port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            first = await reader.readexactly(1)
            if self._hangs:
                await never()
            talk = self._talk_socks if first == _SOCKS else self._talk_http
            await talk(first, reader, writer)
        except* (OSError, _RefusedError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever is at the other end has gone, or is sent away
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _talk_http(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        pair = b64encode(f"{self._username}:{self._password}".encode()).decode()
        if self._username and f"proxy-authorization: basic {pair}\r\n".lower() not in head.lower():
            self.refused += 1
            await _say(writer, 407, "Proxy-Authenticate: Basic realm=proxy\r\n")
            raise _RefusedError
        is_tunnel = method == "CONNECT"
        place = target if is_tunnel else re.sub(r"^http://([^/]*).*", r"\1", target)
        place = place if re.search(r":\d+$", place) else f"{place}:80"
        status = self._ask(place)
        if status != _OK:
            await _say(writer, status)
            raise _RefusedError
        if is_tunnel:
            await _say(writer, _OK)
            await self._pass_through(place, reader, writer)
        else:
            await self._pass_through(place, reader, writer, begin=_origin_form(head))

    async def _talk_socks(
        self, _: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        wanted = _LOGIN if self._username else _NO_LOGIN
        if wanted not in methods:
            self.refused += 1
            writer.write(bytes((5, _NO_METHOD)))
            raise _RefusedError
        writer.write(bytes((5, wanted)))
        if wanted == _LOGIN:
            await self._check_login(reader, writer)
        kind = (await reader.readexactly(4))[3]
        if kind == _NAME:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii")
        else:
            host = str(ip_address(await reader.readexactly(4 if kind == _IPV4 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        place = f"[{host}]:{port}" if kind == _IPV6 else f"{host}:{port}"
        status = self._ask(place)
        reply = {_OK: 0, _FORBIDDEN: _NOT_ALLOWED}.get(status, _UNREACHABLE)
        writer.write(bytes((5, reply, 0)) + _NOWHERE)
        if reply:
            raise _RefusedError
        await self._pass_through(place, reader, writer)

    async def _check_login(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Take a user name and password, RFC 1929."""
        await reader.readexactly(1)
        given = [await reader.readexactly((await reader.readexactly(1))[0]) for _ in range(2)]
        is_right = given == [self._username.encode(), self._password.encode()]
        writer.write(bytes((1, not is_right)))
        if not is_right:
            self.refused += 1
            raise _RefusedError

    def _ask(self, place: str) -> int:
        self.asked.append(place)
        return self._status if place in self._hosts or self._status != _OK else _UNKNOWN_HOST

    async def _pass_through(
        self,
        place: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        begin: bytes = b"",
    ) -> None:
        context = None
        if self._intercept is not None and not begin:
            await writer.start_tls(self._intercept(place.rpartition(":")[0]))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            # Whom the proxy believes is no matter of its clients.
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        host, _, port = self._hosts[place].rpartition(":")
        source, sink = await asyncio.open_connection(host, int(port), ssl=context)
        try:
            sink.write(begin)
            self.read += begin
            async with asyncio.TaskGroup() as group:
                upward = group.create_task(_pump(reader, sink, self.read))
                await _pump(source, writer, bytearray())
                upward.cancel()
        finally:
            sink.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, copy: bytearray) -> None:
    while data := await source.read(1 << 16):
        copy += data
        sink.write(data)
        await sink.drain()
    sink.close()


async def _say(writer: asyncio.StreamWriter, status: int, headers: str = "") -> None:
    length = "" if status == _OK else "Content-Length: 0\r\nConnection: close\r\n"
    writer.write(f"HTTP/1.1 {status} So it is\r\n{headers}{length}\r\n".encode())
    await writer.drain()


def _origin_form(head: str) -> bytes:
    """A request as the host gets it: without its origin, and without what was for the proxy."""
    head = re.sub(r"^(\S+) http://[^/ ]*(\S*) ", r"\1 \2 ", head)
    head = re.sub(r"\r\n(?i:proxy-[a-z]+|connection):[^\r]*", "", head)
    return head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode("latin-1")

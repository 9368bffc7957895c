"""A server that says what it is told, byte by byte, HTTP or not."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Final, Self

from searx_mcp.http.dialling import LOOPBACK
from searx_mcp.testing.loopback import keep_closed

_END_OF_HEAD: Final = b"\r\n\r\n"
_NOT_FOUND: Final = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
_MAX_HEAD: Final = 65_536


class Connection:
    """One connection to a `RawServer`, and the request it is at.

    Attributes:
        reader: what the client sends.
        writer: what the client gets.
        head: the head of the last request, without its empty line.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.head = ""

    @property
    def path(self) -> str:
        """Path and query of the last request."""
        return (self.head.split(" ", 2)[1:2] or [""])[0]

    async def request(self) -> None:
        """Read the head of a request.

        Raises:
            EOFError: the client has gone.
        """
        self.head = (await self.reader.readuntil(_END_OF_HEAD)).decode("latin-1").rstrip()

    async def send(self, data: bytes) -> None:
        """Send bytes, and wait until most of them are on their way."""
        self.writer.write(data)
        await self.writer.drain()

    async def hang(self) -> None:
        """Say nothing more until the client leaves."""
        while await self.reader.read(_MAX_HEAD):
            pass

    def reset(self) -> None:
        """Break the connection with a RST instead of closing it."""
        opened = self.writer.get_extra_info("socket")
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Script = bytes | Callable[[Connection], Awaitable[None]]
"""What happens to a request: these bytes, after which the connection stays open, or a coroutine
function, after which it is closed."""


class RawServer:
    """Plays a script for each path, on a free port of 127.0.0.1, while its `async with` block runs.

    It checks nothing and adds nothing. Leaving the block breaks all connections.

    Args:
        scripts: by path with its query; other paths are a plain 404.
        greeting: played for each connection before anything is read, instead of `scripts`.
        ssl_context: serve https with this context instead of http.

    Attributes:
        heads: the head of every request, in order.
        connections: how many were made.
    """

    def __init__(
        self,
        scripts: Mapping[str, Script] | None = None,
        *,
        greeting: Script | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.heads: list[str] = []
        self.connections = 0
        self._scripts = dict(scripts or {})
        self._greeting = greeting
        self._ssl_context = ssl_context
        self._server: asyncio.Server | None = None
        self._port = 0
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
        self._changed = asyncio.Condition()

    @property
    def port(self) -> int:
        """The port; still known after closing, when connections to it are refused."""
        if not self._port:
            raise RuntimeError("RawServer has no port before `async with` opens it")
        return self._port

    @property
    def url(self) -> str:
        """The address of `/`."""
        return f"http{'s' if self._ssl_context else ''}://{LOOPBACK}:{self.port}/"

    @property
    def open_connections(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def play(self, path: str, script: Script) -> None:
        """Set the script of a path, also while the server is running."""
        self._scripts[path] = script

    async def until_idle(self) -> None:
        """Wait until no connection is open; for ever if one stays, so use `asyncio.timeout`."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._open)

    async def until_connected(self) -> None:
        """Wait until a connection is open."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._open))

    async def until_asked(self, count: int = 1) -> None:
        """Wait until so many requests have come."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.heads) >= count)

    def drop_connections(self) -> None:
        """Break every open connection."""
        for writer in self._open:
            writer.transport.abort()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, LOOPBACK, 0, ssl=self._ssl_context, limit=_MAX_HEAD
        )
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
        """Close the port, and break all connections."""
        if self._server is not None:
            self._server.close()
        self.drop_connections()
        for task in self._open.values():
            task.cancel()
        await self.until_idle()
        keep_closed(self, self._port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections += 1
        async with self._changed:
            self._open[writer] = task
            self._changed.notify_all()
        try:
            await self._converse(Connection(reader, writer))
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client left, or the block has ended
        finally:
            writer.close()
            async with self._changed:
                self._open.pop(writer, None)
                self._changed.notify_all()

    async def _converse(self, connection: Connection) -> None:
        if self._greeting is not None:
            await self._play(self._greeting, connection)
            return
        stays = True
        while stays:
            await connection.request()
            self.heads.append(connection.head)
            async with self._changed:
                self._changed.notify_all()
            stays = await self._play(self._scripts.get(connection.path, _NOT_FOUND), connection)

    async def _play(self, script: Script, connection: Connection) -> bool:
        """Play a script; whether the connection is to stay open."""
        if isinstance(script, bytes):
            await connection.send(script)
            return True
        await script(connection)
        return False


def response(
    body: bytes | str = b"",
    *,
    status: str = "200 OK",
    content_type: str | None = "text/html; charset=utf-8",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Return a whole and correct response, with or without a type."""
    data = body.encode() if isinstance(body, str) else body
    kind = {} if content_type is None else {"Content-Type": content_type}
    fields = {**kind, "Content-Length": str(len(data)), **(headers or {})}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data

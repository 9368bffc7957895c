"""The site that every address of a self-check leads to."""

import asyncio
from types import TracebackType
from typing import Final, Self

from searx_mcp.net.dialling import LOOPBACK

_END_OF_HEAD: Final = b"\r\n\r\n"
_ROBOTS: Final = "/robots.txt"
_PAGE: Final = b"<!DOCTYPE html><title>A page</title><h1>A page</h1><p>Nothing else is here.</p>"


class Site:
    """Redirects as told, then answers with a page; on a free port of 127.0.0.1.

    It has no certificate: a connection over TLS is closed, which is all that a check needs to see.
    No connection is kept, so that each request looks its name up again.

    Attributes:
        redirects: where the next answers redirect to.
        robots: where robots.txt redirects to; empty for none.
    """

    def __init__(self) -> None:
        self.redirects: list[str] = []
        self.robots = ""
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    @property
    def port(self) -> int:
        """Where it listens.

        Raises:
            RuntimeError: it is not open.
        """
        if self._server is None:
            raise RuntimeError("the site is not open")
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        tasks = [*self._open.values()]
        for writer in self._open:
            writer.transport.abort()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served by a task")
        self._open[writer] = task
        try:
            if (first := await reader.readexactly(1)).isalpha():
                head = first + await reader.readuntil(_END_OF_HEAD)
                writer.write(self._answer(head.split(b" ")[1].decode("latin-1")))
                await writer.drain()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # the client left, as it does with a connection it has no use for
        finally:
            del self._open[writer]
            writer.close()

    def _answer(self, target: str) -> bytes:
        if target == _ROBOTS:
            return _redirect(self.robots) if self.robots else _response("404 Not Found", "", b"")
        if self.redirects:
            return _redirect(self.redirects.pop(0))
        return _response("200 OK", "Content-Type: text/html; charset=utf-8\r\n", _PAGE)


def _redirect(location: str) -> bytes:
    # Beyond ASCII, a header holds the bytes of UTF-8: that is what browsers take.
    return _response("302 Found", f"Location: {location}\r\n", b"")


def _response(status: str, field: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\n{field}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body

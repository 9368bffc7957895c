"""The HTTP server on 127.0.0.1 that the doubles of this package share."""

import asyncio
import contextlib
import os
import socket
import ssl
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Self

from aiohttp import web

HOST = "127.0.0.1"

_CLOSE_TIMEOUT = 10.0
"""Seconds `aclose` waits for handlers without a connection; they end at once unless broken."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as received.

    Attributes:
        method: in upper case.
        path: decoded, without the query string.
        target: path and query string as in the request line.
        query: the query string; the first value of a repeated name.
        form: an `application/x-www-form-urlencoded` body, the same way; empty if there was none.
        headers: case-insensitive.
        secure: whether it came over TLS.
    """

    method: str
    path: str
    target: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    headers: Mapping[str, str]
    secure: bool

    @property
    def parameters(self) -> dict[str, str]:
        """Query string and form together; the form takes precedence, as in SearXNG."""
        return {**self.query, **self.form}


Respond = Callable[[web.BaseRequest, ReceivedRequest], Awaitable[web.StreamResponse]]


class LoopbackServer:
    """An HTTP server on a free port of 127.0.0.1, open while its `async with` block runs.

    Leaving the block closes the port and every connection and cancels the handlers, so it ends
    promptly even while requests hang. Servers share nothing, and leave nothing in the event loop
    afterwards; the closed port is given to no other server while this object lives.

    Args:
        respond: answers one request; an exception becomes a 500.
        ssl_context: serves https with this context instead of http.

    Attributes:
        requests: every request in order of arrival, including those that were never answered.
    """

    def __init__(self, respond: Respond, *, ssl_context: ssl.SSLContext | None = None) -> None:
        self.requests: list[ReceivedRequest] = []
        self._respond = respond
        self._ssl_context = ssl_context
        self._arrival = asyncio.Condition()
        self._runner: web.ServerRunner | None = None
        self._port: int | None = None

    @property
    def port(self) -> int:
        """The port; still known after closing, when connections to it are refused.

        Raises:
            RuntimeError: the server was never opened.
        """
        if self._port is None:
            raise RuntimeError(f"{type(self).__name__} has no port before `async with` opens it")
        return self._port

    @property
    def origin(self) -> str:
        """Host and port, `127.0.0.1:port`, as for `fetch.allow_private`."""
        return f"{HOST}:{self.port}"

    @property
    def base(self) -> str:
        """Scheme, host and port without a trailing slash."""
        return f"{'http' if self._ssl_context is None else 'https'}://{self.origin}"

    async def wait_for_requests(self, count: int) -> None:
        """Return as soon as `count` requests have arrived since the server was created.

        Waits forever if they do not come: use `asyncio.timeout`.
        """
        async with self._arrival:
            await self._arrival.wait_for(lambda: len(self.requests) >= count)

    async def __aenter__(self) -> Self:
        if self._runner is not None:
            raise RuntimeError(f"{type(self).__name__} is open already")
        # A client that gives up cancels its handler: a hung request does not outlive its caller.
        server = web.Server(self.handle, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=_CLOSE_TIMEOUT)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, 0, ssl_context=self._ssl_context)
        await site.start()
        self._port = site.port
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the port and all connections; does nothing if already closed."""
        runner, self._runner = self._runner, None
        if runner is None or runner.server is None:
            return
        for connection in runner.server.connections:
            if connection.transport is not None:
                # close() would first wait for the peer to read what is buffered; losing the
                # connection cancels its handler.
                connection.transport.abort()
        await runner.cleanup()
        keep_closed(self, self.port)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Record a request and answer it."""
        received = await _receive(request)
        async with self._arrival:
            self._log_for(received).append(received)
            self._arrival.notify_all()
        return await self._respond(request, received)

    def _log_for(self, received: ReceivedRequest) -> list[ReceivedRequest]:
        """Return the list for a request."""
        del received
        return self.requests


def keep_closed(owner: object, port: int) -> None:
    """Let a port of 127.0.0.1 refuse connections as long as `owner` lives, and be given to nobody else.

    A kernel may otherwise give a port that was just closed to the next server that asks for any.
    """
    bound = socket.socket()
    weakref.finalize(owner, bound.close)
    if os.name == "posix":  # elsewhere the option would let others take the port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with contextlib.suppress(OSError):
        bound.bind((HOST, port))


async def never() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()


async def _receive(request: web.BaseRequest) -> ReceivedRequest:
    form = await request.post()
    return ReceivedRequest(
        method=request.method,
        path=request.path,
        target=request.raw_path,
        query={name: request.query.getone(name) for name in request.query},
        form={name: str(form.getone(name)) for name in form},
        headers=request.headers,
        secure=request.secure,
    )

"""Limits on uvicorn's connections: how many there are, and how long a client may keep one waiting."""

import asyncio
import contextlib
import json
import math
import re
import sys
from dataclasses import dataclass, replace
from typing import Any, Final

import h11
import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from searx_mcp.errors import ErrorCode
from searx_mcp.server.web.shares import Clients, ConnectionShares, with_vouch

_LINGER: Final = 1.0
"""Seconds that a refused client has to read the response."""

_TURN_BYTES: Final = 4_096
"""Bytes parsed per turn of the event loop: for a body in chunks of one byte, h11 takes 4 ms for this many,
and 280 ms for what uvicorn reads at once."""
_BACKLOG: Final = 128
"""Connections accepted per turn of the event loop; by default asyncio accepts all that wait."""

_HEAD_END: Final = re.compile(rb"\n\r?\n")
_LONGEST_END: Final = 3
_LOOSE_LINE: Final = re.compile(rb"(?<!\r)\n|\n[ \t]")
"""A bare LF or a folded line, which a proxy may parse differently from h11."""
_CLOSE: Final = (b"connection", b"close")


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits on what clients may use of the server; times in seconds.

    Attributes:
        connections: open connections; one client may have a quarter. A client of the handshake protocol has one for
            its stream and one per call, so a thousand clients fit.
        strangers: open connections over which no token has come yet, where tokens are required.
        head: time for a request head, from its first byte or from the start of the connection.
        body: time for a request body.
        write: time for a client to read what was sent.
        idle: lifetime of a connection without a request. Clients close theirs after 4 (undici) or 5 (httpx); one
            that waited longer than the server might send into a closing connection.
        sessions: idle sessions of the handshake protocol, at some 40 kB each.
        session_idle: lifetime of a session without a request or a stream.
        stop: time for running calls when the server stops. Docker kills ten seconds after its signal; closing
            everything else takes the rest.
        last: time, at the stop, for a request already on its way over an idle connection.
    """

    connections: int = 2_048
    strangers: int = 256
    head: float = 10.0
    body: float = 20.0
    write: float = 30.0
    idle: int = 15
    sessions: int = 2_048
    session_idle: float = 1_800.0
    stop: float = 7.0
    last: float = 0.5


LIMITS: Final = ServerLimits()


def raise_descriptors(limits: ServerLimits) -> ServerLimits:
    """Raise the limit on open files as needed, and cap the connections at half of it.

    The other half is for what calls open themselves. A process usually starts with 1,024 (256 on macOS) and
    may ask for more.
    """
    if sys.platform == "win32":
        return limits
    import resource  # noqa: PLC0415 - Windows has none

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * limits.connections
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        soft = wanted
    else:
        with contextlib.suppress(ValueError, OSError):  # macOS: more than the kernel's own limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return replace(limits, connections=soft // 2)


class ServingConfig(uvicorn.Config):
    """Configuration of uvicorn without access logs and without trust in proxy headers.

    Args:
        app: app to serve.
        limits: limits on connections.
        stop: seconds that a stop waits for running requests.
        clients: finds the client of a connection by its address.
        wants_token: whether connections without a token count as strangers.

    Attributes:
        is_stopping: whether each connection ends with its next response.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ServerLimits,
        stop: float,
        clients: Clients,
        *,
        wants_token: bool,
    ) -> None:
        self.limits = limits
        self.is_stopping = False
        strangers = min(limits.strangers, limits.connections) if wants_token else 0
        self.open = ConnectionShares(clients, limits.connections, strangers)
        super().__init__(
            app,
            http=BoundedConnection,
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="error",  # at WARNING any client could write a line per invalid byte
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=limits.idle,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=math.ceil(stop),
        )


class BoundedConnection(H11Protocol, asyncio.BufferedProtocol):
    """A connection that closes if its client is too slow, and is refused if there are too many.

    uvicorn limits the time between requests and the size of a head, but waits forever for a head or for a client
    that does not read, and parses everything that has arrived in one go.

    The connection also closes after a response that says so, or that was sent before the whole body arrived. Its
    client then has a second to read the response.

    Against request smuggling, a head that a proxy may parse differently is refused, and a request with two lengths
    closes the connection: what follows could be a request that the proxy has not seen.
    """

    def __init__(
        self,
        config: ServingConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._serving, self._open = config, config.open
        state = with_vouch(app_state, lambda: self._open.vouch(self))
        super().__init__(config, server_state, state, _loop)
        self._limits = config.limits
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._is_refused = False
        self._read_buffer = bytearray()
        self._tail = b""
        self._has_whole_head = True
        self._response_transport = _ResponseTransport(self)

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # - as uvicorn's
        super().connection_made(transport)
        # Anything the kernel does not take at once starts the `write` timer.
        transport.set_write_buffer_limits(high=0)
        count = len(self.connections)
        self._entry = self._open.enter(self, self.client)
        if count > 2 * self._limits.connections or self._entry.is_flood:
            transport.abort()
        elif count > self._limits.connections or self._entry.is_surplus:
            self._refuse(_TOO_MANY)
        else:
            self._start_head_timer()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_timer()
        self._open.leave(self, self._entry)
        self.resume_writing()
        super().connection_lost(exc)

    def make_room(self) -> None:
        """Close this connection, over which no token has come, in favour of another."""
        self.transport.abort()

    @override
    def get_buffer(self, sizehint: int) -> bytearray:
        self._read_buffer = bytearray(_TURN_BYTES)
        return self._read_buffer

    @override
    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._read_buffer[:nbytes]))

    @override
    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            # Searching the new bytes and a short tail scans a head once, however many pieces it comes in.
            seen = self._tail + data
            self._tail = seen[-_LONGEST_END:]
            self._has_whole_head = _HEAD_END.search(seen) is not None
            super().data_received(data)
            self._has_whole_head = True
            self._start_head_timer()
            if self._serving.is_stopping and (cycle := self._running()):
                self._end_with_response(cycle)

    @override
    def handle_events(self) -> None:
        if self._has_whole_head and self.conn.their_state is h11.IDLE:
            unread = self.conn.trailing_data[0]
            end = _HEAD_END.search(unread)
            if end is not None and _LOOSE_LINE.search(unread, 0, end.end()):
                self.send_400_response("")
                return
        super().handle_events()
        # RFC 9112, 6.1: chunked encoding overrides the length, and the connection must close.
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None:
            return
        cycle.transport = self._response_transport  # type: ignore[assignment] # - has what it uses
        if cycle.keep_alive and _has_two_lengths(self.headers):
            self._end_with_response(cycle)

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self.end()

    def end(self) -> None:
        """Close the connection; while the client still sends, only after it could read the response, which a reset would lose."""
        if self.conn.their_state is not h11.SEND_BODY:
            self.transport.close()
        elif not self._is_refused:
            self._linger()

    @override
    def shutdown(self) -> None:
        """Close after the response to the current request, or to one already on its way.

        If such a request met a closed connection, its client could not know whether it was performed.
        """
        if cycle := self._running():
            self._end_with_response(cycle)
        self.loop.call_later(self._limits.last, self._close_unused)

    def _running(self) -> RequestResponseCycle | None:
        """Return the request whose response is not complete."""
        cycle: RequestResponseCycle | None = self.cycle
        return None if cycle is None or cycle.response_complete else cycle

    def _end_with_response(self, cycle: RequestResponseCycle) -> None:
        """Close after the response to a request, and announce it there unless the response has begun."""
        if not cycle.response_started:
            self.headers.append(_CLOSE)  # uvicorn copies it into the response
            cycle.keep_alive = False

    def _close_unused(self) -> None:
        if self._running():
            self.loop.call_later(self._limits.last, self._close_unused)
        elif not self.transport.is_closing():
            super().shutdown()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.write, self.transport.abort)

    @override
    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP, unless a response to that request has already begun."""
        if cycle := self._running():
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._refuse(_NOT_HTTP)
        else:
            self.transport.close()

    def _start_head_timer(self) -> None:
        """Start the timer of the next head, unless a request is being served."""
        if self._running():
            self._cancel_head_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self._limits.head, self.transport.close)

    def _cancel_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, response: bytes) -> None:
        self.transport.write(response)
        self._linger()

    def _linger(self) -> None:
        """Stop reading, and close in a second."""
        self._is_refused = True
        self._cancel_head_timer()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._head_timer = self.loop.call_later(_LINGER, self.transport.abort)


class _ResponseTransport:
    """The transport that uvicorn writes responses to; closing it leaves the client time to read.

    uvicorn writes a head and the body behind it one after the other. They go out as one packet, which costs
    both sides half.

    Args:
        connection: the connection behind it.
    """

    def __init__(self, connection: BoundedConnection) -> None:
        self._connection = connection
        self._held = b""

    def write(self, data: bytes) -> None:
        """Send a part of the response, together with the next one if that follows at once."""
        if self._held:
            data, self._held = self._held + data, b""
            self._connection.transport.write(data)
        elif data:
            self._held = data
            self._connection.loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._held:
            self.write(b"")

    def close(self) -> None:
        """Close the connection."""
        self._flush()
        self._connection.end()

    def is_closing(self) -> bool:
        """Tell whether the connection is closing."""
        return self._connection.transport.is_closing()


def _has_two_lengths(headers: list[tuple[bytes, bytes]]) -> bool:
    return {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}


def _error_response(status: str, code: ErrorCode, message: str) -> bytes:
    body = json.dumps({"error": {"code": code.value, "message": message}})
    return (
        f"HTTP/1.1 {status}\r\nconnection: close\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
    ).encode()


_TOO_MANY: Final = _error_response(
    "503 Service Unavailable\r\nretry-after: 5",
    ErrorCode.RATE_LIMITED,
    "Too many connections: try again in a few seconds.",
)
_NOT_HTTP: Final = _error_response(
    "400 Bad Request",
    ErrorCode.INVALID_ARGUMENT,
    "Not an HTTP/1.1 request, or its URL or headers are too long.",
)

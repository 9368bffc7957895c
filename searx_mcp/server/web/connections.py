"""HTTP connections of uvicorn, bounded in number and in how long a client may keep one waiting."""

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
from searx_mcp.server.web.shares import Clients, Connections, vouching

_LINGER: Final = 1.0
"""Seconds that a client has to read why it is refused."""

_TURN: Final = 4_096
"""Bytes that are parsed in a turn of the event loop: of bodies in chunks of one byte, h11 takes 4 ms
for so many, and 280 for what uvicorn reads at once."""
_ACCEPTED: Final = 128
"""Connections that are accepted in a turn of the event loop; asyncio would take all that wait."""

_HEAD_END: Final = re.compile(rb"\n\r?\n")
_LONGEST_END: Final = 3
_LOOSE_LINE: Final = re.compile(rb"(?<!\r)\n|\n[ \t]")
"""A line that ends without CR, or goes on in the next one: what a proxy makes of it may differ from what h11 does."""
_CLOSE: Final = (b"connection", b"close")


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take of a server; times in seconds.

    Attributes:
        connections: open ones, of which one client has a quarter. A client of the handshake protocol has one for
            its stream and one for each call, so a thousand clients fit.
        strangers: of those, the ones that no token has come over, where there are tokens.
        head: for the head of a request, from its first byte, or from the connection.
        body: for the body of a request.
        write: for a client to read what was sent.
        idle: for a connection without a request. Clients drop theirs after 4 (undici) or 5 (httpx);
            a client that keeps one longer would send into one that is being closed.
        sessions: idle ones of the handshake protocol, at some 40 kB each.
        session_idle: for a session without a request and without a stream.
        stop: for running calls when the server is to stop. Docker kills ten seconds after its signal; what the
            server closes behind them takes the rest.
        last: for a request that is on its way then, over a connection that waits for one.
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


LIMITS: Final = Limits()


def raise_descriptors(limits: Limits) -> Limits:
    """Let this process open as many files as it may, and take no more connections than half of them.

    What the server itself opens for a call has the other half: a process usually has 1,024 (256 on
    macOS) until it asks for more.
    """
    if sys.platform == "win32":
        return limits
    import resource  # noqa: PLC0415 - Windows has none

    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * limits.connections
    wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if allowed == resource.RLIM_INFINITY or allowed >= wanted:
        allowed = wanted
    else:
        with contextlib.suppress(ValueError, OSError):  # macOS: more than the kernel's own limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
            allowed = wanted
    return replace(limits, connections=allowed // 2)


class ServingConfig(uvicorn.Config):
    """How uvicorn serves: without logs of requests, without trust in headers of proxies.

    Args:
        app: to be served.
        limits: of its connections.
        stop: seconds after which what has not ended is not waited for.
        clients: tell whose a connection is.
        wants_token: whether a connection without a token is a stranger's.

    Attributes:
        is_stopping: whether each connection ends with its next answer.
    """

    def __init__(
        self, app: ASGIApp, limits: Limits, stop: float, clients: Clients, *, wants_token: bool
    ) -> None:
        self.limits = limits
        self.is_stopping = False
        strangers = min(limits.strangers, limits.connections) if wants_token else 0
        self.open = Connections(clients, limits.connections, strangers)
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
            backlog=_ACCEPTED,
            timeout_graceful_shutdown=math.ceil(stop),
        )


class BoundedConnection(H11Protocol, asyncio.BufferedProtocol):
    """A connection that ends if its client is too slow, and is refused if there are too many.

    uvicorn bounds the time between requests and the size of a head, but waits without end for a head,
    and for a client that does not read; and it parses whatever has arrived in one go.

    It ends, too, with an answer that says so, or that is given before the whole body has arrived. Then its client has
    a second to read it.

    A head that a proxy may read otherwise is refused, and after a request with two lengths the connection
    ends: what follows could be a request that the proxy has not seen.
    """

    def __init__(
        self,
        config: ServingConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._serving, self._open = config, config.open
        state = vouching(app_state, lambda: self._open.vouch(self))
        super().__init__(config, server_state, state, _loop)
        self._limits = config.limits
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._is_refused = False
        self._room = bytearray()
        self._tail = b""
        self._is_head_there = True
        self._end = _End(self)

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # - as uvicorn's
        super().connection_made(transport)
        # Whatever the kernel does not take at once stops the clock of `write`.
        transport.set_write_buffer_limits(high=0)
        count = len(self.connections)
        self._entry = self._open.enter(self, self.client)
        if count > 2 * self._limits.connections or self._entry.is_flood:
            transport.abort()
        elif count > self._limits.connections or self._entry.is_surplus:
            self._refuse(_TOO_MANY)
        else:
            self._expect_head()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        self._open.leave(self, self._entry)
        self.resume_writing()
        super().connection_lost(exc)

    def make_room(self) -> None:
        """Close for another connection: no token has come over this one."""
        self.transport.abort()

    @override
    def get_buffer(self, sizehint: int) -> bytearray:
        self._room = bytearray(_TURN)
        return self._room

    @override
    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._room[:nbytes]))

    @override
    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            # So that a head is looked through once, however many pieces it comes in.
            seen = self._tail + data
            self._tail = seen[-_LONGEST_END:]
            self._is_head_there = _HEAD_END.search(seen) is not None
            super().data_received(data)
            self._is_head_there = True
            self._expect_head()
            if self._serving.is_stopping and (cycle := self._running()):
                self._end_with_answer(cycle)

    @override
    def handle_events(self) -> None:
        if self._is_head_there and self.conn.their_state is h11.IDLE:
            waiting = self.conn.trailing_data[0]
            end = _HEAD_END.search(waiting)
            if end is not None and _LOOSE_LINE.search(waiting, 0, end.end()):
                self.send_400_response("")
                return
        super().handle_events()
        # RFC 9112, 6.1: it is read in chunks, and the connection ends.
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None:
            return
        cycle.transport = self._end  # type: ignore[assignment] # - has what it uses
        if cycle.keep_alive and _has_two_lengths(self.headers):
            self._end_with_answer(cycle)

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self.end()

    def end(self) -> None:
        """Close; if the client still sends, once it has had time to read the answer, which a reset would destroy."""
        if self.conn.their_state is not h11.SEND_BODY:
            self.transport.close()
        elif not self._is_refused:
            self._linger()

    @override
    def shutdown(self) -> None:
        """Close after the answer to the current request, or to one on its way.

        A client whose connection is then closed cannot know whether it was performed.
        """
        if self._is_refused:
            super().shutdown()
            return
        if cycle := self._running():
            self._end_with_answer(cycle)
        self.loop.call_later(self._limits.last, self._close_unused)

    def _running(self) -> RequestResponseCycle | None:
        """The request that has no whole answer yet."""
        cycle: RequestResponseCycle | None = self.cycle
        return None if cycle is None or cycle.response_complete else cycle

    def _end_with_answer(self, cycle: RequestResponseCycle) -> None:
        """End the connection with the answer to a request, and let that say so; one that has begun cannot."""
        if not cycle.response_started:
            self.headers.append(_CLOSE)  # from which uvicorn takes it
            cycle.keep_alive = False

    def _close_unused(self) -> None:
        if self._running():
            self.loop.call_later(self._limits.last, self._close_unused)
        elif not self.transport.is_closing():
            super().shutdown()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._limits.write, self.transport.abort)

    @override
    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    @override
    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, unless the request that it belongs to is answered already; not both."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._refuse(_NO_HTTP)
        else:
            self.transport.close()

    def _expect_head(self) -> None:
        """Wait for the head of a request, unless one is being served."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._forget_head()
        elif self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(self._limits.head, self.transport.close)

    def _forget_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self._linger()

    def _linger(self) -> None:
        """Read no more, and close in a second."""
        self._is_refused = True
        self._forget_head()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._head = self.loop.call_later(_LINGER, self.transport.abort)


class _End:
    """What an answer is written to: the transport of a connection, which ends as that does.

    Args:
        connection: it.
    """

    def __init__(self, connection: BoundedConnection) -> None:
        self._connection = connection

    def write(self, data: bytes) -> None:
        """Send a part of the answer."""
        self._connection.transport.write(data)

    def close(self) -> None:
        """End the connection."""
        self._connection.end()

    def is_closing(self) -> bool:
        """Tell whether it has ended."""
        return self._connection.transport.is_closing()


def _has_two_lengths(headers: list[tuple[bytes, bytes]]) -> bool:
    return {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}


def _answer(head: str, code: ErrorCode, message: str) -> bytes:
    body = json.dumps({"error": {"code": code.value, "message": message}})
    return (
        f"HTTP/1.1 {head}\r\nconnection: close\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
    ).encode()


_TOO_MANY: Final = _answer(
    "503 Service Unavailable\r\nretry-after: 5",
    ErrorCode.RATE_LIMITED,
    "Too many connections: try again in a few seconds.",
)
_NO_HTTP: Final = _answer(
    "400 Bad Request",
    ErrorCode.INVALID_ARGUMENT,
    "Not an HTTP/1.1 request, or its URL or headers are too long.",
)

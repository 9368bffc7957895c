"""Sessions of the handshake protocol that survive a restart, and room for new ones.

The SDK keeps a session in the process that opened it. Behind a load balancer the next request may reach another
process, and after a restart every request does. Our sessions hold only what the client sent in `initialize`, so their
ids carry it: a process that does not know a session opens an equal one. The id is not signed, as it grants no more than
`initialize` does.

Few clients end their sessions, and some open one per call. So if a client has too many, or all clients together do, a
new session ends the one that has been idle longest. None is refused: a session in use has a connection, and connections
are limited.
"""

import asyncio
import base64
import json
import math
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, Final

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searx_mcp.server.identity import identity_of
from searx_mcp.server.web.policy import MCP_PATH, message_of
from searx_mcp.server.web.shares import Clients, share_of

_SESSION_HEADER: Final = MCP_SESSION_ID_HEADER.encode()
_VERSION_HEADER: Final = MCP_PROTOCOL_VERSION_HEADER.encode()
_ID: Final = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{1,1200})")
"""The SDK's id of a session, and a description of its client."""
_MAX_CHARS: Final = 64
"""Characters kept of a client's name and of its version; in JSON, each may take 6 bytes."""
_MAX_ENDED: Final = 4_096
"""Ended sessions to remember."""
_HEADERS: Final = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
)
_Key = tuple[str, str]
"""The identity that a session belongs to, and the SDK's id of it."""


class McpSessions:
    """Resumes sessions of other processes, and ends idle ones when there are too many.

    Args:
        app: app that serves MCP.
        manager: the SDK's manager of its sessions.
        max_idle: idle sessions to keep; one client may have a quarter.
        clients: finds the client of a request by its address.
    """

    def __init__(
        self, app: ASGIApp, manager: StreamableHTTPSessionManager, max_idle: int, clients: Clients
    ) -> None:
        self._app = app
        self._manager = manager
        self._max_idle = max_idle
        self._clients = clients
        self._owners: dict[str, str] = {}
        self._resumed: dict[_Key, str] = {}
        self._ended: OrderedDict[_Key, None] = OrderedDict()
        self._resuming = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != MCP_PATH or not _has_sessions(scope):
            await self._app(scope, receive, send)
            return
        session = _header(scope, _SESSION_HEADER)
        if not session:
            await self._open(scope, receive, send)
        elif found := _ID.fullmatch(session.decode("latin-1")):
            await self._continue(found, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request without a session; if it opens one, add the client's description to its id."""
        description = _describe_client(message_of(scope))

        async def send_described(message: Message) -> None:
            if description:
                message = _replace_session(message, describe)
            await send(message)

        def describe(session: bytes) -> bytes:
            self._record_owner(session, scope)
            return b"%s.%s" % (session, (description or "").encode())

        await self._app(scope, receive, send_described)
        if description is not None:
            self._end_idle(scope)

    async def _continue(
        self, found: re.Match[str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a request of a session, which this process may have to resume first."""
        key, sent = (identity_of(scope).name, found[1]), found[0].encode()
        session, has_ended = self._find(key), key in self._ended
        if scope["method"] == "DELETE":
            self._record_end(key)
            if not (session or has_ended):
                # Another process may have it, and will end it when it is idle.
                await Response()(scope, receive, send)
                return
        elif not (session or has_ended):
            async with self._resuming:
                session = self._find(key) or await self._resume(key, found[2], scope)

        async def send_as_sent(message: Message) -> None:
            await send(_replace_session(message, lambda _: sent))

        await self._app(_with_session(scope, session or sent), receive, send_as_sent)

    def _record_end(self, key: _Key) -> None:
        """Remember not to resume a session that its client has ended."""
        self._ended[key] = None
        if len(self._ended) > _MAX_ENDED:
            self._ended.popitem(last=False)

    @property
    def _held(self) -> dict[str, StreamableHTTPServerTransport]:
        """The sessions of this process, by the SDK's ids of them."""
        return self._manager._server_instances  # noqa: SLF001 - the SDK publishes them nowhere

    def _find(self, key: _Key) -> bytes:
        """Return the SDK's id of a session in this process; empty if there is none."""
        session = self._resumed.get(key, key[1])
        return session.encode() if session in self._held else b""

    async def _resume(self, key: _Key, description: str, scope: Scope) -> bytes:
        """Open a session like one of another process, or of this one earlier, and return its new id."""
        params = _initialize_params(description)
        if params is None:
            return b""
        initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        if session := await self._send_as_client(initialize, scope):
            initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._send_as_client(initialized, scope, (_SESSION_HEADER, session))
            self._resumed = {old: new for old, new in self._resumed.items() if new in self._held}
            self._resumed[key] = session.decode()
            self._record_owner(session, scope)
            self._end_idle(scope)
        return session

    async def _send_as_client(
        self, content: Mapping[str, Any], scope: Scope, *headers: tuple[bytes, bytes]
    ) -> bytes:
        """Send a message to the app as the client would, and return the session that accepted it."""
        request: Message = {"type": "http.request", "body": json.dumps(content).encode()}
        unread, sessions = [request], [b""]

        async def receive() -> Message:
            if not unread:
                await asyncio.Event().wait()  # stay connected
            return unread.pop()

        async def send(message: Message) -> None:
            if (
                message["type"] == "http.response.start"
                and message["status"] < HTTPStatus.MULTIPLE_CHOICES
            ):
                sessions.extend(
                    value for name, value in message["headers"] if name == _SESSION_HEADER
                )

        await self._app(
            {**scope, "method": "POST", "headers": [*_HEADERS, *headers]}, receive, send
        )
        return sessions[-1]

    def _record_owner(self, session: bytes, scope: Scope) -> None:
        """Remember who opened a session, if that is known."""
        if owner := self._owner(scope):
            self._owners = {known: of for known, of in self._owners.items() if known in self._held}
            self._owners[session.decode()] = owner

    def _owner(self, scope: Scope) -> str:
        return identity_of(scope).name or self._clients.find(scope.get("client"))

    def _end_idle(self, scope: Scope) -> None:
        """End the sessions that have been idle longest, if the sender or all clients have too many.

        The SDK would refuse new sessions instead.
        """
        owner, held = self._owner(scope), self._held
        own = {session for session, of in self._owners.items() if of == owner and session in held}
        self._end_oldest(own, share_of(self._max_idle))
        self._end_oldest(held, self._max_idle)

    def _end_oldest(self, sessions: Collection[str], max_idle: int) -> None:
        if len(sessions) <= max_idle:
            return
        held = self._held
        # The deadline of a session with a request or a stream is infinite.
        deadlines = {
            session: scope.deadline
            for session in sessions
            if (scope := held[session].idle_scope) is not None and scope.deadline < math.inf
        }
        surplus = max(0, len(deadlines) - max_idle)
        for session in sorted(deadlines, key=deadlines.__getitem__)[:surplus]:
            idle = held.pop(session).idle_scope
            if idle is not None:
                idle.cancel()


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _has_sessions(scope: Scope) -> bool:
    """Tell whether a request uses a protocol version that has sessions."""
    version = _header(scope, _VERSION_HEADER).decode("latin-1")
    return not version or version in HANDSHAKE_PROTOCOL_VERSIONS


def _with_session(scope: Scope, session: bytes) -> Scope:
    """Return the scope of a request with another session id."""
    headers = [row for row in scope["headers"] if row[0] != _SESSION_HEADER]
    return {**scope, "headers": [*headers, (_SESSION_HEADER, session)]}


def _replace_session(message: Message, replace: Callable[[bytes], bytes]) -> Message:
    """Return a message of a response with its session id replaced."""
    if message["type"] != "http.response.start":
        return message
    headers = [
        (name, replace(value) if name.lower() == _SESSION_HEADER else value)
        for name, value in message.get("headers", ())
    ]
    return {**message, "headers": headers}


def _describe_client(message: Mapping[str, Any]) -> str | None:
    """Encode the parameters of `initialize` for the id of its session.

    Returns:
        The encoded parameters; empty if they are invalid, `None` if the message opens no session.
    """
    match message:
        case {
            "method": "initialize",
            "params": {
                "protocolVersion": str(revision),
                "clientInfo": {"name": str(name), "version": str(version)},
            },
        }:
            fields = [revision[:_MAX_CHARS], name[:_MAX_CHARS], version[:_MAX_CHARS]]
            return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")
        case {"method": "initialize"}:
            return ""
        case _:
            return None


def _initialize_params(description: str) -> Mapping[str, Any] | None:
    """Decode the parameters of `initialize` from the id of a session; `None` if they are invalid."""
    try:
        fields = json.loads(base64.urlsafe_b64decode(description + "=" * (-len(description) % 4)))
    except (ValueError, RecursionError):  # not base64, UTF-8 or JSON
        return None
    match fields:
        case [str(revision), str(name), str(version)]:
            client = {"name": name, "version": version}
            return {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
        case _:
            return None

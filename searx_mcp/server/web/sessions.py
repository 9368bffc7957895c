"""Sessions of the handshake protocol, which go on in any process and have room for new ones.

The SDK keeps a session in the process that began it. Behind a balancer the next request may come to another one, and after a
restart every request does. All that a session of ours holds is what its client said of itself, so its id says it, too, and
whichever process does not know a session begins one like it. What an id says is believed as it was in the handshake:
it opens nothing.

Few clients end their sessions, and some open one for each call. So a new session ends the one that has been idle longest, if
there are too many, of its client or in all. None is refused: one that is in use has a connection, and those have a limit.
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

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searx_mcp.server.identity import identity_of
from searx_mcp.server.web.policy import MCP_PATH, message_of
from searx_mcp.server.web.shares import Clients, share_of

_NAME: Final = MCP_SESSION_ID_HEADER.encode()
_VERSION: Final = MCP_PROTOCOL_VERSION_HEADER.encode()
_ID: Final = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{1,1200})")
"""The name of a session, and what its client said of itself."""
_LONGEST: Final = 64
"""Characters of the name and of the version of a client that are kept; each has up to 6 bytes in JSON."""
_MOST_ENDED: Final = 4_096
_KIND: Final = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
)
_Key = tuple[str, str]
"""Whose session it is, and its name."""


class Sessions:
    """Continues sessions of other processes, and ends idle ones when there are too many.

    Args:
        app: serves MCP.
        manager: of its sessions.
        most: idle ones that are kept, of one client a quarter.
        clients: tell whose a session is.
    """

    def __init__(
        self, app: ASGIApp, manager: StreamableHTTPSessionManager, most: int, clients: Clients
    ) -> None:
        self._app = app
        self._manager = manager
        self._most = most
        self._clients = clients
        self._owners: dict[str, str] = {}
        self._adopted: dict[_Key, str] = {}
        self._ended: OrderedDict[_Key, None] = OrderedDict()
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != MCP_PATH or not _has_sessions(scope):
            await self._app(scope, receive, send)
            return
        given = _header(scope, _NAME)
        if not given:
            await self._open(scope, receive, send)
        elif found := _ID.fullmatch(given.decode("latin-1")):
            await self._go_on(found, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request without a session, and let the id of one that it opens tell of its client."""
        told = _told(message_of(scope))

        async def name(message: Message) -> None:
            if told:
                message = _renamed(message, tell)
            await send(message)

        def tell(known: bytes) -> bytes:
            self._own(known, scope)
            return b"%s.%s" % (known, (told or "").encode())

        await self._app(scope, receive, name)
        if told is not None:
            self._end_idle(scope)

    async def _go_on(
        self, found: re.Match[str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        key, given = (identity_of(scope).name, found[1]), found[0].encode()
        name, is_over = self._known(key), key in self._ended
        if scope["method"] == "DELETE":
            self._end(key)
            if not (name or is_over):
                await Response()(
                    scope, receive, send
                )  # another process may have it; none need end it
                return
        elif not (name or is_over):
            async with self._turn:
                name = self._known(key) or await self._adopt(key, found[2], scope)

        async def rename(message: Message) -> None:
            await send(_renamed(message, lambda _: given))

        await self._app(_within(scope, name or given), receive, rename)

    def _end(self, key: _Key) -> None:
        """Do not resume a session that its client has ended."""
        self._ended[key] = None
        if len(self._ended) > _MOST_ENDED:
            self._ended.popitem(last=False)

    def _known(self, key: _Key) -> bytes:
        """The name of a session in this process; empty if it has none."""
        held = self._manager._server_instances  # noqa: SLF001 - the library tells it in no other way
        name = self._adopted.get(key, key[1])
        return name.encode() if name in held else b""

    async def _adopt(self, key: _Key, told: str, scope: Scope) -> bytes:
        """Resume a session that another process has, or this one had; give its new name."""
        params = _heard(told)
        if params is None:
            return b""
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        if name := await self._say(hello, scope):
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._say(ready, scope, (_NAME, name))
            held = self._manager._server_instances  # noqa: SLF001 - as above
            self._adopted = {each: at for each, at in self._adopted.items() if at in held}
            self._adopted[key] = name.decode()
            self._own(name, scope)
            self._end_idle(scope)
        return name

    async def _say(
        self, message: Mapping[str, Any], scope: Scope, *more: tuple[bytes, bytes]
    ) -> bytes:
        """Send a message as the client would; give the name of the session in which it was taken."""
        whole: Message = {"type": "http.request", "body": json.dumps(message).encode()}
        left, opened = [whole], [b""]

        async def receive() -> Message:
            if not left:
                await asyncio.Event().wait()  # the client is still there
            return left.pop()

        async def send(answer: Message) -> None:
            if (
                answer["type"] == "http.response.start"
                and answer["status"] < HTTPStatus.MULTIPLE_CHOICES
            ):
                opened.extend(value for key, value in answer["headers"] if key == _NAME)

        await self._app({**scope, "method": "POST", "headers": [*_KIND, *more]}, receive, send)
        return opened[-1]

    def _own(self, name: bytes, scope: Scope) -> None:
        """Note whose session it is, unless nobody can tell."""
        if owner := self._owner(scope):
            held = self._manager._server_instances  # noqa: SLF001 - as above
            self._owners = {each: of for each, of in self._owners.items() if each in held}
            self._owners[name.decode()] = owner

    def _owner(self, scope: Scope) -> str:
        return identity_of(scope).name or self._clients.at(scope.get("client"))

    def _end_idle(self, scope: Scope) -> None:
        """End those that have been idle longest, if too many are idle: of a client, then of all."""
        held = self._manager._server_instances  # noqa: SLF001 - the library would refuse new ones instead
        owner = self._owner(scope)
        own = {name for name, of in self._owners.items() if of == owner and name in held}
        self._end_oldest(own, share_of(self._most))
        self._end_oldest(held, self._most)

    def _end_oldest(self, names: Collection[str], most: int) -> None:
        if len(names) <= most:
            return
        held = self._manager._server_instances  # noqa: SLF001 - as above
        # Of a session with a request or a stream, the time of its end is infinite.
        ends = {
            name: scope.deadline
            for name in names
            if (scope := held[name].idle_scope) is not None and scope.deadline < math.inf
        }
        for name in sorted(ends, key=ends.__getitem__)[: max(0, len(ends) - most)]:
            idle = held.pop(name).idle_scope
            if idle is not None:
                idle.cancel()


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _has_sessions(scope: Scope) -> bool:
    version = _header(scope, _VERSION).decode("latin-1")
    return not version or version in HANDSHAKE_PROTOCOL_VERSIONS


def _within(scope: Scope, name: bytes) -> Scope:
    """The scope of a request with another session name."""
    headers = [row for row in scope["headers"] if row[0] != _NAME]
    return {**scope, "headers": [*headers, (_NAME, name)]}


def _renamed(message: Message, name: Callable[[bytes], bytes]) -> Message:
    """A part of an answer with another session name."""
    if message["type"] != "http.response.start":
        return message
    headers = [
        (key, name(value) if key.lower() == _NAME else value)
        for key, value in message.get("headers", ())
    ]
    return {**message, "headers": headers}


def _told(message: Mapping[str, Any]) -> str | None:
    """What a client says of itself, for the id of its session; `None` if it opens none."""
    match message:
        case {
            "method": "initialize",
            "params": {
                "protocolVersion": str(revision),
                "clientInfo": {"name": str(name), "version": str(version)},
            },
        }:
            told = [revision[:_LONGEST], name[:_LONGEST], version[:_LONGEST]]
            return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
        case {"method": "initialize"}:
            return ""
        case _:
            return None


def _heard(told: str) -> Mapping[str, Any] | None:
    """The parameters of `initialize` in what the id of a session says; `None` if it says nothing of the kind."""
    try:
        found = json.loads(base64.urlsafe_b64decode(told + "=" * (-len(told) % 4)))
    except (ValueError, RecursionError):  # no base64, no UTF-8, no JSON
        return None
    match found:
        case [str(revision), str(name), str(version)]:
            client = {"name": name, "version": version}
            return {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
        case _:
            return None

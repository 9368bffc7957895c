"""The checks that every HTTP request passes before anything reads it: one ASGI middleware over the whole app.

In this order, the cheapest first: the host name, the origin, the token, the content type, and the size and
time of the body.
"""

import asyncio
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searx_mcp.server.identity import Identity, identity_of, marked
from searx_mcp.server.web.access import Access
from searx_mcp.server.web.policy import (
    BUSY,
    MCP_PATH,
    OPEN_PATHS,
    READY_PATH,
    SESSION_ENDED,
    STOPPING,
    TOO_LARGE,
    TOO_SLOW,
    WRONG_HOST,
    Policy,
    Refusal,
    message_of,
    without_key,
)
from searx_mcp.server.web.shares import Busy, Clients, Turns

_SESSION: Final = b"mcp-session-id"
_EVENTS: Final = b"text/event-stream"


class Exchange:
    """A request, its body and its answer so far.

    It ends early where the client has gone, or where `end` was called since the server stops. What
    serves it is then told that the client has gone. In the handshake protocol a call goes on without
    its client, for one that comes back for the answer; answers are not kept here, so it is cancelled.

    Args:
        scope: of the request.
        headers: of the request, by name.
        body: of the request, whole.
        send: takes the answer.
        more: headers of the answer, besides its own.

    Attributes:
        scope: of the request.
    """

    def __init__(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        body: bytes,
        send: Send,
        more: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        self.scope = scope
        self._headers = headers
        self._body = body
        self._send = send
        self._more = tuple(more)
        self._is_read = False
        self._is_over = asyncio.Event()
        self._is_done = asyncio.Event()
        self._ended_with: Refusal | None = None
        self._is_begun = self._is_complete = self._is_stream = False

    @property
    def carries_call(self) -> bool:
        """Whether the client waits for an answer; false for the stream of a session."""
        return bool(self.scope["method"] != "GET" or self.scope["path"] != MCP_PATH)

    @property
    def session(self) -> bytes:
        """Its session, together with the caller who opened it; empty without one."""
        name = self._headers.get(_SESSION, b"")
        return identity_of(self.scope).name.encode() + b" " + name if name else b""

    @property
    def ends_session(self) -> bool:
        """Whether it is the request by which a client ends its session."""
        return bool(self.scope["method"] == "DELETE" and self.session)

    async def done(self) -> None:
        """Wait until it is served, or ended."""
        await self._is_done.wait()

    def end(self, refusal: Refusal) -> None:
        """End it, with this refusal if it has no answer yet."""
        self._ended_with = refusal
        self._is_over.set()

    async def serve(self, app: ASGIApp, receive: Receive) -> None:
        """Let an app answer it, and complete what the app leaves open.

        Args:
            app: serves it.
            receive: tells when the client has gone.
        """
        try:
            await self._serve(app, receive)
        finally:
            self._is_done.set()

    async def _serve(self, app: ASGIApp, receive: Receive) -> None:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(self._watch(receive))
            try:
                await app(self.scope, self._replay, self._answer)
            finally:
                watch.cancel()
        if self._is_complete or not self._is_over.is_set():
            return
        if self._ended_with is not None:
            await self._close(self._ended_with)
        if self.request_id is not None and self.session:
            await app(*self._cancellation())

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._is_over.set()

    async def _replay(self) -> Message:
        if self._is_read:
            await self._is_over.wait()
            return {"type": "http.disconnect"}
        self._is_read = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            self._is_begun = True
            self._is_stream = any(
                name.lower() == b"content-type" and value.startswith(_EVENTS)
                for name, value in headers
            )
            message = {**message, "headers": [*headers, *self._more]}
        elif message["type"] == "http.response.body":
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    async def _close(self, refusal: Refusal) -> None:
        if not self._is_begun:
            await refusal.send(self.scope, self._send, self._more, self.request_id)
            return
        last = b""
        is_rest = self.scope["path"] != MCP_PATH
        if self._is_stream and (is_rest or self.request_id is not None):
            whole = json.dumps(refusal.content(self.scope, self.request_id))
            name = b"error" if is_rest else b"message"
            last = b"event: " + name + b"\r\ndata: " + whole.encode() + b"\r\n\r\n"
        await self._send({"type": "http.response.body", "body": last})

    @property
    def request_id(self) -> str | int | None:
        """The id of the JSON-RPC request in the body, if it is an MCP request."""
        found = message_of(self.scope).get("id")
        return found if isinstance(found, str | int) else None

    def _cancellation(self) -> tuple[Scope, Receive, Send]:
        """The request by which a client of the handshake protocol would cancel this one."""
        body = json.dumps({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": self.request_id, "reason": "the connection was closed"},
        }).encode()  # fmt: skip
        headers = [row for row in self.scope["headers"] if row[0] != b"content-length"]

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            del message

        return {**self.scope, "headers": headers}, receive, send


_LAST_CALLS: Final = 1.0
"""Seconds for the calls of a session to end before it does."""
_HEADER_NAMES: Final = re.compile(rb"[A-Za-z0-9-]{1,60}(?:[ \t]*,[ \t]*[A-Za-z0-9-]{1,60}){0,30}")
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Guard:
    """Serves the requests that a policy allows, and refuses the others.

    Args:
        app: what serves them.
        policy: which requests are served.
        access: whose are, and how many.
        body_seconds: in which the body of a request must have arrived.
        clients: tell whose a request is.
        most: requests in flight, of which one client and one token have a quarter each.
    """

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        access: Access,
        body_seconds: float,
        *,
        clients: Clients,
        most: int,
    ) -> None:
        self._app = app
        self._policy = policy
        self._access = access
        self._body_seconds = body_seconds
        self._clients = clients
        self._turns, self._turns_of_tokens = Turns(most), Turns(most)
        self._open: set[Exchange] = set()
        self._ending: set[bytes] = set()
        self._is_stopping = self._is_cut = False

    def stop(self) -> None:
        """Report it to monitors, and end the streams that carry no call.

        Calls that were on their way are still served.
        """
        self._is_stopping = True
        for exchange in self._open:
            if not exchange.carries_call:
                exchange.end(STOPPING)

    def cut(self) -> None:
        """End every request, and accept no more."""
        self._is_cut = True
        for exchange in self._open:
            exchange.end(STOPPING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request in the turn of its client, or refuse it."""
        if scope["type"] != "http":
            await self._serve_anybody(scope, receive, send)
            return
        try:
            async with self._turns.turn(self._clients.at(scope.get("client"))):
                await self._take(scope, receive, send)
        except Busy:
            await BUSY.send(scope, send, ())

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in OPEN_PATHS:
            await self._serve_anybody(scope, receive, send)
            return
        if scope["path"] == f"{MCP_PATH}/":  # as users write it
            scope = {**scope, "path": MCP_PATH}
        headers = _by_name(scope["headers"])
        request_id = _request_id(headers)
        scope = {**scope, "state": {**scope.get("state", {}), "request_id": request_id}}
        scope["headers"] = [_as_the_sdk_writes(*row) for row in scope["headers"]]
        shared = [(b"x-request-id", request_id.encode())]
        admitted = await self._admitted(scope, headers)
        if (origin := headers.get(b"origin")) and self._policy.allows_origin(origin):
            shared += _shared_with(origin)
            asked = headers.get(b"access-control-request-method")
            if scope["method"] == "OPTIONS" and asked and admitted is not WRONG_HOST:
                await _preflight(send, headers, shared)
                return
        if isinstance(admitted, Refusal):
            await admitted.send(scope, send, shared)
            return
        try:
            body = await self._body(receive)
            scope = self._understood(scope, body)
        except _Refused as exc:
            await exc.refusal.send(scope, send, shared)
        except _Gone:
            pass
        else:
            scope = without_key(scope)
            exchange = Exchange(_marked(scope, admitted), headers, body, send, shared)
            if refusal := await self._served(exchange, admitted, receive):
                await refusal.send(scope, send, shared, exchange.request_id)

    async def _served(
        self, exchange: Exchange, identity: Identity, receive: Receive
    ) -> Refusal | None:
        """Serve a complete request in the turn of its token, or tell why it is refused."""
        try:
            async with self._turns_of_tokens.turn(identity.name):
                refusal = await self._unserved(exchange, identity)
                if refusal is None:
                    await self._serve(exchange, receive)
                return refusal
        except Busy:
            return BUSY

    async def _unserved(self, exchange: Exchange, identity: Identity) -> Refusal | None:
        """Why a complete request is refused; `None` if it is not."""
        if self._is_cut or (self._is_stopping and not exchange.carries_call):
            return STOPPING
        if exchange.session in self._ending:
            return SESSION_ENDED
        refusal = await self._access.charge(exchange.scope, identity)
        # Its session may have ended meanwhile.
        return refusal or (SESSION_ENDED if exchange.session in self._ending else None)

    async def _serve_anybody(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def hear() -> Message:
            if (message := await receive())["type"] == "lifespan.shutdown":
                await self._access.aclose()
            return message

        if self._is_stopping and scope.get("path") == READY_PATH:
            await STOPPING.send(scope, send, ())
        else:
            await self._app(scope, hear, send)

    async def _admitted(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Identity | Refusal:
        """Who sends a request, or why it is refused for its headers."""
        if refusal := self._policy.wrong_place(headers):
            return refusal
        admitted = await self._access.admit(scope, headers)
        if isinstance(admitted, Refusal):
            return admitted
        return self._policy.wrong_kind(scope, headers) or admitted

    async def _serve(self, exchange: Exchange, receive: Receive) -> None:
        try:
            if exchange.ends_session:
                await self._end_calls(exchange.session)
            self._open.add(exchange)
            await exchange.serve(self._app, receive)
        finally:
            self._open.discard(exchange)
            if exchange.ends_session:
                self._ending.discard(exchange.session)

    async def _end_calls(self, session: bytes) -> None:
        """End the calls of a session, before it ends itself: the SDK would close what they write to."""
        self._ending.add(session)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_CALLS):
                calls = [exchange for exchange in self._open if exchange.session == session]
                for call in calls:
                    call.end(SESSION_ENDED)
                for call in calls:
                    await call.done()

    def _understood(self, scope: Scope, body: bytes) -> Scope:
        found = self._policy.with_message(scope, body)
        if isinstance(found, Refusal):
            raise _Refused(found)
        return found

    async def _body(self, receive: Receive) -> bytes:
        """Read the whole body, so that nothing else waits for it.

        Raises:
            _Refused: it is too large, or did not arrive in time.
            _Gone: the client has gone.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(self._body_seconds):
                while (message := await receive())["type"] == "http.request":
                    body += message.get("body", b"")
                    if len(body) > self._policy.max_body:
                        raise _Refused(TOO_LARGE)
                    if not message.get("more_body", False):
                        break
                else:
                    raise _Gone
        except TimeoutError as exc:
            raise _Refused(TOO_SLOW) from exc
        return bytes(body)


class _Refused(Exception):  # noqa: N818 - an answer
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class _Gone(Exception):  # noqa: N818 - no answer
    pass


def _request_id(headers: Mapping[bytes, bytes]) -> str:
    """The id of a request in the logs of its client and of this server: the client's own, or a new one."""
    found = _REQUEST_ID.fullmatch(headers.get(b"x-request-id", b""))
    return found[0].decode() if found else secrets.token_hex(8)


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """The headers of a request by name; one that is sent twice counts as empty."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        found[name] = value if name not in found else b""
    return found


def _as_the_sdk_writes(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header as the SDK compares it: media types in lower case (RFC 9110, 8.3.1)."""
    return name, value.lower() if name == b"content-type" else value


def _marked(scope: Scope, identity: Identity) -> Scope:
    """The scope with its sender; the SDK binds MCP sessions to their opener."""
    scope = marked(scope, identity)
    if identity.name:
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=identity.name, scopes=[]))
    return scope


def _shared_with(origin: bytes) -> list[tuple[bytes, bytes]]:
    """The headers by which a browser lets a page read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (
            b"access-control-expose-headers",
            b"mcp-session-id, www-authenticate, retry-after, x-request-id",
        ),
        (b"vary", b"origin"),
    ]


async def _preflight(
    send: Send, headers: Mapping[bytes, bytes], shared: list[tuple[bytes, bytes]]
) -> None:
    """Answer the preflight of a web page; it carries no token."""
    wanted = headers.get(b"access-control-request-headers", b"")
    allowed = wanted if _HEADER_NAMES.fullmatch(wanted) else b"authorization, content-type"
    answer = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", allowed),
        (b"access-control-max-age", b"600"),
        *shared,
    ]
    await send({"type": "http.response.start", "status": 204, "headers": answer})
    await send({"type": "http.response.body", "body": b""})

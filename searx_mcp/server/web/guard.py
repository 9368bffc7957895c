"""The ASGI middleware that checks every HTTP request before the app sees it.

The checks run from the cheapest to the dearest: host name, origin, token, content type, and the size and duration
of the body.
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
    """A request being served, and how far its response has got.

    It ends early if the client disconnects, or if `end` is called because the server or the session ends; the app
    then receives a disconnect. In MCP's handshake protocol the SDK lets a call run on for a client that may return
    for the answer. Answers are not kept here, so such a call is cancelled.

    Args:
        scope: ASGI scope of the request.
        headers: request headers by name.
        body: complete request body.
        send: ASGI send channel.
        more: response headers to add to those of the app.

    Attributes:
        scope: ASGI scope of the request.
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
        """The MCP session, qualified by the caller's name; empty without one."""
        name = self._headers.get(_SESSION, b"")
        return identity_of(self.scope).name.encode() + b" " + name if name else b""

    @property
    def ends_session(self) -> bool:
        """Whether this request ends the client's session."""
        return bool(self.scope["method"] == "DELETE" and self.session)

    async def done(self) -> None:
        """Wait until the request has been served or has ended."""
        await self._is_done.wait()

    def end(self, refusal: Refusal) -> None:
        """End the request, with this refusal if no response has begun."""
        self._ended_with = refusal
        self._is_over.set()

    async def serve(self, app: ASGIApp, receive: Receive) -> None:
        """Serve the request, and complete a response that the app left open.

        Args:
            app: app that serves the request.
            receive: ASGI receive channel; its body has already been read.
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
        """JSON-RPC id of an MCP request, if it has one."""
        found = message_of(self.scope).get("id")
        return found if isinstance(found, str | int) else None

    def _cancellation(self) -> tuple[Scope, Receive, Send]:
        """Return the request with which a client of the handshake protocol would cancel this one."""
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
"""Seconds that the calls of a session have to end before the session does."""
_HEADER_NAMES: Final = re.compile(rb"[A-Za-z0-9-]{1,60}(?:[ \t]*,[ \t]*[A-Za-z0-9-]{1,60}){0,30}")
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Guard:
    """Passes permitted requests to the app and refuses the others.

    Args:
        app: app that serves the permitted requests.
        policy: rules for hosts, origins and bodies.
        access: authentication and quotas.
        body_seconds: seconds within which a body must arrive.
        clients: finds the client of a request by its address.
        most: requests in flight; one client, and one token, may have a quarter of them.
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
        """Report the server as not ready, and end streams that carry no call.

        Running calls, and those already on their way, are still served.
        """
        self._is_stopping = True
        for exchange in self._open:
            if not exchange.carries_call:
                exchange.end(STOPPING)

    def cut(self) -> None:
        """End all requests and accept no more."""
        self._is_cut = True
        for exchange in self._open:
            exchange.end(STOPPING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request once its client's share has room, or refuse it."""
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
        if scope["path"] == f"{MCP_PATH}/":  # users add the slash
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
        """Serve a complete request once its token's share has room, or return the refusal."""
        try:
            async with self._turns_of_tokens.turn(identity.name):
                refusal = await self._unserved(exchange, identity)
                if refusal is None:
                    await self._serve(exchange, receive)
                return refusal
        except Busy:
            return BUSY

    async def _unserved(self, exchange: Exchange, identity: Identity) -> Refusal | None:
        """Charge a complete request to its token; return the refusal if it must not be served."""
        if self._is_cut or (self._is_stopping and not exchange.carries_call):
            return STOPPING
        if exchange.session in self._ending:
            return SESSION_ENDED
        refusal = await self._access.charge(exchange.scope, identity)
        # The session may have ended during the await.
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
        """Return the sender of a request, or the refusal for its headers."""
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
        """End the calls of a session before the SDK closes the streams they write to."""
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
        """Read the whole body, so that the app never waits for it.

        Raises:
            _Refused: the body is too large or too slow.
            _Gone: the client has disconnected.
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
    """Return the id that logs show for a request: the client's own if valid, or a new one."""
    found = _REQUEST_ID.fullmatch(headers.get(b"x-request-id", b""))
    return found[0].decode() if found else secrets.token_hex(8)


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return headers by name; one sent twice counts as empty, since readers may differ on which holds."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        found[name] = value if name not in found else b""
    return found


def _as_the_sdk_writes(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Lower the case of media types, which the SDK compares case-sensitively (but see RFC 9110, 8.3.1)."""
    return name, value.lower() if name == b"content-type" else value


def _marked(scope: Scope, identity: Identity) -> Scope:
    """Return the scope with its sender, in the form by which the SDK binds MCP sessions to their opener."""
    scope = marked(scope, identity)
    if identity.name:
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=identity.name, scopes=[]))
    return scope


def _shared_with(origin: bytes) -> list[tuple[bytes, bytes]]:
    """Return the CORS headers that let a page of this origin read the response."""
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
    """Answer a CORS preflight, which carries no token."""
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

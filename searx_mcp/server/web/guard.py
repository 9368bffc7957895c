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
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searx_mcp.server.identity import Identity, identity_of, with_identity
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
    HttpRefusal,
    Policy,
    message_of,
    without_key,
)
from searx_mcp.server.web.shares import Busy, Clients, FairQueue

_SESSION: Final = b"mcp-session-id"


class ActiveRequest:
    """A request being served, and how far its response has got.

    It ends early if the client disconnects, or if `end` is called because the server or the session ends; the app
    then receives a disconnect. In MCP's handshake protocol the SDK lets a call run on for a client that may return
    for the answer. Answers are not kept here, so such a call is cancelled.

    Args:
        scope: ASGI scope of the request.
        headers: request headers by name.
        body: complete request body.
        send: ASGI send channel.
        extra_headers: response headers to add to those of the app.

    Attributes:
        scope: ASGI scope of the request.
    """

    def __init__(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        body: bytes,
        send: Send,
        extra_headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        self.scope = scope
        self._headers = headers
        self._body = body
        self._send = send
        self._extra_headers = tuple(extra_headers)
        self._is_read = False
        self._has_ended = asyncio.Event()
        self._is_served = asyncio.Event()
        self._refusal: HttpRefusal | None = None
        self._has_begun = self._is_complete = self._is_stream = False

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
        await self._is_served.wait()

    def end(self, refusal: HttpRefusal) -> None:
        """End the request, with this refusal if no response has begun."""
        self._refusal = refusal
        self._has_ended.set()

    async def serve(self, app: ASGIApp, receive: Receive) -> None:
        """Serve the request, and complete a response that the app left open.

        Args:
            app: app that serves the request.
            receive: ASGI receive channel; its body has already been read.
        """
        try:
            await self._serve(app, receive)
        finally:
            self._is_served.set()

    async def _serve(self, app: ASGIApp, receive: Receive) -> None:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(self._watch(receive))
            try:
                await app(self.scope, self._replay, self._relay)
            finally:
                watch.cancel()
        if self._is_complete or not self._has_ended.is_set():
            return
        if self._refusal is not None:
            await self._refuse(self._refusal)
        if self.request_id is not None and self.session:
            await app(*self._cancellation())

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._has_ended.set()

    async def _replay(self) -> Message:
        if self._is_read:
            await self._has_ended.wait()
            return {"type": "http.disconnect"}
        self._is_read = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def _relay(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            self._has_begun = True
            media_type = Headers(raw=headers).get("content-type", "")
            self._is_stream = media_type.startswith("text/event-stream")
            message = {**message, "headers": [*headers, *self._extra_headers]}
        elif message["type"] == "http.response.body":
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    async def _refuse(self, refusal: HttpRefusal) -> None:
        if not self._has_begun:
            await refusal.send(self.scope, self._send, self._extra_headers, self.request_id)
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
        max_requests: requests in flight; one client, and one token, may have a quarter of them.
    """

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        access: Access,
        body_seconds: float,
        *,
        clients: Clients,
        max_requests: int,
    ) -> None:
        self._app = app
        self._policy = policy
        self._access = access
        self._body_seconds = body_seconds
        self._clients = clients
        self._clients_queue, self._tokens_queue = FairQueue(max_requests), FairQueue(max_requests)
        self._open: set[ActiveRequest] = set()
        self._ending: set[bytes] = set()
        self._is_stopping = self._is_closed = False

    def stop(self) -> None:
        """Report the server as not ready, and end streams that carry no call.

        Running calls, and those already on their way, are still served.
        """
        self._is_stopping = True
        for active in self._open:
            if not active.carries_call:
                active.end(STOPPING)

    def end_all(self) -> None:
        """End all requests and accept no more."""
        self._is_closed = True
        for active in self._open:
            active.end(STOPPING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request once its client's share has room, or refuse it."""
        if scope["type"] != "http":
            await self._pass_on(scope, receive, send)
            return
        try:
            async with self._clients_queue.turn(self._clients.find(scope.get("client"))):
                await self._check_and_serve(scope, receive, send)
        except Busy:
            await BUSY.send(scope, send, ())

    async def _check_and_serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in OPEN_PATHS:
            await self._pass_on(scope, receive, send)
            return
        if scope["path"] == f"{MCP_PATH}/":  # users add the slash
            scope = {**scope, "path": MCP_PATH}
        headers = _by_name(scope["headers"])
        request_id = _request_id(headers)
        scope = {**scope, "state": {**scope.get("state", {}), "request_id": request_id}}
        scope["headers"] = [_lower_media_type(*row) for row in scope["headers"]]
        extra_headers = [(b"x-request-id", request_id.encode())]
        admitted = await self._admit(scope, headers)
        if (origin := headers.get(b"origin")) and self._policy.allows_origin(origin):
            extra_headers += _cors_headers(origin)
            preflight_method = headers.get(b"access-control-request-method")
            if scope["method"] == "OPTIONS" and preflight_method and admitted is not WRONG_HOST:
                await _preflight(send, headers, extra_headers)
                return
        if isinstance(admitted, HttpRefusal):
            await admitted.send(scope, send, extra_headers)
            return
        found = await self._read(scope, receive)
        if isinstance(found, HttpRefusal):
            await found.send(scope, send, extra_headers)
        elif found is not None:
            scope, body = without_key(found[0]), found[1]
            active = ActiveRequest(
                _with_sender(scope, admitted), headers, body, send, extra_headers
            )
            if refusal := await self._serve_in_turn(active, admitted, receive):
                await refusal.send(scope, send, extra_headers, active.request_id)

    async def _serve_in_turn(
        self, active: ActiveRequest, identity: Identity, receive: Receive
    ) -> HttpRefusal | None:
        """Serve a complete request once its token's share has room, or return the refusal."""
        try:
            async with self._tokens_queue.turn(identity.name):
                refusal = await self._charge(active, identity)
                if refusal is None:
                    await self._serve(active, receive)
                return refusal
        except Busy:
            return BUSY

    async def _charge(self, active: ActiveRequest, identity: Identity) -> HttpRefusal | None:
        """Charge a complete request to its token; return the refusal if it must not be served."""
        if self._is_closed or (self._is_stopping and not active.carries_call):
            return STOPPING
        if active.session in self._ending:
            return SESSION_ENDED
        refusal = await self._access.charge(active.scope, identity)
        # The session may have ended during the await.
        return refusal or (SESSION_ENDED if active.session in self._ending else None)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_and_close() -> Message:
            if (message := await receive())["type"] == "lifespan.shutdown":
                await self._access.aclose()
            return message

        if self._is_stopping and scope.get("path") == READY_PATH:
            await STOPPING.send(scope, send, ())
        else:
            await self._app(scope, receive_and_close, send)

    async def _admit(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Identity | HttpRefusal:
        """Return the sender of a request, or the refusal for its headers."""
        if refusal := self._policy.check_host_and_origin(headers):
            return refusal
        admitted = await self._access.admit(scope, headers)
        if isinstance(admitted, HttpRefusal):
            return admitted
        return self._policy.check_media_types(scope, headers) or admitted

    async def _serve(self, active: ActiveRequest, receive: Receive) -> None:
        try:
            if active.ends_session:
                await self._end_calls(active.session)
            self._open.add(active)
            await active.serve(self._app, receive)
        finally:
            self._open.discard(active)
            if active.ends_session:
                self._ending.discard(active.session)

    async def _end_calls(self, session: bytes) -> None:
        """End the calls of a session before the SDK closes the streams they write to."""
        self._ending.add(session)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_CALLS):
                calls = [active for active in self._open if active.session == session]
                for call in calls:
                    call.end(SESSION_ENDED)
                for call in calls:
                    await call.done()

    async def _read(
        self, scope: Scope, receive: Receive
    ) -> tuple[Scope, bytes] | HttpRefusal | None:
        """Read the whole body, so that the app never waits for it.

        Returns:
            The scope with the parsed message, and the body; the refusal of a body that is too large, too slow or no
            message; or `None` if the client has disconnected.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(self._body_seconds):
                while (message := await receive())["type"] == "http.request":
                    body += message.get("body", b"")
                    if len(body) > self._policy.max_body:
                        return TOO_LARGE
                    if not message.get("more_body", False):
                        break
                else:
                    return None
        except TimeoutError:
            return TOO_SLOW
        whole = bytes(body)
        found = self._policy.with_message(scope, whole)
        return found if isinstance(found, HttpRefusal) else (found, whole)


def _request_id(headers: Mapping[bytes, bytes]) -> str:
    """Return the id that logs show for a request: the client's own if valid, or a new one."""
    found = _REQUEST_ID.fullmatch(headers.get(b"x-request-id", b""))
    return found[0].decode() if found else secrets.token_hex(8)


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return headers by name; one sent twice counts as empty, since readers may differ on which value holds."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        found[name] = value if name not in found else b""
    return found


def _lower_media_type(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Lower the case of media types, which the SDK compares case-sensitively (but see RFC 9110, 8.3.1)."""
    return name, value.lower() if name == b"content-type" else value


def _with_sender(scope: Scope, identity: Identity) -> Scope:
    """Return the scope with its sender, in the form by which the SDK binds MCP sessions to their opener."""
    scope = with_identity(scope, identity)
    if identity.name:
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=identity.name, scopes=[]))
    return scope


def _cors_headers(origin: bytes) -> list[tuple[bytes, bytes]]:
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
    send: Send, headers: Mapping[bytes, bytes], extra_headers: list[tuple[bytes, bytes]]
) -> None:
    """Answer a CORS preflight, which carries no token."""
    requested_headers = headers.get(b"access-control-request-headers", b"")
    allowed = (
        requested_headers
        if _HEADER_NAMES.fullmatch(requested_headers)
        else b"authorization, content-type"
    )
    answer = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", allowed),
        (b"access-control-max-age", b"600"),
        *extra_headers,
    ]
    await send({"type": "http.response.start", "status": 204, "headers": answer})
    await send({"type": "http.response.body", "body": b""})

"""One HTTP request while it is served, and how it ends early."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searx_mcp.server.tokens import identity_of
from searx_mcp.server.web.policy import MCP_PATH, Refusal, message_of

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

"""The ASGI app of one REST operation: reads arguments, performs the call, and sends the response.

A client may ask for progress, and the result or error after it, as server-sent events (HTML standard, 9.2). If it
disconnects, the call is cancelled.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import pydantic_core
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from searx_mcp.errors import ErrorCode, InvalidArgumentError, SearxMcpError
from searx_mcp.models.coercion import Limits, boolean
from searx_mcp.render.error_body import error_body
from searx_mcp.render.errors import seconds_until_retry
from searx_mcp.render.structured import scrub
from searx_mcp.server.backend import Backend
from searx_mcp.server.events import note_failure
from searx_mcp.server.identity import identity_of
from searx_mcp.server.rest.encoding import build_response, encode_json
from searx_mcp.server.rest.operation import Body, Call, Content, Operation, Text, status_of
from searx_mcp.server.spans import continue_trace
from searx_mcp.server.supervision import ProgressListener, internal_error
from searx_mcp.server.web.policy import HttpRefusal

EVENTS: Final = "text/event-stream"

_COMMENT_INTERVAL: Final = 15.0
"""Seconds between comments that keep proxies from closing an idle stream; many wait 60, some 30."""
_EVENT_HEADERS: Final = (
    (b"content-type", EVENTS.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # or nginx buffers events
)


class EventStream:
    """A response of server-sent events, each one line of JSON; the response starts with the first event.

    Attributes:
        is_begun: whether the response has started.
        size: bytes sent so far.

    Args:
        send: ASGI send channel.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = asyncio.Lock()
        self.is_begun = False
        self.size = 0

    @asynccontextmanager
    async def kept_alive(self) -> AsyncIterator[None]:
        """Send comments while the block runs, so that no proxy closes the stream."""
        async with asyncio.TaskGroup() as group:
            comments = group.create_task(self._comment())
            try:
                yield
            finally:
                comments.cancel()

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send a progress event."""
        del total  # unknown
        await self._write(
            event("progress", encode_json({"progress": progress, "message": message}))
        )

    async def end(self, last: bytes) -> None:
        """Send the last event and end the response.

        Args:
            last: encoded event, from `event`.
        """
        await self._write(last, is_last=True)

    async def _comment(self) -> None:
        while True:
            await asyncio.sleep(_COMMENT_INTERVAL)
            await self._write(b":\n\n")

    async def _write(self, body: bytes, *, is_last: bool = False) -> None:
        async with self._lock:
            if not self.is_begun:
                await self._send(
                    {"type": "http.response.start", "status": 200, "headers": [*_EVENT_HEADERS]}
                )
                self.is_begun = True
            self.size += len(body)
            await self._send({"type": "http.response.body", "body": body, "more_body": not is_last})


def event(name: str, data: bytes) -> bytes:
    """Encode an event.

    Args:
        name: `progress`, `result` or `error`.
        data: JSON on one line.
    """
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


T = TypeVar("T")

_HEADERS: Final = {"content-type": "application/json", "cache-control": "no-store"}
_NOT_AN_OBJECT: Final = HttpRefusal(
    400, ErrorCode.INVALID_ARGUMENT, "The body is not a JSON object with the arguments of the call."
)
_TOO_MANY: Final = HttpRefusal(
    400, ErrorCode.INVALID_ARGUMENT, "The query string has more than 100 parameters."
)
_MOST_PARAMETERS: Final = 100
_WHOLE: Final = "whole"


class Endpoint:
    """Serves one operation, as an ASGI app.

    Args:
        operation: operation to serve.
        backend: performs the calls.
        offered: all operations of the server.
    """

    def __init__(
        self, operation: Operation, backend: Backend, offered: Sequence[Operation]
    ) -> None:
        self._operation = operation
        self._backend = backend
        self._offered = offered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        arguments = await _read_arguments(request, self._operation)
        if isinstance(arguments, HttpRefusal):
            await arguments.send(scope, send, ())
            return
        log = self._backend.log.request(
            self._operation.name,
            arguments,
            request_id=scope["state"]["request_id"],
            caller=identity_of(scope).name,
        )
        with continue_trace(request.headers), log as keep:
            wants_events = EVENTS in request.headers.get("accept", "")
            stream = EventStream(send) if self._operation.streams and wants_events else None
            sent = await unless_disconnected(
                receive, self._respond(request, arguments, send, stream)
            )
            if sent is None:
                note_failure("cancelled")
            else:
                keep(*sent)

    async def _respond(
        self,
        request: Request,
        arguments: Mapping[str, Any],
        send: Send,
        stream: EventStream | None,
    ) -> tuple[int, int]:
        """Respond at once or with events; return the status and the bytes sent."""
        if stream is None:
            outcome = await self._perform(request, arguments, None)
        else:
            async with stream.kept_alive():
                outcome = await self._perform(request, arguments, stream)
        if isinstance(outcome, SearxMcpError):
            note_failure(outcome.code.value)
            if stream is None or not stream.is_begun:
                return await self._send_error(outcome, request, send)
            await stream.end(
                event("error", encode_json(self._error_body(outcome, status_of(outcome))))
            )
            return 200, stream.size
        if callable(outcome):
            body, headers = await asyncio.to_thread(lambda: _encode(outcome()))
        else:
            body, headers = _encode(outcome)
        if stream is None:
            return await _send_body(body, request, send, headers)
        await stream.end(event("result", body))
        return 200, stream.size

    async def _perform(
        self, request: Request, arguments: Mapping[str, Any], listener: ProgressListener | None
    ) -> Body | SearxMcpError:
        identity = identity_of(request.scope)
        try:
            call = Call(
                backend=self._backend.within(identity.namespace),
                arguments=arguments,
                listener=listener,
                is_whole=self._operation.has_whole and _wants_whole(request),
                allowed=[op for op in self._offered if op.tool is None or identity.may(op.tool)],
            )
            return await self._operation.perform(call)
        except SearxMcpError as error:
            return error
        except Exception:  # noqa: BLE001 - whatever failed, the client gets a response
            return internal_error()

    async def _send_error(
        self, error: SearxMcpError, request: Request, send: Send
    ) -> tuple[int, int]:
        status, content = status_of(error), self._error_body(error)
        if self._operation.error_response is not None:
            status, content = self._operation.error_response(error)
        body = encode_json(content)
        seconds = seconds_until_retry(error)
        headers = {} if seconds is None else {"retry-after": str(seconds)}
        response = Response(body, status, {**_HEADERS, **headers})
        await response(request.scope, request.receive, send)
        return status, len(body)

    def _error_body(self, error: SearxMcpError, status: int | None = None) -> Mapping[str, Any]:
        return error_body(error, self._backend.settings.server.tool_timeout, status=status)


def _encode(content: Content) -> tuple[bytes, Mapping[str, str]]:
    """Return the encoded body of a response, and its headers."""
    if isinstance(content, Text):
        return scrub(content.content).encode(), {
            **_HEADERS,
            **dict(content.headers),
            "content-type": content.media_type,
        }
    return encode_json(content), _HEADERS


async def _send_body(
    body: bytes, request: Request, send: Send, headers: Mapping[str, str]
) -> tuple[int, int]:
    response = await build_response(body, request, headers)
    await response(request.scope, request.receive, send)
    return response.status_code, len(response.body)


async def unless_disconnected(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """Run `work`, and cancel it if the client disconnects.

    Args:
        receive: ASGI receive channel of the request; its body has already been read.
        work: coroutine that ends promptly when cancelled.

    Returns:
        The result, or `None` if the client has disconnected.
    """

    async def disconnected() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async with asyncio.TaskGroup() as group:
        working, waiting = group.create_task(work), group.create_task(disconnected())
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        waiting.cancel()
    return None if working.cancelled() else working.result()


async def _read_arguments(
    request: Request, operation: Operation
) -> Mapping[str, Any] | HttpRefusal:
    """Return the arguments from the JSON body, the form or the query; repeated names give a list."""
    if operation.read_arguments is not None:
        return operation.read_arguments(request)
    is_post = request.method == "POST"
    if is_post and not operation.takes_form:
        try:
            found: Any = pydantic_core.from_json(await request.body(), allow_inf_nan=False)
        except ValueError:
            return _NOT_AN_OBJECT
        return found if isinstance(found, dict) else _NOT_AN_OBJECT
    query_string = request.scope["query_string"]
    if is_post:
        # The guard lets only forms through; a form takes precedence over the query.
        query_string = b"&".join(filter(None, (await request.body(), query_string)))
    if query_string.count(b"&") >= _MOST_PARAMETERS:
        return _TOO_MANY
    query = QueryParams(query_string)
    lists = {name: query.getlist(name) for name in query if name != _WHOLE}
    return {name: each[0] if len(each) == 1 else each for name, each in lists.items()}


def _wants_whole(request: Request) -> bool:
    try:
        return bool(boolean(request.query_params.get(_WHOLE, "false"), Limits()))
    except ValueError as exc:
        raise InvalidArgumentError(_WHOLE, str(exc)) from None

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
from searx_mcp.render.public import scrub
from searx_mcp.server.app import Backend
from searx_mcp.server.events import note_failure
from searx_mcp.server.identity import identity_of
from searx_mcp.server.rest.errors import status_of
from searx_mcp.server.rest.operation import Body, Call, Made, Operation, Text
from searx_mcp.server.rest.written import encoded, response_with
from searx_mcp.server.spans import continued
from searx_mcp.server.supervision import ProgressListener, unforeseen
from searx_mcp.server.web.policy import HttpRefusal

EVENTS: Final = "text/event-stream"

_PAUSE: Final = 15.0
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
        self._turn = asyncio.Lock()
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
        await self._write(event("progress", encoded({"progress": progress, "message": message})))

    async def end(self, last: bytes) -> None:
        """Send the last event and end the response.

        Args:
            last: encoded event, from `event`.
        """
        await self._write(last, is_last=True)

    async def _comment(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            await self._write(b":\n\n")

    async def _write(self, body: bytes, *, is_last: bool = False) -> None:
        async with self._turn:
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
_NO_OBJECT: Final = HttpRefusal(
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
        arguments = await _arguments(request, self._operation)
        if isinstance(arguments, HttpRefusal):
            await arguments.send(scope, send, ())
            return
        log = self._backend.log.request(
            self._operation.name,
            arguments,
            request_id=scope["state"]["request_id"],
            caller=identity_of(scope).name,
        )
        with continued(request.headers), log as keep:
            wants_events = EVENTS in request.headers.get("accept", "")
            stream = EventStream(send) if self._operation.streams and wants_events else None
            answered = await unless_gone(receive, self._answer(request, arguments, send, stream))
            if answered is None:
                note_failure("cancelled")
            else:
                keep(*answered)

    async def _answer(
        self,
        request: Request,
        arguments: Mapping[str, Any],
        send: Send,
        stream: EventStream | None,
    ) -> tuple[int, int]:
        """Respond at once or with events; return the status and the bytes sent."""
        if stream is None:
            outcome = await self._outcome(request, arguments, None)
        else:
            async with stream.kept_alive():
                outcome = await self._outcome(request, arguments, stream)
        if isinstance(outcome, SearxMcpError):
            note_failure(outcome.code.value)
            if stream is None or not stream.is_begun:
                return await self._tell(outcome, request, send)
            await stream.end(event("error", encoded(self._told(outcome, status_of(outcome)))))
            return 200, stream.size
        if callable(outcome):
            body, headers = await asyncio.to_thread(lambda: _written(outcome()))
        else:
            body, headers = _written(outcome)
        if stream is None:
            return await _send_whole(body, request, send, headers)
        await stream.end(event("result", body))
        return 200, stream.size

    async def _outcome(
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
            return unforeseen()

    async def _tell(self, error: SearxMcpError, request: Request, send: Send) -> tuple[int, int]:
        status, told = status_of(error), self._told(error)
        if self._operation.told is not None:
            status, told = self._operation.told(error)
        body = encoded(told)
        seconds = seconds_until_retry(error)
        headers = {} if seconds is None else {"retry-after": str(seconds)}
        response = Response(body, status, {**_HEADERS, **headers})
        await response(request.scope, request.receive, send)
        return status, len(body)

    def _told(self, error: SearxMcpError, status: int | None = None) -> Mapping[str, Any]:
        return error_body(error, self._backend.settings.server.tool_timeout, status=status)


def _written(made: Made) -> tuple[bytes, Mapping[str, str]]:
    """Return the encoded body of a response, and its headers."""
    if isinstance(made, Text):
        return scrub(made.content).encode(), {
            **_HEADERS,
            **dict(made.headers),
            "content-type": made.media_type,
        }
    return encoded(made), _HEADERS


async def _send_whole(
    body: bytes, request: Request, send: Send, headers: Mapping[str, str]
) -> tuple[int, int]:
    response = await response_with(body, request, headers)
    await response(request.scope, request.receive, send)
    return response.status_code, len(response.body)


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """Run `work`, and cancel it if the client disconnects.

    Args:
        receive: ASGI receive channel of the request; its body has already been read.
        work: coroutine that ends promptly when cancelled.

    Returns:
        The result, or `None` if the client has disconnected.
    """

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async with asyncio.TaskGroup() as group:
        working, waiting = group.create_task(work), group.create_task(gone())
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        waiting.cancel()
    return None if working.cancelled() else working.result()


async def _arguments(request: Request, operation: Operation) -> Mapping[str, Any] | HttpRefusal:
    """Return the arguments from the JSON body, the form or the query; repeated names give a list."""
    if operation.reads is not None:
        return operation.reads(request)
    takes_form = operation.takes_form
    if request.method == "POST" and not takes_form:
        try:
            found: Any = pydantic_core.from_json(await request.body(), allow_inf_nan=False)
        except ValueError:
            return _NO_OBJECT
        return found if isinstance(found, dict) else _NO_OBJECT
    written = request.scope["query_string"]
    if takes_form:
        # The guard lets only forms through; a form takes precedence over the query.
        form = await request.body() if request.method == "POST" else b""
        written = b"&".join(filter(None, (form, written)))
    if written.count(b"&") >= _MOST_PARAMETERS:
        return _TOO_MANY
    query = QueryParams(written)
    lists = {name: query.getlist(name) for name in query if takes_form or name != _WHOLE}
    return {name: each[0] if len(each) == 1 else each for name, each in lists.items()}


def _wants_whole(request: Request) -> bool:
    try:
        return bool(boolean(request.query_params.get(_WHOLE, "false"), Limits()))
    except ValueError as exc:
        raise InvalidArgumentError(_WHOLE, str(exc)) from None

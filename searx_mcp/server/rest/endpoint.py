"""What serves the requests to one operation: arguments in, an answer out, or nothing to a client that has gone."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Mapping
from typing import Any, Final, TypeVar

import pydantic_core
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.render.errors import seconds_until_retry
from searx_mcp.render.public import scrub
from searx_mcp.server.app import Backend
from searx_mcp.server.events import note_failure
from searx_mcp.server.policy import Refusal
from searx_mcp.server.rest.errors import error_body, status_of
from searx_mcp.server.rest.operation import Body, Call, Operation
from searx_mcp.server.supervision import unforeseen
from searx_mcp.server.tokens import identity_of

T = TypeVar("T")

_NO_OBJECT: Final = Refusal(
    400, ErrorCode.INVALID_ARGUMENT, "The body is no JSON object with the arguments of the call."
)
_TOO_MANY: Final = Refusal(
    400, ErrorCode.INVALID_ARGUMENT, "The query string has more than 100 parameters."
)
_MOST_PARAMETERS: Final = 100
_LEAST_COMPRESSED: Final = 1_024
"""Bytes. One packet holds that, so that nothing would be won."""
_LEVEL: Final = 5
"""Of gzip: 1 MB of JSON takes some 15 ms, and is within 2 % of what level 9 makes in three times as long."""


class Silent:
    """Stands for a client that is not told how its call goes."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Pass over it."""


class Endpoint:
    """Serves one operation, as an ASGI app.

    Args:
        operation: what is done.
        backend: performs it.
    """

    def __init__(self, operation: Operation, backend: Backend) -> None:
        self._operation = operation
        self._backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        arguments = await _arguments(request)
        if isinstance(arguments, Refusal):
            await arguments.send(scope, send, ())
            return
        log = self._backend.log.request(
            self._operation.name,
            arguments,
            request_id=scope["state"]["request_id"],
            caller=identity_of(scope).name,
        )
        with log as keep:
            call = Call(self._backend, arguments, Silent())
            outcome = await unless_gone(receive, self._outcome(call))
            if outcome is None:
                note_failure("cancelled")
                return
            response = await self._response(outcome, request)
            keep(response.status_code, len(response.body))
            await response(scope, receive, send)

    async def _outcome(self, call: Call) -> Body | SearxMcpError:
        try:
            return await self._operation.perform(call)
        except SearxMcpError as error:
            return error
        except Exception:  # noqa: BLE001 - whatever it is, the client gets an answer
            return unforeseen()

    async def _response(self, outcome: Body | SearxMcpError, request: Request) -> Response:
        status, headers = 200, {"content-type": "application/json", "cache-control": "no-store"}
        if isinstance(outcome, SearxMcpError):
            note_failure(outcome.code.value)
            told = error_body(outcome, self._backend.settings.server.tool_timeout)
            status = status_of(outcome)
            if (seconds := seconds_until_retry(outcome)) is not None:
                headers["retry-after"] = str(seconds)
            body = encoded(told)
        else:
            made = outcome
            headers["vary"] = "accept-encoding"
            body = await asyncio.to_thread(lambda: encoded(made()))
            if len(body) >= _LEAST_COMPRESSED and _takes_gzip(request):
                headers["content-encoding"] = "gzip"
                body = await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)
        return Response(body, status, headers)


async def unless_gone(receive: Receive, work: Awaitable[T]) -> T | None:
    """Do some work, and stop where the client has gone.

    Args:
        receive: of the request, whose body has been read.
        work: ends soon once it is cancelled.

    Returns:
        What came of it, or `None` if the client has gone.
    """

    async def awaited() -> T:
        return await work

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async with asyncio.TaskGroup() as group:
        tasks = (group.create_task(awaited()), group.create_task(gone()))
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    return None if tasks[0].cancelled() else tasks[0].result()


def encoded(data: Mapping[str, Any]) -> bytes:
    """Write a body as JSON in UTF-8, whatever strangers wrote into it."""
    return json.dumps(scrub(data), ensure_ascii=False, separators=(",", ":")).encode()


async def _arguments(request: Request) -> Mapping[str, Any] | Refusal:
    """The arguments of the body, or of the query of a GET; a name that comes twice has a list."""
    if request.method == "POST":
        try:
            found: Any = pydantic_core.from_json(await request.body(), allow_inf_nan=False)
        except ValueError:
            return _NO_OBJECT
        return found if isinstance(found, dict) else _NO_OBJECT
    if request.scope["query_string"].count(b"&") >= _MOST_PARAMETERS:
        return _TOO_MANY
    query = request.query_params
    lists = {name: query.getlist(name) for name in query}
    return {name: each[0] if len(each) == 1 else each for name, each in lists.items()}


def _takes_gzip(request: Request) -> bool:
    accepted = request.headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
    return any(each.partition(";")[0] in {"gzip", "*"} and not _is_off(each) for each in accepted)


def _is_off(coding: str) -> bool:
    return coding.partition(";q=")[2].strip("0.") == "" and ";q=" in coding

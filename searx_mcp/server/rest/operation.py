"""A REST operation: what it answers, with which status, and the handlers of routes with our own models."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel
from starlette.requests import Request

from searx_mcp import __version__
from searx_mcp.errors import (
    CursorError,
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    PolicyError,
    SearxMcpError,
    SettingsError,
)
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchResponse, dumped
from searx_mcp.models.spelling import shown
from searx_mcp.render.error_body import ErrorBody
from searx_mcp.server.backend import Backend
from searx_mcp.server.events import note_empty
from searx_mcp.server.rest.encoding import is_small
from searx_mcp.server.supervision import ProgressListener, perform_verb, supervise
from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.verb import RequestT, ResponseT, Room, Verb
from searx_mcp.verbs.web import WEB_SEARCH


@dataclass(frozen=True, slots=True)
class Text:
    """A response body that is not JSON.

    Attributes:
        content: complete text.
        media_type: media type with its parameters.
        headers: response headers besides the usual ones.
    """

    content: str
    media_type: str
    headers: tuple[tuple[str, str], ...] = ()


Content: TypeAlias = Mapping[str, Any] | Sequence[Any] | Text
Body: TypeAlias = Content | Callable[[], Content]
"""A response body, or a function that builds it in a thread: many pages take tens of milliseconds."""


def body(found: object, build: Callable[[], Content]) -> Body:
    """Build a small body at once; for a large one, return the function that builds it.

    Args:
        found: value that the body is built from.
        build: builds the body.
    """
    return build() if is_small(found) else build


def body_of(answer: BaseModel) -> Body:
    """Return the JSON of an answer without its absent fields, like `body`."""
    return body(answer, lambda: answer.model_dump(mode="json", by_alias=True, exclude_none=True))


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an operation.

    Attributes:
        backend: performs the call.
        arguments: arguments as the caller sent them.
        listener: receives progress, if the caller wants it.
        is_whole: whether to return every field of the response, as the thin client needs.
        allowed: operations that the caller may use.
    """

    backend: Backend
    arguments: Mapping[str, Any]
    listener: ProgressListener | None
    is_whole: bool = False
    allowed: Sequence["Operation"] = ()

    @property
    def limit(self) -> float:
        """Seconds that the call may take."""
        return self.backend.settings.server.tool_timeout


@dataclass(frozen=True, slots=True)
class Operation:
    """A route, its handler, and what OpenAPI publishes about it.

    Attributes:
        name: unique name, in logs and in the OpenAPI document.
        method: HTTP method.
        path: path of the route.
        summary: one sentence for a person.
        request: model of the arguments, of which further spellings are accepted; `None` for none.
        responses: models of the body with status 200.
        statuses: other statuses, besides those of the guard.
        perform: handler of a call.
        tool: tool that a token and the settings must allow; `None` for everybody.
        streams: whether a client may get progress as server-sent events.
        has_whole: whether `whole=true` returns every field.
        takes_form: whether a POST has a form, whose arguments may also be in the query.
        error: model of the body of an error.
        error_response: returns the status and body of an error, if they differ from those of our own routes.
        read_arguments: returns the arguments of a request that has them elsewhere than in a JSON object, a form or a query.
        media_types: media types with status 200.
    """

    name: str
    method: Literal["GET", "POST"]
    path: str
    summary: str
    request: type[Frozen] | None
    responses: tuple[type[BaseModel], ...]
    statuses: tuple[int, ...]
    perform: Callable[[Call], Awaitable[Body]]
    tool: Tool | None = None
    streams: bool = False
    has_whole: bool = False
    takes_form: bool = False
    error: type[BaseModel] = ErrorBody
    error_response: Callable[[SearxMcpError], tuple[int, Mapping[str, Any]]] | None = None
    read_arguments: Callable[[Request], Mapping[str, Any]] | None = None
    media_types: tuple[str, ...] = ("application/json",)


PAGE_FAILED: Final = 424
"""Status for the failure of a page or another server (RFC 4918, 11.4). A 404 would mean that the route does not exist; a
5xx would blame this server, and a load balancer would eject it for its clients' requests."""
STATUSES: Final[Mapping[ErrorCode, int]] = MappingProxyType(
    {
        **dict.fromkeys(ErrorCode, PAGE_FAILED),
        **dict.fromkeys((ErrorCode.INVALID_ARGUMENT, *PolicyError.codes, *CursorError.codes), 422),
        ErrorCode.UNAUTHORIZED: 401,
        ErrorCode.RATE_LIMITED: 429,
        ErrorCode.INTERNAL: 500,
        **dict.fromkeys(
            (
                ErrorCode.NO_INSTANCES_AVAILABLE,
                ErrorCode.NATIVE_FAILED,
                ErrorCode.SETUP_FAILED,
            ),
            503,
        ),
        ErrorCode.DEADLINE_EXCEEDED: 504,
    }
)
"""Status for each error code of a failed call; `status_of` handles the two exceptions."""


def status_of(error: SearxMcpError) -> int:
    """Return the HTTP status of an error, which tells whether the caller, a page or this server is at fault."""
    if isinstance(error, SettingsError):
        return 500
    is_page = isinstance(error, FetchError) and not isinstance(error, PolicyError | CursorError)
    return PAGE_FAILED if is_page else STATUSES[error.code]


async def perform(verb: Verb[RequestT, ResponseT], call: Call) -> Body:
    """Perform a verb with the arguments of a call and return the body of the response."""
    request = verb.parse(call.arguments, call.backend.settings)
    found = await run_verb(verb, request, call)
    room = Room(budget=getattr(request, "max_tokens", None))
    build = partial(dumped, found) if call.is_whole else partial(verb.writing().data, found, room)
    # Fitting a budget takes milliseconds, however small the answer, so it always goes to a thread.
    return build if room.budget else body(found, build)


async def run_verb(verb: Verb[RequestT, ResponseT], request: RequestT, call: Call) -> ResponseT:
    """Perform a verb within the deadline of a call and return its response."""
    if isinstance(request, FetchRequest) and request.further_urls:
        raise InvalidArgumentError("url", "must be one address; make a call for each")
    found = await perform_verb(
        verb,
        request,
        call.backend.get,
        listener=call.listener,
        limit=call.limit,
        settings=call.backend.settings,
    )
    if verb.writing().is_empty(found):
        note_empty()
    return found


async def run_search(call: Call, request: SearchRequest) -> SearchResponse:
    """Run one search within the deadline of a call."""
    found = await run_verb(WEB_SEARCH, request, call)
    if not isinstance(found, SearchResponse):
        raise TypeError("several searches")  # no caller passes several queries
    return found


class RouteReport(Frozen):
    """A route that the caller may use.

    Attributes:
        method: HTTP method.
        path: path of the route.
        streams: whether it can send progress as server-sent events.
    """

    method: str
    path: str
    streams: bool = False


class Capabilities(Frozen):
    """What the caller's token permits, and the limits of the server.

    Attributes:
        name: name of the program.
        version: version of the program.
        max_seconds: longest time that a call may take, in seconds.
        max_body_bytes: largest request body, in bytes.
        routes: routes that the caller may use.
    """

    name: str = "searx-mcp"
    version: str = __version__
    max_seconds: float
    max_body_bytes: int
    routes: tuple[RouteReport, ...]


async def read_pool(call: Call) -> PoolReport:
    """Report the pool within the deadline of a call, without sending a request."""

    async def work(_: Progress) -> PoolReport:
        return await call.backend.instances()

    return await supervise(call.listener, call.limit, work, otherwise="")


async def instances(call: Call) -> Body:
    """Report the pool, without sending a request."""
    refuse_arguments(call)
    report = await read_pool(call)
    return body(report, lambda: dumped(report))


async def capabilities(call: Call) -> Body:
    """Report what the caller may use."""
    refuse_arguments(call)
    settings = call.backend.settings
    report = Capabilities(
        max_seconds=call.limit,
        max_body_bytes=settings.http.max_body_size,
        routes=tuple(
            RouteReport(method=each.method, path=each.path, streams=each.streams)
            for each in call.allowed
        ),
    )
    return report.model_dump(mode="json")


def refuse_arguments(call: Call) -> None:
    """Refuse every argument.

    Raises:
        InvalidArgumentError: the call has one.
    """
    for name in call.arguments:
        raise InvalidArgumentError(shown(name)[1:-1], "is unknown; this route takes no arguments")

"""REST routes with our own models: the verbs, with the arguments of the MCP tools, and the state of the server."""

from functools import partial

from searx_mcp import __version__
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchResponse
from searx_mcp.models.spelling import shown
from searx_mcp.models.wire import dumped
from searx_mcp.server.events import note_empty
from searx_mcp.server.rest.operation import Body, Call, body
from searx_mcp.server.supervision import perform_verb, supervise
from searx_mcp.verbs.verb import RequestT, ResponseT, Room, Verb
from searx_mcp.verbs.web import WEB_SEARCH


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

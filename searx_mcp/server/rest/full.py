"""Searches, pages and the state of the server with our own models: arguments as for the MCP tools."""

from typing import Final

from searx_mcp import __version__
from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
from searx_mcp.models.service import Progress, RawService
from searx_mcp.models.spelling import shown
from searx_mcp.models.wire import dumped
from searx_mcp.render.batch import batch_data, raw_data
from searx_mcp.render.public import page_data, response_data
from searx_mcp.server.events import note_empty
from searx_mcp.server.rest.operation import Body, Call
from searx_mcp.server.supervision import supervise

_SMALLER: Final = "Ask for fewer results, or without their pages (fetch_content false)."
_OTHERWISE: Final = "Use another source."


async def search(call: Call) -> Body:
    """Run one search or several."""
    request = parse_search(call.arguments, defaults=call.backend.settings.search_defaults())
    budget = request.max_tokens
    if not request.queries:
        found = await searched(call, request)
        return lambda: dumped(found) if call.is_whole else response_data(found, budget=budget)
    batch = await _searched_all(call, _in_time(call, request))
    return lambda: dumped(batch) if call.is_whole else batch_data(batch, budget=budget)


async def raw_search(call: Call) -> Body:
    """Return the JSON of a keyed provider for one or several queries."""
    arguments = dict(call.arguments)
    provider = arguments.pop("provider", None)
    if not isinstance(provider, str):
        raise InvalidArgumentError("provider", "is missing: google or brave")
    request = parse_search(arguments, defaults=call.backend.settings.search_defaults())
    request = _in_time(call, request)

    async def work(progress: Progress) -> RawBatch:
        service = await call.backend.get()
        if not isinstance(service, RawService):
            raise InvalidArgumentError("provider", "cannot be asked through this server")
        return await service.raw_search(provider, request, progress=progress)

    due = request.timeout
    batch = await supervise(call.listener, call.limit, work, otherwise=_SMALLER, due=due)
    return lambda: raw_data(batch)


async def fetch(call: Call) -> Body:
    """Read a page."""
    page = await fetched(call, parse_fetch(call.arguments))
    return lambda: dumped(page) if call.is_whole else page_data(page)


async def searched(call: Call, request: SearchRequest) -> SearchResponse:
    """Run a search within the deadline of the call."""
    request = _in_time(call, request)

    async def work(progress: Progress) -> SearchResponse:
        service = await call.backend.get()
        return await service.search(request, progress=progress)

    due = request.timeout
    response = await supervise(call.listener, call.limit, work, otherwise=_SMALLER, due=due)
    if not response.results:
        note_empty()
    return response


async def _searched_all(call: Call, request: SearchRequest) -> SearchBatch:
    async def work(progress: Progress) -> SearchBatch:
        service = await call.backend.get()
        return await service.search_all(request, progress=progress)

    due = request.timeout
    return await supervise(call.listener, call.limit, work, otherwise=_SMALLER, due=due)


def _in_time(call: Call, request: SearchRequest) -> SearchRequest:
    usual = call.backend.settings.web_search.default_timeout
    return request.model_copy(update={"timeout": min(request.timeout or usual, call.limit)})


async def fetched(call: Call, request: FetchRequest) -> Page:
    """Fetch a page within the deadline of the call."""
    if request.further_urls:
        raise InvalidArgumentError("url", "must be one address; make a call for each")
    usual = call.backend.settings.web_fetch.default_timeout
    due = min(request.timeout or usual, call.limit)
    request = request.model_copy(update={"timeout": due})

    async def work(progress: Progress) -> Page:
        service = await call.backend.get()
        return await service.fetch(request, progress=progress)

    return await supervise(call.listener, call.limit, work, otherwise=_OTHERWISE, due=due)


class RouteReport(Frozen):
    """A route that a client may use.

    Attributes:
        method: HTTP method.
        path: path of the route.
        streams: whether it can send progress as server-sent events.
    """

    method: str
    path: str
    streams: bool = False


class Capabilities(Frozen):
    """What a client may use of a server with its token.

    Attributes:
        name: name of the program.
        version: version of the program.
        max_seconds: the longest time that any call may take, in seconds.
        max_body_bytes: the largest request body, in bytes.
        routes: the routes that it may use.
    """

    name: str = "searx-mcp"
    version: str = __version__
    max_seconds: float
    max_body_bytes: int
    routes: tuple[RouteReport, ...]


async def instances(call: Call) -> Body:
    """Report the pool; sends no request."""
    _refuse_arguments(call)

    async def work(_: Progress) -> PoolReport:
        return await call.backend.instances()

    report = await supervise(call.listener, call.limit, work, otherwise="")
    return lambda: dumped(report)


async def capabilities(call: Call) -> Body:
    """Report what the caller may use."""
    _refuse_arguments(call)
    settings = call.backend.settings
    told = Capabilities(
        max_seconds=call.limit,
        max_body_bytes=settings.http.max_body_size,
        routes=tuple(
            RouteReport(method=each.method, path=each.path, streams=each.streams)
            for each in call.allowed
        ),
    )
    return lambda: told.model_dump(mode="json")


def _refuse_arguments(call: Call) -> None:
    for name in call.arguments:
        raise InvalidArgumentError(shown(name)[1:-1], "is unknown; this route takes no arguments")

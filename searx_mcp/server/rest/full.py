"""Verbs with our own models: arguments as for the MCP tools, all fields in the answers."""

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchResponse
from searx_mcp.models.wire import dumped
from searx_mcp.server.events import note_empty
from searx_mcp.server.rest.operation import Body, Call
from searx_mcp.server.supervision import performed
from searx_mcp.verbs.verb import RequestT, ResponseT, Room, Verb
from searx_mcp.verbs.web import WEB_SEARCH


async def perform(verb: Verb[RequestT, ResponseT], call: Call) -> Body:
    """Perform a verb with the arguments of a call."""
    request = verb.parse(call.arguments, call.backend.settings)
    found = await answered(verb, request, call)
    room = Room(budget=getattr(request, "max_tokens", None))
    return lambda: dumped(found) if call.is_whole else verb.writing().data(found, room)


async def answered(verb: Verb[RequestT, ResponseT], request: RequestT, call: Call) -> ResponseT:
    """Perform a verb within the deadline of a call."""
    if isinstance(request, FetchRequest) and request.further_urls:
        raise InvalidArgumentError("url", "must be one address; make a call for each")
    found = await performed(
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


async def searched(call: Call, request: SearchRequest) -> SearchResponse:
    """Run one search within the deadline of a call."""
    found = await answered(WEB_SEARCH, request, call)
    if not isinstance(found, SearchResponse):
        raise TypeError("several searches")  # no route that has one asks for them
    return found

"""The table of REST: every operation, once; what serves them and what documents them go by it."""

from typing import Final

from starlette.routing import Route

from searx_mcp.models.page import Page
from searx_mcp.models.request import FetchRequest, SearchRequest
from searx_mcp.models.response import SearchBatch, SearchResponse
from searx_mcp.server.app import Backend
from searx_mcp.server.rest import full, tools
from searx_mcp.server.rest.endpoint import Endpoint
from searx_mcp.server.rest.operation import Operation
from searx_mcp.settings.tools import Tool

_SEARCH: Final = (422, 500, 503, 504)
_FETCH: Final = (422, 424, 500, 504)

OPERATIONS: Final = (
    Operation(
        name="tools_web_search",
        method="POST",
        path="/v1/tools/web_search",
        summary="Search the web.",
        request=tools.WebSearchBody,
        response=tools.WebSearchAnswer,
        statuses=_SEARCH,
        perform=tools.web_search,
        tool=Tool.WEB_SEARCH,
    ),
    Operation(
        name="tools_web_fetch",
        method="POST",
        path="/v1/tools/web_fetch",
        summary="Read a page as Markdown, or go on reading one.",
        request=tools.WebFetchBody,
        response=tools.WebFetchAnswer,
        statuses=_FETCH,
        perform=tools.web_fetch,
        tool=Tool.WEB_FETCH,
    ),
    Operation(
        name="search",
        method="POST",
        path="/v1/search",
        summary="Search the web and read the result pages.",
        request=SearchRequest,
        response=SearchResponse | SearchBatch,
        statuses=_SEARCH,
        perform=full.search,
        tool=Tool.WEB_SEARCH,
    ),
    Operation(
        name="fetch",
        method="POST",
        path="/v1/fetch",
        summary="Read a page as Markdown, with all that is known of it.",
        request=FetchRequest,
        response=Page,
        statuses=_FETCH,
        perform=full.fetch,
        tool=Tool.WEB_FETCH,
    ),
)


def rest_routes(backend: Backend) -> list[Route]:
    """The routes of a server; `server.tools`, where it is set, allows only those of its tools.

    Args:
        backend: performs the calls.
    """
    allowed = backend.settings.server.tools or tuple(Tool)
    return [
        Route(each.path, Endpoint(each, backend), methods=[each.method], name=each.name)
        for each in OPERATIONS
        if each.tool is None or each.tool in allowed
    ]

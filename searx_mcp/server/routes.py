"""The table of REST operations, from which they are served and documented."""

from functools import partial
from typing import Any, Final

from starlette.routing import Route as AppRoute

from searx_mcp.models.instance import PoolReport
from searx_mcp.server.backend import Backend
from searx_mcp.server.compat import external, firecrawl, jina, searxng, tavily
from searx_mcp.server.rest import openapi, operation, tools
from searx_mcp.server.rest.endpoint import Endpoint
from searx_mcp.server.rest.operation import Operation
from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.table import VERBS
from searx_mcp.verbs.verb import RestRoute, Verb

_SEARCH: Final = (422, 500, 503, 504)
_FETCH: Final = (422, 424, 500, 504)
_LOCAL: Final = (422, 500, 504)


def _operation(verb: Verb[Any, Any], route: RestRoute) -> Operation:
    """Return the operation that performs a verb."""
    return Operation(
        name=route.name,
        method=route.method,
        path=route.path,
        summary=route.summary,
        request=verb.request,
        responses=verb.writing().responses,
        statuses=route.statuses,
        perform=partial(operation.perform, verb),
        tool=verb.tool,
        streams=route.streams,
        has_whole=route.has_whole,
    )


OPERATIONS: Final = (
    Operation(
        name="tools_web_search",
        method="POST",
        path="/v1/tools/web_search",
        summary="Search the web.",
        request=tools.WebSearchBody,
        responses=(tools.WebSearchAnswer,),
        statuses=_SEARCH,
        perform=tools.web_search,
        tool=Tool.WEB_SEARCH,
    ),
    Operation(
        name="tools_web_fetch",
        method="POST",
        path="/v1/tools/web_fetch",
        summary="Read a page as Markdown, or continue one.",
        request=tools.WebFetchBody,
        responses=(tools.WebFetchAnswer,),
        statuses=_FETCH,
        perform=tools.web_fetch,
        tool=Tool.WEB_FETCH,
    ),
    *(_operation(verb, verb.route) for verb in VERBS if verb.route is not None),
    Operation(
        name="instances",
        method="GET",
        path="/v1/instances",
        summary="Report the instances and open sources; sends no request.",
        request=None,
        responses=(PoolReport,),
        statuses=_LOCAL,
        perform=operation.instances,
    ),
    Operation(
        name="capabilities",
        method="GET",
        path="/v1/capabilities",
        summary="Report the version and the routes that the caller may use.",
        request=None,
        responses=(operation.Capabilities,),
        statuses=_LOCAL,
        perform=operation.capabilities,
    ),
    Operation(
        name="openapi",
        method="GET",
        path="/openapi.json",
        summary="Describe the routes that the caller may use, as OpenAPI 3.1.",
        request=None,
        responses=(openapi.OpenApi,),
        statuses=(422, 500),
        perform=openapi.openapi,
    ),
    *searxng.OPERATIONS,
    *tavily.OPERATIONS,
    *firecrawl.OPERATIONS,
    *external.OPERATIONS,
    *jina.OPERATIONS,
)


def rest_routes(backend: Backend) -> list[AppRoute]:
    """Return the routes of a server; `server.tools`, if set, limits them to those of its tools.

    Args:
        backend: performs the calls.
    """
    tools_allowed = backend.settings.server.tools or tuple(Tool)
    offered = [each for each in OPERATIONS if each.tool is None or each.tool in tools_allowed]
    return [
        AppRoute(
            each.path.replace("}", ":path}"),  # an address contains slashes
            Endpoint(each, backend, offered),
            methods=[each.method],
            name=each.name,
        )
        for each in offered
    ]

"""The table of REST operations, used to serve and to document them."""

from typing import Final

from starlette.routing import Route

from searx_mcp.models.corpus_request import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.evidence import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import RawSearchRequest, SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
from searx_mcp.server.app import Backend
from searx_mcp.server.rest import corpus, full, openapi, searxng, tools
from searx_mcp.server.rest.endpoint import Endpoint
from searx_mcp.server.rest.operation import Operation
from searx_mcp.server.web.policy import SEARXNG_PATH
from searx_mcp.settings.tools import Tool

_SEARCH: Final = (422, 500, 503, 504)
_FETCH: Final = (422, 424, 500, 504)
_EVIDENCE: Final = (422, 424, 500, 503, 504)
_LOCAL: Final = (422, 500, 504)

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
        summary="Read a page as Markdown, or continue one.",
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
        streams=True,
        has_whole=True,
    ),
    Operation(
        name="raw_search",
        method="POST",
        path="/v1/raw_search",
        summary="Return the JSON of a keyed provider unchanged.",
        request=RawSearchRequest,
        response=RawBatch,
        statuses=_SEARCH,
        perform=full.raw_search,
        tool=Tool.WEB_SEARCH,
        streams=True,
    ),
    Operation(
        name="fetch",
        method="POST",
        path="/v1/fetch",
        summary="Read a page as Markdown, with its metadata.",
        request=FetchRequest,
        response=Page,
        statuses=_FETCH,
        perform=full.fetch,
        tool=Tool.WEB_FETCH,
        streams=True,
        has_whole=True,
    ),
    Operation(
        name="read",
        method="POST",
        path="/v1/read",
        summary="Find the passages of a page that answer questions.",
        request=ReadRequest,
        response=ReadResponse,
        statuses=_FETCH,
        perform=corpus.read,
        tool=Tool.READ_PAGE,
        streams=True,
        has_whole=True,
    ),
    Operation(
        name="answer",
        method="POST",
        path="/v1/answer",
        summary="Find evidence for a question, with sources and quotes.",
        request=AnswerRequest,
        response=EvidenceResponse,
        statuses=_EVIDENCE,
        perform=corpus.answer,
        tool=Tool.ANSWER,
        streams=True,
        has_whole=True,
    ),
    Operation(
        name="corpus_status",
        method="GET",
        path="/v1/corpus",
        summary="List the kept pages.",
        request=StatusRequest,
        response=CorpusStatus,
        statuses=_LOCAL,
        perform=corpus.status,
        tool=Tool.CORPUS_STATUS,
        has_whole=True,
    ),
    Operation(
        name="corpus_search",
        method="POST",
        path="/v1/corpus/search",
        summary="Find evidence in kept pages; sends no request.",
        request=CorpusSearchRequest,
        response=EvidenceResponse,
        statuses=_EVIDENCE,
        perform=corpus.search,
        tool=Tool.SEARCH_CORPUS,
        streams=True,
        has_whole=True,
    ),
    Operation(
        name="corpus_ingest",
        method="POST",
        path="/v1/corpus/ingest",
        summary="Read pages and keep them.",
        request=IngestRequest,
        response=IngestResponse,
        statuses=_FETCH,
        perform=corpus.ingest,
        tool=Tool.INGEST,
        streams=True,
        has_whole=True,
    ),
    Operation(
        name="instances",
        method="GET",
        path="/v1/instances",
        summary="Report the instances and open sources; sends no request.",
        request=None,
        response=PoolReport,
        statuses=_LOCAL,
        perform=full.instances,
    ),
    Operation(
        name="capabilities",
        method="GET",
        path="/v1/capabilities",
        summary="Report the version and the routes that the caller may use.",
        request=None,
        response=full.Capabilities,
        statuses=_LOCAL,
        perform=full.capabilities,
    ),
    Operation(
        name="openapi",
        method="GET",
        path="/openapi.json",
        summary="Describe the routes that the caller may use, as OpenAPI 3.1.",
        request=None,
        response=openapi.OpenApi,
        statuses=(422, 500),
        perform=openapi.openapi,
    ),
    Operation(
        name="searxng_search",
        method="GET",
        path=SEARXNG_PATH,
        summary="Search like a SearXNG instance.",
        request=searxng.SearxngQuery,
        response=searxng.SearxngAnswer,
        statuses=(400, 403, 429, 500, 503, 504),
        perform=searxng.search,
        tool=Tool.WEB_SEARCH,
        takes_form=True,
        error=searxng.SearxngError,
        told=searxng.told,
    ),
    Operation(
        name="searxng_search_form",
        method="POST",
        path=SEARXNG_PATH,
        summary="Search like a SearXNG instance, with a form.",
        request=searxng.SearxngQuery,
        response=searxng.SearxngAnswer,
        statuses=(400, 403, 429, 500, 503, 504),
        perform=searxng.search,
        tool=Tool.WEB_SEARCH,
        takes_form=True,
        error=searxng.SearxngError,
        told=searxng.told,
    ),
)


def rest_routes(backend: Backend) -> list[Route]:
    """Make the routes of a server; `server.tools`, if set, limits them to those of its tools.

    Args:
        backend: performs the calls.
    """
    tools_allowed = backend.settings.server.tools or tuple(Tool)
    offered = [each for each in OPERATIONS if each.tool is None or each.tool in tools_allowed]
    return [
        Route(each.path, Endpoint(each, backend, offered), methods=[each.method], name=each.name)
        for each in offered
    ]

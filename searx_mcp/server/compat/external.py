"""The external web search and external web loader of Open WebUI."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, RootModel, StrictInt

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.page import Page
from searx_mcp.models.request import MAX_QUERY_LENGTH, MAX_RESULTS
from searx_mcp.render.errors import cause_of
from searx_mcp.server.compat.searxng import SearxngError
from searx_mcp.server.rest.foreign import (
    MAX_PAGES,
    Foreign,
    read,
    read_pages,
    status_for,
    to_fetch,
    to_search,
)
from searx_mcp.server.rest.operation import Body, Call, Operation, body, run_search
from searx_mcp.settings.tools import Tool


class ExternalSearch(Foreign):
    """What to search for.

    Attributes:
        query: what to search for.
        count: number of results.
    """

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)]
    count: Annotated[StrictInt, Field(ge=1, le=MAX_RESULTS)] | None = None


class ExternalResult(Frozen):
    """A result.

    Attributes:
        link: address of the page.
        title: plain text.
        snippet: excerpt of the page, from a search engine.
    """

    link: str
    title: str
    snippet: str


class ExternalResults(RootModel[tuple[ExternalResult, ...]]):
    """Results, best first."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class ExternalLoad(Foreign):
    """Pages to read.

    Attributes:
        urls: their addresses.
    """

    urls: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1, max_length=MAX_PAGES)
    ]


class ExternalPage(Frozen):
    """A page.

    Attributes:
        page_content: Markdown.
        metadata: its address as `source`, and its own `title`, `description` and `language`.
    """

    page_content: str
    metadata: Mapping[str, str]


class ExternalPages(RootModel[tuple[ExternalPage, ...]]):
    """The pages that could be read."""

    model_config = ConfigDict(frozen=True, defer_build=True)


_PAGE_FIELDS: Final = ("title", "description", "language")


async def search(call: Call) -> Body:
    """Search, without reading the pages."""
    arguments = read(ExternalSearch, call.arguments)
    defaults = call.backend.settings.search_defaults()
    # Open WebUI sends the number in its own settings; exceeding ours is not the caller's fault.
    count = min(arguments.count or defaults.results_count, defaults.max_results)
    extra = {"fetch_content": False, "results_count": count}
    found = await run_search(call, to_search(arguments, {"query": "query"}, extra, defaults))
    return [
        {"link": each.url, "title": each.title, "snippet": each.description}
        for each in found.results
    ]


async def load(call: Call) -> Body:
    """Read pages; those that cannot be read are omitted, unless none can.

    Raises:
        SearxMcpError: none can be read; the error of the first.
    """
    arguments = read(ExternalLoad, call.arguments)
    found = await read_pages(
        call, arguments.urls, lambda url: to_fetch(arguments, {}, {"url": url})
    )
    pages = [(url, page) for url, page in found if isinstance(page, Page)]
    if not pages and isinstance(failure := found[0][1], SearxMcpError):
        raise failure
    return body(pages, lambda: [_external_page(url, page) for url, page in pages])


def _external_page(url: str, page: Page) -> dict[str, Any]:
    known = {name: value for name in _PAGE_FIELDS if (value := getattr(page, name))}
    return {"page_content": page.markdown_content, "metadata": {"source": url, **known}}


def error_response(error: SearxMcpError) -> tuple[int, Mapping[str, Any]]:
    """Return the status and the body of an error."""
    return status_for(error), {"error": cause_of(error)}


OPERATIONS: Final = (
    Operation(
        name="external_search",
        method="POST",
        path="/external/search",
        summary="Search for Open WebUI.",
        request=ExternalSearch,
        responses=(ExternalResults,),
        statuses=(400, 500, 503, 504),
        perform=search,
        tool=Tool.WEB_SEARCH,
        error=SearxngError,
        error_response=error_response,
    ),
    Operation(
        name="external_load",
        method="POST",
        path="/external/load",
        summary="Read pages for Open WebUI.",
        request=ExternalLoad,
        responses=(ExternalPages,),
        statuses=(400, 422, 424, 500, 504),
        perform=load,
        tool=Tool.WEB_FETCH,
        error=SearxngError,
        error_response=error_response,
    ),
)

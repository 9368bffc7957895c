"""Tavily's `/search` and `/extract`: tavily-python 0.8, LibreChat.

Searches return neither an answer by a model nor images.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt

from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.request import MAX_QUERY_LENGTH
from searx_mcp.models.response import SearchResult
from searx_mcp.render.errors import cause_of
from searx_mcp.server.rest.foreign import (
    MAX_PAGES,
    NO_NUMBER,
    PARTS,
    Foreign,
    NotOffered,
    language_in,
    page_timeout,
    read,
    read_pages,
    status_for,
    to_fetch,
    to_search,
)
from searx_mcp.server.rest.operation import Body, Call, Operation, body_of, run_search
from searx_mcp.settings.tools import Tool

_RESULTS: Final = 5
_MOST_RESULTS: Final = 20
_CHUNKS: Final = 3
_MOST_CHUNKS: Final = 5

_Domains = Annotated[tuple[str, ...], Field(max_length=50)]


class TavilySearch(Foreign):
    """What to search for, and how.

    Attributes:
        query: what to search for.
        search_depth: `advanced` reads the pages, and returns their best parts as `content`.
        topic: `news` searches the news.
        time_range: how old results may be.
        days: the same in days.
        max_results: number of results.
        chunks_per_source: parts of a page in `content`, with `advanced`.
        include_domains: only these and their subdomains.
        exclude_domains: not these and their subdomains.
        include_raw_content: whether to add each page as Markdown.
        country: English name or code of the country from which results are wanted.
        language: language of the results.
        safe_search: whether to filter explicit results strictly.
        include_favicon, include_usage: ignored; neither is known.
        include_domains_mode, include_answer, include_images, include_image_descriptions, auto_parameters,
            exact_match, filter_by_language: not offered.
    """

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)]
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] | None = None
    topic: Literal["general", "news", "finance"] | None = None
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = None
    days: Annotated[StrictInt, Field(ge=1, le=100_000)] | None = None
    max_results: Annotated[StrictInt, Field(ge=1, le=_MOST_RESULTS)] | None = None
    chunks_per_source: Annotated[StrictInt, Field(ge=1, le=_MOST_CHUNKS)] | None = None
    include_domains: _Domains | None = None
    exclude_domains: _Domains | None = None
    include_raw_content: Annotated[Literal[False, True, "markdown"], NO_NUMBER] | None = None
    country: str | None = None
    language: str | None = None
    safe_search: StrictBool | None = None
    include_favicon: StrictBool | None = None
    include_usage: StrictBool | None = None
    include_domains_mode: Literal["restrict"] | None = None
    include_answer: NotOffered = None
    include_images: NotOffered = None
    include_image_descriptions: NotOffered = None
    auto_parameters: NotOffered = None
    exact_match: NotOffered = None
    filter_by_language: NotOffered = None


class TavilyResult(Frozen):
    """A result.

    Attributes:
        title: plain text.
        url: address of the page.
        content: excerpt from a search engine, or the parts of the page that fit best.
        score: 1 for the best result.
        raw_content: the page as Markdown, if requested and read.
        published_date: ISO 8601 as far as known.
    """

    title: str
    url: str
    content: str
    score: float
    raw_content: str | None = None
    published_date: str | None = None


class TavilyAnswer(Frozen):
    """The answer to a search.

    Attributes:
        query: the query as searched.
        results: results, best first.
        response_time: seconds that the call took.
    """

    query: str
    results: tuple[TavilyResult, ...]
    response_time: float


_Url = Annotated[str, Field(min_length=1)]
_Urls = Annotated[tuple[_Url, ...], Field(min_length=1, max_length=MAX_PAGES)]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class TavilyExtract(Foreign):
    """Pages to read.

    Attributes:
        urls: one address, or several.
        include_images: whether to list the addresses of each page's images.
        query: what the caller wants to know; `raw_content` is then the parts that fit it best.
        chunks_per_source: number of these parts.
        timeout: seconds for each page.
        extract_depth: ignored; each page is read as well as it can be.
        format: Markdown is the only one.
        include_favicon, include_usage: ignored; neither is known.
    """

    urls: Annotated[_Urls, BeforeValidator(_as_list, json_schema_input_type=_Url | _Urls)]
    include_images: StrictBool | None = None
    query: Annotated[str, Field(max_length=MAX_QUERY_LENGTH)] | None = None
    chunks_per_source: Annotated[StrictInt, Field(ge=1, le=_MOST_CHUNKS)] | None = None
    timeout: Annotated[StrictFloat, Field(ge=1, le=60)] | None = None
    extract_depth: Literal["basic", "advanced"] | None = None
    format: Literal["markdown"] | None = None
    include_favicon: StrictBool | None = None
    include_usage: StrictBool | None = None


class TavilyPage(Frozen):
    """A page.

    Attributes:
        url: address as requested.
        title: plain text.
        raw_content: the page as Markdown.
        images: addresses of its images, if requested.
    """

    url: str
    title: str | None = None
    raw_content: str
    images: tuple[str, ...] | None = None


class TavilyFailure(Frozen):
    """A page that could not be read.

    Attributes:
        url: address as requested.
        error: the reason, in one sentence.
    """

    url: str
    error: str


class TavilyPages(Frozen):
    """The requested pages.

    Attributes:
        results: pages that were read.
        failed_results: pages that could not be read.
        response_time: seconds that the call took.
    """

    results: tuple[TavilyPage, ...]
    failed_results: tuple[TavilyFailure, ...]
    response_time: float


class TavilyReason(Frozen):
    """Why a call failed, in a sentence."""

    error: str


class TavilyError(Frozen):
    """The body of an error."""

    detail: TavilyReason


_SEARCHES: Final = {
    "query": "query",
    "topic": "category",
    "time_range": "time_range",
    "days": "days",
    "max_results": "results_count",
    "include_domains": "allowed_domains",
    "exclude_domains": "blocked_domains",
    "language": "language",
    "safe_search": "safe_search",
}
"""Fields that are also our own arguments."""


async def search(call: Call) -> Body:
    """Search, and read the pages if their text is requested."""
    arguments = read(TavilySearch, call.arguments)
    if arguments.time_range is not None and arguments.days is not None:
        raise InvalidArgumentError("days", "says what time_range says; give one")
    defaults = call.backend.settings.search_defaults()
    most = min(_MOST_RESULTS, defaults.max_results)
    is_deep = arguments.search_depth == "advanced"
    with_page = bool(arguments.include_raw_content)
    extra: dict[str, Any] = {"fetch_content": is_deep or with_page}
    if arguments.safe_search is not None:
        extra["safe_search"] = 2 if arguments.safe_search else 0
    if arguments.country:
        extra["language"] = language_in(arguments.country, arguments.language or defaults.language)
    request = to_search(
        arguments,
        _SEARCHES,
        extra,
        replace(defaults, results_count=min(_RESULTS, most), max_results=most),
    )
    found = await run_search(call, request)
    chunks = (arguments.chunks_per_source or _CHUNKS) if is_deep else 0
    return body_of(
        TavilyAnswer(
            query=found.query,
            results=tuple(_result(each, chunks, with_page=with_page) for each in found.results),
            response_time=found.search_time_ms / 1_000,
        )
    )


def _result(result: SearchResult, chunks: int, *, with_page: bool) -> TavilyResult:
    page = result.content
    best = _best(page.passages if page else (), chunks)
    return TavilyResult(
        title=result.title,
        url=result.url,
        content=best or result.description,
        score=result.score,
        raw_content=page.markdown if page and with_page else None,
        published_date=result.published_at or None,
    )


def _best(passages: tuple[Passage, ...], most: int) -> str:
    """Return the best passages, in page order."""
    best = sorted(passages[:most], key=lambda passage: passage.offset)
    return PARTS.join(passage.text.strip() for passage in best)


async def extract(call: Call) -> Body:
    """Read pages."""
    arguments = read(TavilyExtract, call.arguments)
    extra = {} if arguments.timeout is None else {"timeout": page_timeout(arguments.timeout)}
    now = asyncio.get_running_loop().time
    start = now()
    found = await read_pages(
        call,
        arguments.urls,
        lambda url: to_fetch(arguments, {"query": "prompt"}, {"url": url, **extra}),
    )
    return body_of(
        TavilyPages(
            results=tuple(
                _page(url, page, arguments) for url, page in found if isinstance(page, Page)
            ),
            failed_results=tuple(
                TavilyFailure(url=url, error=cause_of(page))
                for url, page in found
                if isinstance(page, SearxMcpError)
            ),
            response_time=round(now() - start, 3),
        )
    )


def _page(url: str, page: Page, arguments: TavilyExtract) -> TavilyPage:
    chunks = (arguments.chunks_per_source or _CHUNKS) if arguments.query else 0
    return TavilyPage(
        url=url,
        title=page.title or None,
        raw_content=_best(page.passages, chunks) or page.markdown_content,
        images=tuple(each.url for each in page.images) if arguments.include_images else None,
    )


def error_response(error: SearxMcpError) -> tuple[int, Mapping[str, Any]]:
    """Return Tavily's status and body for an error."""
    return status_for(error), {"detail": {"error": cause_of(error)}}


def _operation(name: str, summary: str, request: type[Foreign], **rest: Any) -> Operation:  # noqa: ANN401 - fields
    return Operation(
        name=f"tavily_{name}",
        method="POST",
        path=f"/tavily/{name}",
        summary=summary,
        request=request,
        error=TavilyError,
        error_response=error_response,
        **rest,
    )


OPERATIONS: Final = (
    _operation(
        "search",
        "Search like Tavily.",
        TavilySearch,
        responses=(TavilyAnswer,),
        statuses=(400, 500, 503, 504),
        perform=search,
        tool=Tool.WEB_SEARCH,
    ),
    _operation(
        "extract",
        "Read pages like Tavily.",
        TavilyExtract,
        responses=(TavilyPages,),
        statuses=(400, 500, 504),
        perform=extract,
        tool=Tool.WEB_FETCH,
    ),
)

"""Firecrawl's `/v1` and `/v2` `scrape` and `search`: firecrawl-py 4, Open WebUI, LibreChat.

There is no crawl and no job. `/v2/scrape` and `/v2/search` also exist at the root: clients that join a base URL with
an absolute path drop the prefix.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt
from pydantic.alias_generators import to_camel

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.models.page import Page
from searx_mcp.models.request import MAX_QUERY_LENGTH, MAX_RESULTS, Category, SearchRequest
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render.errors import cause_of
from searx_mcp.server.rest.foreign import (
    AlwaysOn,
    Foreign,
    NotOffered,
    language_in,
    page_timeout,
    read,
    read_page,
    status_for,
    to_fetch,
    to_search,
    warning_of,
)
from searx_mcp.server.rest.operation import Body, Call, Operation, body_of, run_search
from searx_mcp.settings.tools import Tool


class _Answer(Frozen):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class FirecrawlMetadata(_Answer):
    """What is known about a page.

    Attributes:
        source_url: address as requested.
        url: address after redirects.
        status_code: HTTP status of the page.
        cache_state: `hit` for a kept copy, otherwise `miss`.
        cached_at: when a kept copy was read.
        title, description, language, content_type, published_time, modified_time, og_site_name: as the page states.
    """

    source_url: Annotated[str, Field(alias="sourceURL")]
    url: str
    status_code: int
    content_type: str | None = None
    title: str | None = None
    description: str | None = None
    language: str | None = None
    published_time: str | None = None
    modified_time: str | None = None
    og_site_name: str | None = None
    cache_state: Literal["hit", "miss"] | None = None
    cached_at: str | None = None


class FirecrawlDocument(_Answer):
    """A page in the requested formats.

    Attributes:
        markdown: the page as Markdown.
        links: addresses of its links.
        images: addresses of its images.
        summary: sentences of the page.
        warning: what is missing.
        metadata: facts about the page.
    """

    markdown: str | None = None
    links: tuple[str, ...] | None = None
    images: tuple[str, ...] | None = None
    summary: str | None = None
    warning: str | None = None
    metadata: FirecrawlMetadata


class FirecrawlScraped(_Answer):
    """The answer to a scrape.

    Attributes:
        success: always true.
        data: the page.
    """

    success: Literal[True] = True
    data: FirecrawlDocument


class FirecrawlResult(_Answer):
    """A result.

    Attributes:
        title: plain text.
        url: address of the page.
        position: its place, from 1.
        description: excerpt of the page, from a search engine.
        snippet: the same, for news.
        date: ISO 8601 as far as known, for news.
        image_url: address of the image, for images.
        markdown: the page as Markdown, if requested and read.
        summary: sentences of the page, if requested and read.
    """

    title: str
    url: str
    position: int
    description: str | None = None
    snippet: str | None = None
    date: str | None = None
    image_url: str | None = None
    markdown: str | None = None
    summary: str | None = None


class FirecrawlFoundV1(_Answer):
    """The answer to a search.

    Attributes:
        success: always true.
        data: results, best first.
        warning: what is missing.
    """

    success: Literal[True] = True
    data: tuple[FirecrawlResult, ...]
    warning: str | None = None


class FirecrawlSources(_Answer):
    """Results by source, best first; only the requested source.

    Attributes:
        web, news, images: results of this source.
    """

    web: tuple[FirecrawlResult, ...] | None = None
    news: tuple[FirecrawlResult, ...] | None = None
    images: tuple[FirecrawlResult, ...] | None = None


class FirecrawlFound(_Answer):
    """The answer to a search.

    Attributes:
        success: always true.
        data: the results.
        warning: what is missing.
    """

    success: Literal[True] = True
    data: FirecrawlSources
    warning: str | None = None


class FirecrawlError(_Answer):
    """The body of an error.

    Attributes:
        success: always false.
        error: what went wrong, in a sentence.
        code: Firecrawl's code, if it has one for this error.
    """

    success: Literal[False] = False
    error: str
    code: str | None = None


_RESULTS: Final = 5
_MILLI: Final = 1_000
_MOST_MILLISECONDS: Final = 300_000
_SECONDS_BELOW: Final = 1_000
"""Below this, a timeout is in seconds: Open WebUI allows three per result."""
_LEFT_OUT: Final = frozenset({"html", "rawHtml"})
"""Formats that are never filled; clients request them in addition to Markdown."""
_CODES: Final = {
    ErrorCode.DNS_ERROR: "SCRAPE_DNS_RESOLUTION_ERROR",
    ErrorCode.TLS_ERROR: "SCRAPE_SSL_ERROR",
    ErrorCode.TIMEOUT: "SCRAPE_TIMEOUT",
    ErrorCode.DEADLINE_EXCEEDED: "SCRAPE_TIMEOUT",
}
"""Firecrawl's codes with the same meaning as ours."""

EmptyList = Annotated[tuple[str, ...], Field(max_length=0)] | None
"""A list that must be empty."""
_Milliseconds = Annotated[StrictInt, Field(ge=1, le=_MOST_MILLISECONDS)] | None


def _type_of(value: object) -> object:
    """Return the name of a format or a source, which may be inside an object."""
    if isinstance(value, dict) and value.keys() == {"type"}:
        return value["type"]
    return value


def _require_filled(formats: tuple[str, ...]) -> tuple[str, ...]:
    if formats and _LEFT_OUT.issuperset(formats):
        raise ValueError("must have one besides html and rawHtml")
    return formats


Format = Annotated[
    Literal["markdown", "links", "images", "summary", "html", "rawHtml"], BeforeValidator(_type_of)
]
ResultFormat = Annotated[
    Literal["markdown", "summary", "html", "rawHtml"], BeforeValidator(_type_of)
]
_FILLED: Final[dict[str, Any]] = {
    "allOf": [{"anyOf": [{"maxItems": 0}, {"contains": {"not": {"enum": sorted(_LEFT_OUT)}}}]}]
}
"""The schema of the check in `_require_filled`."""
Source = Annotated[Literal["web", "news", "images"], BeforeValidator(_type_of)]
Parser = Annotated[Literal["pdf"], BeforeValidator(_type_of)]


class _Arguments(Foreign):
    model_config = ConfigDict(alias_generator=to_camel)


class _Options(_Arguments):
    max_age: Annotated[StrictInt, Field(ge=0)] | None = None
    timeout: _Milliseconds = None
    block_ads: StrictBool | None = None
    fast_mode: StrictBool | None = None
    proxy: Literal["basic", "auto"] | None = None
    integration: str | None = None
    origin: str | None = None
    only_main_content: AlwaysOn = None
    remove_base64_images: AlwaysOn = Field(default=None, alias="removeBase64Images")
    store_in_cache: AlwaysOn = None
    parse_pdf: AlwaysOn = Field(default=None, alias="parsePDF")
    parsers: tuple[Parser, ...] | None = None
    include_tags: EmptyList = None
    exclude_tags: EmptyList = None
    actions: EmptyList = None
    headers: Annotated[dict[str, str], Field(max_length=0)] | None = None
    wait_for: Annotated[StrictInt, Field(ge=0, le=0)] | None = None
    mobile: NotOffered = None
    skip_tls_verification: NotOffered = None
    zero_data_retention: NotOffered = None


class FirecrawlOptions(_Options):
    """How to return the page of a result.

    Attributes:
        formats: formats to return; html and rawHtml are left out and need another one beside them.
        max_age, timeout, block_ads, fast_mode, proxy, integration, origin: ignored.
        only_main_content, remove_base64_images, store_in_cache, parse_pdf, parsers: always as by default.
        include_tags, exclude_tags, actions, headers, wait_for, mobile, skip_tls_verification,
            zero_data_retention: not offered.
    """

    formats: Annotated[tuple[ResultFormat, ...], AfterValidator(_require_filled)] | None = Field(
        default=None, json_schema_extra=_FILLED
    )


class FirecrawlScrape(_Options):
    """A page to read.

    Attributes:
        url: address of the page.
        formats: formats to return; html and rawHtml are left out and need another one beside them.
        max_age: maximum age of a stored copy in milliseconds; 0 reads the page again.
        timeout: milliseconds that the page may take.
        block_ads, fast_mode, proxy, integration, origin: ignored.
        only_main_content, remove_base64_images, store_in_cache, parse_pdf, parsers: always as by default.
        include_tags, exclude_tags, actions, headers, wait_for, mobile, skip_tls_verification,
            zero_data_retention: not offered.
    """

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL_LENGTH)]
    formats: Annotated[tuple[Format, ...], Field(min_length=1), AfterValidator(_require_filled)] = (
        Field(default=("markdown",), json_schema_extra=_FILLED)
    )


class _Search(_Arguments):
    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)]
    limit: Annotated[StrictInt, Field(ge=1, le=MAX_RESULTS)] | None = None
    tbs: str | None = None
    country: str | None = None
    timeout: _Milliseconds = None
    scrape_options: FirecrawlOptions | None = None
    ignore_invalid_urls: StrictBool | None = Field(default=None, alias="ignoreInvalidURLs")
    integration: str | None = None
    origin: str | None = None


class FirecrawlSearchV1(_Search):
    """What to search for.

    Attributes:
        query: what to search for.
        limit: number of results.
        tbs: how old results may be, such as qdr:w.
        lang: language of the results.
        country: country from which results are wanted, with `lang`.
        timeout: milliseconds that the search may take; seconds below 1,000.
        scrape_options: what is wanted of the page of each result; without formats, nothing.
        ignore_invalid_urls, integration, origin: ignored.
    """

    lang: str | None = None


class FirecrawlSearch(_Search):
    """What to search for.

    Attributes:
        query: what to search for.
        limit: number of results.
        sources: one of web, news and images.
        tbs: how old results may be, such as qdr:w.
        country: country from which results are wanted.
        include_domains: only these and their subdomains.
        exclude_domains: not these and their subdomains.
        timeout: milliseconds that the search may take; seconds below 1,000.
        scrape_options: what is wanted of the page of each result; without formats, nothing.
        ignore_invalid_urls, integration, origin: ignored.
        categories, highlights: not offered.
    """

    sources: Annotated[tuple[Source, ...], Field(min_length=1, max_length=1)] | None = None
    include_domains: Annotated[tuple[str, ...], Field(max_length=50)] | None = None
    exclude_domains: Annotated[tuple[str, ...], Field(max_length=50)] | None = None
    categories: EmptyList = None
    highlights: NotOffered = None


_CATEGORIES: Final = {"web": Category.GENERAL, "news": Category.NEWS, "images": Category.IMAGES}
"""The category of each source."""
_PAGE_FIELDS: Final = {
    "title": "title",
    "description": "description",
    "language": "language",
    "published_time": "published",
    "modified_time": "modified",
    "og_site_name": "site",
    "content_type": "content_type",
}
"""Fields of the metadata, each with the corresponding field of a page."""
_SEARCHES: Final = {"query": "query", "limit": "results_count", "tbs": "time_range"}
_SEARCHES_V1: Final = _SEARCHES | {"lang": "language"}
_SEARCHES_V2: Final = _SEARCHES | {
    "include_domains": "allowed_domains",
    "exclude_domains": "blocked_domains",
}


async def scrape(call: Call) -> Body:
    """Read a page."""
    arguments = read(FirecrawlScrape, call.arguments)
    extra: dict[str, Any] = {"force_refresh": True} if arguments.max_age == 0 else {}
    if arguments.timeout is not None:
        extra["timeout"] = page_timeout(arguments.timeout / _MILLI)
    request = to_fetch(arguments, {"url": "url"}, extra)
    max_age = arguments.max_age / _MILLI if arguments.max_age else None
    page = await read_page(call, request, max_age)
    return body_of(FirecrawlScraped(data=_document(page, arguments.formats)))


def _document(page: Page, formats: Sequence[str]) -> FirecrawlDocument:
    wanted = {*formats} - _LEFT_OUT
    known = {name: getattr(page, field) or None for name, field in _PAGE_FIELDS.items()}
    notes = (_missing_warning(formats), warning_of(page))
    return FirecrawlDocument(
        markdown=page.markdown_content if "markdown" in wanted else None,
        links=tuple(each.url for each in page.links) if "links" in wanted else None,
        images=tuple(each.url for each in page.images) if "images" in wanted else None,
        summary=page.summary if "summary" in wanted else None,
        warning=" ".join(filter(None, notes)) or None,
        metadata=FirecrawlMetadata(
            source_url=page.url,
            url=page.final_url,
            status_code=page.status_code,
            cache_state="hit" if page.from_cache else "miss",
            cached_at=page.fetched_at if page.from_cache else None,
            **known,
        ),
    )


async def search_v1(call: Call) -> Body:
    """Search, as in the first version."""
    arguments = read(FirecrawlSearchV1, call.arguments)
    found = await run_search(call, _request(arguments, call, _SEARCHES_V1, arguments.lang))
    return body_of(
        FirecrawlFoundV1(
            data=tuple(_results(found, arguments, "web")),
            warning=_missing_warning(_formats(arguments)),
        )
    )


async def search(call: Call) -> Body:
    """Search one source."""
    arguments = read(FirecrawlSearch, call.arguments)
    source = arguments.sources[0] if arguments.sources else "web"
    category = {"category": _CATEGORIES[source]}
    found = await run_search(call, _request(arguments, call, _SEARCHES_V2, None, **category))
    results = {source: tuple(_results(found, arguments, source))}
    return body_of(
        FirecrawlFound(
            data=FirecrawlSources(**results), warning=_missing_warning(_formats(arguments))
        )
    )


def _request(
    arguments: _Search, call: Call, names: Mapping[str, str], language: str | None, **extra: object
) -> SearchRequest:
    defaults = call.backend.settings.search_defaults()
    values: dict[str, Any] = {"fetch_content": bool(_formats(arguments)), **extra}
    if arguments.country:
        values["language"] = language_in(arguments.country, language or defaults.language)
    if arguments.timeout is not None:
        is_short = arguments.timeout < _SECONDS_BELOW
        values["timeout"] = page_timeout(arguments.timeout / (1 if is_short else _MILLI))
    count = min(_RESULTS, defaults.max_results)
    return to_search(arguments, names, values, replace(defaults, results_count=count))


def _results(found: SearchResponse, arguments: _Search, source: str) -> Iterator[FirecrawlResult]:
    wanted = _formats(arguments)
    for place, each in enumerate(found.results, 1):
        page = each.content
        yield FirecrawlResult(
            title=each.title,
            url=each.url,
            position=place,
            markdown=page.markdown if page and "markdown" in wanted else None,
            summary=page.summary if page and "summary" in wanted else None,
            **_source_fields(each, source),
        )


def _source_fields(result: SearchResult, source: str) -> dict[str, Any]:
    """Return the fields of a result of one source."""
    match source:
        case "news":
            return {"snippet": result.description, "date": result.published_at}
        case "images":
            return {"image_url": result.image.url if result.image else result.thumbnail}
        case _:
            return {"description": result.description}


def _formats(arguments: _Search) -> Sequence[str]:
    """Return the formats requested for the page of each result."""
    options = arguments.scrape_options
    return (options.formats or ()) if options else ()


def _missing_warning(formats: Sequence[str]) -> str | None:
    """Say in one sentence what is omitted."""
    missing = [name for name in formats if name in _LEFT_OUT]
    return f"Not offered here, and left out: {', '.join(missing)}." if missing else None


def error_response(error: SearxMcpError) -> tuple[int, Mapping[str, Any]]:
    """Return Firecrawl's status and body for an error."""
    status = status_for(error)
    body: dict[str, Any] = {"success": False, "error": cause_of(error)}
    if code := _CODES.get(error.code):
        body["code"] = code
    return status, body


def _operations(prefix: str, version: str) -> Sequence[Operation]:
    """Return the operations of a version, below a prefix or at the root."""
    name = f"firecrawl_{version}" if prefix else version
    is_first = version == "v1"
    return (
        Operation(
            name=f"{name}_scrape",
            method="POST",
            path=f"{prefix}/{version}/scrape",
            summary="Read a page like Firecrawl.",
            request=FirecrawlScrape,
            responses=(FirecrawlScraped,),
            statuses=(400, 422, 424, 500, 504),
            perform=scrape,
            tool=Tool.WEB_FETCH,
            error=FirecrawlError,
            error_response=error_response,
        ),
        Operation(
            name=f"{name}_search",
            method="POST",
            path=f"{prefix}/{version}/search",
            summary="Search like Firecrawl.",
            request=FirecrawlSearchV1 if is_first else FirecrawlSearch,
            responses=(FirecrawlFoundV1 if is_first else FirecrawlFound,),
            statuses=(400, 500, 503, 504),
            perform=search_v1 if is_first else search,
            tool=Tool.WEB_SEARCH,
            error=FirecrawlError,
            error_response=error_response,
        ),
    )


OPERATIONS: Final = (
    *_operations("/firecrawl", "v1"),
    *_operations("/firecrawl", "v2"),
    *_operations("", "v2"),
)

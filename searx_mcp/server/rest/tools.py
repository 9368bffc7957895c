"""The two routes under `/v1/tools`, for clients of another project, which specifies their bodies."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import Field

from searx_mcp.arguments import SearchDefaults, parse_fetch, parse_search
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import CURSOR_PATTERN, MAX_CHARS, FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.request import MAX_QUERY_LENGTH, SearchRequest
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.models.spelling import shown
from searx_mcp.server.rest.foreign import DEFAULT_CHARS
from searx_mcp.server.rest.operation import Body, Call, body_of, run_search, run_verb
from searx_mcp.verbs.web import WEB_FETCH

Recency: TypeAlias = Literal["oneDay", "oneWeek", "oneMonth", "oneYear", "noLimit"]
_MOST_RESULTS: Final = 25
_RESULTS: Final = 10


class WebSearchBody(Frozen):
    """The body of a call of `/v1/tools/web_search`.

    Attributes:
        query: what to search for.
        max_results: number of results wanted.
        recency: how old results may be.
        allowed_domains: only these and their subdomains.
        blocked_domains: not these and their subdomains.
        search_prompt: what the caller wants to know; never leaves the server.
    """

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)]
    max_results: Annotated[int, Field(ge=1, le=_MOST_RESULTS)] = _RESULTS
    recency: Recency = "noLimit"
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    search_prompt: Annotated[str, Field(max_length=2_000)] = ""


class FoundPage(Frozen):
    """A result of `/v1/tools/web_search`; unknown fields are left out.

    Attributes:
        url: address of the page.
        title: plain text.
        snippet: excerpt of the page, from a search engine.
        published_at: ISO 8601 as far as known.
    """

    url: str
    title: str | None = None
    snippet: str | None = None
    published_at: str | None = None


class WebSearchAnswer(Frozen):
    """The answer of `/v1/tools/web_search`.

    Attributes:
        results: best first.
        count: number of results.
    """

    results: tuple[FoundPage, ...]
    count: int


class WebFetchBody(Frozen):
    """The body of a call of `/v1/tools/web_fetch`; `url` or `cursor` is required.

    Attributes:
        url: the public http or https address.
        cursor: the cursor of an earlier answer, to read on without fetching.
        prompt: what the caller wants to know; selects passages of a long page.
        max_chars: most characters returned.
        offset: characters to skip.
        limit: characters returned, instead of `max_chars`.
    """

    url: str = ""
    cursor: Annotated[str, Field(pattern=CURSOR_PATTERN)] = ""
    prompt: Annotated[str, Field(max_length=2_000)] = ""
    max_chars: Annotated[int, Field(ge=1, le=MAX_CHARS)] = DEFAULT_CHARS
    offset: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int | None, Field(ge=1, le=MAX_CHARS)] = None


class WebFetchAnswer(Frozen):
    """The answer of `/v1/tools/web_fetch`.

    Attributes:
        content: the page as Markdown, or a part of it.
        status: HTTP status of the page.
        content_type: media type of the page.
        truncated: whether the page has more text.
        cursor: identifies the page in further calls; left out at the end of the page.
    """

    content: str
    status: int
    content_type: str
    truncated: bool
    cursor: str | None = None


async def web_search(call: Call) -> Body:
    """Search, without reading the pages."""
    request = _search_request(call.arguments, call.backend.settings.search_defaults())
    return body_of(_search_answer(await run_search(call, request)))


async def web_fetch(call: Call) -> Body:
    """Read a page."""
    return body_of(_fetch_answer(await run_verb(WEB_FETCH, _fetch_request(call.arguments), call)))


def _search_request(raw: Mapping[str, Any], defaults: SearchDefaults) -> SearchRequest:
    _refuse_unknown(raw, WebSearchBody.model_fields, one_text="query")
    most = min(_MOST_RESULTS, defaults.max_results)
    defaults = replace(defaults, results_count=min(_RESULTS, most), max_results=most)
    try:
        return parse_search({**raw, "fetch_content": False}, defaults=defaults)
    except InvalidArgumentError as error:
        known = ", ".join(get_args(Recency))  # the MCP tools have shorter names for these
        reason = f"{shown(raw.get('recency'))} is not one of {known}"
        raise InvalidArgumentError.of(
            [
                InvalidArgumentError(name, reason if name == "recency" else message)
                for name, message in error.problems
            ]
        ) from None


def _fetch_request(raw: Mapping[str, Any]) -> FetchRequest:
    _refuse_unknown(raw, WebFetchBody.model_fields, one_text="url")
    request = parse_fetch(raw)
    return request.model_copy(update={"max_chars": request.max_chars or DEFAULT_CHARS})


def _refuse_unknown(raw: Mapping[str, Any], known: Collection[str], *, one_text: str) -> None:
    """Refuse arguments that the MCP tools accept but the specification does not have."""
    wrong = [
        InvalidArgumentError(shown(name)[1:-1], f"is unknown; known: {', '.join(known)}")
        for name in raw
        if name not in known
    ]
    if isinstance(raw.get(one_text), list):
        wrong.append(InvalidArgumentError(one_text, "must be a single string"))
    if wrong:
        raise InvalidArgumentError.of(wrong)


def _search_answer(response: SearchResponse) -> WebSearchAnswer:
    found = tuple(map(_found, response.results))
    return WebSearchAnswer(results=found, count=len(found))


def _found(result: SearchResult) -> FoundPage:
    return FoundPage(
        url=result.url,
        title=result.title or None,
        snippet=result.description or None,
        published_at=result.published_at or None,
    )


def _fetch_answer(page: Page) -> WebFetchAnswer:
    is_more = page.next_offset is not None
    return WebFetchAnswer(
        content=page.markdown_content,
        status=page.status_code,
        content_type=page.content_type,
        truncated=page.truncated,
        cursor=(page.cursor or None) if is_more else None,
    )

"""The two routes that every service has, as another project specifies them, used in place of our own.

Arguments that these routes do not support are listed in the answer's notes.
"""

import re
import secrets
from base64 import b32encode
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.errors import ContentError, CursorError, ErrorCode, FetchError, SiteError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest, TimeRange
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.remote import errors
from searx_mcp.urls.url import parse_url

SEARCH_PATH: Final = "v1/tools/web_search"
FETCH_PATH: Final = "v1/tools/web_fetch"

_MAX_RESULTS: Final = 25
_WEB: Final = re.compile(r"https?://[^\s<>]{1,4096}", re.IGNORECASE)
_MAX_CURSORS: Final = 256
_CURSOR_BYTES: Final = 10
_MIN_ERROR_STATUS: Final = 400
_RECENCY: Final = {
    TimeRange.ANY: "noLimit",
    TimeRange.DAY: "oneDay",
    TimeRange.WEEK: "oneWeek",
    TimeRange.MONTH: "oneMonth",
    TimeRange.YEAR: "oneYear",
}
_HANDLED_IN_SEARCH: Final = frozenset(
    {"query", "queries", "results_count", "time_range", "allowed_domains", "blocked_domains"}
    | {"search_prompt", "fetch_content", "timeout", "max_tokens", "offset", "for_model"}
)
_HANDLED_IN_FETCH: Final = frozenset(
    {"url", "cursor", "offset", "limit", "max_chars", "prompt", "timeout", "further_urls"}
    | {"by_person", "for_model"}
)
"""Fields of a request that are not lost: they are sent, handled here, or of no use to a service."""


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


class _Row(_Body):
    url: str = Field(max_length=100_000)
    title: str | None = None
    snippet: str | None = None
    published_at: str | None = None


class _Found(_Body):
    results: tuple[_Row, ...]


class _Fetched(_Body):
    content: str
    status: int = 200
    content_type: str = ""
    truncated: bool = False
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class CursorTarget:
    """The meaning of one of our cursors.

    Attributes:
        url: URL of the page.
        prompt: prompt of the call.
        cursor: cursor of the service; empty if it gave none.
    """

    url: str
    prompt: str
    cursor: str


class Cursors:
    """Maps our cursors to a service's, which may have any form; the oldest are dropped."""

    def __init__(self) -> None:
        self._targets: OrderedDict[str, CursorTarget] = OrderedDict()

    def cursor_of(self, target: CursorTarget) -> str:
        """Return the cursor of a target, a new one if it has none."""
        for known, other in self._targets.items():
            if other == target:
                return known
        cursor = b32encode(secrets.token_bytes(_CURSOR_BYTES)).decode().lower()
        self._targets[cursor] = target
        while len(self._targets) > _MAX_CURSORS:
            self._targets.popitem(last=False)
        return cursor

    def target_of(self, cursor: str) -> CursorTarget:
        """Return the meaning of a cursor.

        Raises:
            CursorError: it is unknown or was dropped.
        """
        if cursor not in self._targets:
            raise CursorError(
                "The cursor is unknown or has expired.",
                code=ErrorCode.CURSOR_EXPIRED,
            )
        return self._targets[cursor]


def search_body(request: SearchRequest) -> dict[str, object]:
    """Build the body of a search; results before `offset` are requested too, and removed here."""
    body: dict[str, object] = {
        "query": request.query,
        "max_results": min(request.offset + request.results_count, _MAX_RESULTS),
        "recency": _RECENCY[request.time_range],
    }
    if request.allowed_domains:
        body["allowed_domains"] = list(request.allowed_domains)
    if request.blocked_domains:
        body["blocked_domains"] = list(request.blocked_domains)
    if request.search_prompt:
        body["search_prompt"] = request.search_prompt
    return body


def search_response(
    data: Mapping[str, Any], request: SearchRequest, *, service: str, elapsed_ms: int
) -> SearchResponse:
    """Parse the results.

    Raises:
        SearxMcpError: the response has another form.
    """
    try:
        found = _Found.model_validate(data)
    except ValidationError:
        raise errors.unreadable("is not that of a search") from None
    rows = [row for row in found.results[:_MAX_RESULTS] if _WEB.fullmatch(row.url)]
    wanted = rows[request.offset : request.offset + request.results_count]
    end = request.offset + request.results_count
    is_more = (
        len(wanted) == request.results_count and end < _MAX_RESULTS
    )  # possibly; the answer does not say
    results = tuple(
        SearchResult(
            title=clean_line(row.title or row.url, 1_000),
            url=row.url,
            description=clean_line(row.snippet or "", 4_000),
            score=round(1 - rank / len(wanted), 3),
            published_at=clean_line(row.published_at or "", 60) or None,
        )
        for rank, row in enumerate(wanted)
    )
    return SearchResponse(
        query=request.query,
        category=request.category,
        language=request.language,
        safe_search=request.safe_search,
        time_range=request.time_range,
        fetch_content=False,
        results_count=len(results),
        search_time_ms=elapsed_ms,
        instance_used=service,
        results=results,
        total_results=len(results),
        next_offset=end if is_more else None,
        engines_used=(),
        notes=_search_notes(request),
    )


def fetch_body(
    request: FetchRequest, place: CursorTarget, most: int, *, usual: int
) -> tuple[dict[str, object], int]:
    """Build the body for a page; also return how many leading characters of the answer to skip.

    Args:
        request: of a caller.
        place: the meaning of its URL or cursor.
        most: maximum characters wanted.
        usual: minimum characters to request, so that the length of most pages is known.

    Raises:
        InvalidArgumentError: the URL is malformed, too long, or carries credentials.
        PolicyError: it is neither http nor https.
    """
    if place.cursor:
        return {"cursor": place.cursor, "offset": request.offset, "limit": most}, 0
    parse_url(place.url)
    body: dict[str, object] = {"url": place.url, "max_chars": max(request.offset + most, usual)}
    if prompt := request.prompt or place.prompt:
        body["prompt"] = prompt
    return body, request.offset


def page(
    data: Mapping[str, Any],
    request: FetchRequest,
    place: CursorTarget,
    *,
    skipped: int,
    most: int,
    cursors: Cursors,
    elapsed_ms: int,
) -> Page:
    """Parse a page, or a part of one.

    Raises:
        FetchError: the service could not read it.
        SearxMcpError: the response has another form.
    """
    try:
        fetched = _Fetched.model_validate(data)
    except ValidationError:
        raise errors.unreadable("is not a page") from None
    if not fetched.content.strip() or fetched.status >= _MIN_ERROR_STATUS:
        raise _failed(fetched, place.url, errors.explanation_of(data))
    text = clean(fetched.content)
    shown = text[skipped : skipped + most]
    end = request.offset + len(shown)
    is_more = fetched.truncated or len(text) > skipped + most
    target = CursorTarget(place.url, request.prompt or place.prompt, fetched.cursor or place.cursor)
    return Page(
        url=place.url,
        final_url=place.url,
        content_type=clean_line(fetched.content_type.partition(";")[0].lower(), 100),
        content_length=len(fetched.content.encode("utf-8", "replace")),
        status_code=fetched.status,
        response_time_ms=elapsed_ms,
        markdown_content=shown,
        word_count=len(shown.split()),
        truncated=is_more,
        cursor=cursors.cursor_of(target),
        offset=request.offset,
        next_offset=end if is_more and shown else None,
        total_chars=max(end, request.offset + len(text) - skipped),
        tier="remote",
        notes=_unsupported_notes(request, _HANDLED_IN_FETCH),
    )


def _failed(fetched: _Fetched, url: str, said: str) -> FetchError:
    kind: type[FetchError] = SiteError if fetched.status >= _MIN_ERROR_STATUS else ContentError
    code = ErrorCode.EXTRACTION_FAILED
    if fetched.status >= _MIN_ERROR_STATUS:
        is_missing = fetched.status in {404, 410}
        code = ErrorCode.NOT_FOUND if is_missing else ErrorCode.HTTP_ERROR
    return kind(
        "Failed to fetch URL content after all fallback tiers",
        code=code,
        url=url,
        status_code=fetched.status,
        quoted=said,
    )


def _search_notes(request: SearchRequest) -> tuple[str, ...]:
    notes = list(_unsupported_notes(request, _HANDLED_IN_SEARCH))
    if request.fetch_content:
        notes.append("The remote service does not read result pages.")
    if request.offset + request.results_count > _MAX_RESULTS:
        notes.append(f"The remote service returns at most {_MAX_RESULTS} results.")
    return tuple(notes)


def _unsupported_notes(request: Frozen, handled: frozenset[str]) -> tuple[str, ...]:
    """Return the names of given arguments that the body does not support."""
    fields = type(request).model_fields
    names = [
        name
        for name, field in fields.items()
        if name not in handled and getattr(request, name) != field.default
    ]
    if not names:
        return ()
    return (
        f"The remote service does not support these arguments, so they were left out: {', '.join(names)}.",
    )

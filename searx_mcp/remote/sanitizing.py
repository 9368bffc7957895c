"""Removes a service's own words from the fields of its responses that our fronts vouch for.

Notes, reasons and the names of kinds are outside the fence, since this program writes them. Those of a
service are untrusted: known values are kept, echoes of the call are taken from the call, and sentences become
`quoted_notes`.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar, cast

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.errors import ErrorCode
from searx_mcp.evidence.requests import (
    AnswerRequest,
    CorpusSearchRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.evidence.values import (
    PROTECTED,
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    PartVerdict,
    ReadResponse,
)
from searx_mcp.models.base import Frozen
from searx_mcp.models.credentials import base_url
from searx_mcp.models.fetch_request import CURSOR_PATTERN, FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import (
    BatchedSearch,
    PageContent,
    SearchBatch,
    SearchFailure,
    SearchResponse,
    SearchResult,
)
from searx_mcp.remote import errors

ResponseT = TypeVar("ResponseT", bound=Frozen)

_MAX_NOTES: Final = 8
_NOTE_CHARS: Final = 400
_STALE: Final = "The remote service's answer has outlived its cache."
_WORKING: Final = "the remote service is at work"
_PROGRESS: Final = re.compile(
    "|".join(
        re.escape(shape).replace("N", "[0-9,]{1,9}")
        for shape in (
            "reading N page",
            "reading N pages",
            "read N of N pages",
            "Analyzing query \u2014 decomposed into N sub-queries",
            "Searching the web...",
            "Searching N documents...",
            "Reranking N chunks...",
            "Expanding to linked pages (iteration N/N)...",
            "Grabbing adjacent context...",
            "Assembling results (N chunks, N tokens)...",
        )
    )
)
"""Progress messages of our services that contain no address, with a number for each N."""
_TIME: Final = re.compile(r"[0-9T:.+Z-]{0,40}")
_OPEN: Final = "open sources"
_TIERS: Final = frozenset(
    {"native", "browser", "npm", "github", "gitlab", "codeberg", "huggingface"}
)
_ROBOTS: Final = frozenset({"allowed", "absent", "ignored"})
_ORIGINS: Final = frozenset({"search", "link", "person", "unknown"})


def progress_of(message: str) -> str:
    """Return a message whose only variable parts are numbers; any other is replaced by our words."""
    return message if _PROGRESS.fullmatch(message) else _WORKING


def clean_texts(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Remove invisible characters from all texts, as this program does when it fetches pages itself."""
    match value:
        case str():
            return value if value.isascii() and value.isprintable() else clean(value)
        case list():
            return [clean_texts(item) for item in value]
        case dict():
            return {name: clean_texts(item) for name, item in value.items()}
        case _:
            return value


def sanitize(response: ResponseT, request: Frozen | None) -> ResponseT:
    """Return a response without the service's words in fields that the fronts show as ours.

    Args:
        response: response of the service.
        request: request that it belongs to; `None` for a report.

    Raises:
        SearxMcpError: the response belongs to another call.
    """
    given: Frozen = response
    match response, request:
        case SearchResponse(), SearchRequest():
            given = _search(response, request)
        case SearchBatch(), SearchRequest():
            given = _batch(response, request)
        case Page(), FetchRequest():
            given = _page(response, request)
        case ReadResponse(), ReadRequest():
            given = _read(response, request)
        case EvidenceResponse(), AnswerRequest() | CorpusSearchRequest():
            given = _evidence(response, request.query)
        case CorpusStatus(), StatusRequest():
            update = {
                "source_url": response.source_url and request.source_url,
                "embedding": "a model of the remote service" if response.embedding else "",
            }
            given = response.model_copy(update=update)
        case IngestResponse(), _:
            pages = [
                page.model_copy(update={"error_type": _code(page.error_type)})
                for page in response.pages
            ]
            given = response.model_copy(update={"pages": tuple(pages)})
        case PoolReport(), None:
            given = response  # written as data, each text neutralised
        case _:
            raise errors.unreadable("does not fit this call")
    return cast("ResponseT", given)


def _search(response: SearchResponse, request: SearchRequest) -> SearchResponse:
    return response.model_copy(
        update={
            "query": request.query,
            "category": request.category,
            "language": request.language,
            "instance_used": _address(response.instance_used),
            "results": tuple(map(_result, response.results)),
            "notes": (_STALE,) if response.stale else (),
            "quoted_notes": _quoted((*response.notes, *response.quoted_notes)),
        }
    )


def _result(result: SearchResult) -> SearchResult:
    content: PageContent | None = result.content
    if content is not None:
        content = content.model_copy(update={"cursor": _cursor(content.cursor)})
    return result.model_copy(update={"content": content, "error_type": _code(result.error_type)})


def _batch(batch: SearchBatch, request: SearchRequest) -> SearchBatch:
    if len(batch.queries) != len(request.searches):
        raise errors.unreadable("does not fit this call")
    return SearchBatch(
        queries=tuple(
            _searched(*pair) for pair in zip(batch.queries, request.searches, strict=True)
        )
    )


def _searched(each: BatchedSearch, request: SearchRequest) -> BatchedSearch:
    failure: SearchFailure | None = each.error
    if failure is not None:
        code = _code(failure.error_type)
        failure = SearchFailure(
            error_type=code,
            error_details=f"{errors.sentence(code)}.",
            retry_after=failure.retry_after,
            quoted=_sentence(failure.error_details, failure.quoted),
        )
    result = None if each.result is None else _search(each.result, request)
    return each.model_copy(update={"query": request.query, "result": result, "error": failure})


def _page(page: Page, request: FetchRequest) -> Page:
    return page.model_copy(
        update={
            "url": request.url or _origin(page.url),
            "cursor": _cursor(page.cursor),
            "tier": _known(page.tier, _TIERS),
            "robots": _known(page.robots, _ROBOTS),
            "provenance": _known(page.provenance, _ORIGINS),
            "fetched_at": _time(page.fetched_at),
            "notes": (),
            "quoted_notes": _quoted((*page.notes, *page.quoted_notes)),
        }
    )


def _read(response: ReadResponse, request: ReadRequest) -> ReadResponse:
    if len(response.queries) != len(request.questions):
        raise errors.unreadable("does not fit this call")
    is_known = response.note in {"", PROTECTED}
    return response.model_copy(
        update={
            "url": request.url,
            "queries": tuple(
                each.model_copy(update={"query": question})
                for each, question in zip(response.queries, request.questions, strict=True)
            ),
            "last_crawled": _time(response.last_crawled),
            "note": response.note if is_known else "",
            "quoted_note": _sentence("" if is_known else response.note, response.quoted_note),
        }
    )


def _evidence(response: EvidenceResponse, query: str) -> EvidenceResponse:
    stopped = response.stats.stop_reason
    notes = (*response.notes, *response.quoted_notes, *([f"stopped: {stopped}"] if stopped else []))
    return response.model_copy(
        update={
            "query": query,
            "parts": tuple(_part(part, query) for part in response.parts),
            "stats": response.stats.model_copy(update={"stop_reason": ""}),
            "notes": (),
            "quoted_notes": _quoted(notes),
        }
    )


def _part(part: PartVerdict, query: str) -> PartVerdict:
    """Return a verdict in the words of the question: others would be outside the fence."""
    is_own = set(re.findall(r"\w+", part.query)) <= set(re.findall(r"\w+", query))
    words = tuple(word for word in part.missing_terms if word in query)
    return part.model_copy(
        update={"query": part.query if is_own else query, "missing_terms": words, "section": ""}
    )


def _quoted(notes: Iterable[str]) -> tuple[str, ...]:
    lines = [clean_line(note[:_NOTE_CHARS], _NOTE_CHARS) for note in [*notes][:_MAX_NOTES]]
    return tuple(filter(None, lines))


def _sentence(*parts: str) -> str:
    return clean_line("; ".join(part[:_NOTE_CHARS] for part in parts if part), _NOTE_CHARS)


def _code(text: str) -> str:
    """Return the code, if we know it; empty only if there is none."""
    return text if text in [*ErrorCode] else text and ErrorCode.INTERNAL.value


def _address(text: str) -> str:
    if text == _OPEN:
        return text
    try:
        return base_url(text)
    except ValueError:
        return ""


def _origin(text: str) -> str:
    """Return scheme and host of a cursor's page, whose address the call does not name."""
    scheme, _, rest = _address(text).partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/" if rest else ""


def _known(text: str, known: frozenset[str]) -> str:
    return text if text in known else ""


def _cursor(text: str) -> str:
    return text if re.fullmatch(CURSOR_PATTERN, text) else ""


def _time(text: str) -> str:
    return text if _TIME.fullmatch(text) else ""

"""The responses to searches, with the field names of the specification, and as two processes of this project exchange them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import (
    Answer,
    Code,
    Fact,
    File,
    Image,
    Infobox,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    UnresponsiveEngine,
    Video,
)
from searx_mcp.models.page import Page, PageKind, Passage
from searx_mcp.models.request import SafeSearch, TimeRange


class Poor(StrEnum):
    """Reasons why a page was read and left out.

    An `EMPTY` page has next to no words, `SPAM` repeats itself, a `PARKED` one sells its domain, an
    `ERROR` page says that something went wrong. The others show only a wall: `LOGIN` and `PAYWALL`
    require an account or money, `SCRIPT` a browser, `CONSENT` a click.
    """

    EMPTY = "empty"
    SPAM = "spam"
    PARKED = "parked"
    ERROR = "error"
    LOGIN = "login"
    PAYWALL = "paywall"
    SCRIPT = "script"
    CONSENT = "consent"


class Coverage(StrEnum):
    """Kinds of index that the results come from."""

    WEB = "web"
    """The indexes of web search engines, through an instance."""
    COLLECTIONS = "collections"
    """Open collections only, such as an encyclopaedia: no web index took part."""
    MIXED = "mixed"
    """Both."""
    SITE = "site"
    """The index that a site publishes of its own pages, and no other."""


class PageContent(Frozen):
    """A result's page as Markdown.

    Attributes:
        markdown: the page's main content.
        word_count: words in the Markdown.
        fetch_time_ms: milliseconds from the request to the Markdown.
        summary: whole sentences, at most `max_summary_length` characters; empty if switched off.
        key_points: up to five sentences of the whole page; none if summaries are switched off.
        kind: the kind of page; `None` if unknown.
        quality: 0 to 1, how much the page says about the query; see `docs/explanation/searching.md`. `None`
            if it was not rated.
        truncated: whether the page has more text than `markdown`.
        cursor: makes `web_fetch` read on; empty if it cannot.
        next_offset: where to read on with `cursor`, in code points; `None` at the end of the page.
        total_chars: code points in the whole page's Markdown; `None` if `markdown` is all of it.
        passages: all of `markdown` in parts, the best match for the query first; none if no word of the
            query tells them apart. Left out when serialized.
        answered: whether a passage supports the query; `None` if that was not judged, as without a token budget.
    """

    markdown: str
    word_count: int
    fetch_time_ms: int
    summary: str = ""
    key_points: tuple[str, ...] = ()
    kind: PageKind | None = None
    quality: float | None = None
    truncated: bool = False
    cursor: str = ""
    next_offset: int | None = None
    total_chars: int | None = None
    passages: SkipJsonSchema[tuple[Passage, ...]] = Field(default=(), exclude=True, repr=False)
    answered: SkipJsonSchema[bool | None] = None


class SearchResult(Frozen):
    """One merged row.

    Attributes:
        title: plain text.
        url: the page.
        description: the longest snippet that any engine returned.
        score: 0 to 1, comparable within one response only: the best row has 1.
        engine: the first of `engines`; empty if not told.
        engines: all engines that found it.
        category: SearXNG's category of the row.
        published_at: ISO 8601 as far as known, or `None`.
        published_text: the time in the instance's words, if they do not contain a date.
        thumbnail: an image URL, or `None`.
        author: empty if unknown.
        image, video, media, torrent, place, paper, package, code, file, product, facts: the fields of
            one kind of row; at most one is set.
        attribution: the credit that the licence requires; empty if none.
        content: the page, if it was read.
        error_type: why the page could not be read, a code from `docs/reference/errors.md`; empty otherwise.
        error_details: the same in a sentence.
        status_code: the HTTP status of that failure, or `None` if there was no answer.
        duplicate_of: the address of an earlier result whose page has the same text; only that one has
            the `content`. Empty otherwise.
    """

    title: str
    url: str
    description: str = ""
    score: float
    engine: str = ""
    engines: tuple[str, ...] = ()
    category: str = ""
    published_at: str | None = None
    published_text: str = ""
    thumbnail: str | None = None
    author: str = ""
    image: Image | None = None
    video: Video | None = None
    media: Media | None = None
    torrent: Torrent | None = None
    place: Place | None = None
    paper: Paper | None = None
    package: Package | None = None
    code: Code | None = None
    file: File | None = None
    product: Product | None = None
    facts: tuple[Fact, ...] | None = None
    attribution: str = ""
    content: PageContent | None = None
    error_type: str = ""
    error_details: str = ""
    status_code: int | None = None
    duplicate_of: str = ""


class DroppedPage(Frozen):
    """A page that was read and left out.

    Attributes:
        url: of the result.
        reason: why.
        result_dropped: whether the result was removed too; otherwise it stays, without content.
    """

    url: str
    reason: Poor
    result_dropped: bool = False


class FetchStats(Frozen):
    """Counts of the result pages that a search read.

    Attributes:
        attempted: pages that it set out to read.
        successful: pages that were read and kept, duplicates included.
        failed: the rest: not read, not read in time, or dropped.
        total_time_ms: wall time.
        duplicates: pages with the same text as an earlier one, which stands for them.
        dropped: pages that were read and left out, with the reason.
    """

    attempted: int = 0
    successful: int = 0
    failed: int = 0
    total_time_ms: int = 0
    duplicates: int = 0
    dropped: tuple[DroppedPage, ...] = ()


class SearchResponse(Frozen):
    """The answer to one search.

    Attributes:
        query: as searched.
        results_count: how many results are here.
        page: the page of the source's list that they start on, from 1; `None` for the first.
        total_results: distinct results found, before the cut to the requested number. SearXNG does not
            estimate the size of the whole web's answer, so neither do we.
        next_offset: the `offset` of a call for the results after these; `None` if there are none.
        search_time_ms: milliseconds of the search phase, without reading pages.
        instance_used: base URL of the instance that answered first, or the address of a keyed provider;
            `open sources` if neither answered.
        coverage: the kind of index that the results come from.
        attribution: the credits that licences of open collections require, one sentence each.
        engines_used: the engines behind the results.
        content_fetch_stats: `None` if no page was requested.
        attempts: every request made for this answer; empty when it came from the cache.
        cached: whether the results came from the response cache.
        stale: whether they have outlived the cache; the first of `notes` then says why.
        age_seconds: age of a cached answer; 0 for a new one.
        notes: sentences the caller should know, such as a limit that was reached.
        quoted_notes: those of a remote service, in its words.
    """

    query: str
    category: str
    language: str
    safe_search: SafeSearch
    time_range: TimeRange
    fetch_content: bool
    results_count: int
    search_time_ms: int
    instance_used: str
    results: tuple[SearchResult, ...]
    total_results: int
    engines_used: tuple[str, ...]
    content_fetch_stats: FetchStats | None = None
    answers: tuple[Answer, ...] = ()
    infoboxes: tuple[Infobox, ...] = ()
    suggestions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    unresponsive_engines: tuple[UnresponsiveEngine, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    cached: bool = False
    stale: bool = False
    age_seconds: int = 0
    page: int | None = None
    next_offset: int | None = None
    coverage: Coverage = Coverage.WEB
    attribution: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    quoted_notes: tuple[str, ...] = ()


class RepeatedHit(Frozen):
    """A result that an earlier search of the same call has already returned.

    Attributes:
        url: of the result.
        search: number of that search, from 1.
        result: number of the result there, from 1.
    """

    url: str
    search: int
    result: int


class SearchFailure(Frozen):
    """Why one of several searches failed.

    Attributes:
        error_type: the code of the error.
        error_details: what went wrong and what to do, in sentences.
        retry_after: whole seconds to wait, if known.
        quoted: what a remote service says of it, in its words; may be empty.
    """

    error_type: str
    error_details: str
    retry_after: int | None = None
    quoted: str = ""


class BatchedSearch(Frozen):
    """One of several searches of a call.

    Attributes:
        query: as asked.
        result: its answer, without the results of earlier searches; `None` if it failed.
        repeated: its results that earlier searches have already returned.
        error: why it failed; `None` if it did not.
    """

    query: str
    result: SearchResponse | None = None
    repeated: tuple[RepeatedHit, ...] = ()
    error: SearchFailure | None = None


class SearchBatch(Frozen):
    """The answers to several searches of one call, in their order."""

    queries: tuple[BatchedSearch, ...]


class RawAnswer(Frozen):
    """A keyed provider's answer to one query, unchanged.

    Attributes:
        query: as asked.
        result: its JSON, or a list if more than one page was requested; `None` if it failed.
        error: why it failed; `None` if it did not.
    """

    query: str
    result: object = None
    error: SearchFailure | None = None


class RawBatch(Frozen):
    """A keyed provider's answers to the queries of one call, in their order."""

    queries: tuple[RawAnswer, ...]


ResponseT = TypeVar("ResponseT", bound=Frozen)

_PASSAGES: Final = "passages"


def dumped(response: Frozen) -> dict[str, Any]:
    """Serialise a response with everything a front shows; of a passage, its position instead of its text."""
    data = response.model_dump(mode="json")
    match response:
        case Page():
            _add_passages(data, response.markdown_content, response.offset, response.passages)
        case SearchResponse():
            _add_to_results(data, response)
        case SearchBatch():
            for row, each in zip(data["queries"], response.queries, strict=True):
                if each.result is not None:
                    _add_to_results(row["result"], each.result)
        case _:
            pass
    return data


def loaded(kind: type[ResponseT], data: Mapping[str, Any]) -> ResponseT:
    """Parse a result of `dumped`, perhaps from a newer version, whose additional fields are ignored.

    Raises:
        ValueError: it is not such a response.
    """
    return kind.model_validate(_restored(dict(data)), extra="ignore")


def _add_to_results(data: dict[str, Any], response: SearchResponse) -> None:
    for row, result in zip(data["results"], response.results, strict=True):
        content: PageContent | None = result.content
        if content is not None:
            _add_passages(row["content"], content.markdown, 0, content.passages)


def _add_passages(
    data: dict[str, Any], markdown: str, offset: int, passages: tuple[Passage, ...]
) -> None:
    if passages:
        data[_PASSAGES] = [_written(each, markdown, offset) for each in passages]


def _written(passage: Passage, markdown: str, offset: int) -> dict[str, Any]:
    begin = passage.offset - offset
    stands_there = begin >= 0 and markdown.startswith(passage.text, begin)
    where = {"length": len(passage.text)} if stands_there else {"text": passage.text}
    return {**passage.model_dump(mode="json", exclude={"text"}), **where}


def _restored(value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case list():
            return [_restored(item) for item in value]
        case dict():
            markdown = value.get("markdown_content", value.get("markdown"))
            begin = value.get("offset", 0)
            found = {name: _restored(item) for name, item in value.items()}
            if isinstance(markdown, str) and isinstance(begin, int) and found.get(_PASSAGES):
                found[_PASSAGES] = [_read(each, markdown, begin) for each in found[_PASSAGES]]
            return found
        case _:
            return value


def _read(row: Any, markdown: str, offset: int) -> Any:  # noqa: ANN401 - as above
    if not isinstance(row, dict) or "text" in row:
        return row
    begin, length = row.get("offset"), row.pop("length", None)
    if not isinstance(begin, int) or not isinstance(length, int):
        return row
    start = max(0, begin - offset)
    return {**row, "text": markdown[start : start + length]}

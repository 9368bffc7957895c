"""The whole answer to a search, with the field names of the specification."""

from enum import StrEnum

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
from searx_mcp.models.page import PageKind, Passage
from searx_mcp.models.request import SafeSearch, TimeRange


class Poor(StrEnum):
    """Reasons why a page that was read is not given.

    An `EMPTY` page has next to no words, `SPAM` repeats itself, a `PARKED` one sells its domain, an
    `ERROR` was sent as if it were a page. The others show only a wall: `LOGIN` and `PAYWALL` want an
    account or money, `SCRIPT` a browser, `CONSENT` a click.
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
    """Kinds of index that an answer was found in."""

    WEB = "web"
    """The indexes of web search engines, through an instance."""
    COLLECTIONS = "collections"
    """Open collections only, such as an encyclopaedia: no web index took part."""
    MIXED = "mixed"
    """Both."""


class PageContent(Frozen):
    """A result's page as Markdown.

    Attributes:
        markdown: the page's main content.
        word_count: words of the Markdown.
        fetch_time_ms: milliseconds from the request to the Markdown.
        summary: whole sentences, at most `max_summary_length` characters; empty when switched off.
        key_points: up to five sentences of the whole page; none when summaries are switched off.
        kind: what the page is; `None` where nothing tells.
        quality: 0 to 1: how much it says of what was asked; see `docs/explanation/searching.md`. `None` where
            it was not judged.
        truncated: whether there is more of the page than is here.
        cursor: names the page for `web_fetch`, to read on; empty if that cannot be done.
        next_offset: where to read on with `cursor`, or `None` if nothing of the page is left.
        total_chars: code points of the page's whole Markdown, if that is more than `markdown` has.
        passages: all of `markdown` in parts, those that fit what was searched for best first; none if no
            word of it tells them apart. In no other form of the content than this one.
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


class SearchResult(Frozen):
    """One merged row.

    Attributes:
        title: plain text.
        url: the page.
        description: the longest snippet any engine gave.
        score: 0 to 1, comparable within one response only: the best row has 1.
        engine: the first of `engines`; empty if not told.
        engines: all engines that found it.
        category: SearXNG's category of the row.
        published_at: ISO 8601 as far as known, or `None`.
        published_text: the time in the instance's words where they tell no date.
        thumbnail: an image URL, or `None`.
        author: empty if unknown.
        image, video, media, torrent, place, paper, package, code, file, product, facts: what only
            rows of one kind have.
        attribution: what the licence of the thing found asks to be said with it; empty if nothing.
        content: the page, when it was read.
        error_type: why its page was to be read and was not, one of the codes of `docs/reference/errors.md`; empty otherwise.
        error_details: the same in a sentence.
        status_code: the HTTP status with that, or `None` if there was no answer.
        duplicate_of: the address of an earlier result whose page says the same; then `content` is with
            that one only. Empty otherwise.
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
    """A page that was read and is not given.

    Attributes:
        url: of the result.
        reason: why.
        result_dropped: whether the result left the list too; else it stays without content.
    """

    url: str
    reason: Poor
    result_dropped: bool = False


class FetchStats(Frozen):
    """Counts of the reading of the result pages.

    Attributes:
        attempted: results whose page was to be read.
        successful: of them, those whose page was read and is worth giving, duplicates included.
        failed: the others: not read in time or at all, or dropped.
        total_time_ms: wall time.
        duplicates: pages that say the same as an earlier one, which is given in their place.
        dropped: pages that were read and are not given, with the reason.
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
        page: which page of the source's list they begin on, from 1; `None` for the first.
        total_results: distinct results found before the cut to the number asked for. SearXNG
            gives no estimate of the whole web, so neither do we.
        next_offset: the `offset` of a call that shows those of them that follow; `None` if none do.
        search_time_ms: the search phase, without the reading of pages.
        instance_used: the base URL that answered first, or the address of a keyed provider; `open
            sources` if neither did.
        coverage: what the answer was found in.
        attribution: what the licences of open collections ask to be said, a sentence each.
        engines_used: the engines behind the results.
        content_fetch_stats: `None` when no page was to be read.
        attempts: every request made for this answer; empty when it came from the cache.
        cached: whether the results came from the response cache.
        stale: whether they are older than they should be; then the first of `notes` says why.
        age_seconds: how old a cached answer is; 0 for one that was given just now.
        notes: sentences a caller should know, such as a limit that was met.
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


class RepeatedHit(Frozen):
    """A result that an earlier search of the same call has.

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
        error_details: a sentence for a person, and what to do.
        retry_after: whole seconds, if they are known.
    """

    error_type: str
    error_details: str
    retry_after: int | None = None


class BatchedSearch(Frozen):
    """One of several searches of a call.

    Attributes:
        query: as asked.
        result: what it found, without what an earlier search has; `None` if it failed.
        repeated: what it found and an earlier search has.
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
    """The answer of a keyed provider to one query, as it came.

    Attributes:
        query: as asked.
        result: its JSON; a list of them if more than one page was asked for; `None` if it failed.
        error: why it failed; `None` if it did not.
    """

    query: str
    result: object = None
    error: SearchFailure | None = None


class RawBatch(Frozen):
    """The answers of a keyed provider to the queries of one call, in their order."""

    queries: tuple[RawAnswer, ...]

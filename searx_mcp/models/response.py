"""The whole answer to a search, with the field names of the specification."""

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import Answer, Infobox, UnresponsiveEngine
from searx_mcp.models.request import SafeSearch, TimeRange
from searx_mcp.models.templates import (
    Code,
    Fact,
    File,
    Image,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)


class PageContent(Frozen):
    """A result's page as Markdown.

    Attributes:
        markdown: the page's main content.
        word_count: words of the Markdown.
        fetch_time_ms: milliseconds from the request to the Markdown.
        summary: whole sentences, at most `max_summary_length` characters; empty when switched off.
        truncated: whether there is more of the page than is here.
        cursor: names the page for `web_fetch`, to read on; empty if that cannot be done.
        next_offset: where to read on with `cursor`, or `None` if nothing of the page is left.
        total_chars: code points of the page's whole Markdown, if that is more than `markdown` has.
    """

    markdown: str
    word_count: int
    fetch_time_ms: int
    summary: str = ""
    truncated: bool = False
    cursor: str = ""
    next_offset: int | None = None
    total_chars: int | None = None


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
        content: the page, when it was read.
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
    content: PageContent | None = None


class FetchStats(Frozen):
    """How the reading of the result pages went; `total_time_ms` is wall time."""

    attempted: int = 0
    successful: int = 0
    failed: int = 0
    total_time_ms: int = 0


class SearchResponse(Frozen):
    """The answer to one search.

    Attributes:
        query: as searched.
        results_count: how many results are here.
        total_results: distinct results found before the cut to the number asked for. SearXNG
            gives no estimate of the whole web, so neither do we.
        search_time_ms: the search phase, without the reading of pages.
        instance_used: the base URL that answered first.
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
    notes: tuple[str, ...] = ()

"""What a caller asks for."""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Annotated, Self, TypedDict

from pydantic import Field, model_validator

from searx_mcp.models.base import Frozen

MAX_QUERY_LENGTH = 500
MAX_RESULTS = 50
MAX_PAGE = 50
"""Chosen, not measured: a model that goes on for longer should ask something else."""
MAX_SKIPPED = 10 * MAX_PAGE
MAX_URL_LENGTH = 4096
MAX_TIMEOUT = 120
"""Seconds that a call may ask for."""
MIN_CONTENT_LENGTH = 1_024
MAX_CONTENT_LENGTH = 10_485_760
LANGUAGE_PATTERN = r"^(all|auto|[a-z]{2,3}(-[A-Z]{2})?)$"
ENGINE_PATTERN = r"^[^,]{1,60}$"
MAX_ENGINES = 20
CATEGORY_PATTERN = r"^[^,]{1,60}$"
"""The comma divides the names in a request."""
USER_AGENT_PATTERN = r"^[\x20-\x7e]{1,256}$"
CURSOR_PATTERN = r"^([a-z2-7]{16})?$"
"""80 bits in the alphabet of base32 (RFC 4648), which no model misspells."""
MIN_CHARS = 1
MAX_CHARS = 1_000_000
MAX_OFFSET = 100_000_000


class Category(StrEnum):
    """A SearXNG category; each gathers the engines of one kind of content."""

    GENERAL = "general"
    IMAGES = "images"
    VIDEOS = "videos"
    NEWS = "news"
    MAP = "map"
    MUSIC = "music"
    IT = "it"
    SCIENCE = "science"
    FILES = "files"


FURTHER_CATEGORIES = (
    "apps", "blogs", "books", "cargo", "cloud", "code", "currency", "define", "dictionaries",
    "gallery", "icons", "lyrics", "movies", "onions", "other", "packages", "q&a", "radio", "repos",
    "scientific publications", "shopping", "social media", "software wikis", "translate", "tv",
    "weather", "web", "wikimedia",
)  # fmt: skip
"""The other categories of SearXNG 2026.8.22: those with a tab, those without, and those that its
settings and engines name."""


class TimeRange(StrEnum):
    """How old a result may be; the empty value means any age."""

    ANY = ""
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class SafeSearch(IntEnum):
    """How strictly engines are asked to filter explicit results."""

    OFF = 0
    MODERATE = 1
    STRICT = 2


class Source(StrEnum):
    """Who is asked."""

    AUTO = "auto"
    """Instances, and open sources as the settings say."""
    INSTANCES = "instances"
    """SearXNG instances alone."""
    OPEN = "open"
    """Documented APIs of open collections alone: not the web."""


class Images(StrEnum):
    """What stands for an image: its words, a link to it, the image itself, or nothing.

    A host that renders Markdown fetches images that stand in it, without asking.
    """

    ALT = "alt"
    LINKS = "links"
    INLINE = "inline"
    NONE = "none"


class SearchRequest(Frozen):
    """One `web_search` call.

    Attributes:
        query: what to search for, 1 to 500 characters.
        category: which engines are asked: one of `Category`, `FURTHER_CATEGORIES`, or a name that
            an own instance gives to engines of its own.
        language: `all`, `auto`, two letters, or a region such as `en-US`.
        results_count: how many results to return, 1 to 50.
        fetch_content: whether the result pages are read as Markdown.
        safe_search: 0 off, 1 moderate, 2 strict.
        time_range: how old a result may be.
        allowed_domains: keep only results of these domains and their subdomains.
        blocked_domains: drop results of these domains and their subdomains.
        engines: SearXNG's names of the engines to ask instead of those of the category; an instance
            leaves out those it does not have.
        search_prompt: what the caller wants to know; it never leaves the machine and only steers
            summaries.
        source: who is asked.
        timeout: seconds the whole call may take, 1 to 120; `None` takes the configured default.
        max_tokens: the most tokens the text for a model may have; `None` takes the configured
            default of the front.
        page: which page of the source's list, 1 to 50; the list goes on where the page before ended.
        offset: results to skip, 0 to 500, counted from the first page; not together with a `page`.
    """

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)]
    category: Annotated[str, Field(pattern=CATEGORY_PATTERN)] = Category.GENERAL
    language: Annotated[str, Field(pattern=LANGUAGE_PATTERN)] = "en"
    results_count: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10
    fetch_content: bool = True
    safe_search: SafeSearch = SafeSearch.MODERATE
    time_range: TimeRange = TimeRange.ANY
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    engines: Annotated[
        tuple[Annotated[str, Field(pattern=ENGINE_PATTERN)], ...], Field(max_length=MAX_ENGINES)
    ] = ()
    search_prompt: Annotated[str, Field(max_length=2_000)] = ""
    source: Source = Source.AUTO
    timeout: Annotated[float | None, Field(ge=1, le=MAX_TIMEOUT)] = None
    max_tokens: Annotated[int | None, Field(ge=200, le=200_000)] = None
    page: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 1
    offset: Annotated[int, Field(ge=0, le=MAX_SKIPPED)] = 0


class SearchArguments(TypedDict, total=False):
    """The fields of a `SearchRequest` but its query, as a program writes them; for type checkers."""

    category: str
    language: str
    results_count: int
    fetch_content: bool
    safe_search: SafeSearch | int | str
    time_range: TimeRange | str
    allowed_domains: Sequence[str] | None
    blocked_domains: Sequence[str] | None
    engines: Sequence[str] | None
    search_prompt: str
    source: Source | str
    timeout: float | None
    max_tokens: int | None
    page: int
    offset: int


class FetchRequest(Frozen):
    """One `web_fetch` call: an address, or a cursor of an earlier call.

    Attributes:
        url: the page, `http` or `https`; may be empty with a cursor.
        cursor: names a page that was captured before, of which nothing is fetched; when it is no
            longer kept, `url` is fetched, if given.
        offset: code points of the whole Markdown to begin after; 0 is its beginning.
        limit: code points given with a cursor; `None` takes `max_chars`.
        max_chars: code points of Markdown given at most, 1 to 1,000,000; `None` takes the
            configured default. What is longer is cut, and the rest is read with the cursor.
        section: give only the section under this heading; a `#fragment` of the page's address
            names one too.
        prompt: what the caller wants to know; it never leaves the machine. When the page must be
            cut, the sections that fit it best come first.
        images: what stands for an image; `None` takes the configured default.
        force_refresh: fetch the page even if it is kept.
        timeout: seconds the whole call may take, 5 to 120; `None` takes the configured default.
        follow_redirects: whether redirects are followed.
        max_content_length: decoded bytes read at most, 1,024 to 10,485,760; `None` takes the
            configured default. What is longer is cut, not refused.
        user_agent: replaces the User-Agent header of this call; printable ASCII, at most 256.
        further_urls: addresses that the caller named beside `url`; they are not read.
        by_person: whether a person asked for this very address. Models never set it.
        ignore_robots: read the page whatever robots.txt says; only for a person's call.
    """

    url: Annotated[str, Field(max_length=MAX_URL_LENGTH)] = ""
    cursor: Annotated[str, Field(pattern=CURSOR_PATTERN)] = ""
    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0
    limit: Annotated[int | None, Field(ge=MIN_CHARS, le=MAX_CHARS)] = None
    max_chars: Annotated[int | None, Field(ge=MIN_CHARS, le=MAX_CHARS)] = None
    section: Annotated[str, Field(max_length=300)] = ""
    prompt: Annotated[str, Field(max_length=2_000)] = ""
    images: Images | None = None
    force_refresh: bool = False
    timeout: Annotated[float | None, Field(ge=5, le=MAX_TIMEOUT)] = None
    follow_redirects: bool = True
    max_content_length: Annotated[
        int | None, Field(ge=MIN_CONTENT_LENGTH, le=MAX_CONTENT_LENGTH)
    ] = None
    user_agent: Annotated[str | None, Field(pattern=USER_AGENT_PATTERN)] = None
    further_urls: tuple[str, ...] = ()
    by_person: bool = False
    ignore_robots: bool = False

    @model_validator(mode="after")
    def _check_aim(self) -> Self:
        if not (self.url or self.cursor):
            raise ValueError("give url or cursor")
        if self.ignore_robots and not self.by_person:
            raise ValueError("ignore_robots is for calls of a person")
        return self


class FetchArguments(TypedDict, total=False):
    """The fields of a `FetchRequest` but its address, as a program writes them; for type checkers."""

    cursor: str
    offset: int
    limit: int | None
    max_chars: int | None
    section: str
    prompt: str
    images: Images | str | None
    force_refresh: bool
    timeout: float | None
    follow_redirects: bool
    max_content_length: int | None
    user_agent: str | None
    by_person: bool
    ignore_robots: bool

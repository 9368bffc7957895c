"""Requests of callers. Each field is also declared here as an argument of its tool."""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Annotated, Final, TypedDict

from pydantic import Field

from searx_mcp.models import coercion as read
from searx_mcp.models.argument import Argument
from searx_mcp.models.base import Frozen

MAX_QUERY_LENGTH = 500
MAX_QUERIES = 10
"""Further searches in one call; public instances allow an address only a few at a time."""
MAX_RESULTS = 50
MAX_TOKENS = 200_000
"""Maximum tokens of a result that a call can ask for: the context of large models."""
TOKEN_CHARS = 10
"""Maximum characters of a token, as `render.tokens` counts: those of a run of spaces."""
MAX_PAGE = 50
"""Chosen, not measured: a model that reads on for longer should ask something else."""
MAX_SKIPPED = 10 * MAX_PAGE
MAX_TIMEOUT = 120
"""Maximum seconds that a call may ask for."""
LANGUAGE_PATTERN = r"^(all|auto|[a-z]{2,3}(-[A-Z]{2})?)$"
ENGINE_PATTERN = r"^[^,]{1,60}$"
MAX_ENGINES = 20
CATEGORY_PATTERN = r"^[^,]{1,60}$"
"""Without a comma, which separates the names in a request."""


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
    "weather", "web", "wikimedia"
)  # fmt: skip
"""The other categories of SearXNG 2026.8.22: those with a tab, those without, and those that its settings and
engines name."""
_OTHER_CATEGORIES: Final = {
    "image": Category.IMAGES,
    "video": Category.VIDEOS,
    "maps": Category.MAP,
    "researchpaper": Category.SCIENCE,
    "finance": Category.GENERAL,
}
"""Names of Exa and Tavily; SearXNG has no category for finance, so the query has to say it."""


class TimeRange(StrEnum):
    """Maximum ages of a result; the empty value means any."""

    ANY = ""
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class SafeSearch(IntEnum):
    """Levels of filtering explicit results."""

    OFF = 0
    MODERATE = 1
    STRICT = 2


SAFE_SEARCH: Final = {
    **dict.fromkeys(("0", "off", "none", "false"), SafeSearch.OFF),
    **dict.fromkeys(("1", "moderate", "on", "true"), SafeSearch.MODERATE),
    **dict.fromkeys(("2", "strict"), SafeSearch.STRICT),
}
"""Spellings of a level, folded."""


class Source(StrEnum):
    """The sources to ask."""

    AUTO = "auto"
    """Instances, and open sources as the settings say."""
    INSTANCES = "instances"
    """SearXNG instances only."""
    OPEN = "open"
    """Documented APIs of open collections only: not the web."""
    KEYED = "keyed"
    """Only search APIs with a key of the user."""


UNBOUNDED: Final = {"minimum": None, "maximum": None}


def _names_of_domains(*verbs: str) -> tuple[str, ...]:
    return tuple(
        f"{verb}_{thing}" for verb in verbs for thing in ("domain", "domains", "site", "sites")
    )


WORDS: Final = "What you want to know"


class SearchRequest(Frozen):
    """The arguments of one `web_search` call.

    Attributes:
        for_model: whether a model reads the answer, which gets passages instead of summaries.
    """

    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUERY_LENGTH),
        Argument(
            read.text,
            "What to search for, 1 to {max_length} characters.",
            schema={"minLength": 1, "maxLength": MAX_QUERY_LENGTH},
            names=("q",),
        ),
    ]
    category: Annotated[
        str,
        Field(pattern=CATEGORY_PATTERN),
        Argument(
            read.category(
                (*Category, *FURTHER_CATEGORIES), _OTHER_CATEGORIES, shown_names=tuple(Category)
            ),
            f"{', '.join(Category)}, or another SearXNG category.",
            "TEXT",
            short="c",
            schema={"enum": [*Category]},
            names=("categories", "topic"),
        ),
    ] = Category.GENERAL
    language: Annotated[
        str,
        Field(pattern=LANGUAGE_PATTERN),
        Argument(
            read.language,
            "Two letters, a region such as en-US, all, or auto.",
            "TEXT",
            short="l",
            schema={"description": "en, en-US, all, auto"},
            names=("lang", "search_lang"),
        ),
    ] = "en"
    results_count: Annotated[
        int,
        Field(ge=1, le=MAX_RESULTS),
        Argument(
            read.number,
            "Results to return, {ge} to {le}.",
            "N",
            short="n",
            names=("max_results", "num_results", "count", "limit", "num", "top_k"),
        ),
    ] = 10
    fetch_content: Annotated[
        bool,
        Argument(
            read.boolean,
            "Also read the result pages.",
            schema={"description": "Also read the pages"},
        ),
    ] = True
    safe_search: Annotated[
        SafeSearch,
        Argument(
            read.choice(SAFE_SEARCH, "0, 1, 2, off, moderate, strict"),
            "off, moderate or strict.",
            "LEVEL",
            schema={
                "description": "0 off, 1 moderate, 2 strict",
                "minimum": 0,
                "maximum": 2,
                "enum": None,
            },
        ),
    ] = SafeSearch.MODERATE
    time_range: Annotated[
        TimeRange,
        Argument(
            read.age,
            "How old results may be: day, week, month, year, or any.",
            "AGE",
            short="t",
            schema={"enum": [*read.AGES, read.ANY_AGE]},
            names=("recency", "freshness", "timelimit"),
            otherwise={"days": read.days},
        ),
    ] = TimeRange.ANY
    allowed_domains: Annotated[
        tuple[str, ...],
        Argument(
            read.domains,
            "Only these domains and their subdomains.",
            "DOMAIN",
            repeated=True,
            schema={"description": "Only these"},
            names=_names_of_domains("include", "included", "allow", "allowed"),
        ),
    ] = ()
    blocked_domains: Annotated[
        tuple[str, ...],
        Argument(
            read.domains,
            "Leave out these domains and their subdomains.",
            "DOMAIN",
            repeated=True,
            names=_names_of_domains("exclude", "excluded", "block", "blocked"),
        ),
    ] = ()
    engines: Annotated[
        tuple[Annotated[str, Field(pattern=ENGINE_PATTERN)], ...],
        Field(max_length=MAX_ENGINES),
        Argument(
            read.engines(ENGINE_PATTERN),
            "Engines to use instead of the category's, comma-separated.",
            "NAMES",
            short="e",
            schema=None,
            names=("engine",),
        ),
    ] = ()
    search_prompt: Annotated[
        str,
        Field(max_length=2_000),
        Argument(
            read.text,
            "What you want to know; guides summaries, stays on this machine.",
            "TEXT",
            schema={"description": WORDS},
        ),
    ] = ""
    source: Annotated[
        Source,
        Argument(
            read.choice({source.value: source for source in Source}, f"one of {', '.join(Source)}"),
            "auto, instances, open (documented APIs only), or keyed (APIs you have a key for).",
            "WHO",
            schema=None,
        ),
    ] = Source.AUTO
    timeout: Annotated[
        float | None,
        Field(ge=1, le=MAX_TIMEOUT),
        Argument(
            read.seconds,
            "Seconds the whole call may take, {ge} to {le}.",
            "SECONDS",
            schema={"type": "integer", "description": "Seconds", **UNBOUNDED},
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        Field(ge=200, le=MAX_TOKENS),
        Argument(
            read.number, "Keep the text within N tokens, {ge} to {le:,}.", "N", schema=UNBOUNDED
        ),
    ] = None
    page: Annotated[
        int,
        Field(ge=1, le=MAX_PAGE),
        Argument(
            read.number,
            "Page of the result list, {ge} to {le}.",
            "N",
            schema=None,
            names=("pageno", "page_number"),
        ),
    ] = 1
    offset: Annotated[
        int,
        Field(ge=0, le=MAX_SKIPPED),
        Argument(
            read.number,
            "Results to skip, {ge} to {le}.",
            "N",
            schema={"default": None, **UNBOUNDED},
            names=("start",),
        ),
    ] = 0
    queries: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)], ...],
        Field(max_length=MAX_QUERIES),
        Argument(
            read.texts(MAX_QUERY_LENGTH),
            "Further searches to run in parallel.",
            "TEXT",
            repeated=True,
            schema={"description": ""},
        ),
    ] = ()
    for_model: bool = False

    @property
    def searches(self) -> tuple["SearchRequest", ...]:
        """The searches in it, each as a separate request."""
        words = dict.fromkeys((self.query, *self.queries))
        return tuple(self.model_copy(update={"query": each, "queries": ()}) for each in words)


class RawSearchRequest(SearchRequest):
    """A search for the unchanged JSON of a keyed provider; for the routes of REST."""

    provider: Annotated[
        str,
        Field(min_length=1, max_length=60),
        Argument(read.text, "Name of the keyed provider: google or brave."),
    ]


class SearchArguments(TypedDict, total=False):
    """The fields of a `SearchRequest` except its query, as keyword arguments; for type checkers."""

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

"""Parses and rejects the parameters of a search as SearXNG does, and finds its results."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from searx_mcp.models.hits import ResultPage, UnresponsiveEngine
from searx_mcp.testing.results import FakeResult, generate, place


@dataclass(frozen=True, slots=True)
class FakeEngine:
    """An engine inside a fake instance, as its `/config` lists it.

    Attributes:
        name: as a search refers to it.
        categories: that it belongs to.
        enabled: whether it is asked for searches in its categories.
        time_range: whether it can search a time range.
        paging: whether it has further pages.
        timeout: seconds for which the instance waits for it.
    """

    name: str
    categories: tuple[str, ...] = ("general",)
    enabled: bool = True
    time_range: bool = True
    paging: bool = True
    timeout: float = 3.0

    def takes(self, category: str, *, time_range: bool, page: int) -> bool:
        """Return whether it is asked for such a search; upstream skips engines that do not support it."""
        return (
            self.enabled
            and category in self.categories
            and (self.time_range or not time_range)
            and (self.paging or page == 1)
        )


CATEGORIES = (
    "general",
    "images",
    "videos",
    "news",
    "map",
    "music",
    "it",
    "science",
    "files",
    "social media",
)

_LANGUAGE = re.compile(r"all|auto|[a-z]{2,3}(-[a-zA-Z]{2})?")
_PAGE = re.compile(r"0*[1-9][0-9]*")
_SECONDS = re.compile(r"|[0-9]+(\.[0-9]*)?")
"""Upstream accepts every number, and answers a negative one with an empty list."""
_TIME_RANGES = frozenset({"", "None", "day", "week", "month", "year"})
_SAFE_SEARCH = frozenset({"0", "1", "2"})


class InvalidParameterError(Exception):
    """A value that SearXNG answers with 400."""

    def __init__(self, name: str, value: str) -> None:
        super().__init__(f"Invalid value {value} for parameter {name}")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The parameters of a search.

    Attributes:
        text: the words; empty if there were none.
        categories: at least one, in the requested order; unknown ones are dropped.
        page: counts from 1.
        language, time_range, safe_search: as sent, or the instance's default.
        time_limit: seconds the caller gives the engines, or `None`.
    """

    text: str
    categories: tuple[str, ...]
    page: int
    language: str
    time_range: str
    safe_search: str
    time_limit: float | None = None


def read_format(parameters: Mapping[str, str]) -> str:
    """Return the requested format; an unknown one means html, as upstream."""
    asked = parameters.get("format", "html")
    return asked if asked in {"html", "json", "csv", "rss"} else "html"


def read_query(parameters: Mapping[str, str]) -> SearchQuery:
    """Parse the parameters of a search.

    Raises:
        InvalidParameterError: SearXNG refuses a value.
    """
    page = parameters.get("pageno", "1")
    language = parameters.get("language", "auto")
    time_range = parameters.get("time_range", "")
    safe_search = parameters.get("safesearch", "0")
    time_limit = parameters.get("timeout_limit", "")
    for name, value, is_valid in (
        ("pageno", page, _PAGE.fullmatch(page) is not None),
        ("language", language, _LANGUAGE.fullmatch(language) is not None),
        ("time_range", time_range, time_range in _TIME_RANGES),
        ("safesearch", safe_search, safe_search in _SAFE_SEARCH),
        ("timeout_limit", time_limit, _SECONDS.fullmatch(time_limit) is not None),
    ):
        if not is_valid:
            raise InvalidParameterError(name, value)
    return SearchQuery(
        text=parameters.get("q", "").strip(),
        categories=_read_categories(parameters),
        page=int(page),
        language=language,
        time_range="" if time_range == "None" else time_range,
        safe_search=safe_search,
        time_limit=float(time_limit) if time_limit else None,
    )


def _read_categories(parameters: Mapping[str, str]) -> tuple[str, ...]:
    asked = [name.strip() for name in parameters.get("categories", "").split(",")]
    for parameter, value in parameters.items():
        name = parameter.removeprefix("category_")
        if name == parameter:
            continue
        if value == "off":
            asked = [other for other in asked if other != name]
        else:
            asked.append(name)
    known = tuple(dict.fromkeys(name for name in asked if name in CATEGORIES))
    return known or ("general",)


@dataclass(frozen=True, slots=True)
class Index:
    """The rows of an instance and the content around them.

    Attributes:
        engines: those of the instance; a search that none of them supports finds nothing.
        results: the rows; `None` generates them from the query.
        links: addresses of generated rows, one row each.
        pages: number of pages of generated rows when there are no links.
        page_size: rows per page.
        surroundings: answers, infoboxes, suggestions and corrections of every page.
    """

    engines: Sequence[FakeEngine]
    results: Sequence[FakeResult] | None
    links: Sequence[str]
    pages: int
    page_size: int
    surroundings: ResultPage

    def find(self, query: SearchQuery, failed: Sequence[UnresponsiveEngine]) -> ResultPage:
        """Return the requested page, without rows that only failed engines found."""
        if not self._is_taken(query):
            return ResultPage()
        names = {each.engine for each in failed}
        rows = [
            replace(row, engines=tuple(name for name in row.engines if name not in names))
            for row in self._rows(query)
            if not row.engines or not names.issuperset(row.engines)
        ]
        start = (query.page - 1) * self.page_size
        hits = tuple(
            place(row, category=query.categories[0], position=n)
            for n, row in enumerate(rows[start : start + self.page_size], start=1)
        )
        return replace(self.surroundings, hits=hits, unresponsive_engines=tuple(failed))

    def _is_taken(self, query: SearchQuery) -> bool:
        return any(
            engine.takes(category, time_range=bool(query.time_range), page=query.page)
            for category in query.categories
            for engine in self.engines
        )

    def _rows(self, query: SearchQuery) -> list[FakeResult]:
        if self.results is not None:
            return [row for row in self.results if row.category in {"", *query.categories}]
        count = self.pages * self.page_size
        return [
            row
            for category in query.categories
            for row in generate(query.text, category, count=count, links=self.links)
        ]


def rewritten(page: ResultPage, prefix: str) -> ResultPage:
    """Return the page with its rows' addresses percent-encoded after `prefix`."""
    hits = tuple(
        # A table of facts has no address.
        hit._replace(url=f"{prefix}{quote(hit.url, safe='', errors='replace')}") if hit.url else hit
        for hit in page.hits
    )
    return replace(page, hits=hits)

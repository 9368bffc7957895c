"""What a fake instance can find."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from searx_mcp.models.hits import ResultPage, UnresponsiveEngine
from searx_mcp.testing.engines import FakeEngine
from searx_mcp.testing.instance.query import SearchQuery
from searx_mcp.testing.results import FakeResult, generate, place


@dataclass(frozen=True, slots=True)
class Index:
    """The rows of an instance and what stands around them.

    Attributes:
        engines: those that are asked; what none of them takes is not found.
        results: the rows; `None` makes them up from the query.
        links: addresses of made-up rows, one row each.
        pages: pages of made-up rows when there are no links.
        page_size: rows of a page.
        surroundings: answers, infoboxes, suggestions and corrections of every page.
    """

    engines: Sequence[FakeEngine]
    results: Sequence[FakeResult] | None
    links: Sequence[str]
    pages: int
    page_size: int
    surroundings: ResultPage

    def find(self, query: SearchQuery, failed: Sequence[UnresponsiveEngine]) -> ResultPage:
        """Return the page asked for, without rows that only failed engines found."""
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
            wanted = {"", *query.categories}
            return [row for row in self.results if row.category in wanted]
        count = self.pages * self.page_size
        return [
            row
            for category in query.categories
            for row in generate(query.text, category, count=count, links=self.links)
        ]


def rewritten(page: ResultPage, prefix: str) -> ResultPage:
    """Return the page with `prefix` in front of its rows' addresses, which are percent-encoded."""
    hits = tuple(
        # A table of facts has no address.
        hit._replace(url=f"{prefix}{quote(hit.url, safe='', errors='replace')}") if hit.url else hit
        for hit in page.hits
    )
    return replace(page, hits=hits)

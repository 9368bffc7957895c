"""Answers a search within one site from the page index that the site publishes."""

import asyncio
import re
from typing import Final, Protocol

from searx_mcp.errors import NoInstancesError, SearxMcpError, UnavailableReason
from searx_mcp.fetch.fetcher import Reading
from searx_mcp.fetch.site_index import Listed, SiteIndexes
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.models.response import Coverage
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.context import Found, SearchContext

_SITE = re.compile(r"(?:^|\s)site:(\S{1,255})", re.IGNORECASE)
_TEXTS: Final = frozenset({Category.GENERAL, Category.IT, Category.SCIENCE})


class PageSource(Protocol):
    """Returns whole pages; implemented by `fetch.fetcher.Fetcher`."""

    async def read(self, request: FetchRequest, *, deadline: float | None = None) -> Reading:
        """Read one page; raises `SearxMcpError` only."""
        ...


class SiteIndexSearch:
    """Answers searches of one single site, whose home page links its index.

    Args:
        pages: reads the home page.
        indexes: queries the index.
    """

    def __init__(self, pages: PageSource, indexes: SiteIndexes) -> None:
        self._pages = pages
        self._indexes = indexes

    @staticmethod
    def fits(query: InstanceQuery) -> bool:
        """Return whether a query is for texts of one site, of any age."""
        return (
            len(_SITE.findall(query.text)) == 1
            and query.category in _TEXTS
            and query.page == 1
            and not query.engines
            and query.time_range is TimeRange.ANY
        )

    async def run(self, context: SearchContext) -> Found:
        """Answer a query that fits.

        Raises:
            NoInstancesError: the site cannot be read, has no index, or its index has nothing relevant.
        """
        (domain,) = _SITE.findall(context.query.text)
        words = _SITE.sub(" ", context.query.text).strip()
        try:
            async with asyncio.timeout_at(context.deadline):
                listed = await self._listed(f"https://{domain}/", words, context.deadline)
        except (SearxMcpError, TimeoutError) as exc:
            raise _nothing() from exc
        if listed is None or not listed.pages:
            raise _nothing()
        hits = tuple(
            Hit(page.url, page.title or page.url, place, description=page.snippet)
            for place, page in enumerate(listed.pages, start=1)
        )
        return Found(
            pages=(ResultPage(hits=hits, rows_seen=len(hits), has_next=False),),
            instance=listed.url,
            attempts=(),
            complete=True,
            coverage=Coverage.SITE,
        )

    async def _listed(self, url: str, words: str, deadline: float) -> Listed | None:
        reading = await self._pages.read(FetchRequest(url=url), deadline=deadline)
        page = reading.kept.capture.page
        return await self._indexes.ask(
            page.final_url, page.document.indexes, (words,), deadline=deadline
        )


def _nothing() -> NoInstancesError:
    return NoInstancesError(
        "The site has no index of its own with anything relevant",
        reason=UnavailableReason.EXHAUSTED,
    )

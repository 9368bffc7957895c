"""The page index that a site publishes: finding it, reading it, and choosing pages from it."""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol
from urllib.parse import urlsplit

from searx_mcp.content.site_index.entry import IndexedPage, is_same_site, rank
from searx_mcp.content.words import terms
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import PageLink, SiteIndex
from searx_mcp.storage.pages import WholePage

_log = logging.getLogger("searx_mcp.fetch")

_TRIED: Final = 2
"""Indexes that are tried for a question, and further files of one that is split."""
_WAIT: Final = 5.0
"""Seconds for reading an index. Expansion without one costs as much."""
_FORGET_AFTER: Final = 600.0
_MOST_REMEMBERED: Final = 1_000
"""Seconds for which an address without an index is not asked again, and how many such addresses are kept."""


class IndexSource(Protocol):
    """Reads indexes; implemented by `fetch.fetcher.Fetcher`."""

    async def read(
        self, request: FetchRequest, *, deadline: float | None = None, index: str = ""
    ) -> WholePage:
        """Read an index; raises `SearxMcpError` only."""
        ...

    def remember(self, urls: Iterable[str], source: Literal["search", "link"]) -> None:
        """Remember addresses that were shown."""
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """Matches for a question in a site's index.

    Attributes:
        url: of the index.
        pages: the matches, best first.
    """

    url: str
    pages: tuple[IndexedPage, ...]


class SiteIndexes:
    """Queries the indexes of sites.

    An index is fetched like a page, with the same robots.txt, host limits and cache. A missing one is not
    requested again for ten minutes.

    Args:
        source: reads indexes.
    """

    def __init__(self, source: IndexSource) -> None:
        self._source = source
        self._missing: OrderedDict[str, float] = OrderedDict()

    async def ask(
        self,
        url: str,
        told: Sequence[SiteIndex],
        questions: Sequence[str],
        *,
        deadline: float | None = None,
        guess: bool = True,
    ) -> Listed | None:
        """Find pages for a question in the index of a site.

        Args:
            url: of a page of the site.
            told: the indexes that this page links, best first.
            questions: the questions.
            deadline: loop time by which to return.
            guess: whether to try the conventional places if the page links none.

        Returns:
            The matches of the first readable index, or `None` if there is none.
        """
        candidates = told or (_agreed(url) if guess else ())
        now = asyncio.get_running_loop().time()
        for index in [each for each in candidates if self._missing.get(each.url, 0.0) <= now][
            :_TRIED
        ]:
            read = await self._read(index, url, deadline)
            if read is None:
                continue
            links, parts = read
            for part in _fitting(parts, questions):
                more = await self._read(part, url, deadline)
                links = (*links, *more[0]) if more is not None else links
            pages = await asyncio.to_thread(rank, links, questions)
            own = tuple(page for page in pages if is_same_site(page.url, url))
            self._source.remember([page.url for page in own], "link")
            return Listed(index.url, own)
        return None

    async def _read(
        self, index: SiteIndex, url: str, deadline: float | None
    ) -> tuple[tuple[PageLink, ...], tuple[SiteIndex, ...]] | None:
        """Read an index's entries and further files; `None` if it is unreadable or leads to another site."""
        now = asyncio.get_running_loop().time()
        end = now + _WAIT if deadline is None else min(deadline, now + _WAIT)
        try:
            reading = await self._source.read(
                FetchRequest(url=index.url), deadline=end, index=index.format
            )
        except SearxMcpError as error:
            _log.debug("fetch.site_index_missing format=%s code=%s", index.format, error.code)
            self._miss(index.url, now)
            return None
        page = reading.kept.capture.page
        if not is_same_site(page.final_url, url):
            self._miss(index.url, now)
            return None
        return page.document.links, page.document.indexes

    def _miss(self, url: str, now: float) -> None:
        self._missing[url] = now + _FORGET_AFTER
        self._missing.move_to_end(url)
        while len(self._missing) > _MOST_REMEMBERED:
            self._missing.popitem(last=False)


def _agreed(url: str) -> tuple[SiteIndex, ...]:
    """Return the conventional places of an index that no page links."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    return (
        SiteIndex(format="llms.txt", url=f"{root}/llms.txt"),
        SiteIndex(format="sitemap", url=f"{root}/sitemap.xml"),
    )


def _fitting(parts: Sequence[SiteIndex], questions: Sequence[str]) -> list[SiteIndex]:
    """Choose the further files most likely to match: by first letters, or by words in their names."""
    asked = terms(" ".join(questions))
    letters = Counter(term[0] for term in asked)

    def fit(part: SiteIndex) -> int:
        if len(part.label) == 1:
            return letters[part.label.lower()]
        return len(frozenset(terms(part.label)) & frozenset(asked))

    if not any(map(fit, parts)):
        return [part for part in parts if len(part.label) > 1][:_TRIED]
    return sorted((part for part in parts if fit(part)), key=fit, reverse=True)[:_TRIED]

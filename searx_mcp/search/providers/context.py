"""A search, its time, its outcome, and the interface of providers."""

import asyncio
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Protocol

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import Source
from searx_mcp.models.response import Coverage, SearchResult
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.merge import merge

OPEN_SOURCES: Final = "open sources"
"""Stands for the instance in an answer that came from none."""

NO_KEY: Final = "Set GOOGLE_API_KEY and GOOGLE_SEARCH_ENGINE_ID, or BRAVE_API_KEY."
"""Advice if a keyed provider is wanted and none has a key."""

COVERAGE: Final = {
    Coverage.COLLECTIONS: "From open collections, not from a web search engine: what is missing here may be on the web.",
    Coverage.MIXED: "From a web search and from open collections.",
    Coverage.SITE: "From the index that the site publishes of its own pages, not from a web search engine.",
}
"""Note for models and people on an answer that does not cover only the web."""


ANSWERING_TIME: Final = 0.25
"""Seconds reserved for composing the answer."""
_READING_SHARE: Final = 0.4
"""Minimum share of a call's time that is left for the pages after the search phase."""
_KEPT_BACK: Final = 0.4
"""Share of the search phase that instances leave to the open sources if these can replace them: 4.8 of 12
seconds, about what the table gives to most of them."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One search for a provider.

    Attributes:
        query: the query.
        wanted: number of hits the caller would like.
        deadline: loop time of the answer's deadline.
        source: which sources may be asked.
        progress: called with each step.
        is_followed: whether other providers are asked if this one cannot serve.
    """

    query: InstanceQuery
    wanted: int
    deadline: float
    source: Source = Source.AUTO
    progress: Progress | None = None
    is_followed: bool = False

    def within(self, phase: float) -> "SearchContext":
        """Return the search with at most `phase` seconds from now on; `Ticket.start` limits each request."""
        ends = asyncio.get_running_loop().time() + phase
        return replace(self, deadline=min(self.deadline, ends))

    def before_open_sources(self) -> "SearchContext":
        """Return the search with the open sources' share of the remaining time reserved."""
        now = asyncio.get_running_loop().time()
        deadline = now + (1 - _KEPT_BACK) * (self.deadline - now)
        return replace(self, deadline=deadline, is_followed=True)


def deadlines(started: float, timeout: float, *, reads_pages: bool) -> tuple[float, float]:
    """Divide the time of a call.

    Its timeout minus `ANSWERING_TIME` is for the search and, if they are read, the pages.

    Args:
        started: start of the call, loop time.
        timeout: seconds for all of it.
        reads_pages: whether pages are read after the search.

    Returns:
        The deadlines of the search, and of the pages; loop times.
    """
    deadline = started + timeout - ANSWERING_TIME
    if not reads_pages:
        return deadline, deadline
    return started + (deadline - started) * (1 - _READING_SHARE), deadline


@dataclass(frozen=True)
class Found:
    """The outcome of a search.

    Attributes:
        pages: the result pages, in order.
        instance: the base URL of the instance, the address of a keyed provider, or `OPEN_SOURCES`.
        attempts: every request made, in order.
        complete: whether there are no more results.
        own: whether it is an own instance.
        coverage: what was searched.
        attribution: credits that the licences of open sources require, a sentence each.
        remarks: notes for the caller on the open sources, a sentence each.
        keyed: display name of the keyed provider that answered; empty for any other source.
    """

    pages: tuple[ResultPage, ...]
    instance: str
    attempts: tuple[Attempt, ...]
    complete: bool
    own: bool = False
    coverage: Coverage = Coverage.WEB
    attribution: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    keyed: str = ""

    @cached_property
    def results(self) -> tuple[SearchResult, ...]:
        """The rows of all pages, merged; once, however often a cached answer serves."""
        return merge(self.pages)


class Provider(Protocol):
    """Answers searches."""

    async def run(self, context: SearchContext) -> Found:
        """Answer a search.

        Raises:
            InvalidArgumentError: the requested source is switched off.
            NoInstancesError: no source could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        ...

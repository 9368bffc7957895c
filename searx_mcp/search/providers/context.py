"""A search, the time it has, its outcome, and the interface of the providers that answer it."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final, Protocol

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import Source
from searx_mcp.models.response import Coverage
from searx_mcp.pool.proposal import InstanceQuery

OPEN_SOURCES: Final = "open sources"
"""Stands for the instance in an answer to which none has given anything."""

NO_KEY: Final = "Set GOOGLE_API_KEY and GOOGLE_SEARCH_ENGINE_ID, or BRAVE_API_KEY."
"""What to do where a keyed provider is wanted and none has a key."""

COVERAGE: Final = {
    Coverage.COLLECTIONS: "From open collections, not from a web search engine: what is missing here may be on the web.",
    Coverage.MIXED: "From a web search and from open collections.",
    Coverage.SITE: "From the index that the site publishes of its own pages, not from a web search engine.",
}
"""What a model and a person should know of an answer that is not the web's alone."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One search on its way to a provider.

    Attributes:
        query: what to ask.
        wanted: how many hits the caller would like.
        deadline: loop time by which the answer must be there.
        source: who may be asked.
        progress: called with each step.
        is_followed: whether others are asked if this provider cannot serve.
    """

    query: InstanceQuery
    wanted: int
    deadline: float
    source: Source = Source.AUTO
    progress: Progress | None = None
    is_followed: bool = False


ANSWERING_TIME: Final = 0.25
"""Seconds kept back from a call's time to put the answer together."""
_READING_SHARE: Final = 0.4
"""The share of a call's time left to the pages when the search phase takes as long as it may."""
_KEPT_BACK: Final = 0.4
"""The share of the search phase that instances leave to the open sources when these are to answer in
their place: 4.8 of 12 seconds, about what the table gives to most of them."""


@dataclass(frozen=True, slots=True)
class TimePlan:
    """The parts of a call's time; every instant is on the running loop's clock.

    What is left of the call's timeout without `ANSWERING_TIME` is for the search and for the pages, if
    they are read. The search phase ends by the earlier of its share of that and of its own timeout, which
    counts from the first request. What a single request has of it, `Ticket.start` says.

    Attributes:
        phase: seconds the search phase may take; the setting `search.phase_timeout`.
    """

    phase: float

    @staticmethod
    def of_call(started: float, timeout: float, *, reads_pages: bool) -> tuple[float, float]:
        """Divide the time of a call.

        Args:
            started: when it began.
            timeout: seconds for all of it.
            reads_pages: whether pages are read behind the search.

        Returns:
            When the search has to end, and when the pages.
        """
        deadline = started + timeout - ANSWERING_TIME
        if not reads_pages:
            return deadline, deadline
        return started + (deadline - started) * (1 - _READING_SHARE), deadline

    def of_search(self, context: SearchContext) -> SearchContext:
        """Give a search no more than the phase from now on."""
        ends = asyncio.get_running_loop().time() + self.phase
        return replace(context, deadline=min(context.deadline, ends))

    def of_instances(self, context: SearchContext) -> SearchContext:
        """Leave the open sources their share of what is left to a search."""
        now = asyncio.get_running_loop().time()
        deadline = now + (1 - _KEPT_BACK) * (context.deadline - now)
        return replace(context, deadline=deadline, is_followed=True)

    def of_refresh(self) -> float:
        """Tell when a background search has to end: it has the whole phase."""
        return asyncio.get_running_loop().time() + self.phase


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        pages: the result pages, first one first.
        instance: the base URL that gave them, the address of a keyed provider, or `OPEN_SOURCES`.
        attempts: every request made, in order.
        complete: whether there is nothing more to be had.
        own: whether the instance is the user's own.
        coverage: what the hits were found in.
        attribution: what the licences of open sources ask to be said, a sentence each.
        remarks: what a caller should know of the open sources behind the answer, a sentence each.
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


class Provider(Protocol):
    """Answers searches."""

    async def run(self, context: SearchContext) -> Found:
        """Answer a search.

        Raises:
            InvalidArgumentError: the source that is asked for is switched off.
            NoInstancesError: no source could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        ...

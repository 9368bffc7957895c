"""What a search is, what it comes to, and the interface of whoever answers it."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final, Protocol

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import Source
from searx_mcp.models.response import Coverage
from searx_mcp.models.service import Progress
from searx_mcp.pool.attempt import InstanceQuery

OPEN_SOURCES: Final = "open sources"
"""Stands for the instance in an answer to which none has given anything."""

COVERAGE: Final = {
    Coverage.COLLECTIONS: "From open collections, not from a web search engine: what is missing here may be on the web.",
    Coverage.MIXED: "From a web search and from open collections.",
}
"""What a model and a person should know of an answer that is not the web's alone."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One search on its way to whoever answers it.

    Attributes:
        query: what to ask.
        wanted: how many hits the caller would like.
        deadline: loop time by which the answer must be there.
        source: who may be asked.
        progress: told each step.
    """

    query: InstanceQuery
    wanted: int
    deadline: float
    source: Source = Source.AUTO
    progress: Progress | None = None

    def within(self, seconds: float, *, share: float = 1.0) -> "SearchContext":
        """Give the same search with less time.

        Args:
            seconds: how long it may take from now on; its deadline holds all the same.
            share: of what is left then.
        """
        now = asyncio.get_running_loop().time()
        left = min(self.deadline - now, seconds)
        return replace(self, deadline=now + share * left)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        pages: the result pages, first one first.
        instance: the base URL that gave them, or `OPEN_SOURCES`.
        attempts: every request made, in order.
        complete: whether there is nothing more to be had.
        own: whether the instance is the user's own.
        coverage: what the hits were found in.
        attribution: what the licences of open sources ask to be said, a sentence each.
        remarks: what a caller should know of the open sources behind the answer, a sentence each.
    """

    pages: tuple[ResultPage, ...]
    instance: str
    attempts: tuple[Attempt, ...]
    complete: bool
    own: bool = False
    coverage: Coverage = Coverage.WEB
    attribution: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class Provider(Protocol):
    """Answers searches."""

    async def run(self, context: SearchContext) -> Found:
        """Answer a search.

        Raises:
            InvalidArgumentError: the source that is asked for is switched off.
            NoInstancesError: nobody could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        ...

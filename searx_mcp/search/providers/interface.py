"""What answers a search, and what it answers with."""

from dataclasses import dataclass
from typing import Final, Protocol

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import Source
from searx_mcp.models.response import Coverage
from searx_mcp.models.service import Progress
from searx_mcp.sources.searxng.request import InstanceQuery

OPEN_SOURCES: Final = "open sources"
"""Stands for the instance in an answer to which none has given anything."""


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
    """Answers a query."""

    async def run(
        self,
        query: InstanceQuery,
        *,
        wanted: int,
        deadline: float,
        progress: Progress | None = None,
    ) -> Found:
        """Answer a query.

        Args:
            query: what to ask.
            wanted: how many hits the caller would like.
            deadline: loop time by which the answer must be there.
            progress: told each step.

        Raises:
            NoInstancesError: nobody could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        ...


class Sourced(Protocol):
    """Answers a query out of the source that is asked for."""

    async def run(
        self,
        query: InstanceQuery,
        *,
        source: Source,
        wanted: int,
        deadline: float,
        progress: Progress | None = None,
    ) -> Found:
        """Answer a query; see `Provider`.

        Args:
            query: what to ask.
            source: who may be asked.
            wanted: how many hits the caller would like.
            deadline: loop time by which the answer must be there.
            progress: told each step.

        Raises:
            InvalidArgumentError: the source is switched off.
            NoInstancesError: nobody could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        ...

"""One query through the pool: attempt, judge, go on, until an answer or the deadline."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from searx_mcp.errors import DeadlineError
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.service import Progress
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.pool import InstancePool, Proposal
from searx_mcp.search.budget import windows
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.spacing import Spacing
from searx_mcp.search.state.interface import StateStore
from searx_mcp.search.unavailable import unavailable
from searx_mcp.searxng.request import InstanceQuery

_log = logging.getLogger("searx_mcp.search")

MAX_PAGES = 5
"""Pages one search takes from one own instance at most: 50 results at ten a page."""
_TOO_LATE = 0.1
"""With less time left, in seconds, an attempt cannot come to anything."""


class Upstream(Protocol):
    """Sends one query to one instance; expected failures are outcomes."""

    async def search(
        self,
        base_url: str,
        query: InstanceQuery,
        *,
        own: bool,
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        timeout: float,  # noqa: ASYNC109 - what is left of the call's deadline
    ) -> Outcome:
        """Ask `base_url` and judge the answer; ends within `timeout` seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        pages: the result pages, first one first.
        instance: the base URL that gave them.
        attempts: every request made, in order.
        complete: whether there is nothing more to be had from the instance.
        elapsed: seconds the search took.
        own: whether the instance is the user's own.
    """

    pages: tuple[ResultPage, ...]
    instance: str
    attempts: tuple[Attempt, ...]
    complete: bool
    elapsed: float
    own: bool = False


@dataclass(slots=True)
class _Trail:
    """What one search has tried so far."""

    deadline: float
    progress: Progress | None = None
    attempts: list[Attempt] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    passed_over: set[str] = field(default_factory=set)
    budget_retry_at: float | None = None

    def say(self, message: str) -> None:
        if self.progress is not None:
            self.progress(message)


class Executor:
    """Carries one query through the pool.

    Each search asks at most `max_instances` different instances, one after the other, each at
    most once (an own instance that has JSON switched off is asked again for HTML at once), and
    every request is charged to the instance's budget before it leaves. All of it ends by the
    earlier of the call's deadline and the search phase's.

    Args:
        pool: chooses and learns.
        upstream: sends and judges.
        state: keeps the budgets.
        config: the limits of one search.
        spacing: keeps requests to public instances apart.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        pool: InstancePool,
        upstream: Upstream,
        state: StateStore,
        config: SearchConfig,
        spacing: Spacing,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._upstream = upstream
        self._state = state
        self._config = config
        self._spacing = spacing
        self._clock = clock

    async def run(
        self,
        query: InstanceQuery,
        *,
        wanted: int,
        deadline: float,
        progress: Progress | None = None,
    ) -> Found:
        """Ask instances until one answers.

        Args:
            query: what to ask.
            wanted: how many hits the caller would like; further pages are taken only from own
                instances, a public one is asked once.
            deadline: loop time by which the call must end.
            progress: told each step.

        Raises:
            NoInstancesError: nobody could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        started = asyncio.get_running_loop().time()
        trail = _Trail(min(deadline, started + self._config.phase_timeout), progress)
        while len(trail.asked) < self._config.max_instances:
            proposal = self._pool.propose(self._clock(), exclude=trail.asked | trail.passed_over)
            if proposal is None:
                break
            page = await self._ask(proposal, query, trail)
            if page is not None:
                pages, complete = await self._further(proposal, query, page, wanted, trail)
                elapsed = asyncio.get_running_loop().time() - started
                return Found(
                    pages, proposal.url, tuple(trail.attempts), complete, elapsed, proposal.own
                )
            if self._left(trail) <= _TOO_LATE:
                break
        raise self._failure(trail)

    async def _ask(
        self, proposal: Proposal, query: InstanceQuery, trail: _Trail
    ) -> ResultPage | None:
        outcome = await self._attempt(proposal, query, trail)
        if outcome is not None and outcome.verdict is Verdict.JSON_OFF:
            html = replace(proposal, format=Format.HTML)
            outcome = await self._attempt(html, query, trail)
        if outcome is None or not outcome.verdict.ends_search:
            return None
        return outcome.page or ResultPage()

    async def _attempt(
        self, proposal: Proposal, query: InstanceQuery, trail: _Trail
    ) -> Outcome | None:
        """One request, or `None` when the budget or the clock forbids it."""
        url = proposal.url
        self._pool.begin(url, self._clock())
        learned = False
        try:
            if not await self._may_leave(proposal, trail):
                return None
            timeout = min(self._config.attempt_timeout, self._left(trail))
            if timeout <= _TOO_LATE:
                return None
            trail.asked.add(url)
            trail.say(f"asking {url} for {proposal.format.upper()}")
            outcome = await self._upstream.search(
                url, query, own=proposal.own, format=proposal.format, timeout=timeout
            )
            # A request cut short by our own deadline says nothing about the instance.
            cut_short = timeout < self._config.attempt_timeout
            if not (cut_short and outcome.verdict is Verdict.TIMEOUT):
                self._pool.report(url, outcome, self._clock())
                learned = True
        finally:
            if not learned:
                self._pool.release(url)
        attempt = Attempt(
            instance=url,
            verdict=outcome.verdict,
            format=outcome.format,
            status_code=outcome.status_code,
            elapsed_ms=round(outcome.elapsed * 1_000),
            detail=outcome.detail,
            rows_seen=outcome.rows_seen,
            rows_used=outcome.rows_used,
        )
        trail.attempts.append(attempt)
        trail.say(f"{url}: {outcome.verdict.replace('_', ' ')}")
        _log.debug(
            "search.attempt instance=%s verdict=%s status=%s elapsed_ms=%d",
            url,
            outcome.verdict,
            outcome.status_code,
            attempt.elapsed_ms,
        )
        return outcome

    async def _may_leave(self, proposal: Proposal, trail: _Trail) -> bool:
        limits = windows(own=proposal.own, link_token=proposal.link_token)
        reservation = await self._state.reserve(
            proposal.url, proposal.format, limits, self._clock()
        )
        if not reservation.granted:
            trail.passed_over.add(proposal.url)
            known = [at for at in (trail.budget_retry_at, reservation.retry_at) if at is not None]
            trail.budget_retry_at = min(known, default=None)
            return False
        if not proposal.own:
            await self._spacing.wait()
        return True

    async def _further(
        self,
        proposal: Proposal,
        query: InstanceQuery,
        first: ResultPage,
        wanted: int,
        trail: _Trail,
    ) -> tuple[tuple[ResultPage, ...], bool]:
        """More pages of the same own instance until enough is in or a page brings nothing new."""
        pages = [first]
        urls = {hit.url for hit in first.hits}
        while proposal.own and len(urls) < wanted and len(pages) < MAX_PAGES:
            if not pages[-1].hits or pages[-1].has_next is False:
                return tuple(pages), True
            if self._left(trail) <= _TOO_LATE:
                return tuple(pages), False
            again = replace(proposal, format=self._pool.format_of(proposal.url, self._clock()))
            page = await self._ask(again, replace(query, page=len(pages) + 1), trail)
            fresh = {hit.url for hit in page.hits} - urls if page else set()
            if page is None or not fresh:
                return tuple(pages), page is not None
            pages.append(page)
            urls |= fresh
        return tuple(pages), not proposal.own

    def _left(self, trail: _Trail) -> float:
        return trail.deadline - asyncio.get_running_loop().time()

    def _failure(self, trail: _Trail) -> Exception:
        now = self._clock()
        if not trail.attempts and self._left(trail) <= _TOO_LATE:
            return DeadlineError(
                "The call's time was over before an instance could be asked",
                advice="Call again with a longer timeout.",
            )
        at = trail.budget_retry_at
        return unavailable(
            has_own=self._pool.has_own,
            has_public=self._pool.has_public,
            attempts=trail.attempts,
            budget_retry=None if at is None else max(0.0, at - now),
            state_retry=self._pool.earliest_retry(now),
        )

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
_MAY_BE_OURS = frozenset({Verdict.DNS, Verdict.CONNECTION})
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

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ASYNC109 - of one look-up
        """Whether the host of a public instance has an address; nothing is sent to it."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        pages: the result pages, first one first.
        instance: the base URL that gave them.
        attempts: every request made, in order.
        complete: whether there is nothing more to be had from the instance.
        own: whether the instance is the user's own.
    """

    pages: tuple[ResultPage, ...]
    instance: str
    attempts: tuple[Attempt, ...]
    complete: bool
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
    held: list[tuple[str, Outcome]] = field(default_factory=list)
    """Failures that may be this machine's: reported once another host has been reached."""

    def pass_over(self, url: str, free_at: float | None) -> None:
        """The budget of `url` forbids a request until then: it was not asked."""
        self.asked.discard(url)
        self.passed_over.add(url)
        known = [at for at in (self.budget_retry_at, free_at) if at is not None]
        self.budget_retry_at = min(known, default=None)

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
        try:
            found = await self._search(query, wanted, trail)
        finally:
            self._settle(trail)
        if found is None:
            raise self._failure(trail)
        return found

    async def _search(self, query: InstanceQuery, wanted: int, trail: _Trail) -> Found | None:
        while len(trail.asked) < self._config.max_instances:
            proposal = self._pool.propose(self._clock(), exclude=trail.asked | trail.passed_over)
            if proposal is None:
                break
            page = await self._ask(proposal, query, trail)
            if page is not None:
                pages, complete = await self._further(proposal, query, page, wanted, trail)
                attempts = tuple(trail.attempts)
                return Found(pages, proposal.url, attempts, complete, own=proposal.own)
            if self._left(trail) <= _TOO_LATE:
                break
        return None

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
            timeout = min(self._config.attempt_timeout, self._left(trail))
            if timeout <= _TOO_LATE:
                return None
            trail.asked.add(url)
            outcome = await self._send(proposal, query, timeout, trail)
            if outcome is None:
                return None
            # A request cut short by our own deadline says nothing about the instance.
            cut_short = timeout < self._config.attempt_timeout
            if not (cut_short and outcome.verdict is Verdict.TIMEOUT):
                self._learn(proposal, outcome, trail)
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

    async def _send(
        self,
        proposal: Proposal,
        query: InstanceQuery,
        timeout: float,  # noqa: ASYNC109 - what is left of the call's deadline
        trail: _Trail,
    ) -> Outcome | None:
        """The request itself, charged to the budget; `None` when the budget forbids it.

        A host that does not resolve is not charged, since nothing reaches it: or a few searches
        without a network would use up the month.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        url = proposal.url
        if not proposal.own:
            if not await self._has_budget(proposal, trail):
                return None
            if not await self._upstream.resolves(url, timeout=timeout):
                detail = "The host name does not resolve."
                return Outcome(Verdict.DNS, proposal.format, loop.time() - started, detail=detail)
            if not await self._may_leave(proposal, trail):
                return None
        trail.say(f"asking {url} for {proposal.format.upper()}")
        timeout = max(_TOO_LATE, min(timeout, self._left(trail)))
        return await self._upstream.search(
            url, query, own=proposal.own, format=proposal.format, timeout=timeout
        )

    def _learn(self, proposal: Proposal, outcome: Outcome, trail: _Trail) -> None:
        if not proposal.own and outcome.verdict in _MAY_BE_OURS:
            trail.held.append((proposal.url, outcome))
        else:
            self._pool.report(proposal.url, outcome, self._clock())

    def _settle(self, trail: _Trail) -> None:
        """Report the failures held back, unless nobody at all was reached: then we are offline.

        A machine without a network says nothing about the instances it did not reach.
        """
        reached = any(attempt.status_code is not None for attempt in trail.attempts)
        for url, outcome in trail.held:
            if reached or len(trail.held) == 1:
                self._pool.report(url, outcome, self._clock())
            else:
                self._pool.release(url)
        trail.held.clear()

    async def _has_budget(self, proposal: Proposal, trail: _Trail) -> bool:
        """A look without a charge, which spares a look-up for each instance that is used up."""
        limits = [
            window
            for window in windows(own=False, link_token=proposal.link_token)
            if window.format in (None, proposal.format)
        ]
        budget = await self._state.budget(proposal.url, limits, self._clock())
        if budget.left == 0:
            trail.pass_over(proposal.url, budget.free_at)
        return budget.left != 0

    async def _may_leave(self, proposal: Proposal, trail: _Trail) -> bool:
        limits = windows(own=False, link_token=proposal.link_token)
        reservation = await self._state.reserve(
            proposal.url, proposal.format, limits, self._clock()
        )
        if not reservation.granted:
            trail.pass_over(proposal.url, reservation.retry_at)
            return False
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

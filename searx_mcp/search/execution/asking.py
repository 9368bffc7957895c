"""One request to one instance: allowed, charged, sent, learned from."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Protocol, Self

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import TimeRange
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.engine_care import is_thin
from searx_mcp.pool.needs import Needs
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import Proposal
from searx_mcp.search.execution.ledger import Ledger
from searx_mcp.search.execution.spacing import Spacing
from searx_mcp.search.execution.trail import TOO_LATE, Trail
from searx_mcp.search.merge import fuse
from searx_mcp.sources.searxng.request import InstanceQuery
from searx_mcp.sources.searxng.upstream import Clearance
from searx_mcp.tasks import Place

_log = logging.getLogger("searx_mcp.search")

CLEARANCE_TIMEOUT = 2.0
"""Seconds for a robots.txt or a `/config`, which an instance has at hand."""
_MAY_BE_OURS = frozenset({Verdict.DNS, Verdict.CONNECTION, Verdict.TLS})
"""Failures that a machine without a network, or behind a captive portal, sees everywhere."""


class Upstream(Protocol):
    """Asks one instance; expected failures are values."""

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

    async def clearance(
        self,
        base_url: str,
        *,
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        timeout: float,  # noqa: ASYNC109 - of one small file
    ) -> Clearance:
        """Read the robots.txt of a public instance."""
        ...

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - of one document
        """What the instance tells of itself, or `None`."""
        ...


@dataclass(slots=True)
class _Ticket:
    """A request that has begun: the pool is told exactly one ending of it.

    Attributes:
        began: loop time at which it, or the wait for a place, began.
        waits: whether it has no place at the instance yet.
        cut_short: whether it was given less time than others, since the call ends.
        ended: whether the pool was told.
    """

    pool: InstancePool
    proposal: Proposal
    trail: Trail
    clock: Callable[[], float]
    began: float = 0.0
    waits: bool = False
    cut_short: bool = False
    ended: bool = False

    def __enter__(self) -> Self:
        self.pool.begin(self.proposal.url, self.clock())
        self.began = asyncio.get_running_loop().time()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.ended:
            return
        url = self.proposal.url
        if url not in self.trail.overtaken or self.waits:
            self.pool.release(url)
            return
        elapsed = self.elapsed
        self.pool.be_overtaken(url, elapsed, self.clock())
        detail = "Another instance answered first."
        self.trail.add(
            url, Outcome(Verdict.OVERTAKEN, self.proposal.format, elapsed, detail=detail)
        )

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return asyncio.get_running_loop().time() - self.began

    def time(self, most: float) -> float:
        """How long it may take if it leaves now: at most `most` seconds."""
        self.began, self.waits = asyncio.get_running_loop().time(), False
        self.cut_short = self.trail.left < most
        return min(most, self.trail.left)

    def report(self, outcome: Outcome, needs: Needs) -> None:
        """It came to an outcome, which may have to wait for what others come to."""
        # A request cut short by our own deadline says nothing about the instance.
        if self.cut_short and outcome.verdict is Verdict.TIMEOUT:
            return
        self.ended = True
        if outcome.ours:
            self.pool.release(self.proposal.url)
        elif not self.proposal.own and outcome.verdict in _MAY_BE_OURS:
            self.trail.held.append((self.proposal.url, outcome))
        else:
            self.pool.report(self.proposal.url, outcome, self.clock(), needs)

    def opt_out(self) -> None:
        """The operator asks us to stay away."""
        self.ended = True
        self.pool.opt_out(self.proposal.url, self.clock())
        self.trail.give_up(self.proposal.url)


class Asking:
    """Makes single requests for searches.

    A public instance is asked for its robots.txt once a day, before it is charged and searched: a
    host that is down or does not want us thus costs no budget. The same request tries an instance
    that has rested. Who lets us in is asked for `/config`, too, once a day.

    Args:
        pool: learns from the outcomes.
        upstream: sends and judges.
        ledger: charges.
        spacing: keeps requests to public instances apart.
        own_at_once: how many searches an own instance is given at the same time; others wait in the order in which
            they came.
        timeout: seconds one request may take, from when it is sent.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        pool: InstancePool,
        upstream: Upstream,
        ledger: Ledger,
        spacing: Spacing,
        own_at_once: int,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._upstream = upstream
        self._ledger = ledger
        self._spacing = spacing
        self._own_at_once = own_at_once
        self._places = defaultdict[str, asyncio.Semaphore](partial(asyncio.Semaphore, own_at_once))
        self._timeout = timeout
        self._clock = clock

    async def ask(
        self, proposal: Proposal, query: InstanceQuery, trail: Trail
    ) -> ResultPage | None:
        """The page with which the search may end, or `None`; HTML at once where JSON alone is refused."""
        outcome = await self._request(proposal, query, trail)
        if outcome is not None and outcome.is_about_format(own=proposal.own):
            proposal = replace(proposal, format=Format.HTML)
            outcome = await self._request(proposal, query, trail)
        page = _answer(outcome)
        is_spread = proposal.engines and query.page == 1
        if is_spread and outcome is not None and outcome.page and is_thin(outcome.page):
            page = await self._ask_others(proposal, query, trail, page)
        return page

    async def _ask_others(
        self, proposal: Proposal, query: InstanceQuery, trail: Trail, page: ResultPage | None
    ) -> ResultPage | None:
        """The page with what the engines find that were spared."""
        care, now = self._pool.engines_of(proposal.url), self._clock()
        others = care.others(needs_of(query), proposal.engines, now)
        if page is not None and not others:
            return page
        # Without an answer and without others, all are asked again before the search fails.
        more = _answer(await self._request(replace(proposal, engines=others), query, trail))
        return fuse([page, more]) if page and more else page or more

    def settle(self, trail: Trail) -> None:
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

    async def _request(
        self, proposal: Proposal, query: InstanceQuery, trail: Trail
    ) -> Outcome | None:
        """One request, or `None` when the budget, the operator or the clock forbids it."""
        query = replace(query, engines=query.engines or proposal.engines)
        with _Ticket(self._pool, proposal, trail, self._clock) as ticket:
            if trail.is_late:
                return None
            trail.asked.add(proposal.url)
            send = self._send_to_own if proposal.own else self._send
            outcome = await send(ticket, query)
            if outcome is None:
                return None
            ticket.report(outcome, needs_of(query))
        attempt = trail.add(proposal.url, outcome)
        _log.debug(
            "search.attempt instance=%s verdict=%s status=%s elapsed_ms=%d",
            proposal.url,
            outcome.verdict,
            outcome.status_code,
            attempt.elapsed_ms,
        )
        return outcome

    async def _send_to_own(self, ticket: _Ticket, query: InstanceQuery) -> Outcome | None:
        url, trail = ticket.proposal.url, ticket.trail
        ticket.waits = self._places[url].locked()
        if ticket.waits:
            trail.say(f"waiting for one of {self._own_at_once} searches at {url} to end")
        async with Place(self._places[url]) as place:
            has_place = await place.take_by(trail.deadline - TOO_LATE)
            trail.queued_behind = 0 if has_place else self._own_at_once
            if not has_place:
                return None
            return await self._search(ticket, query, ticket.time(self._timeout))

    async def _send(self, ticket: _Ticket, query: InstanceQuery) -> Outcome | None:
        proposal, trail = ticket.proposal, ticket.trail
        timeout = ticket.time(self._timeout)
        failure = await self._find_out(ticket, timeout)
        if failure is not None:
            trail.give_up(proposal.url)
        if failure is not None or ticket.ended:
            return failure
        if not await self._spacing.wait(trail.deadline - TOO_LATE):
            return None
        if not await self._ledger.charge(proposal, trail):
            return None
        return await self._search(ticket, query, min(timeout, trail.left))

    async def _search(
        self,
        ticket: _Ticket,
        query: InstanceQuery,
        timeout: float,  # noqa: ASYNC109 - what is left of the call's deadline
    ) -> Outcome:
        proposal = ticket.proposal
        ticket.trail.say(f"asking {proposal.url} for {proposal.format.upper()}")
        return await self._upstream.search(
            proposal.url, query, own=proposal.own, format=proposal.format, timeout=timeout
        )

    async def _find_out(
        self,
        ticket: _Ticket,
        timeout: float,  # noqa: ASYNC109 - what is left of the call's deadline
    ) -> Outcome | None:
        """Whether the instance is there and lets us ask it; what this costs is not charged."""
        proposal = ticket.proposal
        if proposal.is_clear and not proposal.is_trial:
            if await self._upstream.resolves(proposal.url, timeout=timeout):
                return None
            detail = "The host name does not resolve."
            return Outcome(Verdict.DNS, proposal.format, ticket.elapsed, detail=detail)
        clearance = await self._upstream.clearance(
            proposal.url, format=proposal.format, timeout=min(timeout, CLEARANCE_TIMEOUT)
        )
        if clearance.failure is not None:
            return clearance.failure
        if clearance.opted_out:
            ticket.opt_out()
            return None
        self._pool.clear(proposal.url, self._clock())
        if not proposal.is_clear:
            # Its limiter decides what the search is charged to.
            seconds = min(timeout, CLEARANCE_TIMEOUT, ticket.trail.left)
            facts = await self._upstream.config(proposal.url, own=False, timeout=seconds)
            if facts is not None:
                self._pool.learn_facts(proposal.url, facts, self._clock())
        return None


def needs_of(query: InstanceQuery) -> Needs:
    """What a query needs of an instance."""
    return Needs(query.category, TimeRange(query.time_range), query.page, query.engines)


def _answer(outcome: Outcome | None) -> ResultPage | None:
    """The page of an outcome with which a search may end."""
    if outcome is None or not outcome.verdict.ends_search:
        return None
    return outcome.page or ResultPage()

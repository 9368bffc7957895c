"""One request that costs a source a search: allowed, charged, sent, classified and learned from.

Searches, captures and tests all ask instances through `AttemptRunner.attempt`. Open sources have different
rules for who may be asked, and share what follows: `Ticket`.
"""

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol, Self

from searx_mcp.http.robots import RobotsDecision
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.circuit import Members
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome, Proposal
from searx_mcp.sources.attempts import TOO_LATE, AttemptLog, InstanceLog


class RequestPacer:
    """Spaces requests out, so that our bursts do not reach others as bursts.

    The first request does not wait; each later one keeps a random distance from the one before it. Callers
    queue in order of arrival.

    Args:
        bounds: milliseconds, from and to.
        rng: source of randomness.
    """

    def __init__(self, bounds: tuple[int, int], rng: random.Random) -> None:
        self._bounds = bounds
        self._rng = rng
        self._next = 0.0

    def take_turn(self, now: float) -> float:
        """Take the next place in the queue and return how many seconds away it is."""
        at = max(now, self._next)
        low, high = self._bounds
        self._next = at + self._rng.uniform(low, high) / 1_000
        return at - now

    async def wait(self, deadline: float = math.inf) -> bool:
        """Wait until the next request may be sent.

        Args:
            deadline: loop time; a place in the queue at or after it is not taken.

        Returns:
            `False`, at once, if its turn would come too late.
        """
        now = asyncio.get_running_loop().time()
        if max(now, self._next) >= deadline:
            return False
        await asyncio.sleep(self.take_turn(now))
        return True


ROBOTS_TIMEOUT: Final = 2.0
"""Seconds for a robots.txt or a `/config`, which an instance answers immediately."""
MAY_BE_OURS: Final = frozenset({Verdict.DNS, Verdict.CONNECTION, Verdict.TLS})
"""Failures that a machine without a network, or behind a captive portal, sees everywhere."""


@dataclass(slots=True)
class Ticket:
    """A request in progress; it reports exactly one ending to the pool.

    Attributes:
        url: base URL of the instance, or the address of the open source.
        pool: learns from it.
        log: of its search.
        clock: Unix seconds.
        began: loop time at which its time started; `None` while it waits for its turn.
        cut_short: whether it has less time than others, since the search ends.
        ended: whether the pool was informed, or will be by the log.
    """

    url: str
    pool: Members
    log: AttemptLog
    clock: Callable[[], float]
    began: float | None = None
    cut_short: bool = False
    ended: bool = False

    def __enter__(self) -> Self:
        self.pool.begin(self.url, self.clock())
        return self

    def __exit__(self, *exc_info: object) -> None:
        if not self.ended:
            self.pool.release(self.url)

    @property
    def elapsed(self) -> float:
        """Seconds since its time started."""
        now = asyncio.get_running_loop().time()
        return now - (now if self.began is None else self.began)

    def start(self, share: float, *, is_last: bool = False) -> float:
        """Start its time and return its seconds: one rule for every attempt.

        While another source can still answer, an attempt gets a share, so that time is left for that one. The
        last source that can answer gets all the rest: giving it up early would help nobody.

        Args:
            share: seconds of an attempt that others may follow.
            is_last: whether none can.
        """
        self.began = asyncio.get_running_loop().time()
        left = self.log.deadline - self.began
        self.cut_short = left < share
        return left if is_last else min(share, left)

    def learn(
        self, outcome: Outcome, query: InstanceQuery | None = None, *, held: frozenset[Verdict]
    ) -> bool:
        """Report the outcome to the pool, unless it says nothing about the source.

        A failure of ours, such as one of our proxy, says nothing; neither does a timeout if our deadline left
        it less time than others get.

        Args:
            outcome: of the request.
            query: what was asked, with the named engines.
            held: verdicts that may be due to this machine: they wait for the outcomes of others.

        Returns:
            Whether the pool was informed.
        """
        if outcome.ours or (self.cut_short and outcome.verdict is Verdict.TIMEOUT):
            return False
        self.ended = True
        if outcome.verdict in held:
            self.log.held.append((self.url, outcome))
            return False
        self.pool.report(self.url, outcome, self.clock(), query)
        return True


class InstanceClient(Protocol):
    """Asks instances, one request at a time each; see `searx_mcp.sources.searxng.upstream`.

    Expected failures are values.
    """

    async def search(
        self,
        base_url: str,
        query: InstanceQuery,
        *,
        own: bool,
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        timeout: float,  # noqa: ASYNC109 - what is left of the call's deadline
    ) -> Outcome:
        """Ask `base_url` and classify the answer; ends within `timeout` seconds."""
        ...

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ASYNC109 - of one look-up
        """Return whether the host of a public instance has an address; nothing is sent to it."""
        ...

    async def robots(
        self,
        base_url: str,
        *,
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        timeout: float,  # noqa: ASYNC109 - of one small file
    ) -> RobotsDecision | Outcome:
        """Read the robots.txt of a public instance."""
        ...

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - of one document
        """Return what the instance reports about itself, or `None`."""
        ...


Send = Callable[..., Awaitable[Outcome]]
"""Sends one search, called like `InstanceClient.search`."""
Charge = Callable[[Proposal, InstanceLog], Awaitable[bool]]
"""Charges a request to a public instance before it is sent; returns whether the budgets allow it."""


class AttemptRunner:
    """Makes single requests to instances.

    Once a day, a public instance is asked for its robots.txt before it is charged and searched, so a host
    that is down or opts out costs no budget. The same request tries an instance after a cooldown. Instances
    that allow us are also asked for `/config` once a day.

    Args:
        pool: learns from the outcomes.
        client: sends requests and classifies answers.
        charge: charges every request to a public instance; charges are never refunded.
        pacer: spaces out requests to public instances.
        own_at_once: maximum number of concurrent searches at an own instance; others wait in order of
            arrival.
        timeout: seconds of one request, from when it is sent, while another instance can be asked.
        max_instances: maximum number of instances for one search.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        pool: InstancePool,
        client: InstanceClient,
        charge: Charge,
        pacer: RequestPacer,
        own_at_once: int,
        timeout: float,
        max_instances: int,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._client = client
        self._charge = charge
        self._pacer = pacer
        self._own_at_once = own_at_once
        self._places = defaultdict[str, asyncio.Semaphore](partial(asyncio.Semaphore, own_at_once))
        self._timeout = timeout
        self._max_instances = max_instances
        self._clock = clock

    def is_over(self, log: InstanceLog) -> bool:
        """Return whether a search has asked its maximum number of instances."""
        # Instances that are down cost time but no search: as many of them may be tried besides.
        most = self._max_instances
        asked = len(log.asked) - log.side_by_side + 1
        return asked >= most or len(log.unsearched) >= most

    async def attempt(
        self,
        proposal: Proposal,
        query: InstanceQuery,
        log: InstanceLog,
        *,
        send: Send | None = None,
    ) -> Outcome | None:
        """Ask one instance once; the outcome is in the log and in the pool.

        Args:
            proposal: the instance, and how to ask it.
            query: the query.
            log: of its search; the caller settles it.
            send: sends this one request; by default, the client does.

        Returns:
            `None` if the budget, the operator or the clock forbids it.
        """
        url = proposal.url
        query = replace(query, engines=query.engines or proposal.engines)
        send = partial(
            send or self._client.search, url, query, own=proposal.own, format=proposal.format
        )
        with Ticket(url, self._pool, log, self._clock) as ticket:
            if log.is_late:
                return None
            log.asked.add(url)
            ask = self._ask_own if proposal.own else self._ask_public
            try:
                outcome = await ask(ticket, proposal, send, log)
            except asyncio.CancelledError:
                if ticket.began is not None and url in log.overtaken:
                    self._lose_to_hedge(ticket, proposal)
                raise
            if outcome is None:
                return None
            held = _NONE_HELD if proposal.own else MAY_BE_OURS
            ticket.learn(outcome, query, held=held)
        log.note(url, outcome)
        log.is_answered |= outcome.verdict.ends_search
        return outcome

    async def _ask_own(
        self, ticket: Ticket, proposal: Proposal, send: Send, log: InstanceLog
    ) -> Outcome | None:
        places = self._places[proposal.url]
        if places.locked():
            log.say(f"waiting for one of {self._own_at_once} searches at {proposal.url} to end")
        try:
            async with asyncio.timeout_at(log.deadline - TOO_LATE):
                await places.acquire()
        except TimeoutError:
            log.queued_behind = self._own_at_once
            return None
        try:
            log.queued_behind = 0
            log.say(f"asking {proposal.url} for {proposal.format.upper()}")
            return await send(timeout=self._start(ticket, log))
        finally:
            places.release()

    def _start(self, ticket: Ticket, log: InstanceLog) -> float:
        may_follow = not self.is_over(log) and self._pool.has_eligible(
            self._clock(), exclude=log.excluded
        )
        return ticket.start(self._timeout, is_last=not (may_follow or log.is_answered))

    async def _ask_public(
        self, ticket: Ticket, proposal: Proposal, send: Send, log: InstanceLog
    ) -> Outcome | None:
        seconds = self._start(ticket, log)
        decision = await self._look_up(ticket, proposal, min(seconds, self._timeout))
        if isinstance(decision, Outcome) or not decision.allowed:
            log.give_up(proposal.url)
            return decision if isinstance(decision, Outcome) else None
        if not await self._pacer.wait(log.deadline - TOO_LATE):
            return None
        if not await self._charge(proposal, log):
            return None
        log.say(f"asking {proposal.url} for {proposal.format.upper()}")
        return await send(timeout=min(seconds, log.left))

    async def _look_up(
        self, ticket: Ticket, proposal: Proposal, seconds: float
    ) -> RobotsDecision | Outcome:
        """Check that the instance is up and allows us; charges no budget."""
        url, form, client = proposal.url, proposal.format, self._client
        if proposal.robots_known and not proposal.is_trial:
            if await client.resolves(url, timeout=seconds):
                return RobotsDecision()
            detail = "The host name does not resolve."
            return Outcome(Verdict.DNS, form, ticket.elapsed, detail=detail)
        seconds = min(seconds, ROBOTS_TIMEOUT)
        clock = self._clock
        decision = await read_robots(client, self._pool, url, form, clock=clock, timeout=seconds)
        if decision == RobotsDecision() and not proposal.robots_known:
            # Its limiter determines which budget the search is charged to.
            seconds = min(seconds, ticket.log.left)
            await read_config(client, self._pool, url, own=False, clock=clock, timeout=seconds)
        return decision

    def _lose_to_hedge(self, ticket: Ticket, proposal: Proposal) -> None:
        ticket.ended = True
        elapsed = ticket.elapsed
        self._pool.lost_to_hedge(proposal.url, elapsed, self._clock())
        detail = "Another instance answered first."
        ticket.log.note(
            proposal.url, Outcome(Verdict.OVERTAKEN, proposal.format, elapsed, detail=detail)
        )


_NONE_HELD: Final = frozenset[Verdict]()


async def read_robots(
    client: InstanceClient,
    pool: InstancePool,
    url: str,
    format: Format,  # noqa: A002 - the field's word for JSON or HTML
    *,
    clock: Callable[[], float],
    timeout: float,  # noqa: ASYNC109 - of one small file
) -> RobotsDecision | Outcome:
    """Read the robots.txt of a public instance and report it to the pool.

    Args:
        client: makes the request.
        pool: learns.
        url: the instance.
        format: that of the following search; a failure is reported under it.
        clock: Unix seconds.
        timeout: seconds for the request.
    """
    decision = await client.robots(url, format=format, timeout=timeout)
    if isinstance(decision, RobotsDecision):
        pool.read_robots(url, opted_out=not decision.allowed, now=clock())
    return decision


async def read_config(
    client: InstanceClient,
    pool: InstancePool,
    url: str,
    *,
    own: bool,
    clock: Callable[[], float],
    timeout: float,  # noqa: ASYNC109 - of one document
) -> ConfigFacts | None:
    """Read what an instance reports about itself, and pass it to the pool.

    Args:
        client: makes the request.
        pool: learns.
        url: the instance.
        own: whether it is an own instance.
        clock: Unix seconds.
        timeout: seconds for the request.
    """
    facts = await client.config(url, own=own, timeout=timeout)
    if facts is not None:
        pool.learn_facts(url, facts, clock())
    return facts

"""Sends one query through the pool: asks instances until one answers or the deadline passes.

If the first is slow, a second one is asked.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from searx_mcp.errors import DeadlineError
from searx_mcp.models.attempt import Format
from searx_mcp.models.hits import ResultPage
from searx_mcp.pool.engine_care import is_thin
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Proposal
from searx_mcp.search.budget import QuotaGuard
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.merge import fuse, keys_of
from searx_mcp.search.providers.context import Found, SearchContext
from searx_mcp.search.providers.unavailable import unavailable
from searx_mcp.sources.attempt_runner import AttemptRunner, InstanceClient, RequestPacer
from searx_mcp.sources.attempts import InstanceLog
from searx_mcp.storage.state import StateStore

LEAST_GRACE = 0.1
"""Minimum seconds that the others have after the first answer."""
_SEVERAL = 2
_ENOUGH_TO_COMPARE = 3
"""Answers needed to recognise one that agrees with no other; and rows needed in each, since two rows may well
differ."""

Answered = tuple[Proposal, ResultPage]
"""The instance that answered, and its page."""
AskOne = Callable[[Proposal, InstanceQuery, InstanceLog], Coroutine[Any, Any, "Answered | None"]]
"""Asks one instance; returns the answer that can end the search."""


class FanOut:
    """Asks own instances concurrently; never public ones.

    The search continues when all have answered, when two have brought as many results as wanted, or when the
    others have had as long again as the first one took. An instance still in progress then is overtaken: it
    is left out for a time, and its next try delays no search.

    Args:
        pool: chooses and learns.
        ask: makes one request.
        width: maximum number of concurrent instances, at least 2.
        clock: Unix seconds.
    """

    def __init__(
        self, pool: InstancePool, ask: AskOne, *, width: int, clock: Callable[[], float]
    ) -> None:
        self._pool = pool
        self._ask = ask
        self._width = width
        self._clock = clock

    async def ask(self, query: InstanceQuery, *, wanted: int, log: InstanceLog) -> Answered | None:
        """Return the first that answered, with the results of all; `None` if there are no two to ask."""
        if len(self._pool.own_urls()) < _SEVERAL:
            return None
        proposals = self._proposals(query, log)
        if len(proposals) < _SEVERAL:
            return None
        log.side_by_side = len(proposals)
        answers = await self._ask_all(proposals, query, wanted, log)
        if not answers:
            return None
        self._compare(answers)
        return answers[0][0], fuse([page for _, page in answers])

    def _proposals(self, query: InstanceQuery, log: InstanceLog) -> list[Proposal]:
        proposals: list[Proposal] = []
        passed_over = log.excluded | self._pool.behind(self._clock())
        while len(proposals) < self._width:
            taken = {proposal.url for proposal in proposals} | passed_over
            proposal = self._pool.propose(self._clock(), exclude=taken, query=query, unlimited=True)
            if proposal is None or not proposal.own:
                break
            proposals.append(proposal)
        return proposals

    async def _ask_all(
        self, proposals: Sequence[Proposal], query: InstanceQuery, wanted: int, log: InstanceLog
    ) -> list[Answered]:
        loop = asyncio.get_running_loop()
        started, deadline = loop.time(), log.deadline
        answers: list[Answered] = []
        async with asyncio.TaskGroup() as group:
            running = {
                group.create_task(self._ask(proposal, query, log)): proposal
                for proposal in proposals
            }
            while _are_awaited(running.values(), answers) and not _is_enough(answers, wanted):
                done, _ = await asyncio.wait(
                    running,
                    timeout=max(0.0, deadline - loop.time()),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not done:
                    break
                for task in done:
                    del running[task]
                    if (answered := task.result()) is not None:
                        answers.append(answered)
                if len(answers) == 1:
                    grace = max(LEAST_GRACE, loop.time() - started)
                    deadline = min(deadline, loop.time() + grace)
            for task, proposal in running.items():
                log.overtaken.add(proposal.url)
                task.cancel()
        return answers

    def _compare(self, answers: Sequence[Answered]) -> None:
        """Report to the pool which instance agrees with no other, if others agree with each other."""
        found = {proposal.url: keys_of(page) for proposal, page in answers}
        found = {url: keys for url, keys in found.items() if len(keys) >= _ENOUGH_TO_COMPARE}
        if len(found) < _ENOUGH_TO_COMPARE:
            return
        agrees = {
            url: any(keys & other for rival, other in found.items() if rival != url)
            for url, keys in found.items()
        }
        if any(agrees.values()):
            for url, does in agrees.items():
                self._pool.record_agreement(url, agrees=does, now=self._clock())


def _are_awaited(running: Collection[Proposal], answers: Sequence[Answered]) -> bool:
    """Return whether any running request is worth waiting for."""
    return any(not (answers and proposal.is_doubted) for proposal in running)


def _is_enough(answers: Sequence[Answered], wanted: int) -> bool:
    if len(answers) < _SEVERAL:
        return False
    return len(set().union(*(keys_of(page) for _, page in answers))) >= wanted


_SAMPLES = 100
_ENOUGH = 10
_SAVED = 5.0


class Hedging:
    """Limits the number of hedges, and determines their delay.

    A hedge is sent after the 90th percentile of the latest answers, so that about every tenth search costs a
    second request (Dean and Barroso, "The Tail at Scale", 2013, §"Hedged requests", hedge after the 95th; our
    samples are few). Every attempt earns a share of a hedge, and saved shares are bounded, so that an outage
    does not double the load. Retries have a separate limit: when both shared one, hedges starved the retries.

    Args:
        share: maximum hedges per attempt.
        delay: seconds before a hedge while there are fewer than ten answers.

    Attributes:
        latencies: seconds of the latest answers of instances that may be hedged.
    """

    def __init__(self, *, share: float, delay: float) -> None:
        self._share = share
        self._delay = delay
        self._saved = 1.0
        self.latencies: deque[float] = deque(maxlen=_SAMPLES)

    def delay(self) -> float:
        """Return how many seconds to wait for the first instance."""
        if len(self.latencies) < _ENOUGH:
            return self._delay
        ordered = sorted(self.latencies)
        return ordered[int(0.9 * len(ordered))]

    def earn(self) -> None:
        """Record an attempt that may be hedged."""
        self._saved = min(_SAVED, self._saved + self._share)

    def spend(self) -> bool:
        """Use one hedge, if the limit allows it."""
        if self._saved < 1:
            return False
        self._saved -= 1
        return True


ANSWER_TIME = 2.0
"""Seconds that must be left for an answer when a search waits for a budget."""
MAX_PAGES = 5
"""Maximum pages of one search from one own instance: 50 results at ten a page."""

_MOMENT = 0.01
"""Tolerance in seconds: a clock may say slightly before the store that a budget has room."""


class InstanceSearch:
    """Sends one query through the pool; a `Provider`.

    Each search asks at most `max_instances` different instances, each at most once (one that has JSON
    switched off is asked again for HTML at once), and every request to a public one is charged before it is
    sent. If all budgets are spent and one of them has room again soon enough, the search waits for it.
    Instances are asked one after the other. Only one that counts no requests is hedged if it is slow: another
    of that kind is asked concurrently, then perhaps a third, and the first answer wins. An own one whose last
    request failed is hedged at once. Everything ends at the call's deadline or the search phase's, whichever
    is earlier.

    Args:
        pool: chooses and learns.
        upstream: sends requests and classifies answers.
        state: stores the budgets.
        config: the limits of one search.
        spacing: keeps requests to public instances apart in time.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        pool: InstancePool,
        upstream: InstanceClient,
        state: StateStore,
        config: SearchConfig,
        spacing: RequestPacer,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._config = config
        self._clock = clock
        self._guard = QuotaGuard(pool, state, clock)
        self.runner = AttemptRunner(
            pool=pool,
            client=upstream,
            charge=self._guard.charge,
            pacer=spacing,
            own_at_once=config.own_at_once,
            timeout=config.attempt_timeout,
            max_instances=config.max_instances,
            clock=clock,
        )
        self._hedging = Hedging(share=config.hedge_share, delay=config.hedge_delay)
        self._fan_out = (
            FanOut(pool, self._ask_one, width=config.fan_out, clock=clock)
            if config.fan_out >= _SEVERAL
            else None
        )

    async def run(self, context: SearchContext) -> Found:
        """Ask instances until one answers.

        Further pages are requested only from own instances; a public one is asked once.

        Raises:
            NoInstancesError: no instance could serve; it carries every attempt.
            DeadlineError: there was no time for a single attempt.
        """
        query = context.query
        context = context.within(self._config.phase_timeout)
        log = InstanceLog(context.deadline, context.progress)
        try:
            answered = None
            if self._fan_out is not None:
                answered = await self._fan_out.ask(query, wanted=context.wanted, log=log)
            if answered is None:
                answered = await self._ask_in_turn(query, log)
            if answered is None:
                raise self._failure(query, log)
            asked, page = answered
            pages, complete = [page], True
            if asked.own:
                complete = await self._further(asked, query, pages, context.wanted, log)
            return Found(tuple(pages), asked.url, tuple(log.attempts), complete, own=asked.own)
        finally:
            if log.held:
                log.settle(self._pool, self._clock())

    async def _ask_in_turn(self, query: InstanceQuery, log: InstanceLog) -> Answered | None:
        while not self.runner.is_over(log):
            proposal = self._next(query, log)
            if proposal is not None and not proposal.own and not log.knows_budgets:
                await self._guard.pass_over_spent(log)
                proposal = self._next(query, log)
            if proposal is None:
                if await self._wait_for_budget(log):
                    continue
                break
            is_hedged = proposal.is_unlimited and self._config.hedge_share > 0
            ask = self._ask_hedged if is_hedged else self._ask_one
            answered = await ask(proposal, query, log)
            if answered is not None or log.is_late:
                return answered
        return None

    def _next(
        self, query: InstanceQuery, log: InstanceLog, *, unlimited: bool = False
    ) -> Proposal | None:
        return self._pool.propose(
            self._clock(), exclude=log.excluded, query=query, unlimited=unlimited
        )

    async def _wait_for_budget(self, log: InstanceLog) -> bool:
        """Wait until an instance may be asked again, if there is still time to answer then."""
        if log.budget_retry_at is None:
            return False
        wait = log.budget_retry_at - self._clock()
        if wait > log.left - ANSWER_TIME:
            return False
        log.say(f"waiting {wait:.0f} s until an instance's budget allows another request")
        await asyncio.sleep(max(wait, _MOMENT))
        log.forget_budgets()
        return True

    async def _ask_hedged(
        self, proposal: Proposal, query: InstanceQuery, log: InstanceLog
    ) -> Answered | None:
        hedging, loop = self._hedging, asyncio.get_running_loop()
        hedging.earn()
        rival: Proposal | None = proposal
        async with asyncio.TaskGroup() as group:
            running: dict[asyncio.Task[Answered | None], tuple[Proposal, float]] = {}
            while rival is not None or running:
                patience = None
                if rival is not None:
                    task = group.create_task(self._ask_one(rival, query, log))
                    running[task] = rival, loop.time()
                    is_doubtful = all(each.is_doubted for each, _ in running.values())
                    patience = 0.0 if is_doubtful else hedging.delay()
                done, _ = await asyncio.wait(
                    running, timeout=patience, return_when=asyncio.FIRST_COMPLETED
                )
                for task in [task for task in running if task in done]:
                    if (answered := task.result()) is not None:
                        hedging.latencies.append(loop.time() - running[task][1])
                        if len(running) > 1:
                            _give_up(running, task, log)
                        return answered
                    del running[task]
                rival = self._rival([each for each, _ in running.values()], query, log)
                if rival is not None:
                    log.say(f"no answer yet; asking {rival.url} as well")
        return None

    def _rival(
        self, running: Collection[Proposal], query: InstanceQuery, log: InstanceLog
    ) -> Proposal | None:
        """Return an instance to ask in addition to the running ones, if there are hedges left.

        Own instances that failed last time, or never answered, are hedged as often as needed: the share
        limits the load on those that work.
        """
        if not running or log.is_late or self.runner.is_over(log):
            return None
        rival = self._next(query, log, unlimited=True)
        is_free = all(each.own and (each.is_doubted or not each.is_proven) for each in running)
        return rival if rival is not None and (is_free or self._hedging.spend()) else None

    async def _ask_one(
        self, proposal: Proposal, query: InstanceQuery, log: InstanceLog
    ) -> Answered | None:
        """Ask one instance, and for HTML at once if it refuses only JSON; return `None` without an answer."""
        outcome = await self.runner.attempt(proposal, query, log)
        if outcome is not None and outcome.is_about_format(own=proposal.own):
            proposal = replace(proposal, format=Format.HTML)
            outcome = await self.runner.attempt(proposal, query, log)
        if outcome is None:
            return None
        page = outcome.answer
        if proposal.engines and query.page == 1 and outcome.page and is_thin(outcome.page):
            page = await self._ask_others(proposal, query, log, page)
        return None if page is None else (proposal, page)

    async def _ask_others(
        self, proposal: Proposal, query: InstanceQuery, log: InstanceLog, page: ResultPage | None
    ) -> ResultPage | None:
        """Add the results of the engines that were spared to a page."""
        others = self._pool.other_engines(proposal.url, query, proposal.engines, self._clock())
        if not others:
            return page
        outcome = await self.runner.attempt(replace(proposal, engines=others), query, log)
        more = outcome.answer if outcome is not None else None
        return fuse([page, more]) if page and more else page or more

    async def _further(
        self,
        proposal: Proposal,
        query: InstanceQuery,
        pages: list[ResultPage],
        wanted: int,
        log: InstanceLog,
    ) -> bool:
        """Add more pages of an own instance until there is enough, or one has nothing new.

        Returns:
            Whether there are no more results.
        """
        urls = {hit.url for hit in pages[0].hits}
        while len(urls) < wanted and len(pages) < MAX_PAGES:
            if not pages[-1].hits or pages[-1].has_next is False:
                return True
            if log.is_late:
                return False
            again = replace(proposal, format=self._pool.format_of(proposal.url, self._clock()))
            answered = await self._ask_one(again, replace(query, page=query.page + len(pages)), log)
            fresh = {hit.url for hit in answered[1].hits} - urls if answered else set()
            if answered is None or not fresh:
                return answered is not None
            pages.append(answered[1])
            urls |= fresh
        return False

    def _failure(self, query: InstanceQuery, log: InstanceLog) -> Exception:
        now = self._clock()
        if not log.attempts and log.queued_behind:
            others = log.queued_behind
            return DeadlineError(
                f"The instance was busy with {others} other search{'es' * (others != 1)}",
                advice="Run fewer searches at once, or raise search.own_at_once.",
            )
        if not log.attempts and log.is_late:
            return DeadlineError("No instance could be asked")
        at = log.budget_retry_at
        return unavailable(
            own=self._pool.own_urls(),
            has_public=self._pool.has_public,
            attempts=log.attempts,
            budget_retry=None if at is None else max(0.0, at - now),
            state_retry=self._pool.earliest_retry(now, query),
            own_rests=self._pool.why_own_rests(now, query),
        )


def _give_up(
    running: Mapping["asyncio.Task[Answered | None]", tuple[Proposal, float]],
    winner: "asyncio.Task[Answered | None]",
    log: InstanceLog,
) -> None:
    """Cancel all requests but the winner's; those sent before it are overtaken."""
    is_earlier = True
    for task, (proposal, _) in running.items():
        is_earlier = is_earlier and task is not winner
        if is_earlier and not task.done():
            log.overtaken.add(proposal.url)
        task.cancel()

"""Several own instances asked at once, and what they found made one list."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

from searx_mcp.models.hits import ResultPage
from searx_mcp.pool.attempt import InstanceQuery, Proposal
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.merge import fuse, keys_of
from searx_mcp.sources.attempt_log import InstanceLog

LEAST_GRACE = 0.1
"""Seconds that the others have at least after the first answer."""
_SEVERAL = 2
_ENOUGH_TO_COMPARE = 3
"""Answers it takes to recognize one that agrees with no other; and rows in each, since two rows
may well differ."""

Answered = tuple[Proposal, ResultPage]
"""Who answered, and with what."""
AskOne = Callable[[Proposal, InstanceQuery, InstanceLog], Coroutine[Any, Any, "Answered | None"]]
"""Asks one instance; gives the answer with which the search may end."""


class FanOut:
    """Asks own instances side by side; public ones never.

    The search goes on when all have answered, when two have brought as many results as are wanted,
    or when the others have had as long again as the first one took. An instance that is
    still at work then is overtaken: it is left out for a time, and its next try holds up no search.

    Args:
        pool: chooses and learns.
        ask: makes one request.
        width: instances asked at the same time at most; below 2 there is no fan-out.
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
        """The first who answered, with what all of them found; `None` without two to ask."""
        if min(self._width, len(self._pool.own_urls())) < _SEVERAL:
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
        """Tell the pool which instance agrees with no other, if others agree among themselves."""
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
    """Whether any running request is worth waiting for."""
    return any(not (answers and proposal.is_doubted) for proposal in running)


def _is_enough(answers: Sequence[Answered], wanted: int) -> bool:
    if len(answers) < _SEVERAL:
        return False
    return len(set().union(*(keys_of(page) for _, page in answers))) >= wanted

"""One round of requests to open sources: allowed, charged, sent side by side, learned from."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.attempt_log import SourceLog
from searx_mcp.sources.attempt_runner import MAY_BE_OURS, Ticket
from searx_mcp.sources.open.answers import Answered
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery
from searx_mcp.sources.open.members import rate_limits
from searx_mcp.sources.open.routing.route import Choice
from searx_mcp.storage.state import StateStore

GRACE: Final = 0.7
"""Seconds that the engines of the query's own route still have once there is enough. Chosen, not measured: they
have what fits best, and the slowest may take ten."""
_MOMENT: Final = 0.01
"""Seconds; a clock may say that a budget is free a little before the store does."""
_TOO_LATE: Final = 0.2
"""With less time left, in seconds, a request cannot come to anything."""
_MAY_BE_OURS: Final = MAY_BE_OURS | {Verdict.TIMEOUT}

_log = logging.getLogger("searx_mcp.search.open_sources")


class EngineClient(Protocol):
    """Sends one request to one engine; see `OpenUpstream`."""

    async def ask(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        *,
        timeout: float,  # noqa: ASYNC109 - what is left of the search phase
    ) -> Answered:
        """Ask once; ends within `timeout` seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What an engine gave.

    Attributes:
        choice: why it was asked.
        page: its hits, relevant or not.
        relevant: of them, those that have to do with the query.
    """

    choice: Choice
    page: ResultPage
    relevant: tuple[Hit, ...]

    @property
    def is_irrelevant(self) -> bool:
        """Whether there were hits, and none has to do with the query."""
        return bool(self.page.hits) and not self.relevant


Keep = Callable[[Choice, ResultPage], tuple[Hit, ...]]
"""Gives the hits of a page that have to do with the query."""


class ConcurrentQueries:
    """Asks several engines at once, each within its budget and its limits.

    Args:
        upstream: sends and judges.
        sources: knows who rests, and learns.
        state: keeps the budgets.
        has_contact: whether operators who want to know one are told a contact.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        upstream: EngineClient,
        sources: SourcePool,
        state: StateStore,
        has_contact: bool,
        clock: Callable[[], float],
    ) -> None:
        self._upstream = upstream
        self._sources = sources
        self._state = state
        self._has_contact = has_contact
        self._clock = clock
        self._at_once: dict[str, asyncio.Semaphore] = {}

    async def ask(
        self,
        asked: Sequence[tuple[Choice, Engine, OpenQuery]],
        log: SourceLog,
        *,
        keep: Keep,
        is_enough: Callable[[Sequence[Reply]], bool],
    ) -> list[Reply]:
        """Ask engines side by side until all have answered, enough is in, or the time is over.

        Args:
            asked: the engines and the request to each, best first.
            log: takes down what happens.
            keep: gives the hits of a page that have to do with the query.
            is_enough: whether what has come is enough. Then those of another route than the query's
                own are given up, and the others have `GRACE` left.

        Returns:
            What came, in the order of `asked`.
        """
        loop = asyncio.get_running_loop()
        replies: dict[str, Reply] = {}
        deadline = log.deadline
        try:
            async with asyncio.TaskGroup() as group:
                running = {
                    group.create_task(self._reply(choice, engine, query, log, keep)): choice
                    for choice, engine, query in asked
                }
                while running:
                    done, _ = await asyncio.wait(
                        running,
                        timeout=max(0.0, deadline - loop.time()),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    if not done:
                        break
                    for task in done:
                        choice, reply = running.pop(task), task.result()
                        if reply is not None:
                            replies[choice.engine] = reply
                    if is_enough([*replies.values()]):
                        deadline = min(deadline, loop.time() + GRACE)
                        if not any(choice.factor >= 1 for choice in running.values()):
                            break
                for task in running:
                    task.cancel()
        finally:
            log.settle(self._sources, self._clock())
        return [replies[choice.engine] for choice, _, _ in asked if choice.engine in replies]

    async def _reply(
        self, choice: Choice, engine: Engine, query: OpenQuery, log: SourceLog, keep: Keep
    ) -> Reply | None:
        try:
            answered = await self._one(engine, query, log)
            if answered is None:
                return None
            page = answered.outcome.page or ResultPage()
            return Reply(choice, page, keep(choice, page))
        except Exception:  # noqa: BLE001 - the one supervisor of an engine
            # A mistake of ours costs one engine, never the search.
            _log.exception("open_sources.engine_crashed engine=%s", engine.name)
            log.skipped[engine.name] = "could not be processed"
            return None

    def may_ask(self, engine: Engine) -> bool:
        """Whether a request may go to an engine now, as far as is known without its budget."""
        return self._sources.may_ask(engine.address, self._clock())

    async def ask_one(
        self, engine: Engine, query: OpenQuery, log: SourceLog, *, is_last: bool = False
    ) -> Answered | None:
        """Ask one engine for one page; `None` if it was not asked, or has not answered: `log` says why.

        Args:
            engine: whom to ask.
            query: what to ask for.
            log: takes down what happens.
            is_last: whether no other source can answer; see `Ticket.start`.
        """
        try:
            return await self._one(engine, query, log, is_last=is_last)
        finally:
            log.settle(self._sources, self._clock())

    async def _one(
        self, engine: Engine, query: OpenQuery, log: SourceLog, *, is_last: bool = False
    ) -> Answered | None:
        """One request, or `None` when the engine, its budget or the clock forbids it."""
        ask = engine.ask(query)
        if ask is None:
            log.skipped[engine.name] = "cannot search for this"
            return None
        now = self._clock()
        if not self._sources.may_ask(engine.address, now):
            log.skipped[engine.name] = "in cooldown"
            log.waits.append(self._sources.retry_after(engine.address, now))
            return None
        slots = asyncio.Semaphore(engine.concurrency)
        async with self._at_once.setdefault(engine.bucket or engine.name, slots):
            answered = await self._send(engine, ask, query, log, is_last=is_last)
            if answered is not None and answered.again:
                # It is their load and no limit of ours: the spacing is pause enough.
                again = await self._send(engine, ask, query, log, is_last=is_last, again=True)
                answered = again or answered
        if answered is None:
            return None
        outcome = answered.outcome
        if not outcome.verdict.ends_search:
            log.skipped[engine.name] = outcome.verdict.replace("_", " ")
            return None
        return answered

    async def _charge(self, engine: Engine, log: SourceLog) -> bool:
        """Charge one request; where the spacing forbids it, wait once as long as the table allows."""
        account = rate_limits(engine, has_contact=self._has_contact)
        patience = engine.patience
        while True:
            now = self._clock()
            reservation = await self._state.reserve([account], Format.JSON, now)
            if reservation.granted:
                return True
            wait = max(_MOMENT, (reservation.retry_at or now) - now)
            if wait > min(patience, log.left - _TOO_LATE):
                log.skipped[engine.name] = "budget"
                log.waits.append(wait)
                return False
            patience -= wait
            await asyncio.sleep(wait)

    async def _send(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        log: SourceLog,
        *,
        is_last: bool,
        again: bool = False,
    ) -> Answered | None:
        """One request, charged before it leaves; `None` when the budget or the clock forbids it."""
        if not await self._charge(engine, log):
            return None
        if log.left <= _TOO_LATE:
            log.skipped[engine.name] = "no time left"
            return None
        log.say(f"asking {engine.title}")
        url = engine.address
        with Ticket(url, self._sources, log, self._clock) as ticket:
            timeout = ticket.start(engine.timeout, is_last=is_last)
            try:
                answered = await self._upstream.ask(engine, ask, query, timeout=timeout)
            except asyncio.CancelledError:
                is_over = log.left <= _TOO_LATE
                detail = "Time ran out." if is_over else "The other queries found enough."
                _note(
                    log,
                    engine,
                    Outcome(Verdict.OVERTAKEN, Format.JSON, ticket.elapsed, detail=detail),
                )
                raise
            _note(log, engine, answered.outcome)
            may_follow = answered.again and not again
            if not may_follow and ticket.learn(answered.outcome, held=_MAY_BE_OURS):
                self._rest(engine, answered, log)
        return answered

    def _rest(self, engine: Engine, answered: Answered, log: SourceLog) -> None:
        """Leave the engine alone for as long as it asks."""
        url, now = engine.address, self._clock()
        if answered.pause is not None:
            self._sources.rest(url, answered.pause, now)
        if wait := self._sources.retry_after(url, now):
            log.waits.append(wait)


def _note(log: SourceLog, engine: Engine, outcome: Outcome) -> None:
    log.note(engine.address, outcome, name=engine.title, source=engine.name)

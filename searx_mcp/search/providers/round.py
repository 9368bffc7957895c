"""One round of requests to open sources: allowed, charged, sent side by side, learned from."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol

from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.service import Progress
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.sources import SourcePool
from searx_mcp.search.providers.accounts import source_account
from searx_mcp.sources.open.answers import Answered
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery
from searx_mcp.sources.open.routing.route import Choice
from searx_mcp.storage.state import StateStore

GRACE: Final = 0.7
"""Seconds that the engines of the query's own route still have once there is enough. Chosen, not measured: they
have what fits best, and the slowest may take ten."""
_SEVERAL: Final = 2
_MOMENT: Final = 0.01
"""Seconds; a clock may say that a budget is free a little before the store does."""
_TOO_LATE: Final = 0.2
"""With less time left, in seconds, a request cannot come to anything."""
_UNREACHED: Final = frozenset({Verdict.DNS, Verdict.CONNECTION, Verdict.TLS, Verdict.TIMEOUT})

_log = logging.getLogger("searx_mcp.search.open_sources")


class Asks(Protocol):
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


@dataclass(slots=True)
class Journal:
    """What one search came to at the open sources so far.

    Attributes:
        deadline: loop time by which everything ends.
        progress: told each step.
        attempts: every request made, in order.
        skipped: why engines were not asked, by name.
        waits: seconds until an engine that was not asked, or has refused, may be asked.
        held: outcomes that may be due to this machine, until another host is reached.
    """

    deadline: float
    progress: Progress | None = None
    attempts: list[Attempt] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    held: list[tuple[str, Outcome]] = field(default_factory=list)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - asyncio.get_running_loop().time()

    def say(self, message: str) -> None:
        """Tell a step to whoever follows the search."""
        if self.progress is not None:
            self.progress(message)


class Rounds:
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
        upstream: Asks,
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
        journal: Journal,
        *,
        keep: Keep,
        is_enough: Callable[[Sequence[Reply]], bool],
    ) -> list[Reply]:
        """Ask engines side by side until all have answered, enough is in, or the time is over.

        Args:
            asked: whom, and what each is asked; the best first.
            journal: takes down what happens.
            keep: gives the hits of a page that have to do with the query.
            is_enough: whether what has come is enough. Then those of another route than the query's
                own are given up, and the others have `GRACE` left.

        Returns:
            What came, in the order of `asked`.
        """
        loop = asyncio.get_running_loop()
        replies: dict[str, Reply] = {}
        deadline = journal.deadline
        try:
            async with asyncio.TaskGroup() as group:
                running = {
                    group.create_task(self._reply(choice, engine, query, journal, keep)): choice
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
            self._settle(journal)
        return [replies[choice.engine] for choice, _, _ in asked if choice.engine in replies]

    async def _reply(
        self, choice: Choice, engine: Engine, query: OpenQuery, journal: Journal, keep: Keep
    ) -> Reply | None:
        try:
            page = await self._one(engine, query, journal)
            return None if page is None else Reply(choice, page, keep(choice, page))
        except Exception:  # noqa: BLE001 - the one supervisor of an engine
            # A mistake of ours costs one engine, never the search.
            _log.exception("open_sources.engine_crashed engine=%s", engine.name)
            journal.skipped[engine.name] = "could not be handled"
            return None

    async def _one(self, engine: Engine, query: OpenQuery, journal: Journal) -> ResultPage | None:
        """One request, or `None` when the engine, its budget or the clock forbids it."""
        ask = engine.ask(query)
        if ask is None:
            journal.skipped[engine.name] = "cannot be asked this"
            return None
        if not self._may_ask(engine, journal):
            return None
        async with self._slot(engine):
            answered = await self._charged(engine, ask, query, journal)
            if answered is not None and answered.again:
                # It is their load and no limit of ours: the spacing is pause enough.
                again = await self._charged(engine, ask, query, journal, is_last=True)
                answered = again or answered
        if answered is None:
            return None
        outcome = answered.outcome
        if not outcome.verdict.ends_search:
            journal.skipped[engine.name] = outcome.verdict.replace("_", " ")
            return None
        return outcome.page or ResultPage()

    async def _charged(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        journal: Journal,
        *,
        is_last: bool = False,
    ) -> Answered | None:
        if not await self._charge(engine, journal):
            return None
        return await self._send(engine, ask, query, journal, is_last=is_last)

    def _may_ask(self, engine: Engine, journal: Journal) -> bool:
        now = self._clock()
        if self._sources.may_ask(engine.address, now):
            return True
        journal.skipped[engine.name] = "rests"
        journal.waits.append(self._sources.retry_after(engine.address, now))
        return False

    def _slot(self, engine: Engine) -> AbstractAsyncContextManager[None]:
        name = engine.bucket or engine.name
        return self._at_once.setdefault(name, asyncio.Semaphore(engine.concurrency))

    async def _charge(self, engine: Engine, journal: Journal) -> bool:
        """Charge one request; where the spacing forbids it, wait once as long as the table allows."""
        account = source_account(engine, has_contact=self._has_contact)
        patience = engine.patience
        while True:
            now = self._clock()
            reservation = await self._state.reserve([account], Format.JSON, now)
            if reservation.granted:
                return True
            wait = max(_MOMENT, (reservation.retry_at or now) - now)
            if wait > min(patience, journal.left - _TOO_LATE):
                journal.skipped[engine.name] = "budget"
                journal.waits.append(wait)
                return False
            patience -= wait
            await asyncio.sleep(wait)

    async def _send(
        self, engine: Engine, ask: Ask, query: OpenQuery, journal: Journal, *, is_last: bool
    ) -> Answered | None:
        timeout = min(engine.timeout, journal.left)
        if timeout <= _TOO_LATE:
            journal.skipped[engine.name] = "no time left"
            return None
        journal.say(f"asking {engine.title}")
        self._sources.begin(engine.address, self._clock())
        loop = asyncio.get_running_loop()
        began, has_ended = loop.time(), False
        try:
            answered = await self._upstream.ask(engine, ask, query, timeout=timeout)
            has_ended = True
        finally:
            if not has_ended:
                self._sources.release(engine.address)
                is_over = journal.left <= _TOO_LATE
                detail = "The time was over." if is_over else "The others had brought enough."
                given_up = Outcome(
                    Verdict.OVERTAKEN, Format.JSON, loop.time() - began, detail=detail
                )
                _note(journal, engine, given_up)
        outcome = answered.outcome
        _note(journal, engine, outcome)
        is_cut_short = timeout < engine.timeout and outcome.verdict is Verdict.TIMEOUT
        may_follow = answered.again and not is_last
        is_telling = not (outcome.ours or is_cut_short or may_follow)
        self._learn(engine, answered, journal, counts=is_telling)
        return answered

    def _learn(self, engine: Engine, answered: Answered, journal: Journal, *, counts: bool) -> None:
        url, now = engine.address, self._clock()
        if not counts:
            self._sources.release(url)
        elif answered.outcome.verdict in _UNREACHED:
            journal.held.append((url, answered.outcome))
        else:
            self._sources.report(url, answered.outcome, now)
            if answered.pause is not None:
                self._sources.rest(url, answered.pause, now)
            if wait := self._sources.retry_after(url, now):
                journal.waits.append(wait)

    def _settle(self, journal: Journal) -> None:
        """Report failures to reach somebody, unless nobody at all was reached: then we are offline."""
        reached = any(attempt.status_code is not None for attempt in journal.attempts)
        for url, outcome in journal.held:
            if reached or len(journal.held) < _SEVERAL:
                self._sources.report(url, outcome, self._clock())
            else:
                self._sources.release(url)
        journal.held.clear()


def _note(journal: Journal, engine: Engine, outcome: Outcome) -> None:
    attempt = outcome.attempt(engine.address, source=engine.name)
    journal.attempts.append(attempt)
    journal.say(f"{engine.title}: {outcome.verdict.replace('_', ' ')}")
    _log.debug(
        "open_sources.attempt engine=%s verdict=%s status=%s elapsed_ms=%d",
        engine.name,
        outcome.verdict,
        outcome.status_code,
        attempt.elapsed_ms,
    )

"""Requests to open sources: one, and a round of concurrent ones within their budgets and limits."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from searx_mcp.http.body import ACCEPT_ENCODING
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.attempt_runner import MAY_BE_OURS, Ticket
from searx_mcp.sources.attempts import SourceLog, exchange
from searx_mcp.sources.open.answers import (
    ANSWERED,
    Answered,
    EngineContext,
    outcome_of,
    rested,
)
from searx_mcp.sources.open.engine import MAX_BYTES, Ask, Engine, OpenQuery, RefusedError
from searx_mcp.sources.open.members import rate_limits
from searx_mcp.sources.open.route import EngineChoice
from searx_mcp.storage.state import StateStore
from searx_mcp.workers.jobs import Workers

GRACE: Final = 0.7
"""Seconds left for the engines of the query's own route once there is enough. Chosen, not measured: they have
the best matches, and the slowest may take ten."""
_MOMENT: Final = 0.01
"""Tolerance in seconds: a clock may say slightly before the store that a budget has room."""
_TOO_LATE: Final = 0.2
"""Seconds below which a request is pointless."""
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


class OpenUpstream:
    """Asks open sources, one request at a time each, over guarded sessions.

    Args:
        session_for: returns the session of an engine, which knows the allowed addresses.
        user_agent: our User-Agent.
        contact: for the operators of engines that want one; empty if there is none.
        clock: Unix seconds.
        workers: parse long answers; by default, threads do.
    """

    def __init__(
        self,
        *,
        session_for: Callable[[Engine], HttpSession],
        user_agent: str,
        contact: str,
        clock: Callable[[], float],
        workers: Workers | None = None,
    ) -> None:
        self._session_for = session_for
        self._user_agent = user_agent
        self._contact = contact
        self._clock = clock
        self._workers = workers

    async def ask(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        *,
        timeout: float,  # noqa: ASYNC109 - what is left of the search phase
    ) -> Answered:
        """Ask once and parse the answer; ends within `timeout` seconds.

        Args:
            engine: the row of the table.
            ask: from `engine.ask`.
            query: the query.
            timeout: seconds until the answer must be received and parsed.
        """
        answered = await exchange(
            partial(self._session_for, engine),
            self._request(engine, ask, timeout),
            partial(
                ANSWERED.read_safely,
                asked=EngineContext(engine=engine, query=query, now=self._clock()),
                workers=self._workers,
            ),
            name=engine.name,
        )
        judged = answered.result
        if isinstance(judged, Outcome):
            refusal = RefusedError(judged.verdict, judged.detail, ours=judged.ours)
            judged = Answered(outcome_of(rested(refusal, engine)))
        outcome = replace(
            judged.outcome, elapsed=answered.elapsed, status_code=answered.status_code
        )
        body = answered.response.body if answered.response else b""
        return replace(judged, outcome=outcome, body=body)

    def _request(self, engine: Engine, ask: Ask, timeout: float) -> Request:
        body = None if ask.body is None else json.dumps(ask.body).encode()
        headers = {
            "User-Agent": self._name(engine),
            "Accept": engine.accept,
            "Accept-Encoding": ACCEPT_ENCODING,
            **engine.headers,
            **engine.key_headers,
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        return Request(
            url=engine.url(ask), headers=headers, max_bytes=MAX_BYTES, timeout=timeout, body=body
        )

    def _name(self, engine: Engine) -> str:
        if not (engine.wants_contact and self._contact):
            return self._user_agent
        return f"{self._user_agent.removesuffix(')')}; contact: {self._contact})"


@dataclass(frozen=True, slots=True)
class EngineReply:
    """One engine's reply.

    Attributes:
        choice: why it was asked.
        page: its hits, relevant or not.
        relevant: those that are relevant to the query.
    """

    choice: EngineChoice
    page: ResultPage
    relevant: tuple[Hit, ...]


Keep = Callable[[EngineChoice, ResultPage], tuple[Hit, ...]]
"""Returns the hits of a page that are relevant to the query."""


class ConcurrentQueries:
    """Asks several engines concurrently, each within its budget and its limits.

    Args:
        upstream: sends requests and classifies answers.
        sources: knows cooldowns, and learns.
        state: stores the budgets.
        has_contact: whether a contact is sent to operators who want one.
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
        asked: Sequence[tuple[EngineChoice, Engine, OpenQuery]],
        log: SourceLog,
        *,
        keep: Keep,
        is_enough: Callable[[Sequence[EngineReply]], bool],
    ) -> list[EngineReply]:
        """Ask engines concurrently until all have answered, there is enough, or the time is over.

        Args:
            asked: the engines and the request to each, best first.
            log: records what happens.
            keep: returns the hits of a page that are relevant to the query.
            is_enough: whether the replies so far are enough. Then engines outside the query's own route are
                cancelled, and the others have `GRACE` left.

        Returns:
            The replies, in the order of `asked`.
        """
        loop = asyncio.get_running_loop()
        replies: dict[str, EngineReply] = {}
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
        self, choice: EngineChoice, engine: Engine, query: OpenQuery, log: SourceLog, keep: Keep
    ) -> EngineReply | None:
        try:
            answered = await self._one(engine, query, log)
            if answered is None:
                return None
            page = answered.outcome.page or ResultPage()
            return EngineReply(choice, page, keep(choice, page))
        except Exception:  # noqa: BLE001 - the one supervisor of an engine
            # A bug of ours costs one engine, never the search.
            _log.exception("open_sources.engine_crashed engine=%s", engine.name)
            log.skipped[engine.name] = "could not be processed"
            return None

    def may_ask(self, engine: Engine) -> bool:
        """Return whether a request may go to an engine now, not considering its budget."""
        return self._sources.may_ask(engine.address, self._clock())

    async def ask_one(
        self, engine: Engine, query: OpenQuery, log: SourceLog, *, is_last: bool = False
    ) -> Answered | None:
        """Ask one engine for one page; `None` if that failed, for the reason in `log`.

        Args:
            engine: the engine.
            query: the query.
            log: records what happens.
            is_last: whether no other source can answer; see `Ticket.start`.
        """
        try:
            return await self._one(engine, query, log, is_last=is_last)
        finally:
            log.settle(self._sources, self._clock())

    async def _one(
        self, engine: Engine, query: OpenQuery, log: SourceLog, *, is_last: bool = False
    ) -> Answered | None:
        """Make one request; return `None` if the engine, its budget or the clock forbids it."""
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
                # The refusal is due to their load, not to our requests: the spacing is pause enough.
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
        """Charge one request; if the spacing forbids it, wait once for as long as the table allows."""
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
        """Send one request, charged before; return `None` if the budget or the clock forbids it."""
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

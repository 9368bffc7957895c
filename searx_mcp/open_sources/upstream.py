"""One request to one open source, and what came of it: failures are values here."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Final

from searx_mcp.errors import ErrorCode, FetchError, ProxyError, SearxMcpError, TransportError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.net.body import ACCEPT_ENCODING
from searx_mcp.net.http import HttpSession
from searx_mcp.open_sources.interface import (
    MAX_BYTES,
    Ask,
    Engine,
    OpenQuery,
    Parsed,
    RefusedError,
)
from searx_mcp.open_sources.pauses import FORBIDDEN, pause
from searx_mcp.pool.outcome import Outcome, verdict_of

MAX_ON_LOOP: Final = 65_536
"""Bytes of an answer that are read on the event loop; more takes too long and goes to a thread."""
_FULL: Final = 3
"""Hits from which on an answer is full."""

_LIMITS: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})

_log = logging.getLogger("searx_mcp.open_sources")


@dataclass(frozen=True, slots=True)
class Answered:
    """What a request came to.

    Attributes:
        outcome: as the pool learns it.
        pause: seconds the engine asks to be left alone although it has answered, or `None`.
    """

    outcome: Outcome
    pause: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came.

    Attributes:
        status: the HTTP status.
        headers: by name in any case.
        body: decoded and whole; empty where the status makes it of no use.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class OpenUpstream:
    """Asks open sources, one request at a time each, over guarded sessions.

    Args:
        session_for: gives the session for an engine, which knows where it may go.
        user_agent: what we call ourselves.
        contact: where the operators of engines that want to know it reach ours; empty if nowhere.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        session_for: Callable[[Engine], HttpSession],
        user_agent: str,
        contact: str,
        clock: Callable[[], float],
    ) -> None:
        self._session_for = session_for
        self._user_agent = user_agent
        self._contact = contact
        self._clock = clock

    async def ask(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        *,
        timeout: float,  # noqa: ASYNC109 - what is left of the search phase
    ) -> Answered:
        """Ask once and read the answer; ends within `timeout` seconds.

        Args:
            engine: the row of the table.
            ask: what `engine.ask` made of the query.
            query: what is asked.
            timeout: seconds until the answer must be there and read.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        reply: Reply | None = None
        try:
            async with asyncio.timeout_at(start + timeout):
                reply = await self._send(engine, ask, timeout)
                read_at = loop.time()
                judging = partial(judge, engine, query, reply, self._clock())
                is_long = len(reply.body) > MAX_ON_LOOP
                judged = await asyncio.to_thread(judging) if is_long else judging()
            return _timed(judged, read_at - start, reply.status)
        except TimeoutError:
            refusal = RefusedError(Verdict.TIMEOUT, "There was no complete answer in time.")
        except SearxMcpError as exc:
            verdict = verdict_of(exc)
            status = exc.status_code if isinstance(exc, FetchError) else None
            outcome = _outcome(RefusedError(verdict, exc.message), ours=isinstance(exc, ProxyError))
            return _timed(Answered(outcome), loop.time() - start, status)
        except Exception:  # noqa: BLE001 - the one supervisor of an attempt
            # A mistake of ours costs one engine, never the search.
            _log.exception("open_sources.attempt_crashed engine=%s", engine.name)
            refusal = RefusedError(Verdict.MALFORMED, "The answer could not be handled.")
        status = reply.status if reply else None
        return _timed(Answered(_outcome(refusal)), loop.time() - start, status)

    async def _send(
        self,
        engine: Engine,
        ask: Ask,
        timeout: float,  # noqa: ASYNC109 - of connecting and the headers; the caller bounds the body
    ) -> Reply:
        body = None if ask.body is None else json.dumps(ask.body).encode()
        headers = {
            "User-Agent": self._name(engine),
            "Accept": engine.accept,
            "Accept-Encoding": ACCEPT_ENCODING,
            **engine.headers,
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        session = self._session_for(engine)
        async with session.open(
            engine.url(ask), headers=headers, timeout=timeout, body=body
        ) as reply:
            if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
                return Reply(reply.status, reply.headers, b"")
            try:
                read = await reply.read(max_bytes=MAX_BYTES)
            except FetchError:
                if reply.status == HTTPStatus.OK:
                    raise
                return Reply(reply.status, reply.headers, b"")
            if read.truncated and reply.status == HTTPStatus.OK:
                message = "The answer came incomplete or was too long."
                raise TransportError(
                    message, code=ErrorCode.MALFORMED_RESPONSE, status_code=reply.status
                )
            return Reply(reply.status, reply.headers, read.data)

    def _name(self, engine: Engine) -> str:
        if not (engine.wants_contact and self._contact):
            return self._user_agent
        return f"{self._user_agent.removesuffix(')')}; contact: {self._contact})"


def judge(engine: Engine, query: OpenQuery, reply: Reply, now: float) -> Answered:
    """Judge one answer, apart from the time it took.

    Args:
        engine: that gave it.
        query: what was asked.
        reply: what came.
        now: Unix seconds.
    """
    if reply.status != HTTPStatus.OK:
        return Answered(_outcome(_refusal(engine, reply, now)))
    try:
        parsed = engine.parse(reply.body, query)
    except RefusedError as refusal:
        return Answered(_outcome(_rested(refusal, engine)))
    except ValueError as exc:
        detail = f"The answer is not shaped as documented: {exc}"[:200]
        return Answered(_outcome(RefusedError(Verdict.MALFORMED, detail)))
    pauses = [wait for wait in (parsed.pause, pause(reply.headers, now)) if wait is not None]
    return Answered(_success(parsed), max(pauses, default=None))


def _refusal(engine: Engine, reply: Reply, now: float) -> RefusedError:
    """What an answer of another status than 200 comes to."""
    if engine.read_refusal is not None:
        refusal = engine.read_refusal(reply.status, reply.headers, reply.body)
        if refusal is not None:
            return _rested(refusal, engine)
    wait = pause(reply.headers, now)
    status = reply.status
    # GitHub answers 403 when its quota is spent, and says in a header when it is filled up.
    is_spent = status == HTTPStatus.FORBIDDEN and wait is not None
    if status in _LIMITS or is_spent:
        detail = f"It limits us (HTTP {status})."
        return _rested(RefusedError(Verdict.RATE_LIMITED, detail, pause=wait), engine)
    if status == HTTPStatus.FORBIDDEN:
        detail = "It refuses us (HTTP 403); some engines want to know open_sources.contact."
        return RefusedError(Verdict.REFUSED, detail, pause=FORBIDDEN)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        detail = f"It sends us elsewhere (HTTP {status}): its address may have changed."
        return RefusedError(Verdict.FOREIGN_REDIRECT, detail)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RefusedError(Verdict.SERVER_ERROR, f"It failed (HTTP {status}).", pause=wait)
    # It understood something else than we meant: a mistake in one query says nothing about the next.
    return RefusedError(Verdict.MALFORMED, f"It refused the request (HTTP {status}).", pause=wait)


def _rested(refusal: RefusedError, engine: Engine) -> RefusedError:
    """A limit with the rest that the table gives it at least."""
    if refusal.verdict is not Verdict.RATE_LIMITED or engine.rest <= (refusal.pause or 0.0):
        return refusal
    return RefusedError(refusal.verdict, refusal.detail, pause=engine.rest)


def _success(parsed: Parsed) -> Outcome:
    count = len(parsed.hits)
    verdict = Verdict.FULL if count >= _FULL else Verdict.THIN if count else Verdict.EMPTY
    page = ResultPage(hits=parsed.hits, rows_seen=parsed.rows_seen, has_next=parsed.has_next)
    return Outcome(verdict, Format.JSON, 0.0, page=page)


def _outcome(refusal: RefusedError, *, ours: bool = False) -> Outcome:
    page = ResultPage() if refusal.verdict is Verdict.EMPTY else None
    return Outcome(
        refusal.verdict,
        Format.JSON,
        0.0,
        page=page,
        retry_after=refusal.pause,
        detail=refusal.detail,
        ours=ours,
    )


def _timed(answered: Answered, elapsed: float, status: int | None) -> Answered:
    outcome = replace(answered.outcome, elapsed=elapsed, status_code=status)
    return replace(answered, outcome=outcome)

"""One request to one open source, and what came of it: failures are values here."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from searx_mcp.errors import ErrorCode, FetchError, ProxyError, SearxMcpError, TransportError
from searx_mcp.http.body import ACCEPT_ENCODING
from searx_mcp.http.http import HttpSession
from searx_mcp.models.attempt import Verdict
from searx_mcp.pool.attempt import verdict_of
from searx_mcp.sources.open.answers import (
    ANSWERED,
    Answered,
    Reply,
    judge,
    options_for,
    outcome_of,
    rested,
)
from searx_mcp.sources.open.engine import (
    MAX_BYTES,
    Ask,
    Engine,
    OpenQuery,
    RefusedError,
)
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import Workers, read_answer

_log = logging.getLogger("searx_mcp.sources.open")


class OpenUpstream:
    """Asks open sources, one request at a time each, over guarded sessions.

    Args:
        session_for: gives the session for an engine, which knows where it may go.
        user_agent: what we call ourselves.
        contact: where the operators of engines that want to know it reach ours; empty if nowhere.
        clock: Unix seconds.
        workers: read long answers; threads do unless given.
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
                judged = await self._judged(engine, query, reply, start + timeout)
            return _timed(judged, read_at - start, reply.status)
        except DefeatError:
            refusal = RefusedError(Verdict.MALFORMED, "The answer is too much for its reader.")
        except TimeoutError:
            refusal = RefusedError(Verdict.TIMEOUT, "There was no complete answer in time.")
        except SearxMcpError as exc:
            verdict = verdict_of(exc)
            status = exc.status_code if isinstance(exc, FetchError) else None
            refusal = RefusedError(verdict, exc.message, ours=isinstance(exc, ProxyError))
            outcome = outcome_of(rested(refusal, engine))
            return _timed(Answered(outcome), loop.time() - start, status)
        except Exception:  # noqa: BLE001 - the one supervisor of an attempt
            # A mistake of ours costs one engine, never the search.
            _log.exception("open_sources.attempt_crashed engine=%s", engine.name)
            refusal = RefusedError(Verdict.MALFORMED, "The answer could not be handled.")
        status = reply.status if reply else None
        outcome = outcome_of(rested(refusal, engine))
        return _timed(Answered(outcome), loop.time() - start, status)

    async def _judged(
        self, engine: Engine, query: OpenQuery, reply: Reply, deadline: float
    ) -> Answered:
        now = self._clock()
        return await read_answer(
            self._workers,
            ANSWERED,
            reply.body,
            lambda: options_for(engine, query, reply, now),
            deadline=deadline,
            here=partial(judge, engine, query, reply, now),
        )

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
        if engine.authorization:
            headers["Authorization"] = engine.authorization
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


def _timed(answered: Answered, elapsed: float, status: int | None) -> Answered:
    outcome = replace(answered.outcome, elapsed=elapsed, status_code=status)
    return replace(answered, outcome=outcome)

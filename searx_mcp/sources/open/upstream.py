"""One request to one open source and its outcome: failures are values here."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from searx_mcp.http.body import ACCEPT_ENCODING
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.attempts import exchange
from searx_mcp.sources.open.answers import (
    ANSWERED,
    Answered,
    EngineContext,
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
from searx_mcp.workers.jobs import Workers


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

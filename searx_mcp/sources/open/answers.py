"""Classifies an answer of an open source by status, headers and body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Final

from pydantic import PlainSerializer, PlainValidator

from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.open.engine import FORBIDDEN, Engine, OpenQuery, Parsed, RefusedError
from searx_mcp.sources.open.table import ENGINES, KEYED
from searx_mcp.urls.retry_after import retry_after, within_limits
from searx_mcp.workers.jobs import Reader

_REMAINING: Final = ("x-ratelimit-remaining", "x-rate-limit-remaining", "ratelimit-remaining")
_RESET: Final = ("x-ratelimit-reset", "x-rate-limit-reset", "ratelimit-reset")
_STRUCTURED = re.compile(r";\s*r=(\d{1,9})\b.*?;\s*t=(\d{1,9})\b")
"""`"api";r=0;t=12`: what remains, and the seconds until the quota is refilled (IETF draft, RateLimit
fields)."""
_NUMBER = re.compile(r"\d{1,12}")
_EPOCH: Final = 1_000_000_000
"""Larger numbers are a time, not a number of seconds."""

_FULL: Final = 3
"""Minimum hits of a full answer."""

_LIMITS: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_NOT_UNDERSTOOD: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.REQUEST_URI_TOO_LONG,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
"""Statuses for requests that an engine would refuse from any client."""
_CLOSED: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "It rejected our key, or requires one (HTTP 401).",
    HTTPStatus.FORBIDDEN: "It refused us (HTTP 403); some engines require open_sources.contact.",
}
_RESTS: Final = frozenset({Verdict.RATE_LIMITED, Verdict.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a request.

    Attributes:
        outcome: for the pool.
        pause: seconds for which the engine asks for a pause although it has answered, or `None`.
        again: as in `RefusedError`.
        body: the raw answer; empty if there was none.
    """

    outcome: Outcome
    pause: float | None = None
    again: bool = False
    body: bytes = field(default=b"", repr=False)


def _named(engine: object) -> Engine:
    rows = (*ENGINES, *KEYED)
    return engine if isinstance(engine, Engine) else next(e for e in rows if e.name == engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineContext:
    """The request; in a job, the engine is the table's row of that name.

    Attributes:
        engine: the engine.
        query: the query.
        now: Unix seconds.
    """

    engine: Annotated[Engine, PlainValidator(_named), PlainSerializer(lambda engine: engine.name)]
    query: OpenQuery
    now: float


def judge(response: Response, asked: EngineContext) -> Answered:
    """Classify one answer, apart from its time.

    Args:
        response: the answer.
        asked: the engine, the request and its time.
    """
    engine, now = asked.engine, asked.now
    if response.status != HTTPStatus.OK:
        refusal = _refusal(engine, response, now)
        return Answered(outcome_of(refusal), again=refusal.again)
    if response.truncated:
        detail = "The answer was incomplete or too long."
        return Answered(outcome_of(RefusedError(Verdict.MALFORMED, detail)))
    try:
        parsed = engine.parse(response.body, asked.query)
    except RefusedError as refusal:
        return Answered(outcome_of(rested(refusal, engine)), again=refusal.again)
    except ValueError as exc:
        # Only use the engines' messages: errors of libraries may repeat the data.
        known = f": {exc}" if type(exc) is ValueError else ""
        detail = f"The answer is not in the documented form{known}"
        return Answered(outcome_of(RefusedError(Verdict.MALFORMED, detail)))
    pauses = [wait for wait in (parsed.pause, pause(response.headers, now)) if wait is not None]
    return Answered(_success(parsed), max(pauses, default=None))


def _refusal(engine: Engine, response: Response, now: float) -> RefusedError:
    """Classify an answer with a status other than 200."""
    if engine.read_refusal is not None:
        refusal = engine.read_refusal(response.status, response.headers, response.body)
        if refusal is not None:
            return rested(refusal, engine)
    wait = pause(response.headers, now)
    status = response.status
    # GitHub answers 403 when its quota is spent, and a header says when it is refilled.
    is_spent = status == HTTPStatus.FORBIDDEN and wait is not None
    if status in _LIMITS | engine.limits or is_spent:
        detail = f"It limits our requests (HTTP {status})."
        return rested(RefusedError(Verdict.RATE_LIMITED, detail, pause=wait), engine)
    if status in _CLOSED:
        return RefusedError(Verdict.REFUSED, _CLOSED[status], pause=FORBIDDEN)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        detail = f"It redirected us (HTTP {status}): its address may have changed."
        return RefusedError(Verdict.FOREIGN_REDIRECT, detail)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RefusedError(Verdict.SERVER_ERROR, f"It failed (HTTP {status}).", pause=wait)
    ours = status in _NOT_UNDERSTOOD and wait is None
    detail = f"It refused the request (HTTP {status})."
    verdict = Verdict.REFUSED if ours else Verdict.MALFORMED
    return RefusedError(verdict, detail, pause=wait, ours=ours)


def rested(refusal: RefusedError, engine: Engine) -> RefusedError:
    """Extend the pause after a limit or a timeout to the table's minimum."""
    if refusal.verdict not in _RESTS or engine.rest <= (refusal.pause or 0.0):
        return refusal
    return RefusedError(refusal.verdict, refusal.detail, pause=engine.rest)


def _success(parsed: Parsed) -> Outcome:
    count = len(parsed.hits)
    verdict = Verdict.FULL if count >= _FULL else Verdict.THIN if count else Verdict.EMPTY
    page = ResultPage(hits=parsed.hits, rows_seen=parsed.rows_seen, has_next=parsed.has_next)
    return Outcome(verdict, Format.JSON, 0.0, page=page)


def outcome_of(refusal: RefusedError) -> Outcome:
    """Convert a refusal to an outcome."""
    page = ResultPage() if refusal.verdict is Verdict.EMPTY else None
    return Outcome(
        refusal.verdict,
        Format.JSON,
        0.0,
        page=page,
        retry_after=refusal.pause,
        detail=refusal.detail,
        ours=refusal.ours,
    )


def pause(headers: Mapping[str, str], now: float) -> float | None:
    """Return the pause that an answer asks for: its Retry-After, or the time until a spent quota is refilled.

    Args:
        headers: case-insensitive.
        now: Unix seconds, for headers that contain a date.

    Returns:
        Seconds between one and a day; `None` if no header asks for a pause.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    asked = retry_after(lower)
    if asked is not None:
        return asked
    structured = _STRUCTURED.search(f";{lower.get('ratelimit', '')[:200]}")
    if structured:
        return within_limits(float(structured[2])) if structured[1] == "0" else None
    if _first(lower, _REMAINING) != 0:
        return None
    reset = _first(lower, _RESET)
    if reset is None:
        return None
    return within_limits(reset - now if reset > _EPOCH else float(reset))


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = headers.get(name, "").strip()
        if _NUMBER.fullmatch(value):
            return int(value)
    return None


ANSWERED: Final = Reader("open source", judge, takes=EngineContext, gives=Answered)
"""The outcome of an answer of an open source."""

"""A request to a source and its answer, where every failure is a value; and the requests of one search."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from searx_mcp.errors import ErrorCode, FetchError, ProxyError, SearxMcpError
from searx_mcp.http.body import Response
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.models.attempt import Attempt, Verdict
from searx_mcp.models.progress import Progress
from searx_mcp.pool.circuit import Members
from searx_mcp.pool.proposal import Outcome
from searx_mcp.telemetry import EventLog
from searx_mcp.workers.failures import DefeatError

_log = EventLog("searx_mcp.sources.attempt_runner")

T = TypeVar("T")

_VERDICTS: Final = {
    ErrorCode.DNS_ERROR: Verdict.DNS,
    ErrorCode.TLS_ERROR: Verdict.TLS,
    ErrorCode.TIMEOUT: Verdict.TIMEOUT,
    ErrorCode.MALFORMED_RESPONSE: Verdict.MALFORMED,
    ErrorCode.UNSUPPORTED_ENCODING: Verdict.MALFORMED,
}
"""Of failed requests; all others, and a refused address, count as connection errors."""

TOO_LATE: Final = 0.1
"""Seconds below which an attempt cannot succeed."""
_ENOUGH_TO_DOUBT: Final = 2


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """A request and its answer.

    Attributes:
        result: the parsed answer; the outcome if there is none, or none that can be parsed.
        elapsed: seconds from the request to the last byte or the failure.
        status_code: the HTTP status, or `None` if there was no answer.
        response: the answer, if there was a complete one in time.
    """

    result: T | Outcome
    elapsed: float
    status_code: int | None = None
    response: Response | None = None


async def exchange(
    session: Callable[[], HttpSession],
    request: Request,
    read: Callable[..., Awaitable[T]],
    *,
    name: str,
) -> Exchange[T]:
    """Ask once and parse the answer.

    Args:
        session: returns the session for the request.
        request: the request; its answer must be received and parsed within its timeout.
        read: parses the answer by `deadline`; see `Reader.read_safely`.
        name: of the source, for the log.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    last_byte: float | None = None
    response: Response | None = None
    status: int | None = None
    deadline = start + request.timeout
    try:
        async with asyncio.timeout_at(deadline):
            response = await session().send(request)
            last_byte, status = loop.time(), response.status
            result: T | Outcome = await read(response, deadline=deadline)
    except DefeatError:
        result = Outcome(Verdict.MALFORMED, detail="The answer is too complex to parse.")
    except TimeoutError:
        result = Outcome(Verdict.TIMEOUT, detail="No complete answer arrived in time.")
    except SearxMcpError as exc:
        status = exc.status_code if isinstance(exc, FetchError) else None
        result = Outcome(
            _VERDICTS.get(exc.code, Verdict.CONNECTION),
            detail=exc.message,
            ours=isinstance(exc, ProxyError),
        )
    except Exception:  # noqa: BLE001 - the one supervisor of a request
        # A bug of ours costs one request, never the search: the next source is asked.
        _log.exception("sources.request_crashed source=%s", name)
        result = Outcome(Verdict.MALFORMED, detail="The answer could not be processed.")
    return Exchange(result, (last_byte or loop.time()) - start, status, response)


def is_offline(failures: int, *, reached: bool, enough: int = _ENOUGH_TO_DOUBT) -> bool:
    """Return whether our network is down, so that no source is blamed.

    Args:
        failures: how many hosts could not be reached.
        reached: whether any host was.
        enough: failures from which the network here is suspected, not the hosts.
    """
    return failures >= enough and not reached


@dataclass(slots=True)
class AttemptLog:
    """The requests of one search, and their outcomes.

    Attributes:
        deadline: loop time by which everything ends.
        progress: called with each step.
        attempts: every request made, in order.
        held: failures that may be this machine's: reported once another host has been reached.
        overtaken: base URLs whose request is cancelled because others have answered.
    """

    deadline: float
    progress: Progress | None = None
    attempts: list[Attempt] = field(default_factory=list)
    held: list[tuple[str, Outcome]] = field(default_factory=list)
    overtaken: set[str] = field(default_factory=set)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - asyncio.get_running_loop().time()

    def say(self, message: str) -> None:
        """Report a step of the search."""
        if self.progress is not None:
            self.progress(message)

    def note(self, url: str, outcome: Outcome, *, name: str = "", source: str = "") -> None:
        """Record the outcome of a request.

        Args:
            url: of the instance, or the address of the open source.
            outcome: the outcome of the request.
            name: its name in the reported step; by default, its address.
            source: name of the open source; empty for an instance.
        """
        attempt = outcome.attempt(url, source=source)
        self.attempts.append(attempt)
        self.say(f"{name or url}: {outcome.verdict.replace('_', ' ')}")
        _log.debug(
            "search.attempt source=%s verdict=%s status=%s elapsed_ms=%d",
            source or url,
            outcome.verdict,
            outcome.status_code,
            attempt.elapsed_ms,
        )

    def settle(self, pool: Members, now: float) -> None:
        """Report the failures held back, unless no host was reached at all."""
        if not self.held:
            return
        reached = any(attempt.status_code is not None for attempt in self.attempts)
        offline = is_offline(len(self.held), reached=reached)
        for url, outcome in self.held:
            if offline:
                pool.release(url)
            else:
                pool.report(url, outcome, now)
        self.held.clear()


@dataclass(slots=True)
class SourceLog(AttemptLog):
    """The progress of one search at the open sources.

    Attributes:
        skipped: why engines were not asked, by name.
        waits: seconds until an engine that was skipped, or has refused, may be asked.
    """

    skipped: dict[str, str] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)


@dataclass(slots=True)
class InstanceLog(AttemptLog):
    """The progress of one search at the instances.

    Attributes:
        asked: base URLs of the instances that were searched.
        unsearched: base URLs of instances found to be down before the search was sent, or that opt out.
        side_by_side: how many of those asked were asked at once; they count as one.
        passed_over: base URLs whose budget is spent.
        refused_by: name of the account that forbade the last request; `None` if none did.
        is_answered: whether one has answered: further requests only add to that.
        queued_behind: how many searches were ahead of the last request to an own instance.
        budget_retry_at: Unix seconds at which the first spent budget has room again, or `None`.
        knows_budgets: whether instances with a spent budget have been skipped.
    """

    asked: set[str] = field(default_factory=set)
    unsearched: set[str] = field(default_factory=set)
    side_by_side: int = 1
    passed_over: set[str] = field(default_factory=set)
    refused_by: str | None = None
    is_answered: bool = False
    queued_behind: int = 0
    budget_retry_at: float | None = None
    knows_budgets: bool = False

    @property
    def is_late(self) -> bool:
        """Whether another attempt is pointless."""
        return self.left <= TOO_LATE

    @property
    def excluded(self) -> set[str]:
        """Base URLs of instances that must not be asked now."""
        return self.asked | self.unsearched | self.passed_over

    def give_up(self, url: str) -> None:
        """Record that `url` is neither searched nor asked again for this search."""
        self.asked.discard(url)
        self.unsearched.add(url)

    def pass_over(self, url: str, free_at: float | None) -> None:
        """Record that the budget forbids asking `url` until `free_at`; it counts as not asked."""
        self.asked.discard(url)
        self.passed_over.add(url)
        known = [at for at in (self.budget_retry_at, free_at) if at is not None]
        self.budget_retry_at = min(known, default=None)

    def forget_budgets(self) -> None:
        """Forget refusals by budgets: time has passed, and they may have room again."""
        self.passed_over.clear()
        self.budget_retry_at = None
        self.knows_budgets = False

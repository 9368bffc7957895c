"""The instances' side of a simulation: they answer, fail, and count who asks."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable
from http import HTTPStatus

from benchmarks.simulation.arrivals import dice
from benchmarks.simulation.hosts import Access, Fault, Host
from searx_mcp.http.robots import RobotsDecision
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.testing.limiter import FakeLimiter, Refusal
from searx_mcp.testing.loopback import ReceivedRequest

Clock = Callable[[], float]

SIGMA = 0.36
"""Spread of one instance's answers around their median, of the logarithm. searx.space asked 71
instances five times each (2025-03-05): its median was 0.16 and its 90th percentile 0.36. That was
one and the same query, so the larger figure stands for the different ones people have."""
SLOW_MEDIAN = 4.2
"""Seconds: with this spread a third of the answers come after the five seconds of an attempt."""
_QUICK = 0.14
"""Seconds of an answer that asks no engine: the median of the home pages in the same list."""
PACES = ((1, 30.0), (8, 600.0))
"""Our budgets of HTML searches at an instance without token, restated so that they check the code
that keeps them: requests, in seconds."""
_UP, _DOWN = 600.0, 300.0
"""Mean seconds a flapping instance is there and away."""

_REFUSALS = {
    Fault.LIMITED: (Verdict.RATE_LIMITED, 429),
    Fault.SENT_HOME: (Verdict.BLOCKED, 302),
    Fault.FORBIDDEN: (Verdict.REFUSED, 403),
    Fault.SERVER_ERROR: (Verdict.SERVER_ERROR, 502),
}
_HITS = tuple(Hit(f"https://example.org/{n}", f"Result {n}", n) for n in range(1, 11))
_FAILED = tuple(UnresponsiveEngine(engine=name, reason="timeout") for name in ("a", "b", "c"))
_HEADERS = {
    "User-Agent": "searx-mcp/1.0 (+https://example.org/)",
    "Accept": "text/html",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip",
}


class World:
    """All instances of one simulation; takes the place of `searx_mcp.sources.searxng.upstream.Upstream`.

    Every host has dice of its own, so that what one does not depend on who else is asked. Its
    windows are those of SearXNG's limiter (`searx_mcp.testing.limiter`): they slide, and a refused
    request counts too. A fault does not keep a request from being counted.

    Args:
        hosts: the instances.
        seed: of all dice.
        clock: Unix seconds, moving with the loop.

    Attributes:
        calls: searches each host has seen, by base URL.
        refused: how many requests a limiter refused because its windows were broken.
        unwelcome: how many were refused with all windows kept, by hosts whose fault that is.
        hasty: how many came to a host faster than the budgets of this package allow.
    """

    def __init__(self, hosts: Iterable[Host], *, seed: int, clock: Clock) -> None:
        self._hosts = {host.url: _Running(host, seed, clock) for host in hosts}
        self.calls = dict.fromkeys(self._hosts, 0)
        self.refused = 0
        self.unwelcome = 0
        self.hasty = 0

    async def search(
        self,
        base_url: str,
        query: InstanceQuery,  # noqa: ARG002 - every query finds the same
        *,
        own: bool,
        format: Format,  # noqa: A002 - the interface's name
        timeout: float,  # noqa: ASYNC109 - the interface's
    ) -> Outcome:
        """Answer one search as the host would; ends within `timeout` seconds."""
        host = self._hosts[base_url]
        self.calls[base_url] += 1
        self.hasty += not own and host.is_hurried()
        refusal = None if own else host.refuses(format)
        if refusal is not None:
            self.refused += 1
            outcome = _refusal(refusal, format)
        else:
            outcome = host.answer(format)
            self.unwelcome += outcome.status_code in {
                HTTPStatus.TOO_MANY_REQUESTS,
                HTTPStatus.FOUND,
            }
        if outcome.elapsed > timeout:
            await asyncio.sleep(timeout)
            detail = "There was no answer in time."
            return Outcome(Verdict.TIMEOUT, format, timeout, detail=detail)
        await asyncio.sleep(outcome.elapsed)
        return outcome

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ARG002, ASYNC109 - the interface's
        """Whether the host still has an address."""
        return self._hosts[base_url].host.fault is not Fault.NO_NAME

    async def robots(
        self,
        base_url: str,
        *,
        format: Format,  # noqa: A002 - the interface's name
        timeout: float,  # noqa: ASYNC109 - the interface's
    ) -> RobotsDecision | Outcome:
        """Nobody forbids anything; a host that cannot be reached fails as its searches do."""
        failure = self._hosts[base_url].silence(format)
        if failure is None:
            await asyncio.sleep(_QUICK)
            return RobotsDecision()
        if failure.elapsed > timeout:
            detail = "There was no answer in time."
            failure = Outcome(Verdict.TIMEOUT, format, timeout, detail=detail)
        await asyncio.sleep(failure.elapsed)
        return failure

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - the interface's
        """What the host tells of itself."""
        del own
        await asyncio.sleep(min(_QUICK, timeout))
        return self._hosts[base_url].host.facts


class _Running:
    """A host at work."""

    def __init__(self, host: Host, seed: int, clock: Clock) -> None:
        self.host = host
        self._clock = clock
        self._rng = dice(seed, host.url)
        self._limiter = None if host.access is Access.OPEN else FakeLimiter(clock=clock)
        self._paces = [_Pace(limit, seconds) for limit, seconds in PACES]
        self._is_up = True
        self._turns_at = clock() + self._rng.expovariate(1 / _UP)

    def refuses(self, format: Format) -> Refusal | None:  # noqa: A002 - the interface's name
        """Count one request, and tell whether the limiter's windows are broken by it."""
        if self._limiter is None:
            return None
        token = self.host.access is Access.TOKEN
        return self._limiter.judge_search(_REQUESTS[format], link_token=token)

    def is_hurried(self) -> bool:
        """Count one request, and tell whether it came faster than our budgets allow."""
        exceeded = [pace.is_exceeded(self._clock()) for pace in self._paces]
        return any(exceeded)

    def silence(self, format: Format) -> Outcome | None:  # noqa: A002 - the interface's name
        """How the host fails before any of its pages is asked for, or `None`."""
        match self.host.fault:
            case Fault.HUNG:
                return Outcome(Verdict.TIMEOUT, format, math.inf)
            case Fault.NO_NAME:
                return Outcome(Verdict.DNS, format, 0.02)
            case Fault.FLAPPING if not self._flaps_up():
                return Outcome(Verdict.CONNECTION, format, 0.05)
            case _ if self._rng.random() >= self.host.uptime:
                return Outcome(Verdict.CONNECTION, format, 0.05)
            case _:
                return None

    def answer(self, format: Format) -> Outcome:  # noqa: A002 - the interface's name
        """What one search comes to, with the seconds it takes."""
        if (silence := self.silence(format)) is not None:
            return silence
        fault = self.host.fault
        if fault in _REFUSALS:
            verdict, status = _REFUSALS[fault]
            return Outcome(verdict, format, _QUICK, status)
        if fault is Fault.GARBAGE:
            return Outcome(Verdict.MALFORMED, format, self._seconds(self.host.latency), 200)
        found = fault is not Fault.NO_ENGINES and self._rng.random() < self.host.success
        median = SLOW_MEDIAN if fault is Fault.SLOW else self.host.latency
        return self._page(Verdict.FULL if found else Verdict.ENGINES_FAILED, format, median)

    def _page(self, verdict: Verdict, format: Format, median: float) -> Outcome:  # noqa: A002 - the interface's name
        found = verdict is Verdict.FULL
        page = ResultPage(
            hits=_HITS if found else (),
            rows_seen=len(_HITS) if found else 0,
            unresponsive_engines=() if found else _FAILED,
            formats=(),
            has_next=False,
            link_token=self.host.access is Access.TOKEN,
        )
        return Outcome(verdict, format, self._seconds(median), 200, page)

    def _seconds(self, median: float) -> float:
        return self._rng.lognormvariate(math.log(median), SIGMA)

    def _flaps_up(self) -> bool:
        while self._turns_at <= self._clock():
            self._is_up = not self._is_up
            self._turns_at += self._rng.expovariate(1 / (_UP if self._is_up else _DOWN))
        return self._is_up


class _Pace:
    """A sliding window in which the last `limit` requests must not lie all."""

    def __init__(self, limit: int, seconds: float) -> None:
        self._seconds = seconds
        self._calls: deque[float] = deque(maxlen=limit)

    def is_exceeded(self, now: float) -> bool:
        """Count one request and tell whether it was one too many."""
        full = len(self._calls) == self._calls.maxlen
        exceeded = full and now - self._calls[0] < self._seconds
        self._calls.append(now)
        return exceeded


def _refusal(refusal: Refusal, format: Format) -> Outcome:  # noqa: A002 - the interface's name
    if refusal is Refusal.SENT_HOME:
        return Outcome(Verdict.BLOCKED, format, _QUICK, 302)
    return Outcome(Verdict.RATE_LIMITED, format, _QUICK, 429)


def _request(query: dict[str, str]) -> ReceivedRequest:
    return ReceivedRequest("GET", "/search", "/search", query, {}, _HEADERS, secure=True)


_REQUESTS = {
    Format.HTML: _request({"q": "tea"}),
    Format.JSON: _request({"q": "tea", "format": "json"}),
}

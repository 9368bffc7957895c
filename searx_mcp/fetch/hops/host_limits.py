"""Limits for requests to one host: slots, a token bucket, Retry-After, a circuit breaker.

`HostState` holds the rules: it is given the time and never waits. `Hosts` does the waiting.
"""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from typing_extensions import override

from searx_mcp.errors import ErrorCode, FetchError, ProxyError, TransportError
from searx_mcp.fetch.hops.answers import DEFAULT_RETRY_AFTER

LONGEST_PAUSE: Final = 600.0
"""Seconds. The longest pause for a host that fails or asks for more, unless a setting is longer."""

_SILENT_SHARE: Final = 2
"""Requests in flight, silent ones included, as a multiple of the slots."""
_MIN_BURST: Final = 5
_BURST_SHARE: Final = 3
"""A third of a minute's requests may go at once, so that a page and its links need not wait."""
_ROUNDING: Final = 1e-6
"""Tolerance in seconds for sums of intervals."""
REMEMBERED_HOSTS: Final = 10_000
"""Idle hosts that are remembered: 3 MB."""

_PATIENCE: Final = 5.0
"""Seconds a request waits for a host that failed or asked for a pause. Waiting longer is not worth it for
a caller, even before its deadline."""
SILENT: Final = 1.5
"""Seconds without an answer after which a request gives up its slot to another for the same host: as long
as a page of a search has its slot."""
_SOON: Final = 1.0
"""Seconds until the next try, if there is no better estimate."""


class Limit(StrEnum):
    """Why a request cannot leave now."""

    NONE = "none"
    SLOTS = "slots"
    """Too many requests are in flight."""
    RATE = "rate"
    """Too many requests were sent recently."""
    PAUSE = "pause"
    """The host asked for a pause."""
    BREAKER = "breaker"
    """The host failed too often; lasts until the pause ends, or the trial in flight does."""


_REFUSALS: Final = frozenset({Limit.PAUSE, Limit.BREAKER})

_MESSAGES: Final = {
    Limit.SLOTS: "The limit of concurrent requests to this site is reached.",
    Limit.RATE: "The rate limit for this site is reached.",
    Limit.PAUSE: "The site asked for a pause.",
    Limit.BREAKER: "The site failed several times in a row and is in cooldown.",
}
_ADVICE: Final = "Wait before asking this site again, or use another result."


@dataclass(frozen=True, slots=True)
class Gate:
    """When the next request may leave, and what it waits for.

    Attributes:
        at: the time; infinite if it depends on the end of another request.
        limit: the longest of those that end by themselves, else a slot.
    """

    at: float
    limit: Limit


@dataclass(frozen=True, slots=True)
class HostLimits:
    """Limits of every host.

    Attributes:
        max_per_host: requests in flight.
        rate: requests a minute, on average.
        breaker_failures: consecutive failures that open the breaker.
        breaker_pause: seconds of the first pause.
    """

    max_per_host: int
    rate: int
    breaker_failures: int
    breaker_pause: float

    @property
    def interval(self) -> float:
        """Seconds until the bucket gains one token."""
        return 60 / self.rate

    @property
    def burst(self) -> int:
        """Tokens of a full bucket."""
        return max(_MIN_BURST, self.rate // _BURST_SHARE)

    def pause(self, openings: int) -> float:
        """Seconds the breaker stays open: p * 2 ** (n - 1) for the n-th time in a row, capped."""
        longest = max(LONGEST_PAUSE, self.breaker_pause)
        return float(min(self.breaker_pause * 2.0 ** min(openings - 1, 64), longest))


class HostState:
    """What is known of one host; times come from one monotonic clock.

    The bucket is stored as the time at which it will be full (GCRA, ITU-T I.371): a token costs one
    interval, and one is available while that time is at most `burst - 1` intervals ahead.

    The breaker is *closed* until `breaker_failures` consecutive requests fail. Then it is *open* for the
    pause. After that it is *half-open*: one request is the trial, whose result closes the breaker or opens
    it again for twice the time. An inconclusive trial is followed by another. Requests that started before
    the breaker opened no longer count.
    """

    def __init__(self, limits: HostLimits) -> None:
        self._limits = limits
        self._full_at = -math.inf
        self._paused_until = -math.inf
        self._open_until: float | None = None
        self._has_trial = False
        self._failures = 0
        self._openings = 0
        self._era = 0
        self.in_flight = 0
        self.silent = 0
        """Requests in flight that have had no answer for so long that others no longer wait for them."""

    @override
    def __repr__(self) -> str:
        breaker = (
            "closed" if self._open_until is None else "half-open" if self._has_trial else "open"
        )
        return f"<HostState {self.in_flight} in flight, {self._failures} failures, {breaker}>"

    def gate(self, now: float, ahead: int = 0) -> Gate:
        """Predict when a request may leave that has `ahead` others before it."""
        if self._has_trial:
            return Gate(math.inf, Limit.BREAKER)
        limits = self._limits
        token = max(self._full_at, now) - (limits.burst - 1 - ahead) * limits.interval
        gates = [Gate(now, Limit.NONE)]
        if token > now + _ROUNDING:
            gates.append(Gate(token, Limit.RATE))
        if self._paused_until > now:
            gates.append(Gate(self._paused_until, Limit.PAUSE))
        if self._open_until is not None and self._open_until > now:
            gates.append(Gate(self._open_until, Limit.BREAKER))
        gate = max(gates, key=lambda gate: gate.at)
        # A known time is more useful than a slot, whose time is unknown.
        is_full = (
            self.in_flight - self.silent >= limits.max_per_host
            or self.in_flight >= limits.max_per_host * _SILENT_SHARE
        )
        if gate.limit is Limit.NONE and is_full:
            return Gate(math.inf, Limit.SLOTS)
        return gate

    def start(self, now: float) -> int:
        """Record that a request leaves, which the gate must allow; returns the value for `end`."""
        self.in_flight += 1
        self._full_at = max(self._full_at, now) + self._limits.interval
        if self._open_until is not None:
            self._has_trial = True
        return self._era

    def pause(self, now: float, seconds: float) -> None:
        """Pause the host for the seconds it asked for, within limits."""
        self._paused_until = max(self._paused_until, now + min(seconds, LONGEST_PAUSE))

    def end(self, now: float, era: int, *, succeeded: bool | None) -> None:
        """Record that a request ended.

        Args:
            now: the time.
            era: the value that `start` returned.
            succeeded: whether the host did; `None` if unknown.
        """
        self.in_flight -= 1
        if era != self._era:
            return
        self._has_trial = False
        if succeeded:
            self._open_until = None
            self._failures = self._openings = 0
        elif succeeded is False:
            self._failures += 1
            if self._failures >= self._limits.breaker_failures:  # true after every failed trial
                self._open(now)

    def _open(self, now: float) -> None:
        self._era += 1
        self._openings += 1
        self._open_until = now + self._limits.pause(self._openings)


@dataclass(slots=True)
class _Host:
    """A host in use.

    Attributes:
        state: what is known of it.
        queue: of waiting requests, in order of arrival; set an event to make its owner check again.
        users: requests that wait or hold a slot.
    """

    state: HostState
    queue: deque[asyncio.Event] = field(default_factory=deque)
    users: int = 0

    def wake_first(self) -> None:
        if self.queue:
            self.queue[0].set()

    def wake_all(self) -> None:
        for event in self.queue:
            event.set()


class HostSlot:
    """A request in flight; without an answer it becomes silent after a time.

    Attributes:
        succeeded: whether the host did; `None` while unknown.
    """

    def __init__(self, host: _Host, clock: Callable[[], float], *, silent_after: float) -> None:
        self._host = host
        self._clock = clock
        self._is_silent = False
        self._timer = asyncio.get_running_loop().call_later(silent_after, self._fall_silent)
        self.succeeded: bool | None = None

    def answered(self, status: int, retry_after: float | None) -> None:
        """Record the host's answer.

        Args:
            status: the HTTP status. 500 to 599 is a failure; any other shows that the host works.
            retry_after: seconds that the host asks us to wait; used with 429 and 503.
        """
        self.end_silence()
        self.succeeded = not (
            HTTPStatus.INTERNAL_SERVER_ERROR <= status < HTTPStatus.INTERNAL_SERVER_ERROR + 100
        )
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            self._hold(retry_after or DEFAULT_RETRY_AFTER)
        elif status == HTTPStatus.SERVICE_UNAVAILABLE and retry_after:
            self._hold(retry_after)

    def end_silence(self) -> None:
        """Record the answer, or the end of the request."""
        self._timer.cancel()
        if self._is_silent:
            self._is_silent = False
            self._host.state.silent -= 1

    def _fall_silent(self) -> None:
        self._is_silent = True
        self._host.state.silent += 1
        self._host.wake_first()

    def _hold(self, seconds: float) -> None:
        self._host.state.pause(self._clock(), seconds)
        self._host.wake_all()


class Hosts:
    """Limits the number and rate of requests to each host.

    Requests to one host start in the order of their arrival. Cancelling one that waits costs nothing.
    Hosts are compared as text: callers normalise case, ports and trailing dots.

    Args:
        limits: of every host.
        clock: the event loop's time.
        silent_after: seconds without an answer after which a request is silent.
        remembered: idle hosts kept in memory.
    """

    def __init__(
        self,
        limits: HostLimits,
        *,
        clock: Callable[[], float],
        silent_after: float = SILENT,
        remembered: int = REMEMBERED_HOSTS,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._silent_after = silent_after
        self._remembered = remembered
        self._in_use: dict[str, _Host] = {}
        self._idle: OrderedDict[str, HostState] = OrderedDict()

    @override
    def __repr__(self) -> str:
        waiting = sum(len(host.queue) for host in self._in_use.values())
        under_way = sum(host.state.in_flight for host in self._in_use.values())
        return f"<Hosts [{under_way} under way, {waiting} waiting, {len(self._idle)} idle]>"

    @asynccontextmanager
    async def slot(self, name: str, *, deadline: float) -> AsyncIterator[HostSlot]:
        """Wait until a host may be asked, and hold its slot for the duration of the block.

        A `TransportError` that leaves the block counts as a failure of the host, unless it is a
        `ProxyError`. Anything else, cancellation included, adds nothing to the answer.

        Args:
            name: the host, with a port unless it is the default.
            deadline: loop time by which the request must have started.

        Raises:
            FetchError: `rate_limited`, with `retry_after`; raised at once if the request cannot start in
                time, or only after a pause that is not worth waiting for.
        """
        host = self._take(name)
        try:
            era = await self._begin(host, deadline)
            slot = HostSlot(host, self._clock, silent_after=self._silent_after)
            try:
                yield slot
            except TransportError as error:
                if not isinstance(error, ProxyError):
                    slot.succeeded = False
                raise
            finally:
                slot.end_silence()
                now = self._clock()
                host.state.end(now, era, succeeded=slot.succeeded)
                if host.state.gate(now).limit in _REFUSALS:
                    host.wake_all()
                else:
                    host.wake_first()
        finally:
            self._give_back(name, host)

    async def _begin(self, host: _Host, deadline: float) -> int:
        """Wait for the turn and start; only the head of the queue ever starts."""
        look_again = asyncio.Event()
        host.queue.append(look_again)
        patient_until: float | None = None
        try:
            while True:
                now = self._clock()
                is_first = host.queue[0] is look_again
                gate = host.state.gate(now, ahead=0 if is_first else host.queue.index(look_again))
                if is_first and gate.at <= now:
                    return host.state.start(now)
                if gate.limit in _REFUSALS:
                    patient_until = now + _PATIENCE if patient_until is None else patient_until
                    latest = min(deadline, patient_until)
                else:
                    patient_until, latest = None, deadline
                if latest < gate.at < math.inf or latest <= now:
                    raise _refusal(gate, now)
                look_again.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(min(gate.at, latest) if is_first else latest):
                        await look_again.wait()
        finally:
            host.queue.remove(look_again)
            host.wake_first()

    def _take(self, name: str) -> _Host:
        host = self._in_use.get(name)
        if host is None:
            state = self._idle.pop(name, None) or HostState(self._limits)
            host = self._in_use[name] = _Host(state)
        host.users += 1
        return host

    def _give_back(self, name: str, host: _Host) -> None:
        host.users -= 1
        if host.users:
            return
        del self._in_use[name]
        self._idle[name] = host.state
        if len(self._idle) > self._remembered:
            self._idle.popitem(last=False)


def _refusal(gate: Gate, now: float) -> FetchError:
    wait = gate.at - now if gate.at < math.inf else _SOON
    return FetchError(
        _MESSAGES[gate.limit],
        code=ErrorCode.RATE_LIMITED,
        advice=_ADVICE,
        retry_after=max(_SOON, wait),
    )

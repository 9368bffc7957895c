"""Limits of requests to one host: slots, a token bucket, its own wishes, a circuit breaker.

`HostState` holds the rules, takes the time and waits for nothing; `Hosts` does the waiting.
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
"""Seconds. A host that fails or asks for longer is tried again after this; a setting may be longer."""

_SILENT_SHARE: Final = 2
"""Silent requests make room for others until there are so many times the slots."""
_MIN_BURST: Final = 5
_BURST_SHARE: Final = 3
"""A third of a minute's requests may go at once, so that a page and what it leads to need not wait."""
_ROUNDING: Final = 1e-6
"""Seconds that sums of intervals may be off."""
REMEMBERED_HOSTS: Final = 10_000
"""Idle hosts whose limits are still remembered: 3 MB."""

_PATIENCE: Final = 5.0
"""Seconds that a request waits for a host that failed or asked to be left alone; a caller has better
things to do than to wait for longer, although its deadline would let it."""
SILENT: Final = 1.5
"""Seconds without an answer after which a request makes room for another one to its host: as long as a page
of a search has its slot."""
_SOON: Final = 1.0
"""Seconds to wait before another call, when it cannot be known better."""


class Limit(StrEnum):
    """The reason that keeps a request from leaving now."""

    NONE = "none"
    SLOTS = "slots"
    """Enough requests are under way."""
    RATE = "rate"
    """Enough requests were sent for now."""
    PAUSE = "pause"
    """The host asked to be left alone."""
    BREAKER = "breaker"
    """The host failed too often; until the pause is over, or until the trial under way has ended."""


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
    """The instant at which the next request may leave, and why not before.

    Attributes:
        at: the instant; infinite if only the end of another request can tell.
        limit: what it waits for: of those that end by themselves the longest, else a slot.
    """

    at: float
    limit: Limit


@dataclass(frozen=True, slots=True)
class HostLimits:
    """Numbers that hold for every host alike.

    Attributes:
        max_per_host: requests under way at most.
        rate: requests a minute, on average.
        breaker_failures: failures in a row that open the breaker.
        breaker_pause: seconds it is open at first.
    """

    max_per_host: int
    rate: int
    breaker_failures: int
    breaker_pause: float

    @property
    def interval(self) -> float:
        """Seconds in which the bucket gets one token."""
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
    """One host, as far as it is known; instants are of one clock, which never goes back.

    The bucket is kept as the instant at which it is full again (GCRA, ITU-T I.371): a token costs
    one interval, and there is one as long as that instant is no more than `burst - 1` intervals ahead.

    The breaker is *closed* until `breaker_failures` requests in a row have failed. Then it is *open*
    for the pause. After it, *half-open*: one request is the trial, and its end closes the breaker or
    opens it again for twice the time. A trial that tells nothing is followed by another. Requests
    that began before the breaker opened no longer count.
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
        """Those of them without an answer for so long that no other request waits for them."""

    @override
    def __repr__(self) -> str:
        breaker = (
            "closed" if self._open_until is None else "half-open" if self._has_trial else "open"
        )
        return f"<HostState {self.in_flight} in flight, {self._failures} failures, {breaker}>"

    def gate(self, now: float, ahead: int = 0) -> Gate:
        """Foresee when a request may leave that has `ahead` others before it."""
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
        # A known time says more than a slot that cannot be foreseen.
        is_full = (
            self.in_flight - self.silent >= limits.max_per_host
            or self.in_flight >= limits.max_per_host * _SILENT_SHARE
        )
        if gate.limit is Limit.NONE and is_full:
            return Gate(math.inf, Limit.SLOTS)
        return gate

    def start(self, now: float) -> int:
        """Let a request leave that the gate lets pass; returns what `end` has to be given."""
        self.in_flight += 1
        self._full_at = max(self._full_at, now) + self._limits.interval
        if self._open_until is not None:
            self._has_trial = True
        return self._era

    def pause(self, now: float, seconds: float) -> None:
        """Leave the host alone for the seconds that it asked for, within bounds."""
        self._paused_until = max(self._paused_until, now + min(seconds, LONGEST_PAUSE))

    def end(self, now: float, era: int, *, succeeded: bool | None) -> None:
        """Take note that a request is over.

        Args:
            now: the time.
            era: what `start` returned for it.
            succeeded: whether the host did; `None` if the request tells nothing about it.
        """
        self.in_flight -= 1
        if era != self._era:
            return
        self._has_trial = False
        if succeeded:
            self._close()
        elif succeeded is False:
            self._failures += 1
            if self._failures >= self._limits.breaker_failures:  # so is every trial that fails
                self._open(now)

    def _close(self) -> None:
        self._open_until = None
        self._failures = self._openings = 0

    def _open(self, now: float) -> None:
        self._era += 1
        self._openings += 1
        self._open_until = now + self._limits.pause(self._openings)


@dataclass(slots=True)
class _Host:
    """One host in use.

    Attributes:
        state: what is known of it.
        queue: of those who wait, in the order they came; set to make one look again.
        users: who waits or holds a slot.
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
    """One request to a host, under way; without an answer it is silent after a time.

    Attributes:
        succeeded: whether the host did; `None` as long as the request tells nothing about it.
    """

    def __init__(self, host: _Host, clock: Callable[[], float], *, silent_after: float) -> None:
        self._host = host
        self._clock = clock
        self._is_silent = False
        self._timer = asyncio.get_running_loop().call_later(silent_after, self._fall_silent)
        self.succeeded: bool | None = None

    def answered(self, status: int, retry_after: float | None) -> None:
        """Tell what the host answered.

        Args:
            status: the HTTP status. 500 to 599 is a failure; any other shows that the host works.
            retry_after: seconds that the host asks us to wait; they count with 429 and 503.
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
        """Take note of the answer, or of the end of the request."""
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
    """Lets requests go to each host one after the other, not too many and not too often.

    Requests to one host begin in the order they were asked for. One that is cancelled while it waits
    has taken nothing. Hosts are told apart by their text: case, ports and final dots are the
    caller's to settle.

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
        """Wait until a host may be asked, and hold its slot for as long as the block lasts.

        A `TransportError` that leaves the block is a failure of the host, unless it is a
        `ProxyError`. Anything else, cancellation included, tells no more than the answer did.

        Args:
            name: the host and, unless it is the usual one, the port.
            deadline: the event loop's time by which the request must have begun.

        Raises:
            FetchError: `rate_limited`, with `retry_after`; at once if it is known that the request
                cannot begin in time, or only after a pause that is not worth waiting for.
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
        """Wait for the turn and start; only the first of the queue ever starts."""
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

"""How often one host may be asked: slots, a token bucket, its own wishes, a circuit breaker.

Everything here takes the time and waits for nothing; `hosts.py` does the waiting.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from typing_extensions import override

LONGEST_PAUSE: Final = 600.0
"""Seconds. A host that fails or asks for longer is tried again after this; a setting may be longer."""

_SILENT_SHARE: Final = 2
"""Silent requests make room for others until there are so many times the slots."""
_MIN_BURST: Final = 5
_BURST_SHARE: Final = 3
"""A third of a minute's requests may go at once, so that a page and what it leads to need not wait."""
_ROUNDING: Final = 1e-6
"""Seconds that sums of intervals may be off."""


class Limit(StrEnum):
    """What keeps a request from leaving now."""

    NONE = "none"
    SLOTS = "slots"
    """Enough requests are under way."""
    RATE = "rate"
    """Enough requests were sent for now."""
    PAUSE = "pause"
    """The host asked to be left alone."""
    BREAKER = "breaker"
    """The host failed too often; until the pause is over, or until the trial under way has ended."""


@dataclass(frozen=True, slots=True)
class Gate:
    """When the next request may leave.

    Attributes:
        at: the instant; infinite if only the end of another request can tell.
        limit: what it waits for: of those that end by themselves the longest, else a slot.
    """

    at: float
    limit: Limit


@dataclass(frozen=True, slots=True)
class HostLimits:
    """What holds for every host alike.

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
    """What is known of one host; instants are of one clock, which never goes back.

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
        """How many of them have had no answer for so long that they keep nobody waiting."""

    @override
    def __repr__(self) -> str:
        breaker = (
            "closed" if self._open_until is None else "half-open" if self._has_trial else "open"
        )
        return f"<HostState {self.in_flight} in flight, {self._failures} failures, {breaker}>"

    def gate(self, now: float, ahead: int = 0) -> Gate:
        """When a request may leave that has `ahead` others before it, as far as can be foreseen."""
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
        # A time to come tells more than a slot that nobody can foresee.
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

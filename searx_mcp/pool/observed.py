"""What our own requests to an instance showed, older ones counting less."""

import math
from dataclasses import dataclass

from searx_mcp.models.attempt import PastOutcome, Verdict
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.timers import HOUR

HALF_LIFE = 6 * HOUR
"""After this time an observation counts half: engines inside instances come and go within hours."""
PEAK_MEMORY = 600.0
"""Seconds after which a peak of the latency is forgotten to a third. Balancers use some seconds; our
requests to one instance are minutes apart."""

OUTCOMES = 10
"""Requests of the past that are remembered one by one."""
LATENCIES = 50
"""Latest answers whose times are remembered: enough for a 95th percentile, and 300 bytes."""

_WORTH = {
    Verdict.FULL: 1.0,
    Verdict.THIN: 0.6,
    Verdict.EMPTY: 0.5,
    Verdict.ENGINES_FAILED: 0.2,
}


@dataclass(slots=True)
class Observed:
    """Worth and latency of our own requests.

    Attributes:
        observed: the sum of their worth, decayed.
        count: how many there were, decayed alike.
        observed_at: Unix seconds of the last.
        latency: peak-sensitive moving average in seconds, or `None`.
        latency_at: Unix seconds of its last change.
        latencies: the latest times that went into it, in seconds, the newest last.
        outcomes: the latest requests, the newest last.
    """

    observed: float = 0.0
    count: float = 0.0
    observed_at: float = 0.0
    latency: float | None = None
    latency_at: float = 0.0
    latencies: tuple[float, ...] = ()
    outcomes: tuple[PastOutcome, ...] = ()

    def note(self, outcome: Outcome, now: float) -> None:
        """Remember a request as it was, whatever it says of the instance."""
        past = PastOutcome(
            at=round(now, 3),
            verdict=outcome.verdict,
            format=outcome.format,
            status_code=outcome.status_code,
            elapsed_ms=round(outcome.elapsed * 1_000),
            detail=outcome.offence or outcome.detail,
        )
        self.outcomes = (*self.outcomes, past)[-OUTCOMES:]

    def add(self, outcome: Outcome, now: float) -> None:
        """Take in one more outcome."""
        decay = self._decay(now)
        self.observed = self.observed * decay + _WORTH.get(outcome.verdict, 0.0)
        self.count = self.count * decay + 1
        self.observed_at = now
        if outcome.status_code is not None or outcome.verdict is Verdict.TIMEOUT:
            self.add_latency(outcome.elapsed, now)

    def add_latency(self, seconds: float, now: float) -> None:
        """Take in how long an answer took, or how long none came.

        A peak is believed at once, its end with e^(-t / 600 s) of the time since the last one.
        """
        if self.latency is None or seconds > self.latency:
            self.latency = seconds
        else:
            kept = math.exp(-max(0.0, now - self.latency_at) / PEAK_MEMORY)
            self.latency = kept * self.latency + (1 - kept) * seconds
        self.latency_at = now
        self.latencies = (*self.latencies, round(seconds, 3))[-LATENCIES:]

    def percentile(self, percent: int) -> float | None:
        """The time within which so many of the latest answers came: the nearest rank, in seconds."""
        if not self.latencies:
            return None
        rank = math.ceil(len(self.latencies) * percent / 100)
        return sorted(self.latencies)[max(rank, 1) - 1]

    def halve(self) -> None:
        """Trust it half as much: after a rest, an instance may have changed."""
        self.observed /= 2
        self.count /= 2

    def mean(self) -> float | None:
        """The mean worth, 0 to 1, or `None` before the first request."""
        return self.observed / self.count if self.count else None

    def count_at(self, now: float) -> float:
        """How many requests stand behind the mean, decayed until now."""
        return self.count * self._decay(now)

    def _decay(self, now: float) -> float:
        return math.exp2(-max(0.0, now - self.observed_at) / HALF_LIFE)

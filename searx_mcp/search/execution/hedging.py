"""When a second instance is asked because the first is slow."""

from collections import deque

_SAMPLES = 100
_ENOUGH = 10
_SAVED = 5.0


class Hedging:
    """The limit of hedges and their delay.

    A hedge leaves after the 90th percentile of the latest answers, so that it costs about every
    tenth search a second request (Dean and Barroso, "The Tail at Scale", 2013, §"Hedged requests",
    hedge after the 95th; our samples are few). Every attempt earns a share of a hedge and saved
    shares are bounded, so that an outage does not double the load. Retries have a limit of their
    own: when both shared one, hedges starved the retries.

    Args:
        share: hedges per attempt at most; 0 switches hedging off.
        delay: seconds before a hedge while there are fewer than ten answers to go by.
    """

    def __init__(self, *, share: float, delay: float) -> None:
        self._share = share
        self._delay = delay
        self._saved = 1.0
        self._latencies: deque[float] = deque(maxlen=_SAMPLES)

    @property
    def is_on(self) -> bool:
        """Whether there are hedges at all."""
        return self._share > 0

    def delay(self) -> float:
        """Seconds to wait for the first instance."""
        if len(self._latencies) < _ENOUGH:
            return self._delay
        ordered = sorted(self._latencies)
        return ordered[int(0.9 * len(ordered))]

    def answered(self, seconds: float) -> None:
        """An instance that may be hedged answered in this time."""
        self._latencies.append(seconds)

    def earn(self) -> None:
        """An attempt that may be hedged was made."""
        self._saved = min(_SAVED, self._saved + self._share)

    def spend(self) -> bool:
        """Take one hedge, if the limit allows it."""
        if self._saved < 1:
            return False
        self._saved -= 1
        return True

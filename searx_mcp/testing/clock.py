"""A clock that moves only on request."""

import math


class FakeClock:
    """A callable clock for tests, for any `Callable[[], float]`.

    Calling it returns Unix seconds as a float and changes nothing, so two readings without an
    `advance` between them are equal.

    Args:
        start: the first reading, in Unix seconds; 2026-01-01 00:00 UTC unless given.
    """

    def __init__(self, start: float = 1_767_225_600.0) -> None:
        self._now = float(start)

    def __call__(self) -> float:
        """Return the current reading in Unix seconds."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Let time pass and return the new reading.

        Raises:
            ValueError: `seconds` is negative or not finite; `jump` can go backwards.
        """
        if seconds < 0:
            raise ValueError(f"a clock advances forwards, not by {seconds} s; jump() goes back")
        return self.jump(seconds)

    def jump(self, seconds: float) -> float:
        """Step by `seconds`, backwards if negative, as a corrected system clock does.

        Raises:
            ValueError: `seconds` is not finite.
        """
        if not math.isfinite(seconds):
            raise ValueError(f"a clock moves by a finite number of seconds, not by {seconds}")
        self._now += seconds
        return self._now

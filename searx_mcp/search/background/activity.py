"""Whether anybody searches: nobody is asked for anything by a program that nobody uses."""

from collections.abc import Callable

IDLE = 900.0
"""Seconds without a search after which a process makes no request of its own accord."""


class Activity:
    """Remembers when this process was used last.

    Args:
        clock: Unix seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started_at = clock()
        self._searched_at: float | None = None

    def searched(self) -> None:
        """Somebody searches now."""
        self._searched_at = self._clock()

    @property
    def is_searching(self) -> bool:
        """Whether there was a search lately."""
        return self._searched_at is not None and self._is_recent(self._searched_at)

    @property
    def is_awake(self) -> bool:
        """Whether there was a search lately, or the process is young."""
        return self.is_searching or self._is_recent(self._started_at)

    def _is_recent(self, at: float) -> bool:
        # A time ahead of now comes from a clock that has been put back since.
        return abs(self._clock() - at) <= IDLE

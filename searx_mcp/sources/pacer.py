"""A small random distance between two requests to public instances."""

import asyncio
import math
import random


class RequestPacer:
    """Keeps requests apart, so that a burst of ours does not reach strangers as a burst.

    The first request waits for nothing; each later one keeps a random distance from the one
    before it. Callers queue in the order in which they came.

    Args:
        bounds: milliseconds, from and to.
        rng: the dice.
    """

    def __init__(self, bounds: tuple[int, int], rng: random.Random) -> None:
        self._bounds = bounds
        self._rng = rng
        self._next = 0.0

    def take_turn(self, now: float) -> float:
        """Take the next place in the queue and return how many seconds away it is."""
        at = max(now, self._next)
        low, high = self._bounds
        self._next = at + self._rng.uniform(low, high) / 1_000
        return at - now

    async def wait(self, deadline: float = math.inf) -> bool:
        """Return when the next request may leave.

        Args:
            deadline: loop time; a place in the queue at or after it is not taken.

        Returns:
            `False`, and at once, if its turn would come too late.
        """
        now = asyncio.get_running_loop().time()
        if max(now, self._next) >= deadline:
            return False
        await asyncio.sleep(self.take_turn(now))
        return True

"""A small random distance between two requests to public instances."""

import asyncio
import random


class Spacing:
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

    async def wait(self) -> None:
        """Return when the next request may leave."""
        await asyncio.sleep(self.take_turn(asyncio.get_running_loop().time()))

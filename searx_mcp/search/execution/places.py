"""How many searches one own instance is given at the same time."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial


class Places:
    """Places at instances; whoever finds none waits for one in the order in which they came.

    Args:
        most: searches that are under way at one instance at the same time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        make: Callable[[], asyncio.Semaphore] = partial(asyncio.Semaphore, most)
        self._places = defaultdict[str, asyncio.Semaphore](make)

    def are_taken(self, url: str) -> bool:
        """Whether a search at `url` has to wait for a place."""
        return self._places[url].locked()

    @asynccontextmanager
    async def take(self, url: str, deadline: float) -> AsyncIterator[bool]:
        """Hold a place while inside; tells whether there was one.

        Args:
            url: base URL of the instance.
            deadline: loop time until which it is waited for.
        """
        place = self._places[url]
        try:
            async with asyncio.timeout_at(deadline):
                await place.acquire()
        except TimeoutError:
            yield False
            return
        try:
            yield True
        finally:
            place.release()

"""One place among a bounded number."""

import asyncio
from typing import Self


class Place:
    """A place that is taken when it is first needed, and given back when the block ends.

    Args:
        places: how many there are.
    """

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._turn = asyncio.Lock()
        self._is_taken = False

    async def take(self) -> None:
        """Wait for a free place, and keep it; does nothing when it is taken already."""
        async with self._turn:
            if not self._is_taken:
                await self._places.acquire()
                self._is_taken = True

    async def take_by(self, deadline: float) -> bool:
        """Take the place by a deadline, which is loop time; tells whether there was one."""
        try:
            async with asyncio.timeout_at(deadline):
                await self.take()
        except TimeoutError:
            return False
        return True

    def leave(self) -> None:
        """Give the place back before the block ends; does nothing when it is not taken."""
        if self._is_taken:
            self._is_taken = False
            self._places.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.leave()

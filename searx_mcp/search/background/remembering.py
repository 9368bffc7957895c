"""What the pool learned, kept between processes and shared among them."""

from collections.abc import Callable

from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.state.interface import StateStore

RECALL_INTERVAL = 15.0
"""Seconds after which a process looks again for what the others have learned."""


class Remembering:
    """Carries records between the pool and the store.

    News of other processes are taken over before a search, at most every fifteen seconds; what a
    search taught is kept after it. Neither ever fails a search: a store that cannot keep what it
    should goes on in memory and says so.
    """

    def __init__(self, pool: InstancePool, state: StateStore, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._state = state
        self._clock = clock
        self._recalled_at: float | None = None
        self._kept_at = 0.0

    async def recall(self) -> None:
        """Take over what was learned before or meanwhile, if the last look was long enough ago."""
        now = self._clock()
        if self._recalled_at is not None and abs(now - self._recalled_at) < RECALL_INTERVAL:
            return
        self._recalled_at = now
        self._pool.restore(await self._state.load(now))

    async def keep(self) -> None:
        """Keep what was learned since the last time."""
        now = self._clock()
        records = self._pool.learned_since(self._kept_at)
        if records:
            await self._state.save(records, now)
            self._kept_at = max(record.last_at for record in records.values())

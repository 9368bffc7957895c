"""What the pool learned, kept between processes and shared among them."""

from collections.abc import Callable

from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.sources import SourcePool
from searx_mcp.search.background.roster import Roster
from searx_mcp.storage.state import StateStore

RECALL_INTERVAL = 15.0
"""Seconds after which a process looks again for what the others have learned and the user chose."""


class Remembering:
    """Carries records between the pool and the store.

    News of other processes, and what the user chose by command, are taken over before a search, at
    most every fifteen seconds; what a search taught is kept after it. Neither ever fails a search: a
    store that cannot keep what it should goes on in memory and says so.

    Args:
        pool: learns and is learned from.
        state: keeps it.
        clock: Unix seconds.
        roster: told what the user chose; without one, choices change nothing.
        sources: open sources, which learn and are learned from as well.
    """

    def __init__(
        self,
        pool: InstancePool,
        state: StateStore,
        clock: Callable[[], float],
        roster: Roster | None = None,
        sources: SourcePool | None = None,
    ) -> None:
        self._pool = pool
        self._state = state
        self._clock = clock
        self._roster = roster
        self._sources = sources
        self._recalled_at: float | None = None
        self._kept_at = 0.0

    async def recall(self, *, at_once: bool = False) -> None:
        """Take over what was learned or chosen meanwhile, if the last look was long enough ago.

        Args:
            at_once: whether to look however long ago that was.
        """
        now = self._clock()
        age = RECALL_INTERVAL if self._recalled_at is None else abs(now - self._recalled_at)
        if age < RECALL_INTERVAL and not at_once:
            return
        self._recalled_at = now
        if self._roster is not None:
            # First who belongs to the pool: only of them anything is taken over.
            self._roster.choose(await self._state.choices())
        records = await self._state.load(now)
        # What was learned before the clock was put back must not keep out what is learned after it.
        self._kept_at = self._kept_at if self._kept_at <= now else 0.0
        self._pool.settle(now)
        self._pool.restore(records)
        if self._sources is not None:
            self._sources.settle(now)
            self._sources.restore(records)

    async def keep(self) -> None:
        """Keep what was learned since the last time."""
        now = self._clock()
        records = self._pool.learned_since(self._kept_at)
        if records.keys() - self._pool.own_urls():
            # Another process may have read in a robots.txt that we are to stay away while our
            # request was under way: what is kept of that must not go.
            self._pool.restore(await self._state.load(now))
            records = self._pool.learned_since(self._kept_at)
        if self._sources is not None:
            records |= self._sources.learned_since(self._kept_at)
        if records:
            await self._state.save(records, now)
            # A record that was reset is dated ahead, which must not keep the others from being kept.
            self._kept_at = min(now, max(record.last_at for record in records.values()))

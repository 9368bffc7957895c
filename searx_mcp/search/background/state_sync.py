"""What the pool learned, kept between processes and shared among them."""

from collections.abc import Callable

from searx_mcp.pool.pool import InstancePool, SourcePool
from searx_mcp.search.background.membership import PoolMembership
from searx_mcp.storage.state import StateStore

PULL_INTERVAL = 15.0
"""Seconds after which a process looks again for what the others have learned and the user chose."""


class StateSync:
    """Carries records between the pool and the store.

    News of other processes, and what the user chose by command, are taken over before a search, at
    most every fifteen seconds; what a search taught is kept after it. Neither ever fails a search: a
    store that cannot keep what it should goes on in memory and says so.

    Args:
        pool: learns and is learned from.
        state: keeps it.
        clock: Unix seconds.
        membership: told what the user chose; without one, choices change nothing.
        sources: open sources, which learn and are learned from as well.
    """

    def __init__(
        self,
        pool: InstancePool,
        state: StateStore,
        clock: Callable[[], float],
        membership: PoolMembership | None = None,
        sources: SourcePool | None = None,
    ) -> None:
        self._pool = pool
        self._state = state
        self._clock = clock
        self._membership = membership
        self._sources = sources
        self._pulled_at: float | None = None
        self._pushed_at = 0.0

    async def pull(self, *, at_once: bool = False) -> None:
        """Take over what was learned or chosen meanwhile, if the last look was long enough ago.

        Args:
            at_once: whether to look however long ago that was.
        """
        now = self._clock()
        age = PULL_INTERVAL if self._pulled_at is None else abs(now - self._pulled_at)
        if age < PULL_INTERVAL and not at_once:
            return
        self._pulled_at = now
        if self._membership is not None:
            # First who belongs to the pool: only of them anything is taken over.
            self._membership.choose(await self._state.choices())
        records = await self._state.load(now)
        # What was learned before the clock was put back must not keep out what is learned after it.
        self._pushed_at = self._pushed_at if self._pushed_at <= now else 0.0
        self._pool.settle(now)
        self._pool.restore(records)
        if self._sources is not None:
            self._sources.settle(now)
            self._sources.restore(records)

    async def push(self) -> None:
        """Keep what was learned since the last time."""
        now = self._clock()
        records = self._pool.learned_since(self._pushed_at)
        if records.keys() - self._pool.own_urls():
            # Another process may have read in a robots.txt that we are to stay away while our
            # request was under way: what is kept of that must not go.
            self._pool.restore(await self._state.load(now))
            records = self._pool.learned_since(self._pushed_at)
        if self._sources is not None:
            records |= self._sources.learned_since(self._pushed_at)
        if records:
            await self._state.save(records, now)
            # A record that was reset is dated ahead, which must not keep the others from being kept.
            self._pushed_at = min(now, max(record.last_at for record in records.values()))

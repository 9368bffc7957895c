"""The list of public instances, renewed while somebody searches."""

import asyncio
from collections.abc import Callable, Iterable

from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.activity import Activity
from searx_mcp.search.background.discovery import RETRY_INTERVAL, Discovery
from searx_mcp.search.state.interface import StateStore

_JOB = "discovery"


class Relisting:
    """Takes a new list over into the pool; nobody waits for it, and a failure changes nothing.

    Args:
        discovery: fetches and keeps the list.
        pool: where its instances go.
        admit: chooses the instances of a list that may be asked.
        state: so that one of several processes fetches.
        activity: whether anybody uses this process.
        clock: Unix seconds.
    """

    def __init__(
        self,
        discovery: Discovery,
        *,
        pool: InstancePool,
        admit: Callable[[Catalog], Iterable[CatalogEntry]],
        state: StateStore,
        activity: Activity,
        clock: Callable[[], float],
    ) -> None:
        self._discovery = discovery
        self._pool = pool
        self._admit = admit
        self._state = state
        self._activity = activity
        self._clock = clock
        self.catalog: Catalog | None = None
        """The list taken over last, or `None` before the first."""

    async def renew(self) -> None:
        """Fetch the list if it is due and somebody searched lately, and take it over."""
        if not self._activity.is_searching:
            return
        now = self._clock()
        is_due = await asyncio.to_thread(self._discovery.due, now) == 0
        if is_due and not await self._state.claim(_JOB, seconds=RETRY_INTERVAL / 2, now=now):
            return
        refreshed = await self._discovery.refresh(now)
        if refreshed.changed and refreshed.catalog is not None:
            self.catalog = refreshed.catalog
            self._pool.relist(self._admit(refreshed.catalog))

"""The list of public instances, renewed while somebody searches."""

import asyncio
from collections.abc import Callable

from searx_mcp.search.background.activity import Activity
from searx_mcp.search.background.discovery import RETRY_INTERVAL, Discovery, Refreshed
from searx_mcp.search.background.roster import Roster
from searx_mcp.storage.state import StateStore

_JOB = "discovery"


class Relisting:
    """Takes a new list over into the pool; nobody waits for it, and a failure changes nothing.

    Args:
        discovery: fetches and keeps the list.
        roster: where its instances go.
        state: so that one of several processes fetches.
        activity: whether anybody uses this process.
        clock: Unix seconds.
    """

    def __init__(
        self,
        discovery: Discovery,
        *,
        roster: Roster,
        state: StateStore,
        activity: Activity,
        clock: Callable[[], float],
    ) -> None:
        self._discovery = discovery
        self._roster = roster
        self._state = state
        self._activity = activity
        self._clock = clock
        self._refreshing = asyncio.Lock()

    async def renew(self) -> None:
        """Fetch the list if it is due and somebody searched lately, and take it over."""
        if not (self._activity.is_searching and self._roster.asks_public):
            return
        now = self._clock()
        is_due = await asyncio.to_thread(self._discovery.due, now) == 0
        if is_due and not await self._state.claim(_JOB, seconds=RETRY_INTERVAL / 2, now=now):
            return
        _ = await self.refresh(now)

    async def refresh(self, now: float, *, at_once: bool = False) -> Refreshed:
        """Fetch the list if it is due, or whether it is or not, and take it over.

        Args:
            now: Unix seconds.
            at_once: whether to fetch it although it is not due.
        """
        async with self._refreshing:
            refreshed = await self._discovery.refresh(now, at_once=at_once)
            if refreshed.changed and refreshed.catalog is not None:
                self._roster.relist(refreshed.catalog)
            return refreshed

"""Health checks, in servers that live long; none of them is a search."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.activity import Activity
from searx_mcp.storage.state import StateStore

_log = logging.getLogger("searx_mcp.search.background.prober")

PROBE_TIMEOUT = 5.0
PUBLIC_INTERVAL = 3_600.0
"""Seconds between two checks of a public instance by all processes together, at least."""
CONFIG_INTERVAL = 86_400.0
"""Seconds between two looks at the `/config` of an own instance, at least; that of a public one is
looked at before a search, together with its robots.txt."""
_ROUND_SHARE = 0.85
"""Of the interval, after which a job is free again: a round may come a tenth early."""
_AT_ONCE = 4
_ENOUGH_TO_DOUBT = 3
"""When so many are silent one after the other, the network here was down."""


class Pulse(Protocol):
    """Asks instances for what costs them no search."""

    async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:  # noqa: ASYNC109 - of one probe
        """Whether `base_url` answers within `timeout` seconds; never raises for its failures."""
        ...

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - of one probe
        """What its `/config` says, or `None`; never raises for its failures."""
        ...


class Prober:
    """Asks instances for `/healthz`, own ones also once a day for `/config`.

    An answer ends a failing time early, silence counts as a failure, so that a stopped instance is
    known before a search has to wait for it; it proves no engine. Own instances are checked in
    every round. Of the public ones that are likely to be asked next, a round checks one, so that
    they are spread over the rounds: each at most once an hour, and none unless somebody searches.
    Several processes share the work: what one has claimed the others leave alone. When several
    public ones after each other are silent, the network here is down, and nothing is held against
    anybody; against one it is once another answers.

    Args:
        pool: learns from the answers.
        pulse: asks.
        state: shares the work among processes.
        activity: whether anybody uses this process.
        interval: seconds between two rounds.
        clock: Unix seconds.
    """

    def __init__(
        self,
        pool: InstancePool,
        pulse: Pulse,
        *,
        state: StateStore,
        activity: Activity,
        interval: float,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._pulse = pulse
        self._state = state
        self._activity = activity
        self._interval = interval * _ROUND_SHARE
        self._clock = clock
        self._silent: set[str] = set()

    async def check(self) -> None:
        """One round."""
        if self._activity.is_awake:
            await self._check_own()
        if self._activity.is_searching:
            await self._check_public()

    async def _check_own(self) -> None:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def check(url: str) -> None:
            async with slots:
                alive = await self._is_alive(url, own=True)
                self._pool.probed(url, alive=alive, now=self._clock())
                if alive and await self._claim(f"config {url}", CONFIG_INTERVAL):
                    facts = await self._pulse.config(url, own=True, timeout=PROBE_TIMEOUT)
                    if facts is not None:
                        self._pool.learn_facts(url, facts, self._clock())

        urls = self._pool.own_urls()
        due = [url for url in urls if await self._claim(f"healthz {url}", self._interval)]
        async with asyncio.TaskGroup() as group:
            for url in due:
                group.create_task(check(url))

    async def _check_public(self) -> None:
        urls = self._pool.aperture(self._clock())
        if not urls or not await self._claim("healthz", self._interval):
            return
        for url in urls:
            if await self._claim(f"healthz {url}", PUBLIC_INTERVAL):
                break
        else:
            return
        if not await self._is_alive(url, own=False):
            self._silent.add(url)
            if len(urls) > 1:
                return
        else:
            self._pool.probed(url, alive=True, now=self._clock())
        if len(self._silent) < _ENOUGH_TO_DOUBT:
            for silent in self._silent:
                self._pool.probed(silent, alive=False, now=self._clock())
        self._silent.clear()

    async def _is_alive(self, url: str, *, own: bool) -> bool:
        alive = await self._pulse.is_alive(url, own=own, timeout=PROBE_TIMEOUT)
        _log.debug("search.probe instance=%s alive=%s", url, alive)
        return alive

    async def _claim(self, job: str, seconds: float) -> bool:
        return await self._state.claim(job, seconds=seconds, now=self._clock())

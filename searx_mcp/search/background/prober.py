"""Health checks, in servers that live long; none of them is a search."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.activity import Activity
from searx_mcp.search.state.interface import StateStore

_log = logging.getLogger("searx_mcp.search.background.prober")

PROBE_TIMEOUT = 5.0
PUBLIC_INTERVAL = 3_600.0
"""Seconds between two checks of a public instance by all processes together, at least."""
CONFIG_INTERVAL = 86_400.0
"""Seconds between two looks at the `/config` of an instance, at least."""
_ROUND_SHARE = 0.85
"""Of the interval, after which a job is free again: a round may come a tenth early."""
_AT_ONCE = 4
_ENOUGH_TO_DOUBT = 2
"""When so many are silent and nobody answers, the network here is down."""


class Pulse(Protocol):
    """Asks instances for what costs them no search."""

    async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:  # noqa: ASYNC109 - of one probe
        """Whether `base_url` answers within `timeout` seconds; never raises for its failures."""
        ...

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - of one probe
        """What its `/config` says, or `None`; never raises for its failures."""
        ...


class Prober:
    """Asks instances for `/healthz`, and once a day for `/config`.

    An answer ends a failing time early, silence counts as a failure, so that a stopped instance is
    known before a search has to wait for it; it proves no engine. Own instances are checked in
    every round, public ones of the aperture once an hour and only while somebody searches. Several
    processes share the work: what one has claimed the others leave alone. When nobody at all
    answers, the network here is down, and nothing is held against anybody.

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
        self._own_interval = interval * _ROUND_SHARE
        self._clock = clock

    async def check(self) -> None:
        """One round."""
        if self._activity.is_awake:
            await self._check_all(self._pool.own_urls(), own=True, interval=self._own_interval)
        if self._activity.is_searching:
            aperture = self._pool.aperture(self._clock())
            await self._check_all(aperture, own=False, interval=PUBLIC_INTERVAL)

    async def _check_all(self, urls: Sequence[str], *, own: bool, interval: float) -> None:
        now = self._clock()
        due = [
            url
            for url in urls
            if await self._state.claim(f"healthz {url}", seconds=interval, now=now)
        ]
        alive: dict[str, bool] = {}
        slots = asyncio.Semaphore(_AT_ONCE)

        async def check(url: str) -> None:
            async with slots:
                alive[url] = await self._pulse.is_alive(url, own=own, timeout=PROBE_TIMEOUT)
                _log.debug("search.probe instance=%s alive=%s", url, alive[url])
                if alive[url]:
                    await self._read_config(url, own=own)

        async with asyncio.TaskGroup() as group:
            for url in due:
                group.create_task(check(url))
        if any(alive.values()) or own or len(due) < _ENOUGH_TO_DOUBT:
            for url, answers in alive.items():
                self._pool.probed(url, alive=answers, now=self._clock())

    async def _read_config(self, url: str, *, own: bool) -> None:
        job = f"config {url}"
        if not await self._state.claim(job, seconds=CONFIG_INTERVAL, now=self._clock()):
            return
        facts = await self._pulse.config(url, own=own, timeout=PROBE_TIMEOUT)
        if facts is not None:
            self._pool.learn_facts(url, facts, self._clock())

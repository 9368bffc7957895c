"""Health checks of own instances, in servers that live long."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from searx_mcp.pool.pool import InstancePool

_log = logging.getLogger("searx_mcp.search.prober")

PROBE_TIMEOUT = 5.0


class Pulse(Protocol):
    """Tells whether an instance answers, without a search."""

    async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:  # noqa: ASYNC109 - of one probe
        """Whether `base_url` answers within `timeout` seconds; never raises for its failures."""
        ...


class Prober:
    """Asks own instances for `/healthz`; a check never searches and proves no engine.

    An answer ends a failing time early, silence counts as a failure, so that a stopped instance is
    known before a search has to wait for it. Public instances are never probed here.
    """

    def __init__(self, pool: InstancePool, pulse: Pulse, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._pulse = pulse
        self._clock = clock

    async def check_own(self) -> None:
        """One round over all own instances, side by side."""
        async with asyncio.TaskGroup() as group:
            for url in self._pool.own_urls():
                group.create_task(self._check(url))

    async def _check(self, url: str) -> None:
        alive = await self._pulse.is_alive(url, own=True, timeout=PROBE_TIMEOUT)
        self._pool.probed(url, alive=alive, now=self._clock())
        _log.debug("search.probe instance=%s alive=%s", url, alive)

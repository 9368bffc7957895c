"""A search that finds the instance of this machine down starts it, and waits a moment for it."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from typing_extensions import override

from searx_mcp.models.service import Progress
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.installation import NATIVE_FOLDER, NativeFolder
from searx_mcp.ops.own.native_process import NativeProcess, Starting
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.providers.context import Found, Provider, SearchContext

WAIT: Final = 3.0
"""Seconds a search waits for it at most; SearXNG took 1.3 to answer after its start."""
_SHARE: Final = 0.5
"""Of what is left of the search's time."""
_PAUSE: Final = 60.0
"""Seconds after which one that did not come up is started again."""


class Waking(Provider):
    """Lets another provider search, once the instance that `instances own up` made runs.

    It is down after a restart of the machine, or when it was idle or killed. Whichever process
    searches next starts it; of several that do so at once, one instance runs. One that does not
    come up is left to those who look after it: the search goes on without it.

    Args:
        provider: searches.
        folder: where the instance is installed.
        starting: starts it.
        pool: asks it if it is a member.
        clock: Unix seconds.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        folder: NativeFolder,
        starting: Starting,
        pool: InstancePool,
        clock: Callable[[], float],
    ) -> None:
        self._provider = provider
        self._folder = folder
        self._process = NativeProcess(folder.run)
        self._starting = starting
        self._pool = pool
        self._clock = clock
        self._turn = asyncio.Lock()
        self._not_before = 0.0

    @override
    async def run(self, context: SearchContext) -> Found:
        """Answer a search; see `Provider`."""
        await self._wake(context.deadline, context.progress)
        return await self._provider.run(context)

    async def _wake(self, deadline: float, progress: Progress | None) -> None:
        own = self._pool.own_urls()
        if not own or not self._folder.path.exists() or self._is_serving():
            return
        async with self._turn:
            now = asyncio.get_running_loop().time()
            installed = self._folder.installed
            is_ours = installed is not None and installed.url in own
            if installed is None or not is_ours or now < self._not_before or self._is_serving():
                return
            if progress is not None:
                progress(f"starting {installed.url}")
            until = min(now + WAIT, now + _SHARE * (deadline - now))
            self._not_before = now + _PAUSE
            try:
                url = await self._starting.serve(
                    self._process, installed, port=installed.port, deadline=until
                )
            except OwnInstanceError:
                return
            self._not_before = 0.0
            self._pool.probed(url, alive=True, now=self._clock())

    def _is_serving(self) -> bool:
        """Tell whether it takes searches; one that another process has started may not do so yet."""
        running = self._process.find()
        return running is not None and running.port > 0


def waking(
    provider: Provider,
    *,
    folder: Path,
    is_alive: Callable[[str], Awaitable[bool]],
    idle: float,
    pool: InstancePool,
    clock: Callable[[], float],
) -> Provider:
    """Let a provider search once the instance runs; itself where there cannot be one.

    Args:
        provider: searches.
        folder: where state is kept.
        is_alive: whether the instance at a base URL answers, soon.
        idle: seconds without a search after which the instance ends; 0 for never.
        pool: asks the instance if it is a member.
        clock: Unix seconds.
    """
    if sys.platform == "win32":
        return provider
    native = NativeFolder(folder / NATIVE_FOLDER)
    starting = Starting(native, is_alive=is_alive, environ=os.environ, idle=idle)
    return Waking(provider, folder=native, starting=starting, pool=pool, clock=clock)

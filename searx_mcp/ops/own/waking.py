"""Starts the local instance when a search finds it down, and waits for it if no other source can serve."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from typing_extensions import override

from searx_mcp.errors import NoInstancesError
from searx_mcp.models.attempt import Attempt, Verdict
from searx_mcp.models.own_instance import Installed, NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.installation import NativeFolder
from searx_mcp.ops.own.native_process import NativeProcess, Starting
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.providers.context import Found, Provider, SearchContext
from searx_mcp.search.providers.unavailable import does_not_start, is_starting
from searx_mcp.tasks import Spawn

SPARE: Final = 3.0
"""Maximum seconds a search waits if others can serve it; SearXNG took 1.3 to answer after its start."""
_SHARE: Final = 0.5
"""Maximum share of the search's remaining time, in the same case."""
_PAUSE: Final = 60.0
"""Seconds until an instance that ended during its start is started again."""
_PATIENCE: Final = 120.0
"""Seconds after which a start is no longer watched, but not ended: a busy machine took 13."""
_HUNG: Final = 2
"""Consecutive timeouts, each of a request sent after the last one ended, after which it is restarted."""
PROBE: Final = 3.0
"""Seconds that it has to show that it answers."""


class Waking(Provider):
    """Starts the instance that `instances own up` made, if necessary, and lets another provider search.

    It is down after a restart of the machine, or if it was idle or killed. The next process that searches
    starts it; of several concurrent starts, one instance runs. If no other source can serve, a search waits
    for it until its own deadline. One that hangs is ended and restarted.

    Args:
        provider: makes the search.
        folder: of the installed instance.
        starting: starts it.
        pool: asks it, if it is a member.
        spawn: starts work that outlives a search.
        clock: Unix seconds.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        folder: NativeFolder,
        starting: Starting,
        pool: InstancePool,
        spawn: Spawn,
        clock: Callable[[], float],
    ) -> None:
        self._provider = provider
        self._folder = folder
        self._process = NativeProcess(folder.run)
        self._starting = starting
        self._pool = pool
        self._spawn = spawn
        self._clock = clock
        self._start: asyncio.Task[None] | None = None
        self._failure: OwnInstanceError | None = None
        self._not_before = 0.0

    def begin(self) -> "asyncio.Task[None] | None":
        """Start the instance if it is down or hangs, without waiting for it.

        Returns:
            The start in progress; `None` if there is none to wait for.
        """
        if self._start is not None and not self._start.done():
            return self._start
        installed = self._member()
        if installed is None or asyncio.get_running_loop().time() < self._not_before:
            return None
        hangs = self._hangs(installed.url)
        if self._is_serving() and not hangs:
            return None
        self._start = self._spawn(self._bring_up(installed, hangs=hangs))
        return self._start

    @override
    async def run(self, context: SearchContext) -> Found:
        """Answer a search; see `Provider`."""
        await self._wait(context, spare=True)
        try:
            found = await self._provider.run(context)
        except NoInstancesError as error:
            if (installed := self._member()) is None:
                raise
            return await self._run_again(context, error, installed.url)
        silent = {each.instance for each in found.attempts if each.verdict.is_network}
        if silent and (installed := self._member()) is not None and installed.url in silent:
            self.begin()
        return found

    async def _run_again(self, context: SearchContext, error: NoInstancesError, url: str) -> Found:
        """Search once more if the instance was down or hung, and comes up in time."""
        is_waited_for = await self._wait(context, attempts=error.attempts)
        was_refused = any(
            each.instance == url and each.verdict is Verdict.CONNECTION for each in error.attempts
        )
        if self._is_serving() and (is_waited_for or was_refused):
            found = await self._provider.run(context)
            return replace(found, attempts=(*error.attempts, *found.attempts))
        if self._failure is not None and not self._is_serving():
            wait = self._not_before - asyncio.get_running_loop().time()
            raise does_not_start(self._failure, error, retry_after=max(0.0, wait)) from error
        raise error

    async def _wait(
        self,
        context: SearchContext,
        *,
        spare: bool = False,
        attempts: tuple[Attempt, ...] = (),
    ) -> bool:
        """Wait while the instance starts.

        Args:
            context: the search that needs it.
            spare: whether to wait only briefly if others can serve the search.
            attempts: the requests made for it so far.

        Returns:
            Whether there was a start to wait for.

        Raises:
            NoInstancesError: it did not come up within the time of the search.
        """
        if (start := self.begin()) is None or (installed := self._member()) is None:
            return False
        if context.progress is not None:
            context.progress(f"starting {installed.url}")
        now, until = asyncio.get_running_loop().time(), context.deadline
        can_others = context.is_followed or self._pool.has_eligible(
            self._clock(), exclude={installed.url}, query=context.query
        )
        is_spared = spare and can_others
        if is_spared:
            until = min(now + SPARE, now + _SHARE * (until - now))
        await asyncio.wait({start}, timeout=max(0.0, until - now))
        if not start.done() and not is_spared:
            raise is_starting(attempts)
        return True

    async def _bring_up(self, installed: Installed, *, hangs: bool) -> None:
        loop = asyncio.get_running_loop()
        self._failure = None
        try:
            if hangs:
                await self._process.stop()
            url = await self._starting.serve(
                self._process, installed, port=installed.port, deadline=loop.time() + _PATIENCE
            )
        except OwnInstanceError as error:
            if error.reason is not NativeFailure.NOT_READY:
                self._failure = error
                self._not_before = loop.time() + _PAUSE
            return
        self._pool.restarted(url, self._clock())

    def _member(self) -> Installed | None:
        """Return the installed version, if the pool asks it."""
        own = self._pool.own_urls()
        if not own or not self._folder.path.exists():
            return None
        installed = self._folder.installed
        return installed if installed is not None and installed.url in own else None

    def _is_serving(self) -> bool:
        """Return whether it accepts searches; one started by another process may not do so yet."""
        running = self._process.find()
        return running is not None and running.port > 0

    def _hangs(self, url: str) -> bool:
        """Return whether the running process let the latest requests time out, one after the other."""
        running = self._process.find()
        latest = self._pool.record_of(url).outcomes[-_HUNG:]
        if running is None or not running.port or len(latest) < _HUNG:
            return False
        sent_after = running.since
        for past in latest:
            if (
                past.verdict is not Verdict.TIMEOUT
                or past.at - past.elapsed_ms / 1_000 < sent_after
            ):
                return False
            sent_after = past.at - _ROUNDED
        return True


_ROUNDED: Final = 0.002
"""Seconds by which a stored time and duration, both rounded, may disagree."""


def waking(
    provider: Provider,
    *,
    folder: Path,
    is_alive: Callable[[str], Awaitable[bool]],
    idle: float,
    pool: InstancePool,
    spawn: Spawn,
    clock: Callable[[], float],
) -> Waking | None:
    """Wrap a provider so that it starts the instance; return `None` if there cannot be one.

    Args:
        provider: makes the search.
        folder: of the state.
        is_alive: returns whether the instance at a base URL answers quickly.
        idle: seconds without a search after which the instance ends; 0 for never.
        pool: asks the instance, if it is a member.
        spawn: starts work that outlives a search.
        clock: Unix seconds.
    """
    if sys.platform == "win32":
        return None
    native = NativeFolder(folder / NATIVE_FOLDER)
    starting = Starting(native, is_alive=is_alive, environ=os.environ, idle=idle)
    return Waking(provider, folder=native, starting=starting, pool=pool, spawn=spawn, clock=clock)

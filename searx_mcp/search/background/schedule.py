"""The scheduler of background work; only long-lived servers have one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from searx_mcp.tasks import Spawn

if TYPE_CHECKING:
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

_JOB = "round"

Work = Callable[[], Awaitable[None]]

_log = logging.getLogger("searx_mcp.search.background.schedule")


class Schedule:
    """Runs every job at once and then every `interval` seconds, plus or minus 10 %.

    It lives in the loop that started it and ends with `stop`. The rounds themselves are tasks of the client,
    so that stopping leaves none behind.

    Args:
        works: the jobs; each runs by itself, so that none waits for another.
        interval: seconds between two rounds.
        spawn: starts a coroutine as a task of the client.
    """

    def __init__(self, works: Sequence[Work], *, interval: float, spawn: Spawn) -> None:
        self._works = works
        self.interval = interval
        self._spawn = spawn
        self._scheduler: AsyncIOScheduler | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start in the running loop; the first round begins at once, in the background."""
        # Imported here: it takes 60 ms, and short-lived commands do not need it.
        from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415 - see above
        from apscheduler.triggers.interval import IntervalTrigger  # noqa: PLC0415 - see above

        # Run a late round instead of dropping it (the default grace is one second).
        self._scheduler = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={"misfire_grace_time": None},
        )
        self._scheduler.add_job(
            self._kick,
            IntervalTrigger(seconds=int(self.interval), jitter=int(self.interval / 10)),
            id=_JOB,
            next_run_time=datetime.now(UTC),
        )
        self._scheduler.start()
        self._follow_clock()

    async def stop(self) -> None:
        """Stop; does nothing if it never ran."""
        if self._timer is not None:
            self._timer.cancel()
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)
            self._scheduler = None
            await asyncio.sleep(0)  # the scheduler releases the loop on its next turn

    def _follow_clock(self) -> None:
        """Reschedule the next round if the clock was set back: the scheduler waits for a date."""
        if self._scheduler is None:
            return
        job, now = self._scheduler.get_job(_JOB), datetime.now(UTC)
        if job.next_run_time > now + timedelta(seconds=2 * self.interval):
            job.modify(next_run_time=now)
        self._timer = asyncio.get_running_loop().call_later(self.interval, self._follow_clock)

    async def _kick(self) -> None:
        # The round is not the job itself: the scheduler would cancel it and log a traceback.
        for work in self._works:
            _ = self._spawn(_supervised(work))


async def _supervised(work: Work) -> None:
    try:
        await work()
    except Exception:  # noqa: BLE001 - a supervisor: the next round comes all the same
        _log.exception("search.background_work_failed")


IDLE = 900.0
"""Seconds without a search after which a process makes no requests on its own."""


class Activity:
    """Remembers when this process was last used.

    Args:
        clock: Unix seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started_at = clock()
        self._searched_at: float | None = None

    def searched(self) -> None:
        """Record a search."""
        self._searched_at = self._clock()

    @property
    def is_searching(self) -> bool:
        """Whether there was a search recently."""
        return self._searched_at is not None and self._is_recent(self._searched_at)

    @property
    def is_awake(self) -> bool:
        """Whether there was a search recently, or the process is young."""
        return self.is_searching or self._is_recent(self._started_at)

    def _is_recent(self, at: float) -> bool:
        # A time in the future comes from a clock that was set back since.
        return abs(self._clock() - at) <= IDLE

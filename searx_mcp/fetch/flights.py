"""Captures that concurrent calls share, in this process and with others that use the same cache."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from searx_mcp.errors import ErrorCode, FetchError
from searx_mcp.fetch.capture import Job, PageCapture, timed_out
from searx_mcp.fetch.hops.answers import NotModified
from searx_mcp.fetch.page_cache import PageCache, as_it_was, is_passing
from searx_mcp.storage.pages import Capture, KeptPage, PageKey
from searx_mcp.tasks import SingleFlight, Spawn, fly_alone
from searx_mcp.telemetry import EventLog

logger = EventLog("searx_mcp.fetch")

_MORE_TIME: Final = 1.0
"""Seconds by which two calls' deadlines must differ for them to capture separately."""
_Flight: TypeAlias = tuple[PageKey, int, bool, bool, bool]
"""Concurrent captures with equal values are shared: the key, the bytes, whether robots.txt is checked,
whether the cache counts, and whether the caller has its own copy."""


@dataclass(frozen=True, slots=True)
class Landed:
    """The outcome of a flight (a capture that calls share).

    Attributes:
        kept: the capture, or the error.
        end: the flight's deadline.
        was_late: whether more time would have brought more.
        is_new: whether it was just fetched.
        notes: sentences about it.
    """

    kept: KeptPage | FetchError
    end: float
    was_late: bool = False
    is_new: bool = True
    notes: tuple[str, ...] = ()


class PageFlights:
    """Gives each call a capture; equal concurrent calls share one, across all processes with the same cache.

    Args:
        capturer: captures pages that are not cached.
        pages: the cache of captures.
        spawn: starts captures as tasks of the client.
    """

    def __init__(self, capturer: PageCapture, *, pages: PageCache, spawn: Spawn) -> None:
        self._capturer = capturer
        self._pages = pages
        self._spawn = spawn
        self._flights = SingleFlight[Landed](spawn)
        self._ends: dict[_Flight, float] = {}

    async def land(
        self, job: Job, *, previous: KeptPage | None = None, force_refresh: bool = False
    ) -> Landed:
        """Return the capture for a call.

        Args:
            job: the call.
            previous: the caller's own copy; it never enters the cache.
            force_refresh: whether to ignore the cache.
        """
        if not job.follow:
            return await self._captured(job)
        latest = await self._pages.find(job.key)
        found = latest if latest is not None and _serves(latest.capture, job) else None
        if not force_refresh:
            if found is not None and self._pages.is_fresh(found):
                logger.debug("fetch.cache_hit age_s=%d kind=%s", self._pages.age(found), "fresh")
                return Landed(found, job.end, is_new=False)
            # The later of the two: a caller's copy that was found unchanged is not renewed here.
            job.previous = max(filter(None, (found, previous)), key=_fetched_at, default=None)
        # This caller's result is shared with nobody.
        is_own = job.previous is not None and job.previous is not found
        flight = (job.key, job.max_bytes, job.obey_robots, force_refresh, is_own)
        fly = partial(self._fly, flight, job, latest)
        while True:
            if self._ends.get(flight, job.end) - job.end > _MORE_TIME:
                # At this call's deadline, it gets what has arrived; the flight would go on waiting.
                landed = await self._captured(job)
                break
            landed = await self._flights.run(flight, fly)
            # Another caller's flight may have had less time than this call.
            if not landed.was_late or job.end - landed.end < _MORE_TIME:
                break
        spare = None
        if found is not None and isinstance(landed.kept, FetchError):
            spare = self._spare(found, landed.kept, job)
        if spare is None and not force_refresh:
            logger.debug("fetch.cache_miss")
        return spare or landed

    async def _fly(self, flight: _Flight, job: Job, latest: KeptPage | None) -> Landed:
        self._ends[flight] = job.end
        _, *same, is_own = flight
        make = partial(self._captured, job)
        try:
            lease = None if is_own else self._pages.lease(job.key, *same)
            if lease is None:
                return await make()
            find = partial(self._of_others, job, latest)
            return await fly_alone(lease, make, find=find, end=job.end, spawn=self._spawn)
        finally:
            if self._ends.get(flight) == job.end:
                del self._ends[flight]

    async def _of_others(self, job: Job, latest: KeptPage | None) -> Landed | None:
        """Return what another process has captured since `latest`."""
        found = await self._pages.find(job.key)
        if found is None or not _serves(found.capture, job):
            return None
        is_newer = latest is None or _fetched_at(found) > _fetched_at(latest)
        # A capture that was cut and does not serve others was cut by chance: there may be more.
        is_whole = self._pages.is_fresh(found) or not found.capture.page.document.truncated
        return Landed(found, job.end, is_new=False) if is_newer and is_whole else None

    async def _captured(self, job: Job) -> Landed:
        # A value, not a raise: others who share the flight may have more time than this call.
        try:
            async with asyncio.timeout_at(job.end):
                captured = await self._capturer.capture(job)
        except (TimeoutError, FetchError) as exc:
            error = exc if isinstance(exc, FetchError) else timed_out()
            error.url = error.url or job.current
            if job.trail is not None and job.trail.has_redirects:
                error.redirect_chain = tuple(job.trail.chain)
            return Landed(error, job.end, was_late=error.code is ErrorCode.TIMEOUT)
        if isinstance(captured, NotModified):
            if job.previous is None:
                raise RuntimeError("a site answered 304 to an unconditional request")
            renewed = await self._pages.renew(
                job.key, job.previous, status=captured.status, headers=captured.headers
            )
            return Landed(renewed, job.end, is_new=False)
        if not job.follow:
            passing = Capture(captured.page, str(job.url), self._pages.now(), 0.0, 0)
            return Landed(KeptPage(passing, ""), job.end)
        kept = await self._pages.keep(
            job.key,
            captured.page,
            url=str(job.url),
            status=captured.status,
            headers=captured.headers,
            max_bytes=job.max_bytes,
            is_settled=captured.is_settled,
        )
        return Landed(kept, job.end, was_late=captured.was_late)

    def _spare(self, found: KeptPage, error: FetchError, job: Job) -> Landed | None:
        """Return the cached capture in place of an error that says nothing about the page itself."""
        if not is_passing(error) or not self._pages.is_spare(found):
            return None
        age = self._pages.age(found)
        logger.debug("fetch.cache_hit age_s=%d kind=%s", age, "if_error")
        note = as_it_was(error, age)
        return Landed(found, job.end, is_new=False, notes=(note,))


def _fetched_at(kept: KeptPage) -> float:
    return kept.capture.fetched_at


def _serves(capture: Capture, job: Job) -> bool:
    """Return whether a capture holds everything the call may read, and no more."""
    if capture.page.document.truncated:
        return capture.max_bytes == job.max_bytes
    return capture.page.content_length <= job.max_document_bytes

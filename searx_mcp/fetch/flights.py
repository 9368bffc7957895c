"""The way of a call to its page: kept, shared with callers who ask for the same now, or captured anew."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from searx_mcp.errors import ErrorCode, FetchError, SearxMcpError, SiteError, TransportError
from searx_mcp.fetch.capture import Job, PageCapture, Unchanged, timed_out
from searx_mcp.fetch.page_cache import PageCache
from searx_mcp.models.spelling import in_words
from searx_mcp.storage.pages import Capture, KeptPage, PageKey
from searx_mcp.tasks import SingleFlight, Spawn, fly_alone
from searx_mcp.telemetry import EventLog

logger = EventLog("searx_mcp.fetch")

_MORE_TIME: Final = 1.0
"""Seconds by which two calls must differ in the time they have, to be better off on their own."""


_Flight: TypeAlias = tuple[PageKey, int, bool, bool, bool]
"""What makes two captures at the same time the same: the key, the bytes, whether robots.txt is asked and what is
kept counts, and whether it begins with what a caller alone has."""


@dataclass(frozen=True, slots=True)
class Landed:
    """The outcome of a flight.

    Attributes:
        kept: the capture, or why there is none.
        end: until when the flight could wait for it.
        was_late: whether more time would have brought more.
        is_new: whether it was fetched just now.
        notes: sentences about that.
    """

    kept: KeptPage | FetchError
    end: float
    was_late: bool = False
    is_new: bool = True
    notes: tuple[str, ...] = ()


class PageFlights:
    """Gives each call a capture; equal calls at the same time share one, in all processes that share pages.

    Args:
        capturer: captures what is not kept.
        pages: keeps captures.
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
        """The capture for a call.

        Args:
            job: what the call wants.
            previous: what the caller has of the page; it never enters the cache.
            force_refresh: whether what is kept does not count.
        """
        if not job.follow:
            return await self._captured(job)
        latest = await self._pages.find(job.key)
        found = latest if latest is not None and _serves(latest.capture, job) else None
        if not force_refresh:
            if found is not None and self._pages.is_fresh(found):
                logger.debug("fetch.cache_hit age_s=%d kind=%s", self._pages.age(found), "fresh")
                return Landed(found, job.end, is_new=False)
            # The later of the two: what was found unchanged for the caller is not renewed here.
            job.previous = max(filter(None, (found, previous)), key=_fetched_at, default=None)
        # What this caller gets is shared with no other.
        is_own = job.previous is not None and job.previous is not found
        flight = (job.key, job.max_bytes, job.obey_robots, force_refresh, is_own)
        fly = partial(self._fly, flight, job, latest)
        while True:
            if self._ends.get(flight, job.end) - job.end > _MORE_TIME:
                # What has arrived by the end of this call is its page; that flight would wait on.
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
        """What another process has captured since `latest` was the last capture."""
        found = await self._pages.find(job.key)
        if found is None or not _serves(found.capture, job):
            return None
        is_newer = latest is None or _fetched_at(found) > _fetched_at(latest)
        # One that was cut and does not serve others was cut by chance: more may be had.
        is_whole = self._pages.is_fresh(found) or not found.capture.page.document.truncated
        return Landed(found, job.end, is_new=False) if is_newer and is_whole else None

    async def _captured(self, job: Job) -> Landed:
        # A value and not a raise: others who share the flight may have more time than this call.
        try:
            async with asyncio.timeout_at(job.end):
                captured = await self._capturer.capture(job)
        except TimeoutError:
            error: FetchError = timed_out()
            error.url = job.current
            if job.trail is not None and job.trail.has_redirects:
                error.redirect_chain = tuple(job.trail.chain)
            return Landed(error, job.end, was_late=True)
        except FetchError as exc:
            exc.url = exc.url or job.current
            if job.trail is not None and job.trail.has_redirects:
                exc.redirect_chain = tuple(job.trail.chain)
            return Landed(exc, job.end, was_late=exc.code is ErrorCode.TIMEOUT)
        if isinstance(captured, Unchanged):
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
        """Give what is kept in place of an error that says nothing about the page itself."""
        if not is_passing(error) or not self._pages.is_spare(found):
            return None
        age = self._pages.age(found)
        logger.debug("fetch.cache_hit age_s=%d kind=%s", age, "if_error")
        note = as_it_was(error, age)
        return Landed(found, job.end, is_new=False, notes=(note,))


def is_passing(error: SearxMcpError) -> bool:
    """Tell whether an error says nothing about the page itself: what is kept of it may serve."""
    return (
        isinstance(error, TransportError)
        or _is_ours(error)
        or (
            isinstance(error, SiteError)
            and error.code in {ErrorCode.HTTP_ERROR, ErrorCode.RATE_LIMITED}
        )
    )


def _is_ours(error: SearxMcpError) -> bool:
    return isinstance(error, FetchError) and error.code is ErrorCode.INTERNAL


def as_it_was(error: SearxMcpError, age: float) -> str:
    """Say that a page is as it was some seconds ago, since its site fails, or since we do."""
    failed = "It could not be read" if _is_ours(error) else "The site failed"
    return f"{failed} just now ({error.code}); this is a copy from {in_words(age)} ago."


def _fetched_at(kept: KeptPage) -> float:
    return kept.capture.fetched_at


def _serves(capture: Capture, job: Job) -> bool:
    """Tell whether a capture has all that a call may read, and no more."""
    if capture.page.document.truncated:
        return capture.max_bytes == job.max_bytes
    return capture.page.content_length <= max(job.max_bytes, job.max_document_bytes)

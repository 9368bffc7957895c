"""The cache of captures: how long each is kept, when it may serve, and the flights that concurrent calls share.

A page stays fresh for as long as HTTP allows a private cache (RFC 9111).
"""

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Final, TypeAlias

from searx_mcp.errors import (
    CursorError,
    ErrorCode,
    FetchError,
)
from searx_mcp.fetch.capture import Captured, Job, PageCapture, timed_out
from searx_mcp.fetch.config import FetchConfig
from searx_mcp.fetch.hops.answers import NotModified, as_it_was, is_passing
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import Capture, KeptPage, PageKey, PageStore, Validators
from searx_mcp.tasks import Lease, SingleFlight, Spawn, fly_alone
from searx_mcp.telemetry import EventLog

logger = EventLog("searx_mcp.fetch")

_PASSING_BYTES: Final = 16 << 20
_PASSING_AGE: Final = 600.0
"""Bytes and seconds for pages that must not be stored: they are held in memory, to be read on."""
MAX_ETAG: Final = 256
"""Characters. Validators of common servers have 20 to 70; each is sent with every later request."""

_MAX_HEADER = 4_096
_MAX_DATE = 64
_LARGEST = 2_147_483_648.0
"""Seconds that replace any greater number (RFC 9111, section 1.2.2)."""
_DIRECTIVE = re.compile(
    r"""(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+)
        (?P<given>[ \t]*=[ \t]*(?:"(?P<quoted>[^"]*)"|(?P<token>[^",;\s]*)))?""",
    re.VERBOSE,
)
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
_BARE_ETAG = re.compile(r"[0-9A-Za-z._:+/=-]+")
"""Also accepts missing quotes, as some servers send them, but not `*`, which would match anything."""
_HEURISTIC = frozenset({200, 203, 204, 300, 301, 304, 308, 404, 405, 410, 414, 501})
"""Statuses that are cacheable by default (RFC 9110, section 15.1), and 304."""
_MORE_TIME: Final = 1.0
"""Seconds by which two calls' deadlines must differ for them to capture separately."""
_Flight: TypeAlias = tuple[PageKey, int, bool, bool, bool]
"""Concurrent captures with equal values are shared: the key, the bytes, whether robots.txt is checked,
whether the cache counts, and whether the caller has its own copy."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a site lets its answer be cached.

    Attributes:
        may_store: whether it may be written to disk.
        fresh_until: Unix seconds until which it serves without asking the site.
        may_be_stale: whether it may serve after that if the site cannot be asked.
    """

    may_store: bool
    fresh_until: float
    may_be_stale: bool = True


class PageCache:
    """The captures of one namespace.

    With `no-store`, a page is not stored: it can be read on with its cursor for some minutes, and only in
    this process. Errors of the store are never raised.
    """

    def __init__(
        self,
        store: PageStore,
        *,
        namespace: str,
        config: FetchConfig,
        clock: Callable[[], float],
    ) -> None:
        """Configure the cache.

        Args:
            store: holds the captures; the caller closes it.
            namespace: of the captures.
            config: how long they serve.
            clock: Unix seconds.
        """
        self._store = store
        self._passing = MemoryPageStore(max_bytes=_PASSING_BYTES, max_age=_PASSING_AGE)
        self._namespace = namespace
        self._stale_if_error = config.stale_if_error
        self._lifetime = partial(
            lifetime, default_ttl=config.cache_ttl, max_age=config.cache_max_age
        )
        self._clock = clock

    def now(self) -> float:
        """Unix seconds."""
        return self._clock()

    def key(self, url: str, *, variant: str) -> PageKey:
        """Return the key of an address in this namespace."""
        return PageKey(self._namespace, url, variant)

    async def read(self, cursor: str) -> KeptPage:
        """Return the capture that a cursor names.

        Raises:
            CursorError: there is none, or it has expired.
        """
        now = self._clock()
        kept = await self._store.read(self._namespace, cursor, now)
        kept = kept or await self._passing.read(self._namespace, cursor, now)
        if kept is None:
            raise CursorError(
                "The cursor is unknown or has expired.",
                code=ErrorCode.CURSOR_EXPIRED,
                advice="Call again with the url of the page instead.",
            )
        return kept

    async def find(self, key: PageKey) -> KeptPage | None:
        """Return the last capture of an address, however old."""
        return await self._store.find(key, self._clock())

    def lease(self, key: PageKey, *more: object) -> Lease | None:
        """Return the lease that lets one process capture a page; see `PageStore`."""
        return self._store.lease(key, *more)

    def is_fresh(self, kept: KeptPage) -> bool:
        """Return whether it serves without asking the site."""
        return self._clock() < kept.capture.fresh_until

    def is_spare(self, kept: KeptPage) -> bool:
        """Return whether it serves if the site fails (RFC 5861, section 4)."""
        return kept.capture.may_be_stale and self.age(kept) <= self._stale_if_error

    def age(self, kept: KeptPage) -> float:
        """Seconds since it was fetched or found unchanged."""
        return max(0.0, self._clock() - kept.capture.fetched_at)

    async def keep(self, key: PageKey, captured: Captured, *, url: str, max_bytes: int) -> KeptPage:
        """Store a new capture; one that is not settled can be read on, and does not serve another call.

        Args:
            key: under which it is found again.
            captured: the capture.
            url: as requested.
            max_bytes: limit of decoded bytes it was made with.
        """
        now = self._clock()
        life = self._lifetime(captured.status, captured.headers, now)
        is_settled = captured.is_settled
        capture = Capture(
            page=captured.page,
            url=url,
            fetched_at=now,
            fresh_until=life.fresh_until if is_settled else now,
            max_bytes=max_bytes,
            validators=validators_of(captured.headers) if is_settled else Validators(),
            may_be_stale=life.may_be_stale,
        )
        if life.may_store:
            return KeptPage(capture, await self._store.keep(key, capture, now))
        await self._retire(key, now)
        cursor = await self._passing.keep(key, capture, now)
        return KeptPage(capture, cursor, may_store=False)

    async def renew(
        self, key: PageKey, kept: KeptPage, *, status: int, headers: Mapping[str, str]
    ) -> KeptPage:
        """Extend a capture that its site says is still current.

        A capture without a cursor does not come from this cache, and is not added to it.
        """
        now = self._clock()
        life = self._lifetime(status, headers, now)
        newer = validators_of(headers)
        capture = replace(
            kept.capture,
            fetched_at=now,
            fresh_until=life.fresh_until,
            may_be_stale=kept.capture.may_be_stale and life.may_be_stale,
            validators=newer if newer != Validators() else kept.capture.validators,
        )
        if not kept.cursor:
            return KeptPage(capture, "", may_store=kept.may_store and life.may_store)
        return KeptPage(capture, await self._store.keep(key, capture, now))

    async def _retire(self, key: PageKey, now: float) -> None:
        """Let the last capture of an address serve only calls with its cursor."""
        kept = await self._store.find(key, now)
        if kept is not None:
            old = replace(kept.capture, fresh_until=0.0, may_be_stale=False)
            await self._store.keep(key, old, now)


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
        kept = await self._pages.keep(job.key, captured, url=str(job.url), max_bytes=job.max_bytes)
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


def lifetime(
    status: int, headers: Mapping[str, str], now: float, *, default_ttl: float, max_age: float
) -> Lifetime:
    """Parse the caching headers of an answer (RFC 9111, sections 4.2 and 5.2.2).

    This is a private cache: `private` is allowed, and `s-maxage` is ignored. Values that are unreadable,
    negative or contradictory count as the shorter time. `Vary` is left to the key; only `Vary: *` is
    handled here.

    Args:
        status: of the last hop.
        headers: case-insensitive; of a repeated one the first value.
        now: Unix seconds of their arrival.
        default_ttl: seconds if the site names no time.
        max_age: the longest time in seconds.
    """
    control = _directives(headers.get("Cache-Control", ""))
    pragma = {} if control else _directives(headers.get("Pragma", ""))
    must_ask = bool({"no-cache", "no-store"} & {*control, *pragma})
    must_ask = must_ask or "*" in map(str.strip, headers.get("Vary", "").split(","))
    seconds = 0.0 if must_ask else _seconds(status, headers, control, now, default_ttl)
    return Lifetime(
        may_store="no-store" not in control,
        fresh_until=now + min(max(seconds, 0.0), max_age),
        may_be_stale=not must_ask and "must-revalidate" not in control,
    )


def validators_of(headers: Mapping[str, str]) -> Validators:
    """Return the validators for a conditional request, as the site sent them, if they can be sent back.

    Args:
        headers: case-insensitive; of a repeated one the first value.
    """
    etag = headers.get("ETag", "").strip()
    is_known = _ETAG.fullmatch(etag) or _BARE_ETAG.fullmatch(etag)
    changed = headers.get("Last-Modified", "").strip()
    return Validators(
        etag=etag if is_known and len(etag) <= MAX_ETAG else "",
        last_modified=changed if _date(changed) is not None else "",
    )


def _seconds(
    status: int,
    headers: Mapping[str, str],
    control: Mapping[str, list[str]],
    now: float,
    default_ttl: float,
) -> float:
    # 1. a duration in seconds  2. an end by the site's own clock  3. nothing
    age = _number(headers.get("Age", "").partition(",")[0]) or 0.0
    if "max-age" in control:
        return min(_number(value) or 0.0 for value in control["max-age"]) - age
    if "Expires" in headers:
        until, since = _date(headers["Expires"]), _date(headers.get("Date", ""))
        return 0.0 if until is None else until - (now if since is None else since) - age
    if "must-revalidate" in control or status not in _HEURISTIC:
        return 0.0
    return default_ttl


def _directives(text: str) -> dict[str, list[str]]:
    """Return all values of each directive, by its name in lower case; empty text where there is none."""
    found: dict[str, list[str]] = {}
    for match in _DIRECTIVE.finditer(text[:_MAX_HEADER]):
        value = match["token"] if match["quoted"] is None else match["quoted"]
        found.setdefault(match["name"].lower(), []).append(value or "")
    return found


def _number(text: str) -> float | None:
    """Parse whole seconds; `None` if it is not a number."""
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return None
    return min(float(text), _LARGEST)


def _date(text: str) -> float | None:
    """Parse a date in one of the three forms of RFC 9110, section 5.6.7, to Unix seconds, or `None`."""
    text = text.strip()
    if len(text) > _MAX_DATE or not (text.isascii() and text.isprintable()):
        return None
    try:
        date = parsedate_to_datetime(text)
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None

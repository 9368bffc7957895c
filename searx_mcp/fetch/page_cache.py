"""The cache of captures: how long each is kept, and when it may serve.

A page stays fresh for as long as HTTP allows a private cache (RFC 9111).
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Final

from searx_mcp.errors import (
    CursorError,
    ErrorCode,
    FetchError,
    SearxMcpError,
    SiteError,
    TransportError,
)
from searx_mcp.fetch.config import FetchConfig
from searx_mcp.models.spelling import in_words
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import Capture, CapturedPage, KeptPage, PageKey, PageStore, Validators
from searx_mcp.tasks import Lease

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

    async def keep(
        self,
        key: PageKey,
        page: CapturedPage,
        *,
        url: str,
        status: int,
        headers: Mapping[str, str],
        max_bytes: int,
        is_settled: bool,
    ) -> KeptPage:
        """Store a new capture.

        Args:
            key: under which it is found again.
            page: the capture.
            url: as requested.
            status: of the answer.
            headers: of the answer.
            max_bytes: limit of decoded bytes it was made with.
            is_settled: whether another request would return the same; a capture that was cut by chance can be
                read on, and does not serve another call.
        """
        now = self._clock()
        life = self._lifetime(status, headers, now)
        capture = Capture(
            page=page,
            url=url,
            fetched_at=now,
            fresh_until=life.fresh_until if is_settled else now,
            max_bytes=max_bytes,
            validators=validators_of(headers) if is_settled else Validators(),
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


def is_passing(error: SearxMcpError) -> bool:
    """Return whether an error says nothing about the page itself, so that a cached copy may serve."""
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
    """Describe how old the cached copy is, and why it serves: the site fails, or we do."""
    failed = "It could not be read" if _is_ours(error) else "The site failed"
    return f"{failed} just now ({error.code}); this is a copy from {in_words(age)} ago."


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

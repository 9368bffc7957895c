"""The robots.txt of sites: fetched once a day, cached, and obeyed (RFC 9309)."""

import asyncio
from collections.abc import Awaitable, Callable, Sized
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal, Protocol, TypeVar

from cachetools import LRUCache
from typing_extensions import override
from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import (
    ErrorCode,
    FetchError,
    PolicyError,
    ProxyError,
    RedirectError,
    SiteError,
    TransportError,
)
from searx_mcp.fetch.hops.answers import is_success
from searx_mcp.http.robots import RobotsDecision, RobotsRules, decode
from searx_mcp.storage.pages import KeptRobots
from searx_mcp.tasks import SingleFlight, Spawn

D = TypeVar("D", bound=Sized)
R = TypeVar("R")

MAX_ROBOTS_REDIRECTS: Final = 5
"""The minimum that must be followed (section 2.3.1.2)."""

FRESH: Final = 86_400.0
"""Seconds for which a robots.txt is fresh (section 2.4)."""
LONGEST_USE: Final = 30 * 86_400.0
"""Seconds for which a stale robots.txt is used if there is no newer one (section 2.3.1.4)."""
BRIEF: Final = 60.0
"""Seconds until a robots.txt that could not be fetched is requested again."""

_PARSED: Final = 32_768
"""Parsed rules held in memory, of all origins together: 12 MB, 24 MB if all of them end in `$`."""
_LEAST_WEIGHT: Final = 16
"""Minimum number of rules each origin is counted with, so that at most 2,048 origins are held."""
_INLINE: Final = 8_000
"""Characters parsed on the event loop, in about 5 ms; longer texts are parsed in a thread."""

_SHOWN: Final = 110
"""Characters of a rule in a message."""

_OTHER_SOURCE: Final = "Use another source."
# Failures of the origin that the page itself would meet, too.
_UNREACHABLE: Final = frozenset(
    {
        ErrorCode.BLOCKED_ADDRESS,
        ErrorCode.CONNECTION_ERROR,
        ErrorCode.DNS_ERROR,
        ErrorCode.TLS_ERROR,
    }
)

RobotsGet = Callable[[URL, float], Awaitable[tuple[int, bytes]]]
"""Gets a URL by a loop-time deadline, with at most `MAX_ROBOTS_REDIRECTS` redirects through the same guard
as pages. Returns the last hop's status and its body, whole or its first `FETCHED_BYTES` bytes. Raises a
`FetchError` that names the hop, and a `RedirectError` for too many."""


class RobotsStore(Protocol):
    """Where robots.txt files are stored: a `PageStore`."""

    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        """Return the robots.txt of an origin such as `https://example.org`, however old, or `None`."""
        ...

    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        """Store a robots.txt in place of the last one."""
        ...


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of an origin's robots.txt.

    Attributes:
        rules: those that apply to us; `None` if there is no robots.txt, or it could not be fetched.
        learned_at: Unix seconds.
        good_for: seconds.
        failure: why it could not be fetched, or `None`.
    """

    rules: RobotsRules | None
    learned_at: float
    good_for: float
    failure: FetchError | None = None

    def rest(self, now: float) -> float:
        """Seconds until it expires; a clock that was set back must not make it last for ever."""
        return self.good_for - abs(now - self.learned_at)


class RobotsGate:
    """Fetches each origin's robots.txt once a day, and checks addresses against it.

    - 200 to 299: the rules that apply to us count. A page sent in its place has none.
    - 300 to 499, and too many redirects: there is none, and everything is allowed.
    - Anything else, or no answer in time: nothing is allowed for a minute, then the site is asked
      again. If there is a copy from the last 30 days, it counts instead.

    Concurrent calls for one origin share one request, which has `timeout` seconds, whichever call waits;
    each caller leaves at its own deadline.

    Args:
        get: fetches a robots.txt.
        store: shares them between processes.
        clock: Unix seconds.
        timeout: seconds for fetching a robots.txt.
        spawn: starts the shared work in the owner's task group.
    """

    def __init__(
        self,
        get: RobotsGet,
        store: RobotsStore,
        *,
        clock: Callable[[], float],
        timeout: float,
        spawn: Spawn,
    ) -> None:
        self._get = get
        self._store = store
        self._clock = clock
        self._timeout = timeout
        self._flights = SingleFlight[_Known](spawn)
        self._known: LRUCache[str, _Known] = LRUCache(_PARSED, getsizeof=_weight)

    @override
    def __repr__(self) -> str:
        return f"<RobotsGate [{len(self._known)} origins known]>"

    async def check(self, url: URL, *, deadline: float) -> Literal["allowed", "absent"]:
        """Raise if robots.txt forbids an address.

        Args:
            url: as it would be sent.
            deadline: loop time by which to return.

        Returns:
            `allowed` by a robots.txt, or `absent` if the site has none.

        Raises:
            PolicyError: `robots_disallowed`, quoting the rule; or, with `retry_after`, because robots.txt
                could not be fetched.
            FetchError: the failure of the whole site: it cannot be reached, the proxy fails, or the site was
                asked too often.
            TransportError: `timeout`: the deadline came first.
        """
        if url.raw_path == "/robots.txt":
            return "allowed"
        try:
            async with asyncio.timeout_at(deadline):
                known = await self._look_up(url.origin())
                decision = await self._decide(known, url)
        except TimeoutError as exc:
            raise TransportError(
                "The site has no robots.txt.",
                code=ErrorCode.TIMEOUT,
                url=str(url),
            ) from exc
        if known.failure is not None:
            raise _refusal(url, known.failure, retry_after=max(known.rest(self._clock()), 1))
        if not decision.allowed:
            raise PolicyError(
                "The site's robots.txt does not allow automated access to this address.",
                code=ErrorCode.ROBOTS_DISALLOWED,
                url=str(url),
                advice=_OTHER_SOURCE,
                quoted=clean_line(decision.rule, _SHOWN),
            )
        return "absent" if known.rules is None else "allowed"

    async def _look_up(self, origin: URL) -> _Known:
        key = str(origin)
        known: _Known | None = self._known.get(key)
        if known is None or known.rest(self._clock()) <= 0:
            known = await self._flights.run(key, lambda: self._learn(origin))
            if known.good_for and _weight(known) <= _PARSED:
                self._known[key] = known
        return known

    async def _decide(self, known: _Known, url: URL) -> RobotsDecision:
        if known.rules is None:
            return RobotsDecision()
        if known.rules.size <= _INLINE:
            return known.rules.decide(url)
        return await asyncio.to_thread(known.rules.decide, url)

    async def _learn(self, origin: URL) -> _Known:
        """Use the stored copy, or ask the site."""
        key, now = str(origin), self._clock()
        kept = await self._store.robots(key, now)
        # After the clock was set back, a copy may be from the future: its distance counts as its age.
        age = abs(now - kept.fetched_at) if kept is not None else LONGEST_USE
        if kept is not None and age < FRESH and _is_answer(kept.status):
            return await self._read(kept, good_for=FRESH - age)
        try:
            fetched = await self._fetch(origin)
        except FetchError as failure:
            if isinstance(failure, ProxyError) or failure.code is ErrorCode.RATE_LIMITED:
                # It says nothing about the site, or will soon be over.
                return _Known(None, self._clock(), 0.0, failure)
            if kept is not None and age < LONGEST_USE and is_success(kept.status):
                return await self._read(kept, good_for=BRIEF)
            return _Known(None, self._clock(), BRIEF, failure)
        if fetched.status == HTTPStatus.TOO_MANY_REQUESTS:
            return _Known(None, self._clock(), BRIEF)
        await self._store.keep_robots(key, fetched, fetched.fetched_at)
        return await self._read(fetched, good_for=FRESH)

    async def _fetch(self, origin: URL) -> KeptRobots:
        """Ask a site.

        Raises:
            FetchError: no usable answer.
        """
        url = origin.with_path("/robots.txt")
        deadline = asyncio.get_running_loop().time() + self._timeout
        try:
            async with asyncio.timeout_at(deadline):
                status, body = await self._get(url, deadline)
        except RedirectError:
            # The standard treats too many redirects as "unavailable" (section 2.3.1.2).
            status, body = HTTPStatus.FOUND.value, b""
        except TimeoutError as exc:
            raise TransportError(
                f"No answer within {self._timeout:g} seconds.",
                code=ErrorCode.TIMEOUT,
                url=str(url),
            ) from exc
        if not _is_answer(status):
            raise SiteError(
                f"The site failed (HTTP {status}).", code=ErrorCode.HTTP_ERROR, url=str(url)
            )
        text = await _off_loop(decode, body) if is_success(status) else ""
        return KeptRobots(status, text, self._clock())

    async def _read(self, kept: KeptRobots, *, good_for: float) -> _Known:
        rules = await _off_loop(RobotsRules, kept.text) if is_success(kept.status) else None
        return _Known(rules, self._clock(), good_for)


def _is_answer(status: int) -> bool:
    """Return whether a status is a definite answer: neither interim nor a server failure."""
    return HTTPStatus.OK <= status < HTTPStatus.INTERNAL_SERVER_ERROR


def _weight(known: _Known) -> int:
    return max(_LEAST_WEIGHT, known.rules.count if known.rules else 0)


async def _off_loop(work: Callable[[D], R], data: D) -> R:
    """Do short work at once, and long work in a thread."""
    return work(data) if len(data) <= _INLINE else await asyncio.to_thread(work, data)


def _refusal(url: URL, failure: FetchError, *, retry_after: float) -> FetchError:
    """Make the error for an address of a site whose robots.txt could not be read."""
    if _concerns_the_page(failure, url):
        return type(failure)(
            failure.message,
            code=failure.code,
            url=str(url),
            advice=failure.advice,
            retry_after=failure.retry_after,
        )
    return PolicyError(
        f"The site's robots.txt could not be read, so its pages may not be fetched. {failure.message}",
        code=ErrorCode.ROBOTS_DISALLOWED,
        url=str(url),
        advice="Use another source, or try again later.",
        retry_after=retry_after,
    )


def _concerns_the_page(failure: FetchError, url: URL) -> bool:
    """Return whether the request for the page itself would fail in the same way."""
    if isinstance(failure, ProxyError) or failure.code is ErrorCode.RATE_LIMITED:
        return True
    try:
        is_origin = URL(failure.url).origin() == url.origin()
    except ValueError:
        return False
    return is_origin and failure.code in _UNREACHABLE

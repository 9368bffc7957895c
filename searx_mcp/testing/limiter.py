"""SearXNG's limiter: header checks, sliding windows and the link token.

Figures are those of SearXNG 2026.8.22, unchanged since 2023 and not configurable there.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum, auto

from searx_mcp.testing.loopback import ReceivedRequest

LINK_TOKEN = "fakesearxngtoken"  # noqa: S105 - a token of the markup, 16 characters as upstream
_PING_LIFETIME = 3_600.0

_REFUSED_AGENTS = re.compile(
    r"unknown|[Cc][Uu][Rr][Ll]|[wW]get|Scrapy|python-requests|Python|Go-http-client|Java|okhttp"
    r"|HttpClient|Jersey|libwww-perl|Ruby|Googlebot|bingbot|YandexBot|HeadlessChrome|.*PetalBot"
)
"""The common part of upstream's list; matched at the start, case-sensitively."""

_BROWSER = re.compile(r"(chrome|firefox|version)/(\d+)(?:\.(\d+))?", re.IGNORECASE)
_SENDS_SEC_FETCH = {"chrome": (80, 0), "firefox": (90, 0), "version": (16, 4)}
"""First versions whose missing Sec-Fetch-Mode reveals a script; `version` is Safari's."""


class Refusal(Enum):
    """How the limiter refuses a request."""

    TOO_MANY_REQUESTS = auto()
    """429 with the body `Too Many Requests` and no Retry-After."""
    SENT_HOME = auto()
    """302 to the home page."""


class _Window:
    """Counts the calls of the last `seconds`, including refused ones."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._calls: deque[float] = deque()

    def exceeded(self, now: float) -> bool:
        """Count one call and return whether it exceeds the limit."""
        while self._calls and self._calls[0] <= now - self._seconds:
            self._calls.popleft()
        self._calls.append(now)
        return len(self._calls) > self._most

    def clear(self) -> None:
        self._calls.clear()


class FakeLimiter:
    """Decides about requests as the limiter of a SearXNG instance does.

    All requests count as coming from one address. Windows slide, and refused calls count too:
    a client that keeps calling stays locked out. A search is refused, in this order, if

    1. its headers are a script's (User-Agent, Accept, Accept-Encoding, Accept-Language; over https
       also a browser without Sec-Fetch-Mode);
    2. `format` in the query string is not html: over 4 calls in 3600 s;
    3. with a link token, unless the token's stylesheet was loaded with the same User-Agent and
       Accept-Language in the last 3600 s: over 3 calls in 30 days (sent home), over 2 in 20 s,
       over 10 in 600 s;
    4. without a link token: over 15 calls in 20 s, over 150 in 600 s.

    For other pages than the search, it checks only the User-Agent; for `/healthz`, nothing. Not modelled:
    address lists, and the token's renewal every 600 s.

    Args:
        clock: seconds; pass a `FakeClock` to move through the windows in a test.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,  # noqa: TID251 - a server in real time
    ) -> None:
        self._clock = clock
        self._api = _Window(4, 3_600)
        self._burst = _Window(15, 20)
        self._long = _Window(150, 600)
        self._suspicious = _Window(3, 30 * 86_400)
        self._suspicious_burst = _Window(2, 20)
        self._suspicious_long = _Window(10, 600)
        self._pings: dict[tuple[str, str], float] = {}

    def judge_page(self, request: ReceivedRequest) -> Refusal | None:
        """Judge a request for any page except `/healthz` and the search."""
        agent = request.headers.get("User-Agent", "")
        return None if agent and not _REFUSED_AGENTS.match(agent) else Refusal.TOO_MANY_REQUESTS

    def judge_search(self, request: ReceivedRequest, *, link_token: bool) -> Refusal | None:
        """Judge a search, and count it."""
        if self.judge_page(request) or not _has_ordinary_headers(request):
            return Refusal.TOO_MANY_REQUESTS
        if _lacks_sec_fetch(request):
            return Refusal.SENT_HOME
        now = self._clock()
        if request.query.get("format", "html") != "html" and self._api.exceeded(now):
            return Refusal.TOO_MANY_REQUESTS
        if link_token:
            return self._judge_by_token(request, now)
        if self._burst.exceeded(now) or self._long.exceeded(now):
            return Refusal.TOO_MANY_REQUESTS
        return None

    def ping(self, request: ReceivedRequest) -> None:
        """Record that the token's stylesheet was loaded, as browsers do."""
        self._pings[_fingerprint(request)] = self._clock()

    def _judge_by_token(self, request: ReceivedRequest, now: float) -> Refusal | None:
        fingerprint = _fingerprint(request)
        pinged_at = self._pings.get(fingerprint)
        if pinged_at is not None and now - pinged_at < _PING_LIFETIME:
            self._pings[fingerprint] = now
            self._suspicious.clear()
            return None
        if self._suspicious.exceeded(now):
            return Refusal.SENT_HOME
        if self._suspicious_burst.exceeded(now) or self._suspicious_long.exceeded(now):
            return Refusal.TOO_MANY_REQUESTS
        return None


def _fingerprint(request: ReceivedRequest) -> tuple[str, str]:
    headers = request.headers
    return headers.get("Accept-Language", ""), headers.get("User-Agent", "")


def _items(header: str) -> Iterable[str]:
    return (item.strip() for item in header.split(","))


def _has_ordinary_headers(request: ReceivedRequest) -> bool:
    headers = request.headers
    media_types = {item.partition(";")[0] for item in _items(headers.get("Accept", ""))}
    return (
        not media_types.isdisjoint(("text/html", "text/*", "*/*"))
        # Upstream accepts only bare tokens: `gzip;q=1.0` is refused.
        and not {"gzip", "deflate"}.isdisjoint(_items(headers.get("Accept-Encoding", "")))
        and bool(headers.get("Accept-Language", "").strip())
    )


def _lacks_sec_fetch(request: ReceivedRequest) -> bool:
    if not request.secure or request.headers.get("Sec-Fetch-Mode") in {"navigate", "cors"}:
        return False
    return any(
        (int(major), int(minor or 0)) >= _SENDS_SEC_FETCH[product.lower()]
        for product, major, minor in _BROWSER.findall(request.headers.get("User-Agent", ""))
    )

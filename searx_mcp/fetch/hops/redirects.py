"""Follows redirects from an address to its answer.

Each hop is checked like an address from a caller: by `urls.url.check_url`, the domain lists, robots.txt and
the limits of its host. The session checks the resolved IP addresses.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from pydantic import SecretStr
from yarl import URL

from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    InvalidArgumentError,
    PolicyError,
    RedirectError,
    TransportError,
)
from searx_mcp.fetch.config import with_own
from searx_mcp.fetch.hops.answers import (
    HopRequest,
    NotModified,
    ReceivedPage,
    Redirect,
    is_success,
    location_of,
    receive,
)
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.fetch.hops.host_limits import Hosts
from searx_mcp.fetch.hops.robots import MAX_ROBOTS_REDIRECTS, RobotsGate
from searx_mcp.http.body import NOTE_DEADLINE, Body
from searx_mcp.http.http import HttpSession, Reply
from searx_mcp.http.robots import FETCHED_BYTES
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.storage.pages import Validators
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.hosts import host_in, is_short_enough, without_userinfo
from searx_mcp.urls.retry_after import retry_after
from searx_mcp.urls.url import check_url

IGNORED = "ignored"
"""The value of `HopResult.robots` if robots.txt was not checked."""

# Headers that may go to another origin: none identifies the caller or the previous page.
_CARRIED = frozenset(
    {"accept", "accept-encoding", "accept-language", "dnt", "sec-gpc", "user-agent"}
)
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_DROPPED = re.compile("[\t\r\n]")  # WHATWG URL, section 4.4; yarl does the same
_END_OF_AUTHORITY = re.compile("[/?#]")
_PATH_END = re.compile("[?#]")


@dataclass(frozen=True, slots=True)
class HopResult:
    """The final answer.

    Attributes:
        answer: a page, the news that it has not changed, or a redirect that was not to be followed.
        robots: `allowed`, `absent` or `ignored`.
    """

    answer: ReceivedPage | NotModified | Redirect
    robots: str


class Trail:
    """The hops of one fetch, in order.

    We keep no cookies that could change the answer, so a fetch that returns to an address would never end:
    that is a loop.

    Attributes:
        current: address of the hop in progress.
        chain: `url -> status` of each answered hop.
        notes: sentences for the caller.
        has_redirects: whether a hop redirected us, even to a forbidden address.
    """

    def __init__(self, start: URL, *, max_redirects: int) -> None:
        self.current = start
        self.chain: list[str] = []
        self.notes: list[str] = []
        self.has_redirects = False
        self._seen = {start}
        self._max_redirects = max_redirects

    @property
    def redirects(self) -> int:
        """Number of redirects that were followed."""
        return len(self._seen) - 1

    def answered(self, status: int) -> None:
        """Record the status of the current hop."""
        self.chain.append(f"{self.current} -> {status}")

    def follow(self, target: URL) -> None:
        """Make the target the current hop.

        Raises:
            RedirectError: `redirect_loop` or `too_many_redirects`.
        """
        if target in self._seen:
            raise RedirectError(
                "The site redirects in a loop.",
                code=ErrorCode.REDIRECT_LOOP,
                url=str(target),
                advice="The page may need cookies or a login; use another source.",
            )
        if self.redirects >= self._max_redirects:
            raise RedirectError(
                f"The site redirects more than {self._max_redirects} times.",
                code=ErrorCode.TOO_MANY_REDIRECTS,
                url=str(self.current),
                advice="Use another source.",
            )
        if self.current.scheme == "https" and target.scheme == "http":
            self.notes.append("A redirect went from https to http.")
        self._seen.add(target)
        self.current = target


class RedirectFollower:
    """Follows redirects here, not in the HTTP session, so that each hop is checked.

    Sends no cookies and no Referer.
    """

    def __init__(
        self,
        session: Callable[[], HttpSession],
        *,
        allow: AllowList,
        domains: DomainPolicy,
        hosts: Hosts,
        user_agent: str,
        own_headers: Mapping[str, Mapping[str, SecretStr]] | None = None,
    ) -> None:
        """Configure it; nothing is opened yet.

        Args:
            session: returns the session for pages; called once a hop.
            allow: private addresses that may be fetched.
            domains: domains that are never fetched.
            hosts: limits of each host.
            user_agent: of requests for robots.txt.
            own_headers: the operator's headers by origin: see `fetch.config`. Each hop gets those of its
                own origin only.
        """
        self._own_headers = own_headers or {}
        self._session = session
        self._allow = allow
        self._domains = domains
        self._hosts = hosts
        self._user_agent = user_agent

    async def follow(self, request: HopRequest, trail: Trail, robots: RobotsGate) -> HopResult:
        """Request the address at the start of a trail, and follow the redirects.

        Args:
            request: what to request.
            trail: updated along the way; its start has passed `check_url`.
            robots: checked before each hop, unless the request says otherwise.

        Raises:
            FetchError: any of its kinds.
        """
        headers = dict(request.headers)
        while True:
            url = trail.current
            self._domains.check(url)
            verdict = IGNORED
            if request.obey_robots:
                verdict = await robots.check(url, deadline=request.deadline)
            answer = await self._ask(request, headers, trail)
            if isinstance(answer, ReceivedPage) and not request.takes_data:
                answer = _forwarding(answer, url)
            if not isinstance(answer, Redirect) or not request.follow:
                return HopResult(answer, verdict)
            trail.has_redirects = True
            target = next_url(url, answer.location, allow=self._allow)
            headers = carried_headers(headers, url, target)
            trail.follow(target)

    async def robots_text(self, url: URL, deadline: float) -> tuple[int, bytes]:
        """Fetch a robots.txt; return the last hop's status and the beginning of its body.

        Raises:
            FetchError: the answer is missing or incomplete, or a redirect leads to a forbidden address.
        """
        trail = Trail(url, max_redirects=MAX_ROBOTS_REDIRECTS)
        headers = {"User-Agent": self._user_agent, "Accept": "text/plain,*/*;q=0.5"}
        while True:
            self._domains.check(trail.current)
            async with self._open(trail.current, headers, deadline) as reply:
                location = location_of(reply.status, reply.headers)
                if location is None:
                    if not is_success(reply.status):
                        return reply.status, b""
                    body = await reply.read(max_bytes=FETCHED_BYTES, deadline=deadline)
                    if body.truncated and len(body.data) < FETCHED_BYTES:
                        raise _cut_short(str(trail.current), body)
                    return reply.status, body.data
            trail.follow(next_url(trail.current, location, allow=self._allow))

    async def _ask(
        self, request: HopRequest, headers: Mapping[str, str], trail: Trail
    ) -> ReceivedPage | NotModified | Redirect:
        url = trail.current
        conditions = _conditions(request.unless.get(str(url)))
        sent = {**headers, **conditions}
        if self._own_headers:
            sent = with_own(sent, str(url.origin()), self._own_headers)
        async with self._open(url, sent, request.deadline) as reply:
            trail.answered(reply.status)
            try:
                return await receive(reply, request, is_conditional=bool(conditions))
            except ContentError as error:
                error.status_code = reply.status
                raise

    @asynccontextmanager
    async def _open(
        self, url: URL, headers: Mapping[str, str], deadline: float
    ) -> AsyncIterator[Reply]:
        """Request one address as soon as the limits of its host allow it."""
        async with self._hosts.slot(url.host_port_subcomponent or "", deadline=deadline) as slot:
            left = max(deadline - asyncio.get_running_loop().time(), 0)
            async with self._session().open(str(url), headers=headers, timeout=left) as reply:
                slot.answered(reply.status, retry_after(reply.headers))
                yield reply


def _forwarding(page: ReceivedPage, url: URL) -> ReceivedPage | Redirect:
    """Return the redirect in the markup of a page, or the page if that leads to itself or to no web address."""
    refresh = page.refresh
    with suppress(ValueError):
        target = join(url, refresh)
        if refresh and target != url and target.scheme in {"http", "https"}:
            return Redirect(page.status, page.headers, refresh)
    return page


def _cut_short(url: str, body: Body) -> TransportError:
    """Make the error for a robots.txt whose end, and perhaps a rule, is missing."""
    is_late = NOTE_DEADLINE in body.notes
    return TransportError(
        f"Only part of it arrived: {', '.join(body.notes)}.",
        code=ErrorCode.TIMEOUT if is_late else ErrorCode.CONNECTION_ERROR,
        url=url,
    )


def _conditions(validators: Validators | None) -> dict[str, str]:
    if validators is None:
        return {}
    headers = {
        "If-None-Match": validators.etag,
        "If-Modified-Since": validators.last_modified,
    }
    return {name: value for name, value in headers.items() if value}


def next_url(current: URL, location: str, *, allow: AllowList) -> URL:
    """Return the address of the next hop, checked like one from a caller.

    Raises:
        PolicyError: the target may not be fetched.
        TransportError: `malformed_response`: it is not an address.
    """
    target = current
    try:
        target = join(current, location)
        if authority := _authority(location):
            # Checks the raw text: yarl turns ":+80" into a port and "[v1.fe80]" into a name.
            check_url(f"{target.scheme}://{authority}", allow=allow)
        return check_url(str(target), allow=allow)
    except PolicyError as error:
        error.url = without_userinfo(str(target))  # all of it, not the authority alone
        raise
    except (ValueError, InvalidArgumentError) as exc:
        raise TransportError(
            "The site redirects to something that is not a valid address.",
            code=ErrorCode.MALFORMED_RESPONSE,
            url=str(current),
            advice="Use another source.",
        ) from exc


def join(current: URL, location: str) -> URL:
    """Return the address of a Location, unchecked and without fragment.

    Raises:
        ValueError: it is not an address.
    """
    location = _text(location)
    if len(location) > MAX_URL_LENGTH or not is_short_enough(host_in(location)):
        raise ValueError("it is too long")
    if "\\" in _PATH_END.split(location, maxsplit=1)[0]:
        raise ValueError("browsers read a backslash as a slash, which may turn a path into a host")
    try:
        return current.join(URL(location)).with_fragment(None)
    except IndexError as exc:  # yarl 1.25 on "//[]@"
        raise ValueError("no address") from exc


def _text(location: str) -> str:
    # Raw header bytes arrive as surrogate escapes (PEP 383); browsers send them as %XX.
    location = _RAW_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", location.strip())
    location.encode()  # refuses other surrogates, which yarl would silently drop
    return _DROPPED.sub("", location)


def _authority(location: str) -> str:
    """Return the authority of a Location as written; empty if it has none."""
    text = _text(location)
    if not URL(text).raw_authority:
        return ""
    return _END_OF_AUTHORITY.split(text.partition("//")[2], maxsplit=1)[0]


def carried_headers(headers: Mapping[str, str], current: URL, target: URL) -> dict[str, str]:
    """Return the request headers for the next hop; another origin gets only harmless ones."""
    if _origin(current) == _origin(target):
        return dict(headers)
    return {name: value for name, value in headers.items() if name.lower() in _CARRIED}


def _origin(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.raw_host, url.port

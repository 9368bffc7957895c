"""From an address to its answer, hop by hop.

Each hop is judged like an address that a caller gave: by `net.url.check_url`, by the domain lists, by
robots.txt, by what its host can bear; what its name resolves to is the session's to judge.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from pydantic import SecretStr
from yarl import URL

from searx_mcp.errors import ContentError, ErrorCode, TransportError
from searx_mcp.fetch.hops.answer import Answer, NotModified, Redirect, receive
from searx_mcp.fetch.hops.hosts import Hosts
from searx_mcp.fetch.hops.redirects import Trail, carried_headers, location_of, next_url
from searx_mcp.fetch.policy.lists import DomainPolicy
from searx_mcp.fetch.policy.robots import MAX_ROBOTS, MAX_ROBOTS_REDIRECTS, RobotsGate
from searx_mcp.http.body import Body
from searx_mcp.http.host_headers import with_own
from searx_mcp.http.http import NOTE_DEADLINE, HttpSession
from searx_mcp.storage.pages import Validators
from searx_mcp.tasks import Place
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.retry_after import retry_after

IGNORED = "ignored"
"""What `Arrival.robots` says when nobody asked robots.txt."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What to ask for, and within which bounds.

    Attributes:
        headers: of the request; another origin gets only those that tell nothing of the caller.
        max_bytes: decoded bytes of text read at most.
        max_document_bytes: likewise of a document that cannot be cut, such as a PDF.
        deadline: the event loop's time by which the last byte must be there.
        follow: whether redirects are followed.
        obey_robots: whether robots.txt is asked.
        unless: validators by address: an answer that has not changed is not sent again.
        place: taken before a body is read.
    """

    headers: Mapping[str, str]
    max_bytes: int
    max_document_bytes: int
    deadline: float
    place: Place
    follow: bool = True
    obey_robots: bool = True
    unless: Mapping[str, Validators] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arrival:
    """The last answer of a walk.

    Attributes:
        answer: a page, news that it has not changed, or a redirect that was not to be followed.
        robots: `allowed`, `absent` or `ignored`.
    """

    answer: Answer | NotModified | Redirect
    robots: str


class Walker:
    """Follows redirects here and not in the session, so that each is judged.

    No cookies and no Referer are sent.
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
        """Take the parts; nothing is opened.

        Args:
            session: gives the session for pages; asked once a walk.
            allow: private addresses that may be fetched.
            domains: what is never fetched.
            hosts: how often each host may be asked.
            user_agent: of requests for robots.txt.
            own_headers: the operator's, by origin: see `net.host_headers`. A hop gets those of
                its own origin and hands none on.
        """
        self._own_headers = own_headers or {}
        self._session = session
        self._allow = allow
        self._domains = domains
        self._hosts = hosts
        self._user_agent = user_agent

    async def go(self, errand: Errand, trail: Trail, robots: RobotsGate) -> Arrival:
        """Ask for the address a trail starts at, and go on to where the answers lead.

        Args:
            errand: what to ask for.
            trail: is written along the way; its start has passed `check_url`.
            robots: asked before each hop, unless the errand says otherwise.

        Raises:
            FetchError: any of its kinds.
        """
        headers = dict(errand.headers)
        while True:
            url = trail.current
            self._domains.check(url)
            verdict = IGNORED
            if errand.obey_robots:
                verdict = await robots.check(url, deadline=errand.deadline)
            answer = await self._ask(errand, headers, trail)
            if not isinstance(answer, Redirect) or not errand.follow:
                return Arrival(answer, verdict)
            trail.has_redirects = True
            target = next_url(url, answer.location, allow=self._allow)
            headers = carried_headers(headers, url, target)
            trail.follow(target)

    async def robots_text(self, url: URL, deadline: float) -> tuple[int, bytes]:
        """Fetch a robots.txt; the status and the beginning of the body of the last hop.

        Raises:
            FetchError: there is no answer or not all of it, or a redirect leads where nobody may go.
        """
        session, loop = self._session(), asyncio.get_running_loop()
        trail = Trail(url, max_redirects=MAX_ROBOTS_REDIRECTS)
        headers = {"User-Agent": self._user_agent, "Accept": "text/plain,*/*;q=0.5"}
        while True:
            self._domains.check(trail.current)
            async with (
                self._hosts.visit(_host(trail.current), deadline=deadline) as visit,
                session.open(
                    str(trail.current), headers=headers, timeout=max(deadline - loop.time(), 0)
                ) as reply,
            ):
                visit.answered(reply.status, _wait(reply.headers))
                location = location_of(reply.status, reply.headers)
                if location is None:
                    if not HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
                        return reply.status, b""
                    body = await reply.read(max_bytes=MAX_ROBOTS, deadline=deadline)
                    if body.truncated and len(body.data) < MAX_ROBOTS:
                        raise _cut_short(str(trail.current), body)
                    return reply.status, body.data
            trail.follow(next_url(trail.current, location, allow=self._allow))

    async def _ask(
        self, errand: Errand, headers: Mapping[str, str], trail: Trail
    ) -> Answer | NotModified | Redirect:
        loop, url = asyncio.get_running_loop(), str(trail.current)
        conditions = _conditions(errand.unless.get(url))
        async with (
            self._hosts.visit(_host(trail.current), deadline=errand.deadline) as visit,
            self._session().open(
                url,
                headers=with_own(
                    {**headers, **conditions}, str(trail.current.origin()), self._own_headers
                ),
                timeout=max(errand.deadline - loop.time(), 0),
            ) as reply,
        ):
            visit.answered(reply.status, _wait(reply.headers))
            trail.answered(reply.status)
            try:
                return await receive(
                    reply,
                    max_bytes=errand.max_bytes,
                    max_document_bytes=errand.max_document_bytes,
                    deadline=errand.deadline,
                    place=errand.place,
                    is_conditional=bool(conditions),
                )
            except ContentError as error:
                error.status_code = reply.status
                raise


def _host(url: URL) -> str:
    return url.host_port_subcomponent or ""


def _wait(headers: Mapping[str, str]) -> float | None:
    return retry_after(headers.get("Retry-After", ""), date=headers.get("Date", ""))


def _cut_short(url: str, body: Body) -> TransportError:
    """Make the error for a robots.txt of which the end, and so perhaps a rule, is missing."""
    is_late = NOTE_DEADLINE in body.notes
    return TransportError(
        f"Only a part of it arrived: {', '.join(body.notes)}.",
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

"""Captures one page: with a site adapter, from the site itself, or with a browser."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import Document
from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    SettingsError,
    SkeletonError,
    TransportError,
)
from searx_mcp.fetch.conversion import Conversion
from searx_mcp.fetch.hops.answers import HopRequest, NotModified, ReceivedPage, Redirect, judge
from searx_mcp.fetch.hops.media import parse_content_type
from searx_mcp.fetch.hops.redirects import HopResult, RedirectFollower, Trail, join
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.fetch.site_adapters.adapter import MAX_NOTE, AdapterSource, AsPage, Plan
from searx_mcp.fetch.site_adapters.sites import SiteSources
from searx_mcp.http.body import NOTE_BROKEN
from searx_mcp.models.page import INCOMPLETE
from searx_mcp.storage.pages import CapturedPage, KeptPage, PageKey
from searx_mcp.tasks import Slot
from searx_mcp.workers.jobs import Workers

if TYPE_CHECKING:
    from searx_mcp.fetch.browser.renderer import Renderer

BROWSER: Final = "browser"

_SHOWN_HEADERS: Final = ("server", "content-encoding", "content-language", "last-modified")
_MAX_HEADER: Final = 200
_OTHER_VERSION: Final = "Look for another version of it, or use another result."
_NO_SCRIPTS: Final = (
    "Use another result. An operator can let a browser read such pages: fetch.browser."
)
_BODIES: Final = 32
"""Captures whose bodies are read or converted at once. More would only wait for a processor, each holding
up to 10 MiB."""
_NOT_FOLLOWED: Final = "A redirect was not followed: redirect_target is where it leads."
_NO_ADDRESS: Final = (
    "A redirect was not followed: it leads to something that is not a valid address."
)
_ADAPTER_SHARE: Final = 0.6
"""Share of the remaining time that a site adapter may use, so that the page can still be read after it."""
_ACCEPT: Final = (
    "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,"
    "application/json;q=0.7,application/xml;q=0.7,*/*;q=0.5"
)
# Time reserved for the conversion to Markdown, so that a body cut at the deadline still becomes a page:
# this share of the whole, limited to so many seconds.
_CONVERSION_SHARE: Final = 0.1
_MAX_CONVERSION_TIME: Final = 1.0


@dataclass(slots=True)
class Job:
    """One capture in progress; times are loop times.

    Attributes:
        url: checked, with its fragment.
        key: under which the capture is stored.
        content: how the page is converted.
        max_bytes: limit of decoded bytes of text.
        max_document_bytes: the same for a document.
        max_redirects: limit of redirects to follow.
        user_agent: sent with the requests.
        started: start of the call.
        end: deadline of the call.
        follow: whether to follow redirects.
        obey_robots: whether to check robots.txt.
        index: format to parse it as, if it is a site index and not a page.
        previous: the last capture, for a conditional request.
        trail: of the hops in progress, if any.
        notes: sentences about how the page was read.
    """

    url: URL
    key: PageKey
    content: ContentConfig
    max_bytes: int
    max_document_bytes: int
    max_redirects: int
    user_agent: str
    started: float
    end: float
    follow: bool = True
    obey_robots: bool = True
    index: str = ""
    previous: KeptPage | None = None
    trail: Trail | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def read_until(self) -> float:
        """Loop time by which the last byte must have arrived."""
        reserve = min((self.end - self.started) * _CONVERSION_SHARE, _MAX_CONVERSION_TIME)
        return self.end - reserve

    @property
    def current(self) -> str:
        """The address being requested."""
        return str(self.trail.current if self.trail else self.url.with_fragment(None))

    def request(
        self,
        place: Slot,
        *,
        accept: str = "",
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        is_conditional: bool = False,
    ) -> HopRequest:
        """Build the request for the redirect follower."""
        unless = {}
        if is_conditional and self.previous is not None:
            capture = self.previous.capture
            unless = {capture.page.final_url: capture.validators}
        return HopRequest(
            headers={
                "Accept": accept or _ACCEPT,
                "Accept-Language": "en",
                "DNT": "1",
                "Sec-GPC": "1",
                "User-Agent": self.user_agent,
                **(headers or {}),
            },
            max_bytes=self.max_bytes,
            max_document_bytes=self.max_document_bytes,
            deadline=self.read_until if deadline is None else deadline,
            place=place,
            follow=self.follow,
            obey_robots=self.obey_robots,
            unless=unless,
            takes_data=bool(self.index),
        )


@dataclass(frozen=True, slots=True)
class Captured:
    """The outcome of a capture.

    Attributes:
        page: what is stored of it.
        status: of the answer.
        headers: of the answer, case-insensitive; they say how long the page may be stored.
        was_late: whether the deadline cut it: with more time there would be more.
        is_settled: whether another request would return the same.
    """

    page: CapturedPage
    status: int
    headers: Mapping[str, str]
    was_late: bool = False
    is_settled: bool = True


class PageCapture:
    """Captures pages concurrently, each with its own deadline.

    Site adapters come first; if one fails, a note says so and the page itself is read. A browser comes
    last, for a page that is empty without its scripts.
    """

    def __init__(
        self,
        follower: RedirectFollower,
        *,
        robots: RobotsGate,
        sites: SiteSources,
        workers: Workers,
        renderer: "Renderer | None",
    ) -> None:
        """Configure it; nothing is opened yet.

        Args:
            follower: follows redirects.
            robots: checked before each hop.
            sites: plan and fetch sources that read better than the page.
            workers: convert bodies to text.
            renderer: runs a page's scripts; `None` if that is not allowed.
        """
        self._follower = follower
        self._robots = robots
        self._sites = sites
        self._workers = workers
        self._conversion = Conversion(workers)
        self._renderer = renderer
        self._bodies = asyncio.Semaphore(_BODIES)

    async def capture(self, job: Job) -> Captured | NotModified:
        """Capture a page, or learn that its last capture is still current.

        Raises:
            FetchError: any of its kinds.
        """
        if job.previous is None:
            # With a previous capture, the page may be unchanged, and nothing to convert.
            self._workers.warm()
        async with Slot(self._bodies) as place:
            plan = self._sites.plan(job.url) if job.follow and not job.index else None
            if plan is not None:
                try:
                    return await self._from_sources(job, plan, place)
                except (FetchError, ValueError) as error:
                    job.notes.append(_passed_over(plan, error))
            return await self._from_site(job, place, is_conditional=plan is None)

    async def _from_site(
        self, job: Job, place: Slot, *, is_conditional: bool
    ) -> Captured | NotModified:
        trail = job.trail = Trail(job.url.with_fragment(None), max_redirects=job.max_redirects)
        request = job.request(place, is_conditional=is_conditional)
        result = await self._follower.follow(request, trail, self._robots)
        match result.answer:
            case NotModified() as unchanged:
                return unchanged
            case Redirect() as redirect:
                return _not_followed(job, trail, redirect, result)
            case ReceivedPage() as answer:
                return await self._page(job, trail, answer, result.robots)

    async def _from_sources(self, job: Job, plan: Plan, place: Slot) -> Captured:
        deadline = now() + (job.read_until - now()) * _ADAPTER_SHARE

        def request(source: AdapterSource) -> HopRequest:
            return job.request(
                place, accept=source.accept, headers=source.headers, deadline=deadline
            )

        gathered = await self._sites.gather(plan, request)
        composed = await asyncio.to_thread(plan.compose, gathered.answers)
        if isinstance(composed, AsPage):
            document = await self._read(job, composed.answer)
            content_type, is_cut = composed.answer.media.name, composed.answer.body.truncated
        else:
            document, content_type, is_cut = composed.document, composed.content_type, False
        arrived = [answer for answer in gathered.answers if answer is not None]
        first = arrived[0]
        page = CapturedPage(
            document=_with(document, is_cut=is_cut, notes=job.notes),
            final_url=str(job.url),
            content_type=content_type,
            content_length=sum(len(answer.body.data) for answer in arrived),
            status_code=first.status,
            headers=_shown(first.headers),
            redirect_chain=tuple(f"{answer.url} -> {answer.status}" for answer in arrived),
            tier=plan.tier,
            robots=gathered.robots,
        )
        return Captured(page, first.status, first.headers, gathered.was_late, gathered.is_settled)

    async def _page(self, job: Job, trail: Trail, answer: ReceivedPage, robots: str) -> Captured:
        document, rendered = (
            (await self._read(job, answer), None)
            if self._renderer is None or job.index
            else await self._with_scripts(self._renderer, job, trail, answer)
        )
        shown = rendered or answer
        page = CapturedPage(
            document=_with(
                document,
                is_cut=shown.body.truncated,
                notes=(*job.notes, *trail.notes, *_missing(answer)),
            ),
            final_url=shown.url,
            content_type=answer.media.name,
            content_length=len(answer.body.data),
            status_code=shown.status,
            headers=_shown(answer.headers),
            redirect_count=trail.redirects,
            redirect_chain=tuple(trail.chain),
            tier=BROWSER if rendered else "native",
            robots=robots,
        )
        is_settled = not answer.was_late and NOTE_BROKEN not in answer.body.notes
        return Captured(page, answer.status, answer.headers, answer.was_late, is_settled)

    async def _with_scripts(
        self, renderer: "Renderer", job: Job, trail: Trail, answer: ReceivedPage
    ) -> tuple[Document, ReceivedPage | None]:
        """Read a page; if it is empty without its scripts, render it in a browser."""
        document: Document | None = None
        with contextlib.suppress(SkeletonError):
            document = await self._read(job, answer)
            if not document.is_skeleton:
                return document, None
        try:
            rendered = await renderer.render(
                trail.current,
                user_agent=job.user_agent,
                deadline=job.read_until,
                max_bytes=job.max_bytes,
            )
            # The scripts may have made a challenge, or navigated to an error page.
            page = replace(
                rendered, status=rendered.status or answer.status, headers=answer.headers
            )
            if refusal := judge(page.status, {}, page.body.data, url=page.url):
                raise refusal
            read = await self._read(job, page)
        except (FetchError, SettingsError) as error:
            if document is not None:
                job.notes.append(f"Its scripts were not run: {clean_line(error.message, MAX_NOTE)}")
                return document, None
            if isinstance(error, SettingsError):
                raise ContentError(
                    f"The page has no text until its scripts run, and they cannot: {error.message}",
                    code=ErrorCode.EXTRACTION_FAILED,
                    url=answer.url,
                    status_code=answer.status,
                    advice=error.advice,
                ) from error
            raise
        job.notes.extend(page.body.notes)
        return read, page

    async def _read(self, job: Job, answer: ReceivedPage) -> Document:
        try:
            if job.index:
                return await self._conversion.index(answer, job.index, deadline=job.end)
            document = await self._conversion.read(
                answer, content=job.content, fragment=job.url.fragment, deadline=job.end
            )
        except ContentError as exc:
            if answer.was_late:
                raise timed_out() from exc
            exc.status_code = answer.status
            exc.url = exc.url or answer.url
            needs_scripts = isinstance(exc, SkeletonError) and self._renderer is None
            exc.advice = exc.advice or (_NO_SCRIPTS if needs_scripts else _OTHER_VERSION)
            raise
        if answer.was_late and not document.markdown.strip():
            raise timed_out()
        return document


def now() -> float:
    """The event loop's time."""
    return asyncio.get_running_loop().time()


def timed_out() -> TransportError:
    """Make the error for a page that did not arrive in time."""
    return TransportError("The page did not arrive.", code=ErrorCode.TIMEOUT)


def _with(document: Document, *, is_cut: bool, notes: Iterable[str]) -> Document:
    """Add to a document what only the capture knows."""
    return document.model_copy(
        update={
            "truncated": document.truncated or is_cut,
            "notes": (*notes, *document.notes),
        }
    )


def _not_followed(job: Job, trail: Trail, redirect: Redirect, result: HopResult) -> Captured:
    try:
        target = str(join(trail.current, redirect.location))
    except ValueError:
        target = ""
    note = _NOT_FOLLOWED if target else _NO_ADDRESS
    page = CapturedPage(
        document=Document(markdown="", word_count=0, notes=(*job.notes, note)),
        final_url=str(trail.current),
        content_type=parse_content_type(redirect.headers.get("Content-Type", "")).name,
        content_length=0,
        status_code=redirect.status,
        headers=_shown(redirect.headers),
        redirect_chain=(*trail.chain, *([f"{target} -> not followed"] if target else [])),
        redirect_target=target,
        robots=result.robots,
    )
    return Captured(page, redirect.status, redirect.headers)


def _passed_over(plan: Plan, error: Exception) -> str:
    if isinstance(error, FetchError):
        reason = error.message
    else:  # error texts of libraries may repeat their input
        reason = str(error) if type(error) is ValueError else "the answer cannot be read"
    return f"Read as a page, because {plan.tier} could not be read: {clean_line(reason, MAX_NOTE)}"


def _missing(answer: ReceivedPage) -> list[str]:
    if not answer.body.wire_bytes:
        return ["The site sent an empty page."]
    return [f"{INCOMPLETE}{note}." for note in answer.body.notes]


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: clean_line(headers[name], _MAX_HEADER) for name in _SHOWN_HEADERS if name in headers
    }

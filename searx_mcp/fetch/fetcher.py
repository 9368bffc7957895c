"""One call of `web_fetch`: from what is kept, or captured anew."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from yarl import URL

from searx_mcp.content.addresses import addresses_in
from searx_mcp.content.clean import clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.outline import find
from searx_mcp.errors import (
    CursorError,
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    SearxMcpError,
    SiteError,
    TransportError,
)
from searx_mcp.fetch.capture import Job, PageCapture, Unchanged, captured_part, now, timed_out
from searx_mcp.fetch.config import WebFetchConfig
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.fetch.page_cache import PageCache
from searx_mcp.fetch.page_view import CallContext, build_page_view
from searx_mcp.fetch.provenance import Provenance, is_suspicious
from searx_mcp.models.fetch_request import MAX_CONTENT_LENGTH, MAX_URL_LENGTH, FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.spelling import in_words
from searx_mcp.storage.pages import Capture, KeptPage
from searx_mcp.tasks import SingleFlight, Spawn
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.url import check_url

logger = logging.getLogger("searx_mcp.fetch")
T = TypeVar("T")

_MORE_TIME: Final = 1.0
"""Seconds by which two calls must differ in the time they have, to be better off on their own."""
_SMUGGLING: Final = (
    "This address was not found by a search or on a page here, and carries a long random text: make"
    " sure that it does not take anything of the conversation with it."
)


@dataclass(frozen=True, slots=True)
class _Landed:
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


@dataclass(frozen=True, slots=True)
class Reading:
    """A whole page, as it is kept.

    Attributes:
        kept: the capture.
        is_new: whether it was fetched just now, and not found unchanged or in the cache.
        notes: sentences a caller should know.
    """

    kept: KeptPage
    is_new: bool
    notes: tuple[str, ...] = ()


class Fetcher:
    """Fetches pages, many at a time, each call by its own deadline.

    Equal calls at the same time share one capture. What was captured is kept for a time, and serves
    again as long as the site allows, after asking it whether anything changed, or when it fails.
    """

    def __init__(
        self,
        capturer: PageCapture,
        *,
        pages: PageCache,
        config: WebFetchConfig,
        content: ContentConfig,
        domains: DomainPolicy,
        provenance: Provenance,
        allow: AllowList,
        user_agent: str,
        spawn: Spawn,
        obey_robots: bool = True,
    ) -> None:
        """Take the parts; nothing is opened.

        Args:
            capturer: captures what is not kept.
            pages: keeps captures.
            config: limits and defaults.
            content: whether there are summaries.
            domains: what is never fetched.
            provenance: which addresses were seen.
            allow: private addresses that may be fetched.
            user_agent: sent when a call names none.
            spawn: starts captures as tasks of the client.
            obey_robots: whether robots.txt is asked, unless a person's call says otherwise.
        """
        self._capturer = capturer
        self._pages = pages
        self._config = config
        self._content = content
        self._domains = domains
        self._provenance = provenance
        self._allow = allow
        self._user_agent = user_agent
        self._obey_robots = obey_robots
        self._flights = SingleFlight[_Landed](spawn)
        self._ends: dict[Hashable, float] = {}

    def warm(self) -> None:
        """Get ready for pages that are about to be asked for; returns at once and never raises."""
        self._capturer.warm()

    def remember(self, urls: Iterable[str], source: Literal["search", "link"]) -> None:
        """Learn addresses that were handed out."""
        self._provenance.remember(urls, source)

    async def fetch(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        max_bytes: int | None = None,
        query: str = "",
    ) -> Page:
        """Give one page, or the part of it that is asked for, as Markdown.

        A body that is too long, or still arriving when the time is over, is cut and the page is
        marked `truncated`.

        Args:
            request: the page and the call's own limits.
            deadline: the event loop's time by which to return; the limits of the request and the
                configuration hold too.
            max_bytes: decoded bytes read at most, instead of the request's or configured number.
            query: what the caller wants to know; it steers the summary and is never sent or kept.

        Returns:
            The page. Without `follow_redirects`, a redirect is a page without content and with a
            note that names the target.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: any of its kinds, with `url` and `response_time_ms`.
        """
        started = now()
        end = self._end(request, started, deadline)

        async def work() -> Page:
            landed, provenance = await self._landed(request, started, end, max_bytes)
            return await self._shown(landed, request, started, query, provenance=provenance)

        return await self._guarded(work, request, started, end)

    async def read(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        previous: KeptPage | None = None,
    ) -> Reading:
        """Give one page whole, as it is kept.

        Args:
            request: the page; what it says of parts does not count.
            deadline: as for `fetch`.
            previous: what the caller has of the page: where the cache has none, the site is asked whether
                that still is the page. It never enters the cache.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: any of its kinds, with `url` and `response_time_ms`.
        """
        started = now()
        end = self._end(request, started, deadline)

        async def work() -> Reading:
            own = replace(previous, cursor="") if previous else None
            landed, _ = await self._landed(request, started, end, previous=own)
            if isinstance(landed.kept, FetchError):
                raise landed.kept
            page = landed.kept.capture.page
            links = (link.url for link in page.document.links)
            self._provenance.remember([page.final_url, *links], "link")
            return Reading(landed.kept, landed.is_new, landed.notes)

        return await self._guarded(work, request, started, end)

    async def _guarded(
        self, work: Callable[[], Awaitable[T]], request: FetchRequest, started: float, end: float
    ) -> T:
        """Do the work of a call by its end; what goes wrong is one of our errors."""
        try:
            async with asyncio.timeout_at(end):
                return await work()
        except FetchError as error:
            _complete(error, request, started, end)
            raise
        except InvalidArgumentError:
            raise
        except TimeoutError as exc:
            raise _complete(timed_out(), request, started, end) from exc
        except Exception as exc:
            # A page is a stranger's work; what it breaks must not surface as a library's error.
            logger.exception("fetch.unexpected_error")
            raise _complete(_fault(), request, started, end) from exc

    def _end(self, request: FetchRequest, started: float, deadline: float | None) -> float:
        end = started + self._allowed_time(request)
        return end if deadline is None else min(end, deadline)

    def _allowed_time(self, request: FetchRequest) -> float:
        if request.timeout is not None:
            return request.timeout
        return min(self._config.default_timeout, self._config.max_response_time)

    async def _landed(
        self,
        request: FetchRequest,
        started: float,
        end: float,
        max_bytes: int | None = None,
        *,
        previous: KeptPage | None = None,
    ) -> tuple[_Landed, str]:
        """The capture for a call, and how its address came to be known."""
        notes: list[str] = []
        if request.cursor:
            try:
                return _Landed(await self._pages.read(request.cursor), end, is_new=False), ""
            except CursorError:
                if not request.url:
                    raise
                notes.append("The cursor had expired: the page was fetched again.")
        url = check_url(request.url, allow=self._allow)
        fragment = URL(request.url).raw_fragment
        self._domains.check(url)
        provenance = self._provenance.check(url, by_person=request.by_person)
        if provenance == "unknown" and is_suspicious(url):
            notes.append(_SMUGGLING)
        job = self._job(request, url.with_fragment(fragment or None), started, end, max_bytes)
        landed = await self._land(job, request, previous)
        if isinstance(landed.kept, FetchError):
            raise landed.kept
        notes.extend(landed.notes)
        notes.extend(_pointed_at(job.url, landed.kept.capture))
        return replace(landed, notes=tuple(notes)), provenance

    def _job(
        self, request: FetchRequest, url: URL, started: float, end: float, max_bytes: int | None
    ) -> Job:
        named = max_bytes or request.max_content_length
        part = captured_part(url)
        content = self._content.of_call(request.images)
        return Job(
            url=url,
            key=self._pages.key(
                str(url.with_fragment(part or None)),
                variant=f"{content.form} {request.user_agent or ''}",
            ),
            max_bytes=named or self._config.max_content_size,
            max_document_bytes=named or MAX_CONTENT_LENGTH,
            max_redirects=self._config.max_redirects,
            user_agent=request.user_agent or self._config.user_agent or self._user_agent,
            started=started,
            end=end,
            follow=request.follow_redirects,
            obey_robots=self._obey_robots and not request.ignore_robots,
            images=request.images,
        )

    async def _land(self, job: Job, request: FetchRequest, previous: KeptPage | None) -> _Landed:
        """The capture for a call: kept, shared with others who ask now, or new."""
        if not request.follow_redirects:
            return await self._captured(job)
        found = await self._pages.find(job.key)
        if found is not None and not _serves(found.capture, job):
            found = None
        if not request.force_refresh:
            if found is not None and self._pages.is_fresh(found):
                logger.debug("fetch.cache_hit age_s=%d kind=%s", self._pages.age(found), "fresh")
                return _Landed(found, job.end, is_new=False)
            # The later of the two: what was found unchanged for the caller is not renewed here.
            job.previous = max(filter(None, (found, previous)), key=_fetched_at, default=None)
        # Nobody else is given what this caller has.
        is_own = job.previous is not None and job.previous is not found
        flight = (job.key, job.max_bytes, job.obey_robots, request.force_refresh, is_own)
        while True:
            if self._ends.get(flight, job.end) - job.end > _MORE_TIME:
                # What has arrived by the end of this call is its page; that flight would wait on.
                landed = await self._captured(job)
                break
            landed = await self._flights.run(flight, lambda: self._fly(flight, job))
            # Somebody else's flight may have had less time than this call.
            if not landed.was_late or job.end - landed.end < _MORE_TIME:
                break
        if found is not None and isinstance(landed.kept, FetchError):
            return self._spare(found, landed.kept, job) or landed
        return landed

    async def _fly(self, flight: Hashable, job: Job) -> _Landed:
        self._ends[flight] = job.end
        try:
            return await self._captured(job)
        finally:
            if self._ends.get(flight) == job.end:
                del self._ends[flight]

    async def _captured(self, job: Job) -> _Landed:
        # A value and not a raise: others who share the flight may have more time than this call.
        try:
            async with asyncio.timeout_at(job.end):
                captured = await self._capturer.capture(job)
        except TimeoutError:
            error: FetchError = timed_out()
            error.url = job.current
            if job.trail is not None and job.trail.has_redirects:
                error.redirect_chain = tuple(job.trail.chain)
            return _Landed(error, job.end, was_late=True)
        except FetchError as exc:
            exc.url = exc.url or job.current
            if job.trail is not None and job.trail.has_redirects:
                exc.redirect_chain = tuple(job.trail.chain)
            return _Landed(exc, job.end, was_late=exc.code is ErrorCode.TIMEOUT)
        if isinstance(captured, Unchanged):
            if job.previous is None:
                raise RuntimeError("a site answered a question nobody asked")
            renewed = await self._pages.renew(
                job.key, job.previous, status=captured.status, headers=captured.headers
            )
            return _Landed(renewed, job.end, is_new=False)
        if not job.follow:
            passing = Capture(captured.page, str(job.url), self._pages.now(), 0.0, 0)
            return _Landed(KeptPage(passing, ""), job.end)
        kept = await self._pages.keep(
            job.key,
            captured.page,
            url=str(job.url),
            status=captured.status,
            headers=captured.headers,
            max_bytes=job.max_bytes,
            is_settled=captured.is_settled,
        )
        return _Landed(kept, job.end, was_late=captured.was_late)

    def _spare(self, found: KeptPage, error: FetchError, job: Job) -> _Landed | None:
        """Give what is kept in place of an error that says nothing about the page itself."""
        if not is_passing(error) or not self._pages.is_spare(found):
            return None
        age = self._pages.age(found)
        logger.debug("fetch.cache_hit age_s=%d kind=%s", age, "if_error")
        note = as_it_was(error, age)
        return _Landed(found, job.end, is_new=False, notes=(note,))

    async def _shown(
        self,
        landed: _Landed,
        request: FetchRequest,
        started: float,
        query: str,
        *,
        provenance: str = "",
    ) -> Page:
        kept = landed.kept
        if isinstance(kept, FetchError):
            raise kept
        context = CallContext(
            response_time_ms=round((now() - started) * 1_000),
            from_cache=not landed.is_new,
            now=self._pages.now(),
            provenance=provenance,
            notes=landed.notes,
        )

        def shown() -> tuple[Page, tuple[str, ...]]:
            page = build_page_view(
                kept,
                request,
                context,
                default_chars=self._config.default_max_chars,
                content=self._content,
                query=query,
            )
            text, base = page.markdown_content, page.final_url
            return page, addresses_in(text, base=base, is_markdown=True)

        page, addresses = await asyncio.to_thread(shown)
        self._provenance.remember([page.final_url, *addresses], "link")
        return page


def is_passing(error: SearxMcpError) -> bool:
    """Tell whether an error says nothing about the page itself: what is kept of it may serve."""
    return isinstance(error, TransportError) or (
        isinstance(error, SiteError)
        and error.code in {ErrorCode.HTTP_ERROR, ErrorCode.RATE_LIMITED}
    )


def as_it_was(error: SearxMcpError, age: float) -> str:
    """Say that a page is as it was some seconds ago, since its site fails."""
    return (
        f"The site failed just now ({error.code}); this is the page as it was {in_words(age)} ago."
    )


def _fetched_at(kept: KeptPage) -> float:
    return kept.capture.fetched_at


def _serves(capture: Capture, job: Job) -> bool:
    """Tell whether a capture has all that a call may read, and no more."""
    if capture.page.document.truncated:
        return capture.max_bytes == job.max_bytes
    return capture.page.content_length <= max(job.max_bytes, job.max_document_bytes)


def _pointed_at(url: URL, capture: Capture) -> list[str]:
    if not url.fragment or captured_part(url):
        return []
    outline = capture.page.document.outline
    index = find(outline, f"#{url.fragment}")
    if not index:  # not found, or the first: that is where reading begins anyway
        return []
    return [f'The address points into the page: its section is "#{url.fragment}".']


def _complete(error: FetchError, request: FetchRequest, started: float, end: float) -> FetchError:
    """Write on an error what only the call knows."""
    if error.code is ErrorCode.TIMEOUT:
        error.ran_out(end - started, now() - started)
    error.url = clean_line(error.url or request.url, MAX_URL_LENGTH)
    error.response_time_ms = round((now() - started) * 1_000)
    return error


def _fault() -> FetchError:
    return FetchError(
        "The page could not be read because of a fault in this program.",
        code=ErrorCode.INTERNAL,
        advice="Use another result.",
    )

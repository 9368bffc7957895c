"""One page captured whole: from better sources, from the site itself, or from a browser."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    SettingsError,
    SkeletonError,
    TransportError,
)
from searx_mcp.fetch.browser.interface import PageRenderer, Rendered
from searx_mcp.fetch.conversion import MAX_NOTE, Conversion, Readable, of_composed
from searx_mcp.fetch.hops.answers import Answer, NotModified, Redirect, judge
from searx_mcp.fetch.hops.media import MediaType, parse_content_type
from searx_mcp.fetch.hops.redirects import HopRequest, HopResult, RedirectFollower, Trail, join
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.fetch.job import Job, now
from searx_mcp.fetch.site_adapters.adapter import AsPage, Material, Plan, Source
from searx_mcp.fetch.site_adapters.sites import SiteSources
from searx_mcp.http.http import NOTE_BROKEN, NOTE_DEADLINE
from searx_mcp.models.document import Document
from searx_mcp.tasks import Place

BROWSER: Final = "browser"

_SHOWN_HEADERS: Final = ("server", "content-encoding", "content-language", "last-modified")
_MAX_HEADER: Final = 200
_OTHER_VERSION: Final = "Look for another version of it, or use another result."
_NO_SCRIPTS: Final = (
    "Use another result. An operator can let a browser read such pages: fetch.browser."
)
_BODIES: Final = 32
"""Captures whose bodies are read or converted at once; more would only wait for a processor, each with up to
10 MiB in hand."""
_NOT_FOLLOWED: Final = "A redirect was not followed: redirect_target is where it leads."
_NO_ADDRESS: Final = (
    "A redirect was not followed: it leads to something that is not a valid address."
)
_ADAPTER_SHARE: Final = 0.6
"""Of the time that is left, what an adapter may take, so that the page itself can be read after it."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What a capture brought.

    Attributes:
        document: the page.
        status: of the answer.
        headers: of the answer, by name in any case; they tell how long the page may be kept.
        was_late: whether the deadline cut it: more time would bring more.
        is_settled: whether asking again would bring the same.
    """

    document: Document
    status: int
    headers: Mapping[str, str]
    was_late: bool = False
    is_settled: bool = True


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The site says that the last capture still is the page; attributes as in `Captured`."""

    status: int
    headers: Mapping[str, str]


class Capturer:
    """Captures pages, many at a time, each by its own deadline.

    A site adapter is tried first; one that fails costs a note, and the page itself is read. A browser comes
    last, for a page that is empty without its scripts.
    """

    def __init__(
        self,
        follower: RedirectFollower,
        *,
        robots: RobotsGate,
        sites: SiteSources,
        conversion: Conversion,
        renderer: PageRenderer | None,
    ) -> None:
        """Take the parts; nothing is opened.

        Args:
            follower: goes from hop to hop.
            robots: asked before each hop.
            sites: plan and fetch what reads better than a page.
            conversion: makes text of what was fetched.
            renderer: runs the scripts of a page; `None` if that is not allowed.
        """
        self._follower = follower
        self._robots = robots
        self._sites = sites
        self._conversion = conversion
        self._renderer = renderer
        self._bodies = asyncio.Semaphore(_BODIES)

    def warm(self) -> None:
        """Get ready for pages that are about to be captured; returns at once and never raises."""
        self._conversion.warm()

    async def capture(self, job: Job) -> Captured | Unchanged:
        """Capture a page.

        Raises:
            FetchError: any of its kinds.
        """
        if job.previous is None:
            # Not where the page may have stayed as it was.
            self.warm()
        async with Place(self._bodies) as place:
            plan = self._sites.plan(job.url) if job.follow else None
            if plan is not None:
                try:
                    return await self._from_sources(job, plan, place)
                except (FetchError, ValueError) as error:
                    job.notes.append(_passed_over(plan, error))
            return await self._from_site(job, place, is_conditional=plan is None)

    async def _from_site(
        self, job: Job, place: Place, *, is_conditional: bool
    ) -> Captured | Unchanged:
        trail = job.set_out()
        request = job.request(place, is_conditional=is_conditional)
        result = await self._follower.follow(request, trail, self._robots)
        match result.answer:
            case NotModified(status=status, headers=headers):
                return Unchanged(status, headers)
            case Redirect() as redirect:
                return _not_followed(job, trail, redirect, result)
            case Answer() as answer:
                return await self._page(job, trail, answer, result.robots)

    async def _from_sources(self, job: Job, plan: Plan, place: Place) -> Captured:
        deadline = now() + (job.read_until - now()) * _ADAPTER_SHARE

        def request(source: Source) -> HopRequest:
            return job.request(
                place, accept=source.accept, headers=source.headers, deadline=deadline
            )

        gathered = await self._sites.gather(plan, request)
        page = await asyncio.to_thread(plan.compose, gathered.materials)
        first = gathered.first
        if isinstance(page, AsPage):
            readable = await self._read(job, page.material)
            content_type = page.material.media.name
            is_cut = page.material.is_truncated
        else:
            readable = await asyncio.to_thread(of_composed, page)
            content_type, is_cut = page.content_type, False
        arrived = [material for material in gathered.materials if material is not None]
        document = _document(
            readable,
            final_url=str(job.url),
            content_type=content_type,
            content_length=sum(len(material.data) for material in arrived),
            status_code=first.status,
            headers=_shown(first.headers),
            redirect_chain=tuple(f"{material.url} -> {material.status}" for material in arrived),
            truncated=is_cut or readable.is_truncated,
            tier=plan.tier,
            robots=gathered.robots,
            notes=(*job.notes, *readable.notes),
        )
        return Captured(
            document, first.status, first.headers, gathered.was_late, gathered.is_settled
        )

    async def _page(self, job: Job, trail: Trail, answer: Answer, robots: str) -> Captured:
        body = answer.body
        was_late = NOTE_DEADLINE in body.notes
        material = Material(
            url=str(trail.current),
            status=answer.status,
            media=answer.media,
            data=body.data,
            is_truncated=body.truncated,
            headers=answer.headers,
            was_late=was_late,
        )
        readable, rendered = await self._with_scripts(job, trail, material)
        document = _document(
            readable,
            final_url=rendered.final_url if rendered else material.url,
            content_type=answer.media.name,
            content_length=len(body.data),
            status_code=(rendered.status if rendered else 0) or answer.status,
            headers=_shown(answer.headers),
            redirect_count=trail.redirects,
            redirect_chain=tuple(trail.chain),
            truncated=readable.is_truncated
            or (rendered.is_truncated if rendered else body.truncated),
            tier=BROWSER if rendered else "native",
            robots=robots,
            notes=(*job.notes, *trail.notes, *_missing(answer), *readable.notes),
        )
        is_settled = not was_late and NOTE_BROKEN not in body.notes
        return Captured(document, answer.status, answer.headers, was_late, is_settled)

    async def _with_scripts(
        self, job: Job, trail: Trail, material: Material
    ) -> tuple[Readable, Rendered | None]:
        """Read a page; one that is empty without its scripts, from a browser if that is allowed."""
        readable: Readable | None = None
        try:
            readable = await self._read(job, material)
            if self._renderer is None or not readable.is_skeleton:
                return readable, None
        except SkeletonError as error:
            if self._renderer is None:
                error.advice = _NO_SCRIPTS
                raise
        try:
            rendered = await self._renderer.render(
                trail.current,
                user_agent=job.user_agent,
                deadline=job.read_until,
                max_bytes=job.max_bytes,
            )
            data = rendered.html.encode("utf-8", "replace")
            # What scripts made may be a challenge, or the error page they went on to.
            status = rendered.status or material.status
            if refusal := judge(status, {}, data, url=rendered.final_url):
                raise refusal
            page = Material(
                url=rendered.final_url,
                status=status,
                media=MediaType("text/html", "utf-8"),
                data=data,
                is_truncated=rendered.is_truncated,
                headers=material.headers,
            )
            read = await self._read(job, page)
        except (FetchError, SettingsError) as error:
            if readable is not None:
                job.notes.append(f"Its scripts were not run: {clean_line(error.message, MAX_NOTE)}")
                return readable, None
            if isinstance(error, SettingsError):
                raise ContentError(
                    f"The page has no text before its scripts run, and they cannot: {error.message}",
                    code=ErrorCode.EXTRACTION_FAILED,
                    url=material.url,
                    status_code=material.status,
                    advice=error.advice,
                ) from error
            raise
        job.notes.extend(rendered.notes)
        return read, rendered

    async def _read(self, job: Job, material: Material) -> Readable:
        try:
            readable = await self._conversion.read(
                material, fragment=job.url.fragment, deadline=job.end, images=job.images
            )
        except ContentError as exc:
            if material.was_late:
                raise timed_out() from exc
            exc.status_code = material.status
            exc.url = exc.url or material.url
            exc.advice = exc.advice or _OTHER_VERSION
            raise
        if material.was_late and not readable.markdown.strip():
            raise timed_out()
        return readable


def timed_out() -> TransportError:
    """Make the error for a page that did not come in time."""
    return TransportError("The page was not there.", code=ErrorCode.TIMEOUT)


def _document(readable: Readable, **known: object) -> Document:
    return Document.model_validate(
        {
            "markdown": readable.markdown,
            "word_count": readable.word_count,
            "title": readable.title,
            "description": readable.description,
            "author": readable.author,
            "published": readable.published,
            "modified": readable.modified,
            "language": readable.language,
            "site": readable.site,
            "canonical_url": readable.canonical_url,
            "kind": readable.kind,
            "is_protected": readable.is_protected,
            "sources": readable.sources,
            "outline": readable.outline,
            "images": readable.images,
            "links": readable.links,
            "code_blocks": readable.code_blocks,
            "hidden_chars_removed": readable.hidden_chars_removed,
            **known,
        }
    )


def _not_followed(job: Job, trail: Trail, redirect: Redirect, result: HopResult) -> Captured:
    try:
        target = str(join(trail.current, redirect.location))
    except ValueError:
        target = ""
    document = Document(
        final_url=str(trail.current),
        content_type=parse_content_type(redirect.headers.get("Content-Type", "")).name,
        content_length=0,
        status_code=redirect.status,
        headers=_shown(redirect.headers),
        redirect_chain=(*trail.chain, *([f"{target} -> not followed"] if target else [])),
        redirect_target=target,
        markdown="",
        word_count=0,
        robots=result.robots,
        notes=(*job.notes, _NOT_FOLLOWED if target else _NO_ADDRESS),
    )
    return Captured(document, redirect.status, redirect.headers)


def _passed_over(plan: Plan, error: Exception) -> str:
    if isinstance(error, FetchError):
        reason = error.message
    else:  # the libraries' errors may repeat what they were given
        reason = str(error) if type(error) is ValueError else "the answer cannot be read"
    return f"Read as a page, because {plan.tier} could not be: {clean_line(reason, MAX_NOTE)}"


def _missing(answer: Answer) -> list[str]:
    if not answer.body.wire_bytes:
        return ["The site sent an empty page."]
    return [f"The page is incomplete: {note}." for note in answer.body.notes]


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: clean_line(headers[name], _MAX_HEADER) for name in _SHOWN_HEADERS if name in headers
    }

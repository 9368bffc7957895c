"""Combines providers: instances, then keyed providers; open sources in addition or as a replacement.

If none of them can serve a search of one site, the index that the site publishes answers it.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from searx_mcp.errors import (
    DeadlineError,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    UnavailableReason,
)
from searx_mcp.fetch.site_index import Listed, SiteIndexes
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.request import Category, Source, TimeRange
from searx_mcp.models.response import Coverage
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.context import (
    NO_KEY,
    OPEN_SOURCES,
    Found,
    Provider,
    SearchContext,
)
from searx_mcp.search.providers.unavailable import SEEMS_OFFLINE
from searx_mcp.sources.open.config import OpenSourcesMode
from searx_mcp.storage.pages import WholePage

if TYPE_CHECKING:
    from searx_mcp.search.providers.keyed import KeyedSearch
    from searx_mcp.search.providers.open_sources import Collected, OpenSources

T = TypeVar("T")

_BLENDED: Final = frozenset({Category.IT, Category.SCIENCE})
"""Categories for which collections are often better than the web."""


class FallbackSearch:
    """Asks instances, keyed providers and open sources, as the settings and the call say.

    Args:
        instances: the pool.
        open_sources: returns the collections, once they may be asked; `None` if they are switched off.
        mode: when to ask them, unless the call says so.
        has_own: whether the pool has an own instance.
        phase: maximum seconds of a search.
        keyed: the keyed providers; `None` if none has a key.
        instead: whether they replace the instances.
        sites: answers a search of one site if all others fail; `None` if pages are not read.
    """

    def __init__(
        self,
        instances: Provider,
        open_sources: "Callable[[], OpenSources] | None",
        *,
        mode: OpenSourcesMode,
        has_own: Callable[[], bool],
        phase: float,
        keyed: "KeyedSearch | None" = None,
        instead: bool = False,
        sites: "SiteIndexSearch | None" = None,
    ) -> None:
        self._keyed = keyed
        self._instead = instead
        self._sites = sites
        self._instances = instances
        self._open_sources = open_sources
        self._mode = mode
        self._has_own = has_own
        self._phase = phase

    async def run(self, context: SearchContext) -> Found:
        """Answer a search; see `Provider`."""
        source, collections = context.source, self._open_sources
        if source is Source.OPEN:
            if collections is None:
                raise InvalidArgumentError(
                    "source",
                    "open sources are switched off",
                    advice="Set open_sources.mode to auto, fallback or blend.",
                )
            return await collections().run(context)
        if source is Source.KEYED:
            if self._keyed is None:
                raise InvalidArgumentError("source", "no keyed provider has a key", advice=NO_KEY)
            return await self._keyed.run(context)
        if source is Source.INSTANCES:
            return await self._instances.run(context)
        is_wanted = self._mode is not OpenSourcesMode.AUTO or not self._has_own()
        open_sources = collections() if collections and is_wanted else None
        if open_sources is None or not open_sources.fits(context.query):
            return await self._web(context)
        if self._mode is OpenSourcesMode.BLEND and context.query.category in _BLENDED:
            return await self._blend(open_sources, context)
        return await self._in_turn(self._web, open_sources, context)

    async def _web(self, context: SearchContext) -> Found:
        """Ask the sources that cover the web; if none can serve, ask the site itself."""
        sites = self._sites
        if sites is None or not sites.fits(context.query):
            return await self._asked(context)
        context = context.within(self._phase)
        try:
            return await self._asked(context.before_open_sources())
        except (NoInstancesError, DeadlineError) as exc:
            refusal = exc
        try:
            found = await sites.run(context)
        except NoInstancesError:
            raise refusal from None
        return replace(found, attempts=refusal.attempts)

    async def _asked(self, context: SearchContext) -> Found:
        """Ask instances, then keyed providers if none could serve; or keyed providers only."""
        keyed = self._keyed
        if keyed is None or not keyed.fits(context.query):
            return await self._instances.run(context)
        if self._instead:
            return await keyed.run(context)
        return await self._in_turn(self._instances.run, keyed, context)

    async def _in_turn(
        self,
        first: Callable[[SearchContext], Awaitable[Found]],
        others: "KeyedSearch | OpenSources",
        context: SearchContext,
    ) -> Found:
        """Ask the first sources, then the others if none could serve.

        The first leave time to the others if these can answer. Without any hits, open sources count as unable
        to serve; a keyed provider does not.
        """
        context = context.within(self._phase)
        can_follow = others.can_answer(context.query)
        try:
            return await first(context.before_open_sources() if can_follow else context)
        except (NoInstancesError, DeadlineError) as exc:
            refusal = exc
        try:
            found = await others.run(context)
        except NoInstancesError as exc:
            raise _both_failed(refusal, exc) from exc
        if found.instance == OPEN_SOURCES and not any(page.hits for page in found.pages):
            raise _both_failed(refusal, _nothing_relevant(found))
        return replace(found, attempts=(*refusal.attempts, *found.attempts))

    async def _blend(self, open_sources: "OpenSources", context: SearchContext) -> Found:
        async with asyncio.TaskGroup() as group:
            instances = group.create_task(_caught(self._web(context)))
            collections = group.create_task(_caught(open_sources.collect(context)))
        web, collected = instances.result(), collections.result()
        if isinstance(web, Found):
            return web if isinstance(collected, Exception) else _mixed(web, collected)
        if isinstance(collected, Exception):
            raise _both_failed(web, collected)
        found = collected.found
        if not any(page.hits for page in found.pages):
            raise _both_failed(web, _nothing_relevant(found))
        return replace(found, attempts=(*web.attempts, *found.attempts))


def _mixed(web: Found, collected: "Collected") -> Found:
    """Fuse the results of an instance and the collections."""
    from searx_mcp.search.providers.open_sources import (  # noqa: PLC0415 - loads every engine
        RankedList,
        fuse,
    )

    collections = collected.found
    attempts = (*web.attempts, *collections.attempts)
    if not any(ranked.hits for ranked in collected.lists):
        return replace(web, attempts=attempts, remarks=(*web.remarks, *collections.remarks))
    hits = fuse([RankedList([hit for page in web.pages for hit in page.hits]), *collected.lists])
    first, missing = web.pages[0], collections.pages[0].unresponsive_engines
    page = replace(first, hits=hits, unresponsive_engines=(*first.unresponsive_engines, *missing))
    return replace(
        web,
        pages=(page,),
        attempts=attempts,
        coverage=web.coverage if collections.coverage is web.coverage else Coverage.MIXED,
        attribution=collections.attribution,
        remarks=(*web.remarks, *collections.remarks),
    )


def _nothing_relevant(found: Found) -> NoInstancesError:
    return NoInstancesError(
        "Open sources have nothing relevant",
        reason=UnavailableReason.EXHAUSTED,
        attempts=found.attempts,
    )


def _both_failed(
    refusal: NoInstancesError | DeadlineError, failure: NoInstancesError | DeadlineError
) -> NoInstancesError | DeadlineError:
    """Return the error if both failed: that of the first, with the attempts of the others.

    The earliest `retry_after` counts, as a later search may use either.
    """
    if isinstance(refusal, DeadlineError):
        return refusal
    attempts = (*refusal.attempts, *failure.attempts)
    waits = [error.retry_after for error in (refusal, failure) if error.retry_after is not None]
    reason = refusal.reason
    was_reached = any(attempt.status_code is not None for attempt in failure.attempts)
    if was_reached and reason in _DISPROVED:
        reason = UnavailableReason.EXHAUSTED
    message, tail = refusal.message, failure.message[:1].lower() + failure.message[1:]
    # This machine is not offline, or the second half says that it is.
    if was_reached or tail.endswith(SEEMS_OFFLINE):
        message = message.removesuffix(SEEMS_OFFLINE)
    return NoInstancesError(
        f"{message}; {tail}",
        reason=reason,
        attempts=attempts,
        advice=refusal.advice,
        retry_after=min(waits, default=None),
    )


_DISPROVED: Final = frozenset({UnavailableReason.OFFLINE, UnavailableReason.NOTHING_CONFIGURED})
"""Cannot be the reason once an open source or keyed provider was reached."""


async def _caught(work: Awaitable[T]) -> "T | NoInstancesError | DeadlineError":
    """Return the result of some work, with expected failures as values."""
    try:
        return await work
    except (NoInstancesError, DeadlineError) as exc:
        return exc


_SITE = re.compile(r"(?:^|\s)site:(\S{1,255})", re.IGNORECASE)
_TEXTS: Final = frozenset({Category.GENERAL, Category.IT, Category.SCIENCE})


class PageSource(Protocol):
    """Returns whole pages; implemented by `fetch.fetcher.Fetcher`."""

    async def read(self, request: FetchRequest, *, deadline: float | None = None) -> WholePage:
        """Read one page; raises `SearxMcpError` only."""
        ...


class SiteIndexSearch:
    """Answers searches of one single site, whose home page links its index.

    Args:
        pages: reads the home page.
        indexes: queries the index.
    """

    def __init__(self, pages: PageSource, indexes: SiteIndexes) -> None:
        self._pages = pages
        self._indexes = indexes

    @staticmethod
    def fits(query: InstanceQuery) -> bool:
        """Return whether a query is for texts of one site, of any age."""
        return (
            len(_SITE.findall(query.text)) == 1
            and query.category in _TEXTS
            and query.page == 1
            and not query.engines
            and query.time_range is TimeRange.ANY
        )

    async def run(self, context: SearchContext) -> Found:
        """Answer a query that fits.

        Raises:
            NoInstancesError: the site cannot be read, has no index, or its index has nothing relevant.
        """
        (domain,) = _SITE.findall(context.query.text)
        words = _SITE.sub(" ", context.query.text).strip()
        try:
            async with asyncio.timeout_at(context.deadline):
                listed = await self._listed(f"https://{domain}/", words, context.deadline)
        except (SearxMcpError, TimeoutError) as exc:
            raise _no_index() from exc
        if listed is None or not listed.pages:
            raise _no_index()
        hits = tuple(
            Hit(page.url, page.title or page.url, place, description=page.snippet)
            for place, page in enumerate(listed.pages, start=1)
        )
        return Found(
            pages=(ResultPage(hits=hits, rows_seen=len(hits), has_next=False),),
            instance=listed.url,
            attempts=(),
            complete=True,
            coverage=Coverage.SITE,
        )

    async def _listed(self, url: str, words: str, deadline: float) -> Listed | None:
        reading = await self._pages.read(FetchRequest(url=url), deadline=deadline)
        page = reading.kept.capture.page
        return await self._indexes.ask(
            page.final_url, page.document.indexes, (words,), deadline=deadline
        )


def _no_index() -> NoInstancesError:
    return NoInstancesError(
        "The site has no index of its own with anything relevant",
        reason=UnavailableReason.EXHAUSTED,
    )

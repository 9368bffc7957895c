"""A whole search: cache, instances, merging, filters, pages."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

from searx_mcp.errors import DeadlineError, InvalidArgumentError
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.models.service import Progress
from searx_mcp.search.answers.serving import ANSWERING_TIME, Served, Serving
from searx_mcp.search.answers.shared import SharedAnswers
from searx_mcp.search.background.remembering import Remembering
from searx_mcp.search.config import SearchConfig, WebSearchConfig
from searx_mcp.search.merge import keep_domains, merge
from searx_mcp.search.notes import notes
from searx_mcp.search.providers.interface import Found, Sourced
from searx_mcp.search.reading import ResultReader
from searx_mcp.searxng.request import InstanceQuery, neutralise
from searx_mcp.tasks.flight import SingleFlight
from searx_mcp.tasks.group import Spawn

_SITE = re.compile(r"(^|\s)site:", re.IGNORECASE)
_ROWS = 10
"""Results of a page of which nothing is known: what engines give, as a rule."""
_READING_SHARE = 0.6
"""The share of a call's time left to the pages when the search phase takes as long as it may."""


class Searcher:
    """Turns a request into a response.

    The whole call ends by its timeout. The search phase may take no more than its share of it, so
    that the reading of the pages has time left. Equal searches at the same time are one search.
    """

    def __init__(
        self,
        *,
        provider: Sourced,
        reader: ResultReader,
        flights: SingleFlight[Found],
        web_search: WebSearchConfig,
        search: SearchConfig,
        clock: Callable[[], float],
        remembering: Remembering,
        spawn: Spawn,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._reader = reader
        self._config = web_search
        self._serving = Serving(
            provider=provider,
            flights=flights,
            config=search,
            clock=clock,
            remembering=remembering,
            spawn=spawn,
            shared=shared,
        )

    async def search(
        self, request: SearchRequest, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search, and read the pages if the request asks for it.

        Raises:
            NoInstancesError: nobody could serve, and no older answer is kept.
            DeadlineError: there was no time for a single attempt, and no older answer is kept.
        """
        loop = asyncio.get_running_loop()
        timeout = request.timeout or self._config.default_timeout
        started = loop.time()
        deadline = started + timeout - ANSWERING_TIME
        search_deadline = deadline
        if request.fetch_content:
            search_deadline = started + (deadline - started) * _READING_SHARE
            self._reader.warm()
        query, skipped = self._beginning(request)
        try:
            served = await self._serving.serve(
                query,
                wanted=request.results_count + skipped,
                deadline=search_deadline,
                source=request.source,
                progress=progress,
            )
        except DeadlineError as error:
            error.ran_out(search_deadline - started, loop.time() - started)
            raise
        search_time = loop.time() - started
        found = merge(served.found.pages)
        merged = _kept(found, request)
        results = merged[skipped : skipped + request.results_count]
        stats = None
        if request.fetch_content and results:
            if progress is not None:
                progress(f"reading {len(results)} pages")
            results, stats = await self._reader.read(
                results, deadline=deadline, query=_about(request), progress=progress
            )
        response = _response(request, served, results)
        return response.model_copy(
            update={
                "total_results": len(merged),
                "search_time_ms": round(search_time * 1_000),
                "content_fetch_stats": stats,
                "page": query.page if query.page > 1 else None,
                "notes": notes(
                    request, served, found=found, kept=merged, page=query.page, skipped=skipped
                ),
            }
        )

    def _beginning(self, request: SearchRequest) -> tuple[InstanceQuery, int]:
        """What to ask first, and how many results of it the caller has seen.

        A page has as many results as the first one had that is kept, so that what was found beyond the
        number asked for is not lost to a caller who goes on behind it.
        """
        query = instance_query(request)
        if not request.offset:
            return query, 0
        first = self._serving.first_page(query, request.source)
        size = len(_kept(merge([first]), request)) if first else 0
        pages, skipped = divmod(request.offset, size or _ROWS)
        return replace(query, page=1 + pages), skipped


def instance_query(request: SearchRequest) -> InstanceQuery:
    """What leaves the machine for a request: its neutralised text, never its `search_prompt`.

    One allowed domain becomes a `site:` word, which engines understand; several are filtered after
    merging.

    Raises:
        InvalidArgumentError: nothing of the query can be seen.
    """
    text = neutralise(request.query)
    if not text:
        # An instance answers a search without words with its home page, as it answers bots.
        raise InvalidArgumentError("query", "is empty")
    if len(request.allowed_domains) == 1 and not _SITE.search(text):
        text = f"{text} site:{request.allowed_domains[0]}"
    return InstanceQuery(
        text=text,
        category=request.category,
        language=request.language,
        safe_search=int(request.safe_search),
        time_range=request.time_range,
        engines=request.engines,
        page=request.page,
    )


def _kept(results: tuple[SearchResult, ...], request: SearchRequest) -> tuple[SearchResult, ...]:
    return keep_domains(results, allowed=request.allowed_domains, blocked=request.blocked_domains)


def _about(request: SearchRequest) -> str:
    return f"{request.query} {request.search_prompt}".strip()


def _response(
    request: SearchRequest, served: Served, results: tuple[SearchResult, ...]
) -> SearchResponse:
    found, is_cached = served.found, served.age is not None
    first = found.pages[0]
    engines = dict.fromkeys(engine for result in results for engine in result.engines)
    return SearchResponse(
        query=request.query,
        category=request.category,
        language=request.language,
        safe_search=request.safe_search,
        time_range=request.time_range,
        fetch_content=request.fetch_content,
        results_count=len(results),
        search_time_ms=0,
        instance_used=found.instance,
        results=results,
        total_results=len(results),
        engines_used=tuple(engines),
        answers=first.answers,
        infoboxes=first.infoboxes,
        suggestions=first.suggestions,
        corrections=first.corrections,
        unresponsive_engines=first.unresponsive_engines,
        attempts=() if is_cached else found.attempts,
        cached=is_cached,
        stale=served.is_stale,
        age_seconds=int(served.age or 0),
        coverage=found.coverage,
        attribution=found.attribution if results else (),
    )

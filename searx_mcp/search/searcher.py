"""A whole search: cache, instances, merging, filters, pages."""

import asyncio
import re
from collections.abc import Callable

from searx_mcp.errors import DeadlineError, InvalidArgumentError
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.models.service import Progress
from searx_mcp.search.cache import CacheKey, ResponseCache
from searx_mcp.search.config import SearchConfig, WebSearchConfig
from searx_mcp.search.executor import Executor, Found
from searx_mcp.search.flight import SingleFlight, Spawn
from searx_mcp.search.merge import keep_domains, merge
from searx_mcp.search.reading import ResultReader
from searx_mcp.search.remembering import Remembering
from searx_mcp.searxng.request import InstanceQuery, neutralise

_SITE = re.compile(r"(^|\s)site:", re.IGNORECASE)
_LANGUAGES = {
    "all": "Language all: results of any language.",
    "auto": "Language auto: the instance chose it, as a rule English, which our headers ask for.",
}
_ANSWERING_TIME = 0.25
"""Seconds kept back from a call's time to put the answer together."""
_REASONS = {
    True: "your instance has no more",
    False: "public instances are asked for one page only, of about ten",
}
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
        executor: Executor,
        reader: ResultReader,
        flights: SingleFlight[Found],
        web_search: WebSearchConfig,
        search: SearchConfig,
        clock: Callable[[], float],
        remembering: Remembering,
        spawn: Spawn,
    ) -> None:
        self._executor = executor
        self._reader = reader
        self._flights = flights
        self._config = web_search
        self._remembering = remembering
        self._spawn = spawn
        self._cache = ResponseCache(ttl=search.cache_ttl, size=search.cache_size, clock=clock)

    async def search(
        self, request: SearchRequest, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search, and read the pages if the request asks for it.

        Raises:
            NoInstancesError: nobody could serve.
            DeadlineError: there was no time for a single attempt.
        """
        loop = asyncio.get_running_loop()
        timeout = request.timeout or self._config.default_timeout
        started = loop.time()
        deadline = started + max(timeout - _ANSWERING_TIME, timeout / 2)
        search_deadline = deadline
        if request.fetch_content:
            search_deadline = started + (deadline - started) * _READING_SHARE
        found, cached = await self._find(request, search_deadline, progress)
        search_time = loop.time() - started
        merged = keep_domains(
            merge(found.pages), allowed=request.allowed_domains, blocked=request.blocked_domains
        )
        results = merged[: request.results_count]
        stats = None
        if request.fetch_content and results:
            if progress is not None:
                progress(f"reading {len(results)} pages")
            results, stats = await self._reader.read(
                results, deadline=deadline, query=_about(request), progress=progress
            )
        response = _response(request, found, results, cached=cached)
        return response.model_copy(
            update={
                "total_results": len(merged),
                "search_time_ms": round(search_time * 1_000),
                "content_fetch_stats": stats,
                "notes": _notes(request, found, len(merged)),
            }
        )

    async def _find(
        self, request: SearchRequest, deadline: float, progress: Progress | None
    ) -> tuple[Found, bool]:
        query = instance_query(request)
        key = CacheKey(
            text=query.text,
            category=query.category,
            language=query.language,
            safe_search=query.safe_search,
            time_range=query.time_range,
            engines=frozenset(query.engines),
        )
        wanted = request.results_count
        cached = self._cache.get(key, wanted=wanted)
        if cached is not None:
            return cached, True

        async def ask() -> Found:
            await self._remembering.recall()
            try:
                found = await self._executor.run(
                    query, wanted=wanted, deadline=deadline, progress=progress
                )
            finally:
                _ = self._spawn(self._remembering.keep())  # behind the answer
            self._cache.put(key, found)
            return found

        try:
            # Whoever joins a search of somebody else's keeps the own deadline.
            async with asyncio.timeout_at(deadline + _ANSWERING_TIME / 2):
                return await self._flights.run((key, wanted), ask), False
        except TimeoutError as exc:
            raise DeadlineError(
                "The call's time was over before an instance answered",
                advice="Call again with a longer timeout.",
            ) from exc


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
    )


def _about(request: SearchRequest) -> str:
    return f"{request.query} {request.search_prompt}".strip()


def _response(
    request: SearchRequest, found: Found, results: tuple[SearchResult, ...], *, cached: bool
) -> SearchResponse:
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
        attempts=() if cached else found.attempts,
        cached=cached,
    )


def _notes(request: SearchRequest, found: Found, total: int) -> tuple[str, ...]:
    notes = [_LANGUAGES[request.language]] if request.language in _LANGUAGES else []
    if 0 < total < request.results_count:
        notes.append(
            f"{total} of {request.results_count} results asked for: {_REASONS[found.own]}."
        )
    hits = sum(len(page.hits) for page in found.pages)
    if hits and not total:
        notes.append(f"All {hits} results were outside the domains asked for.")
    return tuple(notes)

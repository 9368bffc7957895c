"""A whole search: cache, instances, merging, filters, pages, and notes for the caller; and several in one call."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from searx_mcp.errors import DeadlineError, InvalidArgumentError, NoInstancesError, SearxMcpError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import MAX_SKIPPED, SearchRequest
from searx_mcp.models.response import (
    BatchedSearch,
    Coverage,
    FetchStats,
    RawAnswer,
    RawBatch,
    RepeatedHit,
    SearchBatch,
    SearchFailure,
    SearchResponse,
    SearchResult,
)
from searx_mcp.models.spelling import did_you_mean, in_words, shown
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.render.errors import search_error_data
from searx_mcp.search.cache import CachedResult, CachedSearch
from searx_mcp.search.config import WebSearchConfig
from searx_mcp.search.merge import keep_domains, merge, row_key
from searx_mcp.search.providers.context import (
    COVERAGE,
    NO_KEY,
    Found,
    SearchContext,
    deadlines,
)
from searx_mcp.search.reading import ResultReader
from searx_mcp.sources.searxng.request import neutralise
from searx_mcp.workers.jobs import Workers

T = TypeVar("T")

_LANGUAGES = {
    "all": "Language all: results in any language.",
    "auto": "Language auto: the instance chose it, usually English, which our headers request.",
}
_REFUSALS_OF_JSON = {
    Verdict.JSON_OFF: ("off", "add json to search.formats"),
    Verdict.RATE_LIMITED: ("limited", "set server.limiter to false"),
}


def notes(
    request: SearchRequest,
    served: CachedResult,
    *,
    found: Sequence[SearchResult],
    kept: Sequence[SearchResult],
    page: int = 1,
    skipped: int = 0,
) -> tuple[str, ...]:
    """Return the notes on an answer, its staleness first.

    Args:
        request: the request.
        served: the answer.
        found: its merged results.
        kept: those within the requested domains.
        page: the 1-based page that they start from.
        skipped: number of results the caller skips.
    """
    answer, total = served.found, max(0, len(kept) - skipped)
    said = [_staleness(served.age or 0.0, served.error)] if served.is_stale else []
    if answer.coverage in COVERAGE:
        said.append(COVERAGE[answer.coverage])
    said += answer.remarks
    if request.language in _LANGUAGES and answer.coverage not in {
        Coverage.COLLECTIONS,
        Coverage.SITE,
    }:
        said.append(_LANGUAGES[request.language])
    filters = _filters(request, found) if len(kept) < len(found) else ""
    if 0 < total < request.results_count:
        reason = "the older answer has no more" if served.is_stale else _reason(answer, page)
        if filters:
            reason = f"{len(found) - len(kept)} left out by {filters}"
        said.append(f"Fewer results than asked for ({total} of {request.results_count}): {reason}.")
    elif found and not kept:
        said.append(f"All {len(found)} results were left out by {filters}.")
    elif not total and (page > 1 or skipped):
        where = f"offset {request.offset}" if request.offset else f"page {page}"
        said.append(f"The list ends before {where}: nothing more was found.")
    if served.age is None and answer.own:
        said += _without_json(answer)
    return tuple(said)


def _filters(request: SearchRequest, found: Sequence[SearchResult]) -> str:
    """Describe which arguments have excluded results."""
    at_home = keep_domains(found, allowed=request.allowed_domains, blocked=())
    reasons = []
    if len(at_home) < len(found):
        reasons.append("allowed_domains")
    if len(keep_domains(at_home, allowed=(), blocked=request.blocked_domains)) < len(at_home):
        reasons.append("blocked_domains")
    return " and ".join(reasons)


def _reason(found: Found, page: int) -> str:
    if found.coverage is Coverage.COLLECTIONS:
        return "the collections have no more within the three pages that are read"
    if found.coverage is Coverage.SITE:
        return "the index of the site has no more that fit"
    if found.keyed:
        return f"{found.keyed} has no more"
    if found.own:
        return "your instance has no more"
    return f"public instances give one page per call; page {page + 1} may have more"


def _without_json(found: Found) -> list[str]:
    """Explain how to get JSON from an own instance that refused it.

    JSON is requested again after a week if it is off, after an hour if it is limited. Only for an answer of an
    own instance: attempts do not say which instances are own.
    """
    said = []
    for verdict, (state, remedy) in _REFUSALS_OF_JSON.items():
        refusals = [a for a in found.attempts if a.verdict is verdict and a.format is Format.JSON]
        if refusals:
            hosts = ", ".join(dict.fromkeys(urlsplit(each.instance).netloc for each in refusals))
            said.append(
                f"JSON is {state} at {hosts}, so its pages are read instead: {remedy} in its"
                " settings.yml (searx-mcp doctor shows the lines)."
            )
    return said


def _staleness(age: float, error: NoInstancesError | DeadlineError | None) -> str:
    """Explain a stale answer of `age` seconds: a newer one is on its way, or `error` prevents it."""
    answer = f"Answer from {in_words(age, least=1)} ago"
    match error:
        case None:
            return f"{answer}; a newer one is being fetched."
        case DeadlineError():
            return f"{answer}: there was no time for a newer one ({error.code})."
        case NoInstancesError():
            wait = error.retry_after
            then = "" if wait is None else f"; one may in {max(1, math.ceil(wait))} s"
            return f"{answer}: no instance could serve now ({error.reason}){then}."


_SITE = re.compile(r"(^|\s)site:", re.IGNORECASE)
_ROWS = 10
"""Results on an unknown page: the usual number that engines return."""


class Searcher:
    """Turns a request into a response.

    The whole call ends by its timeout. The search phase gets only its share of it, so that there is time left
    to read the pages. Equal concurrent searches are merged into one.

    Args:
        cached_search: answers the query.
        reader: reads the pages.
        config: the time of a call that names none.
        workers: convert the pages; they start while the results are on their way.
    """

    def __init__(
        self,
        cached_search: CachedSearch,
        reader: ResultReader,
        config: WebSearchConfig,
        *,
        workers: Workers,
    ) -> None:
        self._cached_search = cached_search
        self._reader = reader
        self._config = config
        self._workers = workers

    async def search(
        self, request: SearchRequest, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search, and read the pages if the request asks for it.

        Raises:
            NoInstancesError: no source could serve, and no older answer is cached.
            DeadlineError: there was no time for a single attempt, and no older answer is cached.
        """
        loop = asyncio.get_running_loop()
        timeout = request.timeout or self._config.default_timeout
        started = loop.time()
        search_deadline, deadline = deadlines(started, timeout, reads_pages=request.fetch_content)
        if request.fetch_content:
            self._workers.warm()  # they take a second to start
        query, skipped = instance_query(request), 0
        if request.offset:
            query, skipped = self._at_offset(request, query)
        try:
            served = await self._cached_search.run(
                SearchContext(
                    query,
                    wanted=request.results_count + skipped,
                    deadline=search_deadline,
                    source=request.source,
                    progress=progress,
                )
            )
        except DeadlineError as error:
            error.ran_out(search_deadline - started, loop.time() - started)
            raise
        search_time = loop.time() - started
        found = served.found.results
        merged = keep_domains(
            found, allowed=request.allowed_domains, blocked=request.blocked_domains
        )
        results = merged[skipped : skipped + request.results_count]
        after = request.offset + request.results_count
        is_more = (
            request.page == 1
            and after <= MAX_SKIPPED
            and len(merged) > skipped + request.results_count
        )
        stats = None
        if request.fetch_content and results:
            results, stats = await self._read_pages(request, results, deadline, progress)
        return _response(
            request,
            served,
            results,
            total_results=len(merged),
            search_time_ms=round(search_time * 1_000),
            content_fetch_stats=stats,
            page=query.page if query.page > 1 else None,
            next_offset=after if is_more else None,
            notes=notes(
                request, served, found=found, kept=merged, page=query.page, skipped=skipped
            ),
        )

    async def _read_pages(
        self,
        request: SearchRequest,
        results: tuple[SearchResult, ...],
        deadline: float,
        progress: Progress | None,
    ) -> tuple[tuple[SearchResult, ...], FetchStats]:
        if progress is not None:
            progress(f"reading {len(results)} pages")
        return await self._reader.read(
            results,
            deadline=deadline,
            query=f"{request.query} {request.search_prompt}".strip(),
            room=request.max_tokens,
            for_model=request.for_model,
            progress=progress,
        )

    def _at_offset(self, request: SearchRequest, query: InstanceQuery) -> tuple[InstanceQuery, int]:
        """Return the query for the page at an offset, and how many of its results the caller has seen.

        A page has as many results as the cached first page, so that results beyond the requested number are
        not lost to a caller who continues after it.
        """
        first = self._cached_search.first_page(query, request.source)
        rows = keep_domains(
            merge([first] if first else ()),
            allowed=request.allowed_domains,
            blocked=request.blocked_domains,
        )
        pages, skipped = divmod(request.offset, len(rows) or _ROWS)
        return replace(query, page=1 + pages), skipped


def instance_query(request: SearchRequest) -> InstanceQuery:
    """Return what is sent for a request: its neutralised text, never its `search_prompt`.

    A single allowed domain becomes a `site:` word, which engines understand; several are filtered after
    merging.

    Raises:
        InvalidArgumentError: the query has no visible characters.
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


def _response(
    request: SearchRequest,
    served: CachedResult,
    results: tuple[SearchResult, ...],
    **counted: Any,  # noqa: ANN401 - fields of the response, which checks them
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
        instance_used=found.instance,
        results=results,
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
        **counted,
    )


async def search_all(
    requests: Sequence[SearchRequest], search: Callable[[SearchRequest], Awaitable[SearchResponse]]
) -> SearchBatch:
    """Run all searches concurrently; one that fails does not affect the others.

    Each is a separate search: it has its own deadline, and public instances are charged for it.

    Args:
        requests: one or more.
        search: runs one search.

    Raises:
        SearxMcpError: every search failed; the error of the first one.
    """
    outcomes = await _all_settled(map(search, requests))
    seen: dict[str, RepeatedHit] = {}
    return SearchBatch(
        queries=tuple(
            BatchedSearch(query=request.query, error=_failure(request.query, outcome))
            if isinstance(outcome, SearxMcpError)
            else _told_once(request.query, outcome, number, seen)
            for number, (request, outcome) in enumerate(
                zip(requests, outcomes, strict=True), start=1
            )
        )
    )


async def raw_all(
    requests: Sequence[SearchRequest],
    ask_one: Callable[..., Awaitable[object]] | None,
    provider: str,
    timeout: float,  # noqa: ASYNC109 - of all of it, and told to each
    progress: Progress | None,
) -> RawBatch:
    """Query a keyed provider for all requests concurrently, and return its JSON unchanged.

    Args:
        requests: one or more.
        ask_one: as `KeyedSearch.raw`; `None` if no provider has a key.
        provider: its name.
        timeout: seconds.
        progress: called with each step.

    Raises:
        InvalidArgumentError: there is no such provider, or it has no key.
        SearxMcpError: every query failed; the error of the first one.
    """
    from searx_mcp.search.providers.keyed import PROVIDERS  # noqa: PLC0415 - no other search needs it

    if provider not in PROVIDERS:
        raise InvalidArgumentError(
            "provider",
            f"{shown(provider)} is not one of {', '.join(PROVIDERS)}{did_you_mean(provider, PROVIDERS)}",
        )
    if ask_one is None:
        raise InvalidArgumentError("provider", "no keyed provider has a key", advice=NO_KEY)
    deadline = asyncio.get_running_loop().time() + timeout

    def ask(request: SearchRequest) -> Awaitable[object]:
        query, wanted = instance_query(request), request.results_count
        return ask_one(provider, query, wanted=wanted, deadline=deadline, progress=progress)

    outcomes = await _all_settled(map(ask, requests))
    return RawBatch(
        queries=tuple(
            RawAnswer(query=request.query, error=_failure(request.query, outcome))
            if isinstance(outcome, SearxMcpError)
            else RawAnswer(query=request.query, result=outcome)
            for request, outcome in zip(requests, outcomes, strict=True)
        )
    )


async def _all_settled(searches: Iterable[Awaitable[T]]) -> list[T | SearxMcpError]:
    """Wait for all; if all fail, the first failure is raised."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_settled(search)) for search in searches]
    outcomes = [task.result() for task in tasks]
    failures = [outcome for outcome in outcomes if isinstance(outcome, SearxMcpError)]
    if len(failures) == len(outcomes):
        raise failures[0]
    return outcomes


async def _settled(search: Awaitable[T]) -> T | SearxMcpError:
    try:
        return await search
    except SearxMcpError as error:  # a value: it ends only this search
        return error


def _failure(query: str, error: SearxMcpError) -> SearchFailure:
    data = search_error_data(error, query)
    told = {name: data[name] for name in SearchFailure.model_fields if name in data}
    return SearchFailure(**told, quoted=error.quoted)


def _told_once(
    query: str, response: SearchResponse, number: int, seen: dict[str, RepeatedHit]
) -> BatchedSearch:
    """Remove from a response what an earlier one contains; the rest is added to `seen`."""
    results, repeated = [], []
    for result in response.results:
        key = row_key(result)
        if key in seen:
            repeated.append(seen[key].model_copy(update={"url": result.url}))
            continue
        results.append(result)
        seen[key] = RepeatedHit(url=result.url, search=number, result=len(results))
    if repeated:
        response = response.model_copy(
            update={"results": tuple(results), "results_count": len(results)}
        )
    return BatchedSearch(query=query, result=response, repeated=tuple(repeated))

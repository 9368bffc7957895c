"""Several searches in one call: concurrent, each with its own answer."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import (
    BatchedSearch,
    RawAnswer,
    RawBatch,
    RepeatedHit,
    SearchBatch,
    SearchFailure,
    SearchResponse,
)
from searx_mcp.render.errors import search_error_data
from searx_mcp.search.merge import row_key
from searx_mcp.search.providers.context import NO_KEY
from searx_mcp.search.providers.keyed import KeyedSearch
from searx_mcp.search.searcher import instance_query

T = TypeVar("T")


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
    keyed: KeyedSearch | None,
    provider: str,
    timeout: float,  # noqa: ASYNC109 - of all of it, and told to each
    progress: Progress | None,
) -> RawBatch:
    """Query a keyed provider for all requests concurrently, and return its JSON unchanged.

    Args:
        requests: one or more.
        keyed: makes the requests; `None` if no provider has a key.
        provider: its name.
        timeout: seconds.
        progress: called with each step.

    Raises:
        InvalidArgumentError: the provider has no key.
        SearxMcpError: every query failed; the error of the first one.
    """
    if keyed is None:
        raise InvalidArgumentError("provider", "no keyed provider has a key", advice=NO_KEY)
    deadline = asyncio.get_running_loop().time() + timeout

    def ask(request: SearchRequest) -> Awaitable[object]:
        query, wanted = instance_query(request), request.results_count
        return keyed.raw(provider, query, wanted=wanted, deadline=deadline, progress=progress)

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

"""Several searches of one call: side by side, each with its own answer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import (
    BatchedSearch,
    RepeatedHit,
    SearchBatch,
    SearchFailure,
    SearchResponse,
)
from searx_mcp.render.errors import search_error_data
from searx_mcp.search.merge import canonical_key


async def search_all(
    requests: Sequence[SearchRequest], search: Callable[[SearchRequest], Awaitable[SearchResponse]]
) -> SearchBatch:
    """Search for all at the same time; one that fails takes no other with it.

    Each is a search of its own: it has its own deadline, and public instances are charged for it.

    Args:
        requests: one or more.
        search: searches for one.

    Raises:
        SearxMcpError: every search failed; the error of the first one.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_settled(search(request))) for request in requests]
    outcomes = [task.result() for task in tasks]
    if all(isinstance(outcome, SearxMcpError) for outcome in outcomes):
        raise next(outcome for outcome in outcomes if isinstance(outcome, SearxMcpError))
    seen: dict[str, RepeatedHit] = {}
    return SearchBatch(
        queries=tuple(
            _failed(request.query, outcome)
            if isinstance(outcome, SearxMcpError)
            else _told_once(request.query, outcome, number, seen)
            for number, (request, outcome) in enumerate(
                zip(requests, outcomes, strict=True), start=1
            )
        )
    )


async def _settled(search: Awaitable[SearchResponse]) -> SearchResponse | SearxMcpError:
    try:
        return await search
    except SearxMcpError as error:  # a value, since it is the end of this search alone
        return error


def _failed(query: str, error: SearxMcpError) -> BatchedSearch:
    data = search_error_data(error, query)
    told = {name: data[name] for name in SearchFailure.model_fields}
    return BatchedSearch(query=query, error=SearchFailure(**told))


def _told_once(
    query: str, response: SearchResponse, number: int, seen: dict[str, RepeatedHit]
) -> BatchedSearch:
    """Take out of a response what an earlier one has; what is left is added to `seen`."""
    results, repeated = [], []
    for result in response.results:
        key = f"image {result.image.url}" if result.image else canonical_key(result.url)
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

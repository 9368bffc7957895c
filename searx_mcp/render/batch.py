"""Several searches of one call, within one budget: as text for a model, and as data."""

from collections.abc import Iterator
from typing import Any, Final

from searx_mcp.models.response import (
    BatchedSearch,
    RawBatch,
    SearchBatch,
    SearchFailure,
)
from searx_mcp.models.spelling import in_words
from searx_mcp.render.fence import fenced, one_line
from searx_mcp.render.public import response_data
from searx_mcp.render.reading import FETCH
from searx_mcp.render.search import search_text
from searx_mcp.render.structured import without_absent
from searx_mcp.render.tokens import estimate, line_cost, share

_QUERY_TOKENS: Final = 30
_QUOTED_TOKENS: Final = 30
_ERROR_FIELDS: Final = frozenset({"error_type", "error_details", "retry_after"})
"""Fields of a failed search, which are present even without a value."""
_REPEATED: Final = 10
"""Repeated results that are listed; the others are counted."""
_LEAST: Final = 200
"""Minimum tokens of a search; if there are fewer, the last searches are left out."""


def raw_data(batch: RawBatch) -> dict[str, Any]:
    """Convert raw responses to the specification's form; a failed query also has its error."""
    rows = [
        {"query": each.query, "result": each.result}
        | ({"error": _error(each.error)} if each.error else {})
        for each in batch.queries
    ]
    return {"queries": rows}


def batch_text(batch: SearchBatch, *, budget: int | None, boundary: str, fetch: str = FETCH) -> str:
    """Format several searches, each under its own heading line.

    Args:
        batch: the searches.
        budget: tokens of all of them together; `None` for no limit.
        boundary: as for `search_text`.
        fetch: as for `search_text`.
    """
    granted = rooms(batch, budget, boundary, fetch)
    blocks = []
    for number, (each, room) in enumerate(zip(batch.queries, granted, strict=False), start=1):
        lines = [head(each, number, len(batch.queries), boundary)]
        if each.result is not None and (each.result.results or not each.repeated):
            lines.append(search_text(each.result, budget=room, boundary=boundary, fetch=fetch))
        blocks.append("\n".join((*lines, *_tail(each, boundary))))
    if missing := len(batch.queries) - len(granted):
        blocks.append(left_out(missing))
    return "\n\n".join(blocks)


def batch_data(
    batch: SearchBatch, *, budget: int | None = None, boundary: str = "", fetch: str = FETCH
) -> dict[str, Any]:
    """Convert several searches to their public form; with a budget, to what `batch_text` shows with the same one."""
    granted = rooms(batch, budget, boundary, fetch)
    shown = zip(batch.queries, granted, strict=False)
    data: dict[str, Any] = {"queries": [_data(each, room, boundary, fetch) for each, room in shown]}
    if missing := len(batch.queries) - len(granted):
        data["notes"] = [left_out(missing)]
    return data


def _data(each: BatchedSearch, room: int | None, boundary: str, fetch: str) -> dict[str, Any]:
    data: dict[str, Any] = {"query": each.query}
    if each.error is not None:
        error = _error(each.error)
        if boundary and "quoted" in error:
            error["quoted"] = _quoted(each.error, boundary)
        return data | {"error": error}
    if each.result is not None:
        data["result"] = response_data(each.result, budget=room, boundary=boundary, fetch=fetch)
    if each.repeated:
        data["repeated"] = [hit.model_dump(mode="json") for hit in each.repeated]
    return data


def rooms(batch: SearchBatch, budget: int | None, boundary: str, fetch: str) -> list[int | None]:
    """Return the tokens of each search that is shown; unused tokens go to the others."""
    if budget is None:
        return [None] * len(batch.queries)
    number = len(batch.queries)
    around = [
        sum(map(line_cost, (head(each, place, number, boundary), *_tail(each, boundary)))) + 1
        for place, each in enumerate(batch.queries, start=1)
    ]
    shown = number
    while shown > 1 and _left(around, shown, budget) < shown * _LEAST:
        shown -= 1
    needs = [
        0
        if each.result is None
        else max(
            _LEAST, estimate(search_text(each.result, budget=None, boundary=boundary, fetch=fetch))
        )
        for each in batch.queries[:shown]
    ]
    return [*share(needs, max(0, _left(around, shown, budget)))]


def _left(around: list[int], shown: int, budget: int) -> int:
    rest = line_cost(left_out(len(around))) + 1 if shown < len(around) else 0
    return budget - sum(around[:shown]) - rest


def head(each: BatchedSearch, place: int, number: int, boundary: str) -> str:
    """Return the heading of a search."""
    query = one_line(each.query, boundary, max_tokens=_QUERY_TOKENS)
    return f"# Search {place} of {number}: {query}"


def _error(error: SearchFailure) -> dict[str, Any]:
    return without_absent(error.model_dump(mode="json"), _ERROR_FIELDS)


def _quoted(error: SearchFailure, boundary: str) -> str:
    line = one_line(error.quoted, boundary, max_tokens=_QUOTED_TOKENS)
    return fenced(line, boundary=boundary) if line else ""


def _tail(each: BatchedSearch, boundary: str) -> Iterator[str]:
    if each.error is not None:
        wait = each.error.retry_after
        retry = f" Retry in {in_words(wait, rounded_up=True)}." if wait is not None else ""
        yield f"Search failed: {each.error.error_type}. {each.error.error_details}{retry}"
        if quoted := _quoted(each.error, boundary):
            yield quoted
    if each.repeated:
        yield repeated(each)


def repeated(each: BatchedSearch) -> str:
    """Say where an earlier search has shown the results that this one found too."""
    more = len(each.repeated) - _REPEATED
    places: dict[int, list[int]] = {}
    for hit in each.repeated[:_REPEATED]:
        places.setdefault(hit.search, []).append(hit.result)
    named = "; ".join(
        f"result{'' if len(results) == 1 else 's'} {', '.join(map(str, results))} of search {search}"
        for search, results in places.items()
    )
    return f"Also found above: {named}{f' and {more} more' if more > 0 else ''}."


def left_out(number: int) -> str:
    """Say that searches are missing, and how to get them."""
    more = f"{number} more search{'' if number == 1 else 'es'}"
    return f"{more} left out for lack of room: ask for fewer, or with a larger max_tokens."

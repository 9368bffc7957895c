"""Notes for a caller on an answer out of open collections, in a few sentences."""

from collections.abc import Iterable, Sequence
from typing import Final

from searx_mcp.models.request import Category
from searx_mcp.pool.attempt import InstanceQuery
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.routing.route import Route

_MEDIA: Final = frozenset({Category.IMAGES, Category.VIDEOS})
_ANY_LANGUAGE: Final = frozenset({"all", "auto", "en"})
"""Of most collections the larger part is English, so that nothing needs to be said of it."""


def source_notes(
    query: InstanceQuery, chosen: Route, *, asked: Sequence[Engine], used: Sequence[Engine]
) -> tuple[str, ...]:
    """Say whom a query was for, and which of its filters could not be kept.

    Args:
        query: what was asked.
        chosen: whom it was for.
        asked: the engines that were asked.
        used: of them, those that hits are from.
    """
    said = [f"Open sources asked: {_names(asked)} ({chosen.why})."] if asked else []
    age = query.time_range
    if age and (deaf := [engine for engine in used if age not in engine.time_ranges]):
        said.append(f"Not limited to the last {age}, because it cannot be: {_names(deaf)}.")
    if query.safe_search and chosen.category in _MEDIA:
        unfiltered = [engine for engine in used if not engine.filters_safely]
        if unfiltered:
            said.append(f"Without a filter for explicit results: {_names(unfiltered)}.")
    language = query.language.partition("-")[0]
    if language not in _ANY_LANGUAGE:
        mixed = [engine for engine in used if not engine.filters_language]
        if mixed:
            said.append(f"Results of any language: {_names(mixed)}.")
    return tuple(said)


def _names(engines: Iterable[Engine]) -> str:
    return ", ".join(engine.title for engine in engines)

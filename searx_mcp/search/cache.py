"""Recent answers, so that asking again costs no instance anything."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from cachetools import TTLCache
from typing_extensions import override

from searx_mcp.search.executor import Found


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What makes two searches the same for an instance.

    Filters, the number of results and the reading of pages come after the cache.
    """

    text: str
    category: str
    language: str
    safe_search: int
    time_range: str
    engines: frozenset[str] = frozenset()


class ResponseCache:
    """A bounded cache in memory, least recently used first out.

    Args:
        ttl: seconds an answer lives; 0 keeps nothing.
        size: answers held at most.
        clock: seconds, monotonic or Unix.
    """

    def __init__(self, *, ttl: float, size: int, clock: Callable[[], float]) -> None:
        self._entries: TTLCache[Hashable, Found] = TTLCache(size, ttl, timer=clock)

    @override
    def __repr__(self) -> str:
        return f"<ResponseCache [{len(self._entries)} answers]>"

    def get(self, key: CacheKey, *, wanted: int) -> Found | None:
        """The answer to `key` if it has `wanted` hits or there are no more to be had."""
        found: Found | None = self._entries.get(key)
        if found is None:
            return None
        enough = sum(len(page.hits) for page in found.pages) >= wanted
        return found if enough or found.complete else None

    def put(self, key: CacheKey, found: Found) -> None:
        """Keep an answer; one whose engines failed without a hit must not come here."""
        self._entries[key] = found

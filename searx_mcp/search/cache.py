"""Answers a query from the cache, or from a provider, or with a stale answer.

Answers are kept in memory only: no query is ever written to disk. How long an answer may serve follows RFC
5861 (stale-while-revalidate, stale-if-error).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from cachetools import TLRUCache, TTLCache
from typing_extensions import override

from searx_mcp.errors import DeadlineError, NoInstancesError, SearxMcpError, UnavailableReason
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import Source
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import ANSWERING_TIME, Found, Provider, SearchContext
from searx_mcp.tasks import Lease, SingleFlight, Spawn, fly_alone
from searx_mcp.telemetry import EventLog

T = TypeVar("T")

_log = EventLog("searx_mcp.search.cache")

EMPTY_TTL = 60.0
"""Maximum seconds to keep an answer without results: a slow engine looks the same as no results."""
NEGATIVE_TTL = 15.0
"""Seconds a failure is kept for the same search. Agents repeat a failed call at once, and each round would
cost three volunteers a request."""
_USUAL_HITS = 50
"""Hits that make an answer count as one; an image search has hundreds of them."""


CacheKey = tuple[InstanceQuery, Source]
"""Searches with equal keys are the same request.

Filters, the number of results and reading pages are applied after the cache.
"""


def cache_key(query: InstanceQuery, source: Source = Source.AUTO) -> CacheKey:
    """Return the key of a query to `source`; the order of its engines does not matter."""
    if query.engines:
        query = replace(query, engines=tuple(sorted(set(query.engines))))
    return query, source


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """An answer that some process has received.

    Attributes:
        found: the answer.
        at: when it arrived, Unix seconds.
    """

    found: Found
    at: float


class SharedAnswers(Protocol):
    """Answers shared by all processes. Raises nothing: a failure is a miss."""

    async def get(self, key: CacheKey) -> SharedAnswer | None:
        """Return the answer to `key`, or `None`."""
        ...

    async def put(self, key: CacheKey, answer: SharedAnswer, *, seconds: float) -> None:
        """Store an answer for at most this many seconds."""
        ...

    def lease(self, key: CacheKey, *, wanted: int) -> Lease | None:  # noqa: ARG002 - for those who can
        """Return the lease for searching this many hits, which one process holds, or `None`."""
        return None

    async def aclose(self) -> None:
        """Close the connections; may be called more than once."""
        ...


class Freshness(Enum):
    """How a cached answer may be used."""

    FRESH = auto()
    """Use it."""
    STALE = auto()
    """Use it while a newer one is fetched."""
    IF_ERROR = auto()
    """Too old, or with too few hits: use it only if no source can serve."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A cached answer.

    Attributes:
        found: the answer.
        age: seconds since it arrived.
        freshness: how it may be used.
    """

    found: Found
    age: float
    freshness: Freshness


@dataclass(slots=True)
class _Dated(Generic[T]):
    """A cached object, and since when it is cached."""

    value: T
    at: float

    def age(self, now: float) -> float:
        """Return the seconds; an object from the future, by a clock set back since, is new."""
        self.at = min(self.at, now)
        return now - self.at


class ResponseCache:
    """Answers in memory, evicted by least recent use.

    Bounded by the number of answers and the number of their hits, whichever is reached first.

    Args:
        ttl: seconds an answer is fresh; 0 keeps nothing.
        while_revalidating: seconds after that in which it serves while a newer one is fetched.
        if_error: seconds after its arrival in which it is used if no source can serve.
        size: maximum number of answers; each may have fifty hits on average.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        ttl: float,
        while_revalidating: float,
        if_error: float,
        size: int,
        clock: Callable[[], float],
    ) -> None:
        self._ttl = ttl
        self._while_revalidating = while_revalidating
        self._if_error = if_error
        self._clock = clock
        self._max_weight = size * _USUAL_HITS
        self._entries: TLRUCache[CacheKey, _Dated[Found]] = TLRUCache(
            self._max_weight,
            ttu=lambda _key, entry, now: now + self.lifetime(entry.value),
            timer=clock,
            getsizeof=self._weight,
        )

    @override
    def __repr__(self) -> str:
        return f"<ResponseCache [{len(self._entries)} answers]>"

    def get(self, key: CacheKey, *, wanted: int) -> CachedAnswer | None:
        """Return the answer to `key`, and how a caller who wants this many hits may use it.

        An answer with fewer hits is as good if there are no more.
        """
        entry: _Dated[Found] | None = self._entries.get(key)
        if entry is None:
            return None
        found, age = entry.value, entry.age(self._clock())
        freshness = self._freshness(age, is_enough=found.complete or _hits(found) >= wanted)
        # Check an empty one again: a clock that was set back has moved its expiry in the cache.
        if freshness is None or age >= self.lifetime(found):
            return None
        return CachedAnswer(found, age, freshness)

    def put(self, key: CacheKey, found: Found, *, at: float | None = None) -> None:
        """Store an answer; never one without hits whose engines failed.

        Args:
            key: of the query.
            found: the answer.
            at: when it arrived, Unix seconds; by default now.
        """
        self._entries[key] = _Dated(found, self._clock() if at is None else at)

    def _freshness(self, age: float, *, is_enough: bool) -> Freshness | None:
        if is_enough and age < self._ttl:
            return Freshness.FRESH
        if is_enough and age < self._ttl + self._while_revalidating:
            return Freshness.STALE
        return Freshness.IF_ERROR if age < self._if_error else None

    def lifetime(self, found: Found) -> float:
        """Return the seconds for which an answer may be used at all."""
        if not self._ttl or not any(page.is_useful for page in found.pages):
            return min(self._ttl, EMPTY_TTL)
        return max(self._ttl + self._while_revalidating, self._if_error)

    def _weight(self, entry: _Dated[Found]) -> int:
        # At least the usual weight, so that the number of answers is bounded too; never too much
        # for an empty cache, which would refuse it.
        return min(max(_USUAL_HITS, _hits(entry.value)), self._max_weight)


class FailureCache:
    """Searches that recently failed at all instances.

    Only failures that cost requests and that the user cannot fix are stored: not those of the network here,
    of an own instance that is down, of spent budgets, of missing settings.

    Args:
        size: maximum number of failures.
        clock: Unix seconds.
    """

    def __init__(self, *, size: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: TTLCache[CacheKey, _Dated[NoInstancesError]] = TTLCache(
            size, NEGATIVE_TTL, timer=clock
        )

    @override
    def __repr__(self) -> str:
        return f"<FailureCache [{len(self._entries)} failures]>"

    def get(self, key: CacheKey) -> NoInstancesError | None:
        """Return the failure of `key`, with the elapsed time deducted from `retry_after`, or `None`."""
        entry: _Dated[NoInstancesError] | None = self._entries.get(key)
        if entry is None:
            return None
        age = self._clock() - entry.at
        # After the clock was set back its age is unknown, and asking again costs little.
        return _copy(entry.value, age) if 0 <= age < NEGATIVE_TTL else None

    def put(self, key: CacheKey, error: NoInstancesError) -> None:
        """Store a failure if it is worth it."""
        if error.reason is UnavailableReason.EXHAUSTED and error.attempts:
            # A copy: the error itself keeps alive everything in its traceback.
            self._entries[key] = _Dated(_copy(error, 0.0), self._clock())


def _hits(found: Found) -> int:
    return sum(len(page.hits) for page in found.pages)


def _copy(error: NoInstancesError, age: float) -> NoInstancesError:
    retry_after = error.retry_after
    if retry_after is not None:
        # No instance is asked before the failure expires, however soon one is available.
        retry_after = max(retry_after, NEGATIVE_TTL) - age
    return NoInstancesError(
        error.message,
        reason=error.reason,
        attempts=error.attempts,
        advice=error.advice,
        retry_after=retry_after,
    )


@dataclass(frozen=True, slots=True)
class CachedResult:
    """The answer to a query.

    Attributes:
        found: the answer.
        age: seconds since it arrived, if it is cached; `None` for a new one.
        is_stale: whether it is older, or has fewer hits, than a new one should.
        error: why there is no new one; `None` for a stale one means that a newer one is being fetched.
    """

    found: Found
    age: float | None = None
    is_stale: bool = False
    error: NoInstancesError | DeadlineError | None = None


class CachedSearch:
    """Answers a query from the first of these that has an answer.

    1. the cache, if its answer is fresh;
    2. the answers shared with other processes, which replace older ones in the cache;
    3. the cache, if its answer became stale recently: a newer one is fetched in the background, once;
    4. the provider, unless it has just failed for the same query;
    5. the cache, with any answer, if no source could serve.

    Equal concurrent queries, refreshes included, are merged into one, also among processes that share
    answers.

    Args:
        provider: answers what is not cached.
        config: ages, sizes and the time of a refresh.
        clock: Unix seconds.
        pull: loads what other processes learned, before a search.
        push: saves what was learned, after one.
        spawn: starts a coroutine as a task of the client, with which it ends.
        shared: the answers of other processes, if there are any.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        config: SearchConfig,
        clock: Callable[[], float],
        pull: Callable[[], Awaitable[None]],
        push: Callable[[], Coroutine[Any, Any, None]],
        spawn: Spawn,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._provider = provider
        self._flights = SingleFlight[Found](spawn)
        self._phase_timeout = config.phase_timeout
        self._pull = pull
        self._push = push
        self._spawn = spawn
        self._shared = shared
        self._clock = clock
        self._answers = ResponseCache(
            ttl=config.cache_ttl,
            while_revalidating=config.stale_while_revalidate,
            if_error=config.stale_if_error,
            size=config.cache_size,
            clock=clock,
        )
        self._failures = FailureCache(size=config.cache_size, clock=clock)
        self._refreshing: set[CacheKey] = set()

    async def run(self, context: SearchContext) -> CachedResult:
        """Answer a search.

        Raises:
            NoInstancesError: no source could serve, and no older answer is cached.
            DeadlineError: there was no time, and no older answer is cached.
        """
        key, wanted = cache_key(context.query, context.source), context.wanted
        kept = self._answers.get(key, wanted=wanted)
        if self._shared is not None and (kept is None or kept.freshness is not Freshness.FRESH):
            kept = await self._newest(kept, key, wanted, self._shared)
        if kept is not None and kept.freshness is Freshness.FRESH:
            _note_hit(kept)
            return CachedResult(kept.found, kept.age)
        failure = self._failures.get(key)
        if kept is not None and kept.freshness is Freshness.STALE:
            if failure is None:
                self._refresh(key, context)
            _note_hit(kept)
            return CachedResult(kept.found, kept.age, is_stale=True, error=failure)
        try:
            if failure is not None:
                raise failure
            found = await self._join(key, context)
        except (NoInstancesError, DeadlineError) as error:
            # Only a person can add a missing setting: an older answer would hide that from them.
            is_missing = getattr(error, "reason", None) is UnavailableReason.NOTHING_CONFIGURED
            if kept is None or is_missing:
                _log.debug("search.cache_miss")
                raise
            _note_hit(kept)
            return CachedResult(kept.found, kept.age, is_stale=True, error=error)
        _log.debug("search.cache_miss")
        return CachedResult(found)

    def first_page(self, query: InstanceQuery, source: Source) -> ResultPage | None:
        """Return the first result page of the cached answer to `query`, if there is one."""
        kept = self._answers.get(cache_key(query, source), wanted=0)
        return kept.found.pages[0] if kept is not None else None

    async def _join(self, key: CacheKey, context: SearchContext) -> Found:
        """Ask, or wait for another caller's equal search."""
        shared = self._shared
        ask = self._ask if shared is None else partial(self._ask_alone, shared)
        try:
            # A caller that joins another's search keeps its own deadline.
            async with asyncio.timeout_at(context.deadline + ANSWERING_TIME / 2):
                return await self._flights.run((key, context.wanted), partial(ask, key, context))
        except TimeoutError as exc:
            raise DeadlineError("No instance answered") from exc

    async def _ask_alone(
        self, shared: SharedAnswers, key: CacheKey, context: SearchContext
    ) -> Found:
        """Ask, unless another process is asking the same."""
        wanted = context.wanted
        lease = shared.lease(key, wanted=wanted)
        if lease is None:
            return await self._ask(key, context)

        async def find() -> Found | None:
            kept = await self._newest(self._answers.get(key, wanted=wanted), key, wanted, shared)
            return kept.found if kept is not None and kept.freshness is Freshness.FRESH else None

        make = partial(self._ask, key, context)
        return await fly_alone(lease, make, find=find, end=context.deadline, spawn=self._spawn)

    async def _ask(self, key: CacheKey, context: SearchContext) -> Found:
        await self._pull()
        try:
            found = await self._provider.run(context)
        except NoInstancesError as error:
            self._failures.put(key, error)
            asked = [f"{each.source or each.instance} {each.verdict}" for each in error.attempts]
            _log.info("search.unserved reason=%s asked=%s", error.reason, ", ".join(asked) or None)
            raise
        finally:
            _ = self._spawn(self._push())  # after the answer, in the background
        self._answers.put(key, found)
        if self._shared is not None:
            answer, seconds = SharedAnswer(found, self._clock()), self._answers.lifetime(found)
            await self._shared.put(key, answer, seconds=seconds)
        return found

    async def _newest(
        self, kept: CachedAnswer | None, key: CacheKey, wanted: int, shared: SharedAnswers
    ) -> CachedAnswer | None:
        """Return our answer or that of other processes, whichever is newer."""
        theirs = await shared.get(key)
        if theirs is None or (kept is not None and theirs.at <= self._clock() - kept.age):
            return kept
        self._answers.put(key, theirs.found, at=theirs.at)
        return self._answers.get(key, wanted=wanted) or kept

    def _refresh(self, key: CacheKey, context: SearchContext) -> None:
        """Fetch a newer answer in the background, unless that is in progress."""
        if key in self._refreshing:
            return
        self._refreshing.add(key)
        task = self._spawn(self._refetch(key, context))
        task.add_done_callback(lambda _: self._refreshing.discard(key))

    async def _refetch(self, key: CacheKey, context: SearchContext) -> None:
        """Fetch a newer answer, in as much time as a search phase may take."""
        ends = asyncio.get_running_loop().time() + self._phase_timeout
        context = replace(context, deadline=ends, progress=None)
        try:
            _ = await self._join(key, context)
        except SearxMcpError as error:
            _log.debug("search.refresh_failed code=%s", error.code)
        except Exception:  # noqa: BLE001 - a supervisor: it must not end the client
            _log.exception("search.refresh_broke")


def _note_hit(kept: CachedAnswer) -> None:
    _log.debug("search.cache_hit age_s=%d kind=%s", kept.age, kept.freshness.name.lower())

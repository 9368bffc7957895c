"""The answer to a query: out of the cache, of the instances, or of the cache after all.

What is kept is in memory and gone with the process: no query ever lies on a disk. The ages at which an
answer still serves follow RFC 5861 (stale-while-revalidate, stale-if-error).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

from cachetools import TLRUCache, TTLCache
from typing_extensions import override

from searx_mcp.errors import DeadlineError, NoInstancesError, SearxMcpError, UnavailableReason
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import Source
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.background.membership import StateSync
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import (
    ANSWERING_TIME,
    Found,
    Provider,
    SearchContext,
    TimePlan,
)
from searx_mcp.tasks import Lease, SingleFlight, Spawn, fly_alone
from searx_mcp.telemetry import EventLog

T = TypeVar("T")

_log = EventLog("searx_mcp.search.cache")

KEY_FILE: Final = "answers.key"
"""Name of the file with the secret of those who share answers and pages, in the state folder."""
EMPTY_TTL = 60.0
"""Seconds an answer without results lives at most: an engine may just have been slow, and its
silence looks the same as nothing to be found."""
NEGATIVE_TTL = 15.0
"""Seconds a failure stands for the same search. Agents repeat a failed call at once, and each round
would cost three volunteers a request."""
_USUAL_HITS = 50
"""Hits of an answer that count as one; an image search has hundreds of them."""


CacheKey = tuple[InstanceQuery, Source]
"""What makes two searches the same request.

Filters, the number of results and the reading of pages come after the cache.
"""


def cache_key(query: InstanceQuery, source: Source = Source.AUTO) -> CacheKey:
    """Give the key of a query that `source` is asked; the order of its engines does not matter."""
    if query.engines:
        query = replace(query, engines=tuple(sorted(set(query.engines))))
    return query, source


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """An answer that some process was given.

    Attributes:
        found: the answer.
        at: when it was given, Unix seconds.
    """

    found: Found
    at: float


class SharedAnswers(Protocol):
    """Answers of all processes. Nothing is raised: what cannot be had now is a miss."""

    async def get(self, key: CacheKey) -> SharedAnswer | None:
        """The answer to `key`, or `None`."""
        ...

    async def put(self, key: CacheKey, answer: SharedAnswer, *, seconds: float) -> None:
        """Keep an answer for so many seconds at most."""
        ...

    def lease(self, key: CacheKey, *, wanted: int) -> Lease | None:  # noqa: ARG002 - for those who can
        """What lets one process alone ask for so many hits, or `None` if nothing does."""
        return None

    async def aclose(self) -> None:
        """Let go of connections; harmless when called twice."""
        ...


class Freshness(Enum):
    """What a kept answer is good for."""

    FRESH = auto()
    """It is the answer."""
    STALE = auto()
    """It is the answer while a newer one is fetched."""
    IF_ERROR = auto()
    """It is too old, or has too few hits: better than nothing if no source can serve."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer out of the cache.

    Attributes:
        found: the answer.
        age: seconds since it was given.
        freshness: what it is good for.
    """

    found: Found
    age: float
    freshness: Freshness


@dataclass(slots=True)
class _Dated(Generic[T]):
    """Something and the time from which on it is kept."""

    value: T
    at: float

    def age(self, now: float) -> float:
        """Seconds; what comes from the future, by a clock put back since, is new as of now."""
        self.at = min(self.at, now)
        return now - self.at


class ResponseCache:
    """Answers in memory, least recently used first out.

    Bounded by the number of answers and by the number of their hits, whichever is reached first.

    Args:
        ttl: seconds an answer is fresh; 0 keeps nothing.
        while_revalidating: seconds after that in which it serves while a newer one is fetched.
        if_error: seconds, from its beginning, in which it is used if no source can serve.
        size: answers held at most; each may have fifty hits on average.
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

    def get(self, key: CacheKey, *, wanted: int) -> Kept | None:
        """The answer to `key` and what it is good for to a caller who wants so many hits.

        One with fewer is as good as any if there are no more to be had.
        """
        entry: _Dated[Found] | None = self._entries.get(key)
        if entry is None:
            return None
        found, age = entry.value, entry.age(self._clock())
        freshness = self._freshness(age, is_enough=found.complete or _hits(found) >= wanted)
        # A second look at an empty one: a clock put back has moved the cache's own end of it.
        if freshness is None or age >= self.lifetime(found):
            return None
        return Kept(found, age, freshness)

    def put(self, key: CacheKey, found: Found, *, at: float | None = None) -> None:
        """Keep an answer; one whose engines failed without a hit must not come here.

        Args:
            key: of the query.
            found: the answer.
            at: when it was given, Unix seconds; now unless told.
        """
        self._entries[key] = _Dated(found, self._clock() if at is None else at)

    def _freshness(self, age: float, *, is_enough: bool) -> Freshness | None:
        if is_enough and age < self._ttl:
            return Freshness.FRESH
        if is_enough and age < self._ttl + self._while_revalidating:
            return Freshness.STALE
        return Freshness.IF_ERROR if age < self._if_error else None

    def lifetime(self, found: Found) -> float:
        """Seconds for which an answer is of any use."""
        if not self._ttl or not any(page.is_useful for page in found.pages):
            return min(self._ttl, EMPTY_TTL)
        return max(self._ttl + self._while_revalidating, self._if_error)

    def _weight(self, entry: _Dated[Found]) -> int:
        # At least the usual weight, so that the number of answers is bounded too; never too much
        # for an empty cache, which would refuse it.
        return min(max(_USUAL_HITS, _hits(entry.value)), self._max_weight)


class FailureCache:
    """Searches for which instances were asked a moment ago, and none could serve.

    Only failures are kept that cost a request and do not end when the user acts: not those
    of the network here, of an own instance that is down, of spent budgets, of missing settings.

    Args:
        size: failures held at most.
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
        """The failure of `key`, its `retry_after` less the time that has passed, or `None`."""
        entry: _Dated[NoInstancesError] | None = self._entries.get(key)
        if entry is None:
            return None
        age = self._clock() - entry.at
        # With a clock set back its age is unknown, and asking again costs little.
        return _copy(entry.value, age) if 0 <= age < NEGATIVE_TTL else None

    def put(self, key: CacheKey, error: NoInstancesError) -> None:
        """Keep a failure if it is worth it."""
        if error.reason is UnavailableReason.EXHAUSTED and error.attempts:
            # A copy: the error itself holds on to everything its traceback touches.
            self._entries[key] = _Dated(_copy(error, 0.0), self._clock())


def _hits(found: Found) -> int:
    return sum(len(page.hits) for page in found.pages)


def _copy(error: NoInstancesError, age: float) -> NoInstancesError:
    retry_after = error.retry_after
    if retry_after is not None:
        # No instance is asked before the failure is forgotten, however soon one is free.
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
    """What a query is answered with.

    Attributes:
        found: the answer.
        age: seconds since it was given, for one out of the cache; `None` for one of now.
        is_stale: whether it is older, or has fewer hits, than an answer of now should.
        error: why there is none of now; `None` for a stale one means that a newer one is on its way.
    """

    found: Found
    age: float | None = None
    is_stale: bool = False
    error: NoInstancesError | DeadlineError | None = None


class CachedSearch:
    """Answers a query out of the first of these that has an answer.

    1. the cache, if its answer is fresh;
    2. the answers shared with other processes, which become the cache's where they are newer;
    3. the cache, if its answer became stale lately: a newer one is fetched behind it, once;
    4. the provider, unless it has just failed for the same query;
    5. the cache, whatever it has, if no source could serve.

    Equal queries at the same time, a refresh among them, are one; those of processes that share answers, too.

    Args:
        provider: answers what is not kept.
        flights: shares what is under way.
        config: ages, sizes and the time of a refresh.
        clock: Unix seconds.
        sync: what other processes learned, before, and what was learned, after.
        spawn: starts a coroutine as a task of the client, with which it ends.
        shared: the answers of other processes, if there are any.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        flights: SingleFlight[Found],
        config: SearchConfig,
        clock: Callable[[], float],
        sync: StateSync,
        spawn: Spawn,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._provider = provider
        self._flights = flights
        self._plan = TimePlan(config.phase_timeout)
        self._sync = sync
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
            NoInstancesError: no source could serve, and no older answer is kept.
            DeadlineError: there was no time, and no older answer is kept.
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
            if kept is None or _is_missing_setting(error):
                _log.debug("search.cache_miss")
                raise
            _note_hit(kept)
            return CachedResult(kept.found, kept.age, is_stale=True, error=error)
        _log.debug("search.cache_miss")
        return CachedResult(found)

    def first_page(self, query: InstanceQuery, source: Source) -> ResultPage | None:
        """Give the first result page of what is kept for `query`, if anything is."""
        kept = self._answers.get(cache_key(query, source), wanted=0)
        return kept.found.pages[0] if kept is not None else None

    async def _join(self, key: CacheKey, context: SearchContext) -> Found:
        """Ask, or wait for the same search of another caller."""
        try:
            # A caller that joins another's search keeps its own deadline.
            async with asyncio.timeout_at(context.deadline + ANSWERING_TIME / 2):
                return await self._flights.run(
                    (key, context.wanted), partial(self._ask_alone, key, context)
                )
        except TimeoutError as exc:
            raise DeadlineError("No instance answered") from exc

    async def _ask_alone(self, key: CacheKey, context: SearchContext) -> Found:
        """Ask, unless another process is asking the same."""
        shared, wanted = self._shared, context.wanted
        if shared is None or (lease := shared.lease(key, wanted=wanted)) is None:
            return await self._ask(key, context)

        async def find() -> Found | None:
            kept = await self._newest(self._answers.get(key, wanted=wanted), key, wanted, shared)
            return kept.found if kept is not None and kept.freshness is Freshness.FRESH else None

        make = partial(self._ask, key, context)
        return await fly_alone(lease, make, find=find, end=context.deadline, spawn=self._spawn)

    async def _ask(self, key: CacheKey, context: SearchContext) -> Found:
        await self._sync.pull()
        try:
            found = await self._provider.run(context)
        except NoInstancesError as error:
            self._failures.put(key, error)
            raise
        finally:
            _ = self._spawn(self._sync.push())  # behind the answer
        self._answers.put(key, found)
        if self._shared is not None:
            answer, seconds = SharedAnswer(found, self._clock()), self._answers.lifetime(found)
            await self._shared.put(key, answer, seconds=seconds)
        return found

    async def _newest(
        self, kept: Kept | None, key: CacheKey, wanted: int, shared: SharedAnswers
    ) -> Kept | None:
        """The answer of ours or of others, whichever is newer."""
        theirs = await shared.get(key)
        if theirs is None or (kept is not None and theirs.at <= self._clock() - kept.age):
            return kept
        self._answers.put(key, theirs.found, at=theirs.at)
        return self._answers.get(key, wanted=wanted) or kept

    def _refresh(self, key: CacheKey, context: SearchContext) -> None:
        """Fetch a newer answer behind the caller, unless that is being done."""
        if key in self._refreshing:
            return
        self._refreshing.add(key)
        task = self._spawn(self._refetch(key, context))
        task.add_done_callback(lambda _: self._refreshing.discard(key))

    async def _refetch(self, key: CacheKey, context: SearchContext) -> None:
        context = replace(context, deadline=self._plan.of_refresh(), progress=None)
        try:
            _ = await self._join(key, context)
        except SearxMcpError as error:
            _log.debug("search.refresh_failed code=%s", error.code)
        except Exception:  # noqa: BLE001 - a supervisor: it must not end the client
            _log.exception("search.refresh_broke")


def _note_hit(kept: Kept) -> None:
    _log.debug("search.cache_hit age_s=%d kind=%s", kept.age, kept.freshness.name.lower())


def _is_missing_setting(error: NoInstancesError | DeadlineError) -> bool:
    """Whether only a person can end it; an older answer would hide that from them."""
    if isinstance(error, DeadlineError):
        return False
    return error.reason is UnavailableReason.NOTHING_CONFIGURED

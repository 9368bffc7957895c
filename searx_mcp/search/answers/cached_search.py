"""Where the answer to a query comes from: the cache, the instances, or the cache after all."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from searx_mcp.errors import DeadlineError, NoInstancesError, SearxMcpError, UnavailableReason
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import Source
from searx_mcp.pool.attempt import InstanceQuery
from searx_mcp.search.answers.cache import (
    CacheKey,
    FailureCache,
    Freshness,
    Kept,
    ResponseCache,
    SharedAnswer,
    SharedAnswers,
    cache_key,
)
from searx_mcp.search.background.state_sync import StateSync
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import (
    ANSWERING_TIME,
    Found,
    Provider,
    SearchContext,
    TimePlan,
)
from searx_mcp.tasks import SingleFlight, Spawn

_log = logging.getLogger("searx_mcp.search.answers.cached_search")


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
    5. the cache, whatever it has, when nobody could serve.

    Equal queries at the same time, a refresh among them, are one.

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
            NoInstancesError: nobody could serve, and no older answer is kept.
            DeadlineError: there was no time, and no older answer is kept.
        """
        key, wanted = cache_key(context.query, context.source), context.wanted
        kept = self._answers.get(key, wanted=wanted)
        if self._shared is not None and (kept is None or kept.freshness is not Freshness.FRESH):
            kept = await self._newest(kept, key, wanted, self._shared)
        if kept is not None and kept.freshness is Freshness.FRESH:
            return CachedResult(kept.found, kept.age)
        failure = self._failures.get(key)
        if kept is not None and kept.freshness is Freshness.STALE:
            if failure is None:
                self._refresh(key, context)
            return CachedResult(kept.found, kept.age, is_stale=True, error=failure)
        try:
            if failure is not None:
                raise failure
            return CachedResult(await self._join(key, context))
        except (NoInstancesError, DeadlineError) as error:
            if kept is None or _is_missing_setting(error):
                raise
            return CachedResult(kept.found, kept.age, is_stale=True, error=error)

    def first_page(self, query: InstanceQuery, source: Source) -> ResultPage | None:
        """Give the first result page of what is kept for `query`, if anything is."""
        kept = self._answers.get(cache_key(query, source), wanted=0)
        return kept.found.pages[0] if kept is not None else None

    async def _join(self, key: CacheKey, context: SearchContext) -> Found:
        """Ask, or wait for somebody else's search of the same."""
        try:
            # Whoever joins a search of somebody else's keeps the own deadline.
            async with asyncio.timeout_at(context.deadline + ANSWERING_TIME / 2):
                return await self._flights.run(
                    (key, context.wanted), partial(self._ask, key, context)
                )
        except TimeoutError as exc:
            raise DeadlineError("No instance answered") from exc

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


def _is_missing_setting(error: NoInstancesError | DeadlineError) -> bool:
    """Whether only a person can end it; an older answer would hide that from them."""
    if isinstance(error, DeadlineError):
        return False
    return error.reason is UnavailableReason.NOTHING_CONFIGURED

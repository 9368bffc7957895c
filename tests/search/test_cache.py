"""How long answers and failures are kept, how many, and where answers come from."""

import asyncio
import logging
import random
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from typing_extensions import override

from searx_mcp.errors import DeadlineError, NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Answer, Hit, Infobox, ResultPage
from searx_mcp.models.request import Source
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.background.membership import StateSync
from searx_mcp.search.cache import (
    CachedResult,
    CachedSearch,
    CacheKey,
    FailureCache,
    Freshness,
    ResponseCache,
    SharedAnswer,
    SharedAnswers,
    cache_key,
)
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import Found, SearchContext
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.tasks import Tasks
from searx_mcp.testing.clock import FakeClock
from tests.doubles.raised import raised
from tests.doubles.virtual_time import in_virtual_time

ATTEMPT = Attempt(
    instance="https://i.example/", verdict=Verdict.RATE_LIMITED, format=Format.HTML, status_code=429
)


def failure(
    reason: UnavailableReason = UnavailableReason.EXHAUSTED,
    *,
    attempts: tuple[Attempt, ...] = (ATTEMPT,),
    retry_after: float | None = 600.0,
) -> NoInstancesError:
    return NoInstancesError(
        "No.", reason=reason, attempts=attempts, advice="Wait.", retry_after=retry_after
    )


def found(title: str = "T", count: int = 10, *, complete: bool = True, **told: Any) -> Found:
    hits = tuple(Hit(url=f"https://e.org/{n}", title=title, position=n + 1) for n in range(count))
    page = ResultPage(hits=hits, **told)
    return Found((page,), "https://i.example/", (), complete, own=True)


EXHAUSTED = failure()


ANSWERING_TIME = 0.25

QUERY = InstanceQuery("bees")


class ScriptedProvider:
    """Answers with what is next in its script, when it is let."""

    def __init__(self) -> None:
        self.script: list[Found | Exception] = []
        self.asked: list[int] = []
        self.sources: list[Source] = []
        self.deadlines: list[float] = []
        self.cancelled = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(
        self,
        context: SearchContext,
    ) -> Found:
        self.asked.append(context.wanted)
        self.sources.append(context.source)
        self.deadlines.append(context.deadline)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Bench:
    """A serving of answers over a scripted provider, in a client's task group."""

    def __init__(self, tasks: Tasks, shared: SharedAnswers | None = None, **config: float) -> None:
        self.tasks = tasks
        self.clock = FakeClock()
        self.provider = ScriptedProvider()
        pool = InstancePool(own=(), public=(), config=PoolConfig(), rng=random.Random(1))
        sync = StateSync(pool, MemoryStore(), self.clock)
        self.serving = CachedSearch(
            provider=self.provider,
            config=SearchConfig.model_validate(config),
            clock=self.clock,
            pull=sync.pull,
            push=sync.push,
            spawn=tasks.spawn,
            shared=shared,
        )

    async def ask(
        self,
        *script: Found | Exception,
        query: InstanceQuery = QUERY,
        wanted: int = 10,
        seconds: float = 5,
        source: Source = Source.AUTO,
    ) -> CachedResult:
        """One search; the provider's next answers may be given with it."""
        self.provider.script.extend(script)
        deadline = asyncio.get_running_loop().time() + seconds
        return await self.serving.run(SearchContext(query, wanted, deadline, source))

    async def settle(self) -> None:
        """Let what runs behind the callers come to its end."""
        async with asyncio.timeout(60):
            while running := set(self.tasks._running):
                await asyncio.wait(running)


@asynccontextmanager
async def opened(
    shared: SharedAnswers | None = None, *, aged: float | None = None, **config: float
) -> AsyncIterator[Bench]:
    """A serving of answers, perhaps with an answer `one` that was kept so many seconds ago."""
    async with Tasks() as tasks:
        bench = Bench(tasks, shared, **config)
        if aged is not None:
            await bench.ask(found("one"))
            bench.clock.advance(aged)
        yield bench


def title(served: CachedResult) -> str:
    return served.found.pages[0].hits[0].title


async def turn(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_answers_of_different_sources_are_kept_apart():
    async with opened() as bench:
        await bench.ask(found("web"))
        await bench.ask(found("collections"), source=Source.OPEN)
        again = await bench.ask(source=Source.OPEN)
    assert bench.provider.sources == [Source.AUTO, Source.OPEN]
    assert title(again) == "collections"


async def test_a_fresh_answer_is_served_without_asking():
    async with opened() as bench:
        first = await bench.ask(found("one"))
        bench.clock.advance(299)
        again = await bench.ask()
    assert (first.age, again.age) == (None, 299)
    assert (title(again), again.is_stale, again.error) == ("one", False, None)
    assert len(bench.provider.asked) == 1


async def test_a_stale_answer_is_served_at_once_and_a_newer_one_fetched_behind_it():
    async with opened(aged=420) as bench:
        bench.provider.gate.clear()
        stale = await bench.ask(found("two"))
        assert (title(stale), stale.age, stale.is_stale, stale.error) == ("one", 420, True, None)
        bench.provider.gate.set()
        await bench.settle()
        fresh = await bench.ask()
    assert (title(fresh), fresh.age, fresh.is_stale) == ("two", 0, False)
    assert len(bench.provider.asked) == 2


async def test_many_callers_share_one_refresh_however_many_hits_they_want():
    async with opened(aged=420) as bench:
        bench.provider.gate.clear()
        bench.provider.script.append(found("two"))
        for wanted in (10, 3, 10, 5):
            assert title(await bench.ask(wanted=wanted)) == "one"
            await turn()
        assert bench.provider.asked == [10, 10]
        bench.provider.gate.set()
        await bench.settle()


async def test_a_caller_who_cannot_be_served_from_the_cache_joins_the_refresh():
    async with opened(aged=420) as bench:
        bench.provider.gate.clear()
        await bench.ask(found("two"))
        bench.clock.advance(400)
        async with asyncio.TaskGroup() as group:
            joined = group.create_task(bench.ask())
            await turn()
            bench.provider.gate.set()
    assert title(joined.result()) == "two"
    assert joined.result().age is None
    assert len(bench.provider.asked) == 2


async def test_a_refresh_has_the_time_of_the_search_phase():
    async with opened(phase_timeout=33, aged=420) as bench:
        before = asyncio.get_running_loop().time()
        await bench.ask(found("two"), seconds=1)
        await bench.settle()
    assert bench.provider.deadlines[1] - before > 30


async def test_a_refresh_outlives_the_caller_who_joined_it():
    async with opened(aged=420) as bench:
        bench.provider.gate.clear()
        await bench.ask(found("two"))
        bench.clock.advance(400)
        async with asyncio.TaskGroup() as group:
            caller = group.create_task(bench.ask())
            await turn()
            caller.cancel()
        assert bench.provider.cancelled == 0
        bench.provider.gate.set()
        await bench.settle()
        assert title(await bench.ask()) == "two"


async def test_a_refresh_ends_with_the_client_and_leaves_nothing_behind(caplog):
    caplog.set_level(logging.DEBUG, "searx_mcp")
    before = asyncio.all_tasks()
    async with opened(aged=420) as bench:
        bench.provider.gate.clear()
        await bench.ask()
        await turn()
    assert bench.provider.cancelled == 1
    assert asyncio.all_tasks() == before
    assert caplog.messages == ["search.cache_miss", "search.cache_hit age_s=420 kind=stale"]


@pytest.mark.parametrize("turns", range(8))
async def test_a_caller_cancelled_at_any_step_leaves_nothing_behind(turns):
    before = asyncio.all_tasks()
    async with opened(aged=420) as bench:
        bench.provider.gate.clear()
        async with asyncio.TaskGroup() as group:
            caller = group.create_task(bench.ask())
            await turn(turns)
            caller.cancel()
    assert asyncio.all_tasks() == before
    assert bench.serving._refreshing == set()


@pytest.mark.parametrize(
    ("failure", "level"),
    [
        (EXHAUSTED, logging.DEBUG),
        (DeadlineError("Over."), logging.DEBUG),
        (RuntimeError("a bug"), logging.ERROR),
    ],
    ids=["exhausted", "deadline", "bug"],
)
async def test_a_refresh_that_fails_troubles_nobody(failure, level, caplog):
    caplog.set_level(logging.DEBUG, "searx_mcp.search.cache")
    async with opened(aged=420) as bench:
        await bench.ask(failure)
        await bench.settle()
        assert title(await bench.ask(found("two"))) == "one"
        await bench.settle()
    told = [record for record in caplog.records if "refresh" in record.message]
    assert [record.levelno for record in told] == [level]
    assert "bees" not in caplog.text


async def test_a_refresh_that_was_exhausted_is_not_tried_again_at_once():
    async with opened(aged=420) as bench:
        await bench.ask(EXHAUSTED)
        await bench.settle()
        bench.clock.advance(5)
        served = await bench.ask()
        await bench.settle()
        assert len(bench.provider.asked) == 2
        assert (title(served), served.is_stale) == ("one", True)
        assert isinstance(served.error, NoInstancesError)
        assert served.error.retry_after == 595
        bench.clock.advance(10)
        assert (await bench.ask(found("two"))).error is None
        await bench.settle()
    assert len(bench.provider.asked) == 3


@pytest.mark.parametrize(
    "failure",
    [
        *(failure(r) for r in UnavailableReason if r != "nothing_configured"),
        DeadlineError("Over."),
    ],
    ids=lambda error: getattr(error, "reason", "deadline"),
)
async def test_an_old_answer_stands_in_when_nobody_can_serve(failure):
    async with opened(aged=10_800) as bench:
        served = await bench.ask(failure)
    assert (title(served), served.age, served.is_stale) == ("one", 10_800, True)
    assert served.error is failure


@in_virtual_time
async def test_an_old_answer_stands_in_when_the_time_of_the_call_is_over_and_not_before():
    async with opened(aged=10_800) as bench:
        bench.provider.gate.clear()
        began = asyncio.get_running_loop().time()
        served = await bench.ask(seconds=3)
        took = asyncio.get_running_loop().time() - began
    assert (title(served), served.age, served.is_stale) == ("one", 10_800, True)
    assert isinstance(served.error, DeadlineError)
    assert (len(bench.provider.asked), bench.provider.cancelled) == (2, 1)
    assert 3 < took < 3 + ANSWERING_TIME, "a provider may use all its time, but no more"


async def test_a_missing_setting_is_seen_whatever_is_kept():
    async with opened(aged=10_800) as bench:
        await raised(NoInstancesError, bench.ask(failure(UnavailableReason.NOTHING_CONFIGURED)))


@pytest.mark.parametrize(
    ("config", "age"),
    [({}, 86_400), ({"stale_if_error": 0, "stale_while_revalidate": 0}, 300)],
    ids=["too-old", "switched-off"],
)
async def test_an_answer_past_its_time_does_not_hide_the_failure(config, age):
    async with opened(**config, aged=age) as bench:
        await raised(NoInstancesError, bench.ask(EXHAUSTED))


async def test_a_newer_answer_takes_the_place_of_an_old_one():
    async with opened(aged=10_800) as bench:
        served = await bench.ask(found("two"))
        again = await bench.ask()
    assert (title(served), served.age) == ("two", None)
    assert title(again) == "two"


async def test_the_same_failed_search_costs_nobody_a_request_for_fifteen_seconds(caplog):
    caplog.set_level(logging.INFO, "searx_mcp.search.cache")
    async with opened() as bench:
        await raised(NoInstancesError, bench.ask(EXHAUSTED))
        bench.clock.advance(14)
        error = await raised(NoInstancesError, bench.ask(wanted=3))
        assert (error.message, error.reason, error.advice) == ("No.", EXHAUSTED.reason, "Wait.")
        assert (error.attempts, error.retry_after) == ((ATTEMPT,), 586)
        assert len(bench.provider.asked) == 1
        told = "search.unserved reason=exhausted asked=https://i.example/ rate_limited"
        assert caplog.messages == [told]
        bench.clock.advance(1)
        assert title(await bench.ask(found("one"))) == "one"


@pytest.mark.parametrize(
    "failure",
    [
        *(failure(reason) for reason in UnavailableReason if reason != "exhausted"),
        failure(attempts=()),
        DeadlineError("Over."),
    ],
    ids=lambda error: f"{getattr(error, 'reason', 'deadline')}-{len(error.attempts)}",
)
async def test_failures_that_cost_nobody_anything_or_end_when_the_user_acts_are_not_kept(failure):
    async with opened() as bench:
        await raised(type(failure), bench.ask(failure))
        assert title(await bench.ask(found("one"))) == "one"


async def test_another_search_is_asked_though_the_first_has_failed():
    async with opened() as bench:
        await raised(NoInstancesError, bench.ask(EXHAUSTED))
        served = await bench.ask(found("wasps"), query=InstanceQuery("wasps"))
    assert title(served) == "wasps"


async def test_failures_are_kept_even_when_the_cache_of_answers_is_off():
    async with opened(cache_ttl=0) as bench:
        await bench.ask(found("one"))
        await raised(NoInstancesError, bench.ask(EXHAUSTED))
        await raised(NoInstancesError, bench.ask())
    assert len(bench.provider.asked) == 2


class Board(SharedAnswers):
    """Where processes leave their answers, in memory."""

    def __init__(self) -> None:
        self.kept: dict[CacheKey, SharedAnswer] = {}
        self.seconds: list[float] = []

    @override
    async def get(self, key: CacheKey) -> SharedAnswer | None:
        return self.kept.get(key)

    @override
    async def put(self, key: CacheKey, answer: SharedAnswer, *, seconds: float) -> None:
        self.kept[key] = answer
        self.seconds.append(seconds)

    @override
    async def aclose(self) -> None:
        return


async def test_what_another_process_found_is_served_with_its_age_and_nobody_asked():
    board = Board()
    async with opened(board) as one:
        await one.ask(found("one"))
        await one.settle()
    async with opened(board) as two:
        two.clock.advance(100)
        served = await two.ask()
        again = await two.ask()
    assert (title(served), served.age, served.is_stale) == ("one", 100, False)
    assert (title(again), again.age) == ("one", 100)
    assert two.provider.asked == []
    assert board.seconds == [86_400]


async def test_an_empty_answer_is_shared_for_as_long_as_it_is_kept():
    board = Board()
    async with opened(board) as bench:
        await bench.ask(found("", count=0))
        await bench.settle()
    assert board.seconds == [60]


async def test_a_newer_answer_of_another_process_takes_the_place_of_a_stale_one():
    board = Board()
    async with opened(board) as one, opened(board) as two:
        await one.ask(found("one"))
        one.clock.advance(400)
        two.clock.advance(390)
        await two.ask(found("two"))
        await two.settle()
        served = await one.ask()
        assert (title(served), served.age, served.is_stale) == ("two", 10, False)
        assert len(one.provider.asked) == 1


async def test_an_older_answer_of_another_process_changes_nothing():
    board = Board()
    async with opened(board) as one:
        await one.ask(found("one"))
        await one.settle()
        [key] = board.kept
        board.kept[key] = SharedAnswer(found("old"), one.clock() - 1)
        one.clock.advance(400)
        served = await one.ask(found("new"))
        await one.settle()
    assert (title(served), served.is_stale) == ("one", True)
    assert title(CachedResult(board.kept[key].found)) == "new"


async def test_an_answer_of_another_process_that_is_too_old_for_us_is_of_no_use():
    board = Board()
    async with opened(board, stale_if_error=0) as one, opened(board, stale_if_error=0) as two:
        await one.ask(found("one"))
        await one.settle()
        two.clock.advance(600)
        served = await two.ask(found("two"))
    assert (title(served), served.age) == ("two", None)


KEY = cache_key(InstanceQuery("a"))


def key(text: str) -> CacheKey:
    return cache_key(InstanceQuery(text))


def cache_of(clock: FakeClock, **fields: float) -> ResponseCache:
    size = int(fields.pop("size", 10))
    ages = {"ttl": 300.0, "while_revalidating": 100.0, "if_error": 1_000.0} | fields
    return ResponseCache(size=size, clock=clock, **ages)


def freshness(cache: ResponseCache, *, wanted: int = 10) -> Freshness | None:
    kept = cache.get(KEY, wanted=wanted)
    return None if kept is None else kept.freshness


FRESH, STALE, SPARE = Freshness.FRESH, Freshness.STALE, Freshness.IF_ERROR
FEW = {"complete": False}
ANSWER = {"count": 0, "answers": (Answer(text="42"),)}
INFOBOX = {"count": 0, "infoboxes": (Infobox(title="Bees"),)}


@pytest.mark.parametrize(
    ("answer", "config", "wanted", "uses"),
    [
        (FEW, {}, 10, {0: FRESH, 299: FRESH, 300: STALE, 399: STALE, 400: SPARE, 999: SPARE, 1_000: None}),
        (FEW, {"ttl": 0}, 10, {0: None}),
        (FEW, {"while_revalidating": 0}, 10, {300: SPARE}),
        (FEW, {"if_error": 0}, 10, {399: STALE, 400: None}),
        (FEW, {"while_revalidating": 0, "if_error": 0}, 10, {299: FRESH, 300: None}),
        (FEW, {"if_error": 5}, 10, {299: FRESH}),
        # With too few hits it is a spare at most, unless there are no more.
        (FEW, {}, 20, {0: SPARE}),
        ({"complete": True}, {}, 20, {0: FRESH}),
        (FEW, {"if_error": 0}, 20, {0: None}),
        # An empty one is kept for a minute at most, and is never stale.
        ({"count": 0}, {}, 10, {59: FRESH, 60: None}),
        ({"count": 0}, {"ttl": 20}, 10, {19: FRESH, 20: None}),
        (ANSWER, {}, 10, {299: FRESH}),
        (INFOBOX, {}, 10, {299: FRESH}),
    ],
    ids=str,
)  # fmt: skip
def test_how_an_answer_may_be_used_follows_from_its_age_and_its_hits(answer, config, wanted, uses):
    clock = FakeClock()
    cache = cache_of(clock, **config)
    cache.put(KEY, found(**answer))
    put_at, seen = clock(), {}
    for age in uses:
        clock.advance(put_at + age - clock())
        seen[age] = freshness(cache, wanted=wanted)
    assert seen == uses


@pytest.mark.parametrize(("hits", "lifetime"), [(10, 300), (0, 60)], ids=str)
def test_an_answer_from_the_future_is_fresh_for_its_time_once(hits, lifetime):
    clock = FakeClock()
    cache = cache_of(clock, while_revalidating=0, if_error=0)
    cache.put(KEY, found(count=hits))
    clock.jump(-3_600)
    assert freshness(cache) is Freshness.FRESH
    clock.advance(lifetime - 1)
    assert freshness(cache) is Freshness.FRESH
    clock.advance(1)
    assert freshness(cache) is None


def test_the_number_of_answers_is_bounded_and_the_least_used_goes_first():
    cache = cache_of(FakeClock(), size=2)
    cache.put(key("a"), found(count=1, complete=False))
    cache.put(key("b"), found(count=1, complete=False))
    cache.get(key("a"), wanted=1)
    cache.put(key("c"), found(count=1, complete=False))
    assert repr(cache) == "<ResponseCache [2 answers]>"
    assert [cache.get(key(text), wanted=1) is None for text in "abc"] == [False, True, False]


def test_the_number_of_hits_is_bounded_too():
    cache = cache_of(FakeClock(), size=4)
    for text in "abcd":
        cache.put(key(text), found(count=100, complete=False))
    assert repr(cache) == "<ResponseCache [2 answers]>"


def test_an_answer_larger_than_the_whole_cache_is_kept_alone():
    cache = cache_of(FakeClock(), size=2)
    cache.put(key("a"), found(count=1, complete=False))
    cache.put(key("b"), found(count=500, complete=False))
    assert cache.get(key("b"), wanted=500) is not None
    assert repr(cache) == "<ResponseCache [1 answers]>"


def test_a_key_knows_no_order_of_engines():
    one = cache_key(InstanceQuery("a", engines=("bing", "brave")))
    assert one == cache_key(InstanceQuery("a", engines=("brave", "bing")))
    assert one != KEY


@pytest.mark.parametrize(("retry_after", "expected"), [(None, None), (2.0, 10.0)], ids=str)
def test_a_failure_never_promises_more_than_its_own_end(retry_after, expected):
    clock = FakeClock()
    cache = FailureCache(size=10, clock=clock)
    cache.put(KEY, failure(retry_after=retry_after))
    clock.advance(5)
    again = cache.get(KEY)
    assert again is not None
    assert again.retry_after == expected


def test_a_failure_from_the_future_is_not_told_again():
    clock = FakeClock()
    cache = FailureCache(size=10, clock=clock)
    cache.put(KEY, failure())
    clock.jump(-3_600)
    assert cache.get(KEY) is None
    cache.put(KEY, failure())
    assert cache.get(KEY) is not None


def test_the_error_itself_is_not_held():
    """Its traceback holds every frame it came through."""
    cache = FailureCache(size=10, clock=FakeClock())
    error = failure()
    held = weakref.ref(error)
    cache.put(KEY, error)
    del error
    assert held() is None


def test_the_number_of_failures_is_bounded():
    cache = FailureCache(size=2, clock=FakeClock())
    for text in "abc":
        cache.put(key(text), failure())
    assert repr(cache) == "<FailureCache [2 failures]>"

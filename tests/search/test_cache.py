"""How long answers and failures are kept, and how many."""

import weakref

import pytest

from searx_mcp.errors import UnavailableReason
from searx_mcp.models.hits import Answer, Infobox
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.cache import (
    CacheKey,
    FailureCache,
    Freshness,
    ResponseCache,
    cache_key,
)
from searx_mcp.testing.clock import FakeClock
from tests.search.kept import failure, found

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


def test_an_answer_is_fresh_then_stale_then_spare_then_gone():
    clock = FakeClock()
    cache = cache_of(clock)
    cache.put(KEY, found(complete=False))
    put_at = clock()
    seen = []
    for age in (0, 299, 300, 399, 400, 999, 1_000):
        clock.advance(put_at + age - clock())
        seen.append(freshness(cache))
    fresh, stale, spare = Freshness.FRESH, Freshness.STALE, Freshness.IF_ERROR
    assert seen == [fresh, fresh, stale, stale, spare, spare, None]
    assert repr(cache) == "<ResponseCache [0 answers]>"


@pytest.mark.parametrize(
    ("fields", "age", "expected"),
    [
        ({"ttl": 0}, 0, None),
        ({"while_revalidating": 0}, 300, Freshness.IF_ERROR),
        ({"if_error": 0}, 399, Freshness.STALE),
        ({"if_error": 0}, 400, None),
        ({"while_revalidating": 0, "if_error": 0}, 299, Freshness.FRESH),
        ({"while_revalidating": 0, "if_error": 0}, 300, None),
        ({"if_error": 5}, 299, Freshness.FRESH),
    ],
    ids=str,
)
def test_each_age_can_be_switched_off(fields, age, expected):
    clock = FakeClock()
    cache = cache_of(clock, **fields)
    cache.put(KEY, found(complete=False))
    clock.advance(age)
    assert freshness(cache) is expected


@pytest.mark.parametrize(
    ("complete", "fields", "expected"),
    [
        pytest.param(False, {}, Freshness.IF_ERROR, id="a spare"),
        pytest.param(True, {}, Freshness.FRESH, id="there are no more"),
        pytest.param(False, {"if_error": 0}, None, id="spares are switched off"),
    ],
)
def test_an_answer_with_too_few_hits_is_a_spare_at_most(complete, fields, expected):
    cache = cache_of(FakeClock(), **fields)
    cache.put(KEY, found(complete=complete))
    assert freshness(cache, wanted=20) is expected


@pytest.mark.parametrize(("ttl", "lifetime"), [(300, 60), (20, 20)], ids=str)
def test_an_empty_answer_is_kept_for_a_minute_at_most_and_is_never_stale(ttl, lifetime):
    clock = FakeClock()
    cache = cache_of(clock, ttl=ttl)
    cache.put(KEY, found(count=0))
    clock.advance(lifetime - 1)
    assert freshness(cache) is Freshness.FRESH
    clock.advance(1)
    assert freshness(cache) is None


@pytest.mark.parametrize(
    "told",
    [{"answers": (Answer(text="42"),)}, {"infoboxes": (Infobox(title="Bees"),)}],
    ids=[*"ai"],
)
def test_a_direct_answer_without_results_is_not_empty(told):
    clock = FakeClock()
    cache = cache_of(clock)
    cache.put(KEY, found(count=0, **told))
    clock.advance(299)
    assert freshness(cache) is Freshness.FRESH


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


@pytest.mark.parametrize(
    "error",
    [
        *(failure(reason) for reason in UnavailableReason if reason != "exhausted"),
        failure(attempts=()),
    ],
    ids=lambda error: f"{error.reason}-{len(error.attempts)}",
)
def test_failures_that_cost_nobody_anything_or_end_when_the_user_acts_are_not_kept(error):
    cache = FailureCache(size=10, clock=FakeClock())
    cache.put(KEY, error)
    assert cache.get(KEY) is None


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

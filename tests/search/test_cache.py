"""How long answers and failures are kept, and how many."""

import weakref

import pytest

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

"""The response cache."""

from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.search.cache import CacheKey, ResponseCache
from searx_mcp.search.executor import Found
from searx_mcp.testing.clock import FakeClock

KEY = CacheKey(text="a", category="general", language="en", safe_search=1, time_range="")


def found(count: int, *, complete: bool = False) -> Found:
    hits = tuple(Hit(url=f"https://e.org/{n}", title="T", position=n + 1) for n in range(count))
    return Found((ResultPage(hits=hits),), "https://i.example/", (), complete)


def test_an_answer_is_served_again_until_its_time_is_over():
    clock = FakeClock()
    cache = ResponseCache(ttl=300, size=10, clock=clock)
    cache.put(KEY, found(10))
    clock.advance(299)
    assert cache.get(KEY, wanted=10) is not None
    clock.advance(1)
    assert cache.get(KEY, wanted=10) is None


def test_an_answer_with_too_few_hits_serves_only_when_there_are_no_more():
    cache = ResponseCache(ttl=300, size=10, clock=FakeClock())
    cache.put(KEY, found(10))
    assert cache.get(KEY, wanted=20) is None
    cache.put(KEY, found(10, complete=True))
    assert cache.get(KEY, wanted=20) is not None


def test_a_ttl_of_zero_keeps_nothing():
    cache = ResponseCache(ttl=0, size=10, clock=FakeClock())
    cache.put(KEY, found(10))
    assert cache.get(KEY, wanted=1) is None


def test_the_number_of_answers_is_bounded():
    cache = ResponseCache(ttl=300, size=2, clock=FakeClock())
    for text in "abc":
        cache.put(CacheKey(text, "general", "en", 1, ""), found(1))
    assert repr(cache) == "<ResponseCache [2 answers]>"

"""Searches spread over the engines of an own instance."""

import asyncio

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

NAMES = ("bing", "google", "mojeek", "qwant")
REFUSED = [("brave", "CAPTCHA")]


def answering(count: int, names: tuple[str, ...] = NAMES) -> FakeSearxng:
    """An instance with so many rows, each found by all engines but one, which is refused."""
    rows = [FakeResult(f"https://{n}.example/", str(n), engines=names) for n in range(count)]
    return FakeSearxng(results=rows, engines_failed=REFUSED, formats=("html", "json"))


async def go(bench, *, engines=(), wanted=2):
    deadline = asyncio.get_running_loop().time() + 10
    query = InstanceQuery("tea", engines=engines)
    found = await bench.executor.run(SearchContext(query, wanted, deadline))
    bench.clock.advance(10)
    return found


def named(fake: FakeSearxng) -> list[tuple[str, ...]]:
    """The engines of each search."""
    asked = [request.query for request in fake.requests if request.path.endswith("/search")]
    return [tuple(filter(None, query.get("engines", "").split(","))) for query in asked]


async def test_the_next_search_names_three_engines_after_one_was_refused(bench):
    async with answering(10) as fake, bench(own=[fake]) as it:
        await go(it)
        found = await go(it)
    first, second = named(fake)
    assert first == ()
    assert len(second) == 3
    assert set(second) < set(NAMES)
    assert len(found.pages[0].hits) == 10


async def test_the_engines_that_were_spared_are_asked_when_too_little_is_found(bench):
    async with answering(10) as fake, answering(7) as poorer, bench(own=[fake]) as it:
        await go(it)
        record = it.pool.record_of(fake.url)
        async with bench(own=[poorer]) as other:
            other.pool.restore({poorer.url: record.model_copy(update={"url": poorer.url})})
            found = await go(other)
    chosen, rest = named(poorer)
    assert set(chosen) | set(rest) == set(NAMES)
    assert set(chosen).isdisjoint(rest)
    assert [attempt.verdict for attempt in found.attempts] == [Verdict.FULL] * 2
    assert len(found.pages[0].hits) == 7


async def test_engines_that_all_refuse_are_tried_one_at_a_time_and_the_error_says_when(bench):
    async with answering(10) as fake, bench(own=[fake]) as it:
        await go(it)
        fake.fail_engines([(name, "CAPTCHA") for name in NAMES])
        with pytest.raises(NoInstancesError):
            await go(it)
        with pytest.raises(NoInstancesError) as caught:
            await go(it)
        assert caught.value.reason is UnavailableReason.OWN_FAILED
        assert "All its search engines refuse it (CAPTCHA)" in caught.value.message
        assert caught.value.retry_after == pytest.approx(300, abs=1)
        it.clock.advance(301)
        with pytest.raises(NoInstancesError):
            await go(it)
        assert [len(names) for names in named(fake)] == [0, 3, 1]
        it.pool.revive(fake.url, it.clock())
        fake.fail_engines([])
        await go(it)
    assert named(fake)[-1] == ()


async def test_another_instance_answers_while_the_engines_of_one_refuse(bench):
    async with answering(10) as fake, answering(10) as other, bench(own=[fake, other]) as it:
        fake.fail_engines([(name, "CAPTCHA") for name in NAMES])
        found = [await go(it) for _ in range(4)]
    assert {each.instance for each in found} == {other.url}
    assert fake.searches <= 1


async def test_nobody_is_asked_twice_for_what_little_there_is(bench):
    async with answering(5) as fake, bench(own=[fake]) as it:
        await go(it)
        await go(it)
        fake.fail_engines([])
        it.clock.advance(600)
        await go(it)
    asked = named(fake)
    assert [len(names) for names in asked] == [0, 3, 1, 3, 2]
    assert all(set(one).isdisjoint(two) for one, two in (asked[1:3], asked[3:5]))


async def test_one_request_is_enough_where_all_engines_were_named(bench):
    async with answering(5, NAMES[:2]) as fake, bench(own=[fake]) as it:
        await go(it)
        it.clock.advance(600)
        await go(it)
    assert [len(names) for names in named(fake)] == [0, 3]


async def test_engines_of_the_callers_choice_are_never_changed(bench):
    async with answering(2) as fake, bench(own=[fake]) as it:
        await go(it)
        await go(it, engines=("brave",))
    assert named(fake) == [(), ("brave",)]


async def test_further_pages_are_asked_of_the_same_engines(bench):
    async with answering(12) as fake, bench(own=[fake]) as it:
        await go(it)
        await go(it, wanted=12)
    _, first, second = named(fake)
    assert len(first) == 3
    assert second == first

"""The open sources with their state."""

import random

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.instance import InstanceState, Tier
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import Outcome

NOW = 1_000_000.0
URL, OTHER = "https://api.a.example/", "https://api.b.example/"


@pytest.fixture
def pool() -> SourcePool:
    return SourcePool([("a", URL), ("b", OTHER)], config=PoolConfig(), rng=random.Random(1))


def learn(pool: SourcePool, *verdicts: Verdict, now: float = NOW, **fields) -> None:
    for verdict in verdicts:
        pool.begin(URL, now)
        page = ResultPage() if verdict.ends_search else None
        pool.report(URL, Outcome(verdict, Format.JSON, 0.5, page=page, **fields), now)


def state(pool: SourcePool, now: float = NOW) -> InstanceState:
    return next(row.state for row in pool.snapshot(now) if row.url == URL)


def test_several_requests_may_be_under_way_at_one_source(pool):
    pool.begin(URL, NOW)
    assert pool.may_ask(URL, NOW)


def test_a_source_that_has_rested_takes_one_request_at_a_time(pool):
    learn(pool, Verdict.RATE_LIMITED)
    assert not pool.may_ask(URL, NOW + 59)
    assert pool.may_ask(URL, NOW + 73)
    pool.begin(URL, NOW + 73)
    assert not pool.may_ask(URL, NOW + 73)


def test_a_limit_without_a_time_rests_a_minute_then_twice_that(pool):
    learn(pool, Verdict.RATE_LIMITED)
    first = pool.retry_after(URL, NOW)
    learn(pool, Verdict.RATE_LIMITED, now=NOW + 100)
    assert 60 <= first <= 72
    assert 120 <= pool.retry_after(URL, NOW + 100) <= 144


def test_empty_answers_and_repeated_limits_speak_against_nobody(pool):
    learn(pool, *[Verdict.EMPTY] * 10)
    assert state(pool) is InstanceState.HEALTHY
    for day in range(1, 5):
        learn(pool, *[Verdict.RATE_LIMITED] * 3, now=NOW + day * 40_000)
        assert state(pool) is InstanceState.RATE_LIMITED


def test_one_that_asks_for_a_pause_has_it(pool):
    learn(pool, Verdict.FULL)
    pool.rest(URL, 30, NOW)
    assert pool.retry_after(URL, NOW) == 30
    assert not pool.may_ask(URL, NOW + 29)
    assert pool.may_ask(URL, NOW + 30)
    assert pool.may_ask(OTHER, NOW)


def test_what_was_learned_goes_on_in_another_process(pool):
    learn(pool, Verdict.RATE_LIMITED, retry_after=1_000.0)
    records = pool.learned_since(0)
    other = SourcePool([("a", URL)], config=PoolConfig(), rng=random.Random(2))
    other.restore(records | {OTHER: pool.record_of(OTHER)})
    assert list(records) == [URL]
    assert not other.may_ask(URL, NOW)
    assert OTHER not in other


def test_a_request_given_up_teaches_nothing(pool):
    pool.begin(URL, NOW)
    pool.release(URL)
    assert pool.learned_since(0) == {}


def test_they_are_shown_as_a_tier_of_their_own(pool):
    learn(pool, Verdict.FULL)
    first, second = pool.snapshot(NOW)
    assert (first.source, first.url, first.tier, first.successes) == ("a", URL, Tier.OPEN, 1)
    assert (second.source, second.state) == ("b", InstanceState.NEW)
    assert first.format is first.link_token is first.json_enabled is None

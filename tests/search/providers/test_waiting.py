"""A search waits for a budget that is free again in time."""

import asyncio

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.pool.config_facts import ConfigFacts
from tests.doubles.simulated import Behaviour, SimulatedSearch
from tests.doubles.virtual_time import in_virtual_time

URLS = ("https://a.example/", "https://b.example/")


def world_of(clock) -> SimulatedSearch:
    """Two public instances whose limiter asks for no token."""
    world = SimulatedSearch(clock, public=URLS)
    for url in URLS:
        facts = ConfigFacts(limiter_enabled=True, link_token=False)
        world.pool.learn_facts(url, facts, clock())
    return world


@in_virtual_time
async def test_a_budget_free_within_the_search_phase_is_waited_for(clock):
    world = world_of(clock)
    for _ in URLS:
        await world.search()
    await asyncio.sleep(22)
    started = clock.elapsed
    messages: list[str] = []
    found = await world.search(progress=messages.append)
    assert found.instance == world.upstream.sent[0].url
    assert 7 < clock.elapsed - started < 8.3
    assert "waiting 8 s until an instance's budget allows another request" in messages


@in_virtual_time
async def test_a_budget_free_too_late_for_an_answer_is_not_waited_for(clock):
    world = world_of(clock)
    for _ in URLS:
        await world.search()
    await asyncio.sleep(18)
    started = clock.elapsed
    with pytest.raises(NoInstancesError) as caught:
        await world.search()
    assert clock.elapsed == started
    assert caught.value.reason is UnavailableReason.BUDGET_SPENT
    assert caught.value.retry_after == pytest.approx(12, abs=0.5)


@in_virtual_time
async def test_after_one_that_failed_the_search_waits_for_the_other(clock):
    world = world_of(clock)
    for _ in URLS:
        await world.search()
    await asyncio.sleep(29.85)
    first, second = (sent.url for sent in world.upstream.sent)
    world.upstream.behaviours[first] = Behaviour(verdict=Verdict.SERVER_ERROR)
    found = await world.search()
    assert found.instance == second
    assert [attempt.verdict for attempt in found.attempts] == [
        Verdict.SERVER_ERROR,
        Verdict.FULL,
    ]

"""When a second instance is asked because the first is slow."""

import asyncio

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.context import Found
from searx_mcp.search.providers.instances import Hedging
from tests.doubles.simulated import Behaviour, SimulatedSearch
from tests.doubles.virtual_time import in_virtual_time

OWN = tuple(f"http://own-{n}.example/" for n in range(3))
PUBLIC = tuple(f"https://p{n}.example/" for n in range(3))
QUERY = InstanceQuery(text="tea")


class World(SimulatedSearch):
    """Three own instances, unless others are named; the first ones behave so."""

    def __init__(self, clock, *behaviours: Behaviour, own=OWN, public=(), **config: object) -> None:
        super().__init__(clock, own=own, public=public, **config)
        for url, behaviour in zip(own, behaviours, strict=False):
            self.behave(url, behaviour=behaviour)


def verdicts(found: Found) -> list[Verdict]:
    return [attempt.verdict for attempt in found.attempts]


@in_virtual_time
async def test_a_slow_own_instance_is_hedged_after_a_second_and_a_half(clock):
    world = World(clock, Behaviour(seconds=4.0))
    await asyncio.sleep(100)
    found = await world.search()
    assert clock.elapsed == pytest.approx(101.6)
    assert found.instance != OWN[0]
    assert verdicts(found) == [Verdict.FULL, Verdict.OVERTAKEN]
    assert found.attempts[1].elapsed_ms == pytest.approx(1_600)
    assert world.is_idle()


@in_virtual_time
async def test_a_primary_that_answers_first_wins_and_the_hedge_teaches_nothing(clock):
    world = World(clock, Behaviour(seconds=2.0), *[Behaviour(seconds=9.0)] * 2)
    found = await world.search()
    assert clock.elapsed == pytest.approx(2.0)
    assert (found.instance, verdicts(found)) == (OWN[0], [Verdict.FULL])
    assert len(world.asked()) == 2
    loser = world.report(world.asked()[1])
    assert (loser.successes, loser.failures, loser.latency) == (0, 0, None)
    assert world.is_idle()


@in_virtual_time
async def test_a_hedge_that_fails_leaves_the_primary_its_chance(clock):
    world = World(
        clock, Behaviour(seconds=3.0), Behaviour(verdict=Verdict.SERVER_ERROR), own=OWN[:2]
    )
    found = await world.search()
    assert found.instance == OWN[0]
    assert sorted(verdicts(found)) == [Verdict.FULL, Verdict.SERVER_ERROR]


@in_virtual_time
async def test_when_the_first_fails_beside_its_hedge_a_third_is_asked(clock):
    world = World(clock)
    broken = set(OWN[:2])
    world.behave(*broken, behaviour=Behaviour(seconds=2.0, verdict=Verdict.SERVER_ERROR))
    found = await world.search()
    assert found.instance not in broken
    assert clock.elapsed == pytest.approx(2.1), "as soon as the first has failed"


@in_virtual_time
async def test_one_search_waits_for_an_instance_that_hangs_and_none_after_it(clock):
    world = World(clock)
    hung, broken, _ = OWN
    world.behave(hung, behaviour=Behaviour(seconds=1_000.0))
    world.behave(broken, behaviour=Behaviour(verdict=Verdict.SERVER_ERROR))
    took = []
    for _ in range(100):
        started = clock.elapsed
        await world.search()
        took.append(clock.elapsed - started)
        await asyncio.sleep(20)
    waited = [seconds for seconds in took if seconds > 1.2 * sorted(took)[50]]
    assert len(waited) <= 2, "and one for the broken one, if it was met apart"
    assert 1.6 - 1e-6 <= max(waited) <= 1.7 + 1e-6
    assert 3 <= world.asked().count(hung) <= 20, "now and then it is tried, beside another"


@in_virtual_time
async def test_an_instance_that_answers_again_is_asked_as_before(clock):
    world = World(clock, Behaviour(seconds=1_000.0), own=OWN[:2])
    while not world.pool.behind(clock()):
        await world.search()
    world.behave(OWN[0], behaviour=Behaviour())
    await asyncio.sleep(31)
    while not world.report(OWN[0]).successes:
        await world.search()
    asked = len(world.asked())
    for _ in range(4):
        await world.search()
    assert len(world.asked()) == asked + 4, "one request a search"
    assert {*world.asked()[asked:]} == {*OWN[:2]}


@in_virtual_time
async def test_two_that_hang_are_both_overtaken_by_the_third(clock):
    world = World(clock, *[Behaviour(seconds=1_000.0)] * 2)
    while len(world.pool.behind(clock())) < 2:
        await world.search()
    assert clock.elapsed < 2 * 1.5 + 3 * 0.1 + 0.01
    assert world.is_idle()


@in_virtual_time
async def test_who_waits_for_a_place_is_not_overtaken(clock):
    world = World(clock, own=OWN[:2], own_at_once=1)
    places = world.executor.runner._places
    async with places[OWN[0]]:
        found = [await world.search() for _ in range(2)]
    assert [verdicts(each) for each in found] == [[Verdict.FULL]] * 2
    assert clock.elapsed == pytest.approx(1.5 + 0.1 + 0.1), "one waited, and was hedged"
    assert not world.pool.behind(clock())
    assert world.is_idle()


@in_virtual_time
async def test_a_hedge_that_fails_is_replaced_at_once(clock):
    world = World(clock)
    hung, broken, good = OWN
    world.behave(hung, behaviour=Behaviour(seconds=1_000.0))
    world.behave(broken, behaviour=Behaviour(verdict=Verdict.SERVER_ERROR))
    found = await world.search()
    assert clock.elapsed == pytest.approx(1.7)
    assert world.asked() == [hung, broken, good]
    assert verdicts(found) == [Verdict.SERVER_ERROR, Verdict.FULL, Verdict.OVERTAKEN]


@in_virtual_time
async def test_hedges_are_at_most_a_fifth_of_the_requests(clock):
    world = World(clock, *[Behaviour(seconds=2.0)] * 3)
    searches = 100
    for _ in range(searches):
        await world.search()
    hedges = len(world.asked()) - searches
    untold = len(OWN)  # beside one that has never answered, hedges are free
    assert 10 <= hedges <= 0.2 * searches + 1 + untold


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"hedge_share": 0}, id="switched off"),
        pytest.param({"max_instances": 1}, id="enough were asked"),
        pytest.param({"own": (), "public": PUBLIC}, id="our requests are counted"),
    ],
)
@in_virtual_time
async def test_no_hedge_leaves_where_none_may(how, clock):
    world = World(clock, **how)
    world.behave(*OWN, *PUBLIC, behaviour=Behaviour(seconds=4.0))
    await world.search()
    assert len(world.asked()) == 1


@in_virtual_time
async def test_public_instances_without_limiter_are_hedged(clock):
    world = World(clock, own=(), public=PUBLIC)
    world.behave(*PUBLIC, behaviour=Behaviour(seconds=4.0))
    for url in PUBLIC[:2]:
        world.pool.learn_facts(url, ConfigFacts(limiter_enabled=False), clock())
    found = await world.search()
    unlimited = set(PUBLIC[:2])
    assert found.instance in unlimited
    assert set(world.asked()) <= unlimited


@pytest.mark.parametrize("seconds", [0.0, 1.0, 1.5, 1.55, 1.6])
@in_virtual_time
async def test_a_hedged_search_cancelled_after_any_turn_leaves_nothing_behind(seconds, clock):
    finished, turns = False, 0
    while turns < 20 and not finished:
        world = World(clock, Behaviour(seconds=4.0))
        before = asyncio.all_tasks()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(world.search())
            await asyncio.sleep(seconds)
            for _ in range(turns):
                await asyncio.sleep(0)
            finished = task.done()
            task.cancel()
        assert asyncio.all_tasks() == before
        assert world.is_idle()
        turns += 1
    assert finished == (seconds > 1.55)


def test_the_delay_follows_the_ninetieth_percentile_of_the_latest_answers():
    hedging = Hedging(share=0.2, delay=1.5)
    for n in range(9):
        hedging.latencies.append(0.1 * n)
        assert hedging.delay() == 1.5, "too few to go by"
    for n in range(1, 101):
        hedging.latencies.append(n / 100)
    assert hedging.delay() == pytest.approx(0.91)


def test_hedges_are_earned_by_attempts_and_saved_only_up_to_a_few():
    hedging = Hedging(share=0.2, delay=1.5)
    assert hedging.spend()
    assert not hedging.spend()
    for _ in range(5):
        hedging.earn()
    assert hedging.spend()
    for _ in range(1_000):
        hedging.earn()
    assert sum(hedging.spend() for _ in range(1_000)) == 5

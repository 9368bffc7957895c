"""How long things may take, to the moment."""

import asyncio

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.config_facts import ConfigFacts
from tests.doubles.simulated import PAGE, Behaviour, SimulatedSearch
from tests.doubles.virtual_time import in_virtual_time

ANSWER_TIME = 2.0

PUBLIC = tuple(f"https://i{n}.example/" for n in range(4))
OWN = "http://own.example/"
HANGS = Behaviour(seconds=1_000.0)


def verdicts(error_or_found) -> list[Verdict]:
    return [attempt.verdict for attempt in error_or_found.attempts]


@pytest.mark.parametrize(
    ("seconds", "config", "ends", "failed"),
    [
        pytest.param(30, {}, 12, [1, 1, 0], id="the phase cuts the third short"),
        pytest.param(7, {}, 7, [1, 0], id="the call's deadline cuts the second short"),
        pytest.param(30, {"phase_timeout": 60}, 30, [1, 1, 1], id="the third has what is left"),
        pytest.param(30, {"attempt_timeout": 2}, 12, [1, 1, 1], id="shorter attempts"),
        pytest.param(5.05, {}, 5, [1], id="what is left is too little for another"),
        pytest.param(30, {"max_instances": 1}, 12, [1], id="one instance"),
    ],
)
@in_virtual_time
async def test_an_attempt_a_phase_and_a_call_end_in_time_and_what_we_cut_short_is_no_failure(
    seconds, config, ends, failed, clock
):
    await asyncio.sleep(1_000)
    world = SimulatedSearch(clock, public=PUBLIC, **config)
    world.behave(*PUBLIC, behaviour=HANGS)
    with pytest.raises(NoInstancesError) as caught:
        await world.search(seconds=seconds)
    assert clock.elapsed - 1_000 == pytest.approx(ends)
    assert verdicts(caught.value) == [Verdict.TIMEOUT] * len(failed)
    reports = [world.report(url) for url in world.asked()]
    assert [report.failures for report in reports] == failed
    assert all(report.last_verdict for report in reports if report.failures)


@pytest.mark.parametrize("seconds", [5.5, 8.0, 11.9])
@in_virtual_time
async def test_the_only_instance_that_can_serve_has_all_the_time_of_the_search(seconds, clock):
    world = SimulatedSearch(clock, own=[OWN])
    world.behave(OWN, behaviour=Behaviour(seconds=seconds))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(world.search(seconds=30)) for _ in range(32)]
    assert clock.elapsed == pytest.approx(seconds)
    assert [verdicts(task.result()) for task in tasks] == [[Verdict.FULL]] * 32
    assert [sent.deadline - sent.at for sent in world.upstream.sent] == [pytest.approx(12)] * 32


@in_virtual_time
async def test_an_instance_that_another_may_follow_leaves_it_time_and_that_one_has_the_rest(clock):
    first, second = "http://first.example/", "http://second.example/"
    world = SimulatedSearch(clock, own=[first, second], hedge_share=0, max_instances=2)
    world.behave(first, second, behaviour=Behaviour(seconds=6.5))
    found = await world.search()
    assert verdicts(found) == [Verdict.TIMEOUT, Verdict.FULL]
    assert clock.elapsed == pytest.approx(11.5)
    assert [sent.deadline - sent.at for sent in world.upstream.sent] == [5, 7]


@in_virtual_time
async def test_a_further_page_that_does_not_come_holds_an_answer_no_longer_than_any_try(clock):
    world = SimulatedSearch(clock, own=[OWN])
    more = ResultPage(hits=PAGE.hits, has_next=True)
    world.behave(OWN, behaviour=Behaviour(page=more))
    search = asyncio.ensure_future(world.search(wanted=20))
    await asyncio.sleep(0.05)
    world.behave(OWN, behaviour=HANGS)
    found = await search
    assert verdicts(found) == [Verdict.FULL, Verdict.TIMEOUT]
    assert clock.elapsed == pytest.approx(5.1)


@in_virtual_time
async def test_the_time_of_an_attempt_begins_when_its_request_is_sent(clock):
    world = SimulatedSearch(clock, own=[OWN], own_at_once=2, phase_timeout=60)
    world.behave(OWN, behaviour=Behaviour(seconds=4.0))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(world.search(seconds=60)) for _ in range(6)]
    assert clock.elapsed == pytest.approx(12)
    assert [len(task.result().attempts) for task in tasks] == [1] * 6
    assert {attempt.elapsed_ms for t in tasks for attempt in t.result().attempts} == {4_000}


@pytest.mark.parametrize(
    ("left", "waits"), [(8 + ANSWER_TIME + 0.01, True), (8 + ANSWER_TIME - 0.01, False)]
)
@in_virtual_time
async def test_a_budget_is_waited_for_while_two_seconds_are_left_for_the_answer(left, waits, clock):
    world, charged = await spent(clock, PUBLIC[:1])
    await asyncio.sleep(charged + 22 - clock())
    said: list[str] = []
    if waits:
        await world.search(seconds=left, progress=said.append)
        assert world.upstream.sent[1].at == pytest.approx(charged + 30, abs=0.02)
        assert "waiting 8 s until an instance's budget allows another request" in said
    else:
        with pytest.raises(NoInstancesError) as caught:
            await world.search(seconds=left)
        assert caught.value.reason is UnavailableReason.BUDGET_SPENT
        assert caught.value.retry_after == pytest.approx(8)
    assert len(world.asked()) == 1 + waits


@in_virtual_time
async def test_after_one_that_failed_the_search_waits_for_the_budget_of_the_other(clock):
    world, charged = await spent(clock, PUBLIC[:2])
    await asyncio.sleep(charged + 29.95 - clock())
    first, second = (sent.url for sent in world.upstream.sent)
    world.behave(first, behaviour=Behaviour(verdict=Verdict.SERVER_ERROR))
    found = await world.search()
    assert (found.instance, verdicts(found)) == (second, [Verdict.SERVER_ERROR, Verdict.FULL])


async def spent(clock, public) -> tuple[SimulatedSearch, float]:
    """Instances whose limiter asks for no token, each just searched; and when the first one was."""
    world = SimulatedSearch(clock, public=public)
    for url in public:
        world.pool.learn_facts(url, ConfigFacts(limiter_enabled=True, link_token=False), clock())
    for _ in public:
        await world.search()
    return world, world.upstream.sent[0].at


@in_virtual_time
async def test_a_host_without_an_address_costs_no_search_and_is_told_with_its_time(clock):
    await asyncio.sleep(1_000)
    there, gone = PUBLIC[:2]
    world = SimulatedSearch(clock, public=[there, gone])
    for url in (gone, there):
        world.pool.read_robots(url, opted_out=False, now=clock())
    world.behave(gone, behaviour=Behaviour(resolves=False))
    found = await world.search()
    assert verdicts(found) == [Verdict.DNS, Verdict.FULL]
    assert [attempt.elapsed_ms for attempt in found.attempts] == [0, 100]
    assert (world.report(gone).state, world.asked()) == (InstanceState.FAILING, [there])

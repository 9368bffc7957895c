"""Several own instances asked at once."""

import asyncio

import pytest

from searx_mcp.errors import NoInstancesError
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.instance import InstanceState
from searx_mcp.search.providers.context import Found
from tests.doubles.simulated import Behaviour, SimulatedSearch
from tests.doubles.virtual_time import in_virtual_time

OWN = tuple(f"http://own-{n}.example/" for n in range(4))
PUBLIC = "https://public.example/"


def page(*names: str, engine: str = "e") -> ResultPage:
    hits = (
        Hit(url=f"https://{name}.example/", title=name, position=n, engines=(engine,))
        for n, name in enumerate(names, start=1)
    )
    return ResultPage(hits=tuple(hits), has_next=False)


class World(SimulatedSearch):
    """Three own instances, asked side by side, unless told otherwise; the first ones behave so."""

    def __init__(
        self, clock, *behaviours: Behaviour, fan_out: int = 3, own=OWN[:3], public=()
    ) -> None:
        super().__init__(clock, own=own, public=public, fan_out=fan_out)
        for url, behaviour in zip(own, behaviours, strict=False):
            self.behave(url, behaviour=behaviour)


def titles(found: Found) -> list[str]:
    return [hit.title for hit in found.pages[0].hits]


@in_virtual_time
async def test_own_instances_are_asked_at_once_and_their_results_fused(clock):
    world = World(
        clock,
        Behaviour(0.3, page=page("a", "b", engine="x")),
        Behaviour(0.2, page=page("b", "c", engine="y")),
        Behaviour(0.4, page=page("b", "d", engine="x")),
    )
    found = await world.search()
    assert clock.elapsed == pytest.approx(0.4)
    assert found.instance == OWN[1], "the first who answered"
    assert (titles(found), len(found.attempts)) == (["b", "a", "c", "d"], 3)
    assert world.is_idle()


@pytest.mark.parametrize(
    ("how", "asked"),
    [
        pytest.param({"fan_out": 1}, 1, id="not set"),
        pytest.param({"fan_out": 2}, 2, id="two"),
        pytest.param({"own": (), "public": [PUBLIC, "https://other.example/"]}, 1, id="public"),
    ],
)
@in_virtual_time
async def test_as_many_own_instances_are_asked_at_once_as_set(how, asked, clock):
    world = World(clock, **how)
    await world.search()
    assert len(world.asked()) == asked


@in_virtual_time
async def test_the_answer_leaves_when_two_have_brought_enough(clock):
    world = World(
        clock,
        Behaviour(0.2, page=page(*"abcdef")),
        Behaviour(0.3, page=page(*"ghijkl")),
        Behaviour(0.39),
    )
    found = await world.search(wanted=10)
    assert clock.elapsed == pytest.approx(0.3)
    assert len(titles(found)) == 12
    assert world.is_idle()


@in_virtual_time
async def test_the_others_have_a_tenth_of_a_second_after_a_very_quick_answer(clock):
    late = Behaviour(0.05, page=page("b"))
    found = await World(clock, Behaviour(0.01, page=page("a")), late, Behaviour(60.0)).search()
    assert clock.elapsed == pytest.approx(0.11)
    assert sorted(titles(found)) == ["a", "b"]


@in_virtual_time
async def test_the_others_have_as_long_again_as_the_first_and_are_then_overtaken(clock):
    world = World(clock, Behaviour(0.5, page=page("a", "b", "c")), *[Behaviour(60.0)] * 2)
    found = await world.search()
    assert clock.elapsed == pytest.approx(1.0)
    assert titles(found) == ["a", "b", "c"]
    verdicts = [attempt.verdict for attempt in found.attempts]
    assert verdicts == [Verdict.FULL, Verdict.OVERTAKEN, Verdict.OVERTAKEN]
    asked = len(world.asked())
    for _ in range(8):
        await world.search()
    assert not {*world.asked()[asked:]} & {*OWN[1:3]}, "they come after all others"
    assert world.is_idle()


@in_virtual_time
async def test_nobody_waits_for_one_that_was_overtaken_when_it_is_tried_again(clock):
    world = World(clock, own=OWN[:2])
    world.behave(OWN[1], behaviour=Behaviour(60.0))
    await world.search()
    await asyncio.sleep(31)
    started, asked = clock.elapsed, len(world.asked())
    await world.search()
    assert sorted(world.asked()[asked:]) == [*OWN[:2]]
    assert clock.elapsed - started == pytest.approx(0.1)


@in_virtual_time
async def test_one_that_fails_costs_the_others_nothing(clock):
    world = World(clock, Behaviour(0.1, verdict=Verdict.SERVER_ERROR))
    found = await world.search()
    assert found.instance in OWN[1:]
    assert world.report(OWN[0]).failures == 1


@in_virtual_time
async def test_when_all_fail_the_search_goes_on_as_usual(clock):
    world = World(clock, *[Behaviour(verdict=Verdict.SERVER_ERROR)] * 3, public=[PUBLIC])
    found = await world.search()
    assert found.instance == PUBLIC


@in_virtual_time
async def test_when_nobody_serves_the_error_names_all(clock):
    world = World(clock, *[Behaviour(verdict=Verdict.SERVER_ERROR)] * 3)
    with pytest.raises(NoInstancesError) as caught:
        await world.search()
    assert sorted(attempt.instance for attempt in caught.value.attempts) == sorted(OWN[:3])


@in_virtual_time
async def test_an_instance_whose_results_share_nothing_with_the_others_five_times_is_degraded(
    clock,
):
    world = World(
        clock,
        Behaviour(page=page("a", "b", "c")),
        Behaviour(page=page("c", "d", "e")),
        Behaviour(page=page("x", "y", "z")),
    )
    for _ in range(4):
        await world.search()
    assert world.report(OWN[2]).state is InstanceState.HEALTHY
    await world.search()
    assert world.report(OWN[2]).state is InstanceState.DEGRADED
    assert "share nothing" in world.report(OWN[2]).reason
    assert world.report(OWN[0]).state is InstanceState.HEALTHY


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([page("a", "b", "c"), page("d", "e", "f")], id="two cannot tell who is wrong"),
        pytest.param(
            [page("a", "b", "c"), page("d", "e", "f"), page("g", "h", "i")], id="nobody agrees"
        ),
        pytest.param([page("a", "b", "c"), page("c", "d", "e"), page("x")], id="too few rows"),
    ],
)
@in_virtual_time
async def test_disagreement_that_proves_nothing_counts_against_nobody(pages, clock):
    own = OWN[: len(pages)]
    world = World(clock, own=own)
    for url, each in zip(own, pages, strict=True):
        world.behave(url, behaviour=Behaviour(page=each, verdict=Verdict.FULL))
    for _ in range(8):
        await world.search()
    assert {world.report(url).state for url in own} == {InstanceState.HEALTHY}


@pytest.mark.parametrize("seconds", [0.0, 0.15, 0.25])
@in_virtual_time
async def test_cancelled_after_any_turn_nothing_is_left(seconds, clock):
    for turns in range(12):
        world = World(clock, Behaviour(0.1, page=page("a")), *[Behaviour(5.0)] * 2)
        before = asyncio.all_tasks()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(world.search())
            await asyncio.sleep(seconds)
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        assert asyncio.all_tasks() == before
        assert world.is_idle()

"""Visits wait for their turn, in time without waiting."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    PolicyError,
    ProxyError,
    TransportError,
)
from searx_mcp.fetch.hops.host_limits import REMEMBERED_HOSTS, HostLimits, Hosts
from tests.doubles import virtual_time

A, B = "a.example", "b.example"


class World:
    """Hosts in virtual time, and when each visit to them began."""

    def __init__(self, **limits: Any) -> None:
        silent_after = limits.pop("silent_after", 1_000.0)
        remembered = limits.pop("remembered", REMEMBERED_HOSTS)
        defaults = {"max_per_host": 100, "rate": 60, "breaker_failures": 3, "breaker_pause": 30.0}
        self.loop = asyncio.get_running_loop()
        self.hosts = Hosts(
            HostLimits(**{**defaults, **limits}),
            clock=self.loop.time,
            silent_after=silent_after,
            remembered=remembered,
        )
        self.began: list[tuple[str, float]] = []

    async def visit(
        self,
        name: str = "",
        *,
        host: str = A,
        lasts: float = 0.0,
        within: float = 1_000.0,
        answer: tuple[int, float | None] | None = (200, None),
        error: BaseException | None = None,
    ) -> None:
        async with self.hosts.slot(host, deadline=self.loop.time() + within) as slot:
            # Rounded, since the timers of a loop may be a little early.
            self.began.append((name, round(self.loop.time(), 2)))
            await asyncio.sleep(lasts)
            if answer is not None:
                slot.answered(*answer)
            if error is not None:
                raise error

    async def refused(self, **visit: Any) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await self.visit(**visit)
        assert caught.value.code is ErrorCode.RATE_LIMITED
        assert caught.value.advice
        return caught.value

    async def fail(self, times: int = 3, *, host: str = A) -> None:
        for _ in range(times):
            await self.visit(host=host, answer=(500, None))

    @property
    def times(self) -> list[float]:
        return [at for _, at in self.began]


def in_virtual_time(
    **limits: Any,
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Callable[..., None]]:
    """Run a test with hosts of these limits; nobody is left at its end."""

    @asynccontextmanager
    async def enter(_clock: virtual_time.VirtualClock) -> AsyncIterator[World]:
        world = World(**limits)
        yield world
        assert repr(world.hosts).startswith("<Hosts [0 under way, 0 waiting, ")

    return virtual_time.in_world(enter)


@in_virtual_time(max_per_host=2)
async def test_visits_beyond_the_slots_wait_for_one_and_come_in_the_order_they_were_asked(world):
    async with asyncio.TaskGroup() as group:
        for n in range(6):
            group.create_task(world.visit(str(n), lasts=1.0))
    assert [name for name, _ in world.began] == list("012345")
    assert world.times == [0, 0, 1, 1, 2, 2]


@in_virtual_time(max_per_host=2, silent_after=2.0)
async def test_silent_visits_make_room_until_there_are_twice_as_many(world):
    async with asyncio.TaskGroup() as group:
        for n in range(4):
            group.create_task(world.visit(str(n), lasts=10.0))
        group.create_task(world.visit("4", lasts=1.0))
    assert world.began == [("0", 0), ("1", 0), ("2", 2), ("3", 2), ("4", 10)]


@in_virtual_time(max_per_host=1, silent_after=2.0)
async def test_a_visit_that_was_answered_late_has_its_slot_again(world):
    async def answered_at_three() -> None:
        async with world.hosts.slot(A, deadline=100.0) as slot:
            await asyncio.sleep(3.0)
            slot.answered(200, None)
            await asyncio.sleep(7.0)

    async with asyncio.TaskGroup() as group:
        group.create_task(answered_at_three())
        await asyncio.sleep(0)
        group.create_task(world.visit("in the silence", lasts=1.5))
        await asyncio.sleep(2.5)
        group.create_task(world.visit("after it"))
    assert world.began == [("in the silence", 2), ("after it", 10)]


@in_virtual_time(max_per_host=1, silent_after=2.0)
async def test_a_silent_visit_that_has_ended_makes_room_for_nobody(world):
    await world.visit(lasts=3.0, answer=None)
    async with asyncio.TaskGroup() as group:
        for name in ("first", "second"):
            group.create_task(world.visit(name, lasts=1.0))
    assert world.began[1:] == [("first", 3), ("second", 4)]


@in_virtual_time()
async def test_visits_beyond_the_burst_go_at_the_rate(world):
    async with asyncio.TaskGroup() as group:
        for n in range(23):
            group.create_task(world.visit(str(n)))
    assert world.times == [0] * 20 + [1, 2, 3]
    assert [name for name, _ in world.began] == [str(n) for n in range(23)]


@in_virtual_time(max_per_host=1)
async def test_a_newcomer_does_not_overtake_those_who_wait(world):
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit("first", lasts=1.0))
        group.create_task(world.visit("second", lasts=1.0))
        await asyncio.sleep(1.0)
        group.create_task(world.visit("third"))
    assert [name for name, _ in world.began] == ["first", "second", "third"]


@in_virtual_time(max_per_host=1)
async def test_hosts_do_not_wait_for_each_other(world):
    async with asyncio.TaskGroup() as group:
        for host in (A, B, A, B):
            group.create_task(world.visit(host=host, lasts=1.0))
    assert world.times == [0, 0, 1, 1]


@in_virtual_time()
async def test_a_visit_that_cannot_begin_in_time_is_refused_at_once(world):
    async with asyncio.TaskGroup() as group:
        for _ in range(23):
            group.create_task(world.visit())
        await asyncio.sleep(0)
        error = await world.refused(within=3.5)
        assert world.loop.time() == 0
        assert error.retry_after == pytest.approx(4)
        group.create_task(world.visit("last", within=4.5))
    assert world.began[-1] == ("last", 4)


@in_virtual_time(max_per_host=1)
async def test_a_visit_whose_slot_is_not_free_in_time_is_refused_at_its_deadline(world):
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit(lasts=10.0))
        await asyncio.sleep(0)
        error = await world.refused(within=4.0)
        assert world.loop.time() == pytest.approx(4, abs=0.01)
        assert error.retry_after == 1
        group.create_task(world.visit("next"))
    assert world.began[-1] == ("next", 10)


@in_virtual_time(max_per_host=1)
async def test_those_who_wait_are_not_held_up_by_one_that_gave_up(world):
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit(lasts=10.0))
        await asyncio.sleep(0)
        group.create_task(world.refused(within=4.0))
        group.create_task(world.visit("next"))
    assert world.began[-1] == ("next", 10)


@pytest.mark.parametrize("turns", range(6))
@in_virtual_time(max_per_host=1)
async def test_cancelled_at_any_moment_a_visit_leaves_no_slot_taken_and_no_token(world, turns):
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit(lasts=1.0))
        await asyncio.sleep(0)
        leaving = [group.create_task(world.visit("leaves", lasts=9.0)) for _ in range(3)]
        await asyncio.sleep(1.0)
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        group.create_task(world.visit("stays"))
    left = [name for name, _ in world.began].count("leaves")
    assert left <= 1
    assert world.began[-1] == ("stays", 1.0)
    for _ in range(20 - len(world.began)):
        await world.visit()
    assert world.loop.time() == 1.0


@in_virtual_time()
async def test_a_failing_host_is_refused_at_once_and_tried_once_after_the_pause(world):
    await world.fail()
    error = await world.refused()
    assert world.loop.time() == 0
    assert error.retry_after == 30
    await world.visit("b", host=B)
    await asyncio.sleep(30)
    async with asyncio.TaskGroup() as group:
        for name in ("trial", "after"):
            group.create_task(world.visit(name, lasts=2.0))
    assert world.began[-2:] == [("trial", 30), ("after", 32)]


@in_virtual_time()
async def test_a_pause_that_is_nearly_over_is_waited_for(world):
    await world.fail()
    await asyncio.sleep(26)
    await world.refused(within=3.0)
    assert world.loop.time() == 26
    await world.visit("trial", within=5.0)
    assert world.began[-1] == ("trial", 30)


@in_virtual_time()
async def test_nobody_waits_long_for_a_trial(world):
    await world.fail()
    await asyncio.sleep(30)
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit("trial", lasts=20.0))
        await asyncio.sleep(0)
        await world.refused()
        assert world.loop.time() == pytest.approx(35, abs=0.01)


@in_virtual_time()
async def test_a_trial_that_fails_sends_those_away_who_waited_for_it(world):
    await world.fail()
    await asyncio.sleep(30)
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit("trial", lasts=1.0, answer=(502, None)))
        await asyncio.sleep(0)
        waiting = [group.create_task(world.refused()) for _ in range(3)]
    assert world.loop.time() == 31
    assert [task.result().retry_after for task in waiting] == [60, 60, 60]


@pytest.mark.parametrize("leave", ["cancelled", "no answer"])
@in_virtual_time()
async def test_a_trial_that_tells_nothing_leaves_its_place_to_another(world, leave):
    await world.fail()
    await asyncio.sleep(30)
    async with asyncio.TaskGroup() as group:
        trial = group.create_task(world.visit("trial", lasts=2.0, answer=None))
        await asyncio.sleep(0)
        group.create_task(world.visit("next"))
        await asyncio.sleep(1)
        if leave == "cancelled":
            trial.cancel()
    assert world.began[-1] == ("next", 31 if leave == "cancelled" else 32)


@in_virtual_time(max_per_host=3)
async def test_when_the_breaker_opens_those_who_wait_are_sent_away(world):
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(world.visit(lasts=1.0, answer=(500, None)))
        await asyncio.sleep(0)
        waiting = [group.create_task(world.refused()) for _ in range(5)]
    assert world.loop.time() == 1
    assert {task.result().retry_after for task in waiting} == {30}


def _error(kind: type[FetchError]) -> FetchError:
    return kind("no", code=ErrorCode.CONNECTION_ERROR)


@pytest.mark.parametrize(
    ("answer", "error", "is_failure"),
    [
        ((500, None), None, True), ((599, None), None, True),
        ((503, None), _error(ContentError), True), ((200, None), _error(TransportError), True),
        (None, _error(TransportError), True), ((200, None), None, False),
        ((304, None), None, False), ((404, None), None, False), ((403, None), None, False),
        ((999, None), None, False), ((200, None), _error(ContentError), False),
        (None, _error(ProxyError), False), (None, _error(PolicyError), False),
        (None, _error(ContentError), False), (None, asyncio.CancelledError(), False),
        (None, TimeoutError(), False), (None, None, False),
    ],
)  # fmt: skip
@in_virtual_time(breaker_failures=2)
async def test_what_counts_as_a_failure_of_the_host(world, answer, error, is_failure):
    for _ in range(2):
        try:
            await world.visit(answer=answer, error=error)
        except BaseException as raised:
            if raised is not error:
                raise
    if is_failure:
        assert (await world.refused()).retry_after == 30
    else:
        await world.visit()


@pytest.mark.parametrize(
    ("status", "retry_after", "pause"),
    [
        (429, 30.0, 30), (429, None, 60), (429, 86_400.0, 600), (503, 30.0, 30), (503, None, 0),
        (200, 30.0, 0), (404, 30.0, 0),
    ],
)  # fmt: skip
@in_virtual_time()
async def test_a_host_that_asks_for_a_pause_gets_it(world, status, retry_after, pause):
    await world.visit(answer=(status, retry_after))
    if pause:
        assert (await world.refused()).retry_after == pause
        assert world.loop.time() == 0
        await asyncio.sleep(pause)
    await world.visit()
    assert world.times == [0, pause]


@pytest.mark.parametrize(
    ("answer", "how"),
    [((429, 4.0), {}), ((500, None), {"breaker_failures": 1, "breaker_pause": 4.0})],
    ids=["pause", "breaker"],
)
def test_of_those_who_wait_only_the_impatient_are_sent_away_by_a_short_pause(answer, how):
    async def main(world: World) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(world.visit(lasts=1.0, answer=answer))
            await asyncio.sleep(0)
            group.create_task(world.visit("first", within=20.0))
            group.create_task(world.visit("second", within=20.0))
            await asyncio.sleep(0)
            await world.refused(within=4.0)
            assert world.loop.time() == 1
        assert world.began[1:] == [("first", 5), ("second", 5)]

    in_virtual_time(max_per_host=1, **how)(main)()


@in_virtual_time(max_per_host=1)
async def test_patience_begins_anew_with_each_pause(world):
    await world.visit(answer=(429, 4.0))
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit("first", lasts=4.0, answer=(429, 4.0)))
        group.create_task(world.visit("second"))
    assert world.began[1:] == [("first", 4), ("second", 12)]


@in_virtual_time(max_per_host=1)
async def test_those_who_wait_for_a_slot_learn_of_a_pause_at_once(world):
    async with asyncio.TaskGroup() as group, world.hosts.slot(A, deadline=9.0) as slot:
        waiting = [group.create_task(world.refused()) for _ in range(3)]
        await asyncio.sleep(1)
        slot.answered(429, 60.0)
        await asyncio.sleep(0.1)
        assert [task.result().retry_after for task in waiting] == [60, 60, 60]


@in_virtual_time(max_per_host=1)
async def test_a_slot_that_is_free_after_a_pause_began_is_not_taken(world):
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit(lasts=1.0, answer=(429, 60.0)))
        await asyncio.sleep(0)
        error = await world.refused()
    assert world.loop.time() == 1
    assert error.retry_after == 60


@in_virtual_time(remembered=2)
async def test_of_hosts_nobody_visits_only_so_many_are_remembered_the_oldest_is_forgotten(world):
    await world.fail(host=A)
    await world.fail(host=B)
    await world.refused(host=A)
    await world.visit(host="c.example")
    assert repr(world.hosts) == "<Hosts [0 under way, 0 waiting, 2 idle]>"
    await world.refused(host=A)
    await world.visit(host=B)


@in_virtual_time(max_per_host=1, remembered=1)
async def test_a_host_in_use_is_never_forgotten(world):
    async with asyncio.TaskGroup() as group:
        group.create_task(world.visit("first", lasts=5.0))
        await asyncio.sleep(0)
        for n in range(10):
            await world.visit(host=f"{n}.example")
        group.create_task(world.visit("second"))
    assert world.began[-1] == ("second", 5)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_the_limits_hold_and_nobody_is_forgotten(seed):
    dice = random.Random(seed)

    async def main(world: World) -> None:
        under_way = most = 0
        ended: list[str] = []

        async def one() -> None:
            nonlocal under_way, most
            try:
                async with world.hosts.slot(
                    A, deadline=world.loop.time() + dice.uniform(0, 30)
                ) as slot:
                    under_way += 1
                    most = max(most, under_way)
                    world.began.append(("", world.loop.time()))
                    try:
                        await asyncio.sleep(dice.uniform(0, 3))
                        slot.answered(dice.choice([200, 200, 200, 404, 429, 500]), 2.0)
                    finally:
                        under_way -= 1
                ended.append("visited")
            except FetchError as error:
                ended.append(error.code)

        async with asyncio.TaskGroup() as group:
            tasks = []
            for _ in range(100):
                tasks.append(group.create_task(one()))
                if dice.random() < 0.2:
                    dice.choice(tasks).cancel()
                await asyncio.sleep(dice.expovariate(2))
        assert set(ended) == {"visited", ErrorCode.RATE_LIMITED}
        assert most <= 3
        assert under_way == 0
        starts = [at for _, at in world.began]
        for first, begin in enumerate(starts):
            for last in range(first, len(starts)):
                assert last - first + 1 <= 10 + (starts[last] - begin) * 0.5 + 0.01

    in_virtual_time(max_per_host=3, rate=30)(main)()

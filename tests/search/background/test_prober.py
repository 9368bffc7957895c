"""Health checks."""

import asyncio
import random
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from searx_mcp.models.instance import CatalogEntry, InstanceState
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.activity import IDLE, Activity
from searx_mcp.search.background.prober import CONFIG_INTERVAL, PUBLIC_INTERVAL, Prober
from searx_mcp.search.background.schedule import Schedule
from searx_mcp.testing.searxng import FakeSearxng

HOUR = 3_600


def prober(bench, *, searched: bool = True, pulse=None, state=None) -> Prober:
    activity = Activity(bench.clock)
    if searched:
        activity.searched()
    return Prober(
        bench.pool,
        pulse or bench.upstream,
        state=state or bench.state,
        activity=activity,
        interval=300.0,
        clock=bench.clock,
    )


def paths(fake: FakeSearxng) -> list[str]:
    return [request.path for request in fake.requests]


async def test_a_check_asks_for_healthz_and_config_and_never_searches(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            await prober(it).check()
    assert paths(own) == paths(public) == ["/healthz", "/config"]


async def test_own_instances_are_checked_in_every_round_and_public_ones_once_an_hour(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            for _ in range(13):
                await prober(it).check()
                it.clock.advance(300)
    assert paths(own).count("/healthz") == 13
    assert paths(public).count("/healthz") == 2
    assert paths(own).count("/config") == paths(public).count("/config") == 1
    assert PUBLIC_INTERVAL == HOUR


async def test_config_is_read_once_a_day(bench):
    async with FakeSearxng() as public, bench(public=[public]) as it:
        for _ in range(50):
            await prober(it).check()
            it.clock.advance(HOUR)
    assert paths(public).count("/config") == 3
    assert CONFIG_INTERVAL == 24 * HOUR


async def test_what_config_says_is_learned(bench):
    async with FakeSearxng(link_token=True) as public, bench(public=[public]) as it:
        await prober(it).check()
        (report,) = it.pool.snapshot(it.clock())
    assert (report.limiter, report.link_token) == (True, True)
    assert report.version
    assert report.score_parts["access"] == 0.25


async def test_processes_that_share_a_store_check_an_instance_once(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            for _ in range(8):
                await prober(it).check()
    assert paths(own) == paths(public) == ["/healthz", "/config"]


async def test_without_a_search_no_public_instance_is_asked_for_anything(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            await prober(it, searched=False).check()
    assert public.requests == []
    assert paths(own) == ["/healthz", "/config"]


async def test_a_process_that_nobody_uses_makes_no_request(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            idle = prober(it)
            it.clock.advance(IDLE + 1)
            await idle.check()
    assert own.requests == public.requests == []


async def test_a_clock_put_back_does_not_put_a_process_to_sleep_for_ever(bench):
    async with bench() as it:
        activity = Activity(it.clock)
        activity.searched()
        it.clock.jump(-10 * IDLE)
        seen = [activity.is_searching]
        activity.searched()
        assert [*seen, activity.is_searching, activity.is_awake] == [False, True, True]


async def test_a_stopped_own_instance_is_known_after_three_checks(bench):
    async with FakeSearxng() as own:
        pass
    async with bench(own=[own]) as it:
        for _ in range(3):
            await prober(it).check()
            it.clock.advance(300)
        assert it.pool.snapshot(it.clock())[0].state is InstanceState.FAILING


async def test_a_public_instance_that_is_silent_while_another_answers_is_known_too(bench):
    async with FakeSearxng() as gone:
        pass
    async with FakeSearxng() as good, bench(public=[gone, good]) as it:
        it.pool.enlist([], entries(gone, good))
        for _ in range(3):
            await prober(it).check()
            it.clock.advance(HOUR)
        states = {row.url: row.state for row in it.pool.snapshot(it.clock())}
    assert states[gone.url] is InstanceState.FAILING
    assert states[good.url] is InstanceState.NEW, "a health check proves no engine"


def entries(*fakes: FakeSearxng):
    return [CatalogEntry(url=fake.url, tls_grade="A+", http_grade="A+") for fake in fakes]


async def test_when_nobody_answers_nothing_is_held_against_public_instances(bench):
    async with FakeSearxng() as one, FakeSearxng() as two:
        pass
    async with bench() as it:
        it.pool.enlist([], entries(one, two))
        for _ in range(5):
            await prober(it).check()
            it.clock.advance(HOUR)
        assert all(row.consecutive_failures == 0 for row in it.pool.snapshot(it.clock()))


async def test_a_failing_public_instance_that_answers_again_may_be_asked_again(bench):
    async with FakeSearxng() as good, bench(public=[good]) as it:
        for _ in range(6):
            it.pool.probed(good.url, alive=False, now=it.clock())
        assert it.pool.propose(it.clock()) is None
        await prober(it).check()
        assert it.pool.propose(it.clock()) is not None


class Counting:
    """Answers every check, and tells how many were under way at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:  # noqa: ASYNC109 - the interface
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return True

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - the interface
        return None


async def test_at_most_four_instances_are_checked_at_once(bench):
    async with bench() as it:
        it.pool = InstancePool(
            own=[f"http://own-{n}.example/" for n in range(20)], rng=random.Random(1)
        )
        counting = Counting()
        await prober(it, pulse=counting).check()
    assert counting.most == 4


async def test_a_schedule_checks_at_once_and_is_gone_when_stopped(bench):
    async with FakeSearxng() as own, bench(own=[own]) as it, asyncio.TaskGroup() as group:
        schedule = Schedule([prober(it).check], interval=300, spawn=group.create_task)
        schedule.start()
        async with asyncio.timeout(5):
            await own.wait_for_requests(1)
        await schedule.stop()
        await schedule.stop()


async def test_a_clock_put_back_does_not_put_off_the_next_round():
    rounds = asyncio.Queue[None]()

    async def work():
        rounds.put_nowait(None)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        schedule = Schedule([work], interval=1, spawn=group.create_task)
        schedule.start()
        await rounds.get()
        assert schedule._scheduler is not None
        # What a clock that is put back by a day comes to: the date of the next round is a day ahead.
        ahead = datetime.now(UTC) + timedelta(days=1)
        schedule._scheduler.get_job("round").modify(next_run_time=ahead)
        await rounds.get()
        await schedule.stop()


async def test_a_round_that_breaks_is_logged_and_does_not_end_the_owner(bench, caplog):
    class Broken(Counting):
        @override
        async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:
            raise RuntimeError("broken")

    async with FakeSearxng() as own, bench(own=[own]) as it, asyncio.TaskGroup() as group:
        done = asyncio.Event()

        def spawn(work):
            task = group.create_task(work)
            task.add_done_callback(lambda _: done.set())
            return task

        check = prober(it, pulse=Broken()).check
        schedule = Schedule([check], interval=300, spawn=spawn)
        schedule.start()
        async with asyncio.timeout(5):
            await done.wait()
        await schedule.stop()
    assert "search.background_work_failed" in caplog.text

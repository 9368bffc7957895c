"""Health checks of own instances."""

import asyncio

from searx_mcp.models.instance import InstanceState
from searx_mcp.search.prober import Prober
from searx_mcp.search.schedule import Schedule
from searx_mcp.testing.searxng import FakeSearxng


async def test_a_check_asks_for_healthz_and_never_searches(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            await Prober(it.pool, it.upstream, it.clock).check_own()
    assert [request.path for request in own.requests] == ["/healthz"]
    assert public.requests == []


async def test_a_stopped_own_instance_is_known_after_three_checks(bench):
    async with FakeSearxng() as own:
        pass
    async with bench(own=[own]) as it:
        prober = Prober(it.pool, it.upstream, it.clock)
        for _ in range(3):
            await prober.check_own()
        assert it.pool.snapshot(it.clock())[0].state is InstanceState.FAILING


async def test_a_schedule_checks_at_once_and_is_gone_when_stopped(bench):
    async with FakeSearxng() as own, bench(own=[own]) as it, asyncio.TaskGroup() as group:
        check = Prober(it.pool, it.upstream, it.clock).check_own
        schedule = Schedule([check], interval=300, spawn=group.create_task)
        schedule.start()
        async with asyncio.timeout(5):
            await own.wait_for_requests(1)
        await schedule.stop()
        await schedule.stop()


async def test_a_round_that_breaks_is_logged_and_does_not_end_the_owner(bench, caplog):
    class Broken:
        async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:  # noqa: ASYNC109 - of one probe
            raise RuntimeError("broken")

    async with FakeSearxng() as own, bench(own=[own]) as it, asyncio.TaskGroup() as group:
        done = asyncio.Event()

        def spawn(work):
            task = group.create_task(work)
            task.add_done_callback(lambda _: done.set())
            return task

        check = Prober(it.pool, Broken(), it.clock).check_own
        schedule = Schedule([check], interval=300, spawn=spawn)
        schedule.start()
        async with asyncio.timeout(5):
            await done.wait()
        await schedule.stop()
    assert "search.background_work_failed" in caplog.text

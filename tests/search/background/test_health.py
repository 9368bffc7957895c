"""Health checks."""

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest
from typing_extensions import override

from searx_mcp.errors import NoInstancesError
from searx_mcp.models.administration import Robots
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import CatalogEntry, InstanceState
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.background.health import (
    CONFIG_INTERVAL,
    PUBLIC_INTERVAL,
    HealthChecker,
    HealthRounds,
)
from searx_mcp.search.background.schedule import Activity, Schedule
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.testing.searxng import FakeSearxng

IDLE = 900.0

HOUR = 3_600


def rounds(bench, *, searched: bool = True, client=None, activity=None) -> HealthRounds:
    activity = activity or Activity(bench.clock)
    if searched:
        activity.searched()
    return HealthRounds(
        bench.pool,
        client or bench.upstream,
        state=bench.state,
        activity=activity,
        interval=300.0,
        clock=bench.clock,
    )


def enlist(bench, public: int | list[str]) -> list[str]:
    """Fill the pool with public instances, or with so many of them."""
    urls = [f"https://i{n}.example/" for n in range(public)] if isinstance(public, int) else public
    bench.pool.enlist([], [CatalogEntry(url=url, tls_grade="A+", http_grade="A+") for url in urls])
    return urls


def paths(fake: FakeSearxng) -> list[str]:
    return [request.path for request in fake.requests]


class Counting:
    """Answers every check, and tells how many were under way at once."""

    def __init__(self, silent: Collection[str] = ()) -> None:
        self.now = self.most = self.configs = 0
        self.asked: list[str] = []
        self.silent = set(silent)

    async def is_alive(self, base_url: str, *, own: bool, timeout: float) -> bool:  # noqa: ASYNC109 - the interface
        self.asked.append(base_url)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return base_url not in self.silent

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - the interface
        self.configs += 1
        return None


async def test_own_instances_are_checked_in_every_round_and_public_ones_once_an_hour(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            for _ in range(15):
                await rounds(it).check()
                it.clock.advance(270)  # the next round may come a tenth early
    assert paths(own).count("/healthz") == 15
    assert paths(public).count("/healthz") == 2
    assert paths(own).count("/config") == 1
    assert PUBLIC_INTERVAL == HOUR


@pytest.mark.parametrize("processes", [1, 4])
async def test_a_round_of_all_processes_checks_one_public_instance(bench, processes):
    async with bench() as it:
        urls = enlist(it, 5)
        counting, activity = Counting(), Activity(it.clock)
        several = [rounds(it, client=counting, activity=activity) for _ in range(processes)]
        checked = []
        for _ in range(24):
            activity.searched()
            for each in several:
                await each.check()
            checked.append(len(counting.asked))
            it.clock.advance(300)
    assert checked[:6] == [1, 2, 3, 4, 5, 5], "spread over the rounds, then an hour of peace"
    assert checked[-1] == 10
    assert (sorted(counting.asked[:5]), counting.configs) == (urls, 0)


async def test_the_config_of_an_own_instance_is_read_once_a_day_and_learned(bench):
    async with FakeSearxng(version="2026.8.22") as own, bench(own=[own]) as it:
        for _ in range(50):
            await rounds(it).check()
            it.clock.advance(HOUR)
        (report,) = it.pool.snapshot(it.clock())
    assert paths(own).count("/config") == 3
    assert (report.limiter, report.version) == (False, "2026.8.22")
    assert CONFIG_INTERVAL == 24 * HOUR


async def test_processes_that_share_a_store_check_an_instance_once_and_never_search(bench):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            for _ in range(8):
                await rounds(it).check()
    assert paths(own) == ["/healthz", "/config"]
    assert paths(public) == ["/healthz"]
    assert public.requests[0].headers["User-Agent"].startswith("searx-mcp/")


@pytest.mark.parametrize(
    ("searched", "idle", "own_paths"),
    [
        pytest.param(False, 0, ["/healthz", "/config"], id="nobody searches"),
        pytest.param(True, IDLE + 1, [], id="nobody uses the process"),
    ],
)
async def test_without_a_search_no_public_instance_is_asked_for_anything(
    bench, searched, idle, own_paths
):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with bench(own=[own], public=[public]) as it:
            checks = rounds(it, searched=searched)
            it.clock.advance(idle)
            await checks.check()
    assert public.requests == []
    assert paths(own) == own_paths


async def test_a_clock_put_back_does_not_put_a_process_to_sleep_for_ever(bench):
    async with bench() as it:
        activity = Activity(it.clock)
        activity.searched()
        it.clock.jump(-10 * IDLE)
        seen = [activity.is_searching]
        activity.searched()
        assert [*seen, activity.is_searching, activity.is_awake] == [False, True, True]


@pytest.mark.parametrize(("whose", "wait"), [("own", 300), ("public", HOUR)])
async def test_the_only_instance_is_known_to_be_silent_after_three_checks(bench, whose, wait):
    async with FakeSearxng() as gone:
        pass
    async with bench(**{whose: [gone]}) as it:
        for _ in range(3):
            await rounds(it).check()
            it.clock.advance(wait)
        assert it.pool.snapshot(it.clock())[0].state is InstanceState.FAILING


@pytest.mark.parametrize("first", [True, False], ids=["silent first", "answers first"])
async def test_a_public_instance_that_is_silent_while_another_answers_is_known_too(bench, first):
    async with FakeSearxng() as gone:
        pass
    async with FakeSearxng() as good, bench(public=[gone, good]) as it:
        enlist(it, [gone.url, good.url] if first else [good.url, gone.url])
        activity = Activity(it.clock)
        checks = rounds(it, activity=activity)
        for _ in range(8):
            activity.searched()
            await checks.check()
            it.clock.advance(HOUR / 2)
        states = {row.url: row.state for row in it.pool.snapshot(it.clock())}
    assert states[gone.url] is InstanceState.FAILING
    assert states[good.url] is InstanceState.NEW, "a health check proves no engine"


@pytest.mark.parametrize("public", [2, 6])
async def test_a_network_that_is_down_for_a_while_is_held_against_nobody(bench, public):
    async with bench() as it:
        urls = enlist(it, public)
        counting, activity = Counting(silent=urls), Activity(it.clock)
        checks = rounds(it, client=counting, activity=activity)
        for done in range(24):
            counting.silent = set(urls) if done % 6 < 4 else set()
            activity.searched()
            await checks.check()
            it.clock.advance(600)
        assert all(row.consecutive_failures == 0 for row in it.pool.snapshot(it.clock()))


async def test_two_that_are_gone_one_after_the_other_are_known(bench):
    async with bench() as it:
        urls = enlist(it, 5)
        counting, activity = Counting(silent=urls[1:3]), Activity(it.clock)
        checks = rounds(it, client=counting, activity=activity)
        for _ in range(40):
            activity.searched()
            await checks.check()
            it.clock.advance(300)
        states = {row.url: row.state for row in it.pool.snapshot(it.clock())}
    failing = [url for url in urls if states[url] is InstanceState.FAILING]
    assert failing == urls[1:3]


async def test_an_own_instance_that_is_silent_is_not_asked_for_more(bench):
    async with bench() as it:
        it.pool.enlist(["http://own.example/"], [])
        counting = Counting(silent=["http://own.example/"])
        await rounds(it, client=counting).check()
    assert (counting.asked, counting.configs) == (["http://own.example/"], 0)


async def test_a_failing_public_instance_that_answers_again_may_be_asked_again(bench):
    async with FakeSearxng() as good, bench(public=[good]) as it:
        for _ in range(6):
            it.pool.probed(good.url, alive=False, now=it.clock())
        assert it.pool.propose(it.clock()) is None
        await rounds(it).check()
        assert it.pool.propose(it.clock()) is not None


async def test_four_are_checked_at_once_and_each_is_told(bench):
    told: list[str] = []
    urls = [f"http://own-{n}.example/" for n in range(20)]
    counting = Counting(silent=urls)
    async with bench() as it:
        it.pool.enlist(urls, [])
        await rounds(it, client=counting).check()
        checker = HealthChecker(it.pool, counting, it.clock)  # type: ignore[arg-type] # - nobody answers, so nothing else is asked
        await checker.check(urls[:7], progress=told.append)
    assert counting.most == 4
    assert told == [f"checked {count} of 7 instances" for count in range(1, 8)]


async def test_a_schedule_checks_at_once_and_is_gone_when_stopped(bench):
    async with FakeSearxng() as own, bench(own=[own]) as it, asyncio.TaskGroup() as group:
        schedule = Schedule([rounds(it).check], interval=300, spawn=group.create_task)
        schedule.start()
        async with asyncio.timeout(60):
            await own.wait_for_requests(1)
        await schedule.stop()
        await schedule.stop()


async def test_a_clock_put_back_does_not_put_off_the_next_round():
    rounds = asyncio.Queue[None]()

    async def work():
        rounds.put_nowait(None)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
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

        check = rounds(it, client=Broken()).check
        schedule = Schedule([check], interval=300, spawn=spawn)
        schedule.start()
        async with asyncio.timeout(60):
            await done.wait()
        await schedule.stop()
    assert "search.background_work_failed" in caplog.text


NAMES_US = "User-agent: searx-mcp\nDisallow: /\n"


def checker(bench) -> HealthChecker:
    return HealthChecker(bench.pool, bench.upstream, bench.clock)


async def test_a_check_asks_for_what_costs_no_search_and_the_pool_learns(bench):
    async with FakeSearxng(link_token=True) as public, FakeSearxng() as own:
        async with bench(own=[own], public=[public]) as it:
            checked = await checker(it).check([own.url, public.url])
            rows = {row.url: row for row in it.pool.snapshot(it.clock())}
            assert it.pool.record_of(public.url).robots_read_at == it.clock()
    mine, theirs = checked.checks
    assert (mine.url, mine.alive, mine.robots) == (own.url, True, Robots.NOT_ASKED)
    assert (theirs.url, theirs.alive, theirs.robots) == (public.url, True, Robots.ALLOWED)
    assert theirs.config is not None
    assert theirs.config.limiter is True
    assert theirs.config.engines
    assert [request.path for request in public.requests] == ["/healthz", "/config", "/robots.txt"]
    assert [request.path for request in own.requests] == ["/healthz", "/config"]
    assert rows[public.url].version == theirs.config.version
    assert not checked.offline


async def test_an_operator_who_names_us_is_left_alone_until_the_line_is_gone(bench):
    async with FakeSearxng(robots=NAMES_US) as public, bench(public=[public]) as it:
        checked = await checker(it).check([public.url])
        (row,) = it.pool.snapshot(it.clock())
        assert (checked.checks[0].robots, row.state) == (Robots.OPTED_OUT, "quarantined")
        public.answer_with(b"", path="/robots.txt")
        checked = await checker(it).check([public.url])
        assert checked.checks[0].robots is Robots.ALLOWED
        assert it.pool.propose(it.clock()) is not None


async def test_a_robots_txt_that_cannot_be_read_is_said_and_teaches_nothing(bench):
    async with FakeSearxng() as public, bench(public=[public]) as it:
        public.answer_with(b"no", path="/robots.txt", status=503)
        checked = await checker(it).check([public.url])
        assert it.pool.record_of(public.url).robots_read_at == 0
    assert checked.checks[0].robots is Robots.UNREADABLE
    assert checked.checks[0].detail


async def test_silence_is_a_failure_unless_nobody_answers(bench):
    async with FakeSearxng() as gone, FakeSearxng() as also_gone:
        pass
    async with FakeSearxng() as there, bench(public=[gone, also_gone, there]) as it:
        for _ in range(3):
            assert (await checker(it).check([gone.url, also_gone.url])).offline
        assert {row.state for row in it.pool.snapshot(it.clock())} == {InstanceState.NEW}
        for _ in range(2):
            await checker(it).check([gone.url, there.url])
        online = await checker(it).check([gone.url, there.url])
        states = {row.url: row.state for row in it.pool.snapshot(it.clock())}
    assert not online.offline
    assert online.checks[0].config is None
    assert (states[gone.url], states[there.url]) == (InstanceState.FAILING, InstanceState.NEW)


async def test_one_that_is_silent_alone_is_not_taken_for_a_network_that_is_down(bench):
    async with FakeSearxng() as gone:
        pass
    async with bench(public=[gone]) as it:
        for _ in range(3):
            checked = await checker(it).check([gone.url])
            assert not checked.offline
        (row,) = it.pool.snapshot(it.clock())
    assert row.state is InstanceState.FAILING


async def test_an_own_instance_that_answers_may_be_searched_at_once_and_for_json(bench):
    async with FakeSearxng(formats=("html", "json")) as own, bench(own=[own]) as it:
        own.limit()
        deadline = asyncio.get_running_loop().time() + 10
        with pytest.raises(NoInstancesError):
            await it.executor.run(SearchContext(InstanceQuery("tea"), 5, deadline))
        assert it.pool.propose(it.clock()) is None
        await checker(it).check([own.url])
        proposal = it.pool.propose(it.clock())
    assert proposal is not None
    assert proposal.format is Format.JSON

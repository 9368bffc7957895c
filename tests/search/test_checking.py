"""Free probes by hand."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from searx_mcp.errors import NoInstancesError
from searx_mcp.models.administration import Robots
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceState
from searx_mcp.search.checking import Checker
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.sources.searxng.request import InstanceQuery
from searx_mcp.testing.searxng import FakeSearxng

NAMES_US = "User-agent: searx-mcp\nDisallow: /\n"


def checker(bench) -> Checker:
    return Checker(bench.pool, bench.upstream, bench.clock)


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
        public._robots = None
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
    assert states[gone.url] is InstanceState.FAILING
    assert states[there.url] is InstanceState.NEW


async def test_one_that_is_silent_alone_is_not_taken_for_a_network_that_is_down(bench):
    async with FakeSearxng() as gone:
        pass
    async with bench(public=[gone]) as it:
        for _ in range(3):
            checked = await checker(it).check([gone.url])
            assert not checked.offline
        (row,) = it.pool.snapshot(it.clock())
    assert row.state is InstanceState.FAILING


async def test_four_are_asked_at_once_and_each_is_told(bench):
    told: list[str] = []
    busy = most = 0

    class Slow:
        async def is_alive(self, base_url, *, own, timeout):  # noqa: ASYNC109 - as the protocol has it
            nonlocal busy, most
            busy += 1
            most = max(most, busy)
            await asyncio.sleep(0)
            busy -= 1
            return False

    async with AsyncExitStack() as stack:
        fakes = [await stack.enter_async_context(FakeSearxng()) for _ in range(7)]
        it = await stack.enter_async_context(bench(own=fakes))
        slow = Checker(it.pool, Slow(), it.clock)  # type: ignore[arg-type] # - nobody answers, so nothing else is asked
        await slow.check([fake.url for fake in fakes], progress=told.append)
    assert most == 4
    assert told == [f"checked {count} of 7 instances" for count in range(1, 8)]


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

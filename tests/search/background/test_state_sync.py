"""What the pool learned outlives a process."""

import asyncio
import random

import pytest
from typing_extensions import override

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.pool.record import OPTED_OUT
from searx_mcp.search.background.state_sync import PULL_INTERVAL
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng


@pytest.fixture
def another_process(settings_for, catalog_of, tmp_path):
    """Make clients that share nothing but the file."""

    def make(clock: FakeClock, *fakes: FakeSearxng) -> SearxClient:
        return SearxClient(
            settings_for(*fakes, search={"attempt_timeout": 10}),
            catalog=catalog_of(*fakes),
            state=open_store(tmp_path / FILE_NAME),
            clock=clock,
            rng=random.Random(1),
        )

    return make


async def test_a_limit_is_remembered_by_the_next_process(another_process):
    clock = FakeClock()
    async with FakeSearxng(status=429) as limited, FakeSearxng() as good:
        async with another_process(clock, limited, good) as first:
            await first.search("one", fetch_content=False)
        clock.advance(60)
        async with another_process(clock, limited, good) as second:
            await second.search("two", fetch_content=False)
            report = await second.instances()
    assert limited.searches == 1
    rows = {row.url: row for row in report.instances}
    assert rows[limited.url].state == "rate_limited"
    assert rows[limited.url].last_verdict == "rate_limited"
    assert rows[good.url].successes == 2


async def test_a_budget_is_shared_by_processes(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        async with another_process(clock, only) as first, another_process(clock, only) as second:
            await first.search("one", fetch_content=False)
            with pytest.raises(NoInstancesError) as caught:
                await second.search("two", fetch_content=False)
    assert caught.value.reason is UnavailableReason.BUDGET_SPENT
    assert only.searches == 1


async def test_news_of_other_processes_arrive_while_one_is_running(another_process):
    clock = FakeClock()
    async with FakeSearxng() as bad, FakeSearxng() as good:
        async with another_process(clock, bad, good) as first:
            await first.instances()
            bad.limit()
            async with another_process(clock, bad, good) as second:
                await second.search("one", fetch_content=False)
            clock.advance(PULL_INTERVAL)
            states = {row.url: row.state for row in (await first.instances()).instances}
    assert states[bad.url] == "rate_limited"


async def test_older_news_do_not_undo_what_was_learned_here(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        async with another_process(clock, only) as first, another_process(clock, only) as second:
            await first.search("one", fetch_content=False)
            clock.advance(40)
            only.limit()
            with pytest.raises(NoInstancesError):
                await second.search("two", fetch_content=False)
            await first.aclose()
            report = await second.instances()
    assert report.instances[0].state == "rate_limited"


async def test_a_file_that_cannot_be_used_is_told_and_no_search_fails(
    settings_for, catalog_of, tmp_path
):
    blocked = tmp_path / "no folder"
    blocked.touch()
    async with FakeSearxng() as good:
        client = SearxClient(
            settings_for(good), catalog=catalog_of(good), state=open_store(blocked / FILE_NAME)
        )
        async with client:
            response = await client.search("one", fetch_content=False)
            report = await client.instances()
    assert response.results
    assert any(str(blocked) in note for note in report.notes)


async def test_what_the_user_chose_elsewhere_takes_effect_at_the_next_recall(another_process):
    clock = FakeClock()
    async with FakeSearxng() as public, FakeSearxng(formats=("json", "html")) as own:
        async with (
            another_process(clock, public) as server,
            another_process(clock, public) as command,
        ):
            await server.search("one", fetch_content=False)
            await command.admin.add(own.url)
            clock.advance(PULL_INTERVAL - 1)
            assert [row.url for row in (await server.instances()).instances] == [public.url]
            clock.advance(1)
            found = await server.search("two", fetch_content=False)
            assert found.instance_used == own.url, "its origin is admitted, and public ones are off"
            await command.admin.remove(own.url)
            await command.admin.block(public.url)
            clock.advance(PULL_INTERVAL)
            assert (await server.instances()).instances == ()
            await command.admin.unblock(public.url)
            clock.advance(PULL_INTERVAL)
            rows = (await server.instances()).instances
    assert [(row.url, row.successes) for row in rows] == [(public.url, 1)]


async def test_a_reset_reaches_running_servers_and_leaves_the_charges(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        only.limit()
        async with another_process(clock, only) as server, another_process(clock, only) as command:
            with pytest.raises(NoInstancesError):
                await server.search("one", fetch_content=False)
            await command.admin.reset(only.url)
            assert (await server.instances()).instances[0].state == "rate_limited"
            clock.advance(PULL_INTERVAL)
            (row,) = (await server.instances()).instances
            assert (row.state, row.failures, row.reason) == ("new", 0, "")
            budget = await server.admin.budget()
    assert budget.instances[0].spent == 1, "a charge stays"


class Gate(FakeSearxng):
    """An instance that answers searches when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.searched, self.opened = asyncio.Event(), asyncio.Event()

    @override
    async def _answer(self, request, received):
        if received.path == "/search":
            self.searched.set()
            await self.opened.wait()
        return await super()._answer(request, received)


async def test_a_wish_to_be_left_alone_outlives_an_answer_that_another_process_was_waiting_for(
    another_process,
):
    clock = FakeClock()
    async with Gate() as only, another_process(clock, only) as witness:
        await witness.instances()
        async with another_process(clock, only) as second:
            async with another_process(clock, only) as first, asyncio.TaskGroup() as group:
                search = group.create_task(first.search("one", fetch_content=False))
                await only.searched.wait()
                only._robots = "User-agent: searx-mcp\nDisallow: /\n"
                clock.advance(60)  # the budget allows one search in 30 s
                with pytest.raises(NoInstancesError):
                    await second.search("two", fetch_content=False)
                clock.advance(1)
                only.opened.set()
            assert search.result().results
            clock.advance(60)
            await _is_left_alone_by(second)
        # What a process learned is kept behind its answers, and surely once it has ended.
        clock.advance(60)
        await _is_left_alone_by(witness)
    assert only.searches == 1


async def test_a_wish_to_be_left_alone_outlives_who_has_read_it(another_process):
    clock = FakeClock()
    async with Gate() as only:
        async with another_process(clock, only) as first, asyncio.TaskGroup() as group:
            search = group.create_task(first.search("one", fetch_content=False))
            await only.searched.wait()
            only._robots = "User-agent: searx-mcp\nDisallow: /\n"
            clock.advance(60)
            async with another_process(clock, only) as second:
                with pytest.raises(NoInstancesError):
                    await second.search("two", fetch_content=False)
            clock.advance(1)
            only.opened.set()
        assert search.result().results
        only._robots = ""
        async with another_process(clock, only) as third:
            await _is_left_alone_by(third)


async def _is_left_alone_by(client: SearxClient) -> None:
    with pytest.raises(NoInstancesError):
        await client.search("three", fetch_content=False)
    (row,) = (await client.instances()).instances
    assert (row.state, row.reason) == ("quarantined", OPTED_OUT)

"""What the pool learned outlives a process."""

import random

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.search.background.remembering import RECALL_INTERVAL
from searx_mcp.search.state.sqlite import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng


@pytest.fixture
def another_process(settings_for, catalog_of, tmp_path):
    """Make clients that share nothing but the file."""

    def make(clock: FakeClock, *fakes: FakeSearxng) -> SearxClient:
        return SearxClient(
            settings_for(*fakes),
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
            clock.advance(RECALL_INTERVAL)
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

"""A search waits for a budget that is free again in time."""

import asyncio
import random

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import CatalogEntry
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.execution.executor import Executor, Found
from searx_mcp.search.execution.spacing import Spacing
from searx_mcp.search.state.memory import MemoryStore
from searx_mcp.searxng.request import InstanceQuery
from searx_mcp.testing import virtual_time
from searx_mcp.testing.simulated import Behaviour, SimulatedUpstream

URLS = ("https://a.example/", "https://b.example/")


class World:
    """An executor over two public instances without token, in virtual time."""

    def __init__(self, clock) -> None:
        self.clock = clock
        self.upstream = SimulatedUpstream(clock)
        entries = [CatalogEntry(url=url, tls_grade="A+", http_grade="A+") for url in URLS]
        rng = random.Random(1)
        pool = InstancePool(public=entries, config=PoolConfig(random_start=False), rng=rng)
        for url in URLS:
            pool.learn_facts(url, ConfigFacts(limiter_enabled=True, link_token=False), clock())
        self.messages: list[str] = []
        self.executor = Executor(
            pool=pool,
            upstream=self.upstream,
            state=MemoryStore(),
            config=SearchConfig(),
            spacing=Spacing((0, 0), rng),
            clock=clock,
        )

    async def search(self, seconds: float = 30.0) -> Found:
        deadline = asyncio.get_running_loop().time() + seconds
        query = InstanceQuery(text="tea")
        return await self.executor.run(
            query, wanted=10, deadline=deadline, progress=self.messages.append
        )


def test_a_budget_free_within_the_search_phase_is_waited_for():
    async def main(clock):
        world = World(clock)
        for _ in URLS:
            await world.search()
        await asyncio.sleep(22)
        started = clock.elapsed
        found = await world.search()
        assert found.instance == world.upstream.sent[0].url
        assert 7 < clock.elapsed - started < 8.3
        assert "waiting 8 s until an instance's budget allows another request" in world.messages

    virtual_time.run(main)


def test_a_budget_free_too_late_for_an_answer_is_not_waited_for():
    async def main(clock):
        world = World(clock)
        for _ in URLS:
            await world.search()
        await asyncio.sleep(18)
        started = clock.elapsed
        with pytest.raises(NoInstancesError) as caught:
            await world.search()
        assert clock.elapsed == started
        assert caught.value.reason is UnavailableReason.BUDGET_SPENT
        assert caught.value.retry_after == pytest.approx(12, abs=0.5)

    virtual_time.run(main)


def test_after_one_that_failed_the_search_waits_for_the_other():
    async def main(clock):
        world = World(clock)
        for _ in URLS:
            await world.search()
        await asyncio.sleep(29.85)
        first, second = (sent.url for sent in world.upstream.sent)
        world.upstream.behaviours[first] = Behaviour(verdict=Verdict.SERVER_ERROR)
        found = await world.search()
        assert found.instance == second
        assert [attempt.verdict for attempt in found.attempts] == [
            Verdict.SERVER_ERROR,
            Verdict.FULL,
        ]

    virtual_time.run(main)

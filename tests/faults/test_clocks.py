"""A machine whose clock jumps while a client lives: no search and no page is lost to it."""

import asyncio

import pytest
from typing_extensions import override

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError
from searx_mcp.pool.record import SKEW
from searx_mcp.storage.sqlite_state import open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

DAY = 86_400.0
JUMPS = {
    "a day back": [-DAY],
    "a month forward and back": [30 * DAY, -30 * DAY],
    "to 1970": [DAY - 1_767_225_600.0],
    "to and fro": [400 * DAY, -800 * DAY, 10 * DAY],
}
pytestmark = pytest.mark.parametrize("jumps", JUMPS.values(), ids=JUMPS)


class HastyClock(FakeClock):
    """A clock that runs fifty times as fast as the loop's."""

    @override
    def __call__(self) -> float:
        return super().__call__() + 50 * asyncio.get_running_loop().time()


@pytest.fixture(params=[(FakeClock, "state-v1.db"), (HastyClock, "")], ids=["file", "hasty"])
def world(request, tmp_path):
    """A clock, and a store in a file or in memory."""
    make, name = request.param
    return make(), open_store(tmp_path / name if name else None)


@pytest.fixture
def clock(world):
    return world[0]


@pytest.fixture
def state(world):
    return world[1]


@pytest.fixture
def client_of(settings_for, catalog_of, clock, state):
    def make(own, public, *reachable):
        settings = settings_for(
            *(own, *public, *reachable),
            own=[own],
            web_search={"max_consecutive_failures": 1},
            search={"attempt_timeout": 60, "phase_timeout": 60},
        )
        return SearxClient(settings, catalog=catalog_of(*public), clock=clock, state=state)

    return make


async def test_searches_and_pages_go_on(client_of, clock, jumps):
    web = FakeWeb({"/page": FakePage(article("Bees", ["They dance in the hive."] * 20))})
    async with FakeSearxng() as own, FakeSearxng() as public, web:
        async with client_of(own, [public], web) as client:
            for turn, jump in enumerate([0.0, *jumps, 0.0]):
                clock.jump(jump)
                for query in ("bees", f"bees {turn}"):
                    response = await client.search(query, fetch_content=False)
                    assert response.results
                page = await client.fetch(web.url("/page"))
                assert page.title == "Bees"
                clock.jump(10.0)


@pytest.mark.parametrize("hurt", [FakeSearxng.drop, FakeSearxng.limit])
async def test_nobody_waits_longer_than_at_first(client_of, clock, jumps, hurt):
    async with FakeSearxng() as own, client_of(own, []) as client:
        await client.search("bees", fetch_content=False)
        hurt(own)
        longest = await wait_of(client, "wasps")
        assert longest > 0
        own.recover()
        for turn, jump in enumerate(jumps):
            clock.jump(jump)
            assert await wait_of(client, f"wasps {turn}") <= longest + SKEW
        clock.advance(longest + SKEW)
        response = await client.search("wasps", fetch_content=False)
        assert response.results


async def wait_of(client, query):
    """How long a search is to wait; 0 if it found something."""
    try:
        await client.search(query, fetch_content=False)
    except NoInstancesError as error:
        return error.retry_after or 0.0
    return 0.0


async def test_what_is_learned_afterwards_is_kept(client_of, clock, state, jumps):
    async with FakeSearxng() as own:
        async with client_of(own, []) as client:
            await client.search("bees", fetch_content=False)
            for turn, jump in enumerate(jumps):
                clock.jump(jump)
                await client.search(f"bees {turn}", fetch_content=False)
                clock.advance(20)
        records = await state.load(clock())
        await state.aclose()
        (record,) = (record for url, record in records.items() if url == own.url)
        assert record.successes == 1 + len(jumps)

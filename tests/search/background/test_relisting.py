"""The list of public instances is renewed behind the searches."""

import json
import random

import pytest

from searx_mcp import SearxClient
from searx_mcp.models.instance import Catalog
from searx_mcp.search.background.activity import IDLE
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.web import FakePage, FakeWeb

PATH = "/instances.json"
TODAY = 1_795_000_000.0


def listing(*names: str) -> FakePage:
    rows = {
        f"https://{name}.searx-test.org/": {
            "network_type": "normal",
            "http": {"status_code": 200, "grade": "A+", "error": None},
            "tls": {"grade": "A+"},
            "version": "2026.8.22+9fea41204",
            "error": None,
        }
        for name in names
    }
    body = json.dumps({"metadata": {"timestamp": 1_780_000_000}, "instances": rows})
    return FakePage(body, content_type="application/json")


NAMES = tuple(f"i{n}" for n in range(12))


@pytest.fixture
async def web():
    async with FakeWeb({PATH: listing(*NAMES)}) as site:
        yield site


@pytest.fixture
def open_client(settings_for, web, tmp_path):
    """Make clients whose list comes from a loopback site."""

    def make(clock: FakeClock, *, state=None, **instances: object) -> SearxClient:
        settings = settings_for(web, instances={"source": web.url(PATH), **instances})
        return SearxClient(
            settings, folder=tmp_path, clock=clock, state=state, rng=random.Random(1)
        )

    return make


async def renew(client: SearxClient, clock: FakeClock) -> set[str]:
    assert client._parts is not None
    assert client._parts.relisting is not None
    client._parts.activity.searched()
    await client._parts.relisting.renew()
    return {row.url.split("//")[1].split(".")[0] for row in (await client.instances()).instances}


async def test_a_new_list_takes_the_place_of_the_bundled_one(open_client):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        assert len((await client.instances()).instances) > 20
        assert await renew(client, clock) == set(NAMES)
        report = await client.instances()
    assert report.catalog_age_days == 0
    assert report.catalog_source.startswith("127.0.0.1")
    assert not report.notes


async def test_the_next_process_begins_with_the_list_that_was_kept(open_client, web):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        await renew(client, clock)
    async with open_client(clock) as client:
        names = {row.url for row in (await client.instances()).instances}
    assert len(names) == len(NAMES)
    assert len(web.requests) == 1


async def test_nobody_is_asked_while_nobody_searches(open_client, web):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        assert client._parts is not None
        relisting = client._parts.relisting
        assert relisting is not None
        await relisting.renew()
        client._parts.activity.searched()
        clock.advance(IDLE + 1)
        await relisting.renew()
    assert web.requests == []


async def test_one_of_several_processes_asks(open_client, web):
    clock, state = FakeClock(TODAY), MemoryStore()
    web.put(PATH, FakePage("gone", status=500))
    async with open_client(clock, state=state) as one, open_client(clock, state=state) as other:
        await renew(one, clock)
        await renew(other, clock)
    assert len(web.requests) == 1


async def test_a_failing_source_leaves_the_pool_as_it_was(open_client, web):
    clock = FakeClock(TODAY)
    web.put(PATH, FakePage("not json", content_type="application/json"))
    async with open_client(clock) as client:
        before = (await client.instances()).instances
        await renew(client, clock)
        assert (await client.instances()).instances == before


async def test_a_list_that_shrank_to_nothing_is_not_believed(open_client, web):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        await renew(client, clock)
        web.put(PATH, listing("i1"))
        clock.advance(14 * 3_600)
        assert await renew(client, clock) == set(NAMES)
    assert len(web.requests) == 2


async def test_what_was_learned_of_an_instance_stays_when_the_list_changes(open_client, web):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        await renew(client, clock)
        assert client._parts is not None
        pool = client._parts.pool
        pool.begin("https://i1.searx-test.org/", clock())
        web.put(PATH, listing(*NAMES[2:], "new"))
        clock.advance(14 * 3_600)
        names = await renew(client, clock)
        assert names == {*NAMES[2:], "new"}
        pool.release("https://i1.searx-test.org/")  # a request that was under way ends as any other


@pytest.mark.parametrize(
    "instances", [{"source": ""}, {"public": "off"}, {"catalog": "given"}], ids=str
)
async def test_no_list_is_fetched_where_none_is_wanted(open_client, tmp_path, instances):
    if "catalog" in instances:
        path = tmp_path / "own.json"
        path.write_text(
            Catalog.model_validate({"listed_at": "2026-08-05T00:00:00Z"}).model_dump_json()
        )
        instances = {"catalog": str(path)}
    async with open_client(FakeClock(TODAY), **instances) as client:
        assert client._parts is not None
        assert client._parts.relisting is None

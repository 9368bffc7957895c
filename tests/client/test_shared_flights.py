"""The same thing asked of two processes at once, on a real server, costs the web one request."""

import asyncio
import os
import secrets
import signal
import sys

import pytest
from typing_extensions import override

from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import NoInstancesError
from searx_mcp.search import redis_answers
from searx_mcp.storage.redis_lease import RedisLease
from searx_mcp.testing.searxng import FakeSearxng

pytestmark = pytest.mark.slow


class Waiting:
    """Counts those who were refused a lease, of all clients."""

    def __init__(self) -> None:
        self._refused = asyncio.Semaphore(0)

    def refused(self) -> None:
        self._refused.release()

    async def one(self) -> None:
        """Wait until somebody waits for somebody else."""
        async with asyncio.timeout(60):
            await self._refused.acquire()


@pytest.fixture
def waiting(monkeypatch) -> Waiting:
    seen = Waiting()

    class Watched(RedisLease):
        @override
        async def take(self) -> str:
            holder = await super().take()
            if holder not in {"", self.id}:
                seen.refused()
            return holder

    monkeypatch.setattr(redis_answers, "RedisLease", Watched)
    monkeypatch.setattr(redis_answers, "PATIENCE", 10)
    return seen


@pytest.fixture
def tables(redis_url) -> dict[str, dict[str, object]]:
    """Name the shared server, with a prefix of the test's own."""
    prefix = f"{secrets.token_hex(8)}:"
    return {
        "redis": {"url": redis_url, "prefix": prefix, "secret": "x" * 16, "timeout": 10},
        "web_search": {"default_timeout": 60},
    }


@pytest.fixture
async def own():
    async with FakeSearxng(formats=("html", "json")) as fake:
        yield fake


async def search(client: SearxClient, query: str = "bees") -> list[str]:
    response = await client.search(query, fetch_content=False, results_count=5)
    return [result.url for result in response.results]


async def test_one_search_asked_of_two_processes_is_one_request(settings_for, tables, own, waiting):
    settings = settings_for(own, own=[own], **tables)
    own.hold()
    async with SearxClient(settings) as one, SearxClient(settings) as two:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(search(one))
            await own.wait_for_requests(1)
            second = group.create_task(search(two))
            await waiting.one()
            own.recover()
    assert own.searches == 1
    assert len(first.result()) == 5
    assert second.result() == first.result()


async def test_other_searches_do_not_wait(settings_for, tables, own, waiting):
    settings = settings_for(own, own=[own], **tables)
    own.hold()
    async with SearxClient(settings) as one, SearxClient(settings) as two:
        async with asyncio.TaskGroup() as group:
            group.create_task(search(one))
            group.create_task(search(two, "wasps"))
            await own.wait_for_requests(2)
            own.recover()
    assert own.searches == 2


async def test_a_search_that_fails_or_is_given_up_in_one_process_is_made_by_the_other(
    settings_for, tables, own, waiting
):
    settings = settings_for(own, own=[own], **tables)
    own.hold()
    async with SearxClient(settings) as one, SearxClient(settings) as two:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(search(one))
            await own.wait_for_requests(1)
            second = group.create_task(search(two))
            await waiting.one()
            first.cancel()
            await own.wait_for_requests(2)
            own.recover()
    assert len(second.result()) == 5


async def test_a_failure_of_one_process_is_not_that_of_the_other(
    settings_for, catalog_of, tables, waiting
):
    async with FakeSearxng(status=500) as broken, FakeSearxng() as good:
        settings = settings_for(broken, good, **tables)
        broken.hold()
        async with (
            SearxClient(settings, catalog=catalog_of(broken)) as one,
            SearxClient(settings, catalog=catalog_of(good)) as two,
        ):
            failures: list[NoInstancesError] = []

            async def fail() -> None:
                with pytest.raises(NoInstancesError) as caught:
                    await search(one)
                failures.append(caught.value)

            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                await broken.wait_for_requests(1)
                second = group.create_task(search(two))
                await waiting.one()
                broken.recover()
                broken.fail(500)
    assert len(failures) == 1
    assert len(second.result()) == 5


async def test_a_process_that_is_killed_holds_up_no_search(
    settings_for, tables, own, waiting, start_program, tmp_path
):
    settings = settings_for(own, own=[own], **tables)
    environment = {
        **os.environ,
        "SEARX_MCP_REDIS__URL": tables["redis"]["url"],
        "SEARX_MCP_REDIS__PREFIX": tables["redis"]["prefix"],
        "SEARX_MCP_REDIS__SECRET": tables["redis"]["secret"],
        "SEARX_MCP_OPEN_SOURCES__MODE": "off",
        "SEARXNG_URL": own.url,
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    own.hold()
    arguments = ("search", "bees", "--no-fetch-content", "--results-count", "5")
    doomed = await start_program(
        sys.executable, "-m", "searx_mcp", *arguments, env=environment, cwd=tmp_path
    )
    await own.wait_for_requests(1)
    async with SearxClient(settings) as two:
        async with asyncio.TaskGroup() as group:
            second = group.create_task(search(two))
            await waiting.one()
            doomed.send_signal(signal.SIGKILL)
            await own.wait_for_requests(2)
            own.recover()
    assert len(second.result()) == 5
    assert own.searches == 2


async def test_when_the_server_goes_away_nobody_waits_any_longer(
    settings_for, tables, own, waiting, start_redis
):
    server = start_redis()
    tables["redis"]["url"] = server.url
    settings = settings_for(own, own=[own], **tables)
    own.hold()
    async with SearxClient(settings) as one, SearxClient(settings) as two:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(search(one))
            await own.wait_for_requests(1)
            second = group.create_task(search(two))
            await waiting.one()
            server.kill()
            await own.wait_for_requests(2)
            own.recover()
    assert first.result() == second.result()

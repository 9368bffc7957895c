"""A cancelled search leaves nothing behind, wherever it is cancelled."""

import asyncio
import random
from collections.abc import Callable, Iterator

import pytest

from searx_mcp import SearxClient
from searx_mcp.models.request import SearchRequest
from searx_mcp.testing.searxng import FakeSearxng

TURNS = 400
"""About as many as a search needs to come to its last request; threads that are slow let more pass by."""
MOST_TURNS = 100_000


def turns_until(is_reached: Callable[[], bool]) -> Iterator[int]:
    """Numbers of turns, in steps of seven, and in longer ones until the last request was reached."""
    turns = 0
    while turns < TURNS or (turns < MOST_TURNS and not is_reached()):
        yield turns
        turns += 7 if turns < TURNS else turns // 4


async def loop_turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def tasks() -> set[asyncio.Task[object]]:
    """All tasks but those of the instances, which keep one for each idle connection."""
    return {
        task
        for task in asyncio.all_tasks()
        if "RequestHandler" not in getattr(task.get_coro(), "__qualname__", "")
    }


async def until_only(expected: set[asyncio.Task[object]]) -> None:
    """Let the instances' own tasks end; one that a search left would stay."""
    async with asyncio.timeout(5):
        while tasks() - expected:
            await loop_turns(1)


def acquired(client: SearxClient) -> int:
    """Connections that a request holds."""
    assert client._components is not None
    traffic = client._components.sessions.get()
    sessions = (traffic.own, traffic.public)
    connectors = [each.connector for session in sessions for each in session._clients.values()]
    return sum(len(connector._acquired) for connector in connectors if connector is not None)


def in_flight(client: SearxClient) -> int:
    assert client._components is not None
    return sum(member.in_flight for member in client._components.pool._members.values())


@pytest.mark.parametrize("kind", ["own", "public"])
async def test_a_search_cancelled_after_any_turn_leaves_no_task_connection_or_count(
    settings_for, catalog_of, kind
):
    own = kind == "own"
    async with FakeSearxng(status=500) as broken, FakeSearxng(hang=True) as hung:
        broken.fail(404)
        fakes = (broken, hung)
        settings = settings_for(
            *fakes,
            own=fakes if own else (),
            search={"attempt_timeout": 30, "phase_timeout": 60, "hedge_delay": 0.05},
        )
        catalog = None if own else catalog_of(*fakes)
        async with SearxClient(settings, catalog=catalog, rng=random.Random(1)) as client:
            before = tasks()
            for turns in turns_until(lambda: bool(hung.requests)):
                async with asyncio.TaskGroup() as group:
                    request = SearchRequest(query=f"q{turns}", fetch_content=False, timeout=60)
                    task = group.create_task(client.search(request))
                    await loop_turns(turns)
                    assert not task.done()
                    task.cancel()
                assert task.cancelled()
                await until_only(before)
                assert (in_flight(client), acquired(client)) == (0, 0)
        assert hung.requests, "the sweep never came to the second instance"

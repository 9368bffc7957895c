"""One connection that many calls share."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from searx_mcp.errors import StorageBusyError
from searx_mcp.storage.redis import RedisLink, RedisSession

pytestmark = pytest.mark.slow


async def ping(session: RedisSession) -> list[Any]:
    return await session.ask(("PING",))


async def test_a_call_that_others_keep_waiting_gives_up_and_takes_nobody_for_away(redis_url):
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def long(session: RedisSession) -> list[Any]:
        begun.set()
        await may_end.wait()
        return await ping(session)

    async with aclosing(RedisLink(redis_url, patience=60)) as link, asyncio.TaskGroup() as group:
        first = group.create_task(link.run(long))
        await begun.wait()
        link.patience = 0.05
        with pytest.raises(StorageBusyError):
            await link.run(ping)
        assert link.error is None
        link.patience = 60
        second = group.create_task(link.run(ping))
        may_end.set()
        assert await first == await second == [b"PONG"]


async def test_waiting_for_a_turn_takes_nothing_from_the_time_for_the_server(redis_url, pass_by):
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def long(session: RedisSession) -> list[Any]:
        begun.set()
        await may_end.wait()
        pass_by(9)
        return await ping(session)

    async with aclosing(RedisLink(redis_url, patience=10)) as link, asyncio.TaskGroup() as group:
        first = group.create_task(link.run(long))
        await begun.wait()

        async def slow(session: RedisSession) -> list[Any]:
            pass_by(9)
            return await ping(session)

        second = group.create_task(link.run(slow))
        await asyncio.sleep(0)
        may_end.set()
        assert await first == await second == [b"PONG"]

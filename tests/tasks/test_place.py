"""Places of a bounded number, each taken once however often it is asked for."""

import asyncio

import pytest

from searx_mcp.tasks.place import Place
from tests.doubles import virtual_time


async def test_a_place_is_taken_once_and_given_back_at_the_end():
    places = asyncio.Semaphore(1)
    async with Place(places) as place:
        assert not places.locked()
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(place.take())
        assert places.locked()
    assert not places.locked()
    async with Place(places):
        pass
    assert not places.locked()


async def test_whoever_leaves_while_waiting_leaves_the_place_to_the_next():
    places = asyncio.Semaphore(1)
    async with Place(places) as first:
        await first.take()

        async def wait() -> None:
            async with Place(places) as place:
                await place.take()

        leaving, staying = asyncio.ensure_future(wait()), asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert not staying.done()
    async with asyncio.timeout(20):
        await staying
    assert not places.locked()


async def test_a_place_that_is_left_early_is_free_at_once_and_only_once():
    places = asyncio.Semaphore(1)
    async with Place(places) as first, Place(places) as second:
        await first.take()
        first.leave()
        await second.take()
        first.leave()
        assert places.locked()
    assert not places.locked()


def test_a_place_is_waited_for_until_a_deadline():
    async def main(_clock: object) -> None:
        places = asyncio.Semaphore(1)
        async with Place(places) as first, Place(places) as second, Place(places) as third:
            assert await first.take_by(1.0)
            assert not await second.take_by(2.0)
            assert asyncio.get_running_loop().time() == 2.0
            first.leave()
            assert await third.take_by(3.0)
        assert not places.locked()

    virtual_time.run(main)

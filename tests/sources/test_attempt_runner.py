"""The distance between two requests to public instances."""

import asyncio
import random
from itertools import pairwise

import pytest

from searx_mcp.sources.attempt_runner import RequestPacer


def test_the_first_request_waits_for_nothing_and_the_next_keeps_the_distance():
    spacing = RequestPacer((100, 100), random.Random(1))
    assert [spacing.take_turn(50.0) for _ in range(3)] == [
        0,
        pytest.approx(0.1),
        pytest.approx(0.2),
    ]


def test_a_request_after_the_distance_waits_for_nothing():
    spacing = RequestPacer((100, 100), random.Random(1))
    spacing.take_turn(50.0)
    assert spacing.take_turn(50.2) == 0


def test_the_distance_is_random_between_its_bounds():
    spacing = RequestPacer((100, 500), random.Random(1))
    spacing.take_turn(0.0)
    turns = [spacing.take_turn(0.0) for _ in range(50)]
    gaps = [later - earlier for earlier, later in pairwise(turns)]
    assert 0.1 <= min(gaps) < 0.2
    assert 0.4 < max(gaps) <= 0.5


async def test_callers_queue_in_order():
    spacing = RequestPacer((5, 5), random.Random(1))
    order: list[int] = []

    async def one(number: int) -> None:
        await spacing.wait()
        order.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(one(number))
    assert order == [0, 1, 2, 3]


async def test_a_turn_that_comes_too_late_is_not_taken():
    spacing = RequestPacer((60_000, 60_000), random.Random(1))
    now = asyncio.get_running_loop().time()
    assert await spacing.wait(now + 30)
    assert not await spacing.wait(now + 30)
    assert 59 < spacing.take_turn(now) < 61, "nobody stands in the queue for it"

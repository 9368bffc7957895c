"""The turns of pages, in time without waiting."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from searx_mcp.fetch.turns import (
    FOUND,
    LATE,
    LINKED,
    MORE,
    REMEMBERED_FOR,
    SLOT_TIME,
    VOICES,
    Turn,
    Turns,
)
from searx_mcp.tasks import Tasks
from tests.doubles.virtual_time import in_virtual_time

NOTHING, NEXT = FOUND
SILENT = 1_000.0
"""Seconds of a page that does not come within any search."""
DEADLINE = 29.0


class World:
    """Turns in virtual time, and when the pages of a search were begun and came in."""

    def __init__(self, tasks: Tasks, at_once: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.start = self.loop.time()
        self.turns = Turns(tasks.spawn)
        self.at_once = at_once
        self.begun: list[tuple[str, float]] = []
        self.came: list[str] = []
        self.ended: list[str] = []

    def page(self, name: str, seconds: float, tokens: int = 100, url: str = "") -> Turn:
        async def work() -> int:
            self.begun.append((name, round(self.loop.time() - self.start, 2)))
            try:
                await asyncio.sleep(seconds)
            finally:
                self.ended.append(name)
            self.came.append(name)
            return tokens

        return Turn(work, url)

    async def search(
        self, pages: Sequence[Turn], *, deadline: float = DEADLINE, **options: Any
    ) -> float:
        """The seconds that the reading of pages takes."""
        started = self.loop.time()
        options = {"at_once": self.at_once, **options}
        await self.turns.take(pages, deadline=started + deadline, **options)
        return round(self.loop.time() - started, 2)

    def all_of(self, seconds: Sequence[float], tokens: int = 100) -> list[Turn]:
        return [self.page(str(n), each, tokens) for n, each in enumerate(seconds)]


@asynccontextmanager
async def opened(at_once: int = 5) -> AsyncIterator[World]:
    await asyncio.sleep(1_000.0)  # no search begins when the loop does
    async with Tasks() as tasks:
        world = World(tasks, at_once)
        yield world
    assert repr(world.turns) == "<Turns [0 pages under way, 0 of them late]>"


@pytest.mark.parametrize(
    ("seconds", "ends", "read"),
    [
        pytest.param([0.5] * 10, 1.0, 10, id="all are quick"),
        pytest.param([0.5] * 9 + [SILENT], 1.0 + MORE, 9, id="the last is silent"),
        pytest.param([SILENT] + [0.5] * 9, 1.0 + MORE, 9, id="the first is silent"),
        pytest.param([SILENT] * 5 + [0.5] * 5, SLOT_TIME + 0.5 + NEXT, 5, id="the first five are"),
        pytest.param([0.5] * 5 + [SILENT] * 5, 0.5 + NEXT, 5, id="the last five are"),
        pytest.param([5.0] * 10, SLOT_TIME + 5.0, 10, id="all are slow and none is lost"),
        pytest.param([0.5] * 8 + [1.2, 1.9], 2.4, 10, id="two are slow"),
        pytest.param([6.9], 6.9, 1, id="the only one is slow"),
        pytest.param([12.0], NOTHING, 0, id="the only one is too slow"),
        pytest.param([1.0, 3.4], 3.4, 2, id="the other one is slow"),
        pytest.param([1.0, 3.6], 1.0 + NEXT, 1, id="the other one is too slow"),
        pytest.param([SILENT] * 10, NOTHING, 0, id="all are silent"),
        pytest.param([], 0.0, 0, id="there is none"),
    ],
)
@in_virtual_time
async def test_a_search_waits_for_its_pages_but_not_for_silent_ones(seconds, ends, read):
    async with opened() as world:
        assert await world.search(world.all_of(seconds)) == pytest.approx(ends)
        assert len(world.came) == read


@pytest.mark.parametrize(
    ("pages", "ends"),
    [
        pytest.param([(0.5, 300)] * 5 + [(SILENT, 0)] * 5, 0.5 + MORE, id="better ones fill it"),
        pytest.param(
            [(0.5, 300)] * 4 + [(0.5, 299)] + [(SILENT, 0)] * 5, 0.5 + NEXT, id="there is room left"
        ),
        pytest.param(
            [(0.5, 0)] + [(0.5, 300)] * 5 + [(SILENT, 0)] * 4,
            1.0 + MORE,
            id="a wall and better ones",
        ),
        pytest.param(
            [(0.5, 0)] + [(0.5, 300)] * 4 + [(SILENT, 0)] * 5, 0.5 + NEXT, id="a wall fills nothing"
        ),
        pytest.param(
            [(SILENT, 0)] * 3 + [(0.5, 300)] * 6, 1.5 + NEXT, id="a better one is missing"
        ),
        pytest.param([(0.5, 9_999)] + [(SILENT, 0)] * 4, 0.5 + NEXT, id="one page is no answer"),
    ],
)
@in_virtual_time
async def test_an_answer_that_is_full_waits_for_no_worse_page(pages, ends):
    async with opened() as world:
        assert VOICES == 5
        turns = [world.page(str(n), *page) for n, page in enumerate(pages)]
        assert await world.search(turns, room=1_500) == pytest.approx(ends)


@in_virtual_time
async def test_pages_that_fail_are_not_waited_for_and_count_for_nothing():
    async with opened() as world:
        walls = [world.page(f"wall {n}", 0.1, tokens=0) for n in range(8)]
        slow = [world.page("good", 4.0), world.page("silent", SILENT)]
        assert await world.search([*walls, *slow]) == pytest.approx(4.2 + NEXT, abs=0.3)


@in_virtual_time
async def test_the_pages_of_a_search_begin_in_its_order_so_many_at_a_time():
    async with opened(at_once=2) as world:
        await world.search(world.all_of([1.0, 1.0, 1.5, 1.0]))
        assert world.begun == [("0", 0), ("1", 0), ("2", 1), ("3", 1)]


@in_virtual_time
async def test_a_slot_is_held_for_a_time_and_then_the_next_page_begins():
    async with opened(at_once=1) as world:
        await world.search(world.all_of([SILENT, SILENT, 0.5]))
        assert world.begun == [("0", 0), ("1", SLOT_TIME), ("2", 2 * SLOT_TIME)]


@in_virtual_time
async def test_silent_pages_of_one_search_take_no_slot_of_another():
    async with opened() as world, asyncio.TaskGroup() as group:
        silent = group.create_task(world.search(world.all_of([SILENT] * 50)))
        await asyncio.sleep(0.1)
        assert await world.search([world.page(f"good {n}", 0.5) for n in range(10)]) == 1.0
        assert not silent.done()


@in_virtual_time
async def test_pages_under_way_have_a_bound_over_all_searches_too():
    async with opened() as world:
        async with asyncio.TaskGroup() as group:
            for n in range(20):
                group.create_task(world.search([world.page(f"{n} {m}", 1.0) for m in range(5)]))
            await asyncio.sleep(0.5)
            assert len(world.begun) == 8 * 5
        assert len(world.came) == 20 * 5


@in_virtual_time
async def test_a_late_page_goes_on_behind_its_search():
    async with opened() as world:
        late = world.page("late", 10.0)
        await world.search([*world.all_of([0.5] * 9), late])
        assert late.tokens is None
        assert repr(world.turns) == "<Turns [1 pages under way, 1 of them late]>"
        await asyncio.sleep(10.0)
        assert late.tokens == 100


@in_virtual_time
async def test_a_page_whose_turn_did_not_come_is_never_begun():
    async with opened(at_once=1) as world:
        pages = world.all_of([SILENT] * 9)
        await world.search(pages, deadline=2 * SLOT_TIME + 0.1)
        begun = [page.began - world.start for page in pages if page.began is not None]
        assert begun == pytest.approx([0.0, SLOT_TIME])
        await asyncio.sleep(100.0)
        assert len(world.begun) == 2


@in_virtual_time
async def test_too_many_late_pages_end_the_oldest():
    async with opened() as world, asyncio.TaskGroup() as group:
        for n in range(6):
            pages = [world.page(f"{n} {m}", SILENT) for m in range(5)]
            group.create_task(world.search(pages))
            await asyncio.sleep(0.01)
        await asyncio.sleep(SLOT_TIME)
        assert repr(world.turns) == f"<Turns [{LATE} pages under way, {LATE} of them late]>"
        assert sorted(name[0] for name in world.ended) == ["0"] * 5 + ["1"]


@pytest.mark.parametrize("after", [0.0, 1.0, SLOT_TIME + 1.0])
@in_virtual_time
async def test_a_cancelled_search_leaves_no_page_behind(after):
    async with opened() as world:
        search = asyncio.ensure_future(world.search(world.all_of([SILENT] * 12)))
        await asyncio.sleep(after)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert repr(world.turns) == "<Turns [0 pages under way, 0 of them late]>"
        assert len(world.ended) == len(world.begun)
        # Every slot is free again.
        assert await world.search([world.page(f"good {n}", 0.5) for n in range(40)]) == 4.0


@in_virtual_time
async def test_closing_ends_late_pages():
    async with opened() as world:
        await world.search([world.page("good", 0.5), world.page("late", SILENT)])
        assert world.ended == ["good"]


@in_virtual_time
async def test_a_fault_of_ours_is_raised_by_the_search_and_frees_its_slot():
    async with opened(at_once=1) as world:

        async def fails() -> int:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await world.search([Turn(fails)])
        assert await world.search([world.page("good", 0.5)]) == 0.5


@in_virtual_time
async def test_pages_that_are_only_linked_are_given_up_sooner():
    async with opened() as world:
        assert await world.search([world.page("0", SILENT)], wait=LINKED) == LINKED.nothing
        pages = [world.page("quick", 0.5), world.page("silent", SILENT)]
        assert await world.search(pages, wait=LINKED) == 0.5 + LINKED.next


@in_virtual_time
async def test_pages_that_the_caller_named_have_all_the_time_there_is():
    async with opened(at_once=2) as world:
        slow = "https://a.example/"
        assert await world.search([world.page("slow", SILENT, url=slow)]) == NOTHING
        pages = [world.page("slow", 20.0, url=slow), world.page("quick", 0.5)]
        assert await world.search(pages, wait=None) == 20.0
        assert world.came == ["quick", "slow"]
        pages = [world.page("silent", SILENT), world.page("quick", 0.5)]
        assert await world.search(pages, wait=None) == DEADLINE


@in_virtual_time
async def test_a_silent_page_and_its_host_hold_no_further_call_until_one_comes_in():
    async with opened() as world:
        good = ("https://good.example/", 0.5)

        async def search(*pages: tuple[str, float]) -> float:
            return await world.search([world.page(url, each, url=url) for url, each in pages])

        silent = ("https://silent.example/a", SILENT)
        assert await search(silent, good) == 0.5 + NEXT
        assert await search(silent, good) == 0.5
        assert [name for name, _ in world.begun[-2:]] == [good[0], silent[0]]
        assert await search(("https://silent.example/b", SILENT), good) == 0.5
        assert await search(("https://other.example/", SILENT), good) == 0.5 + NEXT
        # It is asked all the same, and has the time of a slot if there is no other.
        assert await search(silent) == SLOT_TIME
        assert await search(("https://silent.example/c", 0.2)) == pytest.approx(0.2)
        assert await search(("https://silent.example/c", 1.0), good) == 1.0


@in_virtual_time
async def test_a_silent_host_is_forgotten_after_a_while():
    async with opened() as world:
        silent = [world.page("s", SILENT, url="https://s.example/") for _ in range(2)]
        assert await world.search(silent[:1]) == NOTHING
        await asyncio.sleep(REMEMBERED_FOR)
        assert await world.search(silent[1:]) == NOTHING


@in_virtual_time
async def test_a_page_that_comes_in_late_is_waited_for_the_next_time():
    async with opened() as world:
        url = "https://slow.example/"
        good = world.page("good", 0.5)
        assert await world.search([world.page("slow", 5.0, url=url), good]) == 0.5 + NEXT
        await asyncio.sleep(5.0)
        assert await world.search([world.page("slow", 2.0, url=url)]) == 2.0

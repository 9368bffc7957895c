"""The turns of pages that are read side by side, so that a slow one delays no other.

The figures and what they were measured with: docs/decisions/reading.md.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from searx_mcp.tasks import Place, Spawn

SLOT_TIME: Final = 2.0
"""Seconds a page has its slot; one that takes longer goes on without, and another one begins."""
NEXT: Final = 3.0
"""Seconds a search waits for one more page after the last that came in."""
MOST: Final = 0.8
"""The share of the pages that can still come with which a search has enough."""
MORE: Final = 2.0
"""Seconds a search that has enough waits for the others."""
NOTHING_SHARE: Final = 0.5
"""The share of its time after which a search gives up that has no page at all."""
VOICES: Final = 5
"""Pages that fill an answer between them: more of one page does not make up for the others."""
LATE: Final = 24
"""Pages under way without a slot; a quarter of the bodies read at once (32) stays free for everybody else."""

_CALLS: Final = 8
"""Searches that can use all of their slots at the same time."""


@dataclass(eq=False, slots=True)
class Turn:
    """One page of a search.

    Attributes:
        work: reads it; returns what it gives to the answer in tokens, 0 if nothing.
        began: loop time at which it got its slot, or `None`.
        tokens: what it gives; `None` while it is not known.
        fault: what `work` raised.
        is_over: whether nothing more will come of it.
    """

    work: Callable[[], Awaitable[int]]
    began: float | None = None
    tokens: int | None = None
    fault: Exception | None = None
    is_over: bool = False


class Turns:
    """Lets the pages of searches be read, so many of each search at the same time.

    A page that is not there after `SLOT_TIME` gives its slot to the next and goes on without, so
    silent pages keep neither those of their own search nor those of another from being read. Too
    many of these end the oldest. When a search has enough, what is under way goes on behind it.

    Args:
        at_once: slots of one search.
        spawn: starts work that outlives a search.
    """

    def __init__(self, at_once: int, spawn: Spawn) -> None:
        self._at_once = at_once
        self._slots = asyncio.Semaphore(at_once * _CALLS)
        self._spawn = spawn
        self._under_way = 0
        self._late: dict[asyncio.Task[None], None] = {}

    @override
    def __repr__(self) -> str:
        return f"<Turns [{self._under_way} pages under way, {len(self._late)} of them late]>"

    async def take(self, turns: Sequence[Turn], *, deadline: float, room: int | None) -> None:
        """Read pages, the first of them first, until there are enough of them.

        A turn without `tokens` when this returns was not done in time; it may go on until its own
        end. Cancelling ends all of them.

        Args:
            turns: in the order in which they are wanted.
            deadline: loop time by which to return.
            room: tokens of the answer; `None` if it has no limit.
        """
        patience = _Patience(turns, deadline, room)
        slots = asyncio.Semaphore(self._at_once)
        news = asyncio.Event()
        tasks = [self._spawn(self._read(turn, slots, news)) for turn in turns]
        try:
            await _until(patience, news)
            waiting = [t for t, turn in zip(tasks, turns, strict=True) if turn.began is None]
            await _end(waiting)
        except BaseException:
            await _end(tasks)
            raise
        for turn in turns:
            if turn.fault is not None:
                raise turn.fault

    async def _read(self, turn: Turn, slots: asyncio.Semaphore, news: asyncio.Event) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - this is one
        try:
            async with Place(slots) as own, Place(self._slots) as shared:
                await own.take()
                await shared.take()
                turn.began = loop.time()
                self._under_way += 1
                leaving = loop.call_later(SLOT_TIME, self._go_on, task, own, shared)
                try:
                    turn.tokens = await turn.work()
                finally:
                    leaving.cancel()
                    self._under_way -= 1
                    self._late.pop(task, None)
        except Exception as exc:  # noqa: BLE001 - raised by the search; here it would end the client
            turn.fault = exc
        finally:
            turn.is_over = True
            news.set()

    def _go_on(self, task: "asyncio.Task[None]", *places: Place) -> None:
        """Let a page go on without its slot."""
        for place in places:
            place.leave()
        self._late[task] = None
        if len(self._late) > LATE:
            oldest = next(iter(self._late))
            del self._late[oldest]
            oldest.cancel()


class _Patience:
    """How long a search goes on waiting, by what has come in."""

    def __init__(self, turns: Sequence[Turn], deadline: float, room: int | None) -> None:
        now = asyncio.get_running_loop().time()
        self._turns = turns
        self._deadline = deadline
        self._room = room
        self._came = 0
        self._end = now + (deadline - now) * NOTHING_SHARE
        self._latest = math.inf

    @property
    def until(self) -> float:
        """Loop time."""
        return min(self._deadline, self._end, self._latest)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return all(turn.is_over for turn in self._turns)

    def look(self, now: float) -> None:
        """Take note of what has come in."""
        came = sum(bool(turn.tokens) for turn in self._turns)
        if came > self._came:
            self._came, self._end = came, now + NEXT
        if not came:
            return
        open_ones = sum(not turn.is_over for turn in self._turns)
        if came >= MOST * (came + open_ones) or self._is_filled():
            self._latest = min(self._latest, now + MORE)

    def _is_filled(self) -> bool:
        """Whether the pages before the first that is missing fill the answer."""
        if self._room is None:
            return False
        share, filled = self._room / VOICES, 0.0
        for turn in self._turns:
            if not turn.is_over:
                break
            filled += min(turn.tokens or 0, share)
        return filled >= self._room


async def _until(patience: _Patience, news: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    while not patience.is_over:
        news.clear()
        try:
            async with asyncio.timeout_at(patience.until):
                await news.wait()
        except TimeoutError:
            return
        patience.look(loop.time())


async def _end(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)

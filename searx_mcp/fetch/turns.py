"""Schedules concurrent page reads, so that slow pages delay neither others nor the call for long.

Searches, answers and ingestion all use this one rule.

The constants and their measurements: docs/decisions/reading.md.
"""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from typing_extensions import override

from searx_mcp.errors import DeadlineError, ErrorCode, SearxMcpError, TransportError
from searx_mcp.tasks import Slot, Spawn
from searx_mcp.urls.hosts import host_in

SLOT_TIME: Final = 1.5
"""Seconds a page holds its slot; a slower one continues without it, and the next page starts."""
MOST: Final = 0.8
"""A call has enough when this share of the pages that have arrived or may still arrive is here."""
MORE: Final = 1.5
"""Seconds a call that has enough waits for the others."""
NOTHING_SHARE: Final = 0.5
"""A call without any page gives up after this share of its time."""


class Wait(NamedTuple):
    """How long a call waits for pages that its caller did not name, in seconds.

    Attributes:
        nothing: until it gives up without any page.
        next: for the next page after the last arrival.
    """

    nothing: float
    next: float


FOUND: Final = Wait(nothing=7.0, next=2.5)
"""For search results."""
LINKED: Final = Wait(nothing=3.0, next=1.5)
"""For pages that are only linked from pages of the call."""

REMEMBERED_FOR: Final = 600.0
"""Seconds for which a silent page and its host are waited for only as long as a slot is held."""
REMEMBERED: Final = 1_000
"""Silent pages and hosts that are remembered; the oldest are forgotten."""
VOICES: Final = 5
"""Pages that fill an answer: each counts at most for an equal share of the room, since more text of one page does not
replace other pages."""
LATE: Final = 24
"""Pages in progress without a slot; a quarter of the bodies read at once (32) stays free for everyone else."""

_AT_ONCE: Final = 40
"""Slots of all calls: enough for eight searches that use all of theirs."""


@dataclass(eq=False, slots=True)
class Turn:
    """One page of a call.

    Attributes:
        work: reads it; returns its tokens in the answer, 0 if none.
        url: key under which it is remembered if it is silent.
        began: loop time at which it got its slot, or `None`.
        tokens: of its part of the answer; `None` while unknown.
        fault: what `work` raised.
        is_over: whether nothing more will come.
    """

    work: Callable[[], Awaitable[int]]
    url: str = ""
    began: float | None = None
    tokens: int | None = None
    fault: Exception | None = None
    is_over: bool = False

    def missed(self, now: float) -> SearxMcpError:
        """Make the error of a page that its call stopped waiting for."""
        if self.began is None:
            return DeadlineError("The call ended before this page's turn.")
        return TransportError(
            f"The page did not arrive within {now - self.began:.3g} seconds.",
            code=ErrorCode.TIMEOUT,
        )


class _Silent:
    """Pages that were left behind, and their hosts, until one of them arrives."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()

    def add(self, url: str, now: float) -> None:
        for name in _names(url):
            self._until[name] = now + REMEMBERED_FOR
            self._until.move_to_end(name)
        while len(self._until) > REMEMBERED:
            self._until.popitem(last=False)

    def discard(self, url: str) -> None:
        for name in _names(url):
            self._until.pop(name, None)

    def has(self, url: str, now: float) -> bool:
        return any(self._until.get(name, -math.inf) > now for name in _names(url))


def _names(url: str) -> tuple[str, ...]:
    return (url, host_in(url)) if url else ()


class Turns:
    """Reads pages with a limited number of slots for each call.

    A page that takes longer than `SLOT_TIME` gives its slot to the next and continues without it, so silent
    pages block neither their own call nor others. If there are too many of these, the oldest is cancelled. When
    a call has enough, its remaining pages continue in the background. Pages left behind are remembered with
    their hosts: the next calls read them last, and do not wait for them.

    Args:
        spawn: starts work that outlives a call.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._spawn = spawn
        self._under_way = 0
        self._late: dict[asyncio.Task[None], None] = {}
        self._silent = _Silent()

    @override
    def __repr__(self) -> str:
        return f"<Turns [{self._under_way} pages under way, {len(self._late)} of them late]>"

    async def take(
        self,
        turns: Sequence[Turn],
        *,
        deadline: float,
        at_once: int,
        wait: Wait | None = FOUND,
        room: int | None = None,
    ) -> None:
        """Read pages in order of preference until there are enough.

        A turn without `tokens` when this returns was too slow; it may continue until it ends by itself.
        Cancelling this ends all of them.

        Args:
            turns: in order of preference.
            deadline: loop time by which to return.
            at_once: slots of this call.
            room: tokens of the answer; `None` if unlimited.
            wait: how long to wait; `None` for pages the caller named, which get all the time.
        """
        loop = asyncio.get_running_loop()
        silent = [turn for turn in turns if self._silent.has(turn.url, loop.time())]
        ordered = sorted(turns, key=lambda turn: turn in silent)
        patience = _Patience(turns, deadline)
        if wait is not None:
            patience.end_early(wait, silent, room)
        slots = asyncio.Semaphore(at_once)
        news = asyncio.Event()
        tasks = [self._spawn(self._read(turn, slots, news)) for turn in ordered]
        try:
            await _until(patience, news)
            waiting = [t for t, turn in zip(tasks, ordered, strict=True) if turn.began is None]
            await _end(waiting)
        except BaseException:
            await _end(tasks)
            raise
        for turn in turns:
            is_late = turn.began is not None and loop.time() - turn.began >= SLOT_TIME
            if is_late and not turn.is_over:
                self._silent.add(turn.url, loop.time())
            if turn.fault is not None:
                raise turn.fault

    async def _read(self, turn: Turn, slots: asyncio.Semaphore, news: asyncio.Event) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - this is one
        try:
            async with Slot(slots) as own, Slot(self._slots) as shared:
                await own.take()
                await shared.take()
                turn.began = loop.time()
                self._under_way += 1
                leaving = loop.call_later(SLOT_TIME, self._go_on, task, own, shared)
                try:
                    turn.tokens = await turn.work()
                    if turn.tokens:
                        self._silent.discard(turn.url)
                finally:
                    leaving.cancel()
                    self._under_way -= 1
                    self._late.pop(task, None)
        except Exception as exc:  # noqa: BLE001 - raised by the search; here it would end the client
            turn.fault = exc
        finally:
            turn.is_over = True
            news.set()

    def _go_on(self, task: "asyncio.Task[None]", *places: Slot) -> None:
        """Let a page continue without its slot."""
        for place in places:
            place.leave()
        self._late[task] = None
        if len(self._late) > LATE:
            oldest = next(iter(self._late))
            del self._late[oldest]
            oldest.cancel()


class _Patience:
    """Decides how long a call keeps waiting: until its deadline, or by what has arrived."""

    def __init__(self, turns: Sequence[Turn], deadline: float) -> None:
        self._turns = self._awaited = turns
        self._deadline = deadline
        self._wait: Wait | None = None
        self._room: int | None = None
        self._came = 0
        self._end = self._latest = math.inf

    def end_early(self, wait: Wait, silent: Sequence[Turn], room: int | None) -> None:
        """Do not wait for silent pages, nor for others when they are no longer of use."""
        now = asyncio.get_running_loop().time()
        self._awaited = [turn for turn in self._turns if turn not in silent] or self._turns
        self._wait, self._room = wait, room
        is_hopeless = self._turns and len(silent) == len(self._turns)
        longest = SLOT_TIME if is_hopeless else wait.nothing
        self._end = now + min((self._deadline - now) * NOTHING_SHARE, longest)

    @property
    def until(self) -> float:
        """Loop time."""
        return min(self._deadline, self._end, self._latest)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return all(turn.is_over for turn in self._awaited)

    def look(self, now: float) -> None:
        """Record what has arrived."""
        if self._wait is None:
            return
        came = sum(bool(turn.tokens) for turn in self._turns)
        if came > self._came:
            self._came, self._end = came, now + self._wait.next
        if not came:
            return
        open_ones = sum(not turn.is_over for turn in self._awaited)
        if came >= MOST * (came + open_ones) or self._is_filled():
            self._latest = min(self._latest, now + MORE)

    def _is_filled(self) -> bool:
        """Whether the pages before the first missing one fill the answer."""
        if self._room is None:
            return False
        share, filled = self._room / VOICES, 0.0
        for turn in self._awaited:
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

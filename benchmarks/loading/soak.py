"""Clients that come, vanish, cancel, time out and leave their sessions open, for as long as is asked."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from benchmarks.loading.processes import TOKEN, Server
from benchmarks.loading.wire import Era, Wire
from benchmarks.loading.world import World

_SETTLED: Final = 90.0
"""Seconds in which what was begun must have ended: calls have 50, kept connections 15 more."""
_POLL: Final = 0.25
_ENDLESS: Final = 5
"""Seconds of a call that only its time ends; the fewest a call may name."""
_GIVEN_UP: Final = {"timeout", "deadline_exceeded", "rate_limited"}
"""Outcomes of a call for a page that never comes; in the end its host is left alone."""
_LOSSES: Final = (OSError, EOFError)


@dataclass(frozen=True, slots=True)
class Sample:
    """What the server holds when nobody uses it.

    Attributes:
        clients: that have come and gone until then.
        megabytes: in memory.
        descriptors: open files, connections and pipes.
        tasks: of its event loop.
        objects: that its garbage collector knows of.
    """

    clients: int
    megabytes: float
    descriptors: int
    tasks: int
    objects: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many clients come.

    Attributes:
        clients: of a wave, all at once.
        warm: waves before the first sample.
        waves: until the last one, at least.
        seconds: that they take, at least.
        idle: seconds after which the server ends a session that nobody uses.
        kept: connections to instances and sites that may be left when it is over; none if there is
            time to wait for their end.
        is_patient: whether some wait until their call has run out of time.
    """

    clients: int
    warm: int
    waves: int
    seconds: float
    idle: float
    kept: int
    is_patient: bool


class Soak:
    """A server under clients of all manners.

    Args:
        world: what the clients ask for.
        server: one whose sessions end soon when nobody uses them.
        seed: of all choices.
    """

    def __init__(self, world: World, server: Server, seed: int) -> None:
        self._world, self._server = world, server
        self._dice = random.Random(seed)  # noqa: S311 - not for secrets
        self._clients = 0
        self._number = 0
        self.surprises: list[str] = []
        self.seen: list[Sample] = []

    async def run(self, crowd: Crowd) -> None:
        """Let the clients come; `seen` is filled with samples, the first one after the warm-up."""
        for _ in range(crowd.warm):
            await self._wave(crowd)
        self.seen.append(await self._settled(crowd))
        began = perf_counter()
        waves, sampled = 0, began
        while waves < crowd.waves or perf_counter() - began < crowd.seconds:
            await self._wave(crowd)
            waves += 1
            if perf_counter() - sampled > crowd.seconds / 8 > 0:
                self.seen.append(await self._settled(crowd))
                sampled = perf_counter()
        self.seen.append(await self._settled(crowd))

    async def _wave(self, crowd: Crowd) -> None:
        manners = list(self._manners(is_patient=crowd.is_patient))
        async with asyncio.TaskGroup() as group:
            for number in range(crowd.clients):
                manner, era = manners[number % len(manners)]
                group.create_task(self._one(manner, era))
        self._clients += crowd.clients

    def _manners(
        self, *, is_patient: bool
    ) -> Iterator[tuple[Callable[[Era], Awaitable[None]], Era]]:
        for era in Era:
            yield self._polite, era
            yield self._left, era
            yield self._half, era
        yield self._vanished, Era.STATELESS
        yield self._listening, Era.SESSION
        yield self._cancelled, Era.SESSION
        if is_patient:
            yield self._vanished, Era.SESSION
            yield self._timed_out, Era.SESSION
            yield self._timed_out, Era.STATELESS

    async def _one(self, manner: Callable[[Era], Awaitable[None]], era: Era) -> None:
        try:
            await manner(era)
        except (*_LOSSES, RuntimeError) as exc:
            self.surprises.append(f"{manner.__name__}: {type(exc).__name__}: {exc}"[:200])

    async def _polite(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.greet()
            for _ in range(3):
                await self._ask(wire)
            await wire.leave()

    async def _left(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.greet()
            await self._ask(wire)

    async def _vanished(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.greet()
            await wire.begin("web_fetch", self._hung)
            await self._moment()

    async def _cancelled(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.greet()
            number = await wire.begin("web_fetch", self._hung)
            await self._moment()
            async with self._wire(era, wire.session) as other:
                await other.tell("notifications/cancelled", {"requestId": number})
                await other.leave()

    async def _timed_out(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.greet()
            reply = await wire.call("web_fetch", self._hung)
            if reply.code not in _GIVEN_UP:
                self.surprises.append(f"a call for a page that never comes: {reply}"[:200])

    async def _listening(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.greet()
            async with self._wire(era, wire.session) as other:
                await other.listen()
                await self._ask(wire)

    async def _half(self, era: Era) -> None:
        async with self._wire(era) as wire:
            await wire.half()
            await self._moment()

    async def _ask(self, wire: Wire) -> None:
        self._number += 1
        match self._number % 4:
            case 0:
                tool, arguments = "web_search", {"query": f"hedges of year {self._number}"}
            case 1:
                tool, arguments = "read_page", {"url": self._page(), "query": "How deep are roots?"}
            case _:
                tool, arguments = "web_fetch", {"url": self._page()}
        reply = await wire.call(tool, arguments)
        if reply.code:
            self.surprises.append(f"{tool}: {reply.code}: {reply.text}"[:200])

    def _page(self) -> str:
        return self._world.pages[self._dice.randrange(len(self._world.pages))]

    @property
    def _hung(self) -> dict[str, object]:
        site = self._world.silent[self._dice.randrange(len(self._world.silent))]
        return {"url": f"{site}?{self._dice.random()}", "timeout": _ENDLESS}

    async def _moment(self) -> None:
        await asyncio.sleep(self._dice.uniform(0.05, 0.3))

    def _wire(self, era: Era, session: str = "") -> Wire:
        return Wire(self._server.url, TOKEN, era, session=session)

    async def _settled(self, crowd: Crowd) -> Sample:
        """The server once it holds no more than at first, or has had time to let go of it."""
        began = since = perf_counter()
        before = self._sample()
        while perf_counter() - began < _SETTLED:
            # Sessions and calls end in their own time.
            await asyncio.sleep(_POLL)
            found = self._sample()
            if found.tasks != before.tasks:
                since = perf_counter()
            before = found
            first = self.seen[0] if self.seen else found
            is_less = (
                found.tasks <= first.tasks and found.descriptors <= first.descriptors + crowd.kept
            )
            if is_less and perf_counter() - since > crowd.idle:
                break
        return before

    def _sample(self) -> Sample:
        held = self._server.held()
        return Sample(
            clients=self._clients,
            megabytes=self._server.megabytes(),
            descriptors=self._server.descriptors(),
            tasks=held.tasks,
            objects=held.objects,
        )

"""Instances on loopback of which one is out of order, or several."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

LATENCY: Final = 0.05
"""Seconds that every instance takes, so that what a server asks in vain shows."""


class Fault(StrEnum):
    """What is wrong with an instance."""

    HUNG = "hung"
    EMPTY = "empty"
    NO_JSON = "without JSON"
    REFUSES = "refuses"


@dataclass(frozen=True, slots=True)
class World:
    """Instances that servers are given.

    Attributes:
        name: for a table.
        faults: of the first instances of the list, one each.
        well: how many follow that are in order.
    """

    name: str
    faults: tuple[Fault, ...] = ()
    well: int = 3


WELL: Final = World("all well")
MIXED: Final = World("one hung, one empty", (Fault.HUNG, Fault.EMPTY), well=1)
"""Not more: one search tries three instances, unless `search.max_instances` says otherwise."""
WORLDS: Final = (WELL, *(World(f"one {fault}", (fault,), well=2) for fault in Fault), MIXED)


class Instances:
    """The open instances of a world.

    Attributes:
        urls: all of them, those with faults first.
    """

    def __init__(
        self, faulty: Sequence[tuple[Fault, FakeSearxng]], well: Sequence[FakeSearxng]
    ) -> None:
        self._faulty = faulty
        self.urls = [instance.url for instance in (*(each for _, each in faulty), *well)]
        self._well = well

    @property
    def one(self) -> str:
        """The address of one that stays well, for servers that take only one."""
        return self._well[0].url

    def break_down(self) -> None:
        """Let the faults begin."""
        for fault, instance in self._faulty:
            match fault:
                case Fault.HUNG:
                    instance.hang()
                case Fault.EMPTY:
                    instance.fail_engines()
                case Fault.REFUSES:
                    instance.fail(429)
                case Fault.NO_JSON:
                    pass  # since the beginning: a setting of the operator


@asynccontextmanager
async def open_instances(world: World, rows: Sequence[FakeResult]) -> AsyncIterator[Instances]:
    """Serve the instances, all of them in order until they break down.

    Args:
        world: how many, and what will be wrong with them.
        rows: what each of them finds, whatever the query.
    """
    async with AsyncExitStack() as stack:

        async def opened(*formats: str) -> FakeSearxng:
            return await stack.enter_async_context(
                FakeSearxng(results=rows, formats=formats, page_size=len(rows), latency=LATENCY)
            )

        faulty = [
            (fault, await opened("html", *([] if fault is Fault.NO_JSON else ["json"])))
            for fault in world.faults
        ]
        well = [await opened("html", "json") for _ in range(world.well)]
        yield Instances(faulty, well)

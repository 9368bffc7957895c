"""A site with a robots.txt that needs no socket, and a gate that asks it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from yarl import URL

from searx_mcp.errors import ErrorCode, FetchError, PolicyError
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.storage.pages import KeptRobots
from searx_mcp.tasks import Tasks
from tests.doubles import virtual_time


@dataclass
class Shelf:
    """Keeps robots.txt files in a dict."""

    kept: dict[str, KeptRobots] = field(default_factory=dict)

    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        await asyncio.sleep(0)
        return self.kept.get(origin)

    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        await asyncio.sleep(0)
        self.kept[origin] = robots


@dataclass
class RobotsSite:
    """Answers every request for a robots.txt alike.

    Attributes:
        answer: status and body, or what is raised.
        takes: seconds until then.
        asked: the addresses that were asked for.
        under_way: requests that have not ended.
    """

    answer: tuple[int, bytes] | Exception = (404, b"")
    takes: float = 0.0
    asked: list[str] = field(default_factory=list)
    under_way: int = 0

    async def get(self, url: URL, deadline: float) -> tuple[int, bytes]:
        self.asked.append(str(url))
        self.under_way += 1
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.under_way -= 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class RobotsWorld:
    """A gate, what it asks and where it keeps things, in virtual time."""

    clock: virtual_time.VirtualClock
    tasks: Tasks
    site: RobotsSite = field(default_factory=RobotsSite)
    shelf: Shelf = field(default_factory=Shelf)

    def __post_init__(self) -> None:
        self.gate = self.new_gate()

    def new_gate(self) -> RobotsGate:
        """A gate of another process: it shares what is kept and nothing else."""
        return RobotsGate(
            self.site.get, self.shelf, clock=self.clock, timeout=5.0, spawn=self.tasks.spawn
        )

    async def check(self, url: str = "https://a.example/page", within: float = 60.0) -> str:
        return await self.gate.check(URL(url), deadline=asyncio.get_running_loop().time() + within)

    async def refused(self, url: str = "https://a.example/page", **how: float) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await self.check(url, **how)
        assert caught.value.url == str(URL(url))
        assert caught.value.advice or caught.value.code is ErrorCode.TIMEOUT
        return caught.value


@pytest.fixture
def in_robots_world() -> Callable[..., None]:
    """Run a test in a world, and see that nothing is left under way."""

    def run(test) -> None:
        async def main(clock: virtual_time.VirtualClock) -> None:
            async with Tasks() as tasks:
                world = RobotsWorld(clock, tasks)
                await test(world)
                await asyncio.sleep(0)
                assert world.site.under_way == 0
                assert not tasks._running

        virtual_time.run(main)

    return run


@pytest.fixture
def ask_robots(in_robots_world) -> Callable[..., str]:
    """What the gate says of an address when this is its site's robots.txt, with the rule if any."""

    def ask(body: str | bytes, url: str, status: int = 200) -> str:
        said: list[str] = []

        async def main(world: RobotsWorld) -> None:
            world.site.answer = (status, body.encode() if isinstance(body, str) else body)
            try:
                said.append(await world.check(str(URL("https://a.example").join(URL(url)))))
            except PolicyError as error:
                said.append(f"{error.message} {error.quoted}")

        in_robots_world(main)
        return said[0]

    return ask

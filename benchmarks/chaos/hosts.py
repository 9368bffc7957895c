"""Instances on loopback that fail in every known way, and count what reaches them."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from aiohttp import web
from typing_extensions import override

from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.testing.limiter import FakeLimiter, Refusal
from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.searxng import FakeSearxng

SPEED: Final = 60
"""Seconds of the fast clock in a real one: the limiter's ten minutes pass in ten seconds."""
ATTEMPT_TIMEOUT: Final = 0.3
"""Real seconds every client gives one request: 18 s of the fast clock."""
OPEN: Final = 14
LINK_TOKEN: Final = 7
_QUICKEST, _SLOWEST, _SLOW = 0.010, 0.030, 0.2
"""Real seconds until an answer: 0.6 to 1.8 s of the fast clock, as good public instances take; the
slow one takes 12 s."""
_START: Final = 1_767_225_600.0
_GARBAGE: Final = b"\x00\xff\xfe<<<%PDF garbage" * 50
_DAY: Final = 86_400.0


class FastClock:
    """Unix seconds that run `SPEED` times too fast, and can be put forward."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._skipped = 0.0

    def __call__(self) -> float:
        """The time now, in Unix seconds."""
        return _START + self._skipped + (time.perf_counter() - self._began) * SPEED

    def skip_to(self, day: float) -> None:
        """Put it forward to the beginning of a day; it never goes back."""
        self._skipped += max(0.0, _START + day * _DAY - self())


class CountingLimiter(FakeLimiter):
    """The limiter of an instance, which remembers how often it refused."""

    def __init__(self, clock: FastClock) -> None:
        super().__init__(clock=clock)
        self.refused = 0

    @override
    def judge_search(self, request: ReceivedRequest, *, link_token: bool) -> Refusal | None:
        refusal = super().judge_search(request, link_token=link_token)
        self.refused += refusal is not None
        return refusal


class Host(FakeSearxng):
    """An instance that notes when each search reached it.

    Attributes:
        kind: `open`, `link token`, or what is wrong with it.
        arrivals: when searches arrived, on the fast clock.
    """

    def __init__(self, kind: str, clock: FastClock, latency: float) -> None:
        self.limiter = CountingLimiter(clock)
        self.kind = kind
        self.latency = latency
        self.arrivals: list[float] = []
        self._clock = clock
        super().__init__(
            # Nothing found, and no engine failed: what an instance says whose engines are all off.
            results=[] if kind == "empty" else None,
            limiter=self.limiter,
            link_token=kind == "link token",
            latency=latency,
        )
        if kind in FAULTS:
            FAULTS[kind](self)

    @property
    def counts_by_month(self) -> bool:
        """Whether a client has to think that it allows three searches in 30 days.

        It wants the link token, or never shows a page that says that it does not.
        """
        return self.kind in {"link token", *_WITHOUT_PAGES}

    @override
    async def respond(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        if received.path == "/search":
            self.arrivals.append(self._clock())
        return await super().respond(request, received)


FAULTS: Final[Mapping[str, Callable[[Host], None]]] = {
    "hung": lambda host: host.hang(),
    "429": lambda host: host.limit(),
    "403": lambda host: host.fail(403),
    "302": lambda host: host.block(),
    "empty": lambda _: None,
    "engines failed": lambda host: host.fail_engines(),
    "garbage": lambda host: host.answer_with(_GARBAGE),
    "slow": lambda host: host.slow(_SLOW),
    "flapping": lambda _: None,
}
"""What is wrong with the faulty ones, one of each kind."""
_WITHOUT_PAGES: Final = frozenset({"hung", "429", "403", "302", "garbage"})

_FLAPS: Final[tuple[tuple[float, Callable[[Host], None]], ...]] = (
    (240, lambda host: host.slow(host.latency)),
    (60, lambda host: host.drop()),
    (120, lambda host: host.slow(host.latency)),
    (90, lambda host: host.fail(503)),
    (180, lambda host: host.slow(host.latency)),
    (60, lambda host: host.fail_engines()),
)
"""For how long in seconds of the fast clock, and what then happens, over and over."""


@asynccontextmanager
async def open_hosts(clock: FastClock, rng: random.Random) -> AsyncIterator[list[Host]]:
    """All instances, open while the block runs, in an order that the dice choose."""
    kinds = [*FAULTS, *["open"] * OPEN, *["link token"] * LINK_TOKEN]
    rng.shuffle(kinds)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        opened = [
            await stack.enter_async_context(Host(kind, clock, rng.uniform(_QUICKEST, _SLOWEST)))
            for kind in kinds
        ]
        flapping = [group.create_task(_flap(host)) for host in opened if host.kind == "flapping"]
        yield opened
        for task in flapping:
            task.cancel()


def catalog(opened: Sequence[Host]) -> Catalog:
    """The list of the instances, which says nothing about which of them is any good."""
    return Catalog.model_validate(
        {
            "source": "a benchmark",
            "listed_at": "2026-01-01T00:00:00Z",
            "instances": [
                CatalogEntry(url=host.url, tls_grade="A+", http_grade="A+") for host in opened
            ],
        }
    )


async def _flap(host: Host) -> None:
    while True:
        for seconds, happen in _FLAPS:
            host.recover()
            happen(host)
            await asyncio.sleep(seconds / SPEED)

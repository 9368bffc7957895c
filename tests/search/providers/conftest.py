"""Open sources without a network, in virtual time."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.context import Found, SearchContext
from searx_mcp.search.providers.open_sources import Gate, OpenSources
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.relevance import relevant
from searx_mcp.sources.open.table import engines_of
from searx_mcp.storage.memory import MemoryStore
from tests.doubles.simulated_sources import SimulatedSources, SourceBehaviour
from tests.doubles.virtual_time import VirtualClock


@dataclass
class Collections:
    """The provider over simulated engines, with its parts at hand."""

    clock: VirtualClock
    config: OpenSourcesConfig = field(default_factory=OpenSourcesConfig)
    state: MemoryStore = field(default_factory=MemoryStore)
    upstream: SimulatedSources = field(default_factory=SimulatedSources)

    def __post_init__(self) -> None:
        self.engines = engines_of(self.config)
        pairs = ((engine.name, engine.address) for engine in self.engines.values())
        self.pool = SourcePool(pairs, config=PoolConfig(), rng=random.Random(1))
        self.provider = self.over(self.state)

    def over(self, state: MemoryStore, *, gate: Gate = relevant) -> OpenSources:
        """Another provider over a store, perhaps with a gate of its own."""
        rounds = ConcurrentQueries(
            upstream=self.upstream,
            sources=self.pool,
            state=state,
            has_contact=bool(self.config.contact),
            clock=self.clock,
        )
        return OpenSources(
            self.engines,
            rounds,
            contact=self.config.contact,
            phase=12.0,
            clock=self.clock,
            gate=gate,
        )

    def answer(self, **behaviours: SourceBehaviour | Sequence[str]) -> None:
        """Say what engines answer; titles alone come after .3 seconds."""
        self.upstream.behaviours = {
            **self.upstream.behaviours,
            **{
                name: told if isinstance(told, SourceBehaviour) else SourceBehaviour(titles=told)
                for name, told in behaviours.items()
            },
        }

    async def search(
        self, text: str, *, wanted: int = 10, seconds: float = 20.0, **fields: object
    ) -> Found:
        """Search, with so many seconds for it."""
        query = InstanceQuery(text=text, **fields)  # type: ignore[arg-type]  # any field, by name
        deadline = asyncio.get_running_loop().time() + seconds
        return await self.provider.run(SearchContext(query, wanted, deadline))

    def asked(self) -> list[str]:
        """The engines asked, in order."""
        return [name for name, _ in self.upstream.asked]

    def engine(self, name: str) -> Engine:
        """A row of the table."""
        return self.engines[name]

    def is_idle(self) -> bool:
        """Whether no request is under way, as far as anybody knows."""
        members = self.pool._members.values()
        return not self.upstream.under_way.total() and not any(m.in_flight for m in members)


@pytest.fixture
def collections() -> Callable[..., Collections]:
    """Make the provider over simulated engines that answer so, in the virtual time of a clock."""

    def make(
        clock: VirtualClock,
        *,
        config: OpenSourcesConfig | None = None,
        **answers: SourceBehaviour | Sequence[str],
    ) -> Collections:
        world = Collections(clock, config or OpenSourcesConfig())
        world.answer(**answers)
        return world

    return make

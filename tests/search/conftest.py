"""Searching against real instances on loopback."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import pytest
from aiohttp.abc import AbstractResolver

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.instance import CatalogEntry
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.sources.attempt_runner import RequestPacer
from searx_mcp.sources.searxng.request import Personas
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.urls.address import AllowList


@dataclass
class Bench:
    """An executor over instances on loopback, with its parts at hand."""

    executor: InstanceSearch
    pool: InstancePool
    state: MemoryStore
    clock: FakeClock
    upstream: Upstream


@asynccontextmanager
async def open_bench(
    *,
    own: Sequence[FakeSearxng] = (),
    public: Sequence[FakeSearxng] = (),
    elsewhere: Sequence[str] = (),
    resolver: AbstractResolver | None = None,
    proxy: str = "",
    **config: object,
) -> AsyncIterator[Bench]:
    """The instances must be running; public ones are asked in the order given, best grade first.

    `elsewhere` are addresses of further public ones, found or not by `resolver`. All requests go
    through the `proxy`, if there is one.
    """
    rng = random.Random(1)
    clock = FakeClock()
    grades = ["A+", "A", "B", "C"]
    pool = InstancePool(
        own=[fake.url for fake in own],
        public=[
            CatalogEntry(url=url, tls_grade=grade, http_grade=grade)
            for url, grade in zip(
                [*(fake.url for fake in public), *elsewhere], grades, strict=False
            )
        ],
        config=PoolConfig(random_start=False),
        rng=rng,
    )
    state = MemoryStore()
    async with AsyncExitStack() as stack:
        sessions = await stack.enter_async_context(
            Sessions(
                NetworkConfig.model_validate({"proxy": proxy}),
                own_origins=[fake.url for fake in own],
                allow=AllowList.parse([fake.origin for fake in public]),
                resolver=resolver,
            )
        )
        upstream = Upstream(
            own=lambda: sessions.own,
            public=lambda: sessions.public,
            personas=Personas(rotate=True, seed=1, user_agent_source=desktop_user_agent),
        )
        executor = InstanceSearch(
            pool=pool,
            upstream=upstream,
            state=state,
            config=SearchConfig.model_validate({"attempt_timeout": 0.4, **config}),
            spacing=RequestPacer((0, 0), rng),
            clock=clock,
        )
        yield Bench(executor, pool, state, clock, upstream)


@pytest.fixture
def bench():
    """Give what opens an executor over own and public instances."""
    return open_bench

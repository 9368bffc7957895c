"""The pool and the executor of this package over a simulated world, unmodified."""

import asyncio
from collections.abc import Iterable

from benchmarks.simulation.arrivals import dice
from benchmarks.simulation.hosts import Host
from benchmarks.simulation.peers import QUERY
from benchmarks.simulation.world import Clock, World
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.response import Coverage
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.config import SearchConfig, WebSearchConfig
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.search.providers.fallback import FallbackSearch
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.search.providers.open_sources import OpenSources
from searx_mcp.sources.attempt_runner import RequestPacer
from searx_mcp.sources.open.config import OpenSourcesMode
from searx_mcp.storage.state import StateStore


class Ours:
    """A client's searching parts with their defaults.

    Left out: spacing (a fraction of a second that would blur the latencies), the cache and single
    flight (every search is a new one), and health checks.

    Args:
        hosts: the instances; what their `/config` says is known of those that were asked.
        world: answers for them.
        own: whether they are the user's own.
        state: keeps the budgets.
        seed: of the pool's dice and of its aperture.
        clock: Unix seconds, moving with the loop.
        open_sources: answer when no instance can serve; nobody does unless given.
    """

    def __init__(
        self,
        hosts: Iterable[Host],
        world: World,
        *,
        own: bool = False,
        state: StateStore,
        seed: int,
        clock: Clock,
        open_sources: OpenSources | None = None,
    ) -> None:
        hosts = tuple(hosts)
        rng = dice(seed)
        self._timeout = WebSearchConfig().default_timeout
        self._pool = InstancePool(
            own=[host.url for host in hosts] if own else (),
            public=() if own else [host.entry for host in hosts],
            rng=rng,
            seed=seed,
        )
        self._provider = FallbackSearch(
            InstanceSearch(
                pool=self._pool,
                upstream=world,
                state=state,
                config=SearchConfig(),
                spacing=RequestPacer((0, 0), rng),
                clock=clock,
            ),
            None if open_sources is None else lambda: open_sources,
            mode=OpenSourcesMode.FALLBACK,
            has_own=lambda: own,
            phase=SearchConfig().phase_timeout,
        )

    async def search(self) -> bool:
        """Search once; tells whether there was an answer."""
        return await self.find(QUERY) is not None

    async def find(self, query: InstanceQuery) -> Coverage | None:
        """Search once; tells what the answer was found in, or `None` if there was none."""
        deadline = asyncio.get_running_loop().time() + self._timeout
        try:
            found = await self._provider.run(SearchContext(query, 10, deadline))
        except NoInstancesError:
            return None
        return found.coverage

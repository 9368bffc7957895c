"""The open sources of a client, wired."""

import random
from collections.abc import Callable, Collection, Mapping
from typing import Final

from searx_mcp import __version__
from searx_mcp.http.sessions import Sessions
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.sources import SourcePool
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries, rate_limits
from searx_mcp.search.providers.context import TimePlan
from searx_mcp.search.providers.open_sources import OpenSources, WiredSources
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import OpenSourcesConfig, origin_of
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.table import engines_of
from searx_mcp.sources.open.upstream import OpenUpstream
from searx_mcp.sources.searxng.request import PROJECT_URL
from searx_mcp.storage.state import Account, StateStore
from searx_mcp.workers.jobs import Workers

USER_AGENT: Final = f"searx-mcp/{__version__} (+{PROJECT_URL})"


def wire_sources(
    settings: Settings,
    sessions: Sessions,
    *,
    state: StateStore,
    pool_config: PoolConfig,
    clock: Callable[[], float],
    rng: random.Random,
    blocked: Callable[[], Collection[str]],
    workers: Workers,
) -> WiredSources:
    """Wire what asks the open sources; nothing is opened yet.

    Args:
        settings: of the client.
        sessions: the kinds of traffic; `own_endpoints` of the settings have to be among the operator's origins.
        state: keeps the budgets.
        pool_config: how failures are judged.
        clock: Unix seconds.
        rng: the dice.
        blocked: gives the hosts that the user does not want to be asked.
        workers: read long answers.
    """
    config = settings.open_sources
    engines = engines_of(config)
    own = {origin_of(url) for url in config.own_endpoints()}
    pool = SourcePool(
        ((engine.name, engine.address) for engine in engines.values()), config=pool_config, rng=rng
    )
    upstream = OpenUpstream(
        session_for=lambda e: (
            sessions.operator if origin_of(e.endpoint) in own else sessions.public
        ),
        user_agent=USER_AGENT,
        contact=config.contact,
        clock=clock,
        workers=workers,
    )
    rounds = ConcurrentQueries(
        upstream=upstream,
        sources=pool,
        state=state,
        has_contact=bool(config.contact),
        clock=clock,
    )
    provider = OpenSources(
        engines,
        rounds,
        contact=config.contact,
        plan=TimePlan(settings.search.phase_timeout),
        clock=clock,
        blocked=blocked,
    )
    return WiredSources(provider, pool, _accounts(engines, config), engines)


def _accounts(engines: Mapping[str, Engine], config: OpenSourcesConfig) -> dict[str, Account]:
    return {
        engine.address: rate_limits(engine, has_contact=bool(config.contact))
        for engine in engines.values()
    }

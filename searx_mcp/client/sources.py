"""The open sources of a client, wired."""

import random
from collections.abc import Callable, Collection, Mapping
from typing import Final
from urllib.parse import urlsplit

from searx_mcp import __version__
from searx_mcp.http.sessions import Sessions
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.sources import SourcePool
from searx_mcp.search.providers.accounts import source_account
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.open_sources import OpenSources, WiredSources
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import OpenSourcesConfig, OpenSourcesMode
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.table import ENGINES, engines_of
from searx_mcp.sources.open.upstream import OpenUpstream
from searx_mcp.sources.searxng.persona import PROJECT_URL
from searx_mcp.storage.state import Account, StateStore
from searx_mcp.workers.jobs import Workers

USER_AGENT: Final = f"searx-mcp/{__version__} (+{PROJECT_URL})"


def own_endpoints(config: OpenSourcesConfig) -> tuple[str, ...]:
    """The endpoints that the operator has set: they may be private, and nothing else is asked there."""
    usual = {_origin(engine.endpoint) for engine in ENGINES if engine.endpoint}
    given = (config.npm_url, config.photon_url)
    return tuple(url for url in given if url and _origin(url) not in usual)


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
) -> WiredSources | None:
    """Wire what asks the open sources; nothing is opened yet.

    Args:
        settings: of the client.
        sessions: the kinds of traffic; `own_endpoints` has to be among the operator's origins.
        state: keeps the budgets.
        pool_config: how failures are judged.
        clock: Unix seconds.
        rng: the dice.
        blocked: gives the hosts that the user does not want to be asked.
        workers: read long answers.

    Returns:
        `None` when they are switched off.
    """
    config = settings.open_sources
    if config.mode is OpenSourcesMode.OFF:
        return None
    engines = engines_of(config)
    own = {_origin(url) for url in own_endpoints(config)}
    pool = SourcePool(
        ((engine.name, engine.address) for engine in engines.values()), config=pool_config, rng=rng
    )
    upstream = OpenUpstream(
        session_for=lambda e: sessions.operator if _origin(e.endpoint) in own else sessions.public,
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
        phase_timeout=settings.search.phase_timeout,
        clock=clock,
        blocked=blocked,
    )
    return WiredSources(provider, pool, _accounts(engines, config), engines)


def _accounts(engines: Mapping[str, Engine], config: OpenSourcesConfig) -> dict[str, Account]:
    return {
        engine.address: source_account(engine, has_contact=bool(config.contact))
        for engine in engines.values()
    }


def _origin(url: str) -> str:
    return f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"

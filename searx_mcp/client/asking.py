"""Wires searching and reading for an open client, on first use."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from searx_mcp import __version__
from searx_mcp.client.wiring import Components
from searx_mcp.content.config import ContentConfig
from searx_mcp.fetch.capture import PageCapture
from searx_mcp.fetch.config import RobotsMode
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.fetch.hops.host_limits import HostLimits, Hosts
from searx_mcp.fetch.hops.redirects import RedirectFollower
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.fetch.page_cache import PageCache
from searx_mcp.fetch.provenance import Provenance
from searx_mcp.fetch.site_adapters.sites import SiteSources, adapters
from searx_mcp.fetch.site_index import SiteIndexes
from searx_mcp.fetch.turns import Turns
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.ops.own.waking import PROBE, waking
from searx_mcp.search.background.schedule import Schedule, Work
from searx_mcp.search.cache import CachedSearch
from searx_mcp.search.providers.context import Provider
from searx_mcp.search.providers.fallback import FallbackSearch, SiteIndexSearch
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.search.reading import ResultReader
from searx_mcp.search.searcher import Searcher
from searx_mcp.search.trial import TrialRunner
from searx_mcp.settings.values import Settings
from searx_mcp.sources.answering import wire_answering
from searx_mcp.sources.attempt_runner import RequestPacer
from searx_mcp.sources.open.config import OpenSourcesMode, ProvidersMode, origin_of
from searx_mcp.sources.searxng.request import PROJECT_URL, Personas
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.pages import PageStore
from searx_mcp.tasks import Spawn
from searx_mcp.urls.address import AllowList
from searx_mcp.workers.jobs import Workers
from searx_mcp.workers.pool import ChildWorkers
from searx_mcp.workers.threads import ThreadWorkers

if TYPE_CHECKING:
    from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
    from searx_mcp.search.providers.keyed import KeyedSearch
    from searx_mcp.search.providers.open_sources import OpenSources

USER_AGENT: Final = f"searx-mcp/{__version__} (+{PROJECT_URL})"
_ELEMENTS_IN_THREADS: Final = 15_000
"""Maximum elements of a page that is converted beside an event loop: with 50,000, Python's garbage collection
blocks it for 55 ms."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The parts that ask instances and read pages.

    Attributes:
        upstream: makes requests to instances.
        trials: makes one search at one instance.
        searcher: searches.
        fetcher: reads pages.
        indexes: queries the indexes of sites.
        turns: schedules concurrent page reads.
        schedule: runs background work, in servers.
        keyed: queries keyed providers; `None` if none has a key.
    """

    upstream: Upstream
    trials: TrialRunner
    searcher: Searcher
    fetcher: Fetcher
    indexes: SiteIndexes
    turns: Turns
    schedule: Schedule | None
    keyed: "KeyedSearch | None"


def wire_asking(parts: Components, *, background: bool) -> Asking:
    """Wire searching and reading; needs a running event loop, and opens nothing yet.

    Args:
        parts: of the open client, which closes what is wired here.
        background: whether to run health checks, refresh the list of public instances, and start the local
            instance before the first search.

    Raises:
        SettingsError: a setting is not usable.
    """
    settings, pool, state = parts.settings, parts.pool, parts.state
    sessions, spawn, clock = parts.sessions.get(), parts.tasks.spawn, parts.clock
    answering = wire_answering(settings.workers, processes=parts.processes)
    parts.readers.push_async_callback(answering.aclose)
    upstream = Upstream(
        own=lambda: sessions.own,
        public=lambda: sessions.public,
        personas=Personas(
            rotate=settings.web_search.rotate_user_agents,
            seed=parts.seed,
            user_agent_source=desktop_user_agent,
        ),
        workers=answering,
    )
    workers = settings.workers
    converting = ChildWorkers(workers) if parts.processes else ThreadWorkers(workers)
    fetcher = wire_fetcher(
        settings,
        sessions=sessions,
        allow=parts.allow,
        domains=parts.domains,
        pages=parts.pages,
        workers=converting,
        spawn=spawn,
        clock=clock,
        stack=parts.stack,
    )
    executor = InstanceSearch(
        pool=pool,
        upstream=upstream,
        state=state,
        config=settings.search,
        spacing=RequestPacer(settings.web_search.request_delay_range, parts.rng),
        clock=clock,
    )
    instances: Provider = executor
    if parts.folder is not None and parts.processes:
        woken = waking(
            instances,
            folder=parts.folder,
            is_alive=partial(upstream.is_alive, own=True, timeout=PROBE),
            idle=settings.own.idle,
            pool=pool,
            spawn=spawn,
            clock=clock,
        )
        if woken is not None:
            instances = woken
            if background:
                woken.begin()
    open_sources, keyed = _sources(parts, answering)
    turns, indexes = Turns(spawn), SiteIndexes(fetcher)
    cached_search = CachedSearch(
        provider=FallbackSearch(
            instances,
            open_sources,
            mode=settings.open_sources.mode,
            has_own=lambda: pool.has_own,
            phase=settings.search.phase_timeout,
            keyed=keyed,
            instead=settings.providers.mode is ProvidersMode.ONLY,
            sites=SiteIndexSearch(fetcher, indexes),
        ),
        config=settings.search,
        clock=clock,
        pull=parts.sync.pull,
        push=parts.sync.push,
        spawn=spawn,
        shared=parts.shared,
    )
    reader = ResultReader(fetcher, settings.web_search, settings.quality, turns=turns)
    searcher = Searcher(cached_search, reader, settings.web_search, workers=converting)
    trials = TrialRunner(
        executor.runner,
        pool=pool,
        upstream=upstream,
        timeout=settings.search.attempt_timeout,
        clock=clock,
    )
    schedule = _started_schedule(parts, upstream) if background else None
    return Asking(upstream, trials, searcher, fetcher, indexes, turns, schedule, keyed)


def _sources(
    parts: Components, workers: Workers
) -> "tuple[Callable[[], OpenSources] | None, KeyedSearch | None]":
    """Wire the open sources and the keyed providers, as far as they are enabled."""
    members, sessions, config = parts.sources, parts.sessions.get(), parts.settings.open_sources
    phase, clock = parts.settings.search.phase_timeout, parts.clock

    @cache
    def rounds() -> "ConcurrentQueries":
        from searx_mcp.search.providers.concurrent_queries import (  # noqa: PLC0415 - seldom needed
            ConcurrentQueries,
            OpenUpstream,
        )

        own = {origin_of(url) for url in config.own_endpoints()}
        return ConcurrentQueries(
            upstream=OpenUpstream(
                session_for=lambda e: (
                    sessions.operator if origin_of(e.endpoint) in own else sessions.public
                ),
                user_agent=USER_AGENT,
                contact=config.contact,
                clock=clock,
                workers=workers,
            ),
            sources=members.pool,
            state=parts.state,
            has_contact=bool(config.contact),
            clock=clock,
        )

    @cache
    def collections() -> "OpenSources":
        from searx_mcp.search.providers.open_sources import OpenSources  # noqa: PLC0415 - as above

        return OpenSources(
            members.collections,
            rounds(),
            contact=config.contact,
            phase=phase,
            clock=clock,
            blocked=lambda: parts.membership.blocked,
        )

    providers = None
    if members.keyed:
        from searx_mcp.search.providers.keyed import KeyedSearch  # noqa: PLC0415 - few have a key

        providers = KeyedSearch(
            members.keyed,
            rounds(),
            phase=phase,
            clock=clock,
            blocked=lambda: parts.membership.blocked,
        )
    is_on = config.mode is not OpenSourcesMode.OFF and bool(members.engines)
    return collections if is_on else None, providers


def _started_schedule(parts: Components, upstream: Upstream) -> Schedule:
    """Start the background work of a server."""
    from searx_mcp.search.background.health import HealthRounds  # noqa: PLC0415 - for servers alone

    interval = parts.settings.web_search.instance_health_check_interval
    rounds = HealthRounds(
        parts.pool,
        upstream,
        state=parts.state,
        activity=parts.activity,
        interval=interval,
        clock=parts.clock,
    )

    async def check_health() -> None:
        # A round adds to what other processes know, and they get what it learns.
        await parts.sync.pull(at_once=True)
        await rounds.check()
        await parts.sync.push()

    works: list[Work] = [check_health]
    if parts.refresher is not None:
        works.append(parts.refresher.renew)
    schedule = Schedule(works, interval=interval, spawn=parts.tasks.spawn)
    parts.stack.push_async_callback(schedule.stop)
    schedule.start()
    return schedule


def wire_fetcher(
    settings: Settings,
    *,
    sessions: Sessions,
    allow: AllowList,
    domains: DomainPolicy,
    pages: PageStore,
    workers: Workers,
    spawn: Spawn,
    clock: Callable[[], float],
    stack: AsyncExitStack,
) -> Fetcher:
    """Wire reading pages; needs a running event loop, and opens nothing yet.

    Args:
        settings: of the client.
        sessions: the kinds of traffic.
        allow: private addresses that may be fetched.
        domains: allowed and blocked domains.
        pages: stores captures; the caller closes it.
        workers: convert what is fetched; in threads, less of a page is read.
        spawn: starts work that outlives a caller.
        clock: Unix seconds.
        stack: closes the workers, and what is opened here.

    Raises:
        SettingsError: a setting is not usable.
    """
    config = settings.fetch
    user_agent = settings.web_fetch.user_agent or USER_AGENT
    follower = RedirectFollower(
        lambda: sessions.pages,
        allow=allow,
        domains=domains,
        hosts=Hosts(
            HostLimits(
                max_per_host=config.max_per_host,
                rate=config.host_rate,
                breaker_failures=config.breaker_failures,
                breaker_pause=config.breaker_pause,
            ),
            clock=asyncio.get_running_loop().time,
        ),
        user_agent=user_agent,
        own_headers=config.headers,
    )
    robots = RobotsGate(
        follower.robots_text, pages, clock=clock, timeout=config.robots_timeout, spawn=spawn
    )
    stack.push_async_callback(workers.aclose)
    renderer = None
    if config.browser:
        from searx_mcp.fetch.browser.renderer import Renderer  # noqa: PLC0415 - seldom switched on

        make_gateway = partial(sessions.gateway, domains.check)
        make_gateway()  # fails now if a gateway is not possible
        renderer = Renderer(
            make_gateway,
            spawn=spawn,
            program=config.browser_path,
            verify=settings.web_fetch.verify_ssl,
        )
        stack.push_async_callback(renderer.aclose)
    content = ContentConfig(
        summarize=settings.web_search.summarize_long_content,
        max_summary_length=settings.web_search.max_summary_length,
        keep_code_blocks=settings.web_search.extract_code_blocks,
        **dict(settings.markdown),
    )
    if isinstance(workers, ThreadWorkers):
        content = content.model_copy(update={"max_elements": _ELEMENTS_IN_THREADS})
    return Fetcher(
        PageCapture(
            follower,
            robots=robots,
            sites=SiteSources(
                adapters(config.tiers, github_token=config.github_token.get_secret_value()),
                follower,
                robots=robots,
                allow=allow,
                max_redirects=settings.web_fetch.max_redirects,
            ),
            workers=workers,
            renderer=renderer,
        ),
        pages=PageCache(pages, namespace=settings.storage.namespace, config=config, clock=clock),
        config=settings.web_fetch,
        content=content,
        domains=domains,
        provenance=Provenance(config.policy),
        allow=allow,
        user_agent=user_agent,
        spawn=spawn,
        obey_robots=config.robots is RobotsMode.RESPECT,
    )

"""The composition root: every area wired to the others."""

import asyncio
import random
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from yarl import URL

from searx_mcp import __version__
from searx_mcp.content.config import ContentConfig
from searx_mcp.fetch.capture import PageCapture
from searx_mcp.fetch.config import Robots
from searx_mcp.fetch.conversion import Conversion
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.fetch.hops.host_limits import HostLimits, Hosts
from searx_mcp.fetch.hops.redirects import RedirectFollower
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.fetch.page_cache import PageCache
from searx_mcp.fetch.provenance import Provenance
from searx_mcp.fetch.site_adapters.sites import SiteSources, adapters
from searx_mcp.http.dialling import Dialling
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.ops.own.waking import WAIT, waking
from searx_mcp.pool.catalog import gate
from searx_mcp.pool.config import EngineCareMode, PoolConfig
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.discovery import CatalogRefresher, Discovery
from searx_mcp.search.background.membership import PoolMembership, fetches_list, first_catalog
from searx_mcp.search.background.schedule import Activity, Schedule, Work
from searx_mcp.search.background.state_sync import StateSync
from searx_mcp.search.providers.context import Found, Provider, TimePlan
from searx_mcp.search.providers.fallback import FallbackSearch
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.search.reading import ResultReader
from searx_mcp.search.searcher import Searcher
from searx_mcp.settings.values import Settings
from searx_mcp.sources.answering import wire_answering
from searx_mcp.sources.attempt import AttemptRunner, RequestPacer
from searx_mcp.sources.open.config import OpenSourcesMode
from searx_mcp.sources.searxng.request import PROJECT_URL, Personas
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.state import StateStore
from searx_mcp.tasks import SingleFlight, Spawn, Tasks
from searx_mcp.urls.address import AllowList
from searx_mcp.workers.pool import ChildWorkers
from searx_mcp.workers.threads import ThreadWorkers

if TYPE_CHECKING:
    from searx_mcp.search.capture import FixtureRecorder
    from searx_mcp.search.providers.open_sources import WiredSources


@dataclass(slots=True)
class Components:
    """Everything an open client is made of.

    Attributes:
        pool: instances with their states.
        upstream: asks instances.
        runner: makes single attempts at instances, under the rules of a search.
        searcher: searches.
        fetcher: reads pages.
        membership: who belongs to the pool.
        refresher: renews the list of public instances, where there is one to fetch.
        activity: whether anybody searches.
        sync: shares with other processes what the pool learns.
        sources: the open sources, unless they are switched off.
        stack: closes it all.
        attempt_timeout: seconds that one attempt may take.
        clock: Unix seconds.
        schedule: runs what is renewed behind the searches, in servers.
    """

    pool: InstancePool
    upstream: Upstream
    runner: AttemptRunner
    searcher: Searcher
    fetcher: Fetcher
    membership: PoolMembership
    refresher: CatalogRefresher | None
    activity: Activity
    sync: StateSync
    sources: "WiredSources | None"
    stack: AsyncExitStack
    attempt_timeout: float
    clock: Callable[[], float]
    schedule: Schedule | None = None

    @property
    def recorder(self) -> "FixtureRecorder":
        """Searches once at one instance, and keeps what came as a fixture."""
        from searx_mcp.search.capture import FixtureRecorder  # noqa: PLC0415 - what no search needs

        return FixtureRecorder(
            self.runner,
            pool=self.pool,
            upstream=self.upstream,
            timeout=self.attempt_timeout,
            clock=self.clock,
        )

    async def aclose(self) -> None:
        """Cancel what is under way, close every connection, keep what was learned."""
        await self.stack.aclose()


async def open_components(
    settings: Settings,
    *,
    catalog: Catalog | None,
    state: StateStore,
    background: bool,
    folder: Path | None,
    clock: Callable[[], float],
    rng: random.Random,
    pages: PageStore,
    processes: bool = False,
    dialling: Dialling | None = None,
) -> Components:
    """Wire everything; the caller closes it in the same task.

    Args:
        settings: of the client.
        catalog: the public instances; the configured, fetched or bundled list unless given.
        state: keeps budgets and what is learned; the caller closes it.
        background: whether health checks run and the list is renewed.
        folder: where a fetched list and a secret are kept; nowhere unless given.
        clock: Unix seconds.
        rng: the dice.
        pages: keeps captures; the caller closes it.
        processes: whether child processes may be started.
        dialling: how names are looked up and connections opened; as the system does unless given.

    Raises:
        SettingsError: a setting cannot be used.
    """
    allow = AllowList.parse(settings.fetch.allow_private)
    dialling = dialling or Dialling()
    sessions = Sessions(
        settings.network,
        own_origins=settings.instances.own,
        credentials=settings.instances.credentials,
        operator_origins=settings.open_sources.own_endpoints(),
        allow=allow,
        verify_pages=settings.web_fetch.verify_ssl,
        resolver=dialling.resolver,
        dial=dialling.dial,
    )
    discovery = None
    if catalog is None and fetches_list(settings.instances):
        source = settings.instances.source
        discovery = Discovery(lambda: sessions.public, folder, rng, url=source)
    listed = first_catalog(
        settings.instances, catalog, discovery.last_good() if discovery else None
    )
    seed = await state.installation_seed()
    pool = InstancePool(config=_pool_config(settings), rng=rng, seed=seed)
    membership = PoolMembership(
        pool,
        instances=settings.instances,
        catalog=listed,
        choices=await state.choices(),
        admit=partial(_admitted, settings, allow),
        admit_own=sessions.admit_own,
    )
    activity = Activity(clock)
    refresher = None
    if discovery is not None:
        refresher = CatalogRefresher(
            discovery, membership=membership, state=state, activity=activity, clock=clock
        )
    answering = wire_answering(settings.workers, processes=processes)
    upstream = Upstream(
        own=lambda: sessions.own,
        public=lambda: sessions.public,
        personas=Personas(
            rotate=settings.web_search.rotate_user_agents,
            seed=seed,
            user_agent_source=desktop_user_agent,
        ),
        workers=answering,
    )
    tasks = Tasks()
    shared = None
    if settings.redis.url.get_secret_value():
        from searx_mcp.client.stores import open_answers  # noqa: PLC0415 - seldom there

        shared = open_answers(settings, folder)
    sources = None
    if settings.open_sources.mode is not OpenSourcesMode.OFF:
        from searx_mcp.client.sources import wire_sources  # noqa: PLC0415 - loads every engine

        sources = wire_sources(
            settings,
            sessions,
            state=state,
            pool_config=_pool_config(settings),
            clock=clock,
            rng=rng,
            blocked=lambda: membership.blocked,
            workers=answering,
        )
    sync = StateSync(pool, state, clock, membership, sources=sources.pool if sources else None)
    spacing = RequestPacer(settings.web_search.request_delay_range, rng)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(sync.push)
        stack.push_async_callback(sessions.aclose)
        stack.push_async_callback(answering.aclose)
        if shared is not None:
            stack.push_async_callback(shared.aclose)
        await stack.enter_async_context(tasks)
        fetcher = wire_fetcher(
            settings,
            sessions=sessions,
            allow=allow,
            domains=await read_domains(settings),
            pages=pages,
            processes=processes,
            spawn=tasks.spawn,
            clock=clock,
            stack=stack,
        )
        executor = InstanceSearch(
            pool=pool,
            upstream=upstream,
            state=state,
            config=settings.search,
            spacing=spacing,
            clock=clock,
        )
        instances: Provider = executor
        if folder is not None and processes:
            instances = waking(
                instances,
                folder=folder,
                is_alive=partial(upstream.is_alive, own=True, timeout=WAIT),
                idle=settings.own.idle,
                pool=pool,
                clock=clock,
            )
        searcher = Searcher(
            provider=FallbackSearch(
                instances,
                sources.provider if sources else None,
                mode=settings.open_sources.mode,
                has_own=lambda: pool.has_own,
                plan=TimePlan(settings.search.phase_timeout),
            ),
            reader=ResultReader(fetcher, settings.web_search, settings.quality, spawn=tasks.spawn),
            flights=SingleFlight[Found](tasks.spawn),
            web_search=settings.web_search,
            search=settings.search,
            clock=clock,
            sync=sync,
            spawn=tasks.spawn,
            shared=shared,
        )
        components = Components(
            pool=pool,
            upstream=upstream,
            runner=executor.runner,
            searcher=searcher,
            fetcher=fetcher,
            membership=membership,
            refresher=refresher,
            activity=activity,
            sync=sync,
            sources=sources,
            stack=stack,
            attempt_timeout=settings.search.attempt_timeout,
            clock=clock,
        )
        if background:
            components.schedule = _start_schedule(settings, components, state, tasks.spawn)
        components.stack = stack.pop_all()
        return components


def _start_schedule(
    settings: Settings, components: Components, state: StateStore, spawn: Spawn
) -> Schedule:
    """Start what is renewed behind the searches of a server."""
    from searx_mcp.search.background.health import HealthRounds  # noqa: PLC0415 - for servers alone

    interval = settings.web_search.instance_health_check_interval
    rounds = HealthRounds(
        components.pool,
        components.upstream,
        state=state,
        activity=components.activity,
        interval=interval,
        clock=components.clock,
    )

    async def check_health() -> None:
        # What a round teaches is shared with the other processes.
        await components.sync.pull()
        await rounds.check()
        await components.sync.push()

    works: list[Work] = [check_health]
    if components.refresher is not None:
        works.append(components.refresher.renew)
    schedule = Schedule(works, interval=interval, spawn=spawn)
    components.stack.push_async_callback(schedule.stop)
    schedule.start()
    return schedule


def _admitted(
    settings: Settings, allow: AllowList, catalog: Catalog, blocked: Collection[str]
) -> tuple[CatalogEntry, ...]:
    """The instances of a list that may be asked."""

    def is_lifted(url: URL) -> bool:
        return allow.permits(url.raw_host or "", url.port or 80)

    return gate(
        catalog,
        min_grade=settings.instances.min_grade,
        blocked=blocked,
        allow=is_lifted,
        onion=settings.network.proxies().onion is not None,
    )


def _pool_config(settings: Settings) -> PoolConfig:
    return PoolConfig(
        max_consecutive_failures=settings.web_search.max_consecutive_failures,
        rate_limit_backoff_base=settings.web_search.rate_limit_backoff_base,
        random_start=settings.web_search.use_random_instances,
        engine_care=settings.own.engine_care is EngineCareMode.AUTO,
    )


_ELEMENTS_IN_THREADS: Final = 15_000
"""Elements of a page that is converted beside an event loop: with 50,000, Python's search for unused objects
stops it for 55 ms."""


async def read_domains(settings: Settings) -> DomainPolicy:
    """Read which domains may be fetched, the block list's file included.

    Raises:
        SettingsError: a domain is none, or the file cannot be read.
    """
    return await asyncio.to_thread(_domains, settings)


def _domains(settings: Settings) -> DomainPolicy:
    config = settings.fetch
    return DomainPolicy(
        config.blocked_domains,
        allowed=config.allowed_domains,
        blocklist=Path(config.blocklist_file).expanduser() if config.blocklist_file else None,
    )


def wire_fetcher(
    settings: Settings,
    *,
    sessions: Sessions,
    allow: AllowList,
    domains: DomainPolicy,
    pages: PageStore,
    processes: bool,
    spawn: Spawn,
    clock: Callable[[], float],
    stack: AsyncExitStack,
) -> Fetcher:
    """Wire what reads pages; needs a running event loop, and opens nothing yet.

    Args:
        settings: of the client.
        sessions: the kinds of traffic.
        allow: private addresses that may be fetched.
        domains: which domains may be fetched.
        pages: keeps captures; the caller closes it.
        processes: whether PDFs are read in child processes instead of a thread.
        spawn: starts work that outlives a caller.
        clock: Unix seconds.
        stack: closes what is opened here.

    Raises:
        SettingsError: a setting cannot be used.
    """
    config = settings.fetch
    user_agent = settings.web_fetch.user_agent or f"searx-mcp/{__version__} (+{PROJECT_URL})"
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
    workers = ChildWorkers(settings.workers) if processes else ThreadWorkers(settings.workers)
    stack.push_async_callback(workers.aclose)
    renderer = None
    if config.browser:
        from searx_mcp.fetch.browser.renderer import Renderer  # noqa: PLC0415 - seldom switched on

        make_gateway = partial(sessions.gateway, domains.check)
        make_gateway()  # says now if there can be none
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
    if not processes:
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
            conversion=Conversion(content, workers),
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
        obey_robots=config.robots is Robots.RESPECT,
    )

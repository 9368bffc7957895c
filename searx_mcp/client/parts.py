"""The composition root: every area wired to the others."""

import random
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from yarl import URL

from searx_mcp.client.answering import wire_answering
from searx_mcp.client.fetching import read_domains, wire_fetcher
from searx_mcp.client.stores import open_answers
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.http.dialling import Dialling
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.ops.own.waking import WAIT, waking
from searx_mcp.pool.catalog import gate, parse_catalog
from searx_mcp.pool.config import EngineCareMode, PoolConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.activity import Activity
from searx_mcp.search.background.catalog_file import read_bundled, read_catalog
from searx_mcp.search.background.discovery import Discovery
from searx_mcp.search.background.prober import Prober
from searx_mcp.search.background.relisting import Relisting
from searx_mcp.search.background.remembering import Remembering
from searx_mcp.search.background.roster import Roster
from searx_mcp.search.background.schedule import Schedule, Work
from searx_mcp.search.capture import Capturer
from searx_mcp.search.providers.context import Found, Provider
from searx_mcp.search.providers.fallback import FallbackSearch
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.search.reading import ResultReader
from searx_mcp.search.searcher import Searcher
from searx_mcp.settings.values import Settings
from searx_mcp.sources.attempt import RequestPacer
from searx_mcp.sources.open.config import OpenSourcesMode
from searx_mcp.sources.searxng.persona import Personas
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.state import StateStore
from searx_mcp.tasks import SingleFlight, Tasks
from searx_mcp.urls.address import AllowList

if TYPE_CHECKING:
    from searx_mcp.search.providers.open_sources import WiredSources


class Parts:
    """Everything an open client is made of; the composition root."""

    def __init__(
        self,
        *,
        pool: InstancePool,
        upstream: Upstream,
        searcher: Searcher,
        capturer: Capturer,
        fetcher: Fetcher,
        roster: Roster,
        relisting: Relisting | None,
        activity: Activity,
        remembering: Remembering,
        sources: "WiredSources | None",
        schedule: Schedule | None,
        stack: AsyncExitStack,
    ) -> None:
        self.pool = pool
        self.upstream = upstream
        self.searcher = searcher
        self.capturer = capturer
        self.fetcher = fetcher
        self.relisting = relisting
        self.activity = activity
        self.roster = roster
        self.remembering = remembering
        self.sources = sources
        self.schedule = schedule
        self._stack = stack

    @classmethod
    async def open(
        cls,
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
    ) -> Self:
        """Wire everything; the caller closes it in the same task.

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
        if catalog is None and _fetches_list(settings):
            source = settings.instances.source
            discovery = Discovery(lambda: sessions.public, folder, rng, url=source)
        listed = _newer(_catalog(settings, catalog), discovery.last_good() if discovery else None)
        seed = await state.installation_seed()
        pool = InstancePool(config=_pool_config(settings), rng=rng, seed=seed)
        roster = Roster(
            pool,
            instances=settings.instances,
            catalog=listed,
            choices=await state.choices(),
            admit=partial(_admitted, settings, allow),
            admit_own=sessions.admit_own,
        )
        activity = Activity(clock)
        relisting = None
        if discovery is not None:
            relisting = Relisting(
                discovery, roster=roster, state=state, activity=activity, clock=clock
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
                blocked=lambda: roster.blocked,
                workers=answering,
            )
        remembering = Remembering(
            pool, state, clock, roster, sources=sources.pool if sources else None
        )
        spacing = RequestPacer(settings.web_search.request_delay_range, rng)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(remembering.keep)
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
                    phase_timeout=settings.search.phase_timeout,
                ),
                reader=ResultReader(
                    fetcher, settings.web_search, settings.quality, spawn=tasks.spawn
                ),
                flights=SingleFlight[Found](tasks.spawn),
                web_search=settings.web_search,
                search=settings.search,
                clock=clock,
                remembering=remembering,
                spawn=tasks.spawn,
                shared=shared,
            )
            schedule = None
            if background:
                interval = settings.web_search.instance_health_check_interval
                prober = Prober(
                    pool,
                    upstream,
                    state=state,
                    activity=activity,
                    interval=interval,
                    clock=clock,
                )
                works: list[Work] = [partial(_check, prober, remembering)]
                if relisting is not None:
                    works.append(relisting.renew)
                schedule = Schedule(works, interval=interval, spawn=tasks.spawn)
                stack.push_async_callback(schedule.stop)
                schedule.start()
            return cls(
                pool=pool,
                upstream=upstream,
                searcher=searcher,
                capturer=Capturer(
                    executor.runner,
                    pool=pool,
                    upstream=upstream,
                    timeout=settings.search.attempt_timeout,
                    clock=clock,
                ),
                fetcher=fetcher,
                roster=roster,
                relisting=relisting,
                activity=activity,
                remembering=remembering,
                sources=sources,
                schedule=schedule,
                stack=stack.pop_all(),
            )

    async def aclose(self) -> None:
        """Cancel what is under way, close every connection, keep what was learned."""
        await self._stack.aclose()


def _catalog(settings: Settings, given: Catalog | None) -> Catalog | None:
    """The list of public instances, or `None` when they are not to be asked."""
    if not _asks_public(settings):
        return None
    if given is not None:
        return given
    path = settings.instances.catalog
    return parse_catalog(read_catalog(path) if path else read_bundled())


def _fetches_list(settings: Settings) -> bool:
    """Whether a newer list of public instances is of use."""
    instances = settings.instances
    return bool(instances.source) and not instances.catalog and _asks_public(settings)


def _asks_public(settings: Settings) -> bool:
    instances = settings.instances
    if instances.public is PublicInstances.AUTO:
        return not instances.own
    return instances.public is PublicInstances.ON


def _newer(listed: Catalog | None, kept: Catalog | None) -> Catalog | None:
    if listed is None or kept is None or kept.listed_at < listed.listed_at:
        return listed
    return kept


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


async def _check(prober: Prober, remembering: Remembering) -> None:
    """A round of health checks; what they teach is shared with the other processes."""
    await remembering.recall()
    await prober.check()
    await remembering.keep()


def _pool_config(settings: Settings) -> PoolConfig:
    return PoolConfig(
        max_consecutive_failures=settings.web_search.max_consecutive_failures,
        rate_limit_backoff_base=settings.web_search.rate_limit_backoff_base,
        random_start=settings.web_search.use_random_instances,
        engine_care=settings.own.engine_care is EngineCareMode.AUTO,
    )

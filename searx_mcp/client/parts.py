"""The composition root: every area wired to the others."""

import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Self

from yarl import URL

from searx_mcp import __version__
from searx_mcp.content.config import ContentConfig
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.fetch.policy import DomainPolicy
from searx_mcp.models.instance import Catalog, CatalogEntry, PoolReport
from searx_mcp.net.address import AllowList
from searx_mcp.net.sessions import Sessions
from searx_mcp.net.user_agents import desktop_user_agent
from searx_mcp.pool.catalog import gate, parse_catalog
from searx_mcp.pool.config import PoolConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.capture import Capturer
from searx_mcp.search.catalog_file import catalog_report, read_bundled, read_catalog
from searx_mcp.search.executor import Executor, Found
from searx_mcp.search.flight import SingleFlight
from searx_mcp.search.health import HealthSchedule
from searx_mcp.search.prober import Prober
from searx_mcp.search.reading import ResultReader
from searx_mcp.search.remembering import Remembering
from searx_mcp.search.searcher import Searcher
from searx_mcp.search.spacing import Spacing
from searx_mcp.search.state.interface import StateStore
from searx_mcp.search.tasks import Tasks
from searx_mcp.searxng.persona import PROJECT_URL, Personas
from searx_mcp.searxng.upstream import Upstream
from searx_mcp.settings import Settings


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
        report: PoolReport,
        remembering: Remembering,
        schedule: HealthSchedule | None,
        stack: AsyncExitStack,
    ) -> None:
        self.pool = pool
        self.upstream = upstream
        self.searcher = searcher
        self.capturer = capturer
        self.fetcher = fetcher
        self.report = report
        self.remembering = remembering
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
        clock: Callable[[], float],
        rng: random.Random,
    ) -> Self:
        """Wire everything; the caller closes it in the same task.

        Raises:
            SettingsError: a setting cannot be used.
        """
        allow = AllowList.parse(settings.fetch.allow_private)
        domains = DomainPolicy(settings.fetch.blocked_domains)
        listed = _catalog(settings, catalog)
        pool = _pool(settings, listed, allow, rng)
        sessions = Sessions(
            settings.network,
            own_origins=settings.instances.own,
            allow=allow,
            verify_pages=settings.web_fetch.verify_ssl,
        )
        upstream = Upstream(
            own=lambda: sessions.own,
            public=lambda: sessions.public,
            personas=Personas(
                rotate=settings.web_search.rotate_user_agents,
                rng=rng,
                user_agent_source=desktop_user_agent,
            ),
        )
        fetcher = Fetcher(
            lambda: sessions.pages,
            config=settings.web_fetch,
            domains=domains,
            allow=allow,
            content=ContentConfig(
                summarize=settings.web_search.summarize_long_content,
                max_summary_length=settings.web_search.max_summary_length,
                keep_code_blocks=settings.web_search.extract_code_blocks,
            ),
            user_agent=settings.web_fetch.user_agent or f"searx-mcp/{__version__} (+{PROJECT_URL})",
        )
        tasks = Tasks()
        remembering = Remembering(pool, state, clock)
        spacing = Spacing(settings.web_search.request_delay_range, rng)
        searcher = Searcher(
            executor=Executor(
                pool=pool,
                upstream=upstream,
                state=state,
                config=settings.search,
                spacing=spacing,
                clock=clock,
            ),
            reader=ResultReader(fetcher, settings.web_search),
            flights=SingleFlight[Found](tasks.spawn),
            web_search=settings.web_search,
            search=settings.search,
            clock=clock,
            remembering=remembering,
            spawn=tasks.spawn,
        )
        async with AsyncExitStack() as stack:
            stack.push_async_callback(remembering.keep)
            stack.push_async_callback(sessions.aclose)
            await stack.enter_async_context(tasks)
            schedule = None
            if background:
                schedule = HealthSchedule(
                    Prober(pool, upstream, clock),
                    interval=settings.web_search.instance_health_check_interval,
                    spawn=tasks.spawn,
                )
                stack.push_async_callback(schedule.stop)
                schedule.start()
            return cls(
                pool=pool,
                upstream=upstream,
                searcher=searcher,
                capturer=Capturer(
                    pool=pool,
                    upstream=upstream,
                    state=state,
                    spacing=spacing,
                    timeout=settings.search.attempt_timeout,
                    clock=clock,
                ),
                fetcher=fetcher,
                report=catalog_report(listed, clock()),
                remembering=remembering,
                schedule=schedule,
                stack=stack.pop_all(),
            )

    async def aclose(self) -> None:
        """Cancel what is under way, close every connection, keep what was learned."""
        await self._stack.aclose()


def _catalog(settings: Settings, given: Catalog | None) -> Catalog | None:
    """The list of public instances, or `None` when they are not to be asked."""
    instances = settings.instances
    if instances.public is PublicInstances.OFF or (
        instances.public is PublicInstances.AUTO and instances.own
    ):
        return None
    if given is not None:
        return given
    return parse_catalog(read_catalog(instances.catalog) if instances.catalog else read_bundled())


def _pool(
    settings: Settings, catalog: Catalog | None, allow: AllowList, rng: random.Random
) -> InstancePool:
    def allow_http(url: URL) -> bool:
        return allow.permits(url.raw_host or "", url.port or 80)

    public: tuple[CatalogEntry, ...] = ()
    if catalog is not None:
        public = gate(
            catalog,
            min_grade=settings.instances.min_grade,
            blocked=settings.instances.blocked,
            allow_http=allow_http,
        )
    return InstancePool(
        own=settings.instances.own,
        public=public,
        config=PoolConfig(
            max_consecutive_failures=settings.web_search.max_consecutive_failures,
            rate_limit_backoff_base=settings.web_search.rate_limit_backoff_base,
            random_start=settings.web_search.use_random_instances,
        ),
        rng=rng,
    )

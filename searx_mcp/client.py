"""The facade: every area wired together, for fronts and for other asyncio programs."""

import random
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from typing_extensions import override
from yarl import URL

from searx_mcp import __version__
from searx_mcp.arguments.fetch import parse_fetch
from searx_mcp.arguments.search import parse_search
from searx_mcp.content.config import ContentConfig
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.fetch.policy import DomainPolicy
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import Catalog, CatalogEntry, PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import FetchRequest, SearchRequest
from searx_mcp.models.response import SearchResponse
from searx_mcp.models.service import Progress, Service
from searx_mcp.net.address import AllowList
from searx_mcp.net.sessions import Sessions
from searx_mcp.net.user_agents import desktop_user_agent
from searx_mcp.pool.catalog import gate, parse_catalog
from searx_mcp.pool.config import PoolConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.budget import windows
from searx_mcp.search.capture import Capture, Capturer
from searx_mcp.search.catalog_file import catalog_report, read_bundled, read_catalog
from searx_mcp.search.executor import Executor, Found
from searx_mcp.search.flight import SingleFlight
from searx_mcp.search.health import HealthSchedule
from searx_mcp.search.prober import Prober
from searx_mcp.search.reading import ResultReader
from searx_mcp.search.remembering import Remembering
from searx_mcp.search.searcher import Searcher, instance_query
from searx_mcp.search.spacing import Spacing
from searx_mcp.search.state.interface import StateStore
from searx_mcp.search.state.memory import MemoryStore
from searx_mcp.search.state.sqlite import FILE_NAME, open_store
from searx_mcp.search.tasks import Tasks
from searx_mcp.searxng.persona import PROJECT_URL, Personas
from searx_mcp.searxng.upstream import Upstream
from searx_mcp.settings import Settings


class SearxClient(Service):
    """Search the web and read pages, from inside an asyncio program.

    ```python
    async with SearxClient() as client:
        response = await client.search("rust async runtime", results_count=5)
        page = await client.fetch(response.results[0].url)
    ```

    Hermetic: it reads no environment and no configuration, starts no process, touches no signal
    handler and no logging set-up. Leaving the block cancels what is under way, closes every
    connection and returns within seconds; the client may then be entered again.

    Args:
        settings: all defaults unless given; `searx_mcp.settings.load` reads files and environment.
        catalog: the public instances; the configured or bundled list unless given.
        state: where budgets are kept; in memory unless given.
        background: whether health checks of own instances run while the client lives.
        clock: Unix seconds.
        rng: the dice for jitter, round-robin and personas.

    Raises:
        SettingsError: when entered, if a setting cannot be used.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        catalog: Catalog | None = None,
        state: StateStore | None = None,
        background: bool = False,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - the one place where the clock is named
        rng: random.Random | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self._given_catalog = catalog
        self._state: StateStore = state or MemoryStore()
        self._background = background
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311 - jitter and load spreading, no secret
        self._parts: _Parts | None = None

    @override
    def __repr__(self) -> str:
        parts = self._parts
        return f"<SearxClient {parts.pool!r}>" if parts else "<SearxClient closed>"

    async def __aenter__(self) -> Self:
        if self._parts is not None:
            raise RuntimeError("this SearxClient is already open")
        self._parts = await _Parts.open(
            self.settings,
            catalog=self._given_catalog,
            state=self._state,
            background=self._background,
            clock=self._clock,
            rng=self._rng,
        )
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel what is under way and close every connection; harmless when called twice."""
        parts, self._parts = self._parts, None
        if parts is not None:
            await parts.aclose()
            await self._state.aclose()

    @override
    async def search(
        self,
        request: SearchRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: object,
    ) -> SearchResponse:
        """Search the web and, unless told otherwise, read the result pages.

        Args:
            request: a request, or the query with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            NoInstancesError: no instance could serve.
            DeadlineError: the call ran out of time.
        """
        parts = self._open_parts()
        if isinstance(request, str):
            request = parse_search(
                {"query": request, **arguments}, defaults=self.settings.search_defaults()
            )
        return await parts.searcher.search(request, progress=progress)

    @override
    async def fetch(
        self,
        request: FetchRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: object,
    ) -> Page:
        """Read one page as Markdown.

        Args:
            request: a request, or the address with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `FetchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: the page could not be read; see `searx_mcp.errors`.
        """
        parts = self._open_parts()
        if isinstance(request, str):
            request = parse_fetch({"url": request, **arguments})
        if progress is not None:
            progress(f"reading {URL(request.url).host}")
        return await parts.fetcher.fetch(request)

    @override
    async def instances(self) -> PoolReport:
        """Report the pool with what is left of each budget; makes no request."""
        parts = self._open_parts()
        await parts.remembering.recall()
        now = self._clock()
        reports = []
        for report in parts.pool.snapshot(now):
            limits = windows(own=report.tier == "own", link_token=parts.pool.link_token(report.url))
            budget = await self._state.budget(report.url, limits, now)
            wait = max(report.retry_after, round(budget.free_at - now, 1))
            reports.append(
                report.model_copy(update={"budget_left": budget.left, "retry_after": wait})
            )
        notes = (*parts.report.notes, *filter(None, [self._state.problem]))
        return parts.report.model_copy(update={"instances": tuple(reports), "notes": notes})

    async def suggest(self, query: str) -> tuple[str, ...]:
        """What an own instance proposes for the beginning of a query, at most 20 of them.

        Public instances are never asked, because each call costs them a request to a search
        engine: without an own instance that answers, the suggestions are empty.
        """
        parts = self._open_parts()
        for url in parts.pool.own_urls():
            timeout = self.settings.search.attempt_timeout
            if found := await parts.upstream.suggest(url, query, own=True, timeout=timeout):
                return found
        return ()

    async def capture(
        self,
        host: str,
        query: str,
        *,
        format: Format | None = None,  # noqa: A002 - the field's word for JSON or HTML
        **arguments: object,
    ) -> Capture:
        """Search once at one instance of the pool, at the cost of its budget; keep a fixture.

        Args:
            host: the instance's host or address.
            query: what to search for; nothing of it is in the fixture.
            format: `json` or `html`; the one a search would ask for unless given.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong, or the instance is not in the pool.
            NoInstancesError: the instance may not be asked now.
        """
        parts = self._open_parts()
        request = parse_search(
            {"query": query, **arguments}, defaults=self.settings.search_defaults()
        )
        return await parts.capturer.capture(host, instance_query(request), format)

    def _open_parts(self) -> "_Parts":
        if self._parts is None:
            raise RuntimeError("open the SearxClient first: async with SearxClient() as client")
        return self._parts


def remembering_client(settings: Settings, *, background: bool = False) -> SearxClient:
    """A client that remembers across processes, as the `[storage]` table says.

    Args:
        settings: of the client.
        background: whether health checks of own instances run while it lives.
    """
    folder = settings.state_folder()
    state = open_store(folder / FILE_NAME if folder else None)
    return SearxClient(settings, state=state, background=background)


class _Parts:
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

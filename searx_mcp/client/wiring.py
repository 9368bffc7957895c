"""The composition root: instances and sources, their state, and whether the settings are usable.

`client.asking` wires searching and reading on first use: most modules are only for those, and a command that
shows the pool needs none of them.
"""

import asyncio
import random
from collections.abc import Callable, Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.http.config import NetworkConfig
from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.pool.catalog import gate
from searx_mcp.pool.config import EngineCareMode, PoolConfig
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.discovery import CatalogRefresher, Discovery
from searx_mcp.search.background.membership import (
    PoolMembership,
    StateSync,
    fetches_list,
    first_catalog,
)
from searx_mcp.search.background.schedule import Activity
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.members import SourceMembers
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.state import StateStore
from searx_mcp.tasks import Tasks
from searx_mcp.urls.address import AllowList

if TYPE_CHECKING:
    from searx_mcp.http.dialling import Dialling
    from searx_mcp.http.sessions import Sessions
    from searx_mcp.search.cache import SharedAnswers


class LateSessions:
    """The kinds of traffic of a client, created on first use.

    The HTTP library would be a fifth of the modules of a command that shows the pool. If one of its settings
    may be invalid, the sessions are created at once, so that opening the client reports it.

    Args:
        settings: of the client.
        allow: private places that pages may be fetched from.
        dialling: how to resolve names and open connections; by default, the system's way.

    Raises:
        SettingsError: a setting is not usable.
    """

    def __init__(self, settings: Settings, allow: AllowList, dialling: "Dialling | None") -> None:
        self._settings = settings
        self._allow = allow
        self._dialling = dialling
        self._own: tuple[str, ...] = settings.instances.own
        self._made: Sessions | None = None
        if settings.network != NetworkConfig() or settings.own_endpoints():
            self.get()

    def get(self) -> "Sessions":
        """Return the sessions; create them on the first call."""
        if self._made is None:
            from searx_mcp.http.dialling import Dialling  # noqa: PLC0415 - see above
            from searx_mcp.http.sessions import Sessions  # noqa: PLC0415 - see above

            settings, dialling = self._settings, self._dialling or Dialling()
            self._made = Sessions(
                settings.network,
                own_origins=self._own,
                credentials=settings.instances.credentials,
                operator_origins=settings.own_endpoints(),
                allow=self._allow,
                verify_pages=settings.web_fetch.verify_ssl,
                resolver=dialling.resolver,
                dial=dialling.dial,
            )
        return self._made

    def admit_own(self, urls: Iterable[str]) -> None:
        """Set the own instances; see `Sessions`."""
        self._own = tuple(urls)
        if self._made is not None:
            self._made.admit_own(self._own)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._made is not None:
            await self._made.aclose()


@dataclass(frozen=True, slots=True)
class Components:
    """The parts of an open client before it searches or reads.

    Attributes:
        settings: of the client.
        state: stores budgets and what is learned.
        pages: stores captures.
        folder: of a secret and an own instance, if there is one.
        processes: whether child processes may be started.
        clock: Unix seconds.
        rng: source of randomness.
        seed: of this installation.
        allow: private places that may be reached.
        domains: allowed and blocked domains.
        sessions: the kinds of traffic.
        pool: instances with their states.
        membership: the members of the pool.
        refresher: refreshes the list of public instances, if there is one.
        activity: whether there are searches.
        sources: the enabled open sources and keyed providers.
        sync: shares what the pool learns with other processes.
        shared: the answers of other processes, if they are shared.
        tasks: work that outlives a caller.
        stack: closes everything.
        readers: closes what parses answers, once nothing needs it any more.
    """

    settings: Settings
    state: StateStore
    pages: PageStore
    folder: Path | None
    processes: bool
    clock: Callable[[], float]
    rng: random.Random
    seed: int
    allow: AllowList
    domains: DomainPolicy
    sessions: LateSessions
    pool: InstancePool
    membership: PoolMembership
    refresher: CatalogRefresher | None
    activity: Activity
    sources: SourceMembers
    sync: StateSync
    shared: "SharedAnswers | None"
    tasks: Tasks
    stack: AsyncExitStack
    readers: AsyncExitStack

    async def aclose(self) -> None:
        """Cancel what is running, close every connection, save what was learned."""
        await self.stack.aclose()


async def open_components(
    settings: Settings,
    *,
    catalog: Catalog | None,
    state: StateStore,
    folder: Path | None,
    clock: Callable[[], float],
    rng: random.Random,
    pages: PageStore,
    processes: bool = False,
    dialling: "Dialling | None" = None,
) -> Components:
    """Wire what every client needs; the caller closes it in the same task.

    Args:
        settings: of the client.
        catalog: the public instances; by default, the configured, fetched or bundled list.
        state: stores budgets and what is learned; the caller closes it.
        folder: of a fetched list and a secret; by default, these are not stored.
        clock: Unix seconds.
        rng: source of randomness.
        pages: stores captures; the caller closes it.
        processes: whether child processes may be started.
        dialling: how to resolve names and open connections; by default, the system's way.

    Raises:
        SettingsError: a setting is not usable.
    """
    allow = AllowList.parse(settings.fetch.allow_private)
    sessions = LateSessions(settings, allow, dialling)
    discovery = None
    if catalog is None and fetches_list(settings.instances):
        discovery = Discovery(
            lambda: sessions.get().public, folder, rng, url=settings.instances.source
        )
    listed = first_catalog(
        settings.instances, catalog, discovery.last_good() if discovery else None
    )
    seed = await state.installation_seed()
    config = PoolConfig(
        max_consecutive_failures=settings.web_search.max_consecutive_failures,
        rate_limit_backoff_base=settings.web_search.rate_limit_backoff_base,
        random_start=settings.web_search.use_random_instances,
        engine_care=settings.own.engine_care is EngineCareMode.AUTO,
    )
    pool = InstancePool(config=config, rng=rng, seed=seed)
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
    shared = None
    if settings.redis.url.get_secret_value():
        from searx_mcp.client.stores import open_answers  # noqa: PLC0415 - seldom configured

        shared = open_answers(settings, folder)
    sources = SourceMembers.of(settings.open_sources, settings.providers, config=config, rng=rng)
    sync = StateSync(pool, state, clock, membership, sources=sources.pool)
    tasks = Tasks()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(sync.push)
        stack.push_async_callback(sessions.aclose)
        if shared is not None:
            stack.push_async_callback(shared.aclose)
        readers = await stack.enter_async_context(AsyncExitStack())
        await stack.enter_async_context(tasks)
        return Components(
            settings=settings,
            state=state,
            pages=pages,
            folder=folder,
            processes=processes,
            clock=clock,
            rng=rng,
            seed=seed,
            allow=allow,
            domains=await asyncio.to_thread(_domains, settings),
            sessions=sessions,
            pool=pool,
            membership=membership,
            refresher=refresher,
            activity=activity,
            sources=sources,
            sync=sync,
            shared=shared,
            tasks=tasks,
            stack=stack.pop_all(),
            readers=readers,
        )


def _admitted(
    settings: Settings, allow: AllowList, catalog: Catalog, blocked: Collection[str]
) -> tuple[CatalogEntry, ...]:
    """Return the instances of a list that may be asked."""
    return gate(
        catalog,
        min_grade=settings.instances.min_grade,
        blocked=blocked,
        allow=lambda url: allow.permits(url.raw_host or "", url.port or 80),
        onion=settings.network.proxies().onion is not None,
    )


def _domains(settings: Settings) -> DomainPolicy:
    """Read the allowed and blocked domains, including the file of the block list."""
    config = settings.fetch
    return DomainPolicy(
        config.blocked_domains,
        allowed=config.allowed_domains,
        blocklist=Path(config.blocklist_file).expanduser() if config.blocklist_file else None,
    )

"""Everything that fetching a page is made of, wired together."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final

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
from searx_mcp.http.sessions import Sessions
from searx_mcp.settings.values import Settings
from searx_mcp.sources.searxng.persona import PROJECT_URL
from searx_mcp.storage.pages import PageStore
from searx_mcp.tasks import Spawn
from searx_mcp.urls.address import AllowList
from searx_mcp.workers.pool import ChildWorkers
from searx_mcp.workers.threads import ThreadWorkers

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

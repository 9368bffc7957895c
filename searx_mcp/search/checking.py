"""Free probes of instances, when a person asks for them."""

import asyncio
from collections.abc import Callable, Sequence

from searx_mcp.http.robots import RobotsDecision
from searx_mcp.models.administration import Check, Checked, ConfigReport, Robots
from searx_mcp.models.service import Progress
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.sources.attempt import read_config, read_robots
from searx_mcp.sources.attempt_log import is_offline
from searx_mcp.sources.searxng.upstream import Upstream

PROBE_TIMEOUT = 5.0
"""Seconds that one answer may take."""
_AT_ONCE = 4


class Checker:
    """Asks for `/healthz`, then `/config` and, of public instances, robots.txt, four at a time.

    The pool learns from the answers as from a health check, and an own instance that answers may be
    searched at once, whatever it waited for: its owner asks after having mended it. When nobody at all answers, the network
    here is down, and nothing is held against anybody.

    Args:
        pool: learns from the answers.
        client: asks.
        clock: Unix seconds.
    """

    def __init__(self, pool: InstancePool, client: Upstream, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._client = client
        self._clock = clock

    async def check(self, urls: Sequence[str], *, progress: Progress | None = None) -> Checked:
        """Probe the instances now.

        Args:
            urls: base URLs of instances of the pool.
            progress: told how many are done.
        """
        own = frozenset(self._pool.own_urls())
        checks: dict[str, Check] = {}
        slots = asyncio.Semaphore(_AT_ONCE)

        async def check(url: str) -> None:
            async with slots:
                checks[url] = await self._check(url, own=url in own)
            if progress is not None:
                progress(f"checked {len(checks)} of {len(urls)} instances")

        async with asyncio.TaskGroup() as group:
            for url in urls:
                group.create_task(check(url))
        reached = any(check.alive for check in checks.values())
        offline = is_offline(len(checks), reached=reached)
        for url, probed in checks.items():
            if not offline or url in own:
                self._pool.probed(url, alive=probed.alive, now=self._clock())
            if url in own and probed.alive:
                self._pool.revive(url, self._clock())
        return Checked(checks=tuple(checks[url] for url in urls), offline=offline)

    async def _check(self, url: str, *, own: bool) -> Check:
        loop = asyncio.get_running_loop()
        started = loop.time()
        alive = await self._client.is_alive(url, own=own, timeout=PROBE_TIMEOUT)
        elapsed_ms = round((loop.time() - started) * 1_000)
        if not alive:
            return Check(url=url, alive=False, elapsed_ms=elapsed_ms)
        facts = await read_config(
            self._client, self._pool, url, own=own, clock=self._clock, timeout=PROBE_TIMEOUT
        )
        robots, detail = (Robots.NOT_ASKED, "") if own else await self._read_robots(url)
        return Check(
            url=url,
            alive=True,
            elapsed_ms=elapsed_ms,
            robots=robots,
            detail=detail,
            config=config_report(facts),
        )

    async def _read_robots(self, url: str) -> tuple[Robots, str]:
        form = self._pool.format_of(url, self._clock())
        decision = await read_robots(
            self._client, self._pool, url, form, clock=self._clock, timeout=PROBE_TIMEOUT
        )
        if not isinstance(decision, RobotsDecision):
            return Robots.UNREADABLE, decision.detail
        return (Robots.ALLOWED if decision.allowed else Robots.OPTED_OUT), ""


def config_report(facts: ConfigFacts | None) -> ConfigReport | None:
    """What `/config` said, as it is shown."""
    if facts is None:
        return None
    return ConfigReport(
        version=facts.version,
        limiter=facts.limiter_enabled,
        link_token=facts.link_token,
        public_instance=facts.public_instance,
        engines=facts.engines,
        categories=tuple(facts.categories),
    )

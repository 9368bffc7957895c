"""Health checks: immediate ones for a person, and periodic ones in long-lived servers. None is a search."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from searx_mcp.http.robots import RobotsDecision
from searx_mcp.models.administration import Checked, ConfigReport, InstanceCheck, Robots
from searx_mcp.models.progress import Progress
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.schedule import Activity
from searx_mcp.sources.attempt_runner import read_config, read_robots
from searx_mcp.sources.attempts import is_offline
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.state import StateStore
from searx_mcp.telemetry import EventLog

_log = EventLog("searx_mcp.search.background.health")

PROBE_TIMEOUT = 5.0
"""Seconds for one answer."""
PUBLIC_INTERVAL = 3_600.0
"""Minimum seconds between two checks of a public instance, by all processes together."""
CONFIG_INTERVAL = 86_400.0
"""Minimum seconds between two readings of an own instance's `/config`; a public one's is read before a
search, together with its robots.txt."""
_ROUND_SHARE = 0.85
"""Share of the interval after which a job may be claimed again: a round may come a tenth early."""
_AT_ONCE = 4
_ENOUGH_TO_DOUBT = 3
"""Consecutive silent instances from which the network here counts as down."""


class HealthChecker:
    """Requests `/healthz`, then `/config` and, of public instances, robots.txt, four at a time.

    The pool learns from the answers as from a health check. An own instance that answers may be searched at
    once, even on a cooldown: its owner asks after fixing it. If none answers at all, the network here is down
    and no instance is blamed.

    Args:
        pool: learns from the answers.
        client: makes the requests.
        clock: Unix seconds.
    """

    def __init__(self, pool: InstancePool, client: Upstream, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._client = client
        self._clock = clock

    async def check(self, urls: Sequence[str], *, progress: Progress | None = None) -> Checked:
        """Check the instances now.

        Args:
            urls: base URLs of instances of the pool.
            progress: receives the number of finished ones.
        """
        own = frozenset(self._pool.own_urls())
        checks: dict[str, InstanceCheck] = {}

        async def check(url: str) -> None:
            checks[url] = await self._check(url, own=url in own)
            if progress is not None:
                progress(f"checked {len(checks)} of {len(urls)} instances")

        await _for_each(urls, check)
        reached = any(check.alive for check in checks.values())
        offline = is_offline(len(checks), reached=reached)
        for url, probed in checks.items():
            if not offline or url in own:
                self._pool.probed(url, alive=probed.alive, now=self._clock())
            if url in own and probed.alive:
                self._pool.revive(url, self._clock())
        return Checked(checks=tuple(checks[url] for url in urls), offline=offline)

    async def _check(self, url: str, *, own: bool) -> InstanceCheck:
        loop = asyncio.get_running_loop()
        started = loop.time()
        alive = await self._client.is_alive(url, own=own, timeout=PROBE_TIMEOUT)
        elapsed_ms = round((loop.time() - started) * 1_000)
        if not alive:
            return InstanceCheck(url=url, alive=False, elapsed_ms=elapsed_ms)
        facts = await read_config(
            self._client, self._pool, url, own=own, clock=self._clock, timeout=PROBE_TIMEOUT
        )
        robots, detail = (Robots.NOT_ASKED, "") if own else await self._read_robots(url)
        return InstanceCheck(
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


class HealthRounds:
    """Requests `/healthz` of instances in rounds, and `/config` of own ones once a day.

    An answer ends a failing time early, and silence counts as a failure, so that a stopped instance is known
    before a search has to wait for it; an answer proves nothing about engines. Own instances are checked in
    every round. Of the public ones likely to be asked next, each round checks one, which spreads them out:
    each at most once an hour, and none without searches. Several processes share the work and skip what
    another has claimed. If several public ones in a row are silent, the network here is down and none is
    blamed; a silent one is blamed once another answers.

    Args:
        pool: learns from the answers.
        client: makes the requests.
        state: shares the work among processes.
        activity: whether anyone uses this process.
        interval: seconds between two rounds.
        clock: Unix seconds.
    """

    def __init__(
        self,
        pool: InstancePool,
        client: Upstream,
        *,
        state: StateStore,
        activity: Activity,
        interval: float,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._client = client
        self._state = state
        self._activity = activity
        self._interval = interval * _ROUND_SHARE
        self._clock = clock
        self._silent: set[str] = set()

    async def check(self) -> None:
        """Check the instances whose turn it is."""
        if self._activity.is_awake:
            await self._check_own()
        if self._activity.is_searching:
            await self._check_public()

    async def _check_own(self) -> None:
        client, pool, clock = self._client, self._pool, self._clock

        async def check(url: str) -> None:
            alive = await self._is_alive(url, own=True)
            pool.probed(url, alive=alive, now=clock())
            if alive and await self._claim(f"config {url}", CONFIG_INTERVAL):
                await read_config(client, pool, url, own=True, clock=clock, timeout=PROBE_TIMEOUT)

        urls = pool.own_urls()
        due = [url for url in urls if await self._claim(f"healthz {url}", self._interval)]
        await _for_each(due, check)

    async def _check_public(self) -> None:
        urls = self._pool.aperture(self._clock())
        if not urls or not await self._claim("healthz", self._interval):
            return
        for url in urls:
            if await self._claim(f"healthz {url}", PUBLIC_INTERVAL):
                break
        else:
            return
        if not await self._is_alive(url, own=False):
            self._silent.add(url)
            if len(urls) > 1:
                return
        else:
            self._pool.probed(url, alive=True, now=self._clock())
        if not is_offline(len(self._silent), reached=False, enough=_ENOUGH_TO_DOUBT):
            for silent in self._silent:
                self._pool.probed(silent, alive=False, now=self._clock())
        self._silent.clear()

    async def _is_alive(self, url: str, *, own: bool) -> bool:
        alive = await self._client.is_alive(url, own=own, timeout=PROBE_TIMEOUT)
        _log.debug("search.probe instance=%s alive=%s", url, alive)
        return alive

    async def _claim(self, job: str, seconds: float) -> bool:
        return await self._state.claim(job, seconds=seconds, now=self._clock())


async def _for_each(urls: Iterable[str], check: Callable[[str], Awaitable[None]]) -> None:
    """Check instances, several at a time."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(url: str) -> None:
        async with slots:
            await check(url)

    async with asyncio.TaskGroup() as group:
        for url in urls:
            group.create_task(one(url))


def config_report(facts: ConfigFacts | None) -> ConfigReport | None:
    """Return a report of `/config`."""
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

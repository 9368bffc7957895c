"""Instances without sockets, for code that runs in virtual time."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from searx_mcp.http.robots import RobotsDecision
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.instance import CatalogEntry, InstanceReport
from searx_mcp.models.progress import Progress
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.search.config import SearchConfig
from searx_mcp.search.providers.context import Found, SearchContext
from searx_mcp.search.providers.instances import InstanceSearch
from searx_mcp.sources.attempt_runner import RequestPacer
from searx_mcp.storage.memory import MemoryStore

PAGE = ResultPage(
    hits=tuple(Hit(url=f"https://r{n}.example/", title="T", position=n) for n in range(1, 11)),
    has_next=False,
)
"""What an answer holds unless told otherwise: ten hits."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One search that reached an instance.

    Attributes:
        url: base URL of the instance.
        at: Unix seconds.
        deadline: Unix seconds by which the caller wants it to be over.
        format: what was asked for.
        own: whether the caller takes it for an own instance.
    """

    url: str
    at: float
    deadline: float
    format: Format
    own: bool


@dataclass(slots=True)
class Behaviour:
    """How one instance answers.

    Attributes:
        seconds: how long it takes.
        verdict: what the answer comes to.
        page: what a usable answer holds.
        retry_after: seconds it asks us to wait.
        opted_out: whether its robots.txt names us.
        resolves: whether its name has an address.
        facts: what its `/config` says; `None` if it cannot be read.
    """

    seconds: float = 0.1
    verdict: Verdict = Verdict.FULL
    page: ResultPage = PAGE
    retry_after: float | None = None
    opted_out: bool = False
    resolves: bool = True
    facts: ConfigFacts | None = None


@dataclass(slots=True)
class SimulatedUpstream:
    """Stands in for `searx_mcp.sources.searxng.upstream.Upstream` in a `VirtualLoop`.

    Args:
        clock: Unix seconds, moving with the loop.

    Attributes:
        behaviours: by base URL; an instance that is not in it answers well.
        sent: every search, in order.
        under_way: how many searches each instance is busy with.
    """

    clock: Callable[[], float]
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    under_way: Counter[str] = field(default_factory=Counter)

    async def search(
        self,
        base_url: str,
        query: InstanceQuery,
        *,
        own: bool,
        format: Format,  # noqa: A002 - the interface's name
        timeout: float,  # noqa: ASYNC109 - the interface's
    ) -> Outcome:
        """Answer as the instance's behaviour says, or time out."""
        behaviour = self._of(base_url)
        self.sent.append(Sent(base_url, self.clock(), self.clock() + timeout, format, own))
        self.under_way[base_url] += 1
        try:
            await asyncio.sleep(min(behaviour.seconds, timeout))
        finally:
            self.under_way[base_url] -= 1
        if behaviour.seconds > timeout:
            return Outcome(Verdict.TIMEOUT, format, timeout, detail="There was no answer.")
        verdict = behaviour.verdict
        return Outcome(
            verdict,
            format,
            behaviour.seconds,
            status_code=None if verdict.is_network else 200,
            page=behaviour.page if verdict.ends_search else None,
            retry_after=behaviour.retry_after,
            detail=f"It was told to come to {verdict}.",
        )

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ASYNC109 - the interface's
        """Whether its behaviour gives it an address."""
        return self._of(base_url).resolves

    async def robots(
        self,
        base_url: str,
        *,
        format: Format,  # noqa: A002 - the interface's name
        timeout: float,  # noqa: ASYNC109 - the interface's
    ) -> RobotsDecision | Outcome:
        """Tell whether its operator opted out; an instance without address fails."""
        behaviour = self._of(base_url)
        if not behaviour.resolves:
            detail = "The host name does not resolve."
            return Outcome(Verdict.DNS, format, 0.0, detail=detail)
        return RobotsDecision("Disallow: /" if behaviour.opted_out else "")

    async def config(self, base_url: str, *, own: bool, timeout: float) -> ConfigFacts | None:  # noqa: ASYNC109 - the interface's
        """Tell what its behaviour says of it."""
        return self._of(base_url).facts

    def _of(self, base_url: str) -> Behaviour:
        return self.behaviours.setdefault(base_url, Behaviour())


class SimulatedSearch:
    """Searches over simulated instances, with the pool and the executor of the package.

    Instances are asked best first, without spacing and with what they teach kept in memory.

    Args:
        clock: Unix seconds, moving with the loop.
        own: base URLs of own instances.
        public: base URLs of public ones, all of the best grade.
        config: keys of the `[search]` table.

    Attributes:
        clock: as given.
        upstream: the instances, and what was sent to them.
        pool: what is known of them.
        executor: carries the searches out.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        own: Sequence[str] = (),
        public: Sequence[str] = (),
        **config: object,
    ) -> None:
        rng = random.Random(1)
        entries = [CatalogEntry(url=url, tls_grade="A+", http_grade="A+") for url in public]
        self.clock = clock
        self.upstream = SimulatedUpstream(clock)
        self.pool = InstancePool(
            own=own, public=entries, config=PoolConfig(random_start=False), rng=rng
        )
        self.executor = InstanceSearch(
            pool=self.pool,
            upstream=self.upstream,
            state=MemoryStore(),
            config=SearchConfig.model_validate(config),
            spacing=RequestPacer((0, 0), rng),
            clock=clock,
        )

    async def search(
        self, *, wanted: int = 10, seconds: float = 30.0, progress: Progress | None = None
    ) -> Found:
        """Search once; raises what the executor raises."""
        deadline = asyncio.get_running_loop().time() + seconds
        query = InstanceQuery(text="tea")
        return await self.executor.run(SearchContext(query, wanted, deadline, progress=progress))

    def behave(self, *urls: str, behaviour: Behaviour) -> None:
        """Let instances answer so from now on."""
        self.upstream.behaviours.update(dict.fromkeys(urls, behaviour))

    def asked(self) -> list[str]:
        """The base URL of each search that was sent, in order."""
        return [sent.url for sent in self.upstream.sent]

    def is_idle(self) -> bool:
        """Whether no request is under way, as far as anybody knows."""
        in_flight = sum(member.in_flight for member in self.pool._members.values())
        return self.upstream.under_way.total() == in_flight == 0

    def report(self, url: str) -> InstanceReport:
        """What the pool knows of an instance now."""
        return next(row for row in self.pool.snapshot(self.clock()) if row.url == url)

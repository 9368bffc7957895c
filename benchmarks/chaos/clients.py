"""The client that is measured, and two that stand for what people use today."""

import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import aiohttp
from typing_extensions import override

from benchmarks.chaos.hosts import ATTEMPT_TIMEOUT, FastClock, Host, catalog
from searx_mcp import SearxClient, Settings
from searx_mcp.errors import DeadlineError, NoInstancesError
from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.sources.searxng.classify import judge
from searx_mcp.sources.searxng.request import build_url, honest
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.state import Account, Reservation

PATIENCE: Final = 2.0
"""Real seconds a search may take."""
_CACHE_TTL: Final = 300.0
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client made of a search.

    Attributes:
        results: how many it found.
        cached: whether no instance was asked.
    """

    results: int
    cached: bool = False


class Client(Protocol):
    """Searches over instances."""

    charges: Mapping[str, Sequence[float]]
    """When each call was charged, by base URL and on the fast clock; empty without accounts."""

    async def search(self, text: str) -> Answer | None:
        """Search once; `None` when nobody could serve."""
        ...


Opens = Callable[[Sequence[Host], FastClock, random.Random], AbstractAsyncContextManager[Client]]
"""Opens a client over instances."""


class Ledger(MemoryStore):
    """A store that also notes when each request was charged, by account."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.granted: defaultdict[str, list[float]] = defaultdict(list)

    @override
    async def reserve(self, accounts: Sequence[Account], format: Format, now: float) -> Reservation:
        reservation = await super().reserve(accounts, format, now)
        if reservation.granted:
            for account in accounts:
                self.granted[account.name].append(now)
        return reservation


class Ours:
    """A `SearxClient` under the settings of the run."""

    def __init__(self, client: SearxClient, charges: Mapping[str, Sequence[float]]) -> None:
        self.charges = charges
        self._client = client

    async def search(self, text: str) -> Answer | None:
        """Search once; `None` when nobody could serve."""
        try:
            response = await self._client.search(text, fetch_content=False)
        except (NoInstancesError, DeadlineError):
            return None
        return Answer(response.results_count, response.cached)


@asynccontextmanager
async def ours(hosts: Sequence[Host], clock: FastClock, rng: random.Random) -> AsyncIterator[Ours]:
    """Open the client that is measured."""
    settings = Settings.model_validate(
        {
            "fetch": {"allow_private": [host.origin for host in hosts]},
            "search": {"attempt_timeout": ATTEMPT_TIMEOUT, "phase_timeout": PATIENCE},
            "web_search": {"request_delay_range": [0, 0], "default_timeout": PATIENCE},
        }
    )
    ledger = Ledger(rng)
    async with SearxClient(
        settings, catalog=catalog(hosts), state=ledger, clock=clock, rng=rng
    ) as client:
        yield Ours(client, ledger.granted)


class _Asking:
    """Single requests of the two others, judged as ours are, so that only the policy differs."""

    def __init__(
        self, hosts: Sequence[Host], clock: FastClock, http: aiohttp.ClientSession
    ) -> None:
        self.charges: Mapping[str, Sequence[float]] = {}
        self._urls = [host.url for host in hosts]
        self._clock = clock
        self._http = http

    async def _ask(self, base_url: str, text: str) -> Answer | None:
        url = build_url(base_url, InstanceQuery(text), Format.HTML)
        try:
            async with self._http.get(url, headers=honest(), allow_redirects=False) as reply:
                received = Response(reply.status, reply.headers, await reply.read(), url)
        except (aiohttp.ClientError, TimeoutError):
            return None
        judgement = judge(received, base_url=base_url, format=Format.HTML)
        if not judgement.verdict.ends_search:
            return None
        return Answer(len(judgement.page.hits) if judgement.page else 0)


class FirstThenNext(_Asking):
    """The first instance that answers, always in the same order.

    Three failures in a row have an instance left out for a minute; nothing else is remembered.
    """

    def __init__(
        self, hosts: Sequence[Host], clock: FastClock, http: aiohttp.ClientSession
    ) -> None:
        super().__init__(hosts, clock, http)
        self._failures: defaultdict[str, int] = defaultdict(int)
        self._until: defaultdict[str, float] = defaultdict(float)

    async def search(self, text: str) -> Answer | None:
        """Search once; `None` when nobody could serve."""
        for url in self._urls:
            if self._until[url] > self._clock():
                continue
            if (answer := await self._ask(url, text)) is not None:
                self._failures[url] = 0
                return answer
            self._failures[url] += 1
            if self._failures[url] >= 3:
                self._failures[url] = 0
                self._until[url] = self._clock() + 60
        return None


class CachingAndPacing(_Asking):
    """Takes instances in turns, paces each, tries three of them, and keeps answers.

    The pace is a token bucket of five that gains one in five seconds: below the 15 in 20 s and 150
    in 10 min of SearXNG's limiter for those who have its link token.
    """

    _BURST = 5.0
    _PACE = 1 / 5

    def __init__(
        self, hosts: Sequence[Host], clock: FastClock, http: aiohttp.ClientSession
    ) -> None:
        super().__init__(hosts, clock, http)
        self._cache: dict[str, tuple[float, Answer]] = {}
        self._buckets = dict.fromkeys(self._urls, (self._BURST, 0.0))
        self._turn = 0

    async def search(self, text: str) -> Answer | None:
        """Search once; `None` when nobody could serve."""
        kept_at, kept = self._cache.get(text, (0.0, Answer(0)))
        if self._clock() < kept_at + _CACHE_TTL:
            return Answer(kept.results, cached=True)
        for _ in range(_TRIES):
            url = self._next()
            if url is None:
                return None
            if (answer := await self._ask(url, text)) is not None:
                self._cache[text] = (self._clock(), answer)
                return answer
        return None

    def _next(self) -> str | None:
        now = self._clock()
        for _ in self._urls:
            url = self._urls[self._turn % len(self._urls)]
            self._turn += 1
            tokens, counted_at = self._buckets[url]
            tokens = min(self._BURST, tokens + (now - counted_at) * self._PACE)
            self._buckets[url] = (tokens - (tokens >= 1), now)
            if tokens >= 1:
                return url
        return None


@asynccontextmanager
async def first_then_next(
    hosts: Sequence[Host], clock: FastClock, _: random.Random
) -> AsyncIterator[Client]:
    """Open the client with the rule of the usual servers that take several addresses."""
    async with _http() as http:
        yield FirstThenNext(hosts, clock, http)


@asynccontextmanager
async def caching_and_pacing(
    hosts: Sequence[Host], clock: FastClock, _: random.Random
) -> AsyncIterator[Client]:
    """Open the client that takes care in the usual ways."""
    async with _http() as http:
        yield CachingAndPacing(hosts, clock, http)


def _http() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ATTEMPT_TIMEOUT))


OURS: Final = "searx-mcp"
CLIENTS: Final[Mapping[str, Opens]] = {
    OURS: ours,
    "first, then next": first_then_next,
    "caching, pacing, three tries": caching_and_pacing,
}

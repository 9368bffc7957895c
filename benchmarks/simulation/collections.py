"""Open sources in virtual time: who answers which search, and what their operators allow."""

import asyncio
import tomllib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.simulation.arrivals import DAY, dice
from benchmarks.simulation.world import Clock
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.open_sources import OpenSources
from searx_mcp.sources.open.answers import Answered
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery
from searx_mcp.sources.open.table import engines_of
from searx_mcp.sources.searxng.request import neutralise
from searx_mcp.storage.state import StateStore

_QUERIES: Final = Path(__file__).parents[1] / "open_sources_data" / "queries.toml"
_SECONDS: Final = (0.2, 2.0)
"""What an answer takes, evenly drawn: nobody has measured it."""

PUBLISHED: Final[Mapping[str, tuple[tuple[int, float], ...]]] = {
    "wikimedia": ((10, 60),),
    "stackexchange": ((300, DAY),),
    "github": ((10, 60),),
    "hackernews": ((10_000, 3_600),),
    "crates": ((1, 1),),
    "huggingface": ((500, 300),),
    "crossref": ((1, 1),),
    "arxiv": ((1, 3),),
    "europepmc": ((10, 1),),
    "openverse": ((20, 60), (200, DAY)),
    "gdelt": ((1, 5),),
    "musicbrainz": ((1, 1),),
}
"""Requests and seconds that operators are said to allow one address without key and contact, by the
name under which requests are counted (docs/explanation/open-sources.md)."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A search and the engines that have what answers it.

    Attributes:
        query: as an instance is asked.
        answerers: names of engines.
    """

    query: InstanceQuery
    answerers: frozenset[str]


_SEARCH: Final[ContextVar[Labelled]] = ContextVar("search")


def labelled_rows() -> list[dict[str, Any]]:
    """The labelled searches of `benchmarks.open_sources`, as they stand in their file."""
    rows: list[dict[str, Any]] = tomllib.loads(_QUERIES.read_text(encoding="utf-8"))["query"]
    return rows


def labelled() -> tuple[Labelled, ...]:
    """The labelled searches of `benchmarks.open_sources`."""
    return tuple(
        Labelled(
            InstanceQuery(
                text=neutralise(row["text"]),
                category=row.get("category", "general"),
                language=row.get("language", "en"),
                time_range=row.get("time_range", ""),
            ),
            frozenset(name.partition("/")[0] for name in row["relevant"]),
        )
        for row in labelled_rows()
    )


class LimitedSources:
    """Answers in the place of `OpenUpstream`: what the label says, within what operators allow.

    Attributes:
        requests: sent, by engine.
        refused: those that came faster than an operator allows.
    """

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._rng = dice(seed, "collections")
        self._times: defaultdict[str, list[float]] = defaultdict(list)
        self.requests: Counter[str] = Counter()
        self.refused = 0

    def expect(self, search: Labelled) -> None:
        """Learn who answers the search of this task."""
        _SEARCH.set(search)

    async def ask(
        self,
        engine: Engine,
        ask: Ask,  # noqa: ARG002 - the interface's
        query: OpenQuery,
        *,
        timeout: float,  # noqa: ARG002, ASYNC109 - the interface's
    ) -> Answered:
        """Answer as labelled, or refuse what comes too fast."""
        self.requests[engine.name] += 1
        if self._is_too_fast(engine.bucket or engine.name):
            self.refused += 1
            return Answered(Outcome(Verdict.RATE_LIMITED, Format.JSON, 0.1, status_code=429))
        seconds = self._rng.uniform(*_SECONDS)
        await asyncio.sleep(seconds)
        has_it = engine.name in _SEARCH.get().answerers
        # Whoever has it is taken to have the page that is titled as the question is.
        hits = (Hit(url=f"https://{engine.name}.example/", title=query.text, position=1),)
        page = ResultPage(hits=hits if has_it and query.text else (), has_next=False)
        verdict = Verdict.THIN if page.hits else Verdict.EMPTY
        return Answered(Outcome(verdict, Format.JSON, seconds, status_code=200, page=page))

    def _is_too_fast(self, name: str) -> bool:
        now, times = self._clock(), self._times[name]
        times.append(now)
        return any(
            len(times) - bisect_right(times, now - seconds) > most
            for most, seconds in PUBLISHED.get(name, ())
        )


def wired(upstream: LimitedSources, *, state: StateStore, seed: int, clock: Clock) -> OpenSources:
    """The provider of this package over simulated answers, unmodified."""
    engines = engines_of(OpenSourcesConfig())
    pool = SourcePool(
        ((engine.name, engine.address) for engine in engines.values()),
        config=PoolConfig(),
        rng=dice(seed, "sources"),
    )
    rounds = ConcurrentQueries(
        upstream=upstream, sources=pool, state=state, has_contact=False, clock=clock
    )
    return OpenSources(engines, rounds, contact="", phase=12.0, clock=clock)

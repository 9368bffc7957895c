"""Whether searches go to the right collections, and whether what comes back has to do with them.

    python -m benchmarks.open_sources [--json] [--quick] [--wrong]

The 200 searches under `benchmarks/open_sources_data` were labelled before there was a router or a relevance
gate. Each is put to the provider of this package over stand-ins of all services, which hold 523 documents
and find them in each service's own way. Who changes rules by these figures looks at every other search only
(`--wrong` lists those); the rest is held out.

A search is routed right if every engine that it wants is asked and none that it avoids. Precision at 5 is the
share of the relevant ones among the first five results, over all results that stand there; a search is
answered if one of them is relevant.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, report
from benchmarks.simulation.arrivals import dice
from benchmarks.simulation.collections import labelled_rows
from searx_mcp.errors import NoInstancesError
from searx_mcp.http.body import Response
from searx_mcp.models.hits import Hit
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.context import SearchContext
from searx_mcp.search.providers.open_sources import Gate, OpenSources
from searx_mcp.sources.open.answers import Answered, EngineContext, judge
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery
from searx_mcp.sources.open.question import Question
from searx_mcp.sources.open.relevance import relevant
from searx_mcp.sources.open.table import engines_of
from searx_mcp.sources.searxng.request import neutralise
from searx_mcp.storage.memory import MemoryStore
from tests.doubles import virtual_time
from tests.doubles.open_sources.addresses import NPM_HOST, address_of
from tests.doubles.open_sources.documents import load
from tests.doubles.open_sources.double import NOW, FakeOpenSources

DATA: Final = Path(__file__).parent / "open_sources_data"
FIRST: Final = 5

ROUTED: Final = 0.88
PRECISION: Final = 0.85
ANSWERED: Final = 0.87
"""Floors, a little below what was measured (docs/decisions/benchmarks.md)."""


@dataclass(frozen=True, slots=True)
class Search:
    """A labelled search.

    Attributes:
        query: as an instance is asked.
        kind: what sort of question it is.
        want: engines that have to be asked.
        avoid: engines that must not.
        relevant: addresses of the documents that answer it.
        is_held_out: whether no rule is to be changed by it.
    """

    query: InstanceQuery
    kind: str
    want: frozenset[str]
    avoid: frozenset[str]
    relevant: frozenset[str]
    is_held_out: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a search.

    Attributes:
        search: the search.
        asked: names of the engines asked.
        urls: addresses of the first five results.
        why: what the router says.
    """

    search: Search
    asked: frozenset[str]
    urls: tuple[str, ...]
    why: str = ""

    @property
    def is_routed_right(self) -> bool:
        """Whether everybody who has to be asked was, and nobody who must not."""
        return self.search.want <= self.asked and not self.search.avoid & self.asked

    @property
    def right(self) -> int:
        """How many of the first five are relevant."""
        return sum(url in self.search.relevant for url in self.urls)


@dataclass(frozen=True, slots=True)
class Score:
    """What a list of searches came to; all shares 0 to 1.

    Attributes:
        searches: how many.
        routed: share of those routed right.
        precision: relevant results among the first five of all searches, over the results there.
        answered: of the searches with relevant documents, those with one of them among the first five.
        engines: asked for one search in the mean.
    """

    searches: int
    routed: float
    precision: float
    answered: float
    engines: float


def main() -> None:
    """Measure and report."""
    options = _options()
    searches = read_searches()
    gated = measure(searches)
    if options.wrong:
        _show_wrong(gated)
    score_of = {"all": score(gated), "without the gate": score(measure(searches, gate=ungated))}
    for name, is_held_out in (("every other", False), ("held out", True)):
        score_of[name] = score([r for r in gated if r.search.is_held_out is is_held_out])
    whole = score_of["all"]
    targets = [
        Ratio("routed right", whole.routed, ROUTED, at_least=True),
        Ratio("precision at 5", whole.precision, PRECISION, at_least=True),
        Ratio("answered among the first 5", whole.answered, ANSWERED, at_least=True),
        Ratio(
            "precision, with the gate / without",
            whole.precision / score_of["without the gate"].precision,
            1,
            at_least=True,
        ),
    ]
    tables = [_table("searches", score_of), _table("kind", _by_kind(gated))]
    report(targets, as_json=options.json, tables=[] if options.quick else tables)


def read_searches() -> list[Search]:
    """The labelled searches; every second one is held out."""
    addresses = {document.id: address_of(document) for document in load(DATA)}
    return [
        Search(
            query=InstanceQuery(
                text=neutralise(row["text"]),
                category=row.get("category", "general"),
                language=row.get("language", "en"),
                time_range=row.get("time_range", ""),
            ),
            kind=row["kind"],
            want=frozenset(row["want"]),
            avoid=frozenset(row.get("avoid", ())),
            relevant=frozenset(addresses[name] for name in row["relevant"]),
            is_held_out=number % 2 == 1,
        )
        for number, row in enumerate(labelled_rows())
    ]


def measure(searches: Sequence[Search], *, gate: Gate = relevant) -> list[Result]:
    """Put every search to the collections, each as if it were the first of the day."""
    fake = FakeOpenSources(load(DATA))
    return [
        virtual_time.run(partial(_search, fake, each, gate), start=NOW.timestamp())
        for each in searches
    ]


def score(results: Sequence[Result]) -> Score:
    """Put results together."""
    shown = sum(len(result.urls) for result in results)
    answerable = [result for result in results if result.search.relevant]
    return Score(
        searches=len(results),
        routed=sum(result.is_routed_right for result in results) / len(results),
        precision=sum(result.right for result in results) / shown if shown else 0.0,
        answered=sum(result.right > 0 for result in answerable) / max(1, len(answerable)),
        engines=sum(len(result.asked) for result in results) / len(results),
    )


def ungated(hits: Sequence[Hit], question: Question, engine: Engine) -> tuple[Hit, ...]:  # noqa: ARG001 - the form of a gate
    """No gate at all."""
    return tuple(hits)


class _StandIns:
    """Answers in the place of `OpenUpstream`, without a network."""

    def __init__(self, fake: FakeOpenSources, clock: Callable[[], float]) -> None:
        self._fake = fake
        self._clock = clock

    async def ask(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        *,
        timeout: float,  # noqa: ARG002, ASYNC109 - the interface's
    ) -> Answered:
        page = self._fake.respond(engine.url(ask))
        reply = Response(page.status, page.headers, page.content)
        return judge(reply, EngineContext(engine=engine, query=query, now=self._clock()))


async def _search(
    fake: FakeOpenSources, search: Search, gate: Gate, clock: virtual_time.VirtualClock
) -> Result:
    engines = engines_of(OpenSourcesConfig(npm_url=f"https://{NPM_HOST}", gdelt=True))
    pairs = ((engine.name, engine.address) for engine in engines.values())
    rounds = ConcurrentQueries(
        upstream=_StandIns(fake, clock),
        sources=SourcePool(pairs, config=PoolConfig(), rng=dice(1)),
        state=MemoryStore(),
        has_contact=False,
        clock=clock,
    )
    collections = OpenSources(engines, rounds, contact="", phase=12.0, clock=clock, gate=gate)
    try:
        found = await collections.run(SearchContext(search.query, 10, 12.0))
    except NoInstancesError as exc:
        asked = frozenset(attempt.source for attempt in exc.attempts)
        return Result(search, asked, (), exc.message)
    return Result(
        search,
        frozenset(attempt.source for attempt in found.attempts),
        tuple(hit.url for hit in found.pages[0].hits[:FIRST]),
        found.remarks[0] if found.remarks else "",
    )


def _by_kind(results: Sequence[Result]) -> dict[str, Score]:
    kinds = sorted({result.search.kind for result in results})
    return {
        kind: score([result for result in results if result.search.kind == kind]) for kind in kinds
    }


def _table(title: str, scores: Mapping[str, Score]) -> Table:
    columns = (title, "number", "routed right %", "precision at 5 %", "answered %", "engines asked")
    rows: list[tuple[str | float, ...]] = [
        (
            name,
            each.searches,
            *(round(100 * share, 1) for share in (each.routed, each.precision, each.answered)),
            round(each.engines, 1),
        )
        for name, each in scores.items()
    ]
    return Table(f"200 labelled searches, by {title}", columns, tuple(rows))


def _show_wrong(results: Sequence[Result]) -> None:
    for result in results:
        search = result.search
        is_right = result.is_routed_right and (result.right or not search.relevant)
        if is_right or search.is_held_out:
            continue
        print(f"{search.kind} ({search.query.category}): {search.query.text!r}", file=sys.stderr)
        missed = ", ".join(sorted(search.want - result.asked))
        silly = ", ".join(sorted(search.avoid & result.asked))
        print(f"  {result.why} missed: {missed or '-'}; silly: {silly or '-'}", file=sys.stderr)
        for url in result.urls:
            print(f"  {'+' if url in search.relevant else '-'} {url}", file=sys.stderr)
        for url in sorted(search.relevant - {*result.urls}):
            print(f"  ? {url}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="targets only")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong")
    return parser.parse_args()


if __name__ == "__main__":
    main()

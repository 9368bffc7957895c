"""What a large corpus takes, and how long it takes to search it.

    python -m benchmarks.corpus [--json] [--quick] [--postgres URL]

100,000 chunks are kept in a file, or on a PostgreSQL server, each with a vector of 256 dimensions: the pages of the labelled set, and
made-up ones (`benchmarks.corpus_pages`). Then the questions of the set are asked. Last, `read_page` reads pages of a
site on loopback, for the first time and again. Exits with 1 if a chunk takes too much room, or if half of the
questions or of the pages take too long. On a server a schema of its own is made, which is emptied in the end;
`--postgres own` starts one.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Final

from benchmarks.corpus_pages import NOW, Writer, labelled_pages, labelled_questions
from benchmarks.corpus_reading import reading
from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.retrieving.kept import opened_store, server
from searx_mcp.content import words
from searx_mcp.evidence.corpus.retrieval import Retriever
from searx_mcp.evidence.storage.sqlite import FILE_NAME
from searx_mcp.evidence.storage.store import CorpusStore

SEED: Final = 19
CHUNKS: Final = 100_000
QUICK_CHUNKS: Final = 1_500
QUESTIONS: Final = 300
SCOPED: Final = 100
"""Pages of which each is asked a question by itself."""
CANDIDATES: Final = 64
RESULTS: Final = 20
MODEL: Final = "random/256"
_VECTOR: Final = 512
"""Bytes of 256 numbers of 16 bits."""

_LARGEST: Final = 5_000.0
_SLOWEST: Final = 50.0

Pages = dict[str, int]
"""How many chunks each page has that was kept."""


def main() -> None:
    """Measure and report."""
    options = command_line(
        "What a large corpus takes, and how fast it is.",
        seed=SEED,
        texts={"--postgres": "address of a server to use, or 'own' to start one"},
    )
    with _opened(options.postgres) as store:
        targets, tables = asyncio.run(
            _measure(store, random.Random(options.seed), is_quick=options.quick)  # noqa: S311 - no secret
        )
    report(targets, as_json=options.json, tables=tables)


@contextmanager
def _opened(place: str | None) -> Iterator[CorpusStore]:
    """Give a store in a file, or on a server."""
    if place is None:
        with tempfile.TemporaryDirectory() as folder:
            yield opened_store(Path(folder) / FILE_NAME)
    elif place == "own":
        with server() as url:
            if not url:
                sys.exit("--postgres own: install the dependency group bench")
            yield opened_store(url)
    else:
        yield opened_store(place)


async def _measure(
    store: CorpusStore, dice: random.Random, *, is_quick: bool
) -> tuple[list[Ratio], tuple[Table, ...]]:
    async with aclosing(store):
        writer = Writer(dice)
        pages, kept = await _fill(store, writer, QUICK_CHUNKS if is_quick else CHUNKS)
        total = await store.totals()
        asked = labelled_questions() or [(writer.question(), "") for _ in range(QUESTIONS)]
        asked = dice.sample(asked, min(QUESTIONS, len(asked)))
        targets = [
            Ratio("bytes of a chunk, all included", total.bytes / total.chunks, _LARGEST, at_least=False),
            Ratio("chunks counted / kept", total.chunks / sum(pages.values()), 1.0, at_least=True),
        ]  # fmt: skip
        if is_quick:
            await store.purge()
            return targets, ()
        search = await _search(store, asked, dice.sample(sorted(pages), SCOPED))
        await store.purge()
    by_reading, read = await reading()
    by_name = {name: statistics.median(times) for name, times in search.items()}
    targets += [
        Ratio(f"{name} P50, ms", by_name[name], _SLOWEST, at_least=False)
        for name in ("match", "retrieve")
    ]
    rows = tuple((name, *_percentiles(times)) for name, times in search.items())
    title = f"{total.chunks:,} chunks of {total.documents:,} pages, {total.bytes / 1e6:.0f} MB; milliseconds"
    search_table = Table(title, ("", "P50", "P95", "most"), rows)
    return [*targets, *by_reading], (kept, search_table, read)


async def _fill(store: CorpusStore, writer: Writer, most: int) -> tuple[Pages, Table]:
    """Keep pages until there are enough chunks, and time nothing but that."""
    pages: Pages = {}
    keeping = embedding = 0.0
    vector = bytes(range(256)) * (_VECTOR // 256)
    made = [*labelled_pages()]
    while sum(pages.values()) < most:
        page, chunks = made.pop() if made else writer.page(len(pages))
        started = time.perf_counter()
        await store.keep(page, chunks, NOW)
        kept = time.perf_counter()
        await store.keep_vectors(MODEL, dict.fromkeys((chunk.id for chunk in chunks), vector))
        keeping += kept - started
        embedding += time.perf_counter() - kept
        pages[page.url] = len({chunk.id for chunk in chunks})
    count = sum(pages.values())
    rows = (("keep", count / keeping), ("keep_vectors", count / embedding))
    return pages, Table("Writing, a page at a time", ("", "chunks/s"), rows)


async def _search(
    store: CorpusStore, asked: Sequence[tuple[str, str]], pages: Sequence[str]
) -> dict[str, list[float]]:
    """Ask everything of the whole corpus, then of one page each; milliseconds by what was done."""
    times: dict[str, list[float]] = defaultdict(list)

    async def take(name: str, work: Awaitable[object]) -> None:
        started = time.perf_counter()
        await work
        times[name].append(1_000 * (time.perf_counter() - started))

    retriever = Retriever(store)
    for question, _ in asked:
        terms = words.terms(question)
        await take("frequencies", store.frequencies(terms))
        await take("match", store.match(terms, urls=None, limit=CANDIDATES))
        await take("retrieve", retriever.retrieve(question, urls=None, limit=RESULTS))
    for url, (question, _) in zip(pages, asked, strict=False):
        terms = words.terms(question)
        await take("head of a page", store.head(url))
        await take("page with its text", store.page(url))
        await take("chunks of a page", store.chunks(url))
        await take("match in a page", store.match(terms, urls=[url], limit=CANDIDATES))
        await take("retrieve from a page", retriever.retrieve(question, urls=[url], limit=8))
    for _ in range(5):
        await take("totals", store.totals())
        await take("heads", store.heads())
        await take("unembedded", store.unembedded(MODEL, 32))
    await take("remove a page", store.remove([pages[0]]))
    return times


def _percentiles(times: Sequence[float]) -> tuple[float, float, float]:
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(0.95 * len(ordered))], ordered[-1]


if __name__ == "__main__":
    main()

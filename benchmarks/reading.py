"""Searches and answers of which some pages never answer, and a search beside them.

    python -m benchmarks.reading [--json] [--quick]

Instance and sites are on loopback, in this process; each page has a site of its own unless told otherwise.
`docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.client.facade import SearxClient
from searx_mcp.settings.values import Settings
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, silent

RESULTS: Final = 10
LATENCY: Final = 0.8
"""Seconds that a site which answers takes: with them the time of a search is that of its sites, not of the machine."""
ROUNDS: Final = 3
TIMEOUT: Final = 30.0

_ONE_SILENT: Final = 4.0
_FIVE_SILENT: Final = 6.0
_ALL_SILENT: Final = 8.0
_SILENT_LINK: Final = 6.0
_NEXT_CALL: Final = 3.0
_LINKED: Final = 4
"""The link that is silent."""
_BESIDE: Final = 1.3
_TEXT: Final = [
    f"Paragraph {n} of this page tells how keepers of bees count hives, frames and jars in week {n}."
    for n in range(60)
]


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one search.

    Attributes:
        seconds: it took.
        read: its pages that were read.
        errors: how many of the others there are of each kind.
    """

    seconds: float
    read: int
    errors: Counter[str]


def main() -> None:
    """Measure and report."""
    options = command_line("Searches and answers of which some pages never answer.")
    targets, tables = asyncio.run(_measure(is_quick=options.quick))
    report(targets, as_json=options.json, tables=tables)


async def _measure(*, is_quick: bool) -> tuple[list[Ratio], tuple[Table, ...]]:
    latency = 0.0 if is_quick else LATENCY
    await _alone((), latency=0.0)  # imports are of no interest here
    await _answered(latency=0.0)
    one = await _alone([4], latency=latency)
    five = await _alone(range(5), latency=latency)
    same = await _alone(range(5), latency=latency, hosts=1)
    nothing = await _alone(range(5), latency=latency, results=5)
    link, again = await _answered(_LINKED, latency=latency)
    without, _ = await _answered(latency=latency)
    alone, beside = [], []
    for _ in range(1 if is_quick else ROUNDS):
        alone.append(await _alone((), latency=latency))
        beside.append(await _beside(latency=latency))
    least = min(run.read for run in beside)
    targets = [
        Ratio("one of ten silent: pages read", one.read, 9, at_least=True),
        Ratio("one of ten silent: told as timeout", one.errors["timeout"], 1, at_least=True),
        Ratio("five of ten silent: pages read", five.read, 5, at_least=True),
        Ratio("five of ten silent: told as timeout", five.errors["timeout"], 5, at_least=True),
        Ratio("five of ten silent at one host: pages read", same.read, 5, at_least=True),
        Ratio("five of five silent: told as timeout", nothing.errors["timeout"], 5, at_least=True),
        Ratio("beside five silent ones: pages read", least, RESULTS, at_least=True),
        Ratio("a silent link: pages read", link.read, RESULTS, at_least=True),
    ]
    if is_quick:
        return targets, ()
    quiet, busy = (statistics.median(run.seconds for run in runs) for runs in (alone, beside))
    targets += [
        Ratio("one of ten silent, s", one.seconds, _ONE_SILENT, at_least=False),
        Ratio("five of ten silent, s", five.seconds, _FIVE_SILENT, at_least=False),
        Ratio("five of ten silent at one host, s", same.seconds, _FIVE_SILENT, at_least=False),
        Ratio("five of five silent, s", nothing.seconds, _ALL_SILENT, at_least=False),
        Ratio("an answer with a silent link, s", link.seconds, _SILENT_LINK, at_least=False),
        Ratio("the next one with the same link, s", again.seconds, _NEXT_CALL, at_least=False),
        Ratio("beside five silent ones / alone", busy / quiet, _BESIDE, at_least=False),
    ]
    rows = tuple(
        (name, round(run.seconds, 2), run.read, run.errors.total())
        for name, run in (
            ("none silent", alone[0]),
            ("one of ten silent", one),
            ("the first five of ten silent", five),
            ("the first five of ten silent, all at one host", same),
            ("five of five silent", nothing),
            ("an answer from a page and its ten links", without),
            ("the same, one link being silent", link),
            ("the next answer with the same links", again),
            ("none silent, beside a search with five silent ones", beside[0]),
        )
    )
    title = f"A search and its {RESULTS} pages, each site that answers takes {LATENCY} s"
    return targets, (Table(title, ("", "s", "pages read", "not read"), rows),)


async def _alone(
    silent_ones: Sequence[int], *, latency: float, hosts: int = RESULTS, results: int = RESULTS
) -> Run:
    async with (
        _pages(silent_ones, latency=latency, hosts=hosts) as (sites, links),
        _open(sites, general=links[:results]) as client,
    ):
        return await _search(client)


async def _answered(*silent_ones: int, latency: float) -> tuple[Run, Run]:
    """An answer from a page and those it links to, and one from another page with the same links."""
    async with _pages(silent_ones, latency=latency) as (sites, links):
        names = (
            f'<a href="{link}">How keepers count hives, {n}</a>' for n, link in enumerate(links)
        )
        body = f"<main><h1>Bees</h1><p>Keepers count: {', '.join(names)}.</p></main>"
        pages = {f"/{n}": FakePage(f"<title>{n}</title>{body}", delay=latency) for n in range(2)}
        async with FakeWeb(pages) as index, _open([*sites, index], general=links) as client:
            return await _answer(client, index.url("/0")), await _answer(client, index.url("/1"))


async def _answer(client: SearxClient, url: str) -> Run:
    started = time.perf_counter()
    response = await client.answer(
        "How do keepers count hives, frames and jars?",
        url=url,
        expansion_budget=RESULTS,
        timeout=TIMEOUT,
    )
    seconds = time.perf_counter() - started
    errors = Counter(step.failure for step in response.steps if step.failure)
    return Run(seconds, len(response.steps) - errors.total(), errors)


async def _beside(*, latency: float) -> Run:
    """A search while another one waits for five silent pages."""
    async with (
        _pages(range(5), latency=latency) as (bad, held_links),
        _pages((), latency=latency) as (good, links),
        _open([*bad, *good], general=held_links, science=links) as client,
    ):
        held = asyncio.ensure_future(client.search("bees", timeout=TIMEOUT))
        for site in bad[:5]:
            await site.wait_for_requests(1)
        run = await _search(client, category="science")
        held.cancel()
        await asyncio.wait([held])
        return run


async def _search(client: SearxClient, *, category: str = "general") -> Run:
    started = time.perf_counter()
    response = await client.search("bees", category=category, timeout=TIMEOUT)
    seconds = time.perf_counter() - started
    errors = Counter(result.error_type for result in response.results if not result.content)
    return Run(seconds, sum(result.content is not None for result in response.results), errors)


@asynccontextmanager
async def _pages(
    silent_ones: Sequence[int], *, latency: float, hosts: int = RESULTS
) -> AsyncIterator[tuple[list[FakeWeb], list[str]]]:
    """Sites, and the addresses of their pages, of which some never answer."""
    pages = {f"/{n}": _page(n, silent_ones, latency) for n in range(RESULTS)}
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(FakeWeb(pages)) for _ in range(hosts)]
        yield sites, [sites[n % hosts].url(f"/{n}") for n in range(RESULTS)]


def _page(number: int, silent_ones: Sequence[int], latency: float) -> FakePage:
    if number in silent_ones:
        return silent()
    title = f"Hive {number}"
    return FakePage(article(title, [f"{title}: {line}" for line in _TEXT]), delay=latency)


@asynccontextmanager
async def _open(sites: Sequence[FakeWeb], **links: Sequence[str]) -> AsyncIterator[SearxClient]:
    """A client with an instance that finds other addresses in each category."""
    rows = [
        FakeResult(url=url, title=f"Bees {url}", description="Bees.", category=category)
        for category, urls in links.items()
        for url in urls
    ]
    async with FakeSearxng(results=rows, formats=("html", "json")) as fake:
        settings = Settings.model_validate(
            {
                "instances": {"own": [fake.url]},
                "fetch": {"allow_private": [site.origin for site in sites]},
                "open_sources": {"mode": "off"},
                # All pages are alike, and each of them counts.
                "quality": {"group_duplicates": False, "drop_poor": False},
            }
        )
        async with SearxClient(settings) as client:
            yield client


if __name__ == "__main__":
    main()

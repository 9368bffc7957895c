"""How long `read_page` takes: of a page that is kept, and of one that is read for the first time."""

import html
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks import retrieval_set
from benchmarks.measure import Ratio, Table
from searx_mcp.client.facade import SearxClient
from searx_mcp.render.tokens import estimate
from searx_mcp.settings.values import Settings
from searx_mcp.testing.web import FakePage, FakeWeb

_TOKENS: Final = 1_500
"""Of the page that is read, about."""
_PAGES: Final = 40
_WARM: Final = 5
"""Pages that are read before the clock runs: workers start, the model is loaded, the file is made."""
_TURNS: Final = 5
"""Questions about each page once it is kept."""

_KEPT: Final = 10.0
_FIRST: Final = 150.0
_FIRST_EMBEDDED: Final = 400.0
"""Milliseconds at most."""

_CALLS: Final = ("web_fetch", "first read", "kept page")
_QUESTION: Final = "what does a bunk cost"
_FILE: Final = "cold-harbour-hut.md"


async def reading() -> tuple[list[Ratio], Table]:
    """Read pages of a site on loopback; without vectors, and with them if the extra `embed` is installed."""
    ways = {"none": _FIRST} | ({"static": _FIRST_EMBEDDED} if find_spec("wordllama") else {})
    rows: list[tuple[str | float, ...]] = []
    ratios: list[Ratio] = []
    for provider, most in ways.items():
        taken = await _read(provider)
        for name in _CALLS:
            ordered = sorted(taken[name])
            late = ordered[int(0.95 * len(ordered))]
            work = taken[f"{name}, processor"]
            row = (statistics.median(ordered), late, statistics.fmean(work))
            rows.append((f"{name}, vectors: {provider}", *row))
        for name, limit in (("first read", most), ("kept page", _KEPT)):
            value = _quietest(taken[name])
            ratios.append(
                Ratio(f"{name} P50, vectors: {provider}, ms", value, limit, at_least=False)
            )
    title = f"read_page of a page of {estimate(_body()):,} tokens; milliseconds"
    return ratios, Table(title, ("", "P50", "P95", "processor, mean"), tuple(rows))


def _quietest(times: Sequence[float]) -> float:
    """The least of the medians of each turn; a busy machine slows down whole turns."""
    turns = [times[at : at + _PAGES] for at in range(0, len(times), _PAGES)]
    return min(statistics.median(turn) for turn in turns if len(turn) == _PAGES)


async def _read(provider: str) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = defaultdict(list)

    async def take(name: str, work: Awaitable[object]) -> None:
        started, worked = time.perf_counter(), time.process_time()
        await work
        taken[name].append(1_000 * (time.perf_counter() - started))
        taken[f"{name}, processor"].append(1_000 * (time.process_time() - worked))

    names = [f"/page-{number}" for number in range(2 * (_PAGES + _WARM))]
    async with FakeWeb({name: FakePage(_page(name)) for name in names}) as web:
        urls = [web.url(name) for name in names]
        fetched, read = urls[: len(urls) // 2], urls[len(urls) // 2 :]
        with TemporaryDirectory() as folder:
            async with SearxClient(_settings(folder, web.origin, provider)) as client:
                for url, other in zip(fetched, read, strict=True):  # in turns: noise hits both
                    await take("web_fetch", client.fetch(other))
                    await take("first read", client.read_page(url, query=_QUESTION))
                for times in taken.values():
                    del times[:_WARM]
                for _ in range(_TURNS):
                    for url in fetched[_WARM:]:
                        await take("kept page", client.read_page(url, query=_QUESTION))
    return taken


def _settings(folder: str, origin: str, provider: str) -> Settings:
    return Settings.model_validate(
        {
            "storage": {"folder": str(Path(folder, "state"))},
            "fetch": {"allow_private": [origin], "host_rate": 6_000, "max_per_host": 64},
            "open_sources": {"mode": "off"},
            "embedding": {"provider": provider},
        }
    )


def _body() -> str:
    """A page of the labelled set, up to the block with which it is long enough."""
    blocks = (retrieval_set.HERE / "pages" / _FILE).read_text(encoding="utf-8").split("\n\n")
    text = ""
    while blocks and estimate(text) < _TOKENS:
        text += f"{blocks.pop(0)}\n\n"
    return text.strip()


def _page(name: str) -> str:
    """The page in HTML; each has words of its own, so that none is like another."""
    parts = []
    for block in _body().split("\n\n"):
        marks, _, words = block.partition(" ")
        if marks and not marks.strip("#"):
            parts.append(f"<h{len(marks)}>{html.escape(words)}</h{len(marks)}>")
        else:
            parts.append(f"<p>{html.escape(block)} {html.escape(name)}</p>")
    return f"<html><title>{name}</title><body><main>{''.join(parts)}</main></body></html>"

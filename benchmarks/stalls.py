"""For how long pages and answers that are read in threads keep the event loop from running.

    python -m benchmarks.stalls [--set PATH...] [--json] [--quick]

What an embedding program feels: `SearxClient` converts in threads unless asked for processes. PATH is the folder of
a set, as `benchmarks.extraction` takes it; sixty of its pages are read one after the other. With `--quick` it counts
what came of each body, without a clock. `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.extracting.sets import PageSet, page_sets
from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import options_for
from searx_mcp.errors import SearxMcpError
from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format
from searx_mcp.sources.searxng.answers import RESULTS, InstanceContext
from searx_mcp.sources.searxng.upstream import MAX_BODY
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.threads import ThreadWorkers

ROUNDS: Final = 3
_STALL: Final = 25.0  # ms
_TICK: Final = 0.001
_SAMPLE: Final = 60
_SECONDS: Final = 60.0
_PAGE: Final = 1 << 20
"""Bytes of web_fetch.max_content_size."""

_ROW: Final = "<li><h3><a href='https://a.example/'>title</a></h3><p class=content>said here</p>"
PAGES: Final[Mapping[str, str]] = {
    "paragraphs": f"<p>{'word ' * 50}</p>" * 4_000,
    "one paragraph": "<p>" + "word " * 200_000,
    "words without spaces": "<p>" + "漢字" * 170_000,
    "links": "<p>" + "<a href=x>ab</a> " * 60_000,
    "rows": _ROW * 12_000,
    "cells": "<table>" + "<tr><td>a<td>b" * 75_000,
    "tags that never end": "<div>" * 200_000,
    "escapes": "&amp;" * 200_000,
    "rules that hide": "<style>" + ".a{display:none}" * 60_000 + "</style><p class=a>x",
}
_HIT: Final = '{"url":"https://a.example/","title":"t","content":"c","engines":["e"]}'
ANSWERS: Final[Mapping[str, tuple[Format, str]]] = {
    "HTML, many rows": (Format.HTML, f'<div id="results">{_ROW * 25_000}'),
    "JSON, many rows": (Format.JSON, f'{{"results":[{",".join([_HIT] * 28_000)}]}}'),
    "JSON, empty lists": (Format.JSON, f'{{"results":[{",".join(["[]"] * 690_000)}]}}'),
    "JSON, numbers": (Format.JSON, f'{{"results":[],"number_of_results":[{"1," * 1_000_000}1]}}'),
    "JSON, one long text": (
        Format.JSON,
        f'{{"results":[{{"url":"https://a.example/","title":"{"c " * 1_000_000}"}}]}}',
    ),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What reading one body came to.

    Attributes:
        outcome: `read`, or the code of the error.
        turns: milliseconds of the processor's time, of all threads, between two turns of the loop: the stall
            on a machine that has nothing else to do.
    """

    outcome: str
    turns: tuple[float, ...]


def main() -> None:
    """Measure and report."""
    options = command_line(
        "For how long reading in threads keeps the event loop from running.",
        repeated={"--set": "the folder of a set of real pages"},
    )
    sets = [each.sample(_SAMPLE) for path in options.set for each in page_sets(Path(path))]
    found = [asyncio.run(_all(sets)) for _ in range(1 if options.quick else ROUNDS)]
    crashed = [
        name for runs in found for name, run in runs.items() if run.outcome.startswith("crashed")
    ]
    targets = [Ratio("bodies that raised what they should not", len(crashed), 0, at_least=False)]
    tables = []
    if not options.quick:
        every = sorted(turn for runs in found for run in runs.values() for turn in run.turns)
        p99 = every[int(len(every) * 0.99)]
        targets.append(Ratio("ms between turns, 99 of 100", p99, _STALL, at_least=False))
        tables.append(_table(found))
    report(targets, as_json=options.json, tables=tables)


def _table(found: list[dict[str, Run]]) -> Table:
    rows = []
    for name in found[0]:
        turns = [sorted(runs[name].turns) for runs in found]
        rows.append(
            (
                name,
                found[0][name].outcome,
                round(statistics.median(each[int(len(each) * 0.99)] for each in turns), 1),
                round(statistics.median(each[-1] for each in turns), 1),
            )
        )
    return Table(
        f"bodies read in threads, medians of {len(found)} rounds",
        ("body", "outcome", "p99 ms", "longest ms"),
        tuple(rows),
        ("Processor time of the process between two turns of its event loop.",),
    )


async def _all(sets: Sequence[PageSet]) -> dict[str, Run]:
    workers = ThreadWorkers(WorkersConfig())
    options = options_for(
        media_type="text/html",
        charset="utf-8",
        url="https://site.example/",
        config=ContentConfig(),
    )
    loop = asyncio.get_running_loop()

    def read(body: bytes) -> Awaitable[object]:
        return workers.run("page", body[:_PAGE], options, deadline=loop.time() + _SECONDS)

    def page(html: str) -> Awaitable[object]:
        return read(html.encode())

    async def pages(bodies: Sequence[bytes]) -> None:
        for body in bodies:
            with suppress(SearxMcpError):  # pages that are cut may have no text left
                await read(body)

    def answer(form: Format, text: str) -> Awaitable[object]:
        return RESULTS.read_safely(
            Response(200, {"content-type": _MEDIA[form]}, text.encode()[:MAX_BODY]),
            InstanceContext(base_url="https://instance.example", format=form, text="x"),
            workers=None,
            deadline=loop.time() + _SECONDS,
        )

    try:
        await page("<p>whatever is loaded late")
        found = {f"page: {name}": await _watched(page(html)) for name, html in PAGES.items()}
        for each in sets:
            bodies = [one.read() for one in each.pages]
            found[f"{len(bodies)} pages of {each.name}"] = await _watched(pages(bodies))
        return found | {name: await _watched(answer(*body)) for name, body in ANSWERS.items()}
    finally:
        await workers.aclose()


_MEDIA: Final[Mapping[Format, str]] = {
    Format.HTML: "text/html; charset=utf-8",
    Format.JSON: "application/json",
}


async def _watched(reading: Awaitable[object]) -> Run:
    turns: list[float] = []
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(_tick(turns))
        await asyncio.sleep(5 * _TICK)
        turns.clear()
        try:
            await reading
        except SearxMcpError as exc:
            outcome = str(exc.code)
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is counted
            outcome = f"crashed: {exc!r}"
        else:
            outcome = "read"
        await asyncio.sleep(2 * _TICK)
        watch.cancel()
    return Run(outcome, tuple(turns))


async def _tick(turns: list[float]) -> None:
    before = time.process_time()
    while True:
        await asyncio.sleep(_TICK)
        now = time.process_time()
        turns.append((now - before) * 1_000)
        before = now


if __name__ == "__main__":
    main()

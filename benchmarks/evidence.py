"""Answers from documentation on loopback: pages that are one and three links away, with and without the site's index.

    python -m benchmarks.evidence [--json] [--quick] [--pages FOLDER]

With FOLDER, the questions of `evidence_data/questions.toml` are asked of `answer`, too: with their pages named, and without.
It is `/usr/share/doc` where Debian's packages of documentation are unpacked that the questions name. `--quick` asks questions
about pages of this repository.

The site is a manual of parts, chapters and pages whose links say only what they are ("Chapter 2"). Its pages and the
questions were written for this; `docs/decisions/site-index.md` says what it shows.
"""

import asyncio
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.evidence_questions import (
    REPOSITORY,
    ask_all,
    figures,
    questions,
    quick_questions,
)
from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.client.facade import SearxClient
from searx_mcp.settings.values import Settings
from searx_mcp.testing.web import FakePage, FakeWeb

ONE_AWAY: Final = 0.9
THREE_AWAY: Final = 0.85
REQUESTS: Final = 4
"""Goals: shares of the questions, and requests of the median one, robots.txt aside."""
_QUICK: Final = 6
_PER_CHAPTER: Final = 3

TOPICS: Final = (
    ("Sluice gates", "A sluice gate is raised by two hydraulic cylinders at 140 bar.", "At what pressure are sluice gates raised?", "140 bar"),
    ("Tide gauges", "Each gauge reports the sea level every 6 minutes by radio.", "How often does a tide gauge report the sea level?", "6 minutes"),
    ("Dredging", "Dredging of the fairway is forbidden from March to June, while herring spawn.", "In which months may the fairway not be dredged?", "March to June"),
    ("Pilot boats", "Pilots board ships of more than 90 metres two miles off the breakwater.", "From which length on does a ship need a pilot?", "90 metres"),
    ("Mooring lines", "Mooring lines of polyester are replaced after 24 months of use.", "When are mooring lines replaced?", "24 months"),
    ("Fog signals", "The horn sounds one long blast every 45 seconds when visibility is low.", "How often does the horn sound in fog?", "45 seconds"),
    ("Quay cranes", "A crane stops lifting at gusts of 22 metres per second.", "At which wind does a quay crane stop?", "22 metres"),
    ("Ballast water", "Ballast water is sampled at 3 places in each tank.", "At how many places is ballast water sampled?", "3 places"),
    ("Lock chambers", "Filling the chamber takes 11 minutes with both culverts open.", "How long does filling a lock chamber take?", "11 minutes"),
    ("Oil booms", "A boom of 400 metres is kept on the north pier, ready in half an hour.", "How long is the oil boom on the north pier?", "400 metres"),
    ("Cold stores", "Fish is stored at minus 28 degrees and weighed again on leaving.", "At which temperature do cold stores keep fish?", "minus 28"),
    ("Buoys", "Batteries of lit buoys last for 5 years.", "How long do batteries of a buoy last?", "5 years"),
    ("Harbour dues", "Vessels under 12 metres pay no dues in winter.", "Which vessels pay no harbour dues in winter?", "12 metres"),
    ("Shore power", "Ships at berth 7 can draw 16 megawatts from the grid.", "How much shore power can ships draw?", "16 megawatts"),
    ("Ice classes", "Only ships of class 1B may enter when the ice is 30 centimetres thick.", "Which ice class may enter?", "class 1B"),
    ("Divers", "Divers work at most 50 minutes at 20 metres before they surface.", "How long may divers work?", "50 minutes"),
    ("Ferries", "The ferry to the island leaves from ramp 4 at every full hour.", "From which ramp does the ferry leave?", "ramp 4"),
    ("Breakwater", "Concrete blocks of the breakwater weigh 38 tonnes each.", "How heavy are the blocks of the breakwater?", "38 tonnes"),
)  # fmt: skip
"""Title, the sentence that answers, question, and what its passage must have."""

_FILLER: Final = (
    "This part of the manual is kept by the harbour master and read by all who work on the water.",
    "What it says holds for day and night, unless an order of the day says otherwise.",
    "Reports go to the office beside the old light, where they are kept in the archive.",
)


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one question: whether its passage was shown, and the requests it took."""

    is_found: bool
    requests: int


def main() -> None:
    """Measure and report."""
    options = command_line(
        "Answers from documentation, with and without the site's index.",
        texts={"--pages": "the folder with the pages of the questions"},
    )
    targets, tables = asyncio.run(_measure(is_quick=options.quick))
    asked, shown = asyncio.run(_asked(options.pages, is_quick=options.quick))
    report([*targets, *asked], as_json=options.json, tables=(*tables, *shown))


async def _asked(pages: str | None, *, is_quick: bool) -> tuple[list[Ratio], tuple[Table, ...]]:
    """Ask the questions of developers, or those about pages of this repository."""
    if is_quick:
        return figures(await ask_all(quick_questions(), REPOSITORY), is_quick=True)
    if not pages:
        return [], ()
    asked = questions()
    named = [each for each in asked if each.kind == "named"]
    unnamed = await ask_all(named, Path(pages), is_named=False)
    return figures(await ask_all(asked, Path(pages)), unnamed)


async def _measure(*, is_quick: bool) -> tuple[list[Ratio], tuple[Table, ...]]:
    topics = TOPICS[:_QUICK] if is_quick else TOPICS
    one = await _ask(topics, is_near=True, has_index=True)
    three = await _ask(topics, is_near=False, has_index=True)
    middle = statistics.median(run.requests for run in (*one, *three))
    targets = [
        Ratio("site index: one link away, shown", _share(one), ONE_AWAY, at_least=True),
        Ratio("site index: three links away, shown", _share(three), THREE_AWAY, at_least=True),
        Ratio("site index: requests of the median", middle, REQUESTS, at_least=False),
    ]
    if is_quick:
        return targets, ()
    rows = [_row("one link, index", one), _row("three links, index", three)]
    for name, is_near in (("one link, no index", True), ("three links, no index", False)):
        rows.append(_row(name, await _ask(topics, is_near=is_near, has_index=False)))
    return targets, (Table("Passages shown", ("", "share", "requests (median)"), tuple(rows)),)


def _row(name: str, runs: Sequence[Run]) -> tuple[str | float, ...]:
    return name, round(_share(runs), 3), statistics.median(run.requests for run in runs)


def _share(runs: Sequence[Run]) -> float:
    return sum(run.is_found for run in runs) / len(runs)


async def _ask(
    topics: Sequence[tuple[str, str, str, str]], *, is_near: bool, has_index: bool
) -> list[Run]:
    """Ask each question of a client of its own, so that nothing is kept from another."""
    runs = []
    for place, (_, _, question, wanted) in enumerate(topics):
        async with FakeWeb(_site(has_index=has_index)) as web:
            settings = Settings.model_validate(
                {
                    "fetch": {"allow_private": [web.origin], "host_rate": 6_000},
                    "open_sources": {"mode": "off"},
                }
            )
            start = f"/chapter{place // _PER_CHAPTER}.html" if is_near else "/index.html"
            async with SearxClient(settings) as client:
                response = await client.answer(question, url=web.url(start))
            is_found = any(wanted in each.text for each in response.evidence)
            runs.append(Run(is_found, len(web.requests)))
    return runs


def _site(*, has_index: bool) -> dict[str, FakePage]:
    """A manual of two parts, chapters of three pages, and a page for each topic."""
    chapters = range(-(-len(TOPICS) // _PER_CHAPTER))
    bodies = {"index": ("Manual", [_link("part", part, "Part") for part in range(2)])}
    for part in range(2):
        own = [_link("chapter", each, "Chapter") for each in chapters if each % 2 == part]
        bodies[f"part{part}"] = (f"Part {part + 1}", own)
    for chapter in chapters:
        pages = range(len(TOPICS))[chapter * _PER_CHAPTER :][:_PER_CHAPTER]
        bodies[f"chapter{chapter}"] = (
            f"Chapter {chapter + 1}",
            [_link("page", each, "Section") for each in pages],
        )
    for place, (title, sentence, *_) in enumerate(TOPICS):
        bodies[f"page{place}"] = (title, [sentence])
    head = (
        '<script src="/_static/doctools.js"></script><link rel="index" href="/genindex.html">'
        if has_index
        else ""
    )
    site = {}
    for name, (title, parts) in bodies.items():
        text = "".join(f"<p>{part}</p>" for part in (*_FILLER, *parts))
        site[f"/{name}.html"] = FakePage(
            f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>{text}</main></body></html>"
        )
    if has_index:
        terms: dict[str, list[int]] = defaultdict(list)
        for place, (title, parts) in enumerate(bodies.values()):
            for word in sorted(
                set(re.findall(r"[a-z]{3,}", re.sub(r"<[^>]*>", "", f"{title} {parts}").lower()))
            ):
                terms[word].append(place)
        index = {
            "docnames": [*bodies],
            "titles": [title for title, _ in bodies.values()],
            "terms": terms,
        }
        site["/searchindex.js"] = FakePage(
            f"Search.setIndex({json.dumps(index)})", content_type="text/javascript"
        )
    return site


def _link(kind: str, place: int, name: str) -> str:
    return f'What follows is told in <a href="/{kind}{place}.html">{name} {place + 1}</a> of this manual.'


if __name__ == "__main__":
    main()

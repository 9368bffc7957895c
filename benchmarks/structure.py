"""How large the package is, how its modules hang together, and how far a search and a fetch go through them.

    python -m benchmarks.structure [CHECKOUT] [--beside CHECKOUT] [--json] [--quick] [--record [WHY]]

CHECKOUT is the folder of any commit (this one), such as `git worktree add` makes; `--beside` runs another one in
turns with it, and compares the start, the time of a search, and memory. Modules, statements and imports
are read; a search at an own instance and a fetch of a page, both on loopback, are traced in a process of its own, with
the source of the checkout. Of the tests, `benchmarks.proofs` counts what reaches past public names.

`--quick` times nothing and compares the counts with those recorded in `benchmarks/structure.toml`: they may fall. They
rise only together with a row in `docs/decisions/architecture.md` that says why; `--record WHY` writes both.
"""

import argparse
import ast
import json
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from benchmarks import proofs
from benchmarks.measure import Ratio, Table, report

PACKAGE: Final = "searx_mcp"
_HERE: Final = Path(__file__).resolve().parent.parent
_RECORDED: Final = Path("benchmarks", "structure.toml")
_REASONS: Final = Path("docs", "decisions", "architecture.md")
_ROUNDS: Final = 5

ALL: Final = "all rooms"
IMPORTS: Final = "imports"
TESTS: Final = "tests"
SEARCH: Final = "a search"
FETCH: Final = "a fetch"
_COUNTED: Final = {
    TESTS: "statements, lines past public names",
    IMPORTS: "longest chain, modules with one importer",
    SEARCH: "functions, modules",
    FETCH: "functions, modules",
}
_OF_ROOMS: Final = "statements, modules"

_STATEMENTS, _MODULES, _CHAIN, _ONE_IMPORTER = 42_000, 400, 20, 0.22
_TEST_STATEMENTS, _THROUGH_PUBLIC_NAMES = 42_700, 0.5
_WAYS: Final = {SEARCH: (150, 35), FETCH: (200, 45)}
_IMPORT_BESIDE_BARE = 2.0

_NOISE: Final = 2
"""Functions by which a way may be longer: in some runs another thread takes its turn meanwhile."""

Counts = dict[str, tuple[int, int]]
"""Two counts by the name of a room or a way; what they count is in `_COUNTED`."""

_TRACE: Final = """
import asyncio, json, sys, threading
from searx_mcp import SearxClient, Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

codes = None

def called(frame, event, _argument):
    code = frame.f_code
    if codes is not None and event == "call" and not code.co_name.startswith("<"):
        if "searx_mcp" in code.co_filename and "searx_mcp/testing" not in code.co_filename:
            codes.add(code)

async def traced(work):
    global codes
    codes = found = set()
    await work
    codes = None
    return len(found), len({code.co_filename for code in found})

async def main():
    text = "<p>A sentence of some length that stands on the page.</p>" * 20
    page = FakePage(f"<html><head><title>A page</title></head><body><main>{text}</main></body></html>")
    async with FakeSearxng(formats=["json"]) as fake, FakeWeb(otherwise=lambda _: page) as web:
        tables = {
            "instances": {"own": [fake.url]},
            "fetch": {"allow_private": [fake.origin, web.origin]},
            "open_sources": {"mode": "off"},
            "web_search": {"request_delay_range": [0, 0]},
        }
        async with SearxClient(Settings.model_validate(tables)) as client:
            await client.search("first", fetch_content=False)
            await client.fetch(web.url("/first"))
            # The least of some: another task may take its turn meanwhile.
            searches = [await traced(client.search(f"{n}", fetch_content=False)) for n in range(5)]
            fetches = [await traced(client.fetch(web.url(f"/{n}"))) for n in range(5)]
    print(json.dumps({"a search": min(searches), "a fetch": min(fetches)}))

threading.setprofile(called)
sys.setprofile(called)
asyncio.run(main())
"""
"""Prints the functions and modules of the package that a later search and a later fetch pass."""

_COSTS: Final = """
import asyncio, json, resource, time
from searx_mcp.testing.searxng import FakeSearxng

spent = time.process_time

async def main():
    async with FakeSearxng(formats=["json"]) as fake:
        tables = {
            "instances": {"own": [fake.url]},
            "fetch": {"allow_private": [fake.origin]},
            "web_search": {"request_delay_range": [0, 0]},
        }
        began = spent()
        from searx_mcp import SearxClient, Settings
        async with SearxClient(Settings.model_validate(tables)) as client:
            await client.search("first", fetch_content=False)
            first = spent() - began
            for number in range(300):
                await client.search(f"number {number}", fetch_content=False)
            each = (spent() - began - first) / 300
    return first, each, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(json.dumps(asyncio.run(main())))
"""
"""Prints the processor's seconds until the first answer and for each of 300 more, and the peak of memory."""
_NO_WORSE: Final = 1.05
"""What two runs of the same code differ by."""

_CPU: Final = "import resource as r; u = r.getrusage(r.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
_IMPORTS: Final = {
    "from searx_mcp import SearxClient": f"from searx_mcp import SearxClient; {_CPU}",
    "import aiohttp, pydantic": f"import aiohttp, pydantic; {_CPU}",
}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "checkout", type=Path, nargs="?", default=_HERE, help="this one if left out"
    )
    parser.add_argument("--beside", type=Path, help="another checkout to compare the costs with")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="compare with the recorded counts")
    parser.add_argument(
        "--record", nargs="?", const="", metavar="WHY", help="record the counts, and why any rose"
    )
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if not (checkout / PACKAGE).is_dir():
        parser.error(f"there is no {PACKAGE} in {checkout}")
    counts, chain, share = _counts(checkout)
    counts[TESTS], through = _of_tests(checkout)
    recorded = (
        tomllib.loads((checkout / _RECORDED).read_text("utf-8"))
        if options.quick or options.record is not None
        else {}
    )
    counts = settled(counts, recorded)
    if options.record is not None:
        risen = risen_over(counts, recorded)
        if risen and not options.record:
            parser.error(f"say why these rise: {', '.join(risen)}")
        _record(checkout, counts, risen, options.record)
        return
    tables = [_table(counts, chain)]
    if options.quick:
        ratios = _held(counts, recorded)
        if reasons := differing(recorded, (checkout / _REASONS).read_text("utf-8")):
            tables.append(
                Table(
                    f"{_RECORDED} and {_REASONS} differ",
                    ("figure",),
                    tuple((name,) for name in reasons),
                )
            )
            ratios.append(Ratio("figures that differ", len(reasons), 0, at_least=False))
    else:
        ratios = _against_targets(counts, share)
        ratios.append(
            Ratio(
                "share of the tests' lines through public names",
                through,
                _THROUGH_PUBLIC_NAMES,
                at_least=True,
            )
        )
        ratios.append(_import(checkout))
        if options.beside is not None:
            ratios += _costs(checkout, options.beside.resolve())
    report(ratios, as_json=options.json, tables=tables)


def _counts(checkout: Path) -> tuple[Counts, list[str], float]:
    """The counts of a checkout, its longest chain of imports, and the share of modules with one importer."""
    sources = {
        _name(path.relative_to(checkout)): path.read_text(encoding="utf-8")
        for path in sorted((checkout / PACKAGE).rglob("*.py"))
    }
    imports = {name: set(_imported(text, sources)) - {name} for name, text in sources.items()}
    written = [name for name, text in sources.items() if text.count("\n") > 1]
    single = sum(sum(name in found for found in imports.values()) == 1 for name in written)
    # The face of the package imports the client when somebody asks it for one.
    chain = longest_chain({name: found for name, found in imports.items() if name != PACKAGE})
    statements: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for name, text in sources.items():
        room = name.partition(".")[2].partition(".")[0] or PACKAGE
        for each in (room, ALL):
            statements[each] += statements_in(text)
            modules[each] += 1
    counts = {room: (statements[room], modules[room]) for room in sorted(modules)}
    ways: Counts = {
        name: (found[0], found[1]) for name, found in json.loads(_run(checkout, _TRACE)).items()
    }
    return {**counts, IMPORTS: (len(chain), single), **ways}, chain, single / len(written)


def _of_tests(checkout: Path) -> tuple[tuple[int, int], float]:
    """The counts of the tests, and the share of their lines that goes through public names."""
    folder = checkout / "tests"
    statements = sum(statements_in(path.read_text("utf-8")) for path in folder.rglob("*.py"))
    lines, past = proofs.lines_of(folder)
    return (statements, past), 1 - past / max(lines, 1)


def statements_in(source: str) -> int:
    """Count the statements of a module, at any depth; a docstring is none."""
    return sum(
        isinstance(node, ast.stmt)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(ast.parse(source))
    )


def settled(counts: Counts, recorded: Mapping[str, list[int]]) -> Counts:
    """The counts, with those of a way as recorded if it is longer by no more than noise."""
    return counts | {
        name: (recorded[name][0], counts[name][1])
        for name in _WAYS
        if name in recorded and 0 < counts[name][0] - recorded[name][0] <= _NOISE
    }


def risen_over(counts: Counts, recorded: Mapping[str, list[int]]) -> list[str]:
    """Names of what has a count above the recorded one; a new room always has."""
    return [
        name
        for name, pair in counts.items()
        if any(now > most for now, most in zip(pair, recorded.get(name, (0, 0)), strict=True))
    ]


def differing(recorded: Mapping[str, list[int]], text: str) -> list[str]:
    """The names whose recorded counts are not those in the table of a document, or in one of the two alone."""
    told = {
        row[1]: [int(part.replace(",", "")) for part in row.group(3, 4)]
        for row in _ROW.finditer(text)
    }
    return sorted(
        name for name in recorded.keys() | told.keys() if recorded.get(name) != told.get(name)
    )


def _held(counts: Counts, recorded: Mapping[str, list[int]]) -> list[Ratio]:
    """Each count against the recorded one; a room that has gone counts 0."""
    return [
        Ratio(f"{name}: {what}", now, most, at_least=False)
        for name in (counts | dict.fromkeys(recorded.keys() - counts.keys(), (0, 0)))
        for what, now, most in zip(
            _COUNTED.get(name, _OF_ROOMS).split(", "),
            counts.get(name, (0, 0)),
            recorded.get(name, (0, 0)),
            strict=True,
        )
    ]


def _against_targets(counts: Counts, share: float) -> list[Ratio]:
    statements, modules = counts[ALL]
    ratios = [
        Ratio("statements", statements, _STATEMENTS, at_least=False),
        Ratio("modules", modules, _MODULES, at_least=False),
        Ratio("statements of the tests", counts[TESTS][0], _TEST_STATEMENTS, at_least=False),
        Ratio("modules on the longest import chain", counts[IMPORTS][0], _CHAIN, at_least=False),
        Ratio("share of modules with one importer", share, _ONE_IMPORTER, at_least=False),
    ]
    for name, most in _WAYS.items():
        for what, now, limit in zip(("functions", "modules"), counts[name], most, strict=True):
            ratios.append(Ratio(f"{what} of {name}", now, limit, at_least=False))
    return ratios


def _table(counts: Counts, chain: list[str]) -> Table:
    rows = ((name, _COUNTED.get(name, _OF_ROOMS), *pair) for name, pair in counts.items())
    longest = " > ".join(each.removeprefix(PACKAGE + ".") for each in chain)
    return Table(
        "By room and way",
        ("of", "what", "first", "second"),
        tuple(rows),
        (f"longest chain: {longest}",),
    )


_ROW: Final = re.compile(
    r"^\| ([\w ]+) \| ([\w, ]+) \| ([\d,]+) \| ([\d,]+) \| (.*?) ?\|$", re.MULTILINE
)
"""A row of the table in the document: name, what is counted, the two counts, why one of them rose last."""


def _record(checkout: Path, counts: Counts, risen: list[str], why: str) -> None:
    """Write the counts to both files, and the reason to the rows of those that have risen."""
    lines = [
        f"{json.dumps(name)} = [{first}, {second}]" for name, (first, second) in counts.items()
    ]
    note = f"# Written by `python -m benchmarks.structure --record`; a rise has its reason in {_REASONS.as_posix()}."
    (checkout / _RECORDED).write_text("\n".join([note, *lines, ""]), encoding="utf-8")
    file = checkout / _REASONS
    text = file.read_text("utf-8")
    rows = list(_ROW.finditer(text))
    reasons = {row[1]: row[5] for row in rows} | dict.fromkeys(risen, why)
    written = [
        f"| {name} | {_COUNTED.get(name, _OF_ROOMS)} | {first:,} | {second:,} | {reasons.get(name, '')} |"
        for name, (first, second) in counts.items()
    ]
    table = "\n".join(written).replace("  |", " |")
    file.write_text(text[: rows[0].start()] + table + text[rows[-1].end() :], encoding="utf-8")


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(source: str, known: Mapping[str, str]) -> Iterator[str]:
    """The modules of the package that one imports anywhere, type checking included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module


def longest_chain(imports: Mapping[str, set[str]]) -> list[str]:
    """The longest chain of modules of which each imports the next; a cycle, if there is one.

    Imports of a package itself are those of its `__init__`.
    """
    try:
        order = [name for name in TopologicalSorter(imports).static_order() if name in imports]
    except CycleError as error:
        return list(error.args[1])
    below: dict[str, list[str]] = {}
    for name in order:
        longest = max((below.get(each, []) for each in imports[name]), key=len, default=[])
        below[name] = [name, *longest]
    return max(below.values(), key=len)


def _import(checkout: Path) -> Ratio:
    times: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(_ROUNDS):
        for name, script in _IMPORTS.items():
            times[name].append(float(_run(checkout, script)))
    ours, bare = (statistics.median(found) for found in times.values())
    name = f"import of SearxClient ({ours:.2f} s of processor) / aiohttp and pydantic"
    return Ratio(name, ours / bare, _IMPORT_BESIDE_BARE, at_least=False)


def _costs(checkout: Path, other: Path) -> list[Ratio]:
    rounds = [
        [json.loads(_run(each, _COSTS)) for each in (checkout, other)] for _ in range(_ROUNDS)
    ]
    names = ("processor until the first answer", "processor of a search", "peak of memory")
    return [
        Ratio(
            f"{name}, beside {other.name}",
            statistics.median(ours[place] / theirs[place] for ours, theirs in rounds),
            _NO_WORSE,
            at_least=False,
        )
        for place, name in enumerate(names)
    ]


def _run(checkout: Path, script: str) -> str:
    """What a script prints that imports the package of the checkout."""
    done = subprocess.run(  # noqa: S603 - our own scripts
        [sys.executable, "-c", script],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()

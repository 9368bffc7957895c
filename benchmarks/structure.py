"""How large the package is, how its modules hang together, and how far a search goes through them.

    python -m benchmarks.structure [CHECKOUT] [--beside CHECKOUT] [--json] [--quick]

CHECKOUT is the folder of any commit (this one), such as `git worktree add` makes; `--beside` runs another one in
turns with it, and compares the start, the time of a search, and memory. Modules, lines and imports
are read; one search at an own instance on loopback is traced in a process of its own, with the source of the
checkout. With `--quick` nothing is timed. `docs/decisions/architecture.md` says what the targets are for.
"""

import argparse
import ast
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, report

PACKAGE: Final = "searx_mcp"
_HERE: Final = Path(__file__).resolve().parent.parent
_ROUNDS: Final = 5

_LINES, _MODULES, _LONGEST_MODULE, _CHAIN, _ONE_IMPORTER = 48_000, 240, 500, 20, 0.2
_TEST_LINES = 60_000
_FUNCTIONS, _MODULES_OF_A_SEARCH, _CALLS = 120, 30, 450
_IMPORT_BESIDE_BARE = 2.0

_TRACE: Final = """
import asyncio, json, sys
from searx_mcp import SearxClient, Settings
from searx_mcp.testing.searxng import FakeSearxng

calls, codes, files = [0], set(), set()

def started(code, _offset):
    if "searx_mcp" in code.co_filename and "searx_mcp/testing" not in code.co_filename:
        if not code.co_name.startswith("<"):
            calls[0] += 1
            codes.add(code)
            files.add(code.co_filename)

async def main():
    async with FakeSearxng(formats=["json"]) as fake:
        tables = {
            "instances": {"own": [fake.url]},
            "fetch": {"allow_private": [fake.origin]},
            "open_sources": {"mode": "off"},
            "web_search": {"request_delay_range": [0, 0]},
        }
        async with SearxClient(Settings.model_validate(tables)) as client:
            await client.search("first", fetch_content=False)
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.PROFILER_ID, "structure")
            monitoring.register_callback(
                monitoring.PROFILER_ID, monitoring.events.PY_START, started
            )
            monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
            await client.search("second", fetch_content=False)
            monitoring.set_events(monitoring.PROFILER_ID, 0)

asyncio.run(main())
print(json.dumps([len(codes), len(files), calls[0]]))
"""
"""Prints the functions, modules and calls of the package that a second search passes."""

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
    parser.add_argument("--quick", action="store_true", help="time nothing")
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if not (checkout / PACKAGE).is_dir():
        parser.error(f"there is no {PACKAGE} in {checkout}")
    ratios, tables = _modules(checkout)
    ratios += _search(checkout)
    if not options.quick:
        ratios.append(_import(checkout))
        if options.beside is not None:
            ratios += _costs(checkout, options.beside.resolve())
    report(ratios, as_json=options.json, tables=tables)


def _modules(checkout: Path) -> tuple[list[Ratio], list[Table]]:
    sources = {
        _name(path.relative_to(checkout)): path.read_text(encoding="utf-8")
        for path in sorted((checkout / PACKAGE).rglob("*.py"))
    }
    lengths = {name: text.count("\n") for name, text in sources.items()}
    written = {name: length for name, length in lengths.items() if length > 1}
    imports = {name: set(_imported(text, sources)) - {name} for name, text in sources.items()}
    importers = [sum(name in found for found in imports.values()) for name in written]
    # The face of the package imports the client when somebody asks it for one.
    chain = longest_chain({name: found for name, found in imports.items() if name != PACKAGE})
    tests = sum(
        path.read_text(encoding="utf-8").count("\n") for path in (checkout / "tests").rglob("*.py")
    )
    ratios = [
        Ratio("lines", sum(lengths.values()), _LINES, at_least=False),
        Ratio("modules", len(lengths), _MODULES, at_least=False),
        Ratio(
            "lines of the longest module", max(lengths.values()), _LONGEST_MODULE, at_least=False
        ),
        Ratio("modules on the longest import chain", len(chain), _CHAIN, at_least=False),
        Ratio(
            "share of modules with one importer",
            importers.count(1) / len(importers),
            _ONE_IMPORTER,
            at_least=False,
        ),
        Ratio("lines of tests", tests, _TEST_LINES, at_least=False),
    ]
    rooms: dict[str, list[int]] = {}
    for name, length in lengths.items():
        rooms.setdefault(name.partition(".")[2].partition(".")[0] or PACKAGE, []).append(length)
    by_room = Table(
        "By room; modules of one line are left out of medians",
        ("room", "modules", "lines"),
        tuple((room, len(found), sum(found)) for room, found in sorted(rooms.items())),
        (
            f"median of a module: {statistics.median(written.values()):g} lines",
            f"longest chain: {' > '.join(each.removeprefix(PACKAGE + '.') for each in chain)}",
        ),
    )
    return ratios, [by_room]


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


def _search(checkout: Path) -> list[Ratio]:
    functions, modules, calls = json.loads(_run(checkout, _TRACE))
    return [
        Ratio("functions of a search", functions, _FUNCTIONS, at_least=False),
        Ratio("modules of a search", modules, _MODULES_OF_A_SEARCH, at_least=False),
        Ratio("calls of a search", calls, _CALLS, at_least=False),
    ]


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

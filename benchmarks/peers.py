"""The same searches and reads through our server and through another one, side by side.

    python -m benchmarks.peers [options] -- COMMAND…
    python -m benchmarks.peers --env 'SEARXNG_URL={instances}' -- npx mcp-searxng

Both are processes that speak over their standard streams, and take turns. All instances and pages are on loopback.
Without a command the other one is `benchmarks.serving.plain_peer`, which is told an instance that stays well.
`docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import logging
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.serving.counting import Counter, best_counter
from benchmarks.serving.peer import Kind, PeerError, Use
from benchmarks.serving.side_by_side import Command, Run, run_both
from benchmarks.serving.site import open_site
from benchmarks.serving.trouble import MIXED, WELL, WORLDS, Fault, World, open_instances

OURS: Final = "searx-mcp"
OTHER: Final = "other"
PLAIN: Final = "plain"
CALLS: Final = 12
MOST_CALLS: Final = 20
"""There are as many pages."""
QUICK_CALLS: Final = 3
BESIDE_OTHER: Final = 1.5
"""Our median over the other one's, when all is well."""
HUNG: Final = 2.0
"""The slowest of our searches with one instance hung, in seconds: the first one has to find out."""

_USES: Final = {
    # Other servers read no pages in a search.
    Kind.SEARCH: Use("web_search", "query", further={"fetch_content": False}),
    Kind.FETCH: Use("web_fetch", "url"),
}
_PLAIN: Final = (sys.executable, "-m", "benchmarks.serving.plain_peer", "{instance}")
Runs = dict[tuple[World, str], Run]
"""By world and the name of the server."""


def main() -> None:
    """Measure and report."""
    own, words = split_options(sys.argv[1:])
    options = command_line(
        "The same calls through our server and another one.",
        texts={
            "--search-tool": "the other one's tool; guessed from its schemas unless given",
            "--fetch-tool": "likewise",
            "--separator": "between the addresses of {instances} (;)",
            "--calls": f"of each kind, 1 to {MOST_CALLS} ({CALLS})",
        },
        repeated={"--env": "a variable of the other one, NAME=VALUE"},
        arguments=own,
    )
    # What the other one writes beside its messages is not for the screen.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    try:
        other = Command(
            OTHER if words else PLAIN,
            words or _PLAIN,
            environ=dict(map(_variable, options.env)),
            names={Kind.SEARCH: options.search_tool, Kind.FETCH: options.fetch_tool},
            separator=options.separator or ";",
        )
        worlds = (MIXED,) if options.quick else WORLDS
        calls = QUICK_CALLS if options.quick else _calls(options.calls or str(CALLS))
        runs = asyncio.run(measure(other, worlds, calls))
    except* PeerError as errors:
        sys.exit(str(first_error(errors)))
    targets = counts(runs) if options.quick else [*counts(runs), *ratios(runs, other.name)]
    report(
        targets, as_json=options.json, tables=() if options.quick else tables(runs, best_counter())
    )


def first_error(error: BaseException) -> BaseException:
    """The first in a group, which the connections to servers make of whatever goes through them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def split_options(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """What stands before and behind `--`."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:at]], tuple(arguments[at + 1 :])


def _variable(written: str) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    if not name or not equals:
        raise PeerError("--env takes NAME=VALUE.")
    return name, value


def _calls(written: str) -> int:
    if not written.isascii() or not written.isdigit() or not 1 <= int(written[:9]) <= MOST_CALLS:
        raise PeerError(f"--calls must be 1 to {MOST_CALLS}.")
    return int(written)


async def measure(other: Command, worlds: Sequence[World], calls: int) -> Runs:
    """Put both servers through every world, one call of each in turn.

    Raises:
        PeerError: one of them does not start, or has no tool to call.
    """
    runs: Runs = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with (path / "errors").open("w", encoding="utf-8") as errors:
            for world in worlds:
                async with open_site() as site, open_instances(world, site.rows) as instances:
                    commands = (_ours(path), other)
                    kinds = (*Kind,) if world is worlds[0] else (Kind.SEARCH,)
                    found = await run_both(
                        commands, instances, site, kinds=kinds, calls=calls, errors=errors
                    )
                    runs |= {(world, name): run for name, run in found.items()}
                if not found[other.name].answers[Kind.SEARCH]:
                    break  # instances are nothing to a server that only reads
    return runs


def _ours(folder: Path) -> Command:
    config = folder / "empty.toml"
    config.touch()
    return Command(
        OURS,
        (sys.executable, "-m", "searx_mcp", "stdio"),
        uses=_USES,
        environ={
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_LOG_LEVEL": "CRITICAL",
            "DATA_DIR": str(folder / "data"),
            "SEARXNG_URL": "{instances}",
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": "{site}",
            "SEARX_MCP_FETCH__HOST_RATE": "6000",  # other servers do not spare a site
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
        },
    )


def counts(runs: Runs) -> list[Ratio]:
    """What needs no clock: our server has every result and page, and so has the plain one."""
    ours = [run for (_, name), run in runs.items() if name == OURS]
    plain = [run for (_, name), run in runs.items() if name == PLAIN]
    return [
        _at_most(f"{who}: {what}", sum(run.bad(kind) for run in some), 0)
        for who, some in (("ours", ours), (PLAIN, plain))
        for kind, what in (
            (Kind.SEARCH, "searches without results"),
            (Kind.FETCH, "pages that were not read"),
        )
        if some
    ]


def ratios(runs: Runs, other: str) -> list[Ratio]:
    """How long our server takes, beside the other one where that has what was asked for, and in itself."""
    ours, theirs = runs[WELL, OURS], runs[WELL, other]
    targets = [
        _at_most(
            f"ours / {other}: median of a {what}",
            ours.median(kind) / theirs.median(kind),
            BESIDE_OTHER,
        )
        for kind, what in ((Kind.SEARCH, "search"), (Kind.FETCH, "page"))
        # The plain one reads a page without looking for its main content.
        if theirs.good[kind] and (other, kind) != (PLAIN, Kind.FETCH)
    ]
    slowest = [
        run.percentile(Kind.SEARCH, 1)
        for (world, name), run in runs.items()
        if name == OURS and world.faults == (Fault.HUNG,)
    ]
    return [
        *targets,
        *(_at_most("ours, one hung: the slowest search, s", each, HUNG) for each in slowest),
    ]


def tables(runs: Runs, counter: Counter) -> tuple[Table, ...]:
    """What the tools cost, and how searches and pages went."""
    well = {name: run for (world, name), run in runs.items() if world is WELL}
    return (
        Table(
            f"Tools as a model sees them, tokens of {counter.name}; first calls, which load what is needed",
            ("server", "tools", "tokens", "first search, s", "first page, s"),
            tuple(
                (
                    name,
                    len(run.listed),
                    counter.schema(run.listed),
                    *(round(run.first[kind], 2) if kind in run.first else "" for kind in Kind),
                )
                for name, run in well.items()
            ),
        ),
        Table(
            "Searches",
            ("instances", "server", *_COLUMNS, "results"),
            tuple(
                (world.name, name, *_row(run, Kind.SEARCH, counter), statistics.median(run.found))
                for (world, name), run in runs.items()
                if run.found
            ),
        ),
        Table(
            "Pages",
            ("server", *_COLUMNS),
            tuple(
                (name, *_row(run, Kind.FETCH, counter))
                for name, run in well.items()
                if run.answers[Kind.FETCH]
            ),
        ),
    )


_COLUMNS: Final = ("well", "of", "median, s", "P95, s", "tokens of text", "of structured")


def _row(run: Run, kind: Kind, counter: Counter) -> tuple[float, ...]:
    answers = run.answers[kind]
    return (
        run.good[kind],
        len(answers),
        round(run.median(kind), 3),
        round(run.percentile(kind, 0.95), 3),
        statistics.median(counter.count(answer.text) for answer in answers),
        statistics.median(counter.data(answer.data) for answer in answers),
    )


def _at_most(name: str, value: float, limit: float) -> Ratio:
    return Ratio(name, float(value), limit, at_least=False)


if __name__ == "__main__":
    main()

"""Many calls at once to the server over HTTP, and the same clients over a long time.

    python -m benchmarks.load [--json] [--quick] [--calls N] [--soak MINUTES]

The server, what it searches and reads, and the clients are processes of their own; `docs/benchmarks.md` says
what it shows.
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from time import perf_counter
from typing import Final

from benchmarks.fetching import memory
from benchmarks.loading.processes import TOKEN, Server, open_bare, open_server, open_world
from benchmarks.loading.soak import Crowd, Soak
from benchmarks.loading.wire import Era, Wire
from benchmarks.loading.world import World
from benchmarks.measure import Ratio, Table, command_line, report

CALLS, QUICK_CALLS = 1_000, 60
QUERIES: Final = 100
SEED: Final = 1
_DEADLINE: Final = 120.0
"""Seconds for all calls; a server gives up each of them after 50."""
_TRIVIAL: Final = 200
_ROUNDS: Final = 5

_CROWD: Final = Crowd(clients=36, warm=40, waves=4, seconds=0, idle=2, kept=0, is_patient=True)
"""Its warm-up searches for more than the 256 answers that are kept."""
_QUICK_CROWD: Final = Crowd(
    clients=18, warm=1, waves=1, seconds=0, idle=1, kept=12, is_patient=False
)

_PEAK: Final = 400.0  # MB
_AGAIN: Final = 40.0  # MB
_MORE, _QUICK_MORE = 8.0, 16.0  # MB
_SECONDS: Final = 50.0
_OVERHEAD: Final = 2.0


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the mix.

    Attributes:
        kind: what it is, in the table.
        tool: its tool.
        arguments: for the tool.
        code: of the error that is expected, or empty.
    """

    kind: str
    tool: str
    arguments: Mapping[str, object]
    code: str = ""


@dataclass(slots=True)
class Run:
    """What many calls at once came to.

    Attributes:
        seconds: from the first request to the last answer.
        busy: seconds of the processor that the server took meanwhile.
        latencies: of each kind of call, seconds.
        surprises: outcomes that were not expected, with their number.
    """

    seconds: float = 0.0
    busy: float = 0.0
    latencies: dict[str, list[float]] = field(default_factory=dict)
    surprises: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Measure and report."""
    options = command_line(
        "Many calls at once to the server over HTTP.",
        texts={
            "--calls": f"how many at once ({CALLS})",
            "--soak": "minutes of clients that come and go, instead",
        },
    )
    if not memory.IS_MEASURED:
        sys.exit("Memory and processor are read from /proc, which only Linux has.")
    tables: list[Table] = []
    with open_world() as world:
        if options.quick:
            targets = _quick(world)
        elif options.soak:
            targets, table = _soaked(world, 60 * float(options.soak))
            tables.append(table)
        else:
            with open_server(world) as server:
                targets, table = asyncio.run(_loaded(world, server, int(options.calls or CALLS)))
            more, other = _trivial(world)
            targets += more
            tables += [table, other]
    report(targets, as_json=options.json, tables=tables)


def _quick(world: World) -> list[Ratio]:
    with open_server(world, idle=_QUICK_CROWD.idle) as server:
        targets, _ = asyncio.run(_loaded(world, server, QUICK_CALLS))
        soak = Soak(world, server, SEED)
        asyncio.run(soak.run(_QUICK_CROWD))
    more = _flat(soak, _QUICK_CROWD, _QUICK_MORE)
    return [target for target in targets if "second" not in target.name] + more


def _soaked(world: World, seconds: float) -> tuple[list[Ratio], Table]:
    crowd = replace(_CROWD, seconds=seconds)
    with open_server(world, idle=crowd.idle) as server:
        soak = Soak(world, server, SEED)
        asyncio.run(soak.run(crowd))
    table = Table(
        f"{seconds / 60:g} minutes of clients that come and go, {crowd.clients} at a time",
        ("clients so far", "MB", "descriptors", "tasks", "thousand objects"),
        tuple(
            (
                *(one.clients, round(one.megabytes, 1), one.descriptors, one.tasks),
                round(one.objects / 1_000, 1),
            )
            for one in soak.seen
        ),
        (
            "The first row is after the warm-up. Of sessions that are left open each ends after 2 s here.",
        ),
    )
    return _flat(soak, crowd, _MORE), table


def _flat(soak: Soak, crowd: Crowd, megabytes: float) -> list[Ratio]:
    first, last = soak.seen[0], soak.seen[-1]
    told = "; ".join(dict.fromkeys(soak.surprises[:3]))
    return [
        _at_most(f"soak: not as expected {told}", len(soak.surprises), 0),
        _at_most("soak: tasks more", last.tasks - first.tasks, 0),
        _at_most("soak: descriptors more", last.descriptors - first.descriptors, crowd.kept),
        _at_most("soak: MB more", last.megabytes - first.megabytes, megabytes),
    ]


async def _loaded(world: World, server: Server, count: int) -> tuple[list[Ratio], Table]:
    dice = random.Random(SEED)  # noqa: S311 - not for secrets
    calls = list(islice(_mix(world), count))
    idle = server.megabytes()
    # Whatever is loaded late: each kind of call once in both eras.
    early = await _run(server, list({call.kind: call for call in calls}.values()) * 2)
    warm = server.megabytes()
    dice.shuffle(calls)
    run = await _run(server, calls)
    peak = server.peak()
    again = await _run(server, calls)
    surprises = early.surprises + run.surprises + again.surprises
    rows: list[tuple[str | float, ...]] = [
        (kind, len(found), *(round(_share(found, part), 2) for part in (0.5, 0.95, 1)))
        for kind, found in sorted(run.latencies.items())
    ]
    everything = [one for found in run.latencies.values() for one in found]
    rows.append(("all", count, *(round(_share(everything, part), 2) for part in (0.5, 0.95, 1))))
    table = Table(
        f"{count} calls at once, half of them in sessions",
        ("", "calls", "P50 s", "P95 s", "longest s"),
        tuple(rows),
        (
            f"{count / run.seconds:.1f} calls a second; {1_000 * run.busy / count:.1f} ms of processor each.",
            f"MB of the server at the start, after each kind of call, at most: {idle:.0f}, {warm:.0f}, {peak:.0f}.",
        ),
    )
    told = "; ".join(f"{number} x {what}" for what, number in surprises.most_common(5))
    return [
        _at_most(f"of {count} calls at once: not as expected {told}", surprises.total(), 0),
        _at_most("MB of the server at most", peak, _PEAK),
        _at_most("MB more when they come again", server.peak() - peak, _AGAIN),
        _at_most("seconds, P95", _share(everything, 0.95), _SECONDS),
    ], table


def _mix(world: World) -> Iterator[Call]:
    """What agents do, without end: of ten calls four search, three fetch, two ask a page, one fails."""
    pages, asked = cycle(world.pages), cycle(reversed(world.pages))
    queries = cycle([f"hedges of year {number}" for number in range(QUERIES)])
    errors = cycle((
        Call("an error", "web_fetch", {"url": world.missing}, "not_found"),
        Call("an error", "web_fetch", {"url": "ftp://example.org/"}, "blocked_scheme"),
        Call("an error", "web_search", {"query": ""}, "invalid_argument"),
        Call("an error", "web_fetch", {"url": "http://169.254.169.254/"}, "blocked_address"),
    ))  # fmt: skip
    while True:
        for _ in range(2):
            yield Call("web_search", "web_search", {"query": next(queries)})
        for _ in range(2):
            yield Call(
                "web_search, no pages",
                "web_search",
                {"query": next(queries), "fetch_content": False},
            )
        for _ in range(3):
            yield Call("web_fetch", "web_fetch", {"url": next(pages)})
        for _ in range(2):
            question = {"url": next(asked), "query": "How deep do the roots reach?"}
            yield Call("read_page", "read_page", question)
        yield next(errors)


async def _run(server: Server, calls: Sequence[Call], *, token: str = TOKEN) -> Run:
    """Make all calls at once, each on a connection of its own that is open before."""
    run = Run()
    async with AsyncExitStack() as stack, asyncio.timeout(_DEADLINE):
        wires = [
            await stack.enter_async_context(Wire(server.url, token, era))
            for _, era in zip(calls, cycle(Era), strict=False)
        ]
        for wire in wires:
            await wire.greet()
        began, busy = perf_counter(), server.busy()
        async with asyncio.TaskGroup() as group:
            for wire, call in zip(wires, calls, strict=True):
                group.create_task(_one(wire, call, run))
        run.seconds, run.busy = perf_counter() - began, server.busy() - busy
    return run


async def _one(wire: Wire, call: Call, run: Run) -> None:
    began = perf_counter()
    try:
        reply = await wire.call(call.tool, call.arguments)
        run.latencies.setdefault(call.kind, []).append(perf_counter() - began)
        await wire.leave()
    except (OSError, EOFError, RuntimeError) as exc:
        run.surprises[f"{call.kind}: {type(exc).__name__} {exc}"[:200]] += 1
        return
    if reply.code != call.code or not reply.text:
        run.surprises[f"{call.kind}: {reply.code or 'no error'}: {reply.text}"[:200]] += 1


def _trivial(world: World) -> tuple[list[Ratio], Table]:
    """Calls that ask for nothing, beside those of a bare server: what serving alone costs."""
    ours = Call("", "web_search", {"query": ""}, "invalid_argument")
    bare = Call("", "web_search", {"query": "hedges"})
    costs: dict[str, list[float]] = {"searx-mcp": [], "bare SDK server": []}
    speeds: dict[str, list[float]] = {name: [] for name in costs}
    with open_server(world) as server, open_bare() as other:
        for _ in range(_ROUNDS):
            for name, one, call, token in (
                ("searx-mcp", server, ours, TOKEN),
                ("bare SDK server", other, bare, ""),
            ):
                run = asyncio.run(_run(one, [call] * _TRIVIAL, token=token))
                if run.surprises:
                    sys.exit(f"{name}: {run.surprises}")
                costs[name].append(1_000 * run.busy / _TRIVIAL)
                speeds[name].append(_TRIVIAL / run.seconds)
    rows = tuple(
        (name, round(_share(speeds[name], 0.5), 1), round(_share(costs[name], 0.5), 2))
        for name in costs
    )
    title = (
        f"{_TRIVIAL} calls at once that ask for nothing, medians of {_ROUNDS} interleaved rounds"
    )
    ratio = _share([a / b for a, b in zip(*costs.values(), strict=True)], 0.5)
    return [_at_most("processor of a call that asks for nothing / bare", ratio, _OVERHEAD)], Table(
        title, ("", "calls a second", "CPU ms a call"), rows
    )


def _share(values: Sequence[float], part: float) -> float:
    """The value that this part of all does not pass."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def _at_most(name: str, value: float, limit: float) -> Ratio:
    return Ratio(name, value, limit, at_least=False)


if __name__ == "__main__":
    main()

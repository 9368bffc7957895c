"""Many calls at once to the server over HTTP, and the same clients over a long time.

    python -m benchmarks.load [--json] [--quick] [--calls N] [--soak MINUTES]

The server, what it searches and reads, and the clients are processes of their own; `docs/decisions/benchmarks.md` says
what it shows.
"""

import asyncio
import json
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import count, cycle, islice
from typing import Final
from urllib.parse import urlsplit

from benchmarks.fetching import memory
from benchmarks.loading.calls import Call, at_once, mix, share
from benchmarks.loading.processes import (
    TOKEN,
    Server,
    open_bare,
    open_redis,
    open_server,
    open_world,
)
from benchmarks.loading.soak import Crowd, Soak
from benchmarks.loading.wire import Era, Wire
from benchmarks.loading.world import World
from benchmarks.measure import Ratio, Table, command_line, report

CALLS, QUICK_CALLS = 1_000, 60
SEED: Final = 1
_TRIVIAL: Final = 200
_ROUNDS: Final = 5
_SEARCHES: Final = 1_000
_WORKERS: Final = 8

_CROWD: Final = Crowd(clients=36, warm=40, waves=4, seconds=0, idle=2, kept=0, is_patient=True)
"""Its warm-up searches for more than the 256 answers that are kept."""
_QUICK_CROWD: Final = Crowd(
    clients=18, warm=1, waves=1, seconds=0, idle=1, kept=12, is_patient=False
)

_PEAK: Final = 400.0  # MB
_AGAIN: Final = 40.0  # MB
_MORE, _QUICK_MORE = 8.0, 16.0  # MB
_SEARCHED: Final = 160.0  # MB
_SECONDS: Final = 50.0
_OVERHEAD: Final = 2.0
_CACHED, _MISSED, _PAGE = 0.7, 1.5, 2.5  # CPU ms
_OBSERVED: Final = 100
"""Searches in a round; as many clients say hello."""
_OBSERVED_ROUNDS: Final = 11
_REPLICAS: Final = (1, 2, 3)
_REPLICATED: Final = 30
"""Calls at once to replicas in each round: few, as clients, sites and replicas share the processors."""
_DEADLINE: Final = 10.0
"""Seconds for a scrape."""
_METRICS: Final = 1.05
_TRACES: Final = 1.15


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
            observed, costs = _observed(world, rounds=_OBSERVED_ROUNDS)
            shared, replicas = _replicated(world, _REPLICAS, rounds=_ROUNDS)
            targets += more + _rested(world) + observed + _searched(world) + shared
            tables += [table, other, costs, replicas]
    report(targets, as_json=options.json, tables=tables)


def _quick(world: World) -> list[Ratio]:
    with open_server(world, idle=_QUICK_CROWD.idle) as server:
        targets, _ = asyncio.run(_loaded(world, server, QUICK_CALLS))
        soak = Soak(world, server, SEED)
        asyncio.run(soak.run(_QUICK_CROWD))
    more = _flat(soak, _QUICK_CROWD, _QUICK_MORE) + _observed(world, rounds=0)[0]
    more += _replicated(world, _REPLICAS[-1:], rounds=1)[0]
    return [target for target in targets + more if "second" not in target.name]


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
    calls = list(islice(mix(world), count))
    idle = server.megabytes()
    # Whatever is loaded late: each kind of call once in both eras.
    early = await at_once(server, calls=list({call.kind: call for call in calls}.values()) * 2)
    warm = server.megabytes()
    dice.shuffle(calls)
    run = await at_once(server, calls=calls)
    peak = server.peak()
    again = await at_once(server, calls=calls)
    surprises = early.surprises + run.surprises + again.surprises
    rows: list[tuple[str | float, ...]] = [
        (kind, len(found), *(round(share(found, part), 2) for part in (0.5, 0.95, 1)))
        for kind, found in sorted(run.latencies.items())
    ]
    everything = [one for found in run.latencies.values() for one in found]
    rows.append(("all", count, *(round(share(everything, part), 2) for part in (0.5, 0.95, 1))))
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
        _at_most("seconds, P95", share(everything, 0.95), _SECONDS),
    ], table


def _replicated(world: World, numbers: Sequence[int], rounds: int) -> tuple[list[Ratio], Table]:
    """The mix to servers in turn that share a Redis, where a session goes on at another one than it began at."""
    lost = 0
    rows: list[tuple[str | float, ...]] = []
    for number in numbers:
        calls, runs = mix(world), []
        with open_redis() as redis, ExitStack() as stack:
            servers = [stack.enter_context(open_server(world, redis=redis)) for _ in range(number)]
            for _ in range(rounds + 1):
                several = list(islice(calls, _REPLICATED))
                runs.append(asyncio.run(at_once(*servers, calls=several)))
        lost += sum(run.lost for run in runs)
        warm = runs[1:]
        found = [one for run in warm for each in run.latencies.values() for one in each]
        speed = len(found) / sum(run.seconds for run in warm)
        cost = 1_000 * sum(run.busy for run in warm) / len(found)
        rows.append((
            *(number, round(share(found, 0.5), 2), round(share(found, 0.95), 2)),
            *(round(speed, 1), round(cost, 1)),
        ))  # fmt: skip
    return [_at_most("calls to replicas without an answer", lost, 0)], Table(
        f"{rounds} times {_REPLICATED} calls at once to replicas that share a Redis, half of them in sessions",
        ("replicas", "P50 s", "P95 s", "calls a second", "CPU ms a call"),
        tuple(rows),
        ("Clients, sites, instances and Redis share the processors with the replicas.",),
    )


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
                run = asyncio.run(at_once(one, calls=[call] * _TRIVIAL, token=token))
                if run.surprises:
                    sys.exit(f"{name}: {run.surprises}")
                costs[name].append(1_000 * run.busy / _TRIVIAL)
                speeds[name].append(_TRIVIAL / run.seconds)
    rows = tuple(
        (name, round(share(speeds[name], 0.5), 1), round(share(costs[name], 0.5), 2))
        for name in costs
    )
    title = (
        f"{_TRIVIAL} calls at once that ask for nothing, medians of {_ROUNDS} interleaved rounds"
    )
    ratio = share([a / b for a, b in zip(*costs.values(), strict=True)], 0.5)
    return [_at_most("processor of a call that asks for nothing / bare", ratio, _OVERHEAD)], Table(
        title, ("", "calls a second", "CPU ms a call"), rows
    )


def _rested(world: World) -> list[Ratio]:
    """What calls over REST cost, one after the other on one connection; medians of rounds."""
    numbers = count()
    pages = cycle(world.pages)
    kinds: dict[str, tuple[float, str, Callable[[], dict[str, object]]]] = {
        "a search from the cache": (_CACHED, "search", lambda: {"query": "hedges"}),
        "a search": (_MISSED, "search", lambda: {"query": f"hedges {next(numbers)}"}),
        "a page": (_PAGE, "fetch", lambda: {"url": f"{next(pages)}?{next(numbers)}"}),
    }
    spent: dict[str, list[float]] = {name: [] for name in kinds}
    with open_server(world) as server:
        connection = HTTPConnection(urlsplit(server.url).netloc, timeout=_DEADLINE)
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        for _ in range(_ROUNDS + 1):
            for name, (_, route, arguments) in kinds.items():
                began = server.busy()
                for _ in range(_TRIVIAL):
                    told = arguments() | ({"fetch_content": False} if route == "search" else {})
                    connection.request("POST", f"/v1/{route}", json.dumps(told), headers)
                    answer = connection.getresponse()
                    text = answer.read()
                    if answer.status != HTTPStatus.OK:
                        sys.exit(f"{name}: {text.decode()}")
                spent[name].append(1_000 * (server.busy() - began) / _TRIVIAL)
        connection.close()
    return [
        _at_most(f"CPU ms of {name} over REST", share(spent[name][1:], 0.5), limit)
        for name, (limit, _, _) in kinds.items()
    ]


def _observed(world: World, rounds: int) -> tuple[list[Ratio], Table]:
    """What metrics and traces cost: searches without pages, and greetings, beside a server that has neither.

    Without a round after the first, only what they count.
    """
    off, metrics, traces = "neither", "metrics", "metrics and traces"
    searches: dict[str, list[float]] = {name: [] for name in (off, metrics, traces)}
    greetings: dict[str, list[float]] = {name: [] for name in searches}
    with (
        open_server(world, "unheard") as unheard,
        open_server(world) as counting,
        open_server(world, traces=world.collector) as traced,
    ):
        servers = dict(zip(searches, (unheard, counting, traced), strict=True))
        for turn in range(rounds + 1):
            calls = [
                Call("", "web_search", {"query": f"hedges {turn}-{number}", "fetch_content": False})
                for number in range(_OBSERVED)
            ]
            for name, server in servers.items():
                run = asyncio.run(at_once(server, calls=calls))
                if run.surprises:
                    sys.exit(f"{name}: {run.surprises}")
                searches[name].append(run.busy)
                if rounds:
                    greetings[name].append(asyncio.run(_greet(server)))
        counted = {name: _counted(server) for name, server in servers.items()}
    batches = float(_body(world.collector, "/"))
    made = (rounds + 1) * _OBSERVED
    targets = [
        _at_most("searches that metrics miss", made - counted[metrics], 0),
        _at_most("searches counted without metrics", counted[off], 0),
        Ratio("batches of traces", batches, 1, at_least=True),
    ]
    title = f"{_OBSERVED} at once, medians of {rounds} interleaved rounds"
    if not rounds:
        return targets, Table(title, (), ())
    for what, found in (("a search", searches), ("an initialize", greetings)):
        for name, limit in ((metrics, _METRICS), (traces, _TRACES)):
            pairs = zip(found[name][1:], found[off][1:], strict=True)
            ratio = share([on / without for on, without in pairs], 0.5)
            targets.append(
                _at_most(f"processor seconds of {what} with {name} / {off}", ratio, limit)
            )
    each = 1_000 / _OBSERVED
    rows = tuple(
        (
            name,
            round(each * share(searches[name][1:], 0.5), 2),
            round(each * share(greetings[name][1:], 0.5), 2),
        )
        for name in searches
    )
    return targets, Table(title, ("", "CPU ms a search", "CPU ms an initialize"), rows)


async def _greet(server: Server) -> float:
    """Processor seconds of many `initialize`, each on a connection that is open before."""
    async with AsyncExitStack() as stack:
        wires = [Wire(server.url, TOKEN, Era.SESSION) for _ in range(_OBSERVED)]
        for wire in wires:
            await stack.enter_async_context(wire)
        busy = server.busy()
        async with asyncio.TaskGroup() as group:
            for wire in wires:
                group.create_task(wire.greet())
        busy = server.busy() - busy
        for wire in wires:
            await wire.leave()
    return busy


def _counted(server: Server) -> float:
    """The searches that a server has in its metrics."""
    lines = _body(server.url, "/metrics", Authorization=f"Bearer {TOKEN}").splitlines()
    ended = [line for line in lines if line.startswith("searx_mcp_calls_total{")]
    return sum(float(line.rpartition(" ")[2]) for line in ended)


def _body(url: str, path: str, **headers: str) -> str:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_DEADLINE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != HTTPStatus.OK:
        raise RuntimeError(text)
    return text


def _searched(world: World) -> list[Ratio]:
    """Memory after many searches that read pages, a few at a time, each for something else."""
    found = []
    with open_server(world) as server:
        for half in range(2):
            first = half * _SEARCHES // 2
            queries = [
                f"hedges of garden {number}" for number in range(first, first + _SEARCHES // 2)
            ]
            asyncio.run(_search(server, queries))
            found.append(server.megabytes())
    return [
        _at_most(f"MB after {_SEARCHES} searches with pages", found[1], _SEARCHED),
        _at_most("MB more in their second half", found[1] - found[0], _MORE),
    ]


async def _search(server: Server, queries: list[str]) -> None:
    async def work() -> None:
        async with Wire(server.url, TOKEN, Era.STATELESS) as wire:
            while queries:
                reply = await wire.call("web_search", {"query": queries.pop()})
                if reply.code:
                    raise RuntimeError(reply.text)

    async with asyncio.TaskGroup() as group:
        for _ in range(_WORKERS):
            group.create_task(work())


def _at_most(name: str, value: float, limit: float) -> Ratio:
    return Ratio(name, value, limit, at_least=False)


if __name__ == "__main__":
    main()

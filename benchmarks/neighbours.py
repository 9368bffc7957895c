"""What one client notices of another that floods the server.

    python -m benchmarks.neighbours [--json] [--quick] [--flood KIND]

The server and the flood are processes of their own; `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import sys
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final
from urllib.parse import urlsplit

from benchmarks.fetching import memory
from benchmarks.loading.calls import share
from benchmarks.loading.floods import CHEAP, Kind, Target
from benchmarks.loading.processes import TOKEN, Server, open_flood, open_server, open_world
from benchmarks.loading.world import World
from benchmarks.measure import Ratio, Table, command_line, report

CALLS, QUICK_CALLS = 200, 20
_APART: Final = 0.005
"""Seconds between two calls."""
_DEADLINE: Final = 10.0
"""Seconds after which a call has failed."""
_LONGEST: Final = 20.0
"""Seconds for all calls; fewer are made if they take longer."""
_RATIO: Final = 3.0


@dataclass(slots=True)
class Seen:
    """What the neighbour saw.

    Attributes:
        seconds: of each call, with its connection.
        failures: calls without the answer, with their number.
    """

    seconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Measure and report."""
    options = command_line(
        "What one client notices of another that floods the server.",
        texts={"--flood": f"only this: {', '.join(Kind)}"},
    )
    if not memory.IS_MEASURED:
        sys.exit("Loopback has further addresses only on Linux.")
    kinds = [Kind(options.flood)] if options.flood else list(Kind)
    with open_world() as world:
        if options.quick:
            with open_server(world, proxies=()) as server:
                pairs = {kind: _pair(server, kind, QUICK_CALLS) for kind in kinds}
        else:
            pairs = {kind: _pair_on_new(world, kind) for kind in kinds}
    targets = [_failed(kind, *pair) for kind, pair in pairs.items()]
    table = Table(
        f"{CALLS} cached searches over REST, each on a new connection, alone and beside a flood; ms",
        ("flood", "P50 alone", "P99 alone", "P50", "P99", "P99 / alone"),
        tuple(_row(kind, *pair) for kind, pair in pairs.items()),
    )
    if not options.quick:
        targets += [
            Ratio(f"{row[0]}: P99 / alone", float(row[-1]), _RATIO, at_least=False)
            for row in table.rows
        ]
    report(targets, as_json=options.json, tables=() if options.quick else (table,))


def _failed(kind: Kind, alone: Seen, beside: Seen) -> Ratio:
    failures = alone.failures + beside.failures
    told = "; ".join(f"{number} x {what}" for what, number in failures.most_common(3))
    return Ratio(f"{kind}: failed calls {told}".strip(), failures.total(), 0, at_least=False)


def _row(kind: Kind, *pair: Seen) -> tuple[str | float, ...]:
    found = [
        1_000 * share(seen.seconds or [_DEADLINE], part) for seen in pair for part in (0.5, 0.99)
    ]
    return (kind.value, *(round(one, 1) for one in found), round(found[3] / found[1], 2))


def _pair_on_new(world: World, kind: Kind) -> tuple[Seen, Seen]:
    """A pair on a server that nobody has flooded before."""
    with open_server(world, proxies=()) as server:
        return _pair(server, kind, CALLS)


def _pair(server: Server, kind: Kind, count: int) -> tuple[Seen, Seen]:
    """A neighbour without and with the flood."""
    parts = urlsplit(server.url)
    target = Target(parts.hostname or "", parts.port or 80, TOKEN)
    asyncio.run(_look(target, 20))  # whatever is loaded late
    alone = asyncio.run(_look(target, count))
    with open_flood(kind, server.url):
        return alone, asyncio.run(_look(target, count))


async def _look(target: Target, count: int) -> Seen:
    seen = Seen()
    end = perf_counter() + _LONGEST
    for _ in range(count):
        if perf_counter() > end:
            break
        began = perf_counter()
        try:
            async with asyncio.timeout(_DEADLINE):
                await _call(target)
        except (OSError, EOFError, RuntimeError) as exc:
            seen.failures[f"{type(exc).__name__} {exc}"[:80]] += 1
        else:
            seen.seconds.append(perf_counter() - began)
        await asyncio.sleep(_APART)
    return seen


async def _call(target: Target) -> None:
    reader, writer = await asyncio.open_connection(target.host, target.port)
    try:
        writer.write(target.post("/v1/search", CHEAP))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise RuntimeError(head.partition(b"\r\n")[0].decode("latin-1"))
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
    finally:
        writer.transport.abort()


if __name__ == "__main__":
    main()

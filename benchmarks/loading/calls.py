"""The calls of the mix, and making them all at once."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import perf_counter
from typing import Final

from benchmarks.loading.processes import TOKEN, Server
from benchmarks.loading.wire import Era, Wire
from benchmarks.loading.world import World

_QUERIES: Final = 100
_DEADLINE: Final = 120.0
"""Seconds for all calls; a server gives up each of them after 50."""


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
        lost: of those, calls without an answer.
    """

    seconds: float = 0.0
    busy: float = 0.0
    latencies: dict[str, list[float]] = field(default_factory=dict)
    surprises: Counter[str] = field(default_factory=Counter)
    lost: int = 0


def mix(world: World) -> Iterator[Call]:
    """What agents do, without end: of ten calls four search, three fetch, two ask a page, one fails."""
    pages, asked = cycle(world.pages), cycle(reversed(world.pages))
    queries = cycle([f"hedges of year {number}" for number in range(_QUERIES)])
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


async def at_once(*servers: Server, calls: Sequence[Call], token: str = TOKEN) -> Run:
    """Make all calls at once, each on a connection of its own that is open before.

    Args:
        servers: that share them in turn; of several, a session goes on at another one than it began at.
        calls: to be made.
        token: of all clients.
    """
    run = Run()
    async with AsyncExitStack() as stack, asyncio.timeout(_DEADLINE):
        wires = []
        # The server closes a connection without a request soon: those without a greeting come last.
        for era, count in ((Era.SESSION, len(calls) // 2), (Era.STATELESS, -(-len(calls) // 2))):
            urls = list(islice(cycle(server.url for server in servers), count + 1))
            more = [Wire(url, token, era) for url in urls[:count]]
            for wire in more:
                await stack.enter_async_context(wire)
            async with asyncio.TaskGroup() as group:
                for wire in more:
                    group.create_task(wire.greet())
            if len(servers) > 1 and era is Era.SESSION:
                more = [
                    Wire(url, token, era, session=wire.session)
                    for url, wire in zip(urls[1:], more, strict=True)
                ]
                for wire in more:
                    await stack.enter_async_context(wire)
            wires += more
        began, busy = perf_counter(), sum(server.busy() for server in servers)
        async with asyncio.TaskGroup() as group:
            for wire, call in zip(wires, calls, strict=True):
                group.create_task(_one(wire, call, run))
        run.seconds = perf_counter() - began
        run.busy = sum(server.busy() for server in servers) - busy
    return run


async def _one(wire: Wire, call: Call, run: Run) -> None:
    began = perf_counter()
    try:
        reply = await wire.call(call.tool, call.arguments)
        run.latencies.setdefault(call.kind, []).append(perf_counter() - began)
        await wire.leave()
    except (OSError, EOFError, RuntimeError) as exc:
        run.surprises[f"{call.kind}: {type(exc).__name__} {exc}"[:200]] += 1
        run.lost += 1
        return
    if reply.code != call.code or not reply.text:
        run.surprises[f"{call.kind}: {reply.code or 'no error'}: {reply.text}"[:200]] += 1


def share(values: Sequence[float], part: float) -> float:
    """The value that this part of all does not pass."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]

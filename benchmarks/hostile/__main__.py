"""What hostile pages, answers and connections cost the MCP server, one after the other.

    python -m benchmarks.hostile [--json] [--quick] [--only WORDS]

The server is the real one, over stdio, with its worker processes; the site is a process of its own
on loopback. `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPDeprecationWarning

from benchmarks.fetching import memory
from benchmarks.hostile.attacks import ATTACKS, FOUND, READ
from benchmarks.measure import Ratio, Table, command_line, report

_ROOT: Final = Path(__file__).resolve().parent.parent.parent
_INSTANCES: Final = 40
"""Addresses of the one hostile instance: one that has failed is asked last for a while."""
CROWD, QUICK_CROWD = 1_000, 200
"""Pages asked for at once."""
_TIMEOUT: Final = 30
_ENDLESS: Final = 5
"""Seconds of a call that only it ends; the fewest a call may name."""
_DEADLINE: Final = 60.0
_EVERY, _QUICK_EVERY = 0.01, 0.5
"""Seconds between pings; how long they wait is no target of a quick run."""
_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

_SECONDS: Final = 10.0
_MEMORY: Final = 60.0  # MB
_STALL: Final = 25.0  # ms
_PEAK: Final = 200.0  # MB


@dataclass(frozen=True, slots=True)
class Cost:
    """What one attack came to.

    Attributes:
        outcome: `read`, `found` or the code of the error.
        seconds: until the answer.
        stall: milliseconds that a ping beside it waited at the most.
        main: seconds of processor of the server.
        children: seconds of processor of its workers.
        grown: megabytes that the server's memory peaked above where it began.
        said: what the instances that were asked in vain came to.
    """

    outcome: str
    seconds: float
    stall: float
    main: float
    children: float
    grown: float
    said: str


class Reached(NamedTuple):
    """What one call came to: `outcome` and `said` as in `Cost`."""

    outcome: str
    said: str = ""


def main() -> None:
    """Measure and report."""
    options = command_line(
        "What hostile pages, answers and connections cost the MCP server.",
        texts={"--only": "words that the names of attacks must hold"},
    )
    if not memory.IS_MEASURED:
        sys.exit("Memory is read from /proc, which only Linux has.")
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # a ping, as this client's era has it
    targets: list[Ratio] = []
    rows: list[tuple[str | float, ...]] = []
    crowd = QUICK_CROWD if options.quick else CROWD
    every = _QUICK_EVERY if options.quick else _EVERY
    costs, answers, resident = asyncio.run(_run(options.only or "", crowd, every))
    for (kind, name), cost in costs.items():
        wanted = ATTACKS[kind][name].outcome
        missed = f", got {cost.outcome}: {cost.said}" if cost.outcome != wanted else ""
        targets.append(_at_most(f"{kind}: {name}: not {wanted}{missed}", bool(missed), 0))
        targets.append(_at_most(f"{kind}: {name}: MB more", cost.grown, _MEMORY))
        if not options.quick:
            targets.append(_at_most(f"{kind}: {name}: seconds", cost.seconds, _SECONDS))
        rows.append((
            *(kind, name, cost.outcome, round(cost.seconds, 2), round(cost.main, 2)),
            *(round(cost.children, 2), round(cost.stall, 1), round(cost.grown, 1)),
        ))  # fmt: skip
    targets.append(_at_most("MB of the server at the end", resident, _PEAK))
    unanswered = sum(count for answer, count in answers.items() if answer not in {READ, "timeout"})
    targets.append(_at_most(f"of {crowd} pages asked for at once: refused", unanswered, 0))
    targets.append(
        Ratio(f"of {crowd} pages asked for at once: read", answers[READ], 1, at_least=True)
    )
    if not options.quick:
        longest = sorted(cost.stall for cost in costs.values())
        targets.append(
            _at_most("ms, 9 of 10 longest pings", longest[len(longest) * 9 // 10], _STALL)
        )
    table = Table(
        f"{len(rows)} attacks, one after the other, on one server",
        (
            *("on", "attack", "outcome", "seconds", "CPU s"),
            *("in workers", "longest ping ms", "MB more"),
        ),
        tuple(rows),
        ("CPU and MB: of the server's process. A ping is sent every 10 ms beside each attack.",),
    )
    report(targets, as_json=options.json, tables=() if options.quick else (table,))


async def _run(
    only: str, crowd: int, every: float
) -> tuple[dict[tuple[str, str], Cost], Counter[str], float]:
    costs: dict[tuple[str, str], Cost] = {}
    with _site() as origins:
        async with _server([*dict.fromkeys(origins.values())]) as (client, process):
            shared = next(iter(origins.values()))
            await _fetch(client, f"http://{shared}/good", _TIMEOUT)  # whatever is loaded late
            for kind, attacks in ATTACKS.items():
                for name, attack in attacks.items():
                    if only in name:
                        seconds = _ENDLESS if attack.is_endless else _TIMEOUT
                        url = f"http://{origins[f'{kind}/{name}']}/{kind}/{quote(name)}"
                        is_answer = kind == "answer"
                        call = _search(client, name) if is_answer else _fetch(client, url, seconds)
                        costs[kind, name] = await _cost(client, process, call, every)
            answers = await _crowd(client, shared, crowd)
            return costs, answers, process.megabytes("VmRSS")


async def _crowd(client: Client, origin: str, count: int) -> Counter[str]:
    """Ask for so many different pages at once."""
    async with asyncio.timeout(_DEADLINE), asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_fetch(client, f"http://{origin}/good?{number}", _TIMEOUT))
            for number in range(count)
        ]
    return Counter(task.result().outcome for task in tasks)


async def _fetch(client: Client, url: str, seconds: int) -> Reached:
    return await _call(client, "web_fetch", {"url": url, "timeout": seconds})


async def _search(client: Client, query: str) -> Reached:
    arguments = {"query": query, "fetch_content": False, "timeout": _TIMEOUT}
    return await _call(client, "web_search", arguments)


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> Reached:
    """Make a call, and name what it came to."""
    result = await client.call_tool(tool, arguments)
    data: dict[str, Any] = getattr(result, "structured_content", None) or {}
    if getattr(result, "is_error", True):
        asked = Counter(f"{one['verdict']}: {one['detail']}" for one in data.get("attempts", ()))
        said = "; ".join(f"{count} x {text}" for text, count in asked.items())
        # The instances refuse whoever asks for the other form: that attack was never sent.
        if any(text.startswith("refused") for text in asked):
            return Reached("refused", said)
        return Reached(str(data.get("error_type", "an error without a code")), said)
    if data.get("results"):
        return Reached(FOUND)
    return Reached(READ if data.get("markdown_content") else "nothing")


async def _cost(
    client: Client, process: "_Process", call: Coroutine[Any, Any, Reached], every: float
) -> Cost:
    process.forget_peak()
    before, main, children = process.megabytes("VmRSS"), process.processor(), process.children()
    longest = 0.0
    began = perf_counter()
    reached = Reached("no answer")
    with suppress(TimeoutError):
        async with asyncio.timeout(_DEADLINE), asyncio.TaskGroup() as group:
            task = group.create_task(call)
            while not task.done():
                sent = perf_counter()
                await client.send_ping()  # type: ignore[deprecated] # - by the era after this client's
                longest = max(longest, perf_counter() - sent)
                await asyncio.wait([task], timeout=every)
        reached = task.result()
    return Cost(
        outcome=reached.outcome,
        said=reached.said,
        seconds=perf_counter() - began,
        stall=1_000 * longest,
        main=process.processor() - main,
        children=process.children() - children,
        grown=process.megabytes("VmHWM") - before,
    )


class _Process:
    """The server's process, as the system sees it."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")

    def megabytes(self, name: str) -> float:
        return memory.megabytes(name, self._folder)

    def forget_peak(self) -> None:
        memory.forget_peak(self._folder)

    def processor(self) -> float:
        return self._ticks(11, 12)

    def children(self) -> float:
        """Seconds of workers that have ended, and of those that run."""
        pids = "".join(file.read_text() for file in self._folder.glob("task/*/children")).split()
        running = (_Process(int(pid)) for pid in pids if Path(f"/proc/{pid}").exists())
        return self._ticks(13, 14) + sum(child.processor() for child in running)

    def _ticks(self, *fields: int) -> float:
        # proc_pid_stat(5): what follows the name in brackets, which may hold anything.
        cells = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return sum(int(cells[field]) for field in fields) / _TICKS


@contextmanager
def _site() -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "benchmarks.hostile.site"]
    with subprocess.Popen(  # noqa: S603 - a module of this package
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the site has no output")
        origins: dict[str, str] = json.loads(process.stdout.readline())
        yield origins


@asynccontextmanager
async def _server(origins: list[str]) -> AsyncIterator[tuple[Client, _Process]]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "empty.toml").touch()
        shared = origins[0]
        environment = {
            "SEARX_MCP_CONFIG": f"{folder}/empty.toml",
            "XDG_STATE_HOME": folder,
            "XDG_CACHE_HOME": folder,
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": json.dumps(origins),
            "SEARX_MCP_INSTANCES__OWN": json.dumps(
                [f"http://{shared}/{number}/" for number in range(_INSTANCES)]
            ),
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
            # A crowd of pages comes from one host here.
            "SEARX_MCP_FETCH__HOST_RATE": "6000",
            "SEARX_MCP_FETCH__MAX_PER_HOST": "64",
            "SEARX_MCP_NETWORK__MAX_CONNECTIONS_PER_HOST": "64",
        }
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "searx_mcp", "stdio"],
            env={**os.environ, **environment},
        )
        before = _own_children()
        # The handshake era has pings.
        async with Client(stdio_client(parameters), mode="legacy") as client:
            (pid,) = _own_children() - before
            yield client, _Process(pid)


def _own_children() -> set[int]:
    pids = "".join(file.read_text() for file in Path("/proc/self").glob("task/*/children")).split()
    return {int(pid) for pid in pids}


def _at_most(name: str, value: float, limit: float) -> Ratio:
    return Ratio(name, value, limit, at_least=False)


if __name__ == "__main__":
    main()

"""How soon the server answers a host that starts it, beside a bare server of the same SDK, and what commands load.

    python -m benchmarks.startup [--json] [--quick]

All servers are processes that speak over their standard streams; `docs/decisions/benchmarks.md` says what it shows.
"""

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.fetching import memory
from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.testing.searxng import FakeSearxng

ROUNDS: Final = 15
OURS: Final = "searx-mcp"
TRACED: Final = "with traces"
BARE: Final = "bare SDK server"
TOOLS: Final = ("web_search", "web_fetch", "read_page", "answer")

_RATIO: Final = 1.1
_TRACES: Final = 1.3
"""Times as long with `server.traces` as without: the libraries are loaded first."""
_MEMORY: Final = 80.0
"""Megabytes in memory after the list of tools."""
_BARE: Final = f"""
from mcp.server.mcpserver import MCPServer

server = MCPServer("bare", version="1")
for name in {TOOLS}:
    @server.tool(name=name)
    async def tool(query: str, limit: int = 10) -> str:
        "Give back what is asked."
        return query
server.run()
"""
_COMMAND: Final = """
import atexit, sys
ours = lambda: sum(name.partition(".")[0] == "searx_mcp" for name in sys.modules)
atexit.register(lambda: print(ours(), file=sys.stderr))
from searx_mcp.__main__ import main
main()
"""
"""Runs the command, and tells at its end how many modules of ours it has loaded."""
_LIBRARIES: Final = """
import asyncio, sqlite3, sys, click, rich.table, pydantic
class Model(pydantic.BaseModel):
    text: str = ""
Model()
print(0, file=sys.stderr)
"""
_COMMANDS: Final = {
    "--version": (12, 0.1, "import sys, click; print(0, file=sys.stderr)"),
    "instances list": (148, 0.4, _LIBRARIES),
    "search --no-fetch-content": (242, 0.6, f"import aiohttp{_LIBRARIES}"),
}
"""By command: the modules of ours that it may load, the seconds of the processor that it may take, and what loads its
libraries alone."""
_HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a benchmark", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Start:
    """What one start took.

    Attributes:
        wall: seconds from the start of the process until it had answered `initialize`.
        busy: seconds of the processor until then.
        listed_wall: seconds until it had answered `tools/list`.
        listed_busy: seconds of the processor until then.
        megabytes: in memory at that time.
    """

    wall: float
    busy: float
    listed_wall: float
    listed_busy: float
    megabytes: float


def main() -> None:
    """Measure and report."""
    options = command_line("How soon the server answers a host that starts it.")
    if not memory.IS_MEASURED:
        sys.exit("Memory and processor are read from /proc, which only Linux has.")
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "empty.toml")
        config.touch()
        environ = {
            **os.environ,
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_STORAGE__FOLDER": folder,
        }
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a program that is installed has its bytecode
        # Nothing is sent: a start makes no span.
        traced = {**environ, "SEARX_MCP_SERVER__TRACES": "http://127.0.0.1:9"}
        commands = {
            OURS: (["-m", "searx_mcp"], environ),
            BARE: (["-c", _BARE], environ),
            TRACED: (["-m", "searx_mcp"], traced),
        }
        starts: dict[str, list[Start]] = {name: [] for name in commands}
        for arguments, environment in commands.values():
            _start(arguments, environment)  # makes what bytecode is not there
        for _ in range(1 if options.quick else ROUNDS):
            for name, (arguments, environment) in commands.items():
                starts[name].append(_start(arguments, environment))
        of_commands, commanded = asyncio.run(_of_commands(environ, quick=options.quick))
    targets, table = _compared(starts)
    targets += of_commands
    if options.quick:
        targets = [each for each in targets if "MB" in each.name or "modules" in each.name]
    report(targets, as_json=options.json, tables=() if options.quick else (table, commanded))


async def _of_commands(environ: Mapping[str, str], *, quick: bool) -> tuple[list[Ratio], Table]:
    """Run each command, and what loads its libraries, in turn; searches ask an instance on loopback."""
    ran: dict[tuple[str, bool], list[tuple[int, float]]] = {}
    async with FakeSearxng(formats=("html", "json")) as instance:
        asking = {**environ, "SEARX_MCP_INSTANCES__OWN": json.dumps([instance.url])}
        for number in range(2 if quick else ROUNDS + 1):
            for name, (_, _, libraries) in _COMMANDS.items():
                words = [*name.split(), f"question {number}"] if "search" in name else name.split()
                for is_floor in (False, True):
                    program = ["-c", libraries] if is_floor else ["-c", _COMMAND, *words]
                    found = await asyncio.to_thread(
                        _run, program, asking if "search" in name else environ
                    )
                    if number:  # the first makes what bytecode is not there
                        ran.setdefault((name, is_floor), []).append(found)
    targets: list[Ratio] = []
    rows = []
    for name, (most, seconds, _) in _COMMANDS.items():
        modules = max(each for each, _ in ran[name, False])
        took, floor = (
            statistics.median(busy for _, busy in ran[name, is_floor]) for is_floor in (False, True)
        )
        rows.append((name, modules, round(took, 3), round(floor, 3)))
        targets.append(Ratio(f"{name}, modules of ours", modules, most, at_least=False))
        targets.append(Ratio(f"{name}, CPU s", took, seconds, at_least=False))
    columns = ("", "modules of ours", "CPU s", "of its libraries")
    return targets, Table(f"Medians of {ROUNDS} interleaved commands", columns, tuple(rows))


def _run(arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[int, float]:
    """Run a program; return the number that it told last, and its seconds of the processor."""
    before = _busy_children()
    ran = subprocess.run(  # noqa: S603 - a module of this project
        [sys.executable, *arguments],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return int(ran.stderr.split()[-1]), _busy_children() - before


def _busy_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _start(arguments: Sequence[str], environ: Mapping[str, str]) -> Start:
    """Start a server, ask for what a host asks for first, and end it."""
    started = time.perf_counter()
    with subprocess.Popen(  # noqa: S603 - a module of this project
        [sys.executable, *arguments],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a line of the log at the start and at the end
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the server has no streams")
        folder = Path(f"/proc/{process.pid}")
        _ask(process.stdin, process.stdout, "initialize", 1, _HELLO)
        wall, busy = time.perf_counter() - started, _busy(folder)
        process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        listed = _ask(process.stdin, process.stdout, "tools/list", 2, {})
        start = Start(
            wall=wall,
            busy=busy,
            listed_wall=time.perf_counter() - started,
            listed_busy=_busy(folder),
            megabytes=memory.megabytes("VmRSS", folder),
        )
        process.stdin.close()
    names = {tool["name"] for tool in listed["tools"]}
    if names != {*TOOLS}:
        sys.exit(f"The server lists other tools: {', '.join(sorted(names))}")
    return start


def _ask(
    given: IO[bytes], answers: IO[bytes], method: str, number: int, params: Mapping[str, object]
) -> dict[str, Any]:
    asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    given.write(json.dumps(asked).encode() + b"\n")
    given.flush()
    result: dict[str, Any] = json.loads(answers.readline())["result"]
    return result


def _busy(folder: Path) -> float:
    """Seconds of the processor that all threads of a process took, as proc_pid_schedstat has it."""
    threads = folder.glob("task/*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def _compared(starts: Mapping[str, Sequence[Start]]) -> tuple[list[Ratio], Table]:
    medians = {
        name: [statistics.median(column) for column in zip(*map(astuple, found), strict=True)]
        for name, found in starts.items()
    }
    columns = ("initialize s", "CPU s", "tools/list s", "CPU s until then", "MB then")
    table = Table(
        f"Medians of {len(starts[OURS])} interleaved starts",
        ("", *columns),
        tuple((name, *(round(value, 3) for value in row)) for name, row in medians.items()),
    )
    names = ("initialize, wall", "initialize, CPU", "tools/list, wall", "tools/list, CPU")
    targets = [
        Ratio(f"{name} / bare", ratio, _RATIO, at_least=False)
        for name, ratio in zip(names, _ratios(starts[OURS], starts[BARE]), strict=False)
    ]
    targets += [
        Ratio(f"{name}, with traces / without", ratio, _TRACES, at_least=False)
        for name, ratio in zip(names[:2], _ratios(starts[TRACED], starts[OURS]), strict=False)
    ]
    targets.append(Ratio("MB after tools/list", medians[OURS][-1], _MEMORY, at_least=False))
    return targets, table


def _ratios(ours: Sequence[Start], others: Sequence[Start]) -> list[float]:
    """Medians of the ratios of each round, so that a busy moment of the machine counts for both."""
    rounds = [
        [one / other for one, other in zip(astuple(mine), astuple(theirs), strict=True)]
        for mine, theirs in zip(ours, others, strict=True)
    ]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


if __name__ == "__main__":
    main()

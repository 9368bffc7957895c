"""How soon the server answers a host that starts it, beside a bare server of the same SDK, and with traces on.

    python -m benchmarks.startup [--json] [--quick]

All are processes that speak over their standard streams; `docs/decisions/benchmarks.md` says what it shows.
"""

import json
import os
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
        environ = {**os.environ, "SEARX_MCP_CONFIG": str(config)}
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
    targets, table = _compared(starts)
    if options.quick:
        targets = [target for target in targets if "MB" in target.name]
    report(targets, as_json=options.json, tables=() if options.quick else (table,))


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

"""The processes of the benchmark, and what the system says of them. Linux only."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from benchmarks.fetching import memory
from benchmarks.loading.server import Held
from benchmarks.loading.world import World

TOKEN: Final = "a-token-of-the-benchmark"  # noqa: S105 - of a server on loopback
HOST: Final = "127.0.0.1"
_ROOT: Final = Path(__file__).resolve().parent.parent.parent


@contextmanager
def open_world() -> Iterator[World]:
    """Run the instances and sites."""
    with _process("world") as process:
        yield World(**json.loads(_lines(process).readline()))


class Server:
    """A server that runs.

    Attributes:
        url: of its endpoint.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._given, self._lines = process.stdin, _lines(process)
        self._folder = Path(f"/proc/{process.pid}")
        self.url = self._lines.readline().strip()

    def held(self) -> Held:
        """What it holds; it collects its garbage first."""
        if self._given is None:
            raise RuntimeError("the server has no input")
        self._given.write("\n")
        self._given.flush()
        return Held(**json.loads(self._lines.readline()))

    def megabytes(self) -> float:
        """In memory now."""
        return memory.megabytes("VmRSS", self._folder)

    def peak(self) -> float:
        """The most megabytes in memory so far."""
        return memory.megabytes("VmHWM", self._folder)

    def descriptors(self) -> int:
        """Open files, connections and pipes."""
        return len(list((self._folder / "fd").iterdir()))

    def busy(self) -> float:
        """Seconds of the processor that its threads took, as proc_pid_schedstat has it."""
        threads = self._folder.glob("task/*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


@contextmanager
def open_server(
    world: World,
    kind: str = "ours",
    *,
    idle: float | None = None,
    traces: str = "",
    proxies: Sequence[str] = (HOST,),
    redis: str = "",
) -> Iterator[Server]:
    """Run our server over that world.

    Args:
        world: what it may reach.
        kind: `ours`, or `unheard` for one that counts nothing.
        idle: seconds after which a session that nobody uses ends, unless it is what the server has.
        traces: URL of a collector.
        proxies: addresses whose connections are not one client's; by default the one that all clients here have.
        redis: URL of what it shares with others.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "empty.toml").touch()
        environment = {
            "SEARX_MCP_CONFIG": f"{folder}/empty.toml",
            "XDG_STATE_HOME": folder,
            "XDG_CACHE_HOME": folder,
            "SEARX_MCP_HTTP__PORT": "0",
            "SEARX_MCP_HTTP__TOKEN": TOKEN,
            "SEARX_MCP_HTTP__PROXIES": json.dumps(proxies),
            "SEARX_MCP_INSTANCES__OWN": json.dumps(world.instances),
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": json.dumps(world.origins),
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
            "SEARX_MCP_SERVER__TRACES": traces,
            "SEARX_MCP_REDIS_URL": redis,
            "SEARX_MCP_REDIS__SECRET": TOKEN,
            "OTEL_BSP_SCHEDULE_DELAY": "200",  # milliseconds: what sends them works in every round
            # All pages are on four hosts here.
            "SEARX_MCP_FETCH__HOST_RATE": "6000",
            "SEARX_MCP_FETCH__MAX_PER_HOST": "64",
            "SEARX_MCP_NETWORK__MAX_CONNECTIONS_PER_HOST": "64",
        }
        arguments = [kind, *([] if idle is None else [str(idle)])]
        with _process("server", *arguments, environment=environment) as process:
            yield Server(process)


@contextmanager
def open_redis() -> Iterator[str]:
    """Run a Redis that keeps nothing on disk, and give its URL."""
    program = shutil.which("redis-server")
    if program is None:
        sys.exit("redis-server is missing; install it: apt-get install redis-server")
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    command = [program, "--bind", HOST, "--port", str(port), "--save", "", "--appendonly", "no"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - as found
        for line in _lines(process):
            if "eady to accept connections" in line:
                break
        yield f"redis://{HOST}:{port}/0"
        process.terminate()
        process.communicate()


@contextmanager
def open_bare() -> Iterator[Server]:
    """Run a server of the library alone."""
    with _process("server", "bare") as process:
        yield Server(process)


@contextmanager
def open_flood(kind: str, url: str) -> Iterator[None]:
    """Run a client that floods a server, and wait until it does."""
    with _process("floods", kind, url, TOKEN) as process:
        _lines(process).readline()
        yield


@contextmanager
def _process(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryFile("w+") as log:
        # Leaving closes the process's standard input, which ends it.
        with subprocess.Popen(  # noqa: S603 - a module of this package
            [sys.executable, "-m", f"benchmarks.loading.{module}", *arguments],
            cwd=_ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process:
            yield process
        if process.returncode:
            log.seek(0)
            sys.exit(f"{module} {' '.join(arguments)} failed:\n{log.read()[-2_000:]}")


def _lines(process: subprocess.Popen[str]) -> IO[str]:
    if process.stdout is None:
        raise RuntimeError("the process has no output")
    return process.stdout

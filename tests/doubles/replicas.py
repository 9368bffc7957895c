"""Processes of the service, and a balancer in front of them."""

import asyncio
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self

from tests.doubles.serving import pipe

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "e2e" / "replica.py"
GUIDES = ROOT / "docs" / "guides"


class Replica:
    """One process of the service.

    Attributes:
        version: of the program, `this` or `next`.
        port: it listens here, and so does whoever takes its place.
        url: its base.
    """

    def __init__(self, version: str, port: int, environment: dict[str, str]) -> None:
        self.version = version
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, version: str = "") -> Self:
        """Start it, perhaps as another version, and wait until it listens."""
        self.version = version or self.version
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(PROGRAM), self.version, "serve"),
            *("--transport", "streamable-http", "--port", f"{self.port}"),
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert self._process.stderr is not None
        said = (await self._process.stderr.readline()).decode()
        assert "listening on" in said, said
        return self

    async def end(self, number: signal.Signals) -> str:
        """Send it a signal, and give what it said since it listens."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(number)
        _, said = await self._process.communicate()
        return said.decode()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def until_refusing(self) -> None:
        """Wait until it takes no more connections."""
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                return
            writer.close()

    async def aclose(self) -> None:
        """Kill it, if it still runs."""
        if self._process is not None and self._process.returncode is None:
            await self.end(signal.SIGKILL)


class Balancer:
    """Gives each connection to the next replica, and to another one if that refuses it.

    Args:
        replicas: those behind it.

    Attributes:
        carried: open connections, by the port of the replica.
    """

    def __init__(self, *replicas: Replica) -> None:
        self._ports = [replica.port for replica in replicas]
        self._turn = 0
        self.carried: Counter[int] = Counter()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._turn += 1
        for port in self._ports[self._turn % 2 :] + self._ports[: self._turn % 2]:
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            self.carried[port] += 1
            async with asyncio.TaskGroup() as group:
                group.create_task(pipe(reader, far_writer))
                group.create_task(pipe(far_reader, writer))
            self.carried[port] -= 1
            return
        writer.close()


@asynccontextmanager
async def nginx(folder: Path, port: int, *replicas: Replica) -> AsyncIterator[str]:
    """A real nginx in front of replicas, as the guides have it, but for addresses and TLS; gives its URL."""
    guides = "\n".join(
        (GUIDES / f"{name}.md").read_text("utf-8") for name in ("scaling", "http-server")
    )
    upstream, server = re.findall(r"^```nginx\n(.*?)^```$", guides, re.DOTALL | re.MULTILINE)
    ports = iter(replicas)
    upstream = re.sub(r"searx-mcp-\d:8765", lambda _: f"127.0.0.1:{next(ports).port}", upstream)
    assert not [*ports]
    server = re.sub(r" *ssl_.*\n", "", server).replace("443 ssl", f"127.0.0.1:{port}")
    server = server.replace("http://127.0.0.1:8765", "http://searx-mcp")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = " ".join(f"{kind}_temp_path {folder / kind};" for kind in kinds)
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder / 'pid'}; error_log stderr notice; worker_processes 1;"
        f" events {{ worker_connections 256; }} http {{ access_log off; {folders}\n{upstream}{server} }}"
    )
    process = await asyncio.create_subprocess_exec(
        *(shutil.which("nginx") or "nginx", "-e", "stderr", "-c", str(config)),
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = []
    try:
        while b"start worker process " not in (line := await process.stderr.readline()):
            said.append(line)
            assert line, said
        reading = asyncio.ensure_future(process.stderr.read())  # it would wait for a full pipe
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()
    await reading

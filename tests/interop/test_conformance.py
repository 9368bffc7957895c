"""The conformance suite of the protocol against our builder, with what it calls added."""

import asyncio
import contextlib
import json
import os
import socket
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml
from typing_extensions import override

from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from tests.interop.everything import add_everything

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

SUITE = "@modelcontextprotocol/conformance"
Start = Callable[..., Awaitable[Process]]


class Embedded(uvicorn.Server):
    """A server that leaves the signal handlers of the tests alone."""

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=3)
        server = Embedded(config)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            server.should_exit = True


@pytest.fixture(scope="session")
def modules() -> Path:
    """The folder `node_modules` with the packages of `package.json`, in these versions."""
    pinned = json.loads(Path(__file__).with_name("package.json").read_text(encoding="utf-8"))
    folder = Path(os.environ.get("SEARX_MCP_NODE", os.devnull)) / "node_modules"
    for name, version in pinned["dependencies"].items():
        found = folder / name / "package.json"
        if not found.is_file() or json.loads(found.read_text("utf-8"))["version"] != version:
            pytest.skip(
                f"{name} {version} is missing; copy tests/interop/package.json to a folder, run"
                " `npm install --no-package-lock` there, and name the folder in SEARX_MCP_NODE"
            )
    return folder


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_every_scored_scenario_of_a_revision_passes(
    revision: str, modules: Path, start_program: Start, tmp_path: Path
) -> None:
    server = build_server(Settings())
    add_everything(server)
    suite = modules / SUITE
    required = yaml.safe_load((suite / "requirements" / f"{revision}.yaml").read_text("utf-8"))
    async with serving(server.streamable_http_app()) as url:
        run = await start_program(
            *(modules / ".bin" / "node", suite / "dist" / "index.js", "server", "--url", url),
            *("--requirements", revision, "-o", tmp_path),
        )
        out, _ = await run.communicate()
    said = out.decode()
    for scenario in required["server"]:
        (checks,) = tmp_path.glob(f"server-{scenario}-[0-9]*/checks.json")  # noqa: ASYNC240 - nothing else runs by now
        states = {row["id"]: row["status"] for row in json.loads(checks.read_text("utf-8"))}
        assert states, scenario
        bad = {name for name, state in states.items() if state in {"FAILURE", "WARNING"}}
        assert not bad, f"{scenario}: {bad}\n{said[-4_000:]}"
    assert run.returncode == 0, said[-4_000:]

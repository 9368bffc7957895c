"""Programs of Node that judge our server."""

import json
import os
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

Run = Callable[..., Awaitable[tuple[int, str]]]


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


@pytest.fixture(scope="session")
def node(modules: Path) -> Path:
    """The program, in the version that is pinned."""
    return modules / "node" / "bin" / ("node.exe" if os.name == "nt" else "node")


@pytest.fixture
def run_node(node: Path, start_program: Callable[..., Awaitable[Process]], tmp_path: Path) -> Run:
    """Run a script to its end; give its exit code and all that it said."""

    async def run(*arguments: str | Path) -> tuple[int, str]:
        # Some keep notes at home.
        environment = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
        process = await start_program(
            node, *arguments, env=environment, stdin=DEVNULL, stderr=STDOUT
        )
        said, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, said.decode()

    return run

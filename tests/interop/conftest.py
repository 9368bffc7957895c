"""Programs of Node that judge our server."""

import os
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

Run = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture(scope="session")
def node(node_modules: Path) -> Path:
    """The program, in the version that is pinned."""
    return node_modules / "node" / "bin" / ("node.exe" if os.name == "nt" else "node")


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

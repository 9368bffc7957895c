"""A file of constraints has names and versions, and nothing else."""

from collections.abc import Callable
from types import ModuleType

import pytest

from searx_mcp.ops.own.source import PINNED


@pytest.fixture
def script(load_script: Callable[[str], ModuleType]) -> ModuleType:
    return load_script("pin_searxng")


def test_each_package_keeps_its_version_and_its_environments(script: ModuleType):
    resolved = "anyio==4.16.0\nasync-timeout==5.0.1 ; python_full_version < '3.11.3'\n"
    assert script.constraints(resolved) == (
        f"# SearXNG {PINNED}, by scripts/pin_searxng.py\n{resolved}"
    )


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://index.example/simple",
        "anyio @ https://index.example/anyio.whl",
        "anyio==4.16.0  # from https://index.example/simple",
        "anyio>=4",
        "-e .",
    ],
)
def test_an_address_or_an_open_version_is_refused(script: ModuleType, line: str):
    with pytest.raises(SystemExit, match="not a name with a version"):
        script.constraints(f"six==1.17.0\n{line}\n")

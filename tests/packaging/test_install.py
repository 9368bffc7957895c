"""The ways to install that the README names, each from a built wheel in a local folder."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from searx_mcp import __version__

pytestmark = pytest.mark.slow

TIMEOUT = 280
_OFFLINE = ("network", "resolve", "connect", "retries", "Temporary failure", "No matching")


def run(*command: str | Path, **variables: str) -> str:
    """What a command prints; the test is skipped where no package can be downloaded."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        env={**os.environ, "PYTHONPATH": "", **variables},
    )
    if done.returncode and any(word in done.stderr for word in _OFFLINE):
        pytest.skip("no package index can be reached; connect to one")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def program(name: str) -> str:
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    found = shutil.which(name, path=places)
    if found is None:
        pytest.skip(f"{name} is missing; install it: pip install --group packaging")
    return found


def test_uvx_runs_it_and_setup_makes_the_client_do_the_same(dist: Path, tmp_path: Path):
    uvx = (program("uvx"), "--find-links", dist, "--python", sys.executable)
    assert run(*uvx, "searx-mcp", "--version") == f"searx-mcp, version {__version__}\n"
    shown = json.loads(run(*uvx, "searx-mcp", "setup", "cursor", "--print", HOME=str(tmp_path)))
    entry = shown["mcpServers"]["searx"]
    assert Path(entry["command"]).name == "uvx"
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["searx-mcp", "stdio"]


def test_setup_keeps_the_extras_that_uvx_was_given(dist: Path, tmp_path: Path):
    (wheel,) = dist.glob("*.whl")
    for spec in ("searx-mcp[pdf,socks]", f"searx-mcp[pdf,socks] @ {wheel.as_uri()}"):
        uvx = (program("uvx"), "--find-links", dist, "--python", sys.executable, "--from", spec)
        shown = json.loads(run(*uvx, "searx-mcp", "setup", "cursor", "--print", HOME=str(tmp_path)))
        assert shown["mcpServers"]["searx"]["args"] == ["--from", spec, "searx-mcp", "stdio"]


def test_pipx_installs_the_command(dist: Path, tmp_path: Path):
    folders = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    (wheel,) = dist.glob("*.whl")
    run(program("pipx"), "install", "--python", sys.executable, wheel, **folders)
    assert run(tmp_path / "bin" / "searx-mcp", "--version").endswith(f"{__version__}\n")


def test_pip_installs_it_into_a_virtual_environment(dist: Path, tmp_path: Path):
    run(sys.executable, "-m", "venv", tmp_path)
    bin_folder = tmp_path / ("Scripts" if sys.platform == "win32" else "bin")
    run(bin_folder / "python", "-m", "pip", "install", "--find-links", dist, "searx-mcp")
    shown = run(bin_folder / "searx-mcp", "setup", "zed", "--print", HOME=str(tmp_path))
    entry = json.loads(shown)["context_servers"]["searx"]
    assert entry["command"] == str(bin_folder / "searx-mcp")

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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user whose programs keep what they have downloaded."""
    return {"HOME": str(tmp_path_factory.mktemp("home"))}


@pytest.mark.parametrize("spec", ["searx-mcp", "searx-mcp[pdf,socks] @ {}"])
def test_uvx_runs_it_and_setup_makes_the_client_do_the_same(
    dist: Path, home: dict[str, str], spec: str
):
    (wheel,) = dist.glob("*.whl")
    source = () if spec == "searx-mcp" else ("--from", spec.format(wheel.as_uri()))
    uvx = (program("uvx"), "--find-links", dist, "--python", sys.executable, *source)
    entry = json.loads(run(*uvx, "searx-mcp", "setup", "cursor", "--print", **home))
    server = entry["mcpServers"]["searx"]
    assert Path(server["command"]).name == "uvx"
    assert Path(server["command"]).is_absolute()
    assert server["args"] == [*source, "searx-mcp", "stdio"]


def test_pipx_installs_the_command(dist: Path, home: dict[str, str], tmp_path: Path):
    folders = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    (wheel,) = dist.glob("*.whl")
    run(program("pipx"), "install", "--python", sys.executable, wheel, **home, **folders)
    told = run(tmp_path / "bin" / "searx-mcp", "--version")
    assert told == f"searx-mcp, version {__version__}\n"


def test_pip_installs_it_into_a_virtual_environment(
    dist: Path, home: dict[str, str], tmp_path: Path
):
    run(sys.executable, "-m", "venv", tmp_path)
    bin_folder = tmp_path / ("Scripts" if sys.platform == "win32" else "bin")
    # `uvx` and `pipx` show that what it needs is found.
    pip = (bin_folder / "python", "-m", "pip", "install", "--no-index", "--no-deps")
    run(*pip, "--find-links", dist, "searx-mcp", **home)
    packages = {"PYTHONPATH": sysconfig.get_path("purelib")}
    setup = (bin_folder / "searx-mcp", "setup", "zed", "--print")
    entry = json.loads(run(*setup, **home, **packages))["context_servers"]["searx"]
    assert entry["command"] == str(bin_folder / "searx-mcp")

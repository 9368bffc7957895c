"""The wheel, the source distribution and the bundle have what they need, and nothing else."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts import release
from searx_mcp import __version__
from searx_mcp.settings.tools import PROFILES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CLIENT = {"name": "a test", "version": "1"}


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def wheel_of(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_bundle(folder: Path) -> Path:
    script = ROOT / "scripts" / "build_bundle.py"
    subprocess.run([sys.executable, script, folder], check=True, capture_output=True, timeout=60)
    (bundle,) = folder.glob("*.mcpb")
    return bundle


@pytest.fixture(scope="module")
def packed(dist: Path) -> Path:
    return build_bundle(dist)


@pytest.fixture(scope="module")
def bundle(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, unpacked."""
    folder = tmp_path_factory.mktemp("bundle")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)  # noqa: S202 - made above
    return folder


def test_a_dry_run_of_a_release_builds_and_checks_everything(tmp_path: Path):
    if importlib.util.find_spec("twine") is None:
        pytest.skip("twine is missing; install it: pip install --group packaging")
    command = [sys.executable, str(ROOT / "scripts" / "release.py"), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    checks = dict(line.split(maxsplit=1)[::-1] for line in ran.stdout.splitlines())
    done = {name.partition(":")[0] for name, state in checks.items() if state == "ok"}
    assert done >= {"version", "wheel and source", "bundle"}
    assert {path.suffix for path in tmp_path.iterdir()} == {".whl", ".gz", ".mcpb"}


def test_a_file_with_another_version_is_no_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    found = {**release.versions(), "server.json, 1": "9.9"}
    monkeypatch.setattr(release, "versions", lambda: found)
    assert next(release.checked(tmp_path, strict=False)) == (
        "failed   version: server.json, 1 names 9.9",
        True,
    )
    del found["server.json, 1"]
    assert set(found.values()) == {__version__}
    assert len(found) == 4


def test_an_index_shows_pictures_and_links(dist: Path):
    with zipfile.ZipFile(wheel_of(dist)) as archive:
        told = archive.read(f"searx_mcp-{__version__}.dist-info/METADATA").decode()
    assert "![Terminal: searx-mcp demo" in told
    targets = re.findall(r"\]\(([^)]+)\)", told)
    assert [target for target in targets if not target.startswith("https://")] == []
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", told)
    assert pictures
    assert all(target.startswith("https://raw.") for target in pictures)
    assert {
        line.partition(",")[0] for line in told.splitlines() if line.startswith("Project-URL")
    } == {f"Project-URL: {name}" for name in ("Repository", "Documentation", "Changelog", "Issues")}


def test_the_wheel_has_the_package_and_nothing_else(dist: Path):
    found = names(wheel_of(dist))
    about = f"searx_mcp-{__version__}.dist-info"
    assert {name.split("/")[0] for name in found} == {"searx_mcp", about}
    data = {"py.typed", "instances.json", "ops/own/constraints.txt"}
    assert {f"searx_mcp/{name}" for name in data} <= found
    assert f"{about}/licenses/LICENSE" in found
    tracked = {path.relative_to(ROOT).as_posix() for path in (ROOT / "searx_mcp").rglob("*.py")}
    assert {name for name in found if name.endswith(".py")} == tracked


def test_the_source_distribution_has_what_its_tests_read_and_builds_the_same_wheel(
    dist: Path, tmp_path: Path
):
    (source,) = dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    wanted = ("server.json", "plugin/.mcp.json", "examples/agent_loop.py", "tox.ini")
    markets = (".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json")
    assert [name for name in wanted + markets if not (unpacked / name).is_file()] == []
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=unpacked, check=True, capture_output=True, timeout=120)
    assert names(wheel_of(tmp_path)) == names(wheel_of(dist))


def test_the_bundle_publishes_the_tools_of_the_default_profile_of_the_wheel_in_it(bundle: Path):
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8"))
    assert [tool["name"] for tool in manifest["tools"]] == [*PROFILES["default"]]
    assert manifest["version"] == __version__
    wheel = f"searx_mcp-{__version__}-py3-none-any.whl"
    assert f'path = "{wheel}"' in (bundle / "pyproject.toml").read_text("utf-8")
    assert (bundle / wheel).is_file()


def test_the_command_of_the_bundle_answers_over_its_standard_streams(bundle: Path):
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8"))
    config = manifest["server"]["mcp_config"]
    run, arguments = config["args"][:3], config["args"][3:]
    assert [config["command"], *run] == ["uv", "run", "--directory", "${__dirname}"]
    asked = [name for name in config["env"].values() if name.startswith("${user_config.")]
    assert asked == [f"${{user_config.{name}}}" for name in manifest["user_config"]]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    answered = subprocess.run(
        [sys.executable, *arguments],
        cwd=bundle,
        # As a host starts it, whatever the settings say of transports.
        env={**os.environ, "SEARX_MCP_SERVER__TRANSPORT": "streamable-http"},
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(answered.stdout)["result"]["serverInfo"]["version"] == __version__


def test_the_same_wheel_makes_the_same_bundle(dist: Path, packed: Path):
    before = packed.read_bytes()
    assert build_bundle(dist).read_bytes() == before
    with zipfile.ZipFile(packed) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_without_a_wheel_the_bundle_says_how_to_build_one(tmp_path: Path):
    command = [sys.executable, str(ROOT / "scripts" / "build_bundle.py"), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 1
    assert said.stderr.endswith(".whl is missing; build it: python -m build\n")

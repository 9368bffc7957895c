"""Finding the list of instances in a wheel, beside an editable install, and at a given path."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.search.background.catalog_file import read_bundled, read_catalog

ROOT = Path(__file__).resolve().parents[3]
SHOW_BUNDLED = """
import searx_mcp
from searx_mcp.search.background.catalog_file import read_bundled
print(searx_mcp.__file__)
print(read_bundled())
"""


def test_the_bundled_list_is_the_one_of_the_repository() -> None:
    assert read_bundled() == (ROOT / "instances.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "place", ["site/searx_mcp/instances.json", "site/instances.json"], ids=["wheel", "editable"]
)
def test_the_bundled_list_is_found_in_and_beside_the_package(place: str, tmp_path: Path) -> None:
    package = tmp_path / "site" / "searx_mcp"
    package.mkdir(parents=True)
    (tmp_path / place).write_text("the list", encoding="utf-8")

    assert read_bundled(package) == "the list"


@pytest.mark.slow
def test_a_built_wheel_carries_the_list(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)

    found = subprocess.run(
        [sys.executable, "-P", "-c", SHOW_BUNDLED],
        env=os.environ | {"PYTHONPATH": str(site)},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    ).stdout

    package, text = found.split("\n", 1)
    assert Path(package).is_relative_to(site)
    assert text.strip() == (ROOT / "instances.json").read_text(encoding="utf-8").strip()


def test_an_installation_without_the_list_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="missing from this installation"):
        read_bundled(tmp_path / "searx_mcp")


def test_a_configured_list_is_read(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text("grüße", encoding="utf-8")

    assert read_catalog(str(file)) == "grüße"


def test_a_configured_list_may_lie_in_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "list.json").write_text("{}", encoding="utf-8")

    assert read_catalog("~/list.json") == "{}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("missing.json", "No such file", id="missing"),
        pytest.param("folder", "directory", id="a-folder"),
        pytest.param("latin1.json", "not UTF-8", id="not-utf-8"),
        pytest.param("nul\0.json", "not a usable path", id="nul-in-the-name"),
    ],
)
def test_an_unreadable_configured_list_is_refused_in_a_sentence(
    name: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin1.json").write_bytes("grüße".encode("latin-1"))

    with pytest.raises(SettingsError) as caught:
        read_catalog(str(tmp_path / name))

    assert caught.value.field == "instances.catalog"
    assert reason in caught.value.message

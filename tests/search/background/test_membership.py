"""Who belongs to the pool: settings, choices and the list."""

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.models.instance import Catalog, CatalogEntry, Choice
from searx_mcp.pool.catalog import gate
from searx_mcp.pool.config import InstancesConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.membership import PoolMembership, read_bundled, read_catalog

LISTED = ("https://a.example/", "https://b.example/")
MINE = "http://10.0.0.1/"
ADDED = "http://10.0.0.2/"


def catalog_of(*urls: str) -> Catalog:
    return Catalog.model_validate(
        {
            "listed_at": "2026-08-05T00:00:00Z",
            "instances": [CatalogEntry(url=url, tls_grade="A") for url in urls],
        }
    )


class Table:
    """A membership with its pool, and what the session for own instances was told."""

    def __init__(self, choices=None, **instances) -> None:
        self.pool = InstancePool(rng=random.Random(1))
        self.told: list[tuple[str, ...]] = []
        self.membership = PoolMembership(
            self.pool,
            instances=InstancesConfig(**instances),
            catalog=catalog_of(*LISTED),
            choices=choices or {},
            admit=lambda catalog, blocked: gate(catalog, min_grade="B", blocked=blocked),
            admit_own=lambda own: self.told.append(tuple(own)),
        )

    @property
    def urls(self) -> set[str]:
        return {row.url for row in self.pool.snapshot(0.0)}


def test_without_an_own_instance_the_list_is_asked():
    assert Table().urls == set(LISTED)


@pytest.mark.parametrize(
    ("public", "own", "choices", "expected"),
    [
        ("auto", [MINE], {}, {MINE}),
        ("auto", [], {Choice.OWN: [ADDED]}, {ADDED}),
        ("auto", [MINE], {Choice.OWN: [ADDED]}, {MINE, ADDED}),
        ("on", [MINE], {Choice.OWN: [ADDED]}, {MINE, ADDED, *LISTED}),
        ("off", [], {}, set()),
        ("off", [], {Choice.OWN: [ADDED]}, {ADDED}),
    ],
    ids=["setting", "choice", "both", "on", "off", "off, choice"],
)
def test_public_instances_are_asked_as_both_sources_of_own_ones_say(public, own, choices, expected):
    assert Table(choices, public=PublicInstances(public), own=tuple(own)).urls == expected


def test_what_is_blocked_leaves_and_what_is_unblocked_comes_back_from_the_list():
    it = Table(blocked=("b.example",))
    assert it.urls == {LISTED[0]}
    it.membership.choose({Choice.BLOCKED: ["a.example"]})
    assert it.urls == set()
    it.membership.choose({})
    assert it.urls == {LISTED[0]}


def test_the_session_is_told_of_own_instances_when_they_change():
    it = Table(own=(MINE,))
    it.membership.choose({Choice.OWN: [ADDED]})
    it.membership.choose({Choice.OWN: [ADDED]})
    it.membership.choose({})
    assert it.told == [(MINE,), (MINE, ADDED), (MINE,)]


def test_a_list_that_comes_while_public_instances_are_off_is_there_when_they_come_back():
    it = Table({Choice.OWN: [ADDED]})
    it.membership.relist(catalog_of("https://c.example/"))
    assert it.urls == {ADDED}
    assert it.membership.catalog is None
    it.membership.choose({})
    assert it.urls == {"https://c.example/"}
    assert it.membership.catalog is not None


@pytest.mark.parametrize("odd", ["", "search", "https://user@x.example/", "ftp://x/", "https://x"])
def test_a_choice_that_is_no_base_url_is_passed_over(odd):
    it = Table({Choice.OWN: [odd]})
    assert it.urls == set(LISTED)
    assert it.membership.own == ()


ROOT = Path(__file__).resolve().parents[3]
SHOW_BUNDLED = """
import searx_mcp
from searx_mcp.search.background.membership import read_bundled
print(searx_mcp.__file__)
print(read_bundled())
"""


def test_the_bundled_list_is_the_one_of_the_repository():
    assert read_bundled() == (ROOT / "instances.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "place", ["site/searx_mcp/instances.json", "site/instances.json"], ids=["wheel", "editable"]
)
def test_the_bundled_list_is_found_in_and_beside_the_package(place, tmp_path):
    package = tmp_path / "site" / "searx_mcp"
    package.mkdir(parents=True)
    (tmp_path / place).write_text("the list", encoding="utf-8")

    assert read_bundled(package) == "the list"


@pytest.mark.slow
def test_a_built_wheel_carries_the_list(tmp_path):
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


def test_an_installation_without_the_list_says_so(tmp_path):
    with pytest.raises(SettingsError, match="missing from this installation"):
        read_bundled(tmp_path / "searx_mcp")


def test_a_configured_list_is_read(tmp_path):
    file = tmp_path / "list.json"
    file.write_text("grüße", encoding="utf-8")

    assert read_catalog(str(file)) == "grüße"


def test_a_configured_list_may_lie_in_the_home_directory(tmp_path, monkeypatch):
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
def test_an_unreadable_configured_list_is_refused_in_a_sentence(name, reason, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin1.json").write_bytes("grüße".encode("latin-1"))

    with pytest.raises(SettingsError) as caught:
        read_catalog(str(tmp_path / name))

    assert caught.value.field == "instances.catalog"
    assert reason in caught.value.message

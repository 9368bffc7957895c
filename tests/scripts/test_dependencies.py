"""The default installation stays small, has what it imports, and is looked up among vulnerabilities."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST_PACKAGES = 55
MOST_MEGABYTES = 80
FLOORS = {"typing-extensions", "aiohappyeyeballs", "soupsieve"}
"""Named for another reason than an import of the package."""


@pytest.fixture(scope="session")
def dependencies(load_script: Callable[[str], ModuleType]) -> ModuleType:
    return load_script("dependencies")


def named(lines: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in lines}


IMPORT = re.compile(r"^ *(?:from (\w+)[\w.]* import |import (\w+))", re.MULTILINE)


@cache
def modules_of(path: Path) -> set[str]:
    """The top names of the modules that a file imports; reading all as Python takes half a minute."""
    return {name for names in IMPORT.findall(path.read_text("utf-8")) for name in names if name}


known_distributions = cache(packages_distributions)
"""Reading all that is installed takes half a second."""


def imported(folder: str = "searx_mcp") -> list[set[str]]:
    """The distributions that have each module that a folder imports; several of a namespace."""
    modules = set().union(*map(modules_of, (ROOT / folder).rglob("*.py")))
    known = known_distributions()
    return [{canonicalize_name(name) for name in known[each]} for each in modules if each in known]


def test_the_default_installation_has_few_packages(dependencies: ModuleType):
    found = dependencies.installed("searx-mcp")
    assert len(found) <= MOST_PACKAGES, sorted(found)


@pytest.mark.skipif(sys.platform != "linux", reason="sizes are those of the wheels for Linux")
def test_the_default_installation_is_small(dependencies: ModuleType):
    found = dependencies.installed("searx-mcp").values()
    assert sum(map(dependencies.size, found)) <= MOST_MEGABYTES * 1_000_000


def test_every_dependency_is_imported():
    assert named(PROJECT["dependencies"]) - FLOORS - set().union(*imported()) == set()


def test_everything_imported_is_a_dependency_or_belongs_to_an_extra():
    extras = {name for lines in PROJECT["optional-dependencies"].values() for name in named(lines)}
    known = {"searx-mcp"} | named(PROJECT["dependencies"]) | extras
    assert [names for names in imported() if not names & known] == []


def test_what_an_extra_brings_is_not_in_the_default_installation(dependencies: ModuleType):
    default = dependencies.installed("searx-mcp")
    extras = {name for lines in PROJECT["optional-dependencies"].values() for name in named(lines)}
    assert extras & default.keys() == set()


NAMED = {
    *("mcp", "aiohttp", "markdownify", "selectolax", "fake-useragent"),
    *("cachetools", "apscheduler", "pydantic", "pytest", "aioresponses"),
}


def told() -> dict[str, tuple[str, set[str]]]:
    """What the page says: where each package is declared, and which folders import it."""
    page = (ROOT / "docs" / "decisions" / "dependencies.md").read_text("utf-8")
    table = page.partition("## The ten that the owner named")[2]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    return {
        name.strip(" `"): (where.strip(), set(re.findall(r"`([^`]+)`", folders)))
        for name, where, folders in rows
    }


def test_each_package_that_the_owner_named_is_used_where_the_page_says():
    places = {each.name: f"searx_mcp/{each.name}" for each in (ROOT / "searx_mcp").iterdir()}
    found = {name: set().union(*imported(path)) for name, path in places.items()}
    of_tests = set().union(*imported("tests"))
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    group = named([each for each in whole["dependency-groups"]["tests"] if isinstance(each, str)])
    known = told()
    assert known.keys() == NAMED
    for name, (where, folders) in known.items():
        if where == "dependencies":
            assert name in named(PROJECT["dependencies"])
            assert folders == {each for each, packages in found.items() if name in packages}
        else:
            assert (where, folders) == ("group `tests`", {"tests"})
            assert name in group
            assert name in of_tests


def answer(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


CLEAN = {"name": "click", "version": "8.1", "vulns": []}
BROKEN = {**CLEAN, "vulns": [{"id": "CVE-1", "fix_versions": ["8.2"], "aliases": []}]}
UNFIXED = {**CLEAN, "vulns": [{"id": "CVE-2", "fix_versions": [], "aliases": []}]}
UNKNOWN = {"name": "idna", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("said", "code", "expected"),
    [
        ("", 0, "skipped: no source"),
        ("Traceback", 0, "skipped: no source"),
        (answer(UNKNOWN), 0, "skipped: no source"),  # an index that has no advisories
        (answer(CLEAN), 0, "1 packages looked up; not known: none"),
        (answer(CLEAN, UNKNOWN), 0, "1 packages looked up; not known: idna"),
        (answer(BROKEN, UNKNOWN), 1, "click 8.1: CVE-1, fixed in 8.2\n"),
        (answer(UNFIXED), 1, "click 8.1: CVE-2, fixed in no version\n"),
    ],
)
def test_the_audit_fails_for_a_known_vulnerability_alone(
    dependencies: ModuleType, said: str, code: int, expected: str
):
    found, text = dependencies.verdict(said)
    assert found == code
    assert text.startswith(expected)


@pytest.mark.slow
def test_the_table_ends_with_the_total():
    command = [sys.executable, str(ROOT / "scripts" / "dependencies.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "  lxml\n" in ran.stdout
    assert ran.stdout.rstrip().endswith(" packages")

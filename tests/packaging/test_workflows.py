"""The workflows fit the project, and trust nobody more than they need to."""

import re
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
if not FOLDER.is_dir():
    pytest.skip("no workflows in a source distribution", allow_module_level=True)
TEXTS = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.yml")}
WORKFLOWS: dict[str, Any] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = {
    f"{name}:{job}": content
    for name, workflow in WORKFLOWS.items()
    for job, content in workflow["jobs"].items()
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(name: str):
    used = re.findall(r"uses: (.+)", TEXTS[name])
    assert used
    assert [
        line for line in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)
    ] == []


def test_one_action_has_one_commit():
    pins = {
        tuple(line.split("@"))
        for text in TEXTS.values()
        for line in re.findall(r"uses: (.+)", text)
    }
    assert len(pins) == len({action for action, _ in pins})


def test_a_job_ends_stores_no_secret_and_may_do_only_what_it_names():
    assert [name for name, job in JOBS.items() if "timeout-minutes" not in job] == []
    assert [name for name, text in TEXTS.items() if "secrets." in text] == []
    assert [workflow["permissions"] for workflow in WORKFLOWS.values()] == [{}, {}]
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "test.yml:gates": {"contents": "read"},
        "test.yml:systems": {"contents": "read"},
        "release.yml:build": {"contents": "read"},
        "release.yml:publish": {"id-token": "write"},
        "release.yml:release": {"contents": "write"},
    }


def test_a_release_is_approved_and_follows_a_tag():
    assert JOBS["release.yml:publish"]["environment"] == "release"
    assert WORKFLOWS["release.yml"][True] == {"push": {"tags": ["v*"]}}  # YAML reads `on` so


def test_the_tests_run_on_every_python_and_system_that_is_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    matrix = JOBS["test.yml:systems"]["strategy"]["matrix"]
    promised = {
        line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python :: 3." in line
    }
    assert {f"3.{minor}" for minor in matrix["minor"]} == promised
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_the_workflows_and_gates_use_files_and_environments_that_there_are():
    tox = ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", "utf-8")
    assert "testenv:py31{1,2,3}" in tox.sections()
    assert "tox run -e py3${{ matrix.minor }}" in TEXTS["test.yml"]
    label, _, paired = tox["tox"]["labels"].partition(" = ")
    assert re.search(f" -m {label} .* -e tests ", (ROOT / ".ci/run").read_text(), re.DOTALL)
    assert {*paired.split(", "), "tests"} == {*tox["tox"]["env_list"].split(", "), "audit"}
    for script in re.findall(r"run: .*?((?:\.ci|scripts)/[\w.]+)", "".join(TEXTS.values())):
        assert (ROOT / script).is_file(), script

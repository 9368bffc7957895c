"""What is said of this machine, and of the instance that was made here."""

import json
import shutil
from datetime import datetime
from types import SimpleNamespace

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier
from searx_mcp.models.own_instance import Installed
from searx_mcp.ops.doctor import machine
from searx_mcp.ops.doctor.checks import CheckStatus
from searx_mcp.ops.doctor.machine import (
    Native,
    check_clock,
    check_configuration,
    check_data_folder,
    check_providers,
    in_container,
    misconfigured,
    native_instance,
)
from searx_mcp.ops.own.installation import NativeFolder, kept_engines, native_settings
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.sources.open.config import ProvidersConfig

PROVIDERS = ProvidersConfig.model_validate(
    {"google": {"key": "k", "search_engine_id": "i"}, "brave": {"key": "k"}}
)


@pytest.mark.parametrize(
    ("origins", "said"),
    [
        ({"a.b": "default"}, "All settings are at their defaults."),
        ({"a.b": "file /x", "c.d": "default"}, "1 setting from file /x."),
        (
            {"a.b": "file /x", "c.d": "environment Y", "e.f": "file /x"},
            "3 settings from environment Y, file /x.",
        ),
    ],
    ids=["none", "one", "several"],
)
def test_settings_that_can_be_read_are_counted_by_origin(origins, said):
    assert check_configuration(origins).detail == said


@pytest.mark.parametrize(
    ("error", "said", "fix"),
    [
        (
            SettingsError("a.b", "is not a setting", origin="file /x/y.toml"),
            "A.b (from file /x/y.toml): is not a setting.",
            "Correct or remove a.b in /x/y.toml.",
        ),
        (
            SettingsError("a.b", "is wrong", origin="environment A_B"),
            "A.b (from environment A_B): is wrong.",
            "Correct or remove a.b in environment A_B.",
        ),
        (SettingsError("a.b", "is wrong", advice="Do this."), "A.b: is wrong.", "Do this."),
        (
            SettingsError("a.b", "is wrong"),
            "A.b: is wrong.",
            "Correct or remove a.b in the configuration.",
        ),
    ],
    ids=["file", "environment", "advice", "unknown"],
)
def test_a_wrong_setting_is_named_with_its_place(error, said, fix):
    found = misconfigured(error)
    assert (found.status, found.detail, found.fix) == (CheckStatus.FAILED, said, fix)


def test_a_folder_that_can_be_written_or_none_is_fine(tmp_path):
    found = check_data_folder(tmp_path, "")
    assert found.status is check_data_folder(None, "").status is CheckStatus.OK
    assert f"{tmp_path} can be written" in found.detail


def test_what_the_store_says_comes_first(tmp_path):
    problem = "Budgets last only as long as this process: the disk is full. Make room, then start."
    found = check_data_folder(tmp_path, problem)
    assert found.status is CheckStatus.FAILED
    assert found.detail == "Budgets last only as long as this process: the disk is full."
    assert found.fix == "Make room, then start."


def test_a_missing_folder_and_one_on_the_network_are_told(tmp_path, monkeypatch):
    missing = check_data_folder(tmp_path / "gone", "")
    monkeypatch.setattr(machine, "network_filesystem", lambda _folder: "nfs4")
    remote = check_data_folder(tmp_path, "")
    assert missing.status is remote.status is CheckStatus.FAILED
    assert missing.fix.splitlines()[1].startswith("mkdir -p ")
    assert "(nfs4)" in remote.detail
    assert "[storage]\nfolder = " in remote.fix


def test_little_space_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=2_000_000))
    found = check_data_folder(tmp_path, "")
    assert (found.status, found.detail) == (
        CheckStatus.WARNING,
        f"The disk of {tmp_path} has 2 MB left.",
    )


@pytest.mark.parametrize(
    ("offsets", "status", "said"),
    [
        ({}, CheckStatus.SKIPPED, "No server answered with a date."),
        ({"a": 300.0}, CheckStatus.OK, "It agrees with that of a."),
        ({"a": -300.0, "b": 9_000.0}, CheckStatus.OK, "It agrees with that of a."),
        ({"a": 7_200.0}, CheckStatus.WARNING, "It is 120 minutes behind that of a."),
        ({"a": -360.0}, CheckStatus.WARNING, "It is 6 minutes ahead of that of a."),
    ],
    ids=["unknown", "agrees", "one agrees", "behind", "ahead"],
)
def test_the_clock_is_compared_with_the_nearest_of_others(offsets, status, said):
    found = check_clock(offsets)
    assert (found.status, found.detail) == (status, said)
    assert bool(found.fix) is (status is CheckStatus.WARNING)


@pytest.mark.parametrize("sign", [".dockerenv", "run/.containerenv", ""])
def test_a_container_is_known_by_its_file(tmp_path, sign):
    if sign:
        (tmp_path / sign).parent.mkdir(exist_ok=True)
        (tmp_path / sign).touch()
    assert in_container(tmp_path) is bool(sign)


DAY = 86_400
SETTINGS = native_settings("ab" * 32)
KEPT = kept_engines(SETTINGS)
INSTALLED = Installed(
    folder="x", version="2026.8.22+9fea41204", commit="", tree="", released_at=0.0, port=8888
)


def config(*names: str) -> str:
    return json.dumps({"engines": [{"name": name, "categories": ["general"]} for name in names]})


@pytest.mark.parametrize(
    ("listed", "days", "status", "words"),
    [
        (config(*KEPT), 60, CheckStatus.OK, "60 days old and has every engine"),
        (config(*KEPT), 61, CheckStatus.WARNING, "61 days old; engines must keep up"),
        (config(*KEPT[1:]), 1, CheckStatus.WARNING, f"settings are missing: {KEPT[0]}."),
        (config(KEPT[0]), 1, CheckStatus.WARNING, f"and {len(KEPT) - 7} more."),
        ("", 1, CheckStatus.SKIPPED, "does not list"),
    ],
)
def test_its_age_and_its_engines_are_looked_at(listed, days, status, words):
    native = Native(INSTALLED, SETTINGS, is_running=True)
    found = native.check_version(listed, days * DAY + 1.0)
    assert found.status is status
    assert words in found.detail
    assert ("own update" in found.fix) is (status is CheckStatus.WARNING)


@pytest.mark.parametrize(
    ("is_running", "status"), [(True, CheckStatus.OK), (False, CheckStatus.WARNING)]
)
def test_whether_it_runs_is_said(is_running, status):
    found = Native(INSTALLED, SETTINGS, is_running=is_running).check_process()
    assert found.status is status
    assert ("instances own up" in found.fix) is not is_running


def test_it_is_known_by_its_folder(tmp_path):
    assert native_instance(None) is None
    assert native_instance(tmp_path) is None
    files = NativeFolder(tmp_path / NATIVE_FOLDER)
    files.prepare("")
    files.switch(INSTALLED)
    found = native_instance(tmp_path)
    assert found is not None
    assert (found.installed, found.is_running) == (INSTALLED, False)
    assert kept_engines(found.settings) == KEPT


def keyed(source: str, **known) -> InstanceReport:
    row = {"tier": Tier.KEYED, "grade": None, "state": InstanceState.NEW, "score": 1, **known}
    return InstanceReport.model_validate(
        {"url": f"https://{source}.example/", "source": source, **row}
    )


@pytest.mark.parametrize(
    ("rows", "date", "status", "said"),
    [
        (
            [keyed("google", budget_left=7), keyed("brave", budget_left=0, retry_after=90)],
            "2026-12-31T23:59:59+00:00",
            CheckStatus.OK,
            "google has a key, 7 requests left; brave has a key, and its budget is spent.",
        ),
        (
            [keyed("brave", budget_left=9, retry_after=3_000)],
            "2026-12-31T23:59:59+00:00",
            CheckStatus.WARNING,
            "brave has a key, 9 requests left. In cooldown: https://brave.example/",
        ),
        (
            [keyed("google", budget_left=7)],
            "2027-01-01T00:00:00+00:00",
            CheckStatus.WARNING,
            "google has a key, 7 requests left. Google ended its API on 2027-01-01.",
        ),
    ],
    ids=["well or spent", "resting", "ended"],
)
def test_keyed_providers_are_judged_by_what_is_known_of_them(rows, date, status, said):
    finding = check_providers(PROVIDERS, rows, datetime.fromisoformat(date).timestamp())
    assert finding is not None
    assert (finding.status, finding.detail) == (status, said)
    assert bool(finding.fix) is (status is CheckStatus.WARNING)

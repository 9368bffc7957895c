"""What is said of this machine."""

import shutil
from types import SimpleNamespace

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.models.diagnosis import CheckStatus
from searx_mcp.ops.doctor import doctor as machine
from searx_mcp.ops.doctor.doctor import (
    check_clock,
    check_configuration,
    check_data_folder,
    in_container,
    misconfigured,
)


@pytest.mark.parametrize(
    ("origins", "said"),
    [
        ({"a.b": "default"}, "No setting differs from its default."),
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


def test_a_folder_that_can_be_written_is_fine(tmp_path):
    found = check_data_folder(tmp_path, "")
    assert found.status is CheckStatus.OK
    assert f"{tmp_path} can be written" in found.detail


def test_no_folder_is_fine():
    assert check_data_folder(None, "").status is CheckStatus.OK


def test_what_the_store_says_comes_first(tmp_path):
    problem = "Budgets last only as long as this process: the disk is full. Make room, then start."
    found = check_data_folder(tmp_path, problem)
    assert found.status is CheckStatus.FAILED
    assert found.detail == "Budgets last only as long as this process: the disk is full."
    assert found.fix == "Make room, then start."


def test_a_missing_folder_is_told(tmp_path):
    found = check_data_folder(tmp_path / "gone", "")
    assert found.status is CheckStatus.FAILED
    assert found.fix.splitlines()[1].startswith("mkdir -p ")


def test_a_folder_on_the_network_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "network_filesystem", lambda _folder: "nfs4")
    found = check_data_folder(tmp_path, "")
    assert found.status is CheckStatus.FAILED
    assert "(nfs4)" in found.detail
    assert "[storage]\nfolder = " in found.fix


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
        ({}, CheckStatus.SKIPPED, "Nobody answered with a date."),
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

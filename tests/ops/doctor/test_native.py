"""What the doctor says of the instance that `instances own up` made."""

import json

import pytest

from searx_mcp.models.diagnosis import CheckStatus
from searx_mcp.models.own_instance import Installed
from searx_mcp.ops.doctor.native import Native, native_instance
from searx_mcp.ops.own.installation import FOLDER_NAME, NativeFolder
from searx_mcp.ops.own.settings_file import kept_engines, native_settings

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
        (config(*KEPT), 61, CheckStatus.WARNING, "61 days old; engines follow"),
        (config(*KEPT[1:]), 1, CheckStatus.WARNING, f"settings keep: {KEPT[0]}."),
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
    files = NativeFolder(tmp_path / FOLDER_NAME)
    files.prepare("")
    files.switch(INSTALLED)
    found = native_instance(tmp_path)
    assert found is not None
    assert (found.installed, found.is_running) == (INSTALLED, False)
    assert kept_engines(found.settings) == KEPT

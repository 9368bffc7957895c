from pathlib import Path

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.fetch.browser.renderer import check_support, find_program


def program(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(0o755)
    return path


def test_a_configured_program_is_taken(tmp_path):
    mine = program(tmp_path, "mine")
    assert find_program(str(mine), path="") == mine


def test_a_configured_program_must_be_there(tmp_path):
    with pytest.raises(SettingsError, match=r"fetch\.browser_path") as caught:
        find_program(str(tmp_path / "gone"), path="")
    assert "gone" not in str(caught.value)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "msedge"])
def test_the_systems_browser_is_found_by_any_of_its_names(tmp_path, name):
    found = program(tmp_path, name)
    assert find_program("", path=str(tmp_path), platform="linux") == found


def test_chromium_is_preferred(tmp_path):
    program(tmp_path, "google-chrome")
    chromium = program(tmp_path, "chromium")
    assert find_program("", path=str(tmp_path)) == chromium


def test_what_is_missing_is_named_with_the_setting_and_the_package(tmp_path):
    with pytest.raises(SettingsError, match=r"fetch\.browser_path") as caught:
        find_program("", path=str(tmp_path), platform="linux")
    assert "apt-get install chromium" in caught.value.advice


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    check_support()
    monkeypatch.setattr("searx_mcp.fetch.browser.renderer.find_spec", lambda name: None)
    with pytest.raises(SettingsError) as caught:
        check_support()
    assert "pip install 'searx-mcp[browser]'" in caught.value.advice

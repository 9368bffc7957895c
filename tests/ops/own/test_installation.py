"""What is on disk of an own instance."""

import stat
from pathlib import Path

import pytest
import yaml

from searx_mcp.errors import SettingsError
from searx_mcp.ops.own.installation import ContainerFolder

URL = "http://127.0.0.1:8888/"


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nobody_else_gets_to_the_settings_and_any_user_inside_reads_them(tmp_path):
    state = tmp_path / "state"
    secrets = set()
    for name in ("one", "other"):
        folder = ContainerFolder(state / name)
        settings = folder.prepare(URL)
        assert settings == folder.settings == state / name / "settings.yml"
        assert (mode(state), mode(settings.parent), mode(settings)) == (0o700, 0o700, 0o644)
        secrets.add(yaml.safe_load(settings.read_text())["server"]["secret_key"])
    assert [len(secret) for secret in secrets] == [64, 64]


def test_a_folder_that_was_open_to_others_is_closed(tmp_path):
    path = tmp_path / "own"
    path.mkdir(mode=0o755)
    ContainerFolder(path).prepare(URL)
    assert mode(path) == 0o700


def test_settings_that_are_there_stay_as_they_are(tmp_path):
    folder = ContainerFolder(tmp_path)
    folder.prepare(URL).write_text("mine: true\n")
    assert folder.prepare("http://127.0.0.1:9999/").read_text() == "mine: true\n"
    assert folder.url == "http://127.0.0.1:9999/"


def test_nothing_is_there_before_and_after(tmp_path):
    folder = ContainerFolder(tmp_path / "own")
    assert (folder.settings, folder.url) == (None, None)
    folder.forget(keep_settings=False)
    folder.prepare(URL)
    folder.forget(keep_settings=True)
    assert folder.url is None
    assert folder.settings is not None
    folder.forget(keep_settings=False)
    assert not (tmp_path / "own").exists()


@pytest.mark.parametrize("text", ["", "nonsense", "\xff"], ids=["empty", "nonsense", "bytes"])
def test_an_address_that_cannot_be_read_is_none(tmp_path, text):
    folder = ContainerFolder(tmp_path)
    folder.prepare(URL)
    (tmp_path / "url").write_text(text, encoding="latin-1")
    assert folder.url is None


def test_a_folder_that_cannot_be_made_is_a_setting_to_correct(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"storage\.folder") as caught:
        ContainerFolder(tmp_path / "file").prepare(URL)
    assert str(tmp_path / "file") in caught.value.message


def test_a_relative_folder_is_made_absolute_for_the_engine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ContainerFolder(Path("own")).prepare(URL) == tmp_path / "own" / "settings.yml"

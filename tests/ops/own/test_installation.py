"""What is on disk of an own instance, and how its environment is made."""

import stat
from pathlib import Path

import pytest
import yaml

from searx_mcp.errors import SettingsError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.installation import ContainerFolder, failure, installer, variables
from searx_mcp.ops.own.programs import Finished


@pytest.mark.parametrize(
    ("said", "reason", "words"),
    [
        ("OSError: [Errno 28] No space left on device", NativeFailure.DISK_FULL, "150 MB"),
        ("error: No space left on device (os error 28)", NativeFailure.DISK_FULL, "150 MB"),
        ("ensurepip is not available", NativeFailure.NO_VENV, "python3.12-venv"),
        ("/usr/bin/python3: No module named venv", NativeFailure.NO_VENV, "uv"),
        ("/x/bin/python: No module named pip", NativeFailure.NO_VENV, "uv"),
        ("ERROR: Package 'x' requires a different Python", NativeFailure.PYTHON_TOO_OLD, "newer"),
        ("ConnectTimeoutError: connection to x timed out", NativeFailure.NO_NETWORK, "proxy"),
        ("Temporary failure in name resolution", NativeFailure.NO_NETWORK, "network"),
        ("dns error: failed to lookup address", NativeFailure.NO_NETWORK, "index"),
        ("SSLError(SSLCertVerificationError)", NativeFailure.NO_NETWORK, "proxy"),
        ("ERROR: No matching distribution found for lxml", NativeFailure.INSTALL_FAILED, "engine"),
        ("", NativeFailure.INSTALL_FAILED, "engine"),
    ],
)
def test_what_an_installer_says_has_its_remedy(said, reason, words):
    error = failure(Finished(1, "", said), version=(3, 12))
    assert error.reason is reason
    assert words in error.advice


def test_the_last_lines_of_an_installer_are_shown_without_control_characters():
    error = failure(Finished(1, "", "a\n\n\x1b[31mERROR: b"), version=(3, 12))
    assert error.log == ("a", "ERROR: b")


@pytest.fixture
def uv(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("searx_mcp.ops.own.installation._PIP_FILES", ("~/.config/pip/pip.conf",))
    program = tmp_path / "uv"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("environ", "is_uv"),
    [
        ({}, True),
        ({"PIP_INDEX_URL": "https://index.example/simple"}, False),
        ({"PIP_CONFIG_FILE": "/etc/other.conf"}, False),
        ({"PIP_INDEX_URL": "https://index.example", "UV_INDEX_URL": "https://index.example"}, True),
        ({"UV_DEFAULT_INDEX": "https://index.example"}, True),
    ],
)
def test_the_installer_is_the_one_whose_index_the_user_has_set(uv, environ, is_uv):
    found = installer({"PATH": str(uv.parent), **environ})
    assert found == (str(uv) if is_uv else None)


def test_a_configuration_file_of_pip_alone_or_no_uv_means_pip(uv):
    file = uv.parent / ".config" / "pip" / "pip.conf"
    file.parent.mkdir(parents=True)
    assert installer({"PATH": str(file.parent)}) is None
    file.write_text("[global]\nindex-url = https://index.example/simple\n")
    assert installer({"PATH": str(uv.parent)}) is None


def test_the_proxy_and_the_authorities_of_the_settings_reach_the_installer():
    network = NetworkConfig.model_validate(
        {"proxy": "http://me:p%40ss@proxy.example:3128", "ca_file": "/ca.pem"}
    )
    found = variables({"PATH": "/bin"}, network)
    assert found == {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://me:p%40ss@proxy.example:3128",
        "https_proxy": "http://me:p%40ss@proxy.example:3128",
        "PIP_CERT": "/ca.pem",
        "SSL_CERT_FILE": "/ca.pem",
    }


def test_what_the_user_has_set_for_installers_holds_and_what_leads_elsewhere_does_not():
    kept = {"HTTPS_PROXY": "http://theirs:1", "PIP_INDEX_URL": "https://index.example"}
    stray = {"PYTHONPATH": "/x", "PIP_TARGET": "/x", "PIP_USER": "1", "VIRTUAL_ENV": "/x"}
    network = NetworkConfig.model_validate({"proxy": "http://ours:2"})
    assert variables(kept | stray, network) == kept


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

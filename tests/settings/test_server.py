"""Settings of the thin client, and the files of variables that may name them."""

from pathlib import Path

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import load

KEY = "k-0123456789abcdef"


def read(folder: Path, **environment: str) -> dict[str, object]:
    config = folder / "searx-mcp.toml"
    config.touch()
    loaded = load(path=config, environ=environment)
    remote = loaded.settings.remote
    return {**remote.model_dump(), "key": remote.key.get_secret_value()}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"SEARX_MCP_REMOTE_URL": "https://s.example", "SEARX_MCP_REMOTE_KEY": KEY},
            {"url": "https://s.example/", "key": KEY, "timeout": 60.0},
        ),
        (
            {
                "ENRIPROXY_URL": "http://127.0.0.1:8787",
                "ENRIPROXY_API_KEY": f"{KEY}\n",
                "ENRIWEB_TIMEOUT_MS": " 1500 ",
            },
            {"url": "http://127.0.0.1:8787/", "key": KEY, "timeout": 1.5},
        ),
        (
            {"SEARX_MCP_REMOTE_URL": "https://s.example/", "ENRIPROXY_URL": "https://e.example/"},
            {"url": "https://s.example/"},
        ),
        (
            {"SEARX_MCP_REMOTE__URL": "https://s.example/a", "ENRIWEB_TIMEOUT_MS": " "},
            {"url": "https://s.example/a/"},
        ),
        (
            {
                "SEARX_MCP_REMOTE_URL": "http://10.0.0.7/",
                "SEARX_MCP_REMOTE_KEY": KEY,
                "SEARX_MCP_REMOTE__ALLOW_PLAIN_HTTP": "true",
            },
            {"url": "http://10.0.0.7/", "key": KEY},
        ),
        ({"SEARX_MCP_REMOTE_URL": "http://10.0.0.7/"}, {"url": "http://10.0.0.7/", "key": ""}),
        (
            {"SEARX_MCP_REMOTE_URL": "http://[::1]:8765/", "SEARX_MCP_REMOTE_KEY": KEY},
            {"key": KEY},
        ),
        ({}, {"url": "", "key": "", "timeout": 60.0}),
    ],
)
def test_each_name_of_a_setting_is_understood(
    environment: dict[str, str], expected: dict[str, object], tmp_path: Path
) -> None:
    assert expected.items() <= read(tmp_path, **environment).items()


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"SEARX_MCP_REMOTE_URL": "s.example"}, "remote.url"),
        ({"SEARX_MCP_REMOTE_URL": "ftp://s.example"}, "remote.url"),
        ({"SEARX_MCP_REMOTE_URL": f"https://u:{KEY}@s.example/"}, "user name or password"),
        ({"SEARX_MCP_REMOTE_KEY": f"{KEY} and more"}, "remote.key"),
        (
            {"SEARX_MCP_REMOTE_URL": "http://s.example/", "SEARX_MCP_REMOTE_KEY": KEY},
            "plain http would expose the key; use https",
        ),
        (
            {"SEARX_MCP_REMOTE_URL": "http://10.0.0.7/", "SEARX_MCP_REMOTE_KEY": KEY},
            "plain http would expose the key; use https",
        ),
        ({"ENRIWEB_TIMEOUT_MS": "0"}, "remote.timeout"),
        ({"ENRIWEB_TIMEOUT_MS": "soon"}, "remote.timeout"),
        ({"ENRIWEB_TIMEOUT_MS": "60.5"}, "'60.5 ms' is not a number"),
        ({"ENRIWEB_TIMEOUT_MS": "3e2"}, "'3e2 ms' is not a number"),
    ],
)
def test_a_wrong_value_is_told_and_the_key_is_not(
    environment: dict[str, str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, **environment)
    assert words in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_named_file_of_variables_is_read_and_the_environment_beats_it(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        f"# mine\nexport ENRIPROXY_URL='https://s.example/'\nSEARX_MCP_REMOTE_KEY={KEY}\n"
        "ENRIWEB_TIMEOUT_MS=9000\nOTHER=$ENRIPROXY_URL\n"
        "SEARX_MCP_REMOTE__ALLOW_PLAIN_HTTP=true\nSEARX_MCP_REMOTE__ALLOW_PLAIN_HTTP=\n",
        encoding="utf-8",
    )
    found = read(tmp_path, SEARX_MCP_ENV_FILE=str(file), ENRIWEB_TIMEOUT_MS="7000")
    assert not found["allow_plain_http"]  # its last line is empty
    assert found["url"] == "https://s.example/"
    assert found["key"] == KEY
    assert found["timeout"] == 7


@pytest.mark.parametrize("spelt", [str.upper, str.lower])
def test_the_environment_beats_a_file_that_spells_a_variable_otherwise(
    spelt, tmp_path: Path
) -> None:
    name, file = "SEARX_MCP_REMOTE__TIMEOUT", tmp_path / ".env"
    file.write_text(f"{spelt(name).swapcase()}=9\n", encoding="utf-8")
    found = read(tmp_path, SEARX_MCP_ENV_FILE=str(file), **{spelt(name): "7"})
    assert found["timeout"] == 7


def test_no_file_of_variables_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("ENRIPROXY_URL=https://s.example/\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path)["url"] == ""


@pytest.mark.parametrize("line", [f"SEARX_MCP_REMOTE_KEY {KEY}", f"SEARX_MCP_REMOTE_KEY='{KEY}"])
def test_a_line_that_sets_no_variable_is_told_by_its_number(line: str, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(f"# mine\nOTHER=1\nBARE\n{line}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"cannot be read: line 4 is not NAME=value$") as caught:
        read(tmp_path, SEARX_MCP_ENV_FILE=str(file))
    assert KEY not in str(caught.value)


def test_a_named_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"env-file .*cannot be read"):
        read(tmp_path, SEARX_MCP_ENV_FILE=str(tmp_path / "none.env"))

"""`searx-mcp setup`: a client's configuration; the real server is started where that is what a test is about."""

import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest

from searx_mcp.cli import setup
from searx_mcp.ops.setup.clients import CLIENTS, ClientId, config_file
from searx_mcp.ops.setup.setup import BACKUP
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

pytestmark = pytest.mark.slow

COMMAND = (sys.executable, "-m", "searx_mcp")
GREETING = json.dumps({"result": {"serverInfo": {"name": "searx-mcp", "version": "1"}}})
STAND_IN = (sys.executable, "-ISc", f"print({GREETING!r})")
"""Greets as the server does, in a hundredth of its time: for tests of what is written."""


@pytest.fixture(autouse=True)
async def instance(home, run_cli):
    """What the servers of these tests search."""
    rows = [FakeResult(url="https://example.org/", title="Found \x1b[31mit")]
    async with FakeSearxng(results=rows, formats=("html", "json")) as fake:
        assert (await run_cli("instances", "add", fake.url)).code == 0
        yield fake


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder without any client, and a command that greets as the server does."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("APPDATA", str(home / "roaming"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr(setup, "server_command", lambda *_, **__: STAND_IN)
    return home


@pytest.fixture
def real_server(home, monkeypatch):
    """The server itself, however the tests are started."""
    monkeypatch.setattr(setup, "server_command", lambda *_, **__: COMMAND)


# The file and the snippet of every client are tables in `tests/ops/setup`: one has a type, one has none.
@pytest.mark.usefixtures("real_server")
@pytest.mark.parametrize("client", [ClientId.CLAUDE_CODE, ClientId.VSCODE])
async def test_a_client_is_set_up_and_back(run_cli, home, monkeypatch, client):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    file = config_file(client, system=sys.platform, environ=os.environ, home=Path.home())
    ran = await run_cli("setup", client.value, "--json")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert report["done"] == "added"
    assert report["server"].startswith("searx-mcp ")
    assert report["has_own_instance"] is False
    written = json.loads(file.read_text(encoding="utf-8"))
    entry = written[CLIENTS[client].servers]["searx"]
    assert [entry["command"], *entry["args"]] == [*COMMAND, "stdio"] == report["command"]
    assert file.stat().st_mode & 0o077 == 0 or sys.platform == "win32"

    again = json.loads((await run_cli("setup", client.value, "--json")).out)
    assert again["done"] == "unchanged"
    undone = await run_cli("setup", client.value, "--undo")
    assert undone.out.startswith(f"Removed “searx” from {CLIENTS[client].title}.")
    assert [*file.parent.glob(f"{file.name}*")] == []
    ran = await run_cli("setup", client.value, "--undo", "--json")
    assert json.loads(ran.out)["done"] == "absent"


@pytest.mark.parametrize(
    ("there", "beside", "left"),
    [
        pytest.param(".", (), set(), id="folders that setup has made go"),
        pytest.param(
            ".", ("other.json",), {"new", "newer", "other.json"}, id="what is beside the file stays"
        ),
        pytest.param("new/newer", (), {"new", "newer"}, id="an empty folder that was there stays"),
    ],
)
async def test_undo_removes_what_setup_has_made_alone(run_cli, tmp_path, there, beside, left):
    own = tmp_path / "own"
    (own / there).mkdir(parents=True)
    file = own / "new" / "newer" / "mcp.json"
    assert "backup" not in (await run_cli("setup", "cursor", "--file", str(file))).out
    for name in beside:
        file.with_name(name).touch()
    await run_cli("setup", "cursor", "--file", str(file), "--undo")
    assert {each.name for each in own.rglob("*")} == left


async def test_the_first_result_of_a_real_search_is_shown(run_cli, tmp_path, instance):
    ran = await run_cli("setup", "zed", "--file", str(tmp_path / "zed.json"))
    assert ran.code == 0, ran.err
    assert "  found   Found it (https://example.org/)\n" in ran.out
    assert f"  asked   {instance.url}\n" in ran.out
    assert "searx-mcp instances own up" in ran.err


async def test_what_a_search_lacks_is_said_and_the_client_is_connected(run_cli, tmp_path, instance):
    instance.limit()
    ran = await run_cli("setup", "zed", "--file", str(tmp_path / "zed.json"))
    assert (ran.code, "found" in ran.out) == (0, False)
    assert "Note: A search did not work yet." in ran.err
    assert (tmp_path / "zed.json").exists()


@pytest.fixture
def terminal(monkeypatch):
    """Someone who answers questions: give the lines that are typed."""

    def types(*lines: str) -> None:
        keys = io.StringIO("".join(f"{line}\n" for line in lines))
        monkeypatch.setattr(sys, "stdin", keys)
        monkeypatch.setattr(setup, "_is_terminal", lambda: True)  # captured, standard error is none

    return types


async def test_a_terminal_is_asked_one_question(run_cli, tmp_path, terminal):
    terminal("n")
    file = str(tmp_path / "zed.json")
    ran = await run_cli("setup", "zed", "--file", file)
    assert "Run your own SearXNG too? It has no limits. [Y/n]: " in ran.err
    assert ran.code == 0
    assert "own up" not in ran.err, "what was declined is not advised"
    unasked = await run_cli("setup", "zed", "--file", file, "--no-own")
    assert "too?" not in unasked.err
    owned = await run_cli(
        "setup", "zed", "--file", file, "--env", "SEARXNG_URL=http://127.0.0.1:1/"
    )
    assert "too?" not in owned.err


@pytest.mark.parametrize("options", [(), ("--own",), ("--own", "--json")])
async def test_an_instance_that_cannot_be_installed_changes_nothing(
    run_cli, tmp_path, terminal, options
):
    terminal("")
    file = tmp_path / "zed.json"
    missing = {"SEARX_MCP_OWN__SOURCE": "http://127.0.0.1:1/"}
    ran = await run_cli("setup", "zed", "--file", str(file), *options, **missing)
    assert ran.code != 0
    assert not file.exists()
    if "--json" in options:
        assert json.loads(ran.out)["reason"] == "no_network"
    else:
        assert "`searx-mcp setup zed --no-own` connects without it." in ran.err


async def test_without_a_name_the_installed_clients_are_offered(run_cli, home, terminal):
    ran = await run_cli("setup")
    assert ran.code == 2
    assert "CLIENT: is missing\nName one: claude-desktop," in ran.err
    (home / ".cursor").mkdir()
    (home / ".claude.json").write_text("{}", encoding="utf-8")
    ran = await run_cli("setup")
    assert "installed here: claude-code, cursor" in ran.err
    terminal("cursor", "n")
    ran = await run_cli("setup")
    assert "Connect which client? (claude-code, cursor) [claude-code]: " in ran.err
    assert ran.out.startswith("Added “searx” to Cursor.")


BEFORE = '\ufeff// mine\n{\n  "servers": {\n    "searx": {"command": "old"},\n    "b": {}, // two\n  },\n}\n'


async def test_what_a_user_has_written_is_kept_and_comes_back(run_cli, tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text(BEFORE, encoding="utf-8")
    file.chmod(0o640)
    for variable in ("A=1", "A=2"):  # the second time must not back up what the first has made
        ran = await run_cli("setup", "vscode", "--file", str(file), "--env", variable)
        assert ran.out.startswith("Updated “searx” in VS Code.\n")
        assert f"backup  {file}{BACKUP}" in ran.out
    assert "// two" in file.read_text(encoding="utf-8")
    assert '"A": "2"' in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o640 or sys.platform == "win32"
    assert (await run_cli("setup", "vscode", "--file", str(file), "--undo")).code == 0
    assert file.read_text(encoding="utf-8") == BEFORE
    assert [path.name for path in tmp_path.glob("mcp.json*")] == ["mcp.json"]


async def test_what_changed_after_the_setup_survives_undo(run_cli, tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"servers": {"searx": {"command": "old"}}, "n": 1}', encoding="utf-8")
    await run_cli("setup", "vscode", "--file", str(file))
    file.write_text(file.read_text(encoding="utf-8").replace('"n": 1', '"n": 2'), encoding="utf-8")
    await run_cli("setup", "vscode", "--file", str(file), "--undo")
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "servers": {"searx": {"command": "old"}},
        "n": 2,
    }


async def test_an_entry_of_a_remote_server_is_replaced_and_a_link_to_the_file_stays_one(
    run_cli, tmp_path
):
    real, link = tmp_path / "dotfiles.json", tmp_path / "mcp.json"
    remote = {"url": "http://127.0.0.1:8765/mcp", "headers": {"Authorization": "Bearer x"}}
    real.write_text(json.dumps({"mcpServers": {"searx": remote}}), encoding="utf-8")
    link.symlink_to(real)
    await run_cli("setup", "cursor", "--file", str(link))
    assert link.is_symlink()
    entry = json.loads(real.read_text(encoding="utf-8"))["mcpServers"]["searx"]
    assert {*entry} == {"command", "args"}


@pytest.mark.parametrize("broken", [b'{"mcpServers": ', b'{"mcpServers": []}', b"\xff{}"])
async def test_a_file_that_cannot_be_edited_safely_is_left_alone(run_cli, tmp_path, broken):
    file = tmp_path / "mcp.json"
    file.write_bytes(broken)
    ran = await run_cli("setup", "cursor", "--file", str(file))
    assert (ran.code, ran.out) == (1, "")
    assert str(file) in ran.err
    assert (STAND_IN[0] in ran.err) is broken.isascii(), "what is to be added by hand"
    assert [*tmp_path.glob("mcp.json*")] == [file]
    assert file.read_bytes() == broken


async def test_a_file_that_cannot_be_replaced_is_left_alone(run_cli, tmp_path, monkeypatch):
    def refuse(draft: Path, _target: Path) -> None:
        assert draft.read_text("utf-8")
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    folder = tmp_path / "cursor"
    ran = await run_cli("setup", "cursor", "--file", str(folder / "mcp.json"))
    assert ran.code
    assert "cannot be written: Permission denied" in ran.err
    assert not [*folder.iterdir()]


@pytest.mark.usefixtures("real_server")
async def test_a_server_that_does_not_start_changes_nothing(run_cli, tmp_path):
    file = tmp_path / "mcp.json"
    ran = await run_cli(
        *("setup", "cursor", "--file", str(file), "--json", "--env", "SEARX_MCP_FETCH__TIMEOUTS=1")
    )
    failure = json.loads(ran.out)
    assert (ran.code, failure["error_type"]) == (1, "setup_failed")
    assert "is not a setting" in failure["error_details"]
    assert not file.exists()


async def test_a_program_that_is_gone_changes_nothing(run_cli, tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "server_command", lambda *_, **__: (str(tmp_path / "gone"),))
    ran = await run_cli("setup", "cursor", "--file", str(tmp_path / "mcp.json"))
    assert ran.code == 1
    assert "cannot be started" in ran.err
    assert not (tmp_path / "mcp.json").exists()


async def test_settings_of_this_shell_are_passed_on_only_when_named(run_cli, tmp_path):
    file = tmp_path / "mcp.json"
    address = "http://127.0.0.1:8888/"
    hidden = await run_cli("setup", "cursor", "--file", str(file), SEARXNG_URL=address)
    assert "does not see this shell's" in hidden.err
    assert "SEARXNG_URL" in hidden.err
    assert address not in file.read_text(encoding="utf-8")
    command = ("setup", "cursor", "--file", str(file), "--env", "SEARXNG_URL", "--json")
    named = await run_cli(*command, SEARXNG_URL=address)
    report = json.loads(named.out)
    assert report["variables"] == ["SEARXNG_URL"]
    assert report["has_own_instance"] is True
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["searx"]
    assert entry["env"] == {"SEARXNG_URL": address}
    assert address not in named.out


async def test_a_second_setup_keeps_what_the_user_has_set(run_cli, tmp_path):
    file = tmp_path / "mcp.json"
    command = ("setup", "cursor", "--file", str(file), "--json")
    variables = {"SEARXNG_URL": "http://127.0.0.1:8888/", "SEARX_MCP_LOG_LEVEL": "DEBUG"}
    before = {"command": "/gone", "args": ["stdio"], "env": variables, "disabled": True}
    file.write_text(json.dumps({"mcpServers": {"searx": before}}), encoding="utf-8")
    report = json.loads((await run_cli(*command, "--env", "SEARX_MCP_LOG_LEVEL=INFO")).out)
    assert (report["done"], report["has_own_instance"]) == ("updated", True)
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["searx"]
    assert entry["env"] == {**variables, "SEARX_MCP_LOG_LEVEL": "INFO"}
    assert entry["disabled"] is True
    assert entry["command"] != "/gone"
    assert json.loads((await run_cli(*command)).out)["done"] == "unchanged"


@pytest.mark.parametrize("wrong", ["=1", "SEARX_MCP_NOT_SET"])
async def test_a_variable_without_name_or_value_is_refused(run_cli, tmp_path, wrong):
    file = str(tmp_path / "mcp.json")
    ran = await run_cli("setup", "cursor", "--file", file, "--env", wrong, "--json")
    assert (ran.code, json.loads(ran.out)["field"]) == (2, "--env")


@pytest.mark.parametrize("other", ["--print", "--own"])
async def test_undo_is_refused_beside_an_option_that_it_contradicts(run_cli, tmp_path, other):
    file = str(tmp_path / "mcp.json")
    ran = await run_cli("setup", "cursor", "--file", file, "--undo", other)
    assert (ran.code, ran.out) == (2, "")
    assert f"--undo: cannot be combined with {other}" in ran.err


async def test_the_files_named_on_the_command_line_go_into_the_entry(run_cli, tmp_path):
    config = tmp_path / "mine.toml"
    config.touch()
    ran = await run_cli("--config", str(config), "setup", "zed", "--print")
    shown = json.loads(ran.out)["context_servers"]["searx"]
    assert shown["env"] == {"SEARX_MCP_CONFIG": str(config)}


async def test_print_says_where_it_belongs_and_writes_nothing(run_cli, home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    ran = await run_cli("setup", "vscode", "--print")
    assert json.loads(ran.out)["servers"]["searx"]["type"] == "stdio"
    assert str(Path("config", "Code", "User", "mcp.json")) in ran.err
    assert not (home / "config").exists()

"""Where each client keeps its configuration, and what starts this installation."""

import json
from pathlib import Path

import pytest

from searx_mcp.ops.setup.clients import CLIENTS, ClientId, config_file, snippet
from searx_mcp.ops.setup.setup import installed_from, server_command

WINDOWS = {"APPDATA": r"C:\Users\me\AppData\Roaming"}


@pytest.mark.parametrize(
    ("client", "system", "environ", "place"),
    [
        # https://modelcontextprotocol.io/docs/develop/connect-local-servers
        ("claude-desktop", "darwin", {}, "~/Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {}, "~/.config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", WINDOWS, r"C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json"),
        # https://code.claude.com/docs/en/mcp, user scope
        ("claude-code", "linux", {}, "~/.claude.json"),
        ("claude-code", "darwin", {}, "~/.claude.json"),
        ("claude-code", "win32", WINDOWS, r"~\.claude.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        # https://cursor.com/docs/context/mcp
        ("cursor", "linux", {"XDG_CONFIG_HOME": "/x"}, "~/.cursor/mcp.json"),
        ("cursor", "win32", WINDOWS, r"~\.cursor\mcp.json"),
        # https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
        ("vscode", "darwin", {}, "~/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {}, r"~\AppData\Roaming\Code\User\mcp.json"),
        # https://docs.windsurf.com/windsurf/cascade/mcp
        ("windsurf", "darwin", {}, "~/.codeium/windsurf/mcp_config.json"),
        ("windsurf", "win32", WINDOWS, r"~\.codeium\windsurf\mcp_config.json"),
        # https://zed.dev/docs/configuring-zed
        ("zed", "linux", {}, "~/.config/zed/settings.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/zed/settings.json"),
        ("zed", "darwin", {"XDG_CONFIG_HOME": "/x"}, "~/.config/zed/settings.json"),
        ("zed", "win32", WINDOWS, r"C:\Users\me\AppData\Roaming\Zed\settings.json"),
    ],
)  # fmt: skip
def test_each_client_has_its_file_on_each_system(client, system, environ, place):
    home = r"C:\Users\me" if system == "win32" else "/h/me"
    found = config_file(ClientId(client), system=system, environ=environ, home=Path(home))
    assert str(found) == place.replace("~", home)


def test_the_packaged_claude_of_windows_has_a_folder_of_its_own(tmp_path):
    # github.com/anthropics/claude-code/issues/25579: it never sees %APPDATA%\Claude
    folder = tmp_path / "Packages" / "Claude_pzs8sxrjxfjjc" / "LocalCache" / "Roaming" / "Claude"
    folder.mkdir(parents=True)
    environ = {**WINDOWS, "LOCALAPPDATA": str(tmp_path)}
    found = config_file(
        ClientId.CLAUDE_DESKTOP, system="win32", environ=environ, home=Path(r"C:\Users\me")
    )
    assert str(found).replace("\\", "/") == f"{folder.as_posix()}/claude_desktop_config.json"


@pytest.mark.parametrize("client", ClientId)
def test_a_snippet_is_the_whole_file_of_a_client_without_servers(client):
    shown = json.loads(snippet(client, ("/bin/uvx", "searx-mcp"), {"SEARXNG_URL": "http://a/"}))
    entry = shown[CLIENTS[client].servers]["searx"]
    assert entry.pop("type", "stdio") == "stdio"
    assert entry == {
        "command": "/bin/uvx",
        "args": ["searx-mcp", "stdio"],
        "env": {"SEARXNG_URL": "http://a/"},
    }


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder on the path with programs that nobody calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("uv", "uvx", "pipx", "searx-mcp"):
        (folder / name).touch(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_an_installed_script_is_started_by_its_path(programs):
    found = server_command({}, program=str(programs / "searx-mcp"), prefix="/usr")
    assert found == (str(programs / "searx-mcp"),)


def test_a_link_to_the_script_is_not_followed(programs, tmp_path):
    # pipx and uv replace what the link leads to when they upgrade.
    link = tmp_path / "searx-mcp"
    link.symlink_to(programs / "searx-mcp")
    assert server_command({}, program=str(link), prefix="/usr") == (str(link),)


@pytest.mark.parametrize("cache", ["archive-v0/Ab1", "environments-v2/x-1"])
@pytest.mark.parametrize(
    ("source", "more"), [(None, ()), ("file:///a.whl", ("--from", "file:///a.whl"))]
)
def test_an_environment_of_uvx_is_not_relied_on(programs, cache, source, more):
    prefix = f"/h/me/.cache/uv/{cache}"
    found = server_command(
        {"UV": f"{programs}/uv"}, program=f"{prefix}/bin/searx-mcp", prefix=prefix, source=source
    )
    assert found == (str(programs / "uvx"), *more, "searx-mcp")


@pytest.mark.parametrize(
    ("prefix", "source", "starts"),
    [
        ("/h/me/.cache/pipx/0123", None, ("pipx", "run", "searx-mcp")),
        ("/h/me/.cache/pipx/0123", "a.whl", ("pipx", "run", "--spec", "a.whl", "searx-mcp")),
        ("/h/me/.local/share/pipx/venvs/searx-mcp", "a.whl", ("searx-mcp",)),
    ],
)
def test_only_an_environment_that_pipx_keeps_is_relied_on(programs, prefix, source, starts):
    found = server_command({}, program=str(programs / "searx-mcp"), prefix=prefix, source=source)
    assert found == (str(programs / starts[0]), *starts[1:])


@pytest.mark.parametrize(
    ("requires", "url", "source"),
    [
        ((), None, None),
        ((), "file:///a.whl", "file:///a.whl"),
        (("click>=8", 'pytest>=8; extra == "tests"'), None, "searx-mcp[tests]"),
        (
            ('pytest; extra == "tests"', "click ; extra == 'more'", 'pytest; extra == "more"'),
            "file:///a.whl",
            "searx-mcp[more,tests] @ file:///a.whl",
        ),
        (('pytest; extra == "tests"', 'none-such; extra == "tests"'), None, None),
    ],
    ids=["index", "file", "an extra", "extras of a file", "half an extra"],
)
def test_what_was_installed_is_named_with_its_extras(tmp_path, monkeypatch, requires, url, source):
    described = tmp_path / "searx_mcp-1.dist-info"
    described.mkdir()
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    text = f"Metadata-Version: 2.1\nName: searx-mcp\nVersion: 1\n{needs}"
    (described / "METADATA").write_text(text, encoding="utf-8")
    if url:
        (described / "direct_url.json").write_text(json.dumps({"url": url}), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_from() == source

"""MCP clients that can be set up: where their configuration is, and the entry for a server."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple

NAME: Final = "searx"
"""The server's name in every client."""


class ClientId(StrEnum):
    """Clients that can be set up, as the command names them."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    ZED = "zed"


class Client(NamedTuple):
    """Facts about a client.

    Attributes:
        title: its name.
        servers: key of its configuration that contains MCP servers.
        is_typed: whether an entry states that the server uses standard streams.
        then: what the user does next.
    """

    title: str
    servers: str
    is_typed: bool
    then: str


CLIENTS: Final[Mapping[ClientId, Client]] = {
    ClientId.CLAUDE_DESKTOP: Client(
        "Claude Desktop",
        "mcpServers",
        is_typed=False,
        then="Quit Claude Desktop and open it again.",
    ),
    ClientId.CLAUDE_CODE: Client(
        "Claude Code",
        "mcpServers",
        is_typed=True,
        then="Start a new session; /mcp lists the server.",
    ),
    ClientId.CURSOR: Client(
        "Cursor",
        "mcpServers",
        is_typed=False,
        then="Turn the server on in Cursor's settings, under MCP.",
    ),
    ClientId.VSCODE: Client(
        "VS Code",
        "servers",
        is_typed=True,
        then="Run the command “MCP: List Servers” in VS Code and start it.",
    ),
    ClientId.WINDSURF: Client(
        "Windsurf",
        "mcpServers",
        is_typed=False,
        then="Refresh the MCP servers in Windsurf's Cascade panel.",
    ),
    ClientId.ZED: Client(
        "Zed",
        "context_servers",
        is_typed=False,
        then="Zed starts it now; its Agent settings list the server.",
    ),
}


def config_file(client: ClientId, *, system: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the file in which a client looks for its user's servers.

    Args:
        client: the client.
        system: as `sys.platform`.
        environ: the user's environment.
        home: the user's home folder.
    """
    pure: type[PurePath] = PureWindowsPath if system == "win32" else PurePosixPath
    root = pure(str(home))
    config = _config_folder(system, environ, root)
    claude = (_packaged(environ) if system == "win32" else None) or config / "Claude"
    zed = {"win32": config / "Zed", "darwin": root / ".config" / "zed"}.get(system, config / "zed")
    files = {
        ClientId.CLAUDE_DESKTOP: claude / "claude_desktop_config.json",
        ClientId.CLAUDE_CODE: pure(environ.get("CLAUDE_CONFIG_DIR") or root) / ".claude.json",
        ClientId.CURSOR: root / ".cursor" / "mcp.json",
        ClientId.VSCODE: config / "Code" / "User" / "mcp.json",
        ClientId.WINDSURF: root / ".codeium" / "windsurf" / "mcp_config.json",
        ClientId.ZED: zed / "settings.json",
    }
    return Path(str(files[client]))


def installed_clients(
    *, system: str, environ: Mapping[str, str], home: Path
) -> tuple[ClientId, ...]:
    """Return the clients whose configuration or its folder exists; arguments as for `config_file`."""
    files = {
        client: config_file(client, system=system, environ=environ, home=home)
        for client in ClientId
    }
    return tuple(
        client
        for client, file in files.items()
        if file.exists() or (file.parent != home and file.parent.is_dir())
    )


def _config_folder(system: str, environ: Mapping[str, str], home: PurePath) -> PurePath:
    """Return the folder of programs' configuration on a system, as Electron defines it."""
    if system == "win32":
        named = environ.get("APPDATA")
        return type(home)(named) if named else home / "AppData" / "Roaming"
    if system == "darwin":
        return home / "Library" / "Application Support"
    named = environ.get("XDG_CONFIG_HOME")
    return type(home)(named) if named else home / ".config"


def _packaged(environ: Mapping[str, str]) -> PurePath | None:
    """Return the folder of Claude Desktop on Windows since its installer is a package."""
    packages = Path(environ.get("LOCALAPPDATA", "")) / "Packages"
    found = sorted(packages.glob("Claude_*/LocalCache/Roaming/Claude"))
    return found[0] if found else None


def entry(client: ClientId, command: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    """Return the server's entry for a client's configuration."""
    made: dict[str, object] = {"type": "stdio"} if CLIENTS[client].is_typed else {}
    made |= {"command": command[0], "args": [*command[1:], "stdio"]}
    return {**made, "env": dict(env)} if env else made


def snippet(client: ClientId, command: Sequence[str], env: Mapping[str, str]) -> str:
    """Return the configuration of a client without other servers."""
    whole = {CLIENTS[client].servers: {NAME: entry(client, command, env)}}
    return json.dumps(whole, indent=2, ensure_ascii=False)

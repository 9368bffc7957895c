"""Adds this server to the configuration of an MCP client, and removes it."""

import asyncio
import json
import re
import secrets
import shutil
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Final

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.files import make_private_file, read_bytes
from searx_mcp.models.base import Frozen
from searx_mcp.ops.own.installation import NativeFolder
from searx_mcp.ops.own.programs import run_program
from searx_mcp.ops.setup.clients import CLIENTS, NAME, ClientId, entry, snippet
from searx_mcp.ops.setup.jsonc import member_at, parse, with_member, without_member
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.settings.environment import ALIASES
from searx_mcp.settings.instances import OWN_VARIABLE
from searx_mcp.settings.sources import PREFIX, load
from searx_mcp.settings.values import Settings

PROGRAM: Final = "searx-mcp"
START_TIMEOUT: Final = 60.0
"""Seconds in which the server must answer; clients wait 30 to 60."""
BACKUP: Final = ".before-searx-mcp"
"""Suffix of a backup's name."""

_MAX_FILE: Final = 50_000_000
"""Maximum bytes; Claude Code keeps its history in the same file."""
_MADE: Final = "// A folder was created by searx-mcp setup.\n"
"""In place of a backup, one line for each folder that was missing, so that `undo` removes no other."""
_MAX_LINES: Final = 5
_OF_EXTRA: Final = re.compile(r"(?P<name>[\w.-]+).*;.*\bextra == [\'\"](?P<extra>[\w-]+)")
"""A requirement in a package's metadata that belongs to an extra."""
_UV_CACHE: Final = ("archive-v", "environments-v", "builds-v")
_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "searx-mcp-setup", "version": "1"},
    },
}


class SetupDone(StrEnum):
    """Outcomes of `setup`."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    ABSENT = "absent"
    """There was nothing to undo."""


class FirstSearch(Frozen):
    """The search that `setup` makes: its first result, or why there is none.

    Attributes:
        query: of the search.
        title: of the first result.
        url: of the first result.
        answered_by: the instance or source.
        problem: what is missing, and the remedy; empty if there is a result.
    """

    query: str
    title: str = ""
    url: str = ""
    answered_by: str = ""
    problem: str = ""


class SetupReport(Frozen):
    """The change to a client's configuration.

    Attributes:
        client: the client.
        file: the configuration.
        done: what was done to it.
        backup: the copy of the file before the first change, if there is one.
        command: that the client runs.
        variables: names of the environment variables that it sets.
        server: name and version reported by the server, if it was started.
        has_own_instance: whether searches use an own instance.
        search: made as the client's server would; `None` if none was made.
        notes: for the user.
    """

    client: ClientId
    file: str
    done: SetupDone
    backup: str | None = None
    command: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    server: str | None = None
    has_own_instance: bool | None = None
    search: FirstSearch | None = None
    notes: tuple[str, ...] = ()


class SetupError(SearxMcpError):
    """A client cannot be set up; its configuration is unchanged."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message, code=ErrorCode.SETUP_FAILED, advice=advice)


def server_command(
    environ: Mapping[str, str],
    *,
    program: str = sys.argv[0],
    prefix: str = sys.prefix,
    source: str | None = None,
) -> tuple[str, ...]:
    """Return the command that starts this installation, with an absolute path.

    The environment of a `uvx` or `pipx run` call may be deleted later: then the client runs `uvx` or `pipx`.

    Args:
        environ: the user's environment.
        program: that started this process.
        prefix: of the Python environment.
        source: what was installed, from `installed_from`.
    """
    parts = Path(prefix).parts
    if any(part.startswith(_UV_CACHE) for part in parts):
        named = Path(environ.get("UV") or "uv")
        uvx = shutil.which("uvx", path=str(named.parent)) or shutil.which("uvx")
        if uvx:
            return (_absolute(uvx), *(("--from", source) if source else ()), PROGRAM)
    if "pipx" in parts and "venvs" not in parts and (pipx := shutil.which("pipx")):
        return (_absolute(pipx), "run", *(("--spec", source) if source else ()), PROGRAM)
    for folder in (Path(program).absolute().parent, Path(sysconfig.get_path("scripts"))):
        if script := shutil.which(PROGRAM, path=str(folder)):
            return (_absolute(script),)
    return (sys.executable, "-m", "searx_mcp")


def _absolute(program: str) -> str:
    return str(Path(program).absolute())


def installed_from() -> str | None:
    """Return the requirement that installs this package again (PEP 508).

    It includes its file or address and its extras. `None` if it came from an index, without extras, or if
    that is not known.
    """
    with suppress(metadata.PackageNotFoundError, ValueError, TypeError, KeyError):
        found = metadata.distribution(PROGRAM)
        text = found.read_text("direct_url.json")
        url = str(json.loads(text)["url"]) if text else None
        if not (extras := _extras(found.requires or ())):
            return url
        return f"{PROGRAM}[{','.join(extras)}]" + (f" @ {url}" if url else "")
    return None


def _extras(requirements: Iterable[str]) -> list[str]:
    """Return the extras whose packages are all installed."""
    needs: dict[str, list[str]] = {}
    for requirement in requirements:
        if match := _OF_EXTRA.match(requirement):
            needs.setdefault(match["extra"], []).append(match["name"])
    return sorted(extra for extra, names in needs.items() if all(map(_is_installed, names)))


def _is_installed(name: str) -> bool:
    with suppress(metadata.PackageNotFoundError):
        return bool(metadata.distribution(name))
    return False


async def set_up(
    client: ClientId,
    file: Path,
    *,
    command: Sequence[str],
    env: Mapping[str, str],
    environ: Mapping[str, str],
    search: Callable[[Settings], Awaitable[FirstSearch]],
) -> SetupReport:
    """Start the server once, search once, then add it to a client's configuration.

    Args:
        client: the client.
        file: the configuration; created if it is missing.
        command: that starts the server.
        env: variables that the client sets for it, in addition to existing ones.
        environ: the environment of this process; variables that are settings are left out.
        search: searches with these settings; raises if there is nothing to search with.

    Raises:
        SetupError: the server does not start, or the file cannot be changed. Nothing was changed.
        SearxMcpError: raised by `search`. Nothing was changed.
    """
    env = await asyncio.to_thread(_variables_of, client, file) | dict(env)
    seen = _seen(environ, env)
    server = await _greeting(command, seen)
    settings = load(environ=seen).settings
    found = await search(settings)
    title, notes = CLIENTS[client].title, []
    if hidden := sorted(name for name in environ if is_setting(name) and name not in env):
        passed = " ".join(f"--env {name}" for name in hidden)
        notes.append(f"{title} does not see this shell's {', '.join(hidden)}; to pass on: {passed}")
    done, backup, is_new = await asyncio.to_thread(_enter, client, file, command, env)
    if is_new:
        notes.append(f"{file.parent} did not exist. Is {title} installed?")
    return SetupReport(
        client=client,
        file=str(file),
        done=done,
        backup=backup,
        command=(*command, "stdio"),
        variables=tuple(env),
        server=server,
        has_own_instance=_has_own_instance(settings),
        search=found,
        notes=tuple(notes),
    )


def has_own_instance(
    client: ClientId, file: Path, *, env: Mapping[str, str], environ: Mapping[str, str]
) -> bool:
    """Return whether a client's server searches an own instance; arguments as for `set_up`.

    Raises:
        SearxMcpError: the settings cannot be read.
    """
    return _has_own_instance(
        load(environ=_seen(environ, _variables_of(client, file) | dict(env))).settings
    )


def _seen(environ: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server that a client starts."""
    return {name: value for name, value in environ.items() if not is_setting(name)} | dict(env)


def _variables_of(client: ClientId, file: Path) -> dict[str, str]:
    """Return the variables that a client already sets for the server; empty if they cannot be read."""
    with suppress(ValueError, RecursionError):
        present = member_at(parse(_read(file)), (CLIENTS[client].servers, NAME))
        env = _started(present).get("env")
        if isinstance(env, dict):
            return {name: value for name, value in env.items() if isinstance(value, str)}
    return {}


def _started(present: object) -> dict[str, object]:
    """Return an entry if it starts a server; entries of remote servers have other members."""
    return present if isinstance(present, dict) and "command" in present else {}


def _enter(
    client: ClientId, file: Path, command: Sequence[str], env: Mapping[str, str]
) -> tuple[SetupDone, str | None, bool]:
    """Edit the file; return what was done, the backup, and whether the folder was created."""
    path = (CLIENTS[client].servers, NAME)
    file, is_new = file.resolve(), not file.parent.exists()
    before, backup = _read(file), _backup_of(file)
    try:
        present = member_at(parse(before), path)
        wanted = _started(present) | entry(client, command, env)
        after = with_member(before, path, wanted)
    except (ValueError, RecursionError) as exc:
        raise SetupError(
            f"{file} cannot be edited: {exc}",
            advice=f"Nothing was changed. Add this by hand:\n{snippet(client, command, env)}",
        ) from exc
    done = SetupDone.ADDED if present is None else SetupDone.UPDATED
    if present == wanted:
        done = SetupDone.UNCHANGED
    else:
        if present is None or not backup.exists():
            made = [each for each in file.parents if not each.exists()]
            _write(backup, _MADE * len(made) if made else before, like=file)
        _write(file, after, like=file)
    return done, str(backup) if _original(backup) else None, is_new


def undo(client: ClientId, file: Path) -> SetupReport:
    """Remove the server from a client's configuration, and restore what it replaced.

    If nothing else has changed since, the file becomes identical to the original; a file that was created is
    deleted, and so are the folders that were created for it, if they are empty.

    Raises:
        SetupError: the file cannot be changed.
    """
    path, real = (CLIENTS[client].servers, NAME), file.resolve()
    text, backup = _read(real), _backup_of(real)
    report = SetupReport(client=client, file=str(file), done=SetupDone.REMOVED)
    try:
        present = member_at(parse(text), path)
        if present is None:
            return report.model_copy(update={"done": SetupDone.ABSENT})
        original = _original(backup)
        earlier = member_at(parse(original), path)
        after = without_member(text, path) if earlier is None else with_member(text, path, earlier)
        if backup.exists() and parse(with_member(original, path, present)) == parse(text):
            after = original
    except (ValueError, RecursionError) as exc:
        raise SetupError(
            f"{file} cannot be edited: {exc}",
            advice=f"Nothing was changed. Remove “{NAME}” from “{path[0]}” by hand.",
        ) from exc
    made = real.parents[: _read(backup).count(_MADE)]
    if after:
        _write(real, after, like=real)
    else:
        real.unlink()
    backup.unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it
        for folder in made:
            folder.rmdir()
    return report


def is_setting(name: str) -> bool:
    """Return whether an environment variable is a setting of this program."""
    return name.startswith(PREFIX) or name in ALIASES or name == OWN_VARIABLE


def _backup_of(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


def _original(backup: Path) -> str:
    """Return the text of a file before the first change; empty if there was no file."""
    text = _read(backup)
    return "" if text.startswith(_MADE) else text


def _read(file: Path) -> str:
    try:
        return read_bytes(file, _MAX_FILE).decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as exc:
        raise SetupError(f"{file} is not UTF-8 text") from exc
    except OSError as exc:
        raise SetupError(f"{file} cannot be read: {exc.strerror}") from exc


def _write(file: Path, text: str, *, like: Path) -> None:
    """Write a file atomically, with the permissions of another one if that exists."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        make_private_file(draft)
        draft.write_bytes(text.encode())
        if like.exists():
            shutil.copymode(like, draft)
        draft.replace(file)
    except OSError as exc:
        raise SetupError(f"{file} cannot be written: {exc.strerror}") from exc
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _has_own_instance(settings: Settings) -> bool:
    folder = settings.state_folder()
    if settings.instances.own or settings.remote.url:
        return True
    return folder is not None and NativeFolder(folder / NATIVE_FOLDER).recorded is not None


async def _greeting(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Start the server like a client, and return the name and version it reports."""
    try:
        ran = await run_program(
            (*command, "stdio"),
            timeout=START_TIMEOUT,
            environment=environ,
            given=json.dumps(_HELLO).encode() + b"\n",
        )
    except TimeoutError as exc:
        raise SetupError(f"the server did not answer within {START_TIMEOUT:.0f} s") from exc
    except OSError as exc:
        raise SetupError(f"{command[0]} cannot be started: {exc.strerror}") from exc
    for line in ran.out.splitlines():
        with suppress(ValueError):
            info = member_at(json.loads(line), ("result", "serverInfo"))
            if isinstance(info, dict):
                return f"{info.get('name')} {info.get('version')}"
    said = "\n".join(ran.err.splitlines()[-_MAX_LINES:])
    raise SetupError(
        f"the server does not start: {' '.join((*command, 'stdio'))}",
        advice=said or f"It ended with exit code {ran.code}.",
    )

"""Failures of an own instance, each with the one thing to do about it."""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.models.own_instance import ContainerFailure, NativeFailure
from searx_mcp.sources.searxng.request import PROJECT_URL

_PREAMBLES: Final = ("docker: ", "Error: ", "Error response from daemon: ")
_LONGEST: Final = 300
"""Characters of a complaint that are shown."""
_DOCUMENT: Final = f"{PROJECT_URL}/blob/main/docs/guides/own-instance.md"

_INSTALL: Final = {
    "linux": (
        "Install Podman (Debian and Ubuntu: sudo apt install podman; Fedora: sudo dnf install"
        " podman) or Docker (https://docs.docker.com/engine/install/)"
    ),
    "darwin": (
        "Install Docker Desktop (https://docs.docker.com/desktop/setup/install/mac-install/) or"
        " Podman (https://podman.io/docs/installation)"
    ),
    "win32": (
        "Install Docker Desktop (https://docs.docker.com/desktop/setup/install/windows-install/) or"
        " Podman (https://podman.io/docs/installation)"
    ),
}

_START: Final = {
    ("docker", "linux"): "Start it: sudo systemctl start docker",
    ("docker", "darwin"): "Start Docker Desktop.",
    ("docker", "win32"): "Start Docker Desktop.",
    ("podman", "darwin"): "Start its machine: podman machine start",
    ("podman", "win32"): "Start its machine: podman machine start",
}

_MAY_NOT: Final = {
    "docker": (
        "Join its group and log in again: sudo usermod -aG docker $USER. Or install Podman, which"
        " needs no group."
    ),
}

_REINSTALL: Final = (
    "reinstall the tried one with `searx-mcp instances own down --keep-settings` and"
    " `searx-mcp instances own up`"
)

_CAUSE: Final = re.compile(
    r".*(?:No module named '(?P<missing>[\w.]+)|cannot import name '\w+' from '(?P<other>[\w.]+))"
    r"|.*(?P<settings>settings|secret_key)|[\w.]+(?:Error|Exception)\b"
)
"""What a log says of why an instance ended; its last lines may be those of an earlier start."""


class OwnInstanceError(SearxMcpError):
    """An instance of one's own cannot be run, in a container or as a process of this machine.

    Attributes:
        reason: which of the kinds of failure it is; the error code follows from it.
        log: the last lines of the instance, oldest first; only where it ended or did not answer.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: ContainerFailure | NativeFailure,
        advice: str,
        log: tuple[str, ...] = (),
    ) -> None:
        is_container = isinstance(reason, ContainerFailure)
        code = ErrorCode.CONTAINER_FAILED if is_container else ErrorCode.NATIVE_FAILED
        super().__init__(message, code=code, advice=advice)
        self.reason = reason
        self.log = log


def no_engine(name: str | None, *, platform: str) -> OwnInstanceError:
    """The error where no engine is installed: everything that can be done instead.

    Args:
        name: the engine that was asked for, or `None` for any.
        platform: as `sys.platform`.
    """
    install = _INSTALL.get(platform, "Install Docker or Podman")
    without = "- Run it without a container: searx-mcp instances own up --engine native\n"
    return OwnInstanceError(
        f"{name} is not installed." if name else "Neither docker nor podman is installed.",
        reason=ContainerFailure.NO_ENGINE,
        advice=(
            "Do one of these:\n"
            f"{'' if platform == 'win32' else without}"
            f"- {install}, then run `searx-mcp instances own up --engine container` again.\n"
            "- Use any SearXNG that answers JSON:"
            " set SEARXNG_URL to its address, such as http://192.168.1.5:8080/\n"
            "- Run SearXNG with the Compose file, on this machine or another:"
            f" {_DOCUMENT}#by-hand-with-compose"
        ),
    )


def engine_down(name: str, stderr: str, *, platform: str) -> OwnInstanceError:
    """The error where an engine is installed and does not answer.

    Args:
        name: `docker` or `podman`.
        stderr: what it said.
        platform: as `sys.platform`.
    """
    if "permission denied" in stderr.lower():
        return OwnInstanceError(
            f"{name} is installed, but this user may not use it.",
            reason=ContainerFailure.NO_PERMISSION,
            advice=_MAY_NOT.get(name, f"Run `{name} info` to see why."),
        )
    return OwnInstanceError(
        f"{name} is installed, but does not answer: {complaint(stderr)}",
        reason=ContainerFailure.ENGINE_DOWN,
        advice=_START.get((name, platform), f"Run `{name} info` to see why."),
    )


def name_taken(engine: str, container: str) -> OwnInstanceError:
    """The error where a container of that name is not ours; it is left alone."""
    return OwnInstanceError(
        f"A container named {container} exists in {engine}, but searx-mcp did not create it.",
        reason=ContainerFailure.NAME_TAKEN,
        advice=f"Rename it: {engine} rename {container} another-name",
    )


def complaint(text: str) -> str:
    """The line of an engine's standard error that says what is wrong, without its preamble.

    Before it stands what was tried, after it where help is to be had.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = (line for line in lines if line.startswith(_PREAMBLES))
    line = next(marked, lines[-1] if lines else "no reason given")
    for preamble in _PREAMBLES:
        line = line.removeprefix(preamble)
    return clean_line(line, _LONGEST)


def port_taken(port: int) -> OwnInstanceError:
    """The error for a port that another program has."""
    return OwnInstanceError(
        f"Port {port} is used by another program.",
        reason=NativeFailure.PORT_TAKEN,
        advice="Choose another: `searx-mcp instances own up --port N`.",
    )


def exited(log: tuple[str, ...], settings: Path) -> OwnInstanceError:
    """The error for an instance that ended by itself, with what its log says of the cause.

    Args:
        log: its last lines, oldest first.
        settings: its settings file.
    """
    causes = (found for line in reversed(log) if (found := _CAUSE.match(line)))
    cause = next(causes, None)
    module = cause and (cause["missing"] or cause["other"])
    if module:
        message = f"SearXNG exited: the Python module {module} cannot be imported."
        advice = (
            "This version of SearXNG does not fit its packages as they are now: choose another with"
            f" --version, or {_REINSTALL}."
        )
    else:
        message = "SearXNG exited."
        is_settings = cause is not None and cause["settings"]
        advice = (
            f"Correct {settings} or delete it, then try again."
            if is_settings
            else f"The last lines of its log say why. Choose another version, or {_REINSTALL}."
        )
    return OwnInstanceError(message, reason=NativeFailure.EXITED, advice=advice, log=log)


def python_too_old(version: Sequence[int]) -> OwnInstanceError:
    """The error for an interpreter that SearXNG does not run on."""
    return OwnInstanceError(
        f"Python {'.'.join(map(str, version))} is too old for this version of SearXNG.",
        reason=NativeFailure.PYTHON_TOO_OLD,
        advice="Run searx-mcp with a newer Python, or use --engine container.",
    )


def disk_full() -> OwnInstanceError:
    """The error for a disk without room."""
    return OwnInstanceError(
        "The disk is full.",
        reason=NativeFailure.DISK_FULL,
        advice="Free up 150 MB, or set storage.folder to a folder on another disk.",
    )


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Translate what may happen while files are written.

    Raises:
        OwnInstanceError: `not_writable` or `disk_full`.
    """
    try:
        yield
    except OSError as exc:
        if exc.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise disk_full() from exc
        raise OwnInstanceError(
            f"{folder} cannot be written to: {exc.strerror or os.strerror(errno.EIO)}.",
            reason=NativeFailure.NOT_WRITABLE,
            advice="Make it writable, or set storage.folder to another folder.",
        ) from exc

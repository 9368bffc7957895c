"""Failures of an own instance, each with one remedy."""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.models.own_instance import NativeFailure

_REINSTALL: Final = (
    "reinstall the tried one with `searx-mcp instances own down --keep-settings` and"
    " `searx-mcp instances own up`"
)

_CAUSE: Final = re.compile(
    r".*(?:No module named '(?P<missing>[\w.]+)|cannot import name '\w+' from '(?P<other>[\w.]+))"
    r"|.*(?P<settings>settings|secret_key)|[\w.]+(?:Error|Exception)\b"
)
"""What a log says about why an instance ended; its last lines may be from an earlier start."""


class OwnInstanceError(SearxMcpError):
    """An own instance cannot run as a process of this machine.

    Attributes:
        reason: kind of failure.
        log: the last lines of the instance, oldest first; only if it ended or did not answer.
    """

    def __init__(
        self, message: str, *, reason: NativeFailure, advice: str, log: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, code=ErrorCode.NATIVE_FAILED, advice=advice)
        self.reason = reason
        self.log = log


def port_taken(port: int) -> OwnInstanceError:
    """Return the error for a port that another program uses."""
    return OwnInstanceError(
        f"Port {port} is used by another program.",
        reason=NativeFailure.PORT_TAKEN,
        advice="Choose another: `searx-mcp instances own up --port N`.",
    )


def exited(log: tuple[str, ...], settings: Path) -> OwnInstanceError:
    """Return the error for an instance that ended by itself, with the cause from its log.

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
    """Return the error for a Python version that SearXNG does not support."""
    return OwnInstanceError(
        f"Python {'.'.join(map(str, version))} is too old for this version of SearXNG.",
        reason=NativeFailure.PYTHON_TOO_OLD,
        advice="Run searx-mcp with a newer Python, or run SearXNG with the Compose file of the guide.",
    )


def disk_full() -> OwnInstanceError:
    """Return the error for a full disk."""
    return OwnInstanceError(
        "The disk is full.",
        reason=NativeFailure.DISK_FULL,
        advice="Free up 150 MB, or set storage.folder to a folder on another disk.",
    )


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Translate errors of writing files.

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

"""Files that a person names, or in whose place others may have put something else."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

_NO_FILE = "it is not a regular file"


def check_regular(path: Path) -> None:
    """Check that there is a regular file, a link to one, or nothing.

    Raises:
        OSError: something else is there, such as a named pipe or a device.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise _error(_NO_FILE, path)


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a regular file; nothing else is waited for, such as a named pipe or a device.

    Args:
        path: the file; a symbolic link is followed.
        limit: bytes it may have.

    Raises:
        OSError: it cannot be read, is no regular file or is too long; `strerror` says which.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _error(_NO_FILE, path)
            content = file.read(limit + 1)
    except ValueError as exc:
        raise _error("it is not a usable path", path) from exc
    if len(content) > limit:
        raise _error(f"it is longer than {limit:,} bytes", path)
    return content


def read_text(path: Path, limit: int) -> str:
    """Read a regular file of UTF-8 text; a byte order mark at its beginning is left out.

    Raises:
        OSError: as `read_bytes`, or it is not UTF-8.
    """
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise _error("it is not UTF-8 text", path) from exc


def _open(path: str, flags: int) -> int:
    # A pipe that nobody writes to would be waited for as soon as it is opened.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _error(reason: str, path: Path) -> OSError:
    return OSError(errno.EINVAL, reason, str(path))

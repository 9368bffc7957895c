"""Files that a person names, or that others may have replaced.

Also private folders and files, the secrets in them, and network file systems.
"""

import errno
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

MOUNTS = Path("/proc/self/mounts")
"""Where Linux lists mounts; other systems have no such file."""
_NO_FILE = "it is not a regular file"

_NETWORK = frozenset(
    {
        "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4",
        "smb3", "smbfs",
    }
)  # fmt: skip

_ESCAPE = re.compile(r"\\([0-7]{3})")
_SECRET_BYTES = 32
_LONGEST_SECRET = 4_096


def check_regular(path: Path | str) -> None:
    """Check that there is a regular file, a link to one, or nothing.

    Raises:
        OSError: something else is there, such as a named pipe or a device.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a store asks five times a write
            raise _error(_NO_FILE, path)


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a regular file; never block on anything else, such as a named pipe or a device.

    Args:
        path: the file; a symbolic link is followed.
        limit: maximum bytes.

    Raises:
        OSError: it cannot be read, is not a regular file or is too long; `strerror` says which.
    """
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise _error(f"it is longer than {limit:,} bytes", path)
    return content


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; never block on anything else, such as a named pipe or a device.

    Raises:
        OSError: it cannot be opened, or is not a regular file; `strerror` says which.
    """
    try:
        file = open(path, "rb", opener=_open)  # noqa: SIM115 - for the caller
    except ValueError as exc:
        raise _error("it is not a usable path", path) from exc
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _error(_NO_FILE, path)
    return file


def read_text(path: Path, limit: int) -> str:
    """Read a regular file of UTF-8 text, without its byte order mark.

    Raises:
        OSError: as for `read_bytes`, or it is not UTF-8.
    """
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise _error("it is not UTF-8 text", path) from exc


def make_private_folder(folder: Path) -> None:
    """Create `folder` for the user alone; an existing one is not changed.

    Raises:
        OSError: it cannot be created.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Create an empty file for the user alone; an existing one is not even opened.

    POSIX drops all locks a process holds on a file when it closes any handle of that file, so a
    database that may be in use must never be opened and closed behind SQLite's back.

    Raises:
        OSError: it cannot be created.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def kept_secret(path: Path) -> bytes:
    """Return the secret in the file `path`; create it for the user alone if there is none.

    Of several concurrent processes, one creates it and the others use it.

    Raises:
        OSError: it can neither be read nor created, or is empty.
    """
    with suppress(FileNotFoundError):
        return _read_secret(path)
    make_private_folder(path.parent)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    make_private_file(draft)
    try:
        draft.write_bytes(secrets.token_bytes(_SECRET_BYTES))
        with suppress(FileExistsError):
            os.link(draft, path)  # atomic, and never replaces another's
    finally:
        draft.unlink()
    return _read_secret(path)


def network_filesystem(folder: Path, mounts: Path = MOUNTS) -> str | None:
    r"""Return the kind of network file system of `folder`, or `None`.

    It knows the mounts that Linux lists and Windows' `\\server\share`. It does not detect Windows drive
    letters of shares, or mounts on macOS.

    Args:
        folder: an existing folder.
        mounts: a list as in proc(5).
    """
    if folder.drive.startswith("\\\\"):
        return "Windows share"
    try:
        text = mounts.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    place = PurePosixPath(folder.resolve())
    kind, depth = "", -1
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:  # noqa: PLR2004 - device, mount point, kind
            continue
        point = PurePosixPath(_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[1]))
        if place.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = fields[2], len(point.parts)
    return kind if kind in _NETWORK else None


def _open(path: str, flags: int) -> int:
    # Opening a pipe without a writer would block.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read_secret(path: Path) -> bytes:
    secret = read_bytes(path, _LONGEST_SECRET)
    if not secret:  # an empty secret hides nothing
        raise OSError(errno.EINVAL, "it is empty", str(path))
    return secret


def _error(reason: str, path: Path | str) -> OSError:
    return OSError(errno.EINVAL, reason, str(path))

"""Folders and files only the user may read, and folders that are not on this machine."""

import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath

MOUNTS = Path("/proc/self/mounts")
"""Where Linux lists what is mounted; elsewhere there is no such file."""

_NETWORK = frozenset(
    {
        "afs",
        "ceph",
        "cifs",
        "fuse.sshfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    }
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


def make_private_folder(folder: Path) -> None:
    """Make `folder` for the user alone; one that exists is left as it is.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file for the user alone; one that exists is not even opened.

    POSIX drops all locks a process holds on a file when it closes any handle of that file, so a
    database that may be in use must never be opened and closed behind SQLite's back.

    Raises:
        OSError: it cannot be made.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def network_filesystem(folder: Path, mounts: Path = MOUNTS) -> str | None:
    r"""The kind of network file system `folder` is on, or `None`.

    It knows what Linux lists as mounted and Windows' `\\server\share`. It does not see drive
    letters of Windows that stand for a share, nor mounts of macOS.

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

"""Why a store cannot be used, as typed errors and sentences for a person."""

import errno
import sqlite3
from pathlib import Path

from searx_mcp.errors import SearxMcpError

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NOT_WRITABLE = frozenset(
    {
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_AUTH,
    }
)
_LOCKS_FAILED = frozenset(
    {
        sqlite3.SQLITE_IOERR_LOCK,
        sqlite3.SQLITE_IOERR_RDLOCK,
        sqlite3.SQLITE_IOERR_UNLOCK,
        sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
        sqlite3.SQLITE_IOERR_SHMLOCK,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_IOERR_SHMOPEN,
    }
)
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class StorageError(SearxMcpError):
    """The store cannot be used. It never reaches whoever searches."""


class StorageBusyError(StorageError):
    """Other processes kept the file for too long; another time may work."""


class StorageUnavailableError(StorageError):
    """The file cannot be used as things are; the message names its folder and what to do."""


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is in the way, and waiting helps."""
    return _code(error) in _BUSY


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the content of the file is the trouble; nothing else justifies setting it aside."""
    return _code(error) in _DAMAGED


def unavailable(error: sqlite3.Error | OSError, path: Path) -> StorageUnavailableError:
    """The error for a person: which folder, and what to do."""
    folder = path.parent
    if _code(error) == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in _NO_ROOM:
        return StorageUnavailableError(
            f"the disk that holds {folder} is full", advice="Make room, then start again."
        )
    if isinstance(error, OSError) and error.errno == errno.EINVAL:
        return StorageUnavailableError(
            f"{error.filename or path} cannot be used: {error.strerror}",
            advice="Move it away, or name another folder.",
        )
    if isinstance(error, OSError) or _code(error) in _NOT_WRITABLE:
        return StorageUnavailableError(
            f"{folder} cannot be written",
            advice="Make it writable for this user, or name another folder.",
        )
    if getattr(error, "sqlite_errorcode", None) in _LOCKS_FAILED:
        return unreliable_locks(folder, str(error))
    return StorageUnavailableError(
        f"{path} cannot be used ({error})",
        advice=f"Check the disk that holds {folder}, or name another folder.",
    )


def unreliable_locks(folder: Path, reason: str) -> StorageUnavailableError:
    """The error for a folder whose file system cannot share a database between processes."""
    return StorageUnavailableError(
        f"{folder} cannot share a database between processes ({reason})",
        advice="Name a folder on a local disk.",
    )


def occupied(path: Path) -> StorageUnavailableError:
    """The error for a file that is somebody else's; it is left as it is."""
    return StorageUnavailableError(
        f"{path} belongs to another program or to another major version",
        advice="Name another folder, or move that file.",
    )


def damage_error(reason: str) -> sqlite3.DatabaseError:
    """What SQLite raises when it meets damage, where it only reports it."""
    error = sqlite3.DatabaseError(" ".join(reason.split()))
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _code(error: Exception) -> int:
    """The primary result code; errors that do not come from SQLite itself have none."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF

"""Opens a database file: private, checked, of the right version, or set aside if damaged.

It also translates errors of SQLite and the system into sentences for a person.
"""

import errno
import logging
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.files import (
    MOUNTS,
    check_regular,
    make_private_file,
    make_private_folder,
    network_filesystem,
)

_log = logging.getLogger("searx_mcp.storage")

_APPLICATION = 0x53580000
"""Marks a file as ours in its header; the schema's major version is added to it."""
_COMPANIONS = ("-journal", "-wal", "-shm")
"""Companion files of SQLite; the last two exist only if another program enabled write-ahead logging."""

_SMALLEST_PAGE = 512
"""Minimum bytes of a SQLite database that is not empty."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a database.

    Attributes:
        major: changes when older programs cannot use the file; the file name contains it, so another major is
            another file.
        minors: the statements of each minor version, in order. A minor only adds, so programs of any minor of
            a major can use one file at the same time.
        checked: whether the whole file is read and checked whenever it is opened. Otherwise damage is found
            in use; this is for a file that may be large and may lose any part.
        page_size: bytes of a page of a new file; a power of two.
        checks: statements that fail on damage which SQLite's own check does not detect.
    """

    major: int
    minors: tuple[tuple[str, ...], ...]
    checked: bool = True
    page_size: int = 4_096
    checks: tuple[str, ...] = ()


class OpenDatabase:
    """A database in use; meanwhile no process of ours sets its file aside.

    Args:
        connection: to the database, in autocommit mode.
        hold: keeps the file from being set aside.
        path: the file; `None` if the database is in memory.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        hold: sqlite3.Connection | None = None,
        path: Path | None = None,
    ) -> None:
        self.connection = connection
        self._hold = hold
        self._path = path
        self._file = path and _identity(path)

    def is_in_place(self) -> bool:
        """Whether the file at the path is still this one, and not emptied.

        Raises:
            OSError: something other than a file is there, or in place of a companion.
        """
        if self._path is None:
            return True
        _check_places(self._path)
        return self._file is not None and self._file == _identity(self._path)

    def close(self) -> None:
        """Close the file, which may then be set aside; a database in memory is lost."""
        with suppress(sqlite3.Error, OSError):
            if self.is_in_place():  # this mode leaves no empty journal behind
                self.connection.execute("PRAGMA journal_mode = DELETE")
        self.connection.close()
        if self._hold is not None:
            self._hold.close()


def open_in_memory(schema: Schema) -> OpenDatabase:
    """Create an empty database in memory, for one process."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _upgrade(connection, schema)
    return OpenDatabase(connection)


def open_database(
    path: Path, schema: Schema, *, thorough: bool = False, mounts: Path = MOUNTS
) -> OpenDatabase:
    """Open the file; create it if it is missing, and set it aside if it is damaged.

    A file is set aside only while nobody uses it, on every system: SQLite deletes a database's log by name,
    so a process that still uses the renamed file would delete the new one's log.

    Args:
        path: the file.
        schema: its schema.
        thorough: check the file whatever its schema says, after an error that suggests damage.
        mounts: the list of mounts, for detecting network file systems.

    Raises:
        StorageUnavailableError: the place cannot hold a shared database, or the file is not ours.
        sqlite3.Error: any other SQLite error, such as a busy or a read-only file.
        OSError: the folder or the file cannot be created.
    """
    make_private_folder(path.parent)
    if kind := network_filesystem(path.parent, mounts):
        raise _unreliable_locks(path.parent, kind)
    try:
        return _open(path, schema, thorough=thorough)
    except sqlite3.DatabaseError as exc:
        if not is_damage(exc):
            raise
        _replace(path, schema, thorough=thorough)
    return _open(path, schema, thorough=thorough)


def set_aside_files(path: Path) -> list[Path]:
    """Return a file's damaged predecessors, with their companions."""
    return sorted(path.parent.glob(f"{path.name}.damaged-*"))


def _open(path: Path, schema: Schema, *, thorough: bool) -> OpenDatabase:
    _check_places(path)
    hold = _hold(path)
    try:
        hold.execute("BEGIN")
        # Takes the shared lock, which the transaction holds.
        hold.execute("SELECT 1 FROM sqlite_master").fetchall()
        return OpenDatabase(_connect(path, schema, thorough=thorough), hold, path)
    except BaseException:
        hold.close()
        raise


def _replace(path: Path, schema: Schema, *, thorough: bool) -> None:
    """Set the file aside, unless another process has just done so."""
    with closing(_hold(path)) as hold:
        hold.execute("BEGIN EXCLUSIVE")
        try:
            _connect(path, schema, thorough=thorough).close()
        except sqlite3.DatabaseError as exc:
            if not is_damage(exc):
                raise
            aside = _set_aside(path)
            _log.warning("storage.damaged file=%s set_aside_as=%s reason=%s", path, aside.name, exc)


def _check_places(path: Path) -> None:
    # SQLite would wait forever for a named pipe.
    for place in _places(path):
        check_regular(place)


@lru_cache(maxsize=16)
def _places(path: Path) -> tuple[str, ...]:
    """Return the places of the file, its lock and its companions; cached, as building them takes longer than a `stat`."""
    return (str(path), str(_lock(path)), *(f"{path}{end}" for end in _COMPANIONS))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size >= _SMALLEST_PAGE else None


def _lock(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _hold(path: Path) -> sqlite3.Connection:
    # SQLite's own lock on an empty file: works on every system, and a killed process releases it.
    lock = _lock(path)
    make_private_file(lock)
    return sqlite3.connect(lock, timeout=0, isolation_level=None)


def _connect(path: Path, schema: Schema, *, thorough: bool) -> sqlite3.Connection:
    make_private_file(path)
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        _prepare(connection, path, schema, thorough=thorough)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, schema: Schema, *, thorough: bool) -> None:
    # 1. is it our file? change nothing before that is known
    # 2. is it intact?
    # 3. upgrade it to our minor version
    has_tables = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
    mark = _pragma(connection, "application_id")
    if has_tables and mark != _APPLICATION + schema.major:
        raise StorageUnavailableError(
            f"{path} belongs to another program or another major version",
            advice="Choose another folder, or move that file.",
        )
    if thorough or schema.checked:
        # The quick check does not detect a table and its index that diverged when the power failed.
        verdict = _pragma(connection, "integrity_check(1)")
        if verdict != "ok":
            raise _damage(str(verdict))
        if has_tables:
            for check in schema.checks:
                connection.execute(check)
    # Write-ahead logging maps its index into memory: truncating that file kills all its users.
    _ = _pragma(connection, "journal_mode = TRUNCATE")
    connection.execute("PRAGMA mmap_size = 0")  # the same; some builds of SQLite map by default
    # The system decides when to write: a power failure may cost the file, a killed process costs nothing.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA secure_delete = ON")
    _upgrade(connection, schema)


def _upgrade(connection: sqlite3.Connection, schema: Schema) -> None:
    if _minor(connection) >= len(schema.minors):
        return  # a newer minor only adds, so the file can be used as it is
    connection.execute(f"PRAGMA page_size = {schema.page_size}")  # affects only an empty file
    connection.execute("BEGIN IMMEDIATE")
    for statements in schema.minors[_minor(connection) :]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION + schema.major}")
    connection.execute(f"PRAGMA user_version = {max(_minor(connection), len(schema.minors))}")
    connection.execute("COMMIT")


def _minor(connection: sqlite3.Connection) -> int:
    minor: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return minor


def _pragma(connection: sqlite3.Connection, text: str) -> object:
    row = connection.execute(f"PRAGMA {text}").fetchone()
    return row[0] if row else None


def _set_aside(path: Path) -> Path:
    """Rename the file and its companions, the log first: it must not be applied to the new file."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for companion in _COMPANIONS:
        log = Path(f"{path}{companion}")
        if log.exists() and log.stat().st_size:  # an empty one is a leftover
            log.replace(f"{aside}{companion}")
    path.replace(aside)
    return aside


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


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection holds the lock, so that waiting helps."""
    return _code(error) in _BUSY


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file's content is damaged; only then is it set aside."""
    return _code(error) in _DAMAGED


def unavailable(error: sqlite3.Error | OSError, path: Path) -> StorageUnavailableError:
    """Return the error for a person: which folder, and what to do."""
    folder = path.parent
    if _code(error) == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in _NO_ROOM:
        return StorageUnavailableError(
            f"the disk that holds {folder} is full", advice="Free some space, then start again."
        )
    if isinstance(error, OSError) and error.errno == errno.EINVAL:
        return StorageUnavailableError(
            f"{error.filename or path} cannot be used: {error.strerror}",
            advice="Move it away, or choose another folder.",
        )
    if isinstance(error, OSError) or _code(error) in _NOT_WRITABLE:
        return StorageUnavailableError(
            f"{folder} cannot be written",
            advice="Make it writable for this user, or choose another folder.",
        )
    if getattr(error, "sqlite_errorcode", None) in _LOCKS_FAILED:
        return _unreliable_locks(folder, str(error))
    return StorageUnavailableError(
        f"{path} cannot be used ({error})",
        advice=f"Check the disk that holds {folder}, or choose another folder.",
    )


def _unreliable_locks(folder: Path, reason: str) -> StorageUnavailableError:
    """Return the error for a folder whose file system cannot share a database between processes."""
    return StorageUnavailableError(
        f"{folder} cannot share a database between processes ({reason})",
        advice="Choose a folder on a local disk.",
    )


def _damage(reason: str) -> sqlite3.DatabaseError:
    """Return the exception for damage that SQLite reports without raising."""
    error = sqlite3.DatabaseError(" ".join(reason.split()))
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _code(error: Exception) -> int:
    """Return the primary result code; errors that do not come from SQLite itself have none."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF

"""What a person is told about a store that cannot be used."""

import errno
import sqlite3
from pathlib import Path

import pytest

from searx_mcp.storage.errors import unavailable

PATH = Path("state") / "x-v1.db"


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "message", "advice"),
    [
        (sqlite_error(sqlite3.SQLITE_FULL), "the disk that holds state is full", "Make room"),
        (OSError(errno.ENOSPC, "no"), "the disk that holds state is full", "Make room"),
        (sqlite_error(sqlite3.SQLITE_READONLY), "state cannot be written", "another folder"),
        (sqlite_error(sqlite3.SQLITE_READONLY_DIRECTORY), "state cannot be written", "another"),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN), "state cannot be written", "another folder"),
        (PermissionError(errno.EACCES, "no"), "state cannot be written", "Make it writable"),
        (OSError(errno.EROFS, "no"), "state cannot be written", "Make it writable"),
        (
            OSError(errno.EINVAL, "it is no file", "state/x"),
            "state/x cannot be used: it is",
            "Move",
        ),
        (sqlite_error(sqlite3.SQLITE_IOERR_LOCK), "cannot share a database", "local disk"),
        (sqlite_error(sqlite3.SQLITE_IOERR_SHMMAP), "cannot share a database", "local disk"),
        (sqlite_error(sqlite3.SQLITE_IOERR_READ), "(disk I/O error)", "Check the disk"),
        (sqlite3.ProgrammingError("wrong"), "cannot be used (wrong)", "Check the disk"),
    ],
)
def test_each_trouble_names_the_folder_and_what_to_do(error, message, advice):
    told = unavailable(error, PATH)
    assert message in told.message
    assert "state" in told.message
    assert advice in told.advice

"""One SQLite file, shared by processes, or a database in memory; used from asyncio."""

import asyncio
import logging
import random
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageBusyError
from searx_mcp.files import MOUNTS
from searx_mcp.storage.opening import (
    OpenDatabase,
    Schema,
    is_busy,
    is_damage,
    open_database,
    open_in_memory,
    set_aside_files,
    unavailable,
)
from searx_mcp.tasks import CallThread

_log = logging.getLogger("searx_mcp.storage")

T = TypeVar("T")

PATIENCE = 3.0
"""Seconds a call may take, waiting for other processes included. The longest wait measured with four
processes writing without a pause was 1.3 s."""
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.025


class _Caller:
    """The caller of a call.

    Attributes:
        has_left: set once the caller no longer waits, for any reason.
        is_overdue: set before that, if the caller was told that the call failed.
    """

    def __init__(self) -> None:
        self.has_left = threading.Event()
        self.is_overdue = threading.Event()


class Transaction:
    """A running transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, **values: float | str | bytes | None) -> list[tuple[Any, ...]]:
        """Run one statement with named values and return its rows."""
        return self._connection.execute(sql, values).fetchall()

    def change(self, sql: str, **values: float | str | bytes | None) -> int:
        """Run one statement with named values and return how many rows it changed."""
        return self._connection.execute(sql, values).rowcount


class Database:
    """One SQLite file, opened by the first call and used in its own thread.

    Work is a function of a `Transaction`. It runs as one transaction, and is restarted if another process was
    in the way, so it must do nothing but access the database. While the file is busy, the thread retries
    after jittered pauses until the caller has waited `patience`; no caller ever sees "database is locked".
    Work of a caller who has stopped waiting may still be done.

    A damaged file is set aside and replaced.

    Args:
        path: the file; its folder is created. `None`: in memory, until it is closed.
        schema: its schema.
        patience: seconds one call may take.
        rng: source of the jitter.
        mounts: the list of mounts, for detecting network file systems.
    """

    def __init__(
        self,
        path: Path | None,
        schema: Schema,
        *,
        patience: float = PATIENCE,
        rng: random.Random | None = None,
        mounts: Path = MOUNTS,
    ) -> None:
        self.path = path or Path(":memory:")
        self.is_in_memory = path is None
        self.patience = patience
        self._schema = schema
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        self._mounts = mounts
        self._thread = CallThread(f"searx-mcp {self.path.name}")
        self._open: OpenDatabase | None = None  # used only by the thread
        self._doubtful = False

    @override
    def __repr__(self) -> str:
        return f"<Database {self.path} [{'open' if self._open else 'closed'}]>"

    async def read(self, work: Callable[[Transaction], T]) -> T:
        """Run `work`, which changes nothing, on one consistent state of the file.

        Raises:
            StorageBusyError: the file was busy for all of `patience`.
            StorageUnavailableError: the file cannot be used.
        """
        return await self._call(lambda caller: self._transact("BEGIN", work, caller))

    async def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` while no other process can write.

        Raises:
            StorageBusyError: the file was busy for all of `patience`.
            StorageUnavailableError: the file cannot be used.
        """
        # IMMEDIATE: a transaction that reads before it writes fails at once, whatever the timeout, if another
        # has written in between.
        return await self._call(lambda caller: self._transact("BEGIN IMMEDIATE", work, caller))

    async def erase(self, work: Callable[[Transaction], T], *, patience: float | None = None) -> T:
        """Run `work`, which deletes, and remove its data and free space from the file.

        Args:
            work: as for `write`.
            patience: seconds for rewriting the rest of the file, instead of the default.

        Raises:
            StorageBusyError: the file was busy for all of `patience`.
            StorageUnavailableError: the file cannot be used, or a trace cannot be deleted.
        """
        answer = await self.write(work)
        await self._call(lambda _caller: self._clear_traces(), patience)
        return answer

    async def aclose(self) -> None:
        """Close the file within `patience`; may be called more than once, and the next call reopens it.

        A file that a hanging disk keeps busy stays open until the process ends.
        """
        try:
            async with asyncio.timeout(self.patience):
                await self._thread.stop(self._close)
        except TimeoutError:
            return

    async def _call(self, attempt: Callable[[_Caller], T], patience: float | None = None) -> T:
        caller = _Caller()
        try:
            async with asyncio.timeout(self.patience if patience is None else patience):
                return await self._thread.run(lambda: self._run(partial(attempt, caller), caller))
        except TimeoutError as exc:
            caller.is_overdue.set()
            raise self._busy() from exc
        finally:
            caller.has_left.set()

    def _run(self, attempt: Callable[[], T], caller: _Caller) -> T:
        try:
            try:
                return self._patiently(attempt, caller)
            except sqlite3.DatabaseError as exc:
                if not is_damage(exc):
                    raise
                self._close()
                self._doubtful = True
                return self._patiently(attempt, caller)
        except (sqlite3.Error, OSError) as exc:
            raise unavailable(exc, self.path) from exc

    def _patiently(self, attempt: Callable[[], T], caller: _Caller) -> T:
        longest = _FIRST_PAUSE
        while True:
            try:
                return attempt()
            except sqlite3.OperationalError as exc:
                if not is_busy(exc):
                    raise
            if caller.has_left.wait(self._rng.uniform(longest / 2, longest)):
                raise self._busy()
            longest = min(2 * longest, _LONGEST_PAUSE)

    def _transact(self, begin: str, work: Callable[[Transaction], T], caller: _Caller) -> T:
        connection = self._opened()
        connection.execute(begin)
        try:
            answer = work(Transaction(connection))
            # While others read, retry the commit and not the work: SQLite admits no new reader before a
            # waiting writer, so readers cannot starve it.
            self._patiently(partial(self._commit, connection, caller), caller)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return answer

    def _commit(self, connection: sqlite3.Connection, caller: _Caller) -> None:
        if caller.is_overdue.is_set():
            raise self._busy()  # work reported as failed must not be done
        connection.execute("COMMIT")

    def _clear_traces(self) -> None:
        _ = self._opened().execute("VACUUM")
        if not self.is_in_memory:
            for aside in set_aside_files(self.path):
                aside.unlink()

    def _opened(self) -> sqlite3.Connection:
        if self._open is not None and not self._open.is_in_place():
            self._close()
        if self._open is None and self.is_in_memory:
            self._open = open_in_memory(self._schema)
        elif self._open is None:
            self._open = open_database(
                self.path, self._schema, thorough=self._doubtful, mounts=self._mounts
            )
            self._doubtful = False
            _log.debug("storage.opened file=%s", self.path)
        return self._open.connection

    def _close(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def _busy(self) -> StorageBusyError:
        return StorageBusyError(
            f"{self.path} did not answer within {self.patience:g} s",
            advice="Another process keeps it busy, or its disk is slow.",
        )

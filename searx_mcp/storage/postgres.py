"""Connections to a PostgreSQL server; the only module that uses the library.

The library is an optional extra of the package, so this module is imported late.
"""

import asyncio
import logging
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar
from urllib.parse import parse_qs, urlsplit

import asyncpg
from asyncpg import exceptions as pg
from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageError, StorageUnavailableError

T = TypeVar("T")
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

RETRY_INTERVAL: Final = 5.0
"""Seconds between two tries to reach a server that is down."""
_MOST: Final = 4
"""Connections of a process: as many as pages are read at a time."""
_SOONER: Final = 0.8
"""Share of the patience after which the server itself gives up; this distinguishes a busy server from one
that is down."""
_TRIES: Final = 4
"""Attempts if another process does the same work."""

_BUSY: Final = (pg.QueryCanceledError, pg.LockNotAvailableError, pg.DeadlockDetectedError)
_AGAIN: Final = (
    pg.DeadlockDetectedError,
    pg.ForeignKeyViolationError,
    pg.SerializationError,
    pg.UniqueViolationError,
)
"""Errors when two processes write the same rows."""
_BROKEN: Final = (
    pg.AdminShutdownError,
    pg.CrashShutdownError,
    pg.InterfaceError,
    pg.InternalClientError,
    pg.PostgresConnectionError,
    OSError,
)
"""Errors of an idle connection after a restart of the server or a failover."""
_REFUSED: Final = (pg.DataError, pg.ProgramLimitExceededError)
"""Errors about one value, which say nothing about the server."""
_FAILED: Final = (
    pg.PostgresError, pg.InterfaceError, pg.InternalClientError, OSError, ValueError,
)  # fmt: skip
_EXPLAINED: Final = (
    (
        (TimeoutError,),
        "did not answer within {patience:g} s",
        "Check that it runs and that its network is fast.",
    ),
    ((pg.CannotConnectNowError,), "is starting or stopping", "Wait until it is up."),
    (
        (pg.InvalidAuthorizationSpecificationError, pg.InsufficientPrivilegeError),
        "refuses access",
        "Check user name, password and rights in postgres.url.",
    ),
    ((pg.InvalidCatalogNameError,), "has no such database", "Create it: createdb NAME."),
    (
        (pg.ReadOnlySQLTransactionError,),
        "is a read-only replica",
        "Set the primary server in postgres.url.",
    ),
    (
        (pg.TooManyConnectionsError,),
        "has no connection left",
        "Raise its max_connections; each process takes four.",
    ),
    ((pg.DiskFullError,), "has no room left", "Free space on its disk."),
)
"""Messages for errors; the first match is used."""

_NAME: Final = re.compile(r"(?<![:\w]):([a-z_]+)")
_log = logging.getLogger("searx_mcp.storage")


def numbered(sql: str, values: Mapping[str, object]) -> tuple[str, list[object]]:
    """Replace `:names` by the server's numbered parameters, and return the values used."""
    text, names = _numbered(sql)
    return text, [values[name] for name in names]


@lru_cache(maxsize=256)
def _numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    names = tuple(dict.fromkeys(_NAME.findall(sql)))
    return _NAME.sub(lambda found: f"${names.index(found[1]) + 1}", sql), names


class PostgresLink:
    """A server, accessed through a few connections that are opened on demand.

    A call is a function of a connection. It is restarted over a new connection if an older one is broken, or
    if another process was in the way, so it must be idempotent. A call takes no longer than `patience`, after
    waiting at most as long for its turn. While the server is down, calls fail at once, except for one in five
    seconds that tries again.

    Args:
        url: `postgresql://`, with the library's parameters.
        patience: seconds one call may take, connecting included.
        greet: runs on every new connection before anything else.
    """

    def __init__(
        self, url: str, *, patience: float, greet: Callable[[Connection], Awaitable[None]]
    ) -> None:
        self.patience = patience
        self.retry_interval = RETRY_INTERVAL
        self.place = _place(url)
        self.error: StorageUnavailableError | None = None
        self._url = url
        self._greet = greet
        self._retry_at = 0.0
        self._slots = asyncio.Semaphore(_MOST)
        self._idle: list[Connection] = []

    @override
    def __repr__(self) -> str:
        state = "away" if self.error else "connected" if self._idle else "closed"
        return f"<PostgresLink {self.place} [{state}]>"

    async def read(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run `work`, which changes nothing that needs a transaction.

        Raises:
            StorageBusyError: the server is up, but took too long.
            StorageUnavailableError: it is down, or cannot be used.
        """
        return await self._call(work, self.patience)

    async def write(
        self, work: Callable[[Connection], Awaitable[T]], *, patience: float | None = None
    ) -> T:
        """Run `work` as one transaction.

        Args:
            work: uses nothing but the connection.
            patience: seconds it may take, instead of the default.

        Raises:
            StorageBusyError: the server is up, but took too long.
            StorageUnavailableError: it is down, or cannot be used.
        """

        async def transact(connection: Connection) -> T:
            # A failure ends the connection, and the server rolls back: there is nothing left to wait for.
            longer = "" if patience is None else _timeouts("SET LOCAL", patience)
            await connection.execute(f"BEGIN;{longer}")
            answer = await work(connection)
            await connection.execute("COMMIT")
            return answer

        return await self._call(transact, patience or self.patience)

    async def aclose(self) -> None:
        """Close the connections within `patience`; the next call opens another."""
        idle, self._idle = self._idle, []
        try:
            async with asyncio.timeout(self.patience):
                for connection in idle:
                    await connection.close()
        except _FAILED as exc:
            _log.debug("storage.postgres_not_closed reason=%s", type(exc).__name__)
        finally:
            for connection in idle:
                if not connection.is_closed():
                    connection.terminate()

    async def _call(self, work: Callable[[Connection], Awaitable[T]], patience: float) -> T:
        if self.error is not None and asyncio.get_running_loop().time() < self._retry_at:
            raise self.error
        try:
            async with asyncio.timeout(patience):
                await self._slots.acquire()
        except TimeoutError as exc:
            raise self._busy(patience) from exc
        try:
            async with asyncio.timeout(patience):
                answer = await self._run(work)
        except _BUSY as exc:
            raise self._busy(patience) from exc
        except _REFUSED as exc:
            raise StorageError(f"Postgres at {self.place} rejected a value") from exc
        except _FAILED as exc:
            raise self._note(exc, patience) from exc
        finally:
            self._slots.release()
        if self.error is not None:
            self.error = None
            _log.info("storage.postgres_back server=%s", self.place)
        return answer

    async def _run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        tries = 0
        while True:
            connection, is_new = await self._connection()
            try:
                answer = await work(connection)
            except _AGAIN:
                connection.terminate()
                tries += 1
                if tries == _TRIES:
                    raise
            except _BROKEN:
                connection.terminate()
                if is_new:
                    raise
                _log.debug("storage.postgres_reconnecting server=%s", self.place)
            except BaseException:
                # Without its client, the server ends a query and rolls back what it has done.
                connection.terminate()
                raise
            else:
                self._idle.append(connection)
                return answer

    async def _connection(self) -> tuple[Connection, bool]:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection, False
        connection = await asyncpg.connect(self._url, timeout=self.patience)
        try:
            await connection.execute(_timeouts("SET", self.patience) + _OPTIONS)
            await self._greet(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection, True

    def _note(self, exc: Exception, patience: float) -> StorageError:
        is_news = self.error is None
        self.error = _unavailable(exc, self.place, patience)
        self._retry_at = asyncio.get_running_loop().time() + self.retry_interval
        if is_news:
            _log.warning(
                "storage.postgres_away server=%s reason=%s advice=%s",
                self.place,
                self.error.message,
                self.error.advice,
            )
        return self.error

    def _busy(self, patience: float) -> StorageBusyError:
        return StorageBusyError(
            f"Postgres at {self.place} did not finish within {patience:g} s",
            advice="Other processes keep it busy, or postgres.timeout is too short.",
        )


_OPTIONS: Final = "SET jit = off; SET client_min_messages = error; SET synchronous_commit = off;"
"""Just-in-time compilation takes longer than any of our queries."""


def _timeouts(verb: str, patience: float) -> str:
    limit = max(1, int(1_000 * _SOONER * patience))
    return "".join(
        f"{verb} {name} = {limit};"
        for name in ("statement_timeout", "idle_in_transaction_session_timeout")
    )


def _place(url: str) -> str:
    """Return the server and its database, without user and password."""
    parts = urlsplit(url)
    host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
    return f"{host}:{parts.port or 5432}{parts.path}"


def _unavailable(exc: Exception, place: str, patience: float) -> StorageUnavailableError:
    """Return the error for a person: what is wrong with the server, and what to do."""
    for kinds, message, advice in _EXPLAINED:
        if isinstance(exc, kinds):
            return StorageUnavailableError(
                f"Postgres at {place} {message.format(patience=patience)}", advice=advice
            )
    if isinstance(exc, pg.PostgresError):
        # Its text may contain what was sent.
        return StorageUnavailableError(
            f"Postgres at {place} answered with an error (SQLSTATE {exc.sqlstate})",
            advice="Check its log.",
        )
    if isinstance(exc, OSError) and not isinstance(exc, pg.InterfaceError):
        reason = os.strerror(exc.errno) if exc.errno else type(exc).__name__
        return StorageUnavailableError(
            f"Postgres at {place} cannot be reached ({reason})",
            advice="Start it, or check postgres.url.",
        )
    # The library puts parameters of the address, with their values, into this text.
    return StorageUnavailableError(
        f"Postgres at {place} does not answer like Postgres ({type(exc).__name__})",
        advice="Check postgres.url and the version of the server.",
    )

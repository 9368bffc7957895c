"""A store that outlives the process and is shared by all processes of a user."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.pool.record import LONGEST, SKEW, InstanceRecord, replaces, settled
from searx_mcp.search.state.interface import Budget, Reservation, StateStore, Window
from searx_mcp.search.state.memory import MemoryStore
from searx_mcp.storage.errors import StorageBusyError, StorageError
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.sqlite import PATIENCE, Database, Transaction

T = TypeVar("T")

_log = logging.getLogger("searx_mcp.search.state")

SCHEMA = Schema(
    major=1,
    minors=(
        (
            "CREATE TABLE charges (instance TEXT NOT NULL, at REAL NOT NULL, format TEXT NOT NULL)",
            "CREATE INDEX charges_by_instance ON charges (instance, at, format)",
            """CREATE TABLE instances (
                url TEXT PRIMARY KEY, last_at REAL NOT NULL, body TEXT NOT NULL
            ) WITHOUT ROWID""",
            "CREATE TABLE claims (job TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
        ),
    ),
)
FILE_NAME = f"state-v{SCHEMA.major}.db"
"""The file's name; another major is another file, so programs of both keep their own."""

_GIVE_UP = 10
"""After so many times its patience without one answer, a store goes on in memory."""


def open_store(path: Path | None) -> StateStore:
    """A store in the file `path`, best `folder / FILE_NAME`; in memory without one.

    Nothing is opened before the first use.
    """
    return MemoryStore() if path is None else SqliteStore(path)


class SqliteStore(StateStore):
    """Charges, records and claims in one SQLite file; no query is ever among them.

    What cannot be kept does not stop a search. While other processes keep the file busy for
    longer than `patience`, requests with a budget are refused for that long, and a job is left to
    the others. When the file cannot be used at all, or has not answered for ten times as long, the
    store goes on in memory until the process ends, with the charges it knows of, one warning,
    and the reason in `problem`.

    Args:
        path: the file; its folder is made.
        patience: seconds one call may take.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._database = Database(path, SCHEMA, patience=patience)
        self._memory = MemoryStore()  # also a copy of our own charges, should the file be lost
        self._problem = ""
        self._busy_since: float | None = None
        self._giving_up = asyncio.Lock()

    @override
    def __repr__(self) -> str:
        state = "in memory" if self._problem else "in its file"
        return f"<SqliteStore {self._database.path} [{state}]>"

    @property
    @override
    def problem(self) -> str:
        return self._problem

    @override
    async def reserve(
        self,
        instance: str,
        format: Format,
        windows: Sequence[Window],
        now: float,
    ) -> Reservation:
        if not windows:
            return Reservation(granted=True)

        async def in_file() -> Reservation:
            reservation = await self._database.write(
                lambda tx: _reserve(tx, instance, format, windows, now)
            )
            if reservation.granted:
                self._memory.charge(instance, format, windows, now)
            return reservation

        return await self._try(
            in_file,
            in_memory=lambda: self._memory.reserve(instance, format, windows, now),
            busy=Reservation(granted=False, retry_at=now + self._database.patience),
        )

    @override
    async def budget(self, instance: str, windows: Sequence[Window], now: float) -> Budget:
        if not windows:
            return Budget(left=None, free_at=now)
        return await self._try(
            lambda: self._database.read(lambda tx: _budget(tx, instance, windows, now)),
            in_memory=lambda: self._memory.budget(instance, windows, now),
            busy=Budget(left=0, free_at=now + self._database.patience),
        )

    @override
    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        return await self._try(
            lambda: self._database.write(lambda tx: _load(tx, now)),
            in_memory=lambda: self._memory.load(now),
            busy={},
        )

    @override
    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        if records:
            await self._try(
                lambda: self._database.write(lambda tx: _save(tx, records, now)),
                in_memory=lambda: self._memory.save(records, now),
                busy=None,
            )

    @override
    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        return await self._try(
            lambda: self._database.write(lambda tx: _claim(tx, job, seconds, now)),
            in_memory=lambda: self._memory.claim(job, seconds=seconds, now=now),
            busy=False,
        )

    @override
    async def purge(self) -> None:
        await self._memory.purge()
        await self._database.erase(_purge)

    @override
    async def aclose(self) -> None:
        await self._database.aclose()

    async def _try(
        self,
        in_file: Callable[[], Awaitable[T]],
        *,
        in_memory: Callable[[], Awaitable[T]],
        busy: T,
    ) -> T:
        if self._problem:
            return await in_memory()
        try:
            answer = await in_file()
        except StorageBusyError as exc:
            if not self._has_waited_long():
                return busy
            await self._go_on_in_memory(exc)
        except StorageError as exc:
            await self._go_on_in_memory(exc)
        else:
            self._busy_since = None
            return answer
        return await in_memory()

    def _has_waited_long(self) -> bool:
        now = asyncio.get_running_loop().time()
        if self._busy_since is None:
            self._busy_since = now
        return now - self._busy_since >= _GIVE_UP * self._database.patience

    async def _go_on_in_memory(self, error: StorageError) -> None:
        async with self._giving_up:
            if self._problem:
                return
            try:
                self._memory.restore(await self._database.read(_charges))
            except StorageError:
                _log.debug("storage.charges_lost file=%s", self._database.path)
            self._problem = (
                f"Budgets and instance states last only as long as this process: {error.message}. "
                f"{error.advice}"
            )
            _log.warning(
                "storage.degraded folder=%s: %s", self._database.path.parent, self._problem
            )


def _reserve(
    tx: Transaction, instance: str, format_: Format, windows: Sequence[Window], now: float
) -> Reservation:
    kept_for = max((LONGEST, *(window.seconds for window in windows)))
    tx.change(
        "DELETE FROM charges WHERE instance = :instance AND at <= :oldest",
        instance=instance,
        oldest=now - kept_for,
    )
    tx.change(
        "UPDATE charges SET at = :now WHERE instance = :instance AND at > :latest",
        instance=instance,
        now=now,
        latest=now + SKEW,
    )
    applying = [window for window in windows if window.format in (None, format_)]
    retry_at = [at for window in applying if (at := _free_at(tx, instance, window, now)) > now]
    if retry_at:
        return Reservation(granted=False, retry_at=max(retry_at))
    tx.change(
        "INSERT INTO charges (instance, at, format) VALUES (:instance, :at, :format)",
        instance=instance,
        at=now,
        format=format_,
    )
    return Reservation(granted=True)


def _budget(tx: Transaction, instance: str, windows: Sequence[Window], now: float) -> Budget:
    left = [max(0, window.limit - _count(tx, instance, window, now)) for window in windows]
    return Budget(
        left=min(left), free_at=max(_free_at(tx, instance, window, now) for window in windows)
    )


# The first condition on `at` is for the index and a second too wide, the next one is exact: the
# same sum as in memory, which for doubles is not the same as comparing `at` with a difference.
_INSIDE = (
    "FROM charges WHERE instance = :instance AND at > :now - :seconds - 1"
    " AND at + :seconds > :now AND (:format IS NULL OR format = :format)"
)


def _count(tx: Transaction, instance: str, window: Window, now: float) -> int:
    [(count,)] = tx.rows(
        f"SELECT count(*) {_INSIDE}",
        instance=instance,
        seconds=window.seconds,
        format=window.format,
        now=now,
    )
    return int(count)


def _free_at(tx: Transaction, instance: str, window: Window, now: float) -> float:
    """When the window has room again: the moment its limit-newest charge leaves it."""
    rows = tx.rows(
        f"SELECT at {_INSIDE} ORDER BY at DESC LIMIT 1 OFFSET :newer",
        instance=instance,
        seconds=window.seconds,
        format=window.format,
        now=now,
        newer=window.limit - 1,
    )
    return settled(rows[0][0], now) + window.seconds if rows else now


def _charges(tx: Transaction) -> list[tuple[str, float, Format]]:
    rows = tx.rows("SELECT instance, at, format FROM charges")
    return [(instance, at, Format(format_)) for instance, at, format_ in rows]


def _load(tx: Transaction, now: float) -> dict[str, InstanceRecord]:
    records = {}
    for url, last_at, body in tx.rows("SELECT url, last_at, body FROM instances"):
        try:
            kept = InstanceRecord.model_validate_json(body)
        except ValidationError:
            # A newer version may know states that this one does not: to us the instance is new.
            _log.debug("storage.record_skipped instance=%s", url)
            continue
        records[url] = record = kept.settled(now)
        if record.last_at != last_at:
            _put(tx, url, record, body)
    return records


def _save(tx: Transaction, records: Mapping[str, InstanceRecord], now: float) -> None:
    for url, record in records.items():
        kept = tx.rows("SELECT last_at, body FROM instances WHERE url = :url", url=url)
        if not kept:
            _put(tx, url, record.settled(now), "{}")
        elif replaces(record.last_at, kept[0][0], now):
            _put(tx, url, record.settled(now), kept[0][1])


def _put(tx: Transaction, url: str, record: InstanceRecord, old_body: str) -> None:
    # Fields that only a newer version knows stay as they are.
    body = {**_fields(old_body), **record.model_dump(mode="json")}
    tx.change(
        "INSERT INTO instances (url, last_at, body) VALUES (:url, :last_at, :body)"
        " ON CONFLICT (url) DO UPDATE SET last_at = excluded.last_at, body = excluded.body",
        url=url,
        last_at=record.last_at,
        body=json.dumps(body),
    )


def _fields(body: str) -> dict[str, object]:
    try:
        fields = json.loads(body)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _claim(tx: Transaction, job: str, seconds: float, now: float) -> bool:
    rows = tx.rows("SELECT at FROM claims WHERE job = :job", job=job)
    claimed_at = settled(rows[0][0], now) if rows else None
    is_free = claimed_at is None or claimed_at + seconds <= now
    tx.change(
        "INSERT INTO claims (job, at) VALUES (:job, :at)"
        " ON CONFLICT (job) DO UPDATE SET at = excluded.at",
        job=job,
        at=now if is_free else claimed_at,
    )
    return is_free


def _purge(tx: Transaction) -> None:
    for table in ("charges", "instances", "claims"):
        tx.change(f"DELETE FROM {table}")  # noqa: S608 - names of our own tables

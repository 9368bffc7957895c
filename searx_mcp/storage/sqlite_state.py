"""A state store that outlives the process and is shared by all processes of a user."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageError
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.pool.record import SKEW, InstanceRecord, replaces, settled
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.sqlite import PATIENCE, Database, Transaction
from searx_mcp.storage.state import (
    Account,
    Budget,
    Charge,
    Reservation,
    SlidingWindow,
    StateStore,
    decide,
    kept_for,
    read_record,
    wanted_since,
    written_record,
)

T = TypeVar("T")

_log = logging.getLogger("searx_mcp.storage")

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
        (
            """CREATE TABLE installation (
                row INTEGER PRIMARY KEY CHECK (row = 1), seed INTEGER NOT NULL
            )""",
        ),
        (
            """CREATE TABLE choices (
                kind TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, value)
            ) WITHOUT ROWID""",
        ),
    ),
)
FILE_NAME = f"state-v{SCHEMA.major}.db"
"""The file's name; another major is another file, so programs of both keep their own."""

_GIVE_UP = 10
"""Multiples of its patience after which a store without an answer continues in memory."""


def open_store(path: Path | None) -> StateStore:
    """Return a store in the file `path`, best `folder / FILE_NAME`; in memory without a path.

    Nothing is opened before the first use.
    """
    return MemoryStore() if path is None else SqliteStore(path)


class SqliteStore(StateStore):
    """Charges, records, claims, choices and a seed in one SQLite file; never queries.

    A failure to store does not stop a search. While other processes keep the file busy for longer than
    `patience`, requests with a budget are refused and jobs are left to the others. If the file cannot be used
    at all, or has not answered for ten times as long, the store continues in memory until the process ends,
    with the charges, choices and seed it knows, one warning, and the reason in `problem`. A choice that the
    file cannot take is refused.

    Args:
        path: the file; its folder is created.
        patience: seconds one call may take.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._database = Database(path, SCHEMA, patience=patience)
        self._memory = MemoryStore()  # also a copy of our own charges, in case the file is lost
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
    async def reserve(self, accounts: Sequence[Account], format: Format, now: float) -> Reservation:
        limited = [account for account in accounts if account.windows]
        if not limited:
            return Reservation(granted=True)

        async def in_file() -> Reservation:
            reservation = await self._database.write(lambda tx: _reserve(tx, limited, format, now))
            if reservation.granted:
                self._memory.charge(limited, format, now)
            return reservation

        return await self._try(
            in_file,
            in_memory=lambda: self._memory.reserve(limited, format, now),
            busy=Reservation(granted=False, retry_at=now + self._database.patience),
        )

    @override
    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        unlimited = Budget(left=None, free_at=now)
        if not any(account.windows for account in accounts):
            return (unlimited,) * len(accounts)
        unknown = Budget(left=0, free_at=now + self._database.patience)
        return await self._try(
            lambda: self._database.read(lambda tx: _budgets(tx, accounts, now)),
            in_memory=lambda: self._memory.budgets(accounts, now),
            busy=tuple(unknown if account.windows else unlimited for account in accounts),
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
    async def installation_seed(self) -> int:
        ours = await self._memory.installation_seed()

        async def in_file() -> int:
            seed = await self._database.write(lambda tx: _installation_seed(tx, ours))
            self._memory.keep_seed(seed)
            return seed

        return await self._try(in_file, in_memory=self._memory.installation_seed, busy=ours)

    @override
    async def choose(self, kind: InstanceChoice, value: str, *, chosen: bool) -> bool:
        try:
            changed = await self._database.write(lambda tx: _choose(tx, kind, value, chosen=chosen))
        except StorageBusyError as exc:
            raise StorageBusyError(
                f"{self._database.path} is in use by another process",
                advice="Nothing was changed; try again.",
            ) from exc
        _ = await self._memory.choose(kind, value, chosen=chosen)
        return changed

    @override
    async def choices(self) -> Mapping[InstanceChoice, tuple[str, ...]]:
        async def in_file() -> Mapping[InstanceChoice, tuple[str, ...]]:
            choices = await self._database.read(_choices)
            self._memory.keep_choices(choices)
            return choices

        known = await self._memory.choices()
        return await self._try(in_file, in_memory=self._memory.choices, busy=known)

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
                self._memory.restore(await self._database.read(_all_charges))
                self._memory.keep_choices(await self._database.read(_choices))
            except StorageError:
                _log.debug("storage.charges_lost file=%s", self._database.path)
            self._problem = (
                f"Budgets and instance states last only as long as this process: {error.message}. "
                f"{error.advice}"
            )
            _log.warning("storage.degraded reason=%s advice=%s", error.message, error.advice)


def _reserve(
    tx: Transaction, accounts: Sequence[Account], format_: Format, now: float
) -> Reservation:
    charged = [account for account in accounts if not account.members]
    for account in charged:
        tx.change(
            "DELETE FROM charges WHERE instance = :account AND at <= :oldest",
            account=account.name,
            oldest=now - kept_for(account),
        )
        tx.change(
            "UPDATE charges SET at = :now WHERE instance = :account AND at > :latest",
            account=account.name,
            now=now,
            latest=now + SKEW,
        )
    reservation = decide(accounts, _charges_of(tx, accounts, now), format_, now)
    if reservation.granted:
        for account in charged:
            tx.change(
                "INSERT INTO charges (instance, at, format) VALUES (:account, :at, :format)",
                account=account.name,
                at=now,
                format=format_,
            )
    return reservation


def _budgets(tx: Transaction, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
    charges = _charges_of(tx, accounts, now)
    return tuple(charges[account.name].budget(account.windows) for account in accounts)


def _charges_of(
    tx: Transaction, accounts: Sequence[Account], now: float
) -> dict[str, SlidingWindow]:
    """Return charges that the windows of the accounts may count, read with one statement."""
    oldest = wanted_since(accounts, now)
    found: dict[str, list[Charge]] = {name: [] for name in oldest}
    # CROSS JOIN: use the index for each account, instead of scanning all charges.
    for name, at, format_ in tx.rows(
        "SELECT instance, at, format FROM json_each(:oldest) AS wanted CROSS JOIN charges"
        " ON instance = wanted.key AND at > wanted.value",
        oldest=json.dumps(oldest),
    ):
        if name in found:  # a damaged index may return anything
            found[name].append((at, format_))
    return {
        account.name: SlidingWindow(
            chain.from_iterable(found[name] for name in account.sources), now
        )
        for account in accounts
    }


def _all_charges(tx: Transaction) -> list[tuple[str, float, str]]:
    return [
        (name, at, format_)
        for name, at, format_ in tx.rows("SELECT instance, at, format FROM charges")
    ]


def _installation_seed(tx: Transaction, ours: int) -> int:
    """Return the seed in the file, or ours if there is none yet."""
    rows = tx.rows("SELECT seed FROM installation")
    if rows:
        return int(rows[0][0])
    tx.change("INSERT INTO installation (row, seed) VALUES (1, :seed)", seed=ours)
    return ours


def _load(tx: Transaction, now: float) -> dict[str, InstanceRecord]:
    records = {}
    for url, last_at, body in tx.rows("SELECT url, last_at, body FROM instances"):
        if kept := read_record(url, body):
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
    tx.change(
        "INSERT INTO instances (url, last_at, body) VALUES (:url, :last_at, :body)"
        " ON CONFLICT (url) DO UPDATE SET last_at = excluded.last_at, body = excluded.body",
        url=url,
        last_at=record.last_at,
        body=written_record(record, over=old_body),
    )


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


def _choose(tx: Transaction, kind: InstanceChoice, value: str, *, chosen: bool) -> bool:
    if chosen:
        sql = "INSERT INTO choices (kind, value) VALUES (:kind, :value) ON CONFLICT DO NOTHING"
    else:
        sql = "DELETE FROM choices WHERE kind = :kind AND value = :value"
    return tx.change(sql, kind=kind, value=value) > 0


def _choices(tx: Transaction) -> dict[InstanceChoice, tuple[str, ...]]:
    # Kinds that only a newer version knows are not changed.
    rows = tx.rows("SELECT kind, value FROM choices ORDER BY value")
    return {kind: tuple(value for of, value in rows if of == kind) for kind in InstanceChoice}


def _purge(tx: Transaction) -> None:
    for table in ("charges", "instances", "claims", "choices", "installation"):
        tx.change(f"DELETE FROM {table}")  # noqa: S608 - names of our own tables

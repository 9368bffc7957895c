"""The interface of stores of charges, records of instances and choices."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.pool.record import InstanceRecord

_log = logging.getLogger("searx_mcp.storage")


@dataclass(frozen=True, slots=True)
class Window:
    """A sliding window: at most `limit` requests in `seconds`.

    Attributes:
        limit: requests allowed, at least one.
        seconds: the window's length.
        format: which requests count; `None` counts all.
    """

    limit: int
    seconds: float
    format: Format | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An account that requests are charged to.

    Attributes:
        name: the base URL of an instance, or the name of a shared account.
        windows: its limits; none means unlimited, and nothing is charged then.
        members: names of the accounts that share it. Their charges count here too, and it has none of its
            own.
    """

    name: str
    windows: tuple[Window, ...] = ()
    members: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the accounts whose charges count here."""
        return self.members or (self.name,)


@dataclass(frozen=True, slots=True)
class Reservation:
    """Whether a request may be sent.

    Attributes:
        granted: whether it may; it is then already charged.
        retry_at: Unix seconds at which it may, if not granted.
        refused_by: name of the account that forbids it, or of several the last to have room; `None` if
            granted, or if the store cannot be asked.
    """

    granted: bool
    retry_at: float | None = None
    refused_by: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What the windows of one account still allow.

    Attributes:
        left: requests allowed now; `None` if unlimited.
        free_at: Unix seconds from which at least one is allowed; not in the future if one is allowed now.
    """

    left: int | None
    free_at: float


class StateStore(Protocol):
    """Everything about instances that is remembered across calls.

    `reserve` is atomic and charges before the request is sent, and a charge is never refunded: the instance
    counts refused and abandoned requests too. A store raises nothing if it cannot save: it continues in
    memory and reports that in `problem`.

    Times are Unix seconds of a clock that may be set back or forward. If it is set back, never more than a
    window allows is granted. If it is set forward, a window may have room too early once.
    """

    @property
    def problem(self) -> str:
        """Why data does not outlive the process although it should, and the remedy; empty if all is well."""
        ...

    async def reserve(
        self,
        accounts: Sequence[Account],
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        now: float,
    ) -> Reservation:
        """Charge one request to all accounts if every window of every one allows it, else to none.

        Args:
            accounts: with different names; for a shared one, also the member that is asked.
            format: the format to be requested.
            now: Unix seconds.
        """
        ...

    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        """Return what each account still allows, in the order given, all at one moment; charges nothing."""
        ...

    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        """Return what was learned about instances, by URL, corrected at `now`."""
        ...

    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        """Save what was learned; a record with a later `last_at` is not replaced."""
        ...

    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        """Return whether the caller may do a job that is due once in `seconds` across all processes."""
        ...

    async def installation_seed(self) -> int:
        """Return a random number of 63 bits, the same for all processes of the store.

        It determines which part of the public pool this installation asks, so that installations differ. It
        never leaves the machine: it would identify the installation.
        """
        ...

    async def choose(self, kind: InstanceChoice, value: str, *, chosen: bool) -> bool:
        """Record a choice of the user, or that it no longer holds.

        Args:
            kind: of the choice.
            value: the base URL or host.
            chosen: whether it holds.

        Returns:
            Whether that changed anything. Of several concurrent equal calls, one changes it.

        Raises:
            StorageError: it cannot be stored now; the message says why.
        """
        ...

    async def choices(self) -> Mapping[InstanceChoice, tuple[str, ...]]:
        """Return the user's choices, sorted; every kind is included. They last until `purge`."""
        ...

    async def purge(self) -> None:
        """Delete everything: budgets, choices and the installation's seed included.

        Raises:
            StorageError: it cannot be deleted; the message says why.
        """
        ...

    async def aclose(self) -> None:
        """Close files and threads; may be called more than once.

        A store that is used again reopens what it needs and remembers.
        """
        ...


def read_record(url: str, text: str | bytes) -> InstanceRecord | None:
    """Parse a record; `None` if that fails: to us its instance is new.

    A newer version may have states that this one does not know.
    """
    try:
        record = InstanceRecord.model_validate_json(text)
    except ValidationError:
        _log.debug("storage.record_skipped instance=%s", url)
        return None
    if "state_at" not in record.model_fields_set:  # earlier versions kept one time for all
        record.state_at = record.last_at
    return record


def written_record(record: InstanceRecord, *, over: str | bytes) -> str:
    """Serialise a record, keeping fields of a newer version from the older text."""
    try:
        fields = json.loads(over)
    except ValueError:
        fields = {}
    known = fields if isinstance(fields, dict) else {}
    return json.dumps({**known, **record.model_dump(mode="json")})

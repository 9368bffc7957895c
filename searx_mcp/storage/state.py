"""The interface of stores of charges, records of instances and choices."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import Choice
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
        name: the base URL of an instance, or the word for what several instances share.
        windows: the limits to keep; none means unlimited, and nothing is charged then.
        members: names of the accounts that share it. What is charged to them counts here too, and
            it has no charges of its own.
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
        retry_at: Unix seconds at which it may, when not granted.
        refused_by: name of the account that forbids it, of several the one that is free last;
            `None` when granted, and when the store cannot be asked.
    """

    granted: bool
    retry_at: float | None = None
    refused_by: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What the windows of one account still allow.

    Attributes:
        left: requests allowed now; `None` for no limit.
        free_at: Unix seconds from which on at least one is allowed; not in the future if one is
            allowed now.
    """

    left: int | None
    free_at: float


class StateStore(Protocol):
    """What must be remembered about instances across calls.

    `reserve` is atomic, charges before the request leaves, and a charge is never refunded: the
    instance counts refused and abandoned requests too. A store raises nothing when it cannot keep
    what it should: it goes on in memory and says so in `problem`.

    Times are Unix seconds of a clock that may be put back or forward. Put back, never more than a
    window allows is granted. Put forward, it may free a window once, as if that time had passed.
    """

    @property
    def problem(self) -> str:
        """Why nothing outlives the process although it should, and the remedy; empty if all is well."""
        ...

    async def reserve(
        self,
        accounts: Sequence[Account],
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        now: float,
    ) -> Reservation:
        """Charge one request to all accounts if every window of every one allows it, else to none.

        Args:
            accounts: of different names; of those that others share, also the member asked.
            format: what will be asked for.
            now: Unix seconds.
        """
        ...

    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        """What each account still allows, in the order given, all at one moment; charges nothing."""
        ...

    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        """What was learned about instances, by URL, as it can be believed at `now`."""
        ...

    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        """Keep what was learned; an instance's record of a later `last_at` stays."""
        ...

    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        """Whether the caller may do a job that is wanted once in `seconds` over all processes."""
        ...

    async def installation_seed(self) -> int:
        """A random number of 63 bits, the same for all processes of the store.

        It chooses which part of the public pool this installation asks, so that not all of them ask
        the same. It never leaves the machine: it would tell one installation from another.
        """
        ...

    async def choose(self, kind: Choice, value: str, *, chosen: bool) -> bool:
        """Note what the user chose by command, or that they chose it no longer.

        Args:
            kind: what is chosen.
            value: the base URL or host.
            chosen: whether it is to be so.

        Returns:
            Whether that changed anything. Of several that do the same at once, one changes it.

        Raises:
            StorageError: it cannot be noted now; the message says why.
        """
        ...

    async def choices(self) -> Mapping[Choice, tuple[str, ...]]:
        """What the user chose, sorted; every kind is there. Kept until `purge`."""
        ...

    async def purge(self) -> None:
        """Delete everything that was kept: budgets, choices and the installation's seed included.

        Raises:
            StorageError: it cannot be deleted; the message says why.
        """
        ...

    async def aclose(self) -> None:
        """Close files and threads; harmless when called twice.

        A store that is used again opens what it needs and remembers.
        """
        ...


def read_record(url: str, text: str | bytes) -> InstanceRecord | None:
    """Read a record; `None` if it cannot be: to us its instance is new.

    A newer version may know states that this one does not.
    """
    try:
        return InstanceRecord.model_validate_json(text)
    except ValidationError:
        _log.debug("storage.record_skipped instance=%s", url)
        return None


def written_record(record: InstanceRecord, *, over: str | bytes) -> str:
    """Write a record in place of an older text, whose fields from a newer version stay."""
    try:
        fields = json.loads(over)
    except ValueError:
        fields = {}
    known = fields if isinstance(fields, dict) else {}
    return json.dumps({**known, **record.model_dump(mode="json")})

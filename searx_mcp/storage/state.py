"""The interface of stores of charges, records of instances and choices, and what charges leave of a budget."""

import json
import logging
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError
from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.pool.record import LONGEST, InstanceRecord, settled

_log = logging.getLogger("searx_mcp.storage")

_KEPT = 2 * LONGEST

Charge = tuple[float, str]
"""When a request was charged, and its format, which may be one of a newer version."""


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


class SlidingWindow:
    """The charges of one account, with corrected times.

    Args:
        charges: in any order, at least those that the windows may count.
        now: Unix seconds.
    """

    def __init__(self, charges: Iterable[Charge], now: float) -> None:
        self._now = now
        self._times: dict[str | None, list[float]] = {None: []}
        for at, format_ in sorted((settled(at, now), format_) for at, format_ in charges):
            self._times[None].append(at)
            self._times.setdefault(format_, []).append(at)

    def count(self, window: Window) -> int:
        """Number of charges inside the window."""
        times = self._times.get(window.format, [])
        return len(times) - bisect_right(times, self._now, key=lambda at: at + window.seconds)

    def free_at(self, window: Window) -> float:
        """Return when the window has room again: the moment its limit-newest charge leaves it."""
        times = self._times.get(window.format, [])
        if len(times) < window.limit:
            return self._now
        return max(self._now, times[-window.limit] + window.seconds)

    def budget(self, windows: Iterable[Window]) -> Budget:
        """Return the budget that the windows leave."""
        left, free_at = None, self._now
        for window in windows:
            here = max(0, window.limit - self.count(window))
            left = here if left is None else min(left, here)
            free_at = max(free_at, self.free_at(window))
        return Budget(left=left, free_at=free_at)


def decide(
    accounts: Sequence[Account],
    charges: Mapping[str, SlidingWindow],
    format: Format,  # noqa: A002 - the field's word for JSON or HTML
    now: float,
) -> Reservation:
    """Return whether all accounts allow a request; the last one to have room refuses it."""
    refused_by, retry_at = None, now
    for account in accounts:
        for window in account.windows:
            if window.format in (None, format):
                free_at = charges[account.name].free_at(window)
                if free_at > retry_at:
                    refused_by, retry_at = account.name, free_at
    if refused_by is None:
        return Reservation(granted=True)
    return Reservation(granted=False, retry_at=retry_at, refused_by=refused_by)


def kept_for(account: Account) -> float:
    """Return the seconds for which the charges of an account are stored.

    That is longer than its current windows: an instance that switches the link token on counts earlier
    requests, and so do all when a clock that was a month ahead is set back.
    """
    return max(_KEPT, lookback(account))


def lookback(account: Account) -> float:
    """Return the seconds for which a charge may count in a window of the account."""
    return max((window.seconds for window in account.windows), default=0.0)


def wanted_since(accounts: Sequence[Account], now: float) -> dict[str, float]:
    """Return the time from which each account's charges are needed, for all windows that count them."""
    oldest: dict[str, float] = {}
    for account in accounts:
        # A second too wide: `SlidingWindow` decides exactly which charges lie inside.
        earliest = now - lookback(account) - 1
        for name in account.sources:
            oldest[name] = min(earliest, oldest.get(name, earliest))
    return oldest


class QuotaMirror:
    """The charges known to one process, each with its own id.

    If they are stored elsewhere, this copy keeps counting while the original is unavailable, and sends it
    what it lacks when it is back: thanks to the ids, nothing is counted twice.
    """

    def __init__(self) -> None:
        self._charges: defaultdict[str, dict[str, Charge]] = defaultdict(dict)

    @override
    def __repr__(self) -> str:
        return f"<QuotaMirror [{len(self)} charges]>"

    def __len__(self) -> int:
        return sum(map(len, self._charges.values()))

    def learn(self, name: str, charges: Mapping[str, Charge], oldest: float) -> None:
        """Add charges of the account `name` by id; drop those up to `oldest`."""
        known = {**self._charges[name], **charges}
        self._charges[name] = {id_: charge for id_, charge in known.items() if charge[0] > oldest}

    def charge(self, accounts: Iterable[Account], id_: str, format_: Format, now: float) -> None:
        """Charge a request that was granted here or elsewhere."""
        for account in accounts:
            if account.windows and not account.members:
                self._settle(account, now)[id_] = (now, format_)

    def reserve(
        self, accounts: Sequence[Account], id_: str, format_: Format, now: float
    ) -> Reservation:
        """Charge a request if all windows allow it, as far as is known here."""
        charges = {account.name: self._of(account, now) for account in accounts}
        reservation = decide(accounts, charges, format_, now)
        if reservation.granted:
            self.charge(accounts, id_, format_, now)
        return reservation

    def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        """Return what each account still allows, as far as is known here."""
        return tuple(self._of(account, now).budget(account.windows) for account in accounts)

    def items(self) -> Iterator[tuple[str, Mapping[str, Charge]]]:
        """Return everything that is known, by the names of the accounts that have charges."""
        return ((name, charges) for name, charges in self._charges.items() if charges)

    def clear(self) -> None:
        """Drop everything."""
        self._charges.clear()

    def _of(self, account: Account, now: float) -> SlidingWindow:
        if not account.members:
            return SlidingWindow(self._settle(account, now).values(), now)
        return SlidingWindow(
            (
                charge
                for name in account.members
                if name in self._charges
                for charge in self._charges[name].values()
            ),
            now,
        )

    def _settle(self, account: Account, now: float) -> dict[str, Charge]:
        oldest = now - kept_for(account)
        charges = {
            id_: (settled(at, now), format_)
            for id_, (at, format_) in self._charges[account.name].items()
            if at > oldest
        }
        self._charges[account.name] = charges
        return charges

"""A store that lives as long as the process."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import Choice
from searx_mcp.pool.record import InstanceRecord, replaces, settled
from searx_mcp.search.state.charges import Charge, Charges, decide, kept_for
from searx_mcp.search.state.interface import Account, Budget, Reservation, StateStore

_SEED_BITS = 63
"""What an integer of SQLite holds without a sign."""


class MemoryStore(StateStore):
    """Everything in memory; shared by nobody, gone with the process.

    A charge is kept for as long as any window may ask for it, so the memory is bounded by what
    the windows allow.

    Args:
        rng: the dice for the seed of the installation.
    """

    def __init__(self, rng: random.Random | None = None) -> None:
        self._rng = rng or random.Random()  # noqa: S311 - spreads load, no secret
        self._charges: defaultdict[str, list[Charge]] = defaultdict(list)
        self._records: dict[str, InstanceRecord] = {}
        self._claims: dict[str, float] = {}
        self._seed: int | None = None
        self._choices: set[tuple[Choice, str]] = set()

    @override
    def __repr__(self) -> str:
        return f"<MemoryStore [{sum(map(len, self._charges.values()))} charges]>"

    @property
    @override
    def problem(self) -> str:
        return ""

    @override
    async def reserve(self, accounts: Sequence[Account], format: Format, now: float) -> Reservation:
        limited = [account for account in accounts if account.windows]
        charges = {account.name: self._of(account, now) for account in limited}
        reservation = decide(limited, charges, format, now)
        if reservation.granted:
            self.charge(limited, format, now)
        return reservation

    @override
    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        return tuple(self._of(account, now).budget(account.windows) for account in accounts)

    @override
    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        self._records = {url: record.settled(now) for url, record in self._records.items()}
        return dict(self._records)

    @override
    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        for url, record in records.items():
            kept = self._records.get(url)
            if kept is None or replaces(record.last_at, kept.last_at, now):
                self._records[url] = record.settled(now)

    @override
    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        claimed_at = self._claims.get(job)
        if claimed_at is None or settled(claimed_at, now) + seconds <= now:
            self._claims[job] = now
            return True
        self._claims[job] = settled(claimed_at, now)
        return False

    @override
    async def installation_seed(self) -> int:
        if self._seed is None:
            self._seed = self._rng.getrandbits(_SEED_BITS)
        return self._seed

    @override
    async def choose(self, kind: Choice, value: str, *, chosen: bool) -> bool:
        if ((kind, value) in self._choices) is chosen:
            return False
        self._choices ^= {(kind, value)}
        return True

    @override
    async def choices(self) -> Mapping[Choice, tuple[str, ...]]:
        chosen = sorted(self._choices)
        return {kind: tuple(value for of, value in chosen if of is kind) for kind in Choice}

    @override
    async def purge(self) -> None:
        self._charges.clear()
        self._records.clear()
        self._claims.clear()
        self._choices.clear()
        self._seed = None

    @override
    async def aclose(self) -> None:
        return

    def charge(
        self,
        accounts: Iterable[Account],
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        now: float,
    ) -> None:
        """Charge a request that was granted, here or elsewhere."""
        for account in accounts:
            if account.windows and not account.members:
                self._settle(account, now).append((now, format))

    def restore(self, charges: Iterable[tuple[str, float, str]]) -> None:
        """Take over the charges of all accounts from another store."""
        self._charges.clear()
        for name, at, format_ in sorted(charges):
            self._charges[name].append((at, format_))

    def keep_seed(self, seed: int) -> None:
        """Take over the seed of the installation from another store."""
        self._seed = seed

    def keep_choices(self, choices: Mapping[Choice, Iterable[str]]) -> None:
        """Take over the user's choices from another store."""
        self._choices = {(kind, value) for kind, values in choices.items() for value in values}

    def _of(self, account: Account, now: float) -> Charges:
        if not account.members:
            return Charges(self._settle(account, now), now)
        return Charges(
            (charge for name in account.members for charge in self._charges.get(name, ())), now
        )

    def _settle(self, account: Account, now: float) -> list[Charge]:
        oldest = now - kept_for(account)
        charges = self._charges[account.name]
        charges[:] = sorted((settled(at, now), format_) for at, format_ in charges if at > oldest)
        return charges

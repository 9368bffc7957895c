"""What one process knows of the charges that are kept elsewhere."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.pool.record import settled
from searx_mcp.search.state.charges import Charge, Charges, decide, kept_for
from searx_mcp.search.state.interface import Account, Budget, Reservation


class KnownCharges:
    """A copy of charges, each under an id of its own.

    It goes on counting while the original is away, and brings along what the original does not
    have when it is back: with the ids, nothing is counted twice.
    """

    def __init__(self) -> None:
        self._charges: defaultdict[str, dict[str, Charge]] = defaultdict(dict)

    @override
    def __repr__(self) -> str:
        return f"<KnownCharges [{sum(map(len, self._charges.values()))} charges]>"

    def learn(self, name: str, charges: Mapping[str, Charge], oldest: float) -> None:
        """Take over charges of the account `name` by id; forget those up to `oldest`."""
        known = {**self._charges[name], **charges}
        self._charges[name] = {id_: charge for id_, charge in known.items() if charge[0] > oldest}

    def charge(self, accounts: Iterable[Account], id_: str, format_: Format, now: float) -> None:
        """Charge a request that was granted, here or elsewhere."""
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
        """What each account still allows, as far as is known here."""
        return tuple(self._of(account, now).budget(account.windows) for account in accounts)

    def items(self) -> Iterator[tuple[str, Mapping[str, Charge]]]:
        """Everything that is known, by the names of the accounts that have charges."""
        return ((name, charges) for name, charges in self._charges.items() if charges)

    def clear(self) -> None:
        """Forget everything."""
        self._charges.clear()

    def _of(self, account: Account, now: float) -> Charges:
        if not account.members:
            return Charges(self._settle(account, now).values(), now)
        return Charges(
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

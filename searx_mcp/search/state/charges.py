"""What the windows of an account allow after its charges: the same sums for every store."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from searx_mcp.models.attempt import Format
from searx_mcp.pool.record import LONGEST, settled
from searx_mcp.search.state.interface import Account, Budget, Reservation, Window

_KEPT = 2 * LONGEST

Charge = tuple[float, str]
"""When a request was charged, and the format it asked for, which may be one of a newer version."""


class Charges:
    """The charges of one account as they can be believed at a time.

    Args:
        charges: in any order, at least those that the windows asked about may count.
        now: Unix seconds.
    """

    def __init__(self, charges: Iterable[Charge], now: float) -> None:
        self._now = now
        self._times: dict[str | None, list[float]] = {None: []}
        for at, format_ in sorted((settled(at, now), format_) for at, format_ in charges):
            self._times[None].append(at)
            self._times.setdefault(format_, []).append(at)

    def count(self, window: Window) -> int:
        """How many lie inside the window."""
        times = self._times.get(window.format, [])
        return len(times) - bisect_right(times, self._now, key=lambda at: at + window.seconds)

    def free_at(self, window: Window) -> float:
        """When the window has room again: the moment its limit-newest charge leaves it."""
        times = self._times.get(window.format, [])
        if len(times) < window.limit:
            return self._now
        return max(self._now, times[-window.limit] + window.seconds)

    def budget(self, windows: Iterable[Window]) -> Budget:
        """What the windows still allow."""
        left, free_at = None, self._now
        for window in windows:
            here = max(0, window.limit - self.count(window))
            left = here if left is None else min(left, here)
            free_at = max(free_at, self.free_at(window))
        return Budget(left=left, free_at=free_at)


def decide(
    accounts: Sequence[Account],
    charges: Mapping[str, Charges],
    format: Format,  # noqa: A002 - the field's word for JSON or HTML
    now: float,
) -> Reservation:
    """Whether all accounts allow a request; the one that is free last refuses it."""
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
    """Seconds for which the charges of an account are kept.

    Longer than its windows of the moment look back: an instance that switches the limiter's token
    on counts what was asked before, and so do all when a clock that was put ahead by a month is put
    back.
    """
    return max(_KEPT, lookback(account))


def lookback(account: Account) -> float:
    """Seconds for which a charge may count in a window of the account."""
    return max((window.seconds for window in account.windows), default=0.0)

"""When a budget will be spent, if requests go on as in the last week."""

from collections.abc import Sequence

from searx_mcp.search.state.interface import Account, StateStore, Window

DAY = 86_400.0
PACE_DAYS = 7
"""Days whose charges say how fast requests come: a week has the same weekdays every time."""

_DAYS = 30
_STEPS = 4
"""Looks a day: charges are known to the day, and a quarter of one tells today from tomorrow."""
_ROUNDING = 1e-6
_MANY = 1_000_000_000
"""More requests than any account has seen; a window of so many counts instead of limiting."""


async def charges_by_day(
    state: StateStore, accounts: Sequence[Account], now: float
) -> tuple[tuple[int, ...], ...]:
    """How many charges of each account are up to one day old, up to two, and so on to thirty.

    Args:
        state: knows the charges.
        accounts: whose charges; their windows do not matter.
        now: Unix seconds.
    """
    counting = [
        Account(account.name, (Window(_MANY, days * DAY),), account.members)
        for account in accounts
        for days in range(1, _DAYS + 1)
    ]
    budgets = await state.budgets(counting, now)
    counts = [_MANY - (_MANY if budget.left is None else budget.left) for budget in budgets]
    rows = (counts[start : start + _DAYS] for start in range(0, len(counts), _DAYS))
    return tuple(
        tuple(until - before for before, until in zip((0, *row[:-1]), row, strict=True))
        for row in rows
    )


def pace(by_day: Sequence[int]) -> float:
    """Requests a day over the last week."""
    return sum(by_day[:PACE_DAYS]) / PACE_DAYS


def days_left(windows: Sequence[Window], by_day: Sequence[int]) -> float | None:
    """Days until a request is refused at the pace of the last week; `None` if it lasts.

    In each window of a day and more, charges leave as they grow old and new ones come at the pace.
    After thirty days only the pace counts, so that nothing changes any more. Shorter windows, and
    those of one format, let go again so soon that they are left out.

    Args:
        windows: of the account.
        by_day: its charges, as `charges_by_day` gives them.
    """
    coming = pace(by_day)
    long = [window for window in windows if window.seconds >= DAY and window.format is None]
    for step in range(_DAYS * _STEPS + 1 if coming else 1):
        days = step / _STEPS
        for window in long:
            length = window.seconds / DAY
            # Those of one day are taken to be spread over it.
            kept = sum(
                count * min(1.0, max(0.0, length - days - age)) for age, count in enumerate(by_day)
            )
            expected = kept + coming * min(days, length)
            # Now there must be room for one more. Later a window that is just full lasts: one
            # charge leaves it as the next one comes.
            if expected > window.limit + _ROUNDING or (step == 0 and expected >= window.limit):
                return days
    return None

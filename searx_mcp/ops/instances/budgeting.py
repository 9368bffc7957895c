"""The ledger: what every public instance allows, and for how long at this pace."""

from datetime import UTC, datetime

from searx_mcp.client.parts import Parts
from searx_mcp.models.administration import BudgetLine, Ledger
from searx_mcp.models.instance import Tier
from searx_mcp.search.state.budget import account_of, month_account
from searx_mcp.search.state.forecast import DAY, charges_by_day, days_left, pace
from searx_mcp.search.state.interface import Account, Budget, StateStore


async def ledger(parts: Parts, state: StateStore, now: float) -> Ledger:
    """The budgets of the public instances with a forecast; makes no request.

    Args:
        parts: of the open client.
        state: knows the charges.
        now: Unix seconds.
    """
    rows = [row for row in parts.pool.snapshot(now) if row.tier is not Tier.OWN]
    limited = parts.pool.month_limited()
    accounts = [account_of(row) for row in rows]
    if limited:
        accounts.append(month_account(limited))
    budgets = await state.budgets(accounts, now)
    by_day = await charges_by_day(state, accounts, now)
    lines = [
        _line(account, budget, counts, now)
        for account, budget, counts in zip(accounts, budgets, by_day, strict=True)
    ]
    month = lines.pop() if limited else None
    lines.sort(key=lambda line: (-line.spent, line.left or 0, line.name))
    return Ledger(
        at=datetime.fromtimestamp(now, UTC),
        instances=tuple(lines),
        month=month,
        notes=(state.problem,) if state.problem else (),
    )


def _line(account: Account, budget: Budget, by_day: tuple[int, ...], now: float) -> BudgetLine:
    long = [window.limit for window in account.windows if window.seconds == len(by_day) * DAY]
    left = days_left(account.windows, by_day)
    return BudgetLine(
        name=account.name,
        spent=sum(by_day),
        left=budget.left,
        limit=min(long, default=None),
        free_at=datetime.fromtimestamp(budget.free_at, UTC) if budget.free_at > now else None,
        pace=round(pace(by_day), 2),
        dry_at=None if left is None else datetime.fromtimestamp(now + left * DAY, UTC),
    )

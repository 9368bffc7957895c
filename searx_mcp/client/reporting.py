"""The pool with what is left of each budget."""

from searx_mcp.client.parts import Parts
from searx_mcp.models.instance import InstanceReport, PoolReport, Tier
from searx_mcp.search.state.budget import instance_account, month_account, month_report, month_total
from searx_mcp.search.state.interface import Account, StateStore


def account_of(row: InstanceReport) -> Account:
    """The account of an instance of a report."""
    return instance_account(row.url, own=row.tier is Tier.OWN, link_token=row.link_token)


async def pool_report(parts: Parts, state: StateStore, now: float) -> PoolReport:
    """Report the pool; makes no request.

    Args:
        parts: of the open client.
        state: knows the budgets.
        now: Unix seconds.
    """
    rows = parts.pool.snapshot(now)
    limited = parts.pool.month_limited()
    *budgets, paced, total = await state.budgets(
        [*map(account_of, rows), month_account(limited), month_total(limited)], now
    )
    instances = []
    for row, budget in zip(rows, budgets, strict=True):
        free_at = max(budget.free_at, paced.free_at if row.url in limited else now)
        wait = max(row.retry_after, round(free_at - now, 1))
        instances.append(row.model_copy(update={"budget_left": budget.left, "retry_after": wait}))
    month = month_report(len(limited), paced=paced, total=total, now=now) if limited else None
    report = parts.report(now)
    notes = (*report.notes, *filter(None, [state.problem]))
    return report.model_copy(update={"instances": tuple(instances), "month": month, "notes": notes})

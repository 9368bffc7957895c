"""The pool with what is left of each budget."""

from dataclasses import replace

from searx_mcp.client.parts import Parts
from searx_mcp.models.instance import InstanceReport, PoolReport
from searx_mcp.search.state.budget import account_of, month_account, month_report, month_total
from searx_mcp.search.state.interface import Account, StateStore


async def _sources(parts: Parts, state: StateStore, now: float) -> list[InstanceReport]:
    """The open sources, as a tier of their own, with what is left of a day."""
    if parts.sources is None:
        return []
    blocked = parts.roster.blocked
    rows = [
        row
        for row in parts.sources.pool.snapshot(now)
        if parts.sources.engines[row.source].host not in blocked
    ]
    budgets = await state.budgets([_a_day(parts.sources.accounts[row.url]) for row in rows], now)
    return [
        row.model_copy(
            update={
                "budget_left": budget.left,
                "retry_after": max(row.retry_after, round(budget.free_at - now, 1)),
            }
        )
        for row, budget in zip(rows, budgets, strict=True)
    ]


def _a_day(account: Account) -> Account:
    # Its spacing lets go within seconds, and would show a source as spent that is only being asked.
    return replace(account, windows=account.windows[-1:])


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
    instances += await _sources(parts, state, now)
    report = parts.report(now)
    notices = parts.sources.notices if parts.sources else ()
    notes = (*report.notes, *notices, *filter(None, [state.problem]))
    return report.model_copy(update={"instances": tuple(instances), "month": month, "notes": notes})

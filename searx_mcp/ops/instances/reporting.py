"""The pool with what is left of each budget."""

from dataclasses import replace
from datetime import UTC, datetime

from searx_mcp.client.parts import Parts
from searx_mcp.models.instance import InstanceReport, InstanceState, PoolReport, Uptime
from searx_mcp.pool.record import InstanceRecord
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
                **_times(parts.sources.pool.record_of(row.url), now),
            }
        )
        for row, budget in zip(rows, budgets, strict=True)
    ]


def _a_day(account: Account) -> Account:
    # Its spacing lets go within seconds, and would show a source as spent that is only being asked.
    return replace(account, windows=account.windows[-1:])


def instant(at: float) -> datetime | None:
    """A time of the pool for a person; `None` for one that never was."""
    return datetime.fromtimestamp(at, UTC).replace(microsecond=0) if at else None


def _times(record: InstanceRecord, now: float) -> dict[str, datetime | None]:
    is_limited = record.state is InstanceState.RATE_LIMITED and record.until > now
    return {
        "last_checked": instant(record.last_at),
        "rate_limited_until": instant(record.until) if is_limited else None,
    }


def _percent(uptime: Uptime) -> float | None:
    known = (uptime.month, uptime.year, uptime.week, uptime.day)
    return next((percent for percent in known if percent is not None), None)


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
    catalog = parts.roster.catalog
    # A list may leave out the slash at the end.
    listed = {entry.url.rstrip("/"): entry for entry in (catalog.instances if catalog else ())}
    instances = []
    for row, budget in zip(rows, budgets, strict=True):
        free_at = max(budget.free_at, paced.free_at if row.url in limited else now)
        wait = max(row.retry_after, round(free_at - now, 1))
        entry = listed.get(row.url.rstrip("/"))
        known = {
            "budget_left": budget.left,
            "retry_after": wait,
            "uptime": _percent(entry.uptime) if entry else None,
            **_times(parts.pool.record_of(row.url), now),
        }
        instances.append(row.model_copy(update=known))
    month = month_report(len(limited), paced=paced, total=total, now=now) if limited else None
    instances += await _sources(parts, state, now)
    report = parts.report(now)
    notices = parts.sources.notices if parts.sources else ()
    notes = (*report.notes, *notices, *filter(None, [state.problem]))
    return report.model_copy(update={"instances": tuple(instances), "month": month, "notes": notes})

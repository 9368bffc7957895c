"""One real search at one instance: what came of it, what it cost and what is left."""

from searx_mcp.models.administration import Trial
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.capture import Asked
from searx_mcp.search.state.budget import instance_account, month_account
from searx_mcp.search.state.interface import StateStore


async def trial(asked: Asked, pool: InstancePool, state: StateStore, now: float) -> Trial:
    """Report a search that was made.

    Args:
        asked: the search.
        pool: knows which budgets apply.
        state: knows what is left of them.
        now: Unix seconds.
    """
    url, limited = asked.instance, pool.month_limited()
    account = instance_account(
        url,
        own=asked.own,
        link_token=pool.link_token(url),
        is_unlimited=pool.is_unlimited(url),
    )
    budget, month = await state.budgets([account, month_account(limited)], now)
    outcome, page = asked.outcome, asked.outcome.page
    return Trial(
        instance=url,
        verdict=outcome.verdict,
        format=outcome.format,
        status_code=outcome.status_code,
        elapsed_ms=round(outcome.elapsed * 1_000),
        detail=outcome.offence or outcome.detail,
        rows_seen=outcome.rows_seen,
        rows_used=outcome.rows_used,
        answers=len(page.answers) if page else 0,
        infoboxes=len(page.infoboxes) if page else 0,
        suggestions=len(page.suggestions) if page else 0,
        unresponsive_engines=len(page.unresponsive_engines) if page else 0,
        cost=asked.cost,
        left=budget.left,
        month_left=month.left if url in limited else None,
    )

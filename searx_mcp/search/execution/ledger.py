"""The budgets of the pool's public instances, as one search meets them."""

from collections.abc import Callable
from dataclasses import replace

from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import Proposal
from searx_mcp.search.budget import MONTH, instance_account, month_account
from searx_mcp.sources.attempt_log import InstanceLog
from searx_mcp.storage.state import Account, StateStore


class QuotaGuard:
    """Says who may be asked, and charges every request before it leaves.

    A request to an instance with the thirty-day window is charged to the month's account too, which
    all public instances share.

    Args:
        pool: knows which windows apply to whom.
        state: keeps the charges.
        clock: Unix seconds.
    """

    def __init__(self, pool: InstancePool, state: StateStore, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._state = state
        self._clock = clock

    async def pass_over_spent(self, log: InstanceLog) -> None:
        """Take whoever has nothing left out of a search, with one look at all accounts."""
        now = self._clock()
        urls = self._pool.public_urls()
        limited = self._pool.month_limited()
        accounts = [self._applying(url, now) for url in urls]
        *budgets, month = await self._state.budgets([*accounts, month_account(limited)], now)
        for url, budget in zip(urls, budgets, strict=True):
            free_at = max(budget.free_at, month.free_at) if url in limited else budget.free_at
            if free_at > now:
                log.pass_over(url, free_at)
        log.knows_budgets = True

    async def charge(self, proposal: Proposal, log: InstanceLog) -> bool:
        """Charge one request; when a budget forbids it, the instance is passed over."""
        url = proposal.url
        limited = self._pool.month_limited()
        accounts = [self._account(url, own=proposal.own)]
        if url in limited:
            accounts.append(month_account(limited))
        reservation = await self._state.reserve(accounts, proposal.format, self._clock())
        log.refused_by = reservation.refused_by
        if not reservation.granted:
            for spent in limited if reservation.refused_by == MONTH else (url,):
                log.pass_over(spent, reservation.retry_at)
        return reservation.granted

    def _account(self, url: str, *, own: bool) -> Account:
        return instance_account(
            url,
            own=own,
            link_token=self._pool.link_token(url),
            is_unlimited=self._pool.is_unlimited(url),
        )

    def _applying(self, url: str, now: float) -> Account:
        """The account of an instance with the windows that a request to it would meet now."""
        account = self._account(url, own=False)
        form = self._pool.format_of(url, now)
        windows = tuple(w for w in account.windows if w.format in (None, form))
        return replace(account, windows=windows)

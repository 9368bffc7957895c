"""Budgets of public instances, which keep us below their limiters.

Operators count requests per address over minutes, hours and days, refused ones included. The windows stay
below SearXNG's limiter (`docs/decisions/budgets.md`): 4 JSON an hour, 15 pages in 20 s and 150 in 10 min, and
for clients without its link token 2 in 20 s, 10 in 10 min and 3 in 30 days. Own instances have no budget.

The thirty-day limits of all public instances together form one more account, the month, so that the budget
lasts and is never spent completely. A forecast from the last week says when it will be spent.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceReport, MonthReport, Tier
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import Proposal
from searx_mcp.storage.state import Account, Budget, StateStore, Window

if TYPE_CHECKING:
    from searx_mcp.sources.attempts import InstanceLog  # loads what asks

MONTH = "public"
"""Name of the month's account, shared by all public instances with the thirty-day window."""
PACE_DAYS = 7
"""Days whose charges determine the pace: every week has the same weekdays."""
DAY = 86_400.0
_DAYS = 30
_PER_HOST = 3

_SHORT = (
    Window(limit=3, seconds=3_600, format=Format.JSON),
    Window(limit=1, seconds=30, format=Format.HTML),
    Window(limit=8, seconds=600, format=Format.HTML),
)

_ALIKE = tuple(Window(window.limit, window.seconds) for window in _SHORT[1:])
"""Without a limiter, a search costs an operator the same in either format."""
_LINK_TOKEN = Window(limit=_PER_HOST, seconds=_DAYS * DAY)
_LEAST_BURST = 10
_STEPS = 4
"""Checks per day: charges are known by the day, and a quarter of one distinguishes today from tomorrow."""
_ROUNDING = 1e-6
_MANY = 1_000_000_000
"""More requests than any account has seen: such a window counts without limiting."""


def instance_account(
    url: str, *, own: bool, link_token: bool | None, is_unlimited: bool = False
) -> Account:
    """Return the account of one instance.

    Args:
        url: its base URL.
        own: whether it is an own instance: then nothing limits it.
        link_token: whether its pages contain the link token; unknown counts as yes.
        is_unlimited: whether it is known to run no limiter; our own limit still applies.
    """
    if own:
        return Account(url)
    if is_unlimited:
        return Account(url, _ALIKE)
    return Account(url, _SHORT if link_token is False else (*_SHORT, _LINK_TOKEN))


def account_of(row: InstanceReport) -> Account:
    """Return the account of an instance in a report."""
    is_unlimited = row.limiter is False and not row.link_token
    own = row.tier is Tier.OWN
    return instance_account(row.url, own=own, link_token=row.link_token, is_unlimited=is_unlimited)


def month_account(limited: Sequence[str]) -> Account:
    """Return the account of the month: at most U in 30 days, B of them at once.

    Its charges are those of the instances that have the thirty-day window now: one that turns out to have
    none takes its charges with it. Each allows 3 in 30 days, so the capacity of n of them is C = 3 n. A fifth
    is reserved, since other people and browsers behind the same address are counted too, and a host may count
    what never reached us: U = max(1, floor(0.8 C)). A quarter of it, but at least 10 and at most U, is the
    burst B, because people search in bursts. The rest is replenished evenly, (U - B) / 30 a day, so that no
    month is spent in its first week: at most floor(B + T (U - B) / 30) in T days.

    There is a window for each T from 1 to 30. With windows of 1, 2, 4, 8, 16 and 30 days only, a user who
    searches all the time fills one of them and then waits until the next smaller one has room again: 21 of 30
    days without a search, up to nine of them in a row.

    Args:
        limited: base URLs of the public instances with the window of thirty days.
    """
    hosts = len(limited)
    usable, burst = _usable(hosts), _burst(_usable(hosts))
    # Of windows with the same limit the longest implies the others.
    longest = {burst + (usable - burst) * days // _DAYS: days for days in range(1, _DAYS + 1)}
    windows = [Window(limit=limit, seconds=days * DAY) for limit, days in longest.items()]
    return Account(MONTH, tuple(windows), tuple(limited))


def month_total(limited: Sequence[str]) -> Account:
    """Return the account of the month with its whole capacity as the only limit, to see what was spent."""
    capacity = Window(limit=max(1, _PER_HOST * len(limited)), seconds=_DAYS * DAY)
    return Account(MONTH, (capacity,), tuple(limited))


def month_report(hosts: int, *, paced: Budget, total: Budget, now: float) -> MonthReport:
    """Return the month's report for a person.

    Args:
        hosts: public instances with the window of thirty days, at least one.
        paced: the budget of their `month_account`.
        total: the budget of their `month_total`.
        now: Unix seconds at which both were read.
    """
    capacity, usable = _PER_HOST * hosts, _usable(hosts)
    spent = capacity - (total.left or 0)
    return MonthReport(
        capacity=capacity,
        spent=spent,
        left_now=paced.left or 0,
        left_month=max(0, usable - spent),
        kept_back=capacity - usable,
        retry_after=round(max(0.0, paced.free_at - now), 1),
    )


async def charges_by_day(
    state: StateStore, accounts: Sequence[Account], now: float
) -> tuple[tuple[int, ...], ...]:
    """Return how many charges of each account are up to one day old, up to two, and so on to thirty.

    Args:
        state: holds the charges.
        accounts: whose charges; their windows are ignored.
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
    """Return the requests per day over the last week."""
    return sum(by_day[:PACE_DAYS]) / PACE_DAYS


def days_left(windows: Sequence[Window], by_day: Sequence[int]) -> float | None:
    """Return the days until a request is refused at the pace of the last week; `None` if it lasts.

    In each window of a day or more, old charges leave and new ones arrive at the pace. After thirty days only
    the pace counts, so nothing changes any more. Shorter windows, and those of one format, have room again so
    soon that they are ignored.

    Args:
        windows: of the account.
        by_day: its charges, from `charges_by_day`.
    """
    coming = pace(by_day)
    long = [window for window in windows if window.seconds >= DAY and window.format is None]
    for step in range(_DAYS * _STEPS + 1 if coming else 1):
        days = step / _STEPS
        for window in long:
            length = window.seconds / DAY
            # Charges of one day are assumed to be spread over it.
            kept = sum(
                count * min(1.0, max(0.0, length - days - age)) for age, count in enumerate(by_day)
            )
            expected = kept + coming * min(days, length)
            # Now there must be room for one more. Later a window that is just full is enough: one
            # charge leaves it as the next one arrives.
            if expected > window.limit + _ROUNDING or (step == 0 and expected >= window.limit):
                return days
    return None


class QuotaGuard:
    """Checks budgets, and charges every request before it is sent.

    A request to an instance with the thirty-day window is also charged to the month's account, which all
    public instances share.

    Args:
        pool: knows which windows apply to which instance.
        state: stores the charges.
        clock: Unix seconds.
    """

    def __init__(self, pool: InstancePool, state: StateStore, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._state = state
        self._clock = clock

    async def pass_over_spent(self, log: "InstanceLog") -> None:
        """Leave instances without budget out of a search, reading all accounts at once."""
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

    async def charge(self, proposal: Proposal, log: "InstanceLog") -> bool:
        """Charge one request; if a budget forbids it, skip the instance."""
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
        """Return an instance's account with the windows that apply to a request now."""
        account = self._account(url, own=False)
        form = self._pool.format_of(url, now)
        windows = tuple(w for w in account.windows if w.format in (None, form))
        return replace(account, windows=windows)


def _usable(hosts: int) -> int:
    return max(1, _PER_HOST * hosts * 4 // 5)


def _burst(usable: int) -> int:
    return min(usable, max(_LEAST_BURST, usable // 4))

"""What public instances allow us, before their own limiters have to say so.

Operators count requests per address over minutes, hours and days, and count refused ones too. The
windows keep below SearXNG's limiter (`docs/decisions/budgets.md`): 4 JSON an hour, 15 pages in
20 s and 150 in 10 min, and for clients without its link token 2 in 20 s, 10 in 10 min and 3 in 30
days. Own instances have no budget.

What the thirty days allow at all public instances together is one more account, the month's, so
that it lasts and is never spent whole.
"""

from collections.abc import Sequence

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceReport, MonthReport, Tier
from searx_mcp.search.state.interface import Account, Budget, Window

MONTH = "public"
"""Name of the month's account, which all public instances with the window of thirty days share."""

_DAY = 86_400.0
_DAYS = 30
_PER_HOST = 3
_SHORT = (
    Window(limit=3, seconds=3_600, format=Format.JSON),
    Window(limit=1, seconds=30, format=Format.HTML),
    Window(limit=8, seconds=600, format=Format.HTML),
)
_ALIKE = tuple(Window(window.limit, window.seconds) for window in _SHORT[1:])
"""Where no limiter counts, a search costs an operator the same in either format."""
_LINK_TOKEN = Window(limit=_PER_HOST, seconds=_DAYS * _DAY)
_LEAST_BURST = 10


def instance_account(
    url: str, *, own: bool, link_token: bool | None, is_unlimited: bool = False
) -> Account:
    """The account of one instance.

    Args:
        url: its base URL.
        own: whether it is the user's own: then nothing limits it.
        link_token: whether its pages carry the limiter's token; unknown counts as yes.
        is_unlimited: whether it is known to run no limiter; what we allow ourselves holds all the same.
    """
    if own:
        return Account(url)
    if is_unlimited:
        return Account(url, _ALIKE)
    return Account(url, _SHORT if link_token is False else (*_SHORT, _LINK_TOKEN))


def account_of(row: InstanceReport) -> Account:
    """The account of an instance of a report."""
    is_unlimited = row.limiter is False and not row.link_token
    own = row.tier is Tier.OWN
    return instance_account(row.url, own=own, link_token=row.link_token, is_unlimited=is_unlimited)


def month_account(limited: Sequence[str]) -> Account:
    """The account of the month: at most U in 30 days, of which B may be spent at once.

    Its charges are those of the instances that have the window of thirty days now: one that turns
    out to have none takes its charges with it. Each allows 3 in 30 days, so the capacity of n of
    them is C = 3 n. A fifth is kept back, since
    other people and browsers behind the same address are counted too, and a host may count what
    never reached us: U = max(1, floor(0.8 C)). A quarter of it, but at least 10 and at most U, is
    the burst B, because people search in bursts. The rest comes back evenly, (U - B) / 30 a day,
    so that no month is spent in its first week: at most floor(B + T (U - B) / 30) in T days.

    There is a window for each T from 1 to 30. With those of 1, 2, 4, 8, 16 and 30 days alone,
    whoever searches all the time fills one of them and then waits until the one below it has let
    go: 21 of 30 days without a search, up to nine of them in a row.

    Args:
        limited: base URLs of the public instances with the window of thirty days.
    """
    hosts = len(limited)
    usable, burst = _usable(hosts), _burst(_usable(hosts))
    # Of windows with the same limit the longest implies the others.
    longest = {burst + (usable - burst) * days // _DAYS: days for days in range(1, _DAYS + 1)}
    windows = [Window(limit=limit, seconds=days * _DAY) for limit, days in longest.items()]
    return Account(MONTH, tuple(windows), tuple(limited))


def month_total(limited: Sequence[str]) -> Account:
    """The account of the month with its whole capacity as the only limit: what was spent of it."""
    capacity = Window(limit=max(1, _PER_HOST * len(limited)), seconds=_DAYS * _DAY)
    return Account(MONTH, (capacity,), tuple(limited))


def month_report(hosts: int, *, paced: Budget, total: Budget, now: float) -> MonthReport:
    """The month for a person.

    Args:
        hosts: public instances with the window of thirty days, at least one.
        paced: the budget of `month_account` of them.
        total: the budget of `month_total` of them.
        now: Unix seconds, at which both were read.
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


def _usable(hosts: int) -> int:
    return max(1, _PER_HOST * hosts * 4 // 5)


def _burst(usable: int) -> int:
    return min(usable, max(_LEAST_BURST, usable // 4))

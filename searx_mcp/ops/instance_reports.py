"""Reports on the pool: the list, one instance, the quota, a test search; they send no request."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from searx_mcp.models.administration import (
    BudgetLine,
    InstanceDetails,
    Ledger,
    MemberReason,
    Timers,
    Trial,
    WindowReport,
)
from searx_mcp.models.attempt import PastOutcome
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.instance import (
    CatalogEntry,
    InstanceReport,
    InstanceState,
    PoolReport,
    SortKey,
    Tier,
    Uptime,
)
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.record import WAITING, InstanceRecord
from searx_mcp.search.background.membership import PoolMembership, catalog_report
from searx_mcp.search.budget import (
    DAY,
    account_of,
    charges_by_day,
    days_left,
    instance_account,
    month_account,
    month_report,
    month_total,
    pace,
)
from searx_mcp.storage.state import Account, Budget, StateStore

if TYPE_CHECKING:
    from searx_mcp.search.trial import TrialSearch
    from searx_mcp.sources.open.members import SourceMembers

_STATES: Final = tuple(InstanceState)
_NEVER: Final = float("inf")
_WHY: Final = {Tier.OPEN: MemberReason.TABLE, Tier.KEYED: MemberReason.KEY}


class PoolParts(Protocol):
    """The members of a pool, as in an open client."""

    @property
    def pool(self) -> InstancePool:
        """The instances, and what was learned about them."""
        ...

    @property
    def membership(self) -> PoolMembership:
        """The list of public instances, and the user's choices."""
        ...

    @property
    def sources(self) -> "SourceMembers":
        """The enabled open sources and keyed providers."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """Filter and order of a list.

    Attributes:
        sort: key to sort by, the best first; by default, the order in which they are asked.
        reverse: whether to reverse the order.
        states: only instances in these states; empty for all.
        tiers: only instances of these tiers; empty for all.
        host: only addresses that contain this text.
        usable: only those that may be asked now.
    """

    sort: SortKey | None = None
    reverse: bool = False
    states: Collection[InstanceState] = ()
    tiers: Collection[Tier] = ()
    host: str = ""
    usable: bool = False

    def of(self, rows: Iterable[InstanceReport]) -> tuple[InstanceReport, ...]:
        """Return the selected rows in order; the sort is stable."""
        wanted = [row for row in rows if self._takes(row)]
        if self.sort is not None:
            wanted.sort(key=_KEYS[self.sort])
        return tuple(reversed(wanted) if self.reverse else wanted)

    def _takes(self, row: InstanceReport) -> bool:
        return (
            (not self.states or row.state in self.states)
            and (not self.tiers or row.tier in self.tiers)
            and self.host.casefold() in row.url.casefold()
            and not (self.usable and _next_try(row))
        )


def _next_try(row: InstanceReport) -> float:
    """Return the seconds until it may be asked again; infinite if it is blacklisted."""
    return _NEVER if row.state is InstanceState.BLACKLISTED else row.retry_after


def _low_first(value: float | None) -> float:
    return _NEVER if value is None else value


_KEYS: Final[dict[SortKey, Callable[[InstanceReport], tuple[float | str, ...]]]] = {
    SortKey.HOST: lambda row: (urlsplit(row.url).netloc, row.url),
    SortKey.SCORE: lambda row: (-row.score,),
    SortKey.STATE: lambda row: (_STATES.index(row.state),),
    SortKey.SUCCESS: lambda row: (1.0 if row.success is None else -row.success,),
    SortKey.P50: lambda row: (_low_first(row.p50),),
    SortKey.P95: lambda row: (_low_first(row.p95),),
    SortKey.LEFT: lambda row: (-_low_first(row.budget_left),),
    SortKey.NEXT: lambda row: (_next_try(row),),
}


async def pool_report(members: PoolParts, state: StateStore, now: float) -> PoolReport:
    """Report on the pool, with the rest of each budget.

    Args:
        members: of the open client.
        state: stores the budgets.
        now: Unix seconds.
    """
    pool = members.pool
    rows = pool.snapshot(now)
    limited = pool.month_limited()
    *budgets, paced, total = await state.budgets(
        [*map(account_of, rows), month_account(limited), month_total(limited)], now
    )
    listed = _listed(members.membership)
    instances = []
    for row, budget in zip(rows, budgets, strict=True):
        free_at = max(budget.free_at, paced.free_at if row.url in limited else now)
        entry = listed.get(_key(row.url))
        known = {
            "budget_left": budget.left,
            "retry_after": max(row.retry_after, round(free_at - now, 1)),
            "uptime": _percent(entry.uptime) if entry else None,
            **_lived(pool.record_of(row.url), now),
        }
        instances.append(row.model_copy(update=known))
    month = month_report(len(limited), paced=paced, total=total, now=now) if limited else None
    report = catalog_report(members.membership.catalog, now)
    sources = members.sources
    instances += await _source_rows(sources, members.membership.blocked, state, now)
    notes = (*report.notes, *sources.notices, *filter(None, [state.problem]))
    return report.model_copy(update={"instances": tuple(instances), "month": month, "notes": notes})


async def instance_details(
    row: InstanceReport, members: PoolParts, state: StateStore, now: float, *, is_configured: bool
) -> InstanceDetails:
    """Report everything known about one instance.

    Args:
        row: the instance's row in the list.
        members: of the open client.
        state: stores the charges.
        now: Unix seconds.
        is_configured: whether the settings contain it as an own instance.
    """
    from searx_mcp.search.background.health import config_report  # noqa: PLC0415 - only a request needs it

    sources = members.sources
    if not row.tier.is_instance:
        record, account = sources.pool.record_of(row.url), sources.accounts[row.url]
    else:
        record, account = members.pool.record_of(row.url), account_of(row)
    apart = [Account(account.name, (window,)) for window in account.windows]
    whole, *budgets = await state.budgets([account, *apart], now)
    source = _WHY.get(row.tier, MemberReason.LIST)
    if row.tier is Tier.OWN:
        source = MemberReason.SETTINGS if is_configured else MemberReason.COMMAND
    return InstanceDetails(
        instance=row,
        source=source,
        listed=_listed(members.membership).get(_key(row.url)),
        outcomes=tuple(reversed(record.outcomes)),
        timers=_timers(record, whole, now),
        windows=tuple(
            WindowReport(
                limit=window.limit,
                seconds=window.seconds,
                format=window.format,
                spent=window.limit - (budget.left or 0),
            )
            for window, budget in zip(account.windows, budgets, strict=True)
        ),
        config=config_report(record.facts),
        open_source=sources.described(row.source) if row.source else None,
    )


async def quota_report(pool: InstancePool, state: StateStore, now: float) -> Ledger:
    """Report what every public instance allows, and for how long at this pace.

    Args:
        pool: the instances.
        state: stores the charges.
        now: Unix seconds.
    """
    rows = [row for row in pool.snapshot(now) if row.tier is not Tier.OWN]
    limited = pool.month_limited()
    accounts = [account_of(row) for row in rows]
    if limited:
        accounts.append(month_account(limited))
    budgets = await state.budgets(accounts, now)
    by_day = await charges_by_day(state, accounts, now)
    lines = [
        _budget_line(account, budget, counts, now)
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


async def trial_report(
    asked: "TrialSearch", pool: InstancePool, state: StateStore, now: float
) -> Trial:
    """Report a search at one instance: its outcome, its cost, and the rest of the budget.

    Args:
        asked: the search.
        pool: knows which budgets apply.
        state: stores them.
        now: Unix seconds.
    """
    url, limited = asked.instance, pool.month_limited()
    outcome, page = asked.outcome, asked.outcome.page or ResultPage()
    budget, month = await state.budgets(
        [
            instance_account(
                url,
                own=asked.own,
                link_token=pool.link_token(url),
                is_unlimited=pool.is_unlimited(url),
            ),
            month_account(limited),
        ],
        now,
    )
    return Trial(
        instance=url,
        verdict=outcome.verdict,
        format=outcome.format,
        status_code=outcome.status_code,
        elapsed_ms=round(outcome.elapsed * 1_000),
        detail=outcome.trust_violation or outcome.detail,
        rows_seen=page.rows_seen,
        rows_used=len(page.hits),
        answers=len(page.answers),
        infoboxes=len(page.infoboxes),
        suggestions=len(page.suggestions),
        unresponsive_engines=len(page.unresponsive_engines),
        cost=asked.cost,
        left=budget.left,
        month_left=month.left if url in limited else None,
    )


async def _source_rows(
    sources: "SourceMembers", blocked: Collection[str], state: StateStore, now: float
) -> list[InstanceReport]:
    """Return open sources and keyed providers, with the rest of their daily or monthly budgets."""
    rows = [
        row for row in sources.pool.snapshot(now) if sources.engines[row.source].host not in blocked
    ]
    # Their spacing ends within seconds, and would show a source in use as spent.
    days = [
        replace(account, windows=account.windows[1:])
        for account in (sources.accounts[row.url] for row in rows)
    ]
    budgets = await state.budgets(days, now)
    return [
        row.model_copy(
            update={
                "budget_left": budget.left,
                "retry_after": max(row.retry_after, round(budget.free_at - now, 1)),
                **_lived(sources.pool.record_of(row.url), now),
            }
        )
        for row, budget in zip(rows, budgets, strict=True)
    ]


def _listed(membership: PoolMembership) -> Mapping[str, CatalogEntry]:
    catalog = membership.catalog
    return {_key(entry.url): entry for entry in (catalog.instances if catalog else ())}


def _key(url: str) -> str:
    return url.rstrip("/")  # which a list may leave out


def _percent(uptime: Uptime) -> float | None:
    known = (uptime.month, uptime.year, uptime.week, uptime.day)
    return next((percent for percent in known if percent is not None), None)


def _instant(at: float) -> datetime | None:
    """Convert a time of the pool for a person; `None` if it never happened."""
    return datetime.fromtimestamp(at, UTC).replace(microsecond=0) if at else None


def _lived(
    record: InstanceRecord, now: float
) -> dict[str, datetime | tuple[PastOutcome, ...] | None]:
    is_limited = record.state is InstanceState.RATE_LIMITED and record.until > now
    return {
        "outcomes": record.outcomes,
        "last_checked": _instant(record.last_at),
        "rate_limited_until": _instant(record.until) if is_limited else None,
    }


def _timers(record: InstanceRecord, budget: Budget, now: float) -> Timers:
    healthy = record.state is InstanceState.HEALTHY
    return Timers(
        learned_at=_instant(record.last_at),
        waits_until=_instant(record.until) if record.state in WAITING else None,
        budget_free_at=_instant(budget.free_at) if budget.free_at > now else None,
        healthy_since=_instant(record.healthy_since) if healthy else None,
        robots_read_at=_instant(record.robots_read_at),
        json_again_at=_instant(record.json_recheck) if record.json_recheck > now else None,
    )


def _budget_line(
    account: Account, budget: Budget, by_day: tuple[int, ...], now: float
) -> BudgetLine:
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

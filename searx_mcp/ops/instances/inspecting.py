"""Everything that is known of one instance."""

from searx_mcp.client.parts import Parts
from searx_mcp.models.administration import InstanceDetails, Source, Timers, WindowReport
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier
from searx_mcp.ops.instances.reporting import instant
from searx_mcp.pool.life import WAITING
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.search.checking import config_report
from searx_mcp.search.state.budget import account_of
from searx_mcp.search.state.interface import Account, Budget, StateStore


async def details(
    row: InstanceReport, parts: Parts, state: StateStore, now: float, *, is_configured: bool
) -> InstanceDetails:
    """Report one instance; makes no request.

    Args:
        row: the instance as in the list.
        parts: of the open client.
        state: knows the charges.
        now: Unix seconds.
        is_configured: whether it is an own instance of the settings.
    """
    if row.tier is Tier.OPEN and parts.sources is not None:
        record = parts.sources.pool.record_of(row.url)
        account = parts.sources.accounts[row.url]
    else:
        record = parts.pool.record_of(row.url)
        account = account_of(row)
    apart = [Account(account.name, (window,)) for window in account.windows]
    whole, *budgets = await state.budgets([account, *apart], now)
    source = Source.TABLE if row.tier is Tier.OPEN else Source.LIST
    if row.tier is Tier.OWN:
        source = Source.SETTINGS if is_configured else Source.COMMAND
    catalog = parts.roster.catalog
    entries = catalog.instances if catalog else ()
    return InstanceDetails(
        instance=row,
        source=source,
        listed=next((entry for entry in entries if _is_same(entry.url, row.url)), None),
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
        open_source=parts.sources.described(row.source) if parts.sources and row.source else None,
    )


def _is_same(listed: str, url: str) -> bool:
    # A list may leave out the slash at the end.
    return listed.rstrip("/") == url.rstrip("/")


def _timers(record: InstanceRecord, budget: Budget, now: float) -> Timers:
    healthy = record.state is InstanceState.HEALTHY
    return Timers(
        learned_at=instant(record.last_at),
        waits_until=instant(record.until) if record.state in WAITING else None,
        budget_free_at=instant(budget.free_at) if budget.free_at > now else None,
        healthy_since=instant(record.healthy_since) if healthy else None,
        robots_read_at=instant(record.cleared_at),
        json_again_at=instant(record.json_recheck) if record.json_recheck > now else None,
    )

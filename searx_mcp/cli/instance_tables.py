"""What a person reads of the pool: tables that fit 80 columns, and say more where there is room."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from rich.table import Table
from rich.text import Text

from searx_mcp.cli.output import duration, host, plain_table, plain_text
from searx_mcp.models.administration import BudgetLine, Check, Checked, Robots
from searx_mcp.models.instance import (
    EngineReport,
    InstanceReport,
    InstanceState,
    MonthReport,
    Tier,
)

WIDE: Final = 110
"""Columns from which on a table shows all it has."""

_NARROW: Final = (
    "instance", "tier", "score", "state", "ok", "p50", "p95", "form", "left", "next try",
)  # fmt: skip
_WIDE: Final = (
    "instance", "tier", "grade", "score", "state", "success", "p50", "p95", "format", "left",
    "next try",
)  # fmt: skip
_STYLES: Final = {
    InstanceState.HEALTHY: "green",
    InstanceState.NEW: "dim",
    InstanceState.QUARANTINED: "red",
    InstanceState.BLACKLISTED: "red",
}
_ROBOTS: Final = {
    Robots.ALLOWED: "allows us",
    Robots.OPTED_OUT: "names us",
    Robots.UNREADABLE: "unreadable",
    Robots.NOT_ASKED: "",
}


def pool_table(rows: Iterable[InstanceReport], *, width: int) -> Table:
    """One row per instance.

    Args:
        rows: in the order they are shown.
        width: columns there are.
    """
    table = _table(*(_WIDE if width >= WIDE else _NARROW), width=width)
    for row in rows:
        cells = [
            host(row.url),
            row.tier,
            *([plain_text(_grade(row))] if width >= WIDE else []),
            # Nobody chooses among open sources by a score: the query does.
            "" if row.tier is Tier.OPEN else f"{row.score:.2f}",
            state(row.state),
            percent(row.success),
            seconds(row.p50, width),
            seconds(row.p95, width),
            row.format or "",
            "any" if row.budget_left is None else str(row.budget_left),
            next_try(row) if width >= WIDE else next_try(row).removeprefix("in "),
        ]
        table.add_row(*cells)
    return table


def _grade(row: InstanceReport) -> str:
    return "" if row.tier is Tier.OPEN else row.grade or "?"


def engine_table(engines: Iterable[EngineReport]) -> Table:
    """One row per engine of an own instance."""
    table = plain_table("engine", "state", "next", "answered", "refused", "failed", "results")
    for each in engines:
        why = f" ({each.reason})" if each.reason else ""
        cells = (str(n) for n in (each.answered, each.refused, each.failed, each.results))
        wait = f"in {duration(each.retry_after)}" if each.retry_after else "now"
        table.add_row(plain_text(each.name), plain_text(f"{each.state}{why}"), wait, *cells)
    return table


def check_table(checked: Checked, *, width: int) -> Table:
    """One row per instance that was probed."""
    headers = ("instance", "answers", "robots.txt", "limiter", "engines", "version")
    table = _table(*headers, width=width)
    for check in checked.checks:
        config = check.config
        engines = config.engines if config else None
        table.add_row(
            host(check.url),
            Text(f"{check.elapsed_ms} ms", "green") if check.alive else Text("no", "red"),
            plain_text(check.detail if width >= WIDE and check.detail else _ROBOTS[check.robots]),
            _limiter(check),
            "" if engines is None else str(len(engines)),
            plain_text((config.version or "") if config else ""),
        )
    return table


def budget_table(lines: Iterable[BudgetLine], *, now: datetime, width: int) -> Table:
    """One row per account, with what becomes of it at this pace.

    Args:
        lines: in the order they are shown.
        now: the time at which they were so.
        width: columns there are.
    """
    headers = ("instance", "spent", "of", "left", "free", "a day", "at this pace")
    table = _table(*headers, width=width)
    for line in lines:
        table.add_row(
            host(line.name),
            str(line.spent),
            "" if line.limit is None else str(line.limit),
            "any" if line.left is None else str(line.left),
            "now" if line.free_at is None else f"in {_until(line.free_at, now)}",
            f"{line.pace:.1f}" if line.pace else "",
            forecast(line, now),
        )
    return table


def forecast(line: BudgetLine, now: datetime) -> Text:
    """What becomes of a budget at this pace, in local time."""
    if line.dry_at is None:
        return Text("lasts", "dim")
    if line.dry_at <= now:
        return Text("dry now", "red")
    day = line.dry_at.astimezone()
    if day.date() == now.astimezone().date():
        return Text("dry today", "red")
    return Text(f"dry on {day:%A} {day.day} {day:%B}", "yellow")


def month_line(month: MonthReport) -> str:
    """What the public instances allow together, a sentence."""
    usable = month.capacity - month.kept_back
    now = f"{month.left_now or 'none'} may be used now"
    if month.retry_after:
        now += f", one in {duration(month.retry_after)}"
    return (
        f"Public budget: {month.left_month} of {usable} searches left this month, {now}; "
        f"{month.kept_back} kept back."
    )


def state(of: InstanceState) -> Text:
    """A state, in its colour."""
    return Text(of.replace("_", " "), _STYLES.get(of, "yellow"))


def percent(share: float | None) -> str:
    """A share as percent; empty if there is none."""
    return "" if share is None else f"{math.floor(100 * share + 0.5)}%"


def seconds(value: float | None, width: int) -> str:
    """A latency; without its unit where there is little room."""
    if value is None:
        return ""
    return f"{value:.2f} s" if width >= WIDE else f"{value:.2f}"


def next_try(row: InstanceReport) -> str:
    """When an instance may be asked again."""
    if row.state is InstanceState.BLACKLISTED:
        return "never"
    return f"in {duration(row.retry_after)}" if row.retry_after else "now"


def when(at: datetime, now: datetime) -> str:
    """A time and how far it is from now, in local time."""
    ahead = (at - now).total_seconds()
    away = f"in {duration(ahead)}" if ahead > 0 else f"{duration(abs(ahead))} ago"
    return f"{at.astimezone():%Y-%m-%d %H:%M} ({away})"


def instant(unix: float) -> datetime:
    """A time in Unix seconds."""
    return datetime.fromtimestamp(unix, UTC)


def _until(at: datetime, now: datetime) -> str:
    return duration(max(0.0, (at - now).total_seconds()))


def _limiter(check: Check) -> str:
    if check.config is None or check.config.limiter is None:
        return ""
    if not check.config.limiter:
        return "off"
    return "on, token" if check.config.link_token else "on"


def _table(*headers: str, width: int) -> Table:
    """A table in which addresses have the room that the rest leaves: cut at 80 columns, else folded."""
    if width < WIDE:
        table = Table(
            box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", expand=True
        )
        table.add_column(headers[0], no_wrap=True, overflow="ellipsis", ratio=1)
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column(headers[0], overflow="fold")
    for header in headers[1:]:
        table.add_column(header, no_wrap=True)
    return table

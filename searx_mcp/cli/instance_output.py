"""Output of the `instances` commands: tables that fit 80 columns, and one instance in detail."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from searx_mcp.cli.output import (
    WIDE,
    console,
    duration,
    host,
    plain_table,
    plain_text,
    print_columns,
    print_notes,
    print_prose,
    requests_table,
)
from searx_mcp.models.administration import (
    BudgetLine,
    Checked,
    InstanceCheck,
    InstanceDetails,
    Ledger,
    MemberReason,
    OpenSource,
    Robots,
)
from searx_mcp.models.instance import (
    EngineReport,
    InstanceReport,
    InstanceState,
    PoolReport,
    Tier,
)
from searx_mcp.models.spelling import counted

PAGE: Final = 20
"""Rows of the pool shown on a terminal unless all are requested."""
_NARROW: Final = (
    "instance", "tier", "score", "state", "ok", "p50", "p95", "fmt", "left", "next try",
)  # fmt: skip
_WIDE: Final = (
    "instance", "tier", "grade", "score", "state", "success", "p50", "p95", "format", "left",
    "next try",
)  # fmt: skip

_ROOMY: Final = 72
"""Columns from which all of these fit."""
_SPARED: Final = frozenset({"p50", "p95", "fmt"})

_STYLES: Final = {
    InstanceState.HEALTHY: "green",
    InstanceState.NEW: "dim",
    InstanceState.QUARANTINED: "red",
    InstanceState.BLACKLISTED: "red",
}

_ROBOTS: Final = {
    Robots.ALLOWED: "allowed",
    Robots.OPTED_OUT: "opted out",
    Robots.UNREADABLE: "unreadable",
    Robots.NOT_ASKED: "",
}

_SOURCES: Final = {
    MemberReason.SETTINGS: "your own, from the settings",
    MemberReason.COMMAND: "your own, added by `instances add`",
    MemberReason.LIST: "from the list of public instances",
    MemberReason.TABLE: "an open source: the documented API of a collection, not an instance",
    MemberReason.KEY: "a keyed provider: an API that you have a key for, not an instance",
}

_PARTS: Final = {Tier.OPEN: "Collection", Tier.KEYED: "Provider"}

_ENGINES_SHOWN: Final = 12


def print_pool(report: PoolReport, *, everything: bool) -> None:
    """Print the pool as a table, with its notes on standard error.

    Args:
        report: on the pool.
        everything: whether to show more than a page on a terminal; a pipe always gets everything.
    """
    out = console()
    rows = report.instances
    shown = rows if everything or not out.is_terminal else rows[:PAGE]
    if rows and out.is_terminal:
        out.print(pool_table(shown, width=out.width))
    elif rows:
        print_columns(out, _pool_rows(shown, width=out.width))
    else:
        out.print("No instances match.")
    if rest := len(rows) - len(shown):
        line = f"… and {rest} more: --all shows them; --tier, --state, --host and --usable filter."
        print_prose(out, line)
    if rows:
        print_prose(out, pool_line(rows), style="bold")
    for line in about_pool(report):
        print_prose(out, line, style="dim")
    print_notes(report.notes)


def about_pool(report: PoolReport) -> Iterator[str]:
    """Yield the lines below the pool: the source of its list, and what public instances allow."""
    if report.catalog_source:
        age = counted(report.catalog_age_days or 0, "day")
        yield f"Public list ({age} old): {report.catalog_source}."
    if month := report.month:
        usable = month.capacity - month.kept_back
        now = f"{month.left_now or 'none'} available now"
        if month.retry_after:
            now += f", one more in {duration(month.retry_after)}"
        yield (
            f"Public budget: {month.left_month} of {usable} searches left this month, {now}; "
            f"{month.kept_back} held in reserve."
        )


def pool_line(rows: Sequence[InstanceReport]) -> str:
    """Return a sentence that counts the rows by tier and by state."""
    tiers, states = Counter(row.tier for row in rows), Counter(row.state for row in rows)
    by_tier = ", ".join(f"{tiers[tier]} {tier}" for tier in Tier if tiers[tier])
    by_state = ", ".join(
        f"{states[each]} {each.replace('_', ' ')}" for each in InstanceState if states[each]
    )
    usable = sum(next_try(row) == "now" for row in rows)
    return f"{len(rows)} in all: {by_tier}. {by_state}. {usable} can be asked now."


def print_quota(quota: Ledger, *, everything: bool) -> None:
    """Print what public instances allow; with `everything`, also those that were not asked."""
    out = console()
    if not quota.instances:
        out.print("The pool has no public instances; your own have no budget.")
        return
    month = quota.month
    if month is not None:
        print_prose(
            out,
            f"All public instances: {month.spent} of {month.limit} searches used in the last 30 days,"
            f" {month.left or 'none'} available now. Over the last week you used {month.pace:.1f} a day;"
            f" at this rate you {_forecasts(month, quota.at)}.",
        )
    shown = [line for line in quota.instances if everything or line.spent]
    if shown:
        out.print(budget_table(shown, now=quota.at, width=out.width))
    if rest := len(quota.instances) - len(shown):
        line = f"{rest} {'more' if shown else 'instances'} not used in the last 30 days; --all shows them."
        print_prose(out, line, style="dim")
    print_notes(quota.notes)


def print_engines(out: Console, engines: Sequence[EngineReport]) -> None:
    """Print a row for each engine of an own instance, and whether searches are spread."""
    table = plain_table("engine", "state", "next", "answered", "refused", "failed", "results")
    for each in engines:
        why = f" ({each.reason})" if each.reason else ""
        cells = (str(n) for n in (each.answered, each.refused, each.failed, each.results))
        wait = f"in {duration(each.retry_after)}" if each.retry_after else "now"
        table.add_row(plain_text(each.name), plain_text(f"{each.state}{why}"), wait, *cells)
    out.print(table)
    if any(each.spared for each in engines):
        print_prose(out, "Some engines were refused lately; searches use the ones that work.")


def print_details(out: Console, details: InstanceDetails, now: datetime) -> None:
    """Print everything known about an instance."""
    row = details.instance
    out.print(plain_text(row.url, style="bold"))
    for title, facts in (
        ("", _standing(details)),
        (_PARTS.get(row.tier, ""), _collection(details.open_source)),
        ("Score", _score(row) if row.tier.is_instance else {}),
        ("Times", _times(details, now)),
        ("Budget", _budget(details)),
        ("Reported by /config", _config(details) if row.tier.is_instance else {}),
    ):
        _print_facts(out, title, facts)
    if row.engines:
        out.print(plain_text("\nEngines", style="bold"))
        print_engines(out, row.engines)
    if details.outcomes:
        out.print(plain_text("\nLast requests", style="bold"))
        aged = (
            (Text(f"{duration(max(0.0, (now - instant(past.at)).total_seconds()))} ago"), past)
            for past in details.outcomes
        )
        out.print(requests_table("when", aged, width=out.width))


def _standing(details: InstanceDetails) -> dict[str, object]:
    row = details.instance
    requests = row.successes + row.failures
    facts: dict[str, object] = {
        "origin": _SOURCES[details.source],
        "tier": f"{row.tier}" + (f", grade {row.grade}" if row.grade else ""),
        "state": state(row.state),
    }
    if row.reason:
        facts["reason"] = row.reason
    facts["next try"] = next_try(row)
    if requests:
        facts["requests"] = f"{requests}, {percent(row.success)} successful"
    if row.p50 is not None and row.p95 is not None:
        facts["latency"] = f"p50 {seconds(row.p50, 999)}, p95 {seconds(row.p95, 999)}"
    if row.format is not None:
        facts["format"] = f"the next request asks for {row.format.upper()}"
    if row.drift:
        facts["unreadable"] = f"{row.drift} answers had rows that could not be read"
    return facts


def _collection(source: OpenSource | None) -> dict[str, object]:
    if source is None:
        return {}
    facts: dict[str, object] = {
        "name": source.title,
        "operator": source.operator,
        "categories": ", ".join(source.categories),
        "terms": f"{source.terms_url} (read {source.terms_checked})",
    }
    if source.licence:
        facts["licence"] = source.licence
    return facts


def _score(row: InstanceReport) -> dict[str, object]:
    parts = dict(row.score_parts)
    names = ("success", "latency", "uptime", "grade", "engines")
    listed = ", ".join(f"{name} {parts[f'prior_{name}']:.2f}" for name in names)
    believed = 1 - parts["confidence"]
    return {
        "score": f"{row.score:.3f} = access · format · (.75 reliability + .25 latency)",
        "access": f"{parts['access']:.2f}",
        "format": f"{parts['format']:.2f}",
        "latency": f"{parts['latency']:.2f}",
        "reliability": (
            f"{believed:.2f} · {parts['prior']:.2f} expected"
            f" + {parts['confidence']:.2f} · {parts['observed']:.2f} observed"
        ),
        "expected": listed,
    }


def _times(details: InstanceDetails, now: datetime) -> dict[str, object]:
    timers = details.timers
    named = {
        "last seen": timers.learned_at,
        "healthy since": timers.healthy_since,
        "cooldown ends": timers.waits_until,
        "budget frees up": timers.budget_free_at,
        "robots.txt read": timers.robots_read_at,
        "JSON tried again": timers.json_again_at,
    }
    return {name: when(at, now) for name, at in named.items() if at is not None}


def _budget(details: InstanceDetails) -> dict[str, object]:
    if not details.windows:
        return {"limit": "none"}
    return {
        f"in {duration(window.seconds)}": (
            f"{window.spent} of {window.limit}"
            + (f" for {window.format.upper()}" if window.format else "")
        )
        for window in details.windows
    }


def _config(details: InstanceDetails) -> dict[str, object]:
    config = details.config
    if config is None:
        return {"": "not read yet; `searx-mcp instances check` reads it"}
    flags = {True: "yes", False: "no", None: "not stated"}
    facts: dict[str, object] = {
        "version": config.version or "not stated",
        "limiter": flags[config.limiter],
        "link token": flags[config.link_token],
        "public instance": flags[config.public_instance],
    }
    if config.engines is not None:
        names = ", ".join(config.engines[:_ENGINES_SHOWN])
        more = len(config.engines) - _ENGINES_SHOWN
        facts["engines"] = f"{len(config.engines)}: {names}" + (
            f" and {more} more" if more > 0 else ""
        )
        facts["categories"] = ", ".join(config.categories) or "none"
    return facts


def _print_facts(out: Console, title: str, facts: dict[str, object]) -> None:
    if not facts:
        return
    if title:
        out.print(plain_text(f"\n{title}", style="bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in facts.items():
        table.add_row(name, plain_text(fact) if isinstance(fact, str) else fact)  # type: ignore[arg-type] # - a text or a piece of one in colour
    out.print(table)


def pool_table(rows: Iterable[InstanceReport], *, width: int) -> Table:
    """Return a table with one row per instance.

    Args:
        rows: in display order.
        width: available columns.
    """
    headers, *cells = _pool_rows(rows, width=width)
    table = _table(*map(str, headers), width=width)
    for row in cells:
        table.add_row(*row)
    return table


def _pool_rows(rows: Iterable[InstanceReport], *, width: int) -> Iterator[Sequence[str | Text]]:
    """Yield the headers, then the cells of each instance."""
    headers = _WIDE if width >= WIDE else _NARROW
    shown = [name for name in headers if width >= _ROOMY or name not in _SPARED]
    yield shown
    for row in rows:
        grade = (row.grade or "?") if row.tier.is_instance else ""
        cells = (
            host(row.url),
            row.tier,
            *([plain_text(grade)] if width >= WIDE else []),
            # Open sources are chosen by the query, not by a score.
            f"{row.score:.2f}" if row.tier.is_instance else "",
            state(row.state),
            percent(success(row)),
            seconds(row.p50, width),
            seconds(row.p95, width),
            row.format or "",
            "any" if row.budget_left is None else str(row.budget_left),
            next_try(row) if width >= WIDE else next_try(row).removeprefix("in "),
        )
        yield [cell for name, cell in zip(headers, cells, strict=True) if name in shown]


def check_table(checked: Checked, *, width: int) -> Table:
    """Return a table with one row per checked instance."""
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
    """Return a table with one row per account, with a forecast.

    Args:
        lines: in display order.
        now: the time when they were read.
        width: available columns.
    """
    headers = ("instance", "spent", "of", "left", "free", "a day", "at this rate")
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
    """Return when a budget runs out at this rate, in local time."""
    if line.dry_at is None:
        return Text("won't run out", "dim")
    if line.dry_at <= now:
        return Text("used up", "red")
    day = line.dry_at.astimezone()
    if day.date() == now.astimezone().date():
        return Text("runs out today", "red")
    return Text(f"runs out {day:%a} {day.day} {day:%b}", "yellow")


def _forecasts(line: BudgetLine, now: datetime) -> str:
    """Return the same in words."""
    shown = forecast(line, now).plain
    return "have used them up" if shown == "used up" else shown.replace("runs out", "run out")


def state(of: InstanceState) -> Text:
    """Return a state in its colour."""
    return Text(of.replace("_", " "), _STYLES.get(of, "yellow"))


def success(row: InstanceReport) -> float | None:
    """Return the share of requests that ended a search; `None` if it answers well but had no results yet."""
    is_unproven = row.state is InstanceState.HEALTHY and not row.success
    return None if is_unproven else row.success


def percent(share: float | None) -> str:
    """Return a share as percent; empty if there is none."""
    return "" if share is None else f"{math.floor(100 * share + 0.5)}%"


def seconds(value: float | None, width: int) -> str:
    """Return a latency; without its unit if there is little room."""
    if value is None:
        return ""
    return f"{value:.2f} s" if width >= WIDE else f"{value:.2f}"


def next_try(row: InstanceReport) -> str:
    """Return when an instance may be asked again."""
    if row.state is InstanceState.BLACKLISTED:
        return "never"
    return f"in {duration(row.retry_after)}" if row.retry_after else "now"


def when(at: datetime, now: datetime) -> str:
    """Return a time and its distance from now, in local time."""
    ahead = (at - now).total_seconds()
    away = f"in {duration(ahead)}" if ahead > 0 else f"{duration(abs(ahead))} ago"
    return f"{at.astimezone():%Y-%m-%d %H:%M} ({away})"


def instant(unix: float) -> datetime:
    """Convert a time in Unix seconds."""
    return datetime.fromtimestamp(unix, UTC)


def _until(at: datetime, now: datetime) -> str:
    return duration(max(0.0, (at - now).total_seconds()))


def _limiter(check: InstanceCheck) -> str:
    if check.config is None or check.config.limiter is None:
        return ""
    if not check.config.limiter:
        return "off"
    return "on, token" if check.config.link_token else "on"


def _table(*headers: str, width: int) -> Table:
    """Return a table in which addresses get the remaining width: cut at 80 columns, else wrapped."""
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

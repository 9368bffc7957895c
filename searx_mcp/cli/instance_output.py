"""Everything the `instances` commands print: tables that fit 80 columns, and one instance in detail."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from searx_mcp.cli.output import console, duration, host, plain_table, plain_text, print_notes
from searx_mcp.models.administration import (
    BudgetLine,
    Check,
    Checked,
    InstanceDetails,
    Ledger,
    OpenSource,
    Refresh,
    Robots,
    Source,
    Trial,
)
from searx_mcp.models.attempt import PastOutcome
from searx_mcp.models.instance import (
    EngineReport,
    InstanceReport,
    InstanceState,
    MonthReport,
    PoolReport,
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

_SOURCES = {
    Source.SETTINGS: "your own, from the settings",
    Source.COMMAND: "your own, added by `instances add`",
    Source.LIST: "from the list of public instances",
    Source.TABLE: "an open source: a documented API of a collection, not an instance",
    Source.KEY: "a keyed provider: an API that you have a key of, not an instance",
}

_PARTS = {Tier.OPEN: "Collection", Tier.KEYED: "Provider"}

_ENGINES_SHOWN = 12


def print_pool(report: PoolReport) -> None:
    """Print the pool as a table, with its notes on standard error."""
    out = console()
    if report.instances:
        out.print(pool_table(report.instances, width=out.width))
    else:
        out.print("No instance to show.")
    for line in about_pool(report):
        out.print(plain_text(line, style="dim"))
    print_notes(report.notes)


def about_pool(report: PoolReport) -> Iterator[str]:
    """The lines below the pool: where its list comes from, and what public instances allow."""
    if report.catalog_source:
        yield f"Public instances: {report.catalog_source}; {report.catalog_age_days} days old"
    if report.month:
        yield month_line(report.month)


def print_quota(quota: Ledger, *, everything: bool) -> None:
    """Print what public instances allow; with `everything`, also those that were not asked."""
    out = console()
    if not quota.instances:
        out.print("No public instance is in the pool; your own have no budget.")
        return
    month = quota.month
    if month is not None:
        out.print(
            plain_text(
                f"Together: {month.spent} of {month.limit} searches used in 30 days,"
                f" {month.left or 'none'} may be used now; {month.pace:.1f} a day over the last week,"
                " at this pace: "
            ).append_text(forecast(month, quota.at))
        )
    shown = [line for line in quota.instances if everything or line.spent]
    if shown:
        out.print(budget_table(shown, now=quota.at, width=out.width))
    if rest := len(quota.instances) - len(shown):
        out.print(
            plain_text(
                f"{rest} {'more' if shown else 'instances'} were not asked in 30 days; --all shows"
                " them.",
                style="dim",
            )
        )
    print_notes(quota.notes)


def print_details(out: Console, details: InstanceDetails, now: datetime) -> None:
    """Print everything that is known of an instance."""
    row = details.instance
    out.print(plain_text(row.url, style="bold"))
    for title, facts in (
        ("", _standing(details)),
        (_PARTS.get(row.tier, ""), _collection(details.open_source)),
        ("Score", _score(row) if row.tier.is_instance else {}),
        ("Times", _times(details, now)),
        ("Budget", _budget(details)),
        ("What /config said", _config(details) if row.tier.is_instance else {}),
    ):
        _print_facts(out, title, facts)
    if row.engines:
        out.print(plain_text("\nEngines", style="bold"))
        print_engines(out, row.engines)
    if details.outcomes:
        out.print(plain_text("\nLast requests", style="bold"))
        out.print(_outcomes(details.outcomes, now))


def print_engines(out: Console, engines: Sequence[EngineReport]) -> None:
    """Print how the engines of an own instance answered, and whether searches are spread."""
    out.print(engine_table(engines))
    if any(each.spared for each in engines):
        out.print(
            "Searches are spread over the engines that are well, as some were refused lately."
        )


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
            f"{row.score:.2f}" if row.tier.is_instance else "",
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


def trial_lines(trial: Trial) -> Iterator[str]:
    """Lines on a real search: its outcome, its cost and what is left."""
    status = "" if trial.status_code is None else f", status {trial.status_code}"
    verdict = trial.verdict.replace("_", " ")
    read = f"{trial.rows_used} of {trial.rows_seen} rows read"
    yield f"{verdict}: {read} in {trial.elapsed_ms} ms ({trial.format.upper()}{status})"
    if trial.detail:
        yield trial.detail
    counts = {
        "answers": trial.answers,
        "infoboxes": trial.infoboxes,
        "suggestions": trial.suggestions,
        "engines that did not answer": trial.unresponsive_engines,
    }
    if around := ", ".join(f"{count} {what}" for what, count in counts.items() if count):
        yield around
    if not trial.cost:
        yield (
            "It cost nothing: your own instances have no budget."
            if trial.left is None
            else "It cost nothing: no search was sent."
        )
        return
    left = "any number" if trial.left is None else str(trial.left)
    month = "" if trial.month_left is None else f", {trial.month_left} at all public ones together"
    yield f"It cost {trial.cost} request of its budget; {left} may be asked there now{month}."


def refresh_lines(refresh: Refresh) -> Iterator[str]:
    """Lines on the list that was fetched."""
    if refresh.problem:
        yield f"There is no newer list: {refresh.problem}"
    if refresh.listed:
        yield f"{refresh.listed} listed, {refresh.kept} kept, {refresh.in_pool} in the pool."
    for reason, count in sorted(refresh.dropped.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count} dropped: {reason.replace('_', ' ')}"
    if not refresh.problem:
        yield "The list has changed." if refresh.changed else "The list is as it was."


def _grade(row: InstanceReport) -> str:
    return (row.grade or "?") if row.tier.is_instance else ""


def forecast(line: BudgetLine, now: datetime) -> Text:
    """The end of a budget at this pace, in local time."""
    if line.dry_at is None:
        return Text("lasts", "dim")
    if line.dry_at <= now:
        return Text("dry now", "red")
    day = line.dry_at.astimezone()
    if day.date() == now.astimezone().date():
        return Text("dry today", "red")
    return Text(f"dry on {day:%A} {day.day} {day:%B}", "yellow")


def month_line(month: MonthReport) -> str:
    """A sentence on the searches that public instances allow together."""
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


def _standing(details: InstanceDetails) -> dict[str, object]:
    row = details.instance
    requests = row.successes + row.failures
    facts: dict[str, object] = {
        "why": _SOURCES[details.source],
        "tier": f"{row.tier}" + (f", grade {row.grade}" if row.grade else ""),
        "state": state(row.state),
    }
    if row.reason:
        facts["reason"] = row.reason
    facts["next try"] = next_try(row)
    if requests:
        facts["requests"] = f"{requests}, {percent(row.success)} of use"
    if row.p50 is not None and row.p95 is not None:
        facts["latency"] = f"p50 {seconds(row.p50, 999)}, p95 {seconds(row.p95, 999)}"
    if row.format is not None:
        facts["format"] = f"{row.format.upper()} would be asked for"
    if row.drift:
        facts["unreadable"] = f"{row.drift} answers with rows that could not be read"
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
            f"{believed:.2f} · {parts['prior']:.2f} promised"
            f" + {parts['confidence']:.2f} · {parts['observed']:.2f} observed"
        ),
        "promised": listed,
    }


def _times(details: InstanceDetails, now: datetime) -> dict[str, object]:
    timers = details.timers
    named = {
        "last news": timers.learned_at,
        "healthy since": timers.healthy_since,
        "waits until": timers.waits_until,
        "budget free": timers.budget_free_at,
        "robots.txt read": timers.robots_read_at,
        "JSON again": timers.json_again_at,
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
    flags = {True: "yes", False: "no", None: "does not say"}
    facts: dict[str, object] = {
        "version": config.version or "does not say",
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


def _outcomes(outcomes: tuple[PastOutcome, ...], now: datetime) -> Table:
    table = plain_table("when", "format", "verdict", "status", "ms", "detail")
    for past in outcomes:
        ago = duration(max(0.0, (now - instant(past.at)).total_seconds()))
        table.add_row(
            f"{ago} ago",
            past.format,
            past.verdict.replace("_", " "),
            str(past.status_code or ""),
            str(past.elapsed_ms),
            plain_text(past.detail),
        )
    return table

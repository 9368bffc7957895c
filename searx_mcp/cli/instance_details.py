"""Prints all that is known about one instance."""

from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from searx_mcp.cli.instance_output import (
    instant,
    next_try,
    percent,
    print_engines,
    seconds,
    state,
    when,
)
from searx_mcp.cli.output import duration, plain_text, requests_table
from searx_mcp.models.administration import InstanceDetails, MemberReason, OpenSource
from searx_mcp.models.instance import InstanceReport, Tier

_SOURCES = {
    MemberReason.SETTINGS: "your own, from the settings",
    MemberReason.COMMAND: "your own, added by `instances add`",
    MemberReason.LIST: "from the list of public instances",
    MemberReason.TABLE: "an open source: the documented API of a collection, not an instance",
    MemberReason.KEY: "a keyed provider: an API that you have a key for, not an instance",
}

_PARTS = {Tier.OPEN: "Collection", Tier.KEYED: "Provider"}

_ENGINES_SHOWN = 12


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

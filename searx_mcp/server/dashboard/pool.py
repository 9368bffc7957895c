"""The pool on the dashboard: a table per tier with the state and remaining budget of each instance."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.models.attempt import PastOutcome
from searx_mcp.models.instance import InstanceReport, InstanceState, PoolReport, Tier
from searx_mcp.render.instances import is_usable
from searx_mcp.server.dashboard.markup import ABSENT, Html, element, join, table, table_row

_TIERS: Final = {
    Tier.OWN: "Own instances",
    Tier.OPEN: "Open sources",
    Tier.KEYED: "Search APIs with a key",
}
_STYLES: Final = {
    InstanceState.NEW: "quiet",
    InstanceState.HEALTHY: "well",
    InstanceState.QUARANTINED: "bad",
    InstanceState.BLACKLISTED: "bad",
}
"""Style of each state; all others are `waiting`."""
_COLUMNS: Final = (
    "Instance", "State", "Score", "Budget left", "Successes", "Median", "Latest requests", "Available",
)  # fmt: skip
_PARTS: Final = {
    "observed": "observed",
    "confidence": "weight of observed",
    "prior": "expected",
    "latency": "latency",
    "access": "access",
    "format": "format",
}
_BAR: Final = (8, 24)
"""Width and height of a bar in a sparkline, in pixels."""
_FULL_BAR: Final = 1_000
"""Milliseconds of the tallest bar, unless one in the row took longer."""
_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_LONGEST_DETAIL: Final = 200


def pool_section(report: PoolReport) -> Html:
    """Build the section about the pool, with its tiers in the order in which they are asked."""
    tiers = [(tier, list(rows)) for tier, rows in groupby(report.instances, lambda row: row.tier)]
    tables = [_tier(tier, rows, is_first=not number) for number, (tier, rows) in enumerate(tiers)]
    return element(
        "section",
        element("h2", "Pool", id="pool"),
        None if tables else element("p", "The pool is empty."),
        *tables,
        element(
            "p",
            element("small", f"Source of the public list: {report.catalog_source}"),
            id="list",
            data_live=True,
            hidden=not report.catalog_source,
        ),
        aria_labelledby="pool",
    )


def span(seconds: float) -> str:
    """Format a duration in its largest unit, rounded up, as in `5 min`."""
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{-int(-seconds // unit)} {name}"
    return f"{-int(-seconds // 1)} s"


def _tier(tier: Tier, rows: Sequence[InstanceReport], *, is_first: bool) -> Html:
    title = _TIERS.get(tier, f"Public instances, tier {tier}")
    usable = sum(map(is_usable, rows))
    key = f"tier-{tier.name.lower()}"
    is_asked = any(row.successes or row.failures for row in rows)
    return element(
        "details",
        element(
            "summary",
            element("h3", title),
            " ",
            element("span", f"{usable} of {len(rows)} usable now", id=f"{key}-n", data_live=True),
        ),
        table(
            element("caption", title, class_="hidden"),
            _COLUMNS,
            map(_row, rows),
            id=f"{key}-rows",
            data_live=True,
        ),
        id=key,
        open=is_first or is_asked,
    )


def _row(row: InstanceReport) -> Html:
    key = hashlib.blake2s(row.url.encode("utf-8", "replace"), digest_size=6).hexdigest()
    requests = row.successes + row.failures
    left = "no limit" if row.budget_left is None else f"{row.budget_left:,}"
    median = ABSENT if row.p50 is None else f"{row.p50:.2f} s"
    cells = (
        _state(row),
        _score(row, key),
        left,
        f"{row.successes} of {requests}" if requests else "none sent",
        median,
        _sparkline(row.outcomes),
        _availability(row),
    )
    name = element("bdi", row.source or urlsplit(row.url).netloc or row.url)
    return table_row(name, _COLUMNS[1:], cells)


def _state(row: InstanceReport) -> Html:
    kind = _STYLES.get(row.state, "waiting")
    name = row.state.value.replace("_", " ")
    if row.state is InstanceState.HEALTHY and row.failures and not row.successes:
        kind, name = "waiting", "reachable"  # health checks succeed, but no search has so far
    description = row.reason or (row.last_detail if kind != "well" else "")
    return join((
        element("span", name, class_=f"state {kind}"),
        element("small", description[:_LONGEST_DETAIL]) if description else None,
    ))  # fmt: skip


def _score(row: InstanceReport, key: str) -> Html:
    if not row.score_parts:
        return join((f"{row.score:.2f}",))
    parts = (
        join((element("dt", name), element("dd", f"{row.score_parts[part]:.2f}")))
        for part, name in _PARTS.items()
        if part in row.score_parts
    )
    return element(
        "details",
        element(
            "summary",
            f"{row.score:.2f}",
            element("span", " score, show its parts", class_="hidden"),
        ),
        element("dl", *parts),
        id=f"score-{key}",
    )


def _availability(row: InstanceReport) -> str:
    if row.state is InstanceState.BLACKLISTED:
        return "never"
    return f"in {span(row.retry_after)}" if row.retry_after else "now"


def _sparkline(outcomes: Sequence[PastOutcome]) -> Html:
    """Build bars of the latest requests, the newest on the right: taller if slower, hollow if failed."""
    if not outcomes:
        return join((ABSENT,))
    good = sum(past.verdict.ends_search for past in outcomes)
    last = outcomes[-1]
    description = (
        f"{good} of the last {len(outcomes)} succeeded; the latest took {last.elapsed_ms:,} ms:"
        f" {words(last.verdict)}"
    )
    width, height = _BAR
    return element(
        "svg",
        *_bars(outcomes),
        role="img",
        aria_label=description,
        width=width * len(outcomes),
        height=height,
        viewBox=f"0 0 {width * len(outcomes)} {height}",
    )


def _bars(outcomes: Sequence[PastOutcome]) -> Iterator[Html]:
    width, height = _BAR
    longest = max(_FULL_BAR, *(past.elapsed_ms for past in outcomes))
    for number, past in enumerate(outcomes):
        bar_height = max(3, round(past.elapsed_ms / longest * (height - 2)))
        yield element(
            "rect",
            x=number * width + 1,
            y=height - bar_height - 1,
            width=width - 3,
            height=bar_height,
            class_="good" if past.verdict.ends_search else "failed",
        )


def words(name: str) -> str:
    """Format one of our values as words: `rate limited`."""
    return name.replace("_", " ")

"""The pages of the dashboard as documents: the overview, the pool, the login, and a search with its attempts."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from searx_mcp import __version__
from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.values import CorpusStatus
from searx_mcp.models.attempt import Attempt, PastOutcome
from searx_mcp.models.instance import InstanceReport, InstanceState, PoolReport, Tier
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render.errors import advice_on, attempts_of, cause_of
from searx_mcp.render.instances import is_usable
from searx_mcp.server.dashboard.markup import (
    ABSENT,
    Html,
    element,
    join,
    link,
    table,
    table_row,
    with_code,
)
from searx_mcp.server.web.policy import LOGIN_PATH, LOGOUT_PATH, SCRIPT_PATH, STYLE_PATH

_ATTEMPT_COLUMNS: Final = ("Instance", "Outcome", "Format", "Status", "Rows", "Time")
_TIME_BAR: Final = (120, 10)
"""Width and height of the longest time in the table, in pixels."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The outcome of a search.

    Attributes:
        summary: summary in one or two sentences; empty before the first search.
        found: the instances asked, and the results.
        is_failure: whether the search failed.
    """

    summary: str = ""
    found: Html | None = None
    is_failure: bool = False


def search_section(query: str, outcome: SearchOutcome) -> Html:
    """Build the search box, and below it the outcome of a search.

    Args:
        query: query of the search; empty at first.
        outcome: outcome of the search.
    """
    return element(
        "section",
        element("h2", "Search", id="search"),
        element(
            "form",
            element("label", "Query", for_="q"),
            element(
                "input",
                id="q",
                name="q",
                type="search",
                value=query or None,
                required=True,
                maxlength="2000",
                autocomplete="off",
                aria_describedby="q-hint",
            ),
            element("button", "Search"),
            element(
                "small",
                "Shows which instances were asked. Counts against their budgets like any search.",
                id="q-hint",
            ),
            id="search-form",
            method="post",
            action="/",
            role="search",
        ),
        status_line(outcome),
        element("div", outcome.found, id="trail"),
        aria_labelledby="search",
    )


def status_line(outcome: SearchOutcome) -> Html:
    """Build the status line; even empty it is in the page, since some screen readers announce only changes to it."""
    return element(
        "p",
        with_code(outcome.summary),
        id="told",
        role="status",
        class_="failure" if outcome.is_failure else None,
    )


def found_outcome(response: SearchResponse) -> SearchOutcome:
    """Describe a successful search: the results and the instances asked."""
    count = len(response.results)
    summary = f"{count} {'result' if count == 1 else 'results'} in {response.search_time_ms:,} ms"
    if response.stale:
        summary += f", from a stale cache entry ({response.age_seconds:,} s old)"
    elif response.cached:
        summary += f", from the cache ({response.age_seconds:,} s old)"
    elif response.instance_used:
        summary += f", from {_host(response.instance_used)}"
    found = join((
        _notes(response.notes),
        _attempts(response.attempts),
        element("ol", *map(_result, response.results), class_="results") if count else None,
    ))  # fmt: skip
    return SearchOutcome(f"{summary}.", found)


def failed_outcome(error: SearxMcpError, longest: float) -> SearchOutcome:
    """Describe a failed search: the reason, the remedy and the instances asked.

    Args:
        error: error of the search.
        longest: longest time that a call may take, in seconds.
    """
    summary = f"{cause_of(error).rstrip('.')}. {advice_on(error, longest)}"
    return SearchOutcome(summary, _attempts(attempts_of(error)), is_failure=True)


def _notes(notes: Sequence[str]) -> Html | None:
    return element("ul", *(element("li", with_code(note)) for note in notes)) if notes else None


def _attempts(attempts: Sequence[Attempt]) -> Html | None:
    if not attempts:
        return None
    longest = max(each.elapsed_ms for each in attempts) or 1
    caption = element("caption", "Instances asked, in order")
    return table(caption, _ATTEMPT_COLUMNS, (_attempt(each, longest) for each in attempts))


def _attempt(attempt: Attempt, longest: int) -> Html:
    kind = "well" if attempt.verdict.ends_search else "waiting"
    cells = (
        join((
            element("span", words(attempt.verdict), class_=f"state {kind}"),
            element("small", attempt.detail) if attempt.detail else None,
        )),
        attempt.format.upper(),
        ABSENT if attempt.status_code is None else str(attempt.status_code),
        f"{attempt.rows_used} of {attempt.rows_seen}",
        join((f"{attempt.elapsed_ms:,} ms ", _bar(attempt.elapsed_ms / longest, "good" if kind == "well" else "failed"))),
    )  # fmt: skip
    name = element("bdi", attempt.source or _host(attempt.instance))
    return table_row(name, _ATTEMPT_COLUMNS[1:], cells)


def _bar(share: float, kind: str) -> Html:
    width, height = _TIME_BAR
    bar_height, bar_width = height - 2, max(1, round(share * (width - 2)))  # inside its outline
    bar = element("rect", x=1, y=1, width=bar_width, height=bar_height, class_=kind)
    return element("svg", bar, width=width, height=height, aria_hidden="true")


def _result(result: SearchResult) -> Html:
    return element(
        "li",
        link(result.title or result.url, result.url),
        element("small", element("bdi", result.url), class_="address"),
        element("p", element("bdi", result.description)) if result.description else None,
        element("small", f"Found by {', '.join(result.engines)}") if result.engines else None,
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc or url


Facts: TypeAlias = Sequence[tuple[str, str]]


def dashboard_page(
    report: PoolReport,
    statistics: Facts,
    corpus: CorpusStatus | None,
    search: Html | None,
    *,
    has_login: bool,
) -> str:
    """Build the dashboard.

    Args:
        report: report of the pool.
        statistics: names and values of the server's statistics; empty if the caller may not see them.
        corpus: size of the corpus; `None` if the caller may not see it.
        search: from `search_section`; `None` if the caller may not search.
        has_login: whether the caller can log out.
    """
    logout = element(
        "form", element("button", "Log out"), method="post", action=LOGOUT_PATH, class_="logout"
    )
    return _document(
        "searx-mcp dashboard",
        element("a", "Skip to the content", href="#main", class_="skip"),
        element(
            "header",
            element("h1", "searx-mcp"),
            element("small", __version__),
            element("p", id="live", class_="live", hidden=True),
            element("button", "Pause updates", id="pause", type="button", hidden=True),
            logout if has_login else None,
        ),
        element(
            "main",
            search,
            _overview(report, statistics, corpus),
            pool_section(report),
            id="main",
            tabindex="-1",
        ),
        script=True,
    )


def login_page(problem: str = "") -> str:
    """Build the login page.

    Args:
        problem: reason why the last login was refused; empty on the first visit.
    """
    form = element(
        "form",
        element("p", problem, role="alert", id="problem") if problem else None,
        # Password managers store the token under this name.
        element(
            "input",
            name="user",
            autocomplete="username",
            value="searx-mcp",
            readonly=True,
            hidden=True,
        ),
        element("label", "Token", for_="token"),
        element(
            "input",
            id="token",
            name="token",
            type="password",
            required=True,
            autofocus=True,
            maxlength="1000",
            autocomplete="current-password",
            aria_invalid="true" if problem else None,
            aria_describedby="problem" if problem else None,
        ),
        element("button", "Log in"),
        method="post",
        action=LOGIN_PATH,
    )
    return _document(
        "Log in to searx-mcp",
        element("main", element("h1", "searx-mcp"), form, id="main", class_="login"),
    )


def problem_page(problem: Html) -> str:
    """Build the page that tells why the dashboard cannot be shown."""
    return _document(
        "searx-mcp dashboard", element("main", element("h1", "searx-mcp"), problem, id="main")
    )


def _document(title: str, *body: Html | None, script: bool = False) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href=STYLE_PATH),
        element("script", src=SCRIPT_PATH, defer=True) if script else None,
    )
    return f"<!doctype html>{element('html', head, element('body', *body), lang='en')}"


def _overview(report: PoolReport, statistics: Facts, corpus: CorpusStatus | None) -> Html:
    usable = sum(map(is_usable, report.instances))
    facts = [("Usable now", f"{usable} of {len(report.instances)}")]
    if month := report.month:
        wait = f" (next in {span(month.retry_after)})" if month.retry_after else ""
        facts += [
            ("Public searches left now", f"{month.left_now}{wait}"),
            ("Public searches left in 30 days", f"{month.left_month:,} of {month.capacity:,}"),
        ]
    if (days := report.catalog_age_days) is not None:
        age = f"{days} {'day' if days == 1 else 'days'} old" if days else "less than a day old"
        facts.append(("Public list", age))
    if corpus is not None:
        size = f"{corpus.chunks:,} chunks, {corpus.bytes / 1e6:.1f} MB"
        facts.append(("Kept pages", f"{corpus.documents:,} ({size})"))
    facts += statistics
    notes = [element("li", with_code(note)) for note in report.notes]
    return element(
        "section",
        element("h2", "Overview", id="overview"),
        element(
            "dl",
            *(element("div", element("dt", name), element("dd", value)) for name, value in facts),
            id="facts",
            class_="facts",
            data_live=True,
        ),
        element("ul", *notes, id="notes", data_live=True, hidden=not notes),
        aria_labelledby="overview",
    )


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
_POOL_COLUMNS: Final = (
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
_POOL_BAR: Final = (8, 24)
"""Width and height of a bar in a sparkline, in pixels."""
_FULL_BAR: Final = 1_000
"""Milliseconds of the tallest bar, unless one in the row took longer."""
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
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
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
            _POOL_COLUMNS,
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
    return table_row(name, _POOL_COLUMNS[1:], cells)


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
    width, height = _POOL_BAR
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
    width, height = _POOL_BAR
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

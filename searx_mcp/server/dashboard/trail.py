"""A search on the dashboard: the instances asked and their outcomes, then the results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render.errors import advice_on, attempts_of, cause_of
from searx_mcp.server.dashboard.markup import ABSENT, Markup, element, joined, link, with_code
from searx_mcp.server.dashboard.pool import words

_COLUMNS: Final = ("Instance", "Outcome", "Format", "Status", "Rows", "Time")
_BAR: Final = (120, 10)
"""Width and height of the longest time in the table, in pixels."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The outcome of a search.

    Attributes:
        told: it in a sentence or two; empty before the first search.
        found: the instances asked, and the results.
        is_failure: whether it failed.
    """

    told: str = ""
    found: Markup | None = None
    is_failure: bool = False


def search_section(query: str, trail: Trail) -> Markup:
    """Write the search box, and below it the outcome of a search.

    Args:
        query: of the search; empty at first.
        trail: its outcome.
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
        status_line(trail),
        element("div", trail.found, id="trail"),
        aria_labelledby="search",
    )


def status_line(trail: Trail) -> Markup:
    """Write the status that screen readers announce; some do so only if it was in the page from the start."""
    return element(
        "p",
        with_code(trail.told),
        id="told",
        role="status",
        class_="failure" if trail.is_failure else None,
    )


def found_trail(response: SearchResponse) -> Trail:
    """Write what a search found, and which instances it asked."""
    count = len(response.results)
    told = f"{count} {'result' if count == 1 else 'results'} in {response.search_time_ms:,} ms"
    if response.stale:
        told += f", from a stale cache entry ({response.age_seconds:,} s old)"
    elif response.cached:
        told += f", from the cache ({response.age_seconds:,} s old)"
    elif response.instance_used:
        told += f", from {_host(response.instance_used)}"
    found = joined((
        _notes(response.notes),
        _attempts(response.attempts),
        element("ol", *map(_result, response.results), class_="results") if count else None,
    ))  # fmt: skip
    return Trail(f"{told}.", found)


def failed_trail(error: SearxMcpError, longest: float) -> Trail:
    """Write why a search failed, what to do, and which instances it asked.

    Args:
        error: of the search.
        longest: the longest time that a call may take, in seconds.
    """
    told = f"{cause_of(error).rstrip('.')}. {advice_on(error, longest)}"
    return Trail(told, _attempts(attempts_of(error)), is_failure=True)


def _notes(notes: Sequence[str]) -> Markup | None:
    return element("ul", *(element("li", with_code(note)) for note in notes)) if notes else None


def _attempts(attempts: Sequence[Attempt]) -> Markup | None:
    if not attempts:
        return None
    longest = max(each.elapsed_ms for each in attempts) or 1
    head = (element("th", name, scope="col", role="columnheader") for name in _COLUMNS)
    return element(
        "table",
        element("caption", "Instances asked, in order"),
        element("thead", element("tr", *head, role="row"), role="rowgroup"),
        element("tbody", *(_attempt(each, longest) for each in attempts), role="rowgroup"),
        role="table",
    )


def _attempt(attempt: Attempt, longest: int) -> Markup:
    kind = "well" if attempt.verdict.ends_search else "waiting"
    cells = (
        joined((
            element("span", words(attempt.verdict), class_=f"state {kind}"),
            element("small", attempt.detail) if attempt.detail else None,
        )),
        attempt.format.upper(),
        ABSENT if attempt.status_code is None else str(attempt.status_code),
        f"{attempt.rows_used} of {attempt.rows_seen}",
        joined((f"{attempt.elapsed_ms:,} ms ", _bar(attempt.elapsed_ms / longest, "good" if kind == "well" else "failed"))),
    )  # fmt: skip
    name = element("bdi", attempt.source or _host(attempt.instance))
    return element(
        "tr",
        element("th", name, scope="row", role="rowheader"),
        *(
            element("td", cell, role="cell", data_label=label)
            for label, cell in zip(_COLUMNS[1:], cells, strict=True)
        ),
        role="row",
    )


def _bar(share: float, kind: str) -> Markup:
    width, height = _BAR
    tall, wide = height - 2, max(1, round(share * (width - 2)))  # inside its line
    bar = element("rect", x=1, y=1, width=wide, height=tall, class_=kind)
    return element("svg", bar, width=width, height=height, aria_hidden="true")


def _result(result: SearchResult) -> Markup:
    return element(
        "li",
        link(result.title or result.url, result.url),
        element("small", element("bdi", result.url), class_="address"),
        element("p", element("bdi", result.description)) if result.description else None,
        element("small", f"Found by {', '.join(result.engines)}") if result.engines else None,
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc or url

"""What a person reads: tables and pages on a terminal, the same without colour in a pipe.

Texts from instances and pages are never read as markup, and nothing in them acts on the terminal.
"""

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from searx_mcp.content.clean import clean
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.page import Page
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render.tokens import fit
from searx_mcp.settings.sources import SettingRow

_LONG_VALUE = 60
"""Columns in which a longer value is folded."""
_PIPE_WIDTH = 200
"""Columns of a table where no terminal says how many there are."""


class _Console(Console):
    """A console that leaves it to the command to end when nobody reads any more."""

    @override
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """The console on standard output; in a pipe, tables are as wide as they need to be."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return _Console(highlight=False, soft_wrap=True, width=width)


def error_console() -> Console:
    """The console on standard error; in a pipe likewise."""
    width = None if sys.stderr.isatty() else _PIPE_WIDTH
    return _Console(stderr=True, highlight=False, soft_wrap=True, width=width)


def print_response(response: SearchResponse, *, pages: bool, budget: int | None) -> None:
    """Print a search response: results with summaries, and whole pages when asked for."""
    out = console()
    if not response.results:
        out.print("No search results found.")
    else:
        out.print(
            plain_text(
                f"Found {response.results_count} search results for query '{response.query}'"
            )
        )
    for answer in response.answers:
        out.print(plain_text(f"Answer: {answer.text}", style="green"))
        for fact in answer.details:
            out.print(plain_text(f"  {fact.label}: {fact.value}"))
    per_page = budget // len(response.results) if budget and response.results else None
    for number, result in enumerate(response.results, start=1):
        _print_result(out, number, result, pages=pages, budget=per_page)
    out.print()
    for note in response.notes:
        out.print(plain_text(f"Note: {note}", style="yellow"))
    out.print(plain_text(_footer(response), style="dim"))


def print_page(page: Page) -> None:
    """Print a page as Markdown, its head on standard error."""
    head = error_console()
    head.print(plain_text(f"{page.title or '(no title)'}  {page.final_url}", style="bold"))
    head.print(
        plain_text(
            f"{page.content_type}, {page.word_count} words, {page.response_time_ms} ms"
            + (", truncated" if page.truncated else "")
            + (f", from {page.tier}" if page.tier != "native" else "")
            + (f", kept {page.age_seconds} s ago" if page.from_cache else ""),
            style="dim",
        )
    )
    for note in page.notes:
        head.print(plain_text(f"Note: {note}", style="yellow"))
    console().print(plain_text(page.markdown_content))
    if page.next_offset is not None and page.cursor:
        head.print(
            plain_text(
                f"Characters {page.offset} to {page.offset + len(page.markdown_content)} of"
                f" {page.total_chars}. To read on: searx-mcp fetch --cursor {page.cursor}"
                f" --offset {page.next_offset}",
                style="dim",
            )
        )


def print_attempts(error: SearxMcpError) -> None:
    """Print which instances were asked for a search that failed, on standard error."""
    attempts: tuple[Attempt, ...] = getattr(error, "attempts", ())
    if attempts:
        error_console().print(attempts_table(attempts))


def attempts_table(attempts: Iterable[Attempt]) -> Table:
    """One row per request to an instance."""
    table = plain_table("instance", "format", "verdict", "status", "ms", "detail")
    for attempt in attempts:
        table.add_row(
            host(attempt.instance),
            attempt.format,
            attempt.verdict.replace("_", " "),
            str(attempt.status_code or ""),
            str(attempt.elapsed_ms),
            plain_text(attempt.detail),
        )
    return table


def print_settings(rows: Iterable[SettingRow]) -> None:
    """Print the settings as a table."""
    table = plain_table("setting", "value", "from")
    table.columns[1].max_width = _LONG_VALUE  # a list of networks must not push the origins away
    for row in rows:
        style = "dim" if row.origin == "default" else ""
        table.add_row(
            plain_text(row.key), plain_text(str(row.value)), plain_text(row.origin), style=style
        )
    console().print(table)


def duration(seconds: float) -> str:
    """A length of time in the largest unit that fits."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _print_result(
    out: Console, number: int, result: SearchResult, *, pages: bool, budget: int | None
) -> None:
    out.print()
    out.print(plain_text(f"{number}. {result.title}", style="bold"))
    out.print(plain_text(f"   {result.url}", style="cyan"))
    if result.description:
        out.print(plain_text(f"   {result.description}"))
    if result.error_details:
        out.print(plain_text(f"   Page not read: {result.error_details}", style="yellow"))
    facts = [", ".join(result.engines), result.published_at or ""]
    if result.content is not None:
        facts.append(f"{result.content.word_count} words read")
    if shown := " · ".join(fact for fact in facts if fact):
        out.print(plain_text(f"   {shown}", style="dim"))
    if result.content is None:
        return
    if pages:
        markdown = result.content.markdown
        out.print()
        out.print(plain_text(fit(markdown, budget)[0] if budget else markdown))
    elif result.content.summary:
        out.print(plain_text(f"   {result.content.summary}", style="green"))


def _footer(response: SearchResponse) -> str:
    parts = [f"{response.search_time_ms} ms", f"answered by {response.instance_used}"]
    if response.cached:
        parts[0] = "from the cache"
    if stats := response.content_fetch_stats:
        parts.append(f"{stats.successful} of {stats.attempted} pages read")
    if len(response.attempts) > 1:
        parts.append(f"{len(response.attempts)} requests")
    return ", ".join(parts)


def plain_table(*headers: str) -> Table:
    """A table without lines, the first column of which is never broken."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, header in enumerate(headers):
        table.add_column(header, overflow="fold", no_wrap=number == 0)
    return table


def host(url: str) -> Text:
    """An instance's address without what all of them share."""
    return plain_text(url.removeprefix("https://").rstrip("/"))


def plain_text(content: str, *, style: str = "") -> Text:
    """Text of whoever, as plain text without control sequences."""
    return Text(clean(content), style=style)

"""Search, fetch and suggest: call the client, print the result."""

from collections.abc import Iterable, Mapping

import click
from rich.console import Console, RenderableType
from rich.text import Text

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.cli.options import Printing, arguments, command, given
from searx_mcp.cli.output import (
    console,
    error_console,
    host,
    noted_table,
    plain_text,
    print_json,
    print_notes,
    print_prose,
    show_progress,
)
from searx_mcp.cli.running import say, working
from searx_mcp.client.facade import SearxClient, persistent_client
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchBatch, SearchResponse, SearchResult
from searx_mcp.models.spelling import counted
from searx_mcp.render.surroundings import dropped
from searx_mcp.render.tokens import fit
from searx_mcp.settings.sources import Loaded
from searx_mcp.verbs.verb import Room
from searx_mcp.verbs.web import WEB_FETCH, WEB_SEARCH

_INDENT = "   "


@click.command()
@arguments(SearchRequest)
@click.option("--profile", metavar="NAME", help="Profile that sets the arguments you leave out.")
@click.option("--pages", is_flag=True, help="Show whole pages as Markdown, not summaries.")
@click.option("--json", "as_json", is_flag=True, help="Print the response as JSON.")
@click.option(
    "--raw", metavar="PROVIDER", help="Print the original JSON of google or brave; needs a key."
)
@working
async def search(
    loaded: Loaded,
    /,
    *,
    profile: str | None,
    pages: bool,
    as_json: bool,
    raw: str | None,
    **options: object,
) -> None:
    """Search the web and read the result pages."""
    typed, settings = given(options), loaded.settings
    if profile is not None:
        if profile not in settings.profiles:
            known = ", ".join(sorted(settings.profiles)) or "none is configured"
            raise InvalidArgumentError("profile", f"{profile!r} is not a profile ({known})")
        settings = settings.model_copy(update={"profile": profile})
    try:
        request = parse_search(typed, defaults=settings.search_defaults())
        async with persistent_client(settings) as client:
            limit = request.timeout or settings.web_search.default_timeout
            progress = show_progress("searching", limit)
            if raw is not None:
                batch = await client.raw_search(raw, request, progress=progress)
                from searx_mcp.render.batch import raw_data  # noqa: PLC0415 - for this option alone

                print_json(raw_data(batch))
                return
            found = await WEB_SEARCH.act(client, request, progress)
    except SearxMcpError as error:
        if as_json:
            from searx_mcp.render.errors import search_error_data  # noqa: PLC0415 - only programs

            print_json(search_error_data(error, str(typed.get("query", ""))))
        print_attempts(error)
        raise
    budget = request.max_tokens
    if as_json:
        print_json(WEB_SEARCH.writing().data(found, Room(budget=budget)))
    elif isinstance(found, SearchBatch):
        print_batch(found, pages=pages, budget=budget)
    else:
        print_response(found, pages=pages, budget=budget)


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option("--json", "as_json", is_flag=True, help="Print the suggestions as JSON.")
@working
async def suggest(loaded: Loaded, /, *, words: tuple[str, ...], as_json: bool) -> None:
    """Show your own instance's suggestions for a query.

    Public instances are not asked.
    """
    from searx_mcp.render.structured import scrub  # noqa: PLC0415 - for this command alone

    query = " ".join(words)
    async with persistent_client(loaded.settings) as client:
        show_progress("asking")
        suggestions = await client.suggest(query)
    if as_json:
        print_json({"query": query, "suggestions": list(suggestions)})
        return
    for suggestion in suggestions:
        click.echo(scrub(suggestion))
    if not suggestions:
        say("No suggestions. Only your own instances are asked for them.")


def print_response(
    response: SearchResponse, *, pages: bool, budget: int | None, has_repeated: bool = False
) -> None:
    """Print a search response: results with summaries, and whole pages on request.

    Args:
        response: the response.
        pages: whether to print whole pages.
        budget: tokens of all pages; `None` if unlimited.
        has_repeated: whether it found results that an earlier search has printed.
    """
    out = console()
    if not response.results and not has_repeated:
        out.print("No search results found.")
    elif response.results:
        out.print(
            plain_text(
                f"Found {counted(response.results_count, 'search result')} for query '{response.query}'"
            )
        )
    for answer in response.answers:
        print_prose(out, f"Answer: {answer.text}", style="green")
        for fact in answer.details:
            out.print(plain_text(f"  {fact.label}: {fact.value}"))
    per_page = budget // len(response.results) if budget and response.results else None
    for number, result in enumerate(response.results, start=1):
        _print_result(out, number, result, pages=pages, budget=per_page)
    out.print()
    notes = (f"Note: {note}" for note in response.notes)
    for line in filter(None, (*notes, dropped(response.content_fetch_stats))):
        print_prose(out, line, style="yellow")
    print_prose(out, _footer(response), style="dim")


def print_batch(batch: SearchBatch, *, pages: bool, budget: int | None) -> None:
    """Print several searches one after the other; repeated results are named once."""
    out = console()
    share = budget // len(batch.queries) if budget else None
    for number, each in enumerate(batch.queries, start=1):
        out.print(plain_text(f"\nSearch {number}: {each.query}", style="bold"))
        if each.error is not None:
            print_prose(error_console(), f"{each.query}: {each.error.error_details}")
        if each.result is not None:
            print_response(each.result, pages=pages, budget=share, has_repeated=bool(each.repeated))
        for hit in each.repeated:
            out.print(
                plain_text(
                    f"Also result {hit.result} of search {hit.search}: {hit.url}", style="dim"
                )
            )


def print_page(page: Page) -> None:
    """Print a page as Markdown, and its metadata on standard error."""
    from searx_mcp.render.page import refusals  # noqa: PLC0415 - no search needs it

    head = error_console()
    head.print(plain_text(f"{page.title or '(no title)'}  {page.final_url}", style="bold"))
    head.print(
        plain_text(
            f"{page.content_type}, {page.word_count} words, {page.response_time_ms} ms"
            + (", truncated" if page.truncated else "")
            + (f", from {page.tier}" if page.tier != "native" else "")
            + (f", cached {page.age_seconds} s ago" if page.from_cache else ""),
            style="dim",
        )
    )
    print_notes(page.notes)
    if page.redirect_target:
        head.print(plain_text(f"Redirect target: {page.redirect_target}"))
    out = console()
    for line in refusals(page):
        out.print(plain_text(line))
    out.print(plain_text(page.markdown_content))
    if page.next_offset is not None and page.cursor:
        head.print(
            plain_text(
                f"Characters {page.offset} to {page.offset + len(page.markdown_content)} of"
                f" {page.total_chars}. To read on: searx-mcp fetch --cursor {page.cursor}"
                f" --offset {page.next_offset}",
                style="dim",
            )
        )


def _failed_fetch(error: SearxMcpError, raw: Mapping[str, object]) -> Mapping[str, object]:
    from searx_mcp.render.errors import fetch_error_data  # noqa: PLC0415 - only programs

    return fetch_error_data(error, str(raw.get("url", "")))


def _opened(loaded: Loaded) -> SearxClient:
    return persistent_client(loaded.settings)


fetch = command(
    WEB_FETCH,
    Printing(
        lambda page, _, __: print_page(page),
        failure=_failed_fetch,
        printed="page",
    ),
    _opened,
    parse=lambda raw: parse_fetch(raw, by_person=True),
)


def print_attempts(error: SearxMcpError) -> None:
    """Print which instances a failed search asked, on standard error."""
    attempts: tuple[Attempt, ...] = getattr(error, "attempts", ())
    if attempts:
        out = error_console()
        out.print(attempts_table(attempts, width=out.width))


def attempts_table(attempts: Iterable[Attempt], *, width: int) -> RenderableType:
    """Return a table with one row per request to an instance.

    Args:
        attempts: in their order.
        width: available columns.
    """
    rows = (
        (
            (
                host(attempt.instance),
                Text(attempt.format),
                Text(attempt.verdict.replace("_", " ")),
                Text(str(attempt.status_code or "")),
                Text(str(attempt.elapsed_ms)),
            ),
            attempt.detail,
        )
        for attempt in attempts
    )
    headers = ("instance", "format", "verdict", "status", "ms", "detail")
    return noted_table(headers, rows, width=width)


def _print_result(
    out: Console, number: int, result: SearchResult, *, pages: bool, budget: int | None
) -> None:
    out.print()
    out.print(plain_text(f"{number}. {result.title}", style="bold"))
    out.print(plain_text(f"   {result.url}", style="cyan"))
    if result.description:
        print_prose(out, result.description, indent=_INDENT)
    if result.error_details:
        print_prose(out, f"Page not read: {result.error_details}", style="yellow", indent=_INDENT)
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
        print_prose(out, result.content.summary, style="green", indent=_INDENT)


def _footer(response: SearchResponse) -> str:
    took = "from the cache" if response.cached else f"{response.search_time_ms} ms"
    parts = [took, f"answered by {response.instance_used}"]
    if stats := response.content_fetch_stats:
        parts.append(f"{stats.successful} of {stats.attempted} pages read")
    if len(response.attempts) > 1:
        parts.append(f"{len(response.attempts)} requests")
    return ", ".join(parts)

"""Search, fetch and suggest: call the client, print the result."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import click
from rich.console import Console, RenderableType
from rich.text import Text

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.cli.options import Printing, arguments, command, given
from searx_mcp.cli.output import (
    console,
    error_console,
    host,
    plain_text,
    print_json,
    print_notes,
    print_prose,
    prose,
    requests_table,
    show_progress,
)
from searx_mcp.cli.running import say, working
from searx_mcp.client.facade import persistent_client
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import SearchBatch, SearchResponse
from searx_mcp.render import batch as batches
from searx_mcp.render.entry import ListedResult
from searx_mcp.render.errors import attempts_of, fetch_error_data, search_error_data
from searx_mcp.render.page import refusals
from searx_mcp.render.search import Layout, lay_out, left_out_line, left_pages
from searx_mcp.render.structured import scrub
from searx_mcp.render.surroundings import direct_answers, remarks
from searx_mcp.render.tokens import UNLIMITED, estimate
from searx_mcp.settings.sources import Loaded
from searx_mcp.verbs.verb import Room
from searx_mcp.verbs.web import WEB_FETCH, WEB_SEARCH

_INDENT = "   "
_FETCH = "searx-mcp fetch"


@click.command()
@arguments(SearchRequest)
@click.option("--profile", metavar="NAME", help="Profile that sets the arguments you leave out.")
@click.option("--pages", is_flag=True, help="Show whole pages as Markdown, not summaries.")
@click.option("--json", "as_json", is_flag=True, help="Print the response as JSON.")
@click.option(
    "--raw",
    "provider",
    metavar="PROVIDER",
    help="Print the original JSON of google or brave; needs a key.",
)
@working
async def search(
    loaded: Loaded,
    /,
    *,
    profile: str | None,
    pages: bool,
    as_json: bool,
    provider: str | None,
    **options: object,
) -> None:
    """Search the web and read the result pages."""
    typed, settings = given(options), loaded.settings
    try:
        if profile is not None:
            if profile not in settings.profiles:
                known = ", ".join(sorted(settings.profiles)) or "none is configured"
                raise InvalidArgumentError("profile", f"{profile!r} is not a profile ({known})")
            settings = settings.model_copy(update={"profile": profile})
        request = parse_search(typed, defaults=settings.search_defaults())
        async with persistent_client(settings) as client:
            limit = request.timeout or settings.web_search.default_timeout
            progress = show_progress("searching", limit)
            if provider is not None:
                batch = await client.raw_search(provider, request, progress=progress)
                print_json(batches.raw_data(batch))
                return
            found = await WEB_SEARCH.act(client, request, progress)
    except SearxMcpError as error:
        if as_json:
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
        say(
            "No suggestions. Only your own instances are asked for them; `searx-mcp doctor` says whether"
            " they answer."
        )


def print_response(
    response: SearchResponse, *, pages: bool, budget: int | None, has_repeated: bool = False
) -> None:
    """Print a search response: results with summaries, or with whole pages.

    Args:
        response: the response.
        pages: whether to print whole pages.
        budget: tokens of everything printed; `None` if unlimited.
        has_repeated: whether it found results that an earlier search has printed.
    """
    out = console()
    shown = response if pages else _with_summaries(response)
    room = most = budget or UNLIMITED
    while True:
        layout = lay_out(shown, budget=room, boundary="", fetch=_FETCH)
        if budget is None:
            layout = replace(
                layout,
                answers=tuple(direct_answers(response)),
                remarks=tuple(remarks(response)),
            )
        text = Text("\n").join(
            _lines(out, response, layout, pages=pages, has_repeated=has_repeated)
        )
        excess = estimate(text.plain) - most
        if excess <= 0 or not room:
            break
        room = max(room - excess, 0)  # for a person, a result has more lines
    out.print(text)


def print_batch(batch: SearchBatch, *, pages: bool, budget: int | None) -> None:
    """Print several searches one after the other; repeated results are named once."""
    out = console()
    rooms, number = batches.rooms(batch, budget, "", _FETCH), len(batch.queries)
    for place, (each, room) in enumerate(zip(batch.queries, rooms, strict=False), start=1):
        head = batches.head(each, place, number, "").removeprefix("# ")
        out.print(plain_text(f"\n{head}", style="bold"))
        if each.error is not None:
            print_prose(error_console(), f"{each.query}: {each.error.error_details}")
        if each.result is not None:
            print_response(each.result, pages=pages, budget=room, has_repeated=bool(each.repeated))
        if each.repeated:
            print_prose(out, batches.repeated(each), style="dim")
    if len(rooms) < number:
        print_prose(out, _as_typed(batches.left_out(number - len(rooms))), style="yellow")


def print_page(page: Page) -> None:
    """Print a page as Markdown, and its metadata on standard error."""
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
    print_notes((*page.notes, *page.quoted_notes))
    if page.redirect_target:
        head.print(plain_text(f"Redirect target: {page.redirect_target}"))
    out = console()
    for line in refusals(page):
        out.print(plain_text(line))
    out.print(plain_text(page.markdown_content))
    if page.next_offset is not None and page.cursor:
        end = page.offset + len(page.markdown_content)
        where = f"Characters {page.offset} to {end} of {page.total_chars}"
        if page.passages:
            where = f"The parts that fit the prompt best, of {page.total_chars} characters"
        head.print(
            plain_text(
                f"{where}. To read on: searx-mcp fetch --cursor {page.cursor}"
                f" --offset {page.next_offset}",
                style="dim",
            )
        )


fetch = command(
    WEB_FETCH,
    Printing(
        lambda page, _, __: print_page(page),
        failure=lambda error, raw: fetch_error_data(error, str(raw.get("url", ""))),
        printed="page",
    ),
    lambda loaded: persistent_client(loaded.settings),
    parse=lambda raw: parse_fetch(raw, by_person=True),
)


def print_attempts(error: SearxMcpError) -> None:
    """Print which instances a failed search asked, on standard error."""
    if attempts := attempts_of(error):
        out = error_console()
        out.print(attempts_table(attempts, width=out.width))


def attempts_table(attempts: Iterable[Attempt], *, width: int) -> RenderableType:
    """Return a table with one row per request to an instance.

    Args:
        attempts: in their order.
        width: available columns.
    """
    asked = ((host(attempt.instance), attempt) for attempt in attempts)
    return requests_table("instance", asked, width=width)


def _with_summaries(response: SearchResponse) -> SearchResponse:
    """Return the response with the summaries of its pages in their place."""
    results = [
        each.model_copy(
            update={
                "content": each.content
                and each.content.model_copy(
                    update={"markdown": each.content.summary, "passages": ()}
                )
            }
        )
        for each in response.results
    ]
    return response.model_copy(update={"results": tuple(results)})


def _lines(
    out: Console, response: SearchResponse, layout: Layout, *, pages: bool, has_repeated: bool
) -> Iterator[Text]:
    if response.results or not has_repeated:
        for line in layout.heading.splitlines():
            yield prose(out, line.replace("(continue at offset ", "(continue with --offset "))
    for answer in layout.answers:
        yield prose(out, answer, style="green")
    read = {page.number: page for page in layout.readings}
    for each in layout.entries:
        yield from _result_lines(out, each)
        page = read.get(each.number)
        if pages and page:
            yield Text()
            yield plain_text(page.markdown)
            if page.was_cut:
                yield plain_text(f"\nPart of the page; all of it: {_FETCH} {page.url}", style="dim")
        elif gist := page.markdown if page else each.gist:
            yield prose(out, gist, style="green", indent=_INDENT)
    yield Text()
    left = [_as_typed(left_out_line(layout.left_out))] if layout.left_out else []
    for line in (*layout.beside, *left, *left_pages(layout, _FETCH), *layout.remarks):
        yield prose(out, line, style="yellow")
    yield prose(out, _footer(response), style="dim")


def _result_lines(out: Console, each: ListedResult) -> Iterator[Text]:
    result = each.result
    yield Text()
    yield plain_text(f"{each.number}. {result.title or 'Untitled'}", style="bold")
    yield plain_text(f"{_INDENT}{result.url}", style="cyan")
    if each.description:
        yield prose(out, each.description, indent=_INDENT)
    if result.error_details:
        yield prose(out, f"Page not read: {result.error_details}", style="yellow", indent=_INDENT)
    facts = [*each.origin, *(detail.text for detail in each.details if not detail.has_line)]
    if result.content is not None:
        facts.append(f"{result.content.word_count} words read")
    if facts:
        yield prose(out, " · ".join(facts), style="dim", indent=_INDENT)
    for line in (detail.text for detail in each.details if detail.has_line):
        yield plain_text(f"{_INDENT}{line}", style="dim")


def _as_typed(line: str) -> str:
    return line.replace("max_tokens", "--max-tokens")


def _footer(response: SearchResponse) -> str:
    took = "from the cache" if response.cached else f"{response.search_time_ms} ms"
    parts = [took, f"answered by {response.instance_used}"]
    stats = response.content_fetch_stats
    if stats and not stats.failed:
        parts.append(f"{stats.successful} of {stats.attempted} pages read")
    if len(response.attempts) > 1:
        parts.append(f"{len(response.attempts)} requests")
    return ", ".join(parts)

"""`read`, `answer` and the commands under `corpus`: call the client, print the result."""

import json
import secrets
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click
from rich.console import Console
from rich.text import Text

from searx_mcp.arguments import parse_corpus
from searx_mcp.cli.options import Printing, command
from searx_mcp.cli.output import (
    WIDE,
    confirm,
    console,
    error_console,
    errors_as_json,
    json_option,
    plain_table,
    plain_text,
    print_json,
    print_notes,
    print_outcome,
    print_prose,
    read_argument,
    show_progress,
)
from searx_mcp.cli.running import Commands, ExitCode, working
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.checked import CheckedQuote, QuoteVerdict, VerifyReport
from searx_mcp.evidence.render.corpus import fitted, refusals
from searx_mcp.evidence.render.evidence import fitting, verdict
from searx_mcp.evidence.requests import IngestRequest, StatusRequest
from searx_mcp.evidence.values import (
    Citation,
    CorpusStatus,
    Evidence,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.fetch.config import FetchPolicy
from searx_mcp.files import check_regular, make_private_file
from searx_mcp.models.spelling import counted
from searx_mcp.render.errors import fetch_error_data, search_error_data
from searx_mcp.render.reading import NEXT
from searx_mcp.verbs.evidence import ANSWER, CORPUS_STATUS, INGEST, READ_PAGE, SEARCH_CORPUS

if TYPE_CHECKING:
    from searx_mcp.client.facade import SearxClient
    from searx_mcp.settings.sources import Loaded

MAX_REPORT: Final = 4_000_000
"""Maximum bytes of a report; a character takes up to four."""
_SHOWN: Final = 300
"""Characters of a passage without a quote, unless whole ones are requested."""
_QUOTES: Final = 3
"""Quotes shown of a source, beside the best passage."""
_QUOTE: Final = 100
"""Characters of a quote in a table."""
_MEGA: Final = 1_000_000
_LOST: Final = "Read, but not kept: it could not be stored, or its site forbids that (Cache-Control: no-store)."
_STYLES: Final = {
    QuoteVerdict.SUPPORTED: "green",
    QuoteVerdict.MISATTRIBUTED: "yellow",
    QuoteVerdict.ALTERED: "red",
    QuoteVerdict.MISSING: "red",
    QuoteVerdict.NOT_CHECKED: "dim",
}


@click.group(cls=Commands)
def corpus() -> None:
    """Manage the pages kept for questions.

    Safe while servers run: they see changes at once.
    """


@corpus.command("remove")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@json_option
@working
async def remove(loaded: "Loaded", /, *, urls: tuple[str, ...], as_json: bool) -> None:
    """Forget pages; nothing stays on disk."""
    async with _opened_corpus(loaded, as_json=as_json) as client:
        wanted = parse_corpus(IngestRequest, {"url": urls}).url
        kept = [url for url in wanted if (await client.corpus_status(url)).documents]
        if kept:
            await (await client.corpus()).remove(kept)
    unknown = [url for url in wanted if url not in kept]
    if as_json:
        print_json({"removed": kept, "unknown": unknown})
    else:
        for url in kept:
            click.echo(f"Removed {plain_text(url)}")
        for url in unknown:
            click.echo(
                f"{plain_text(url)} is not kept; `searx-mcp corpus status` lists the pages that are.",
                err=True,
            )
    if unknown:
        sys.exit(ExitCode.FAILED)


@corpus.command("export")
@click.option("--output", metavar="FILE", help="File to write; default standard output.")
@click.option("--json", is_flag=True, expose_value=False, help="Always JSON Lines.")
@working
async def export(loaded: "Loaded", /, *, output: str | None) -> None:
    """Write all pages and chunks as JSON Lines."""
    number = 0
    with _written(output) as file:
        async with _opened(loaded) as client:
            async for page in (await client.corpus()).export():
                # In ASCII: no text of a page acts on a terminal, and nothing is lost.
                file.write(f"{json.dumps(page.model_dump(mode='json'))}\n")
                number += 1
    if output is not None:
        click.echo(f"{counted(number, 'page')} written to {plain_text(output)}", err=True)


@corpus.command("verify")
@click.argument("file", metavar="FILE")
@json_option
@working
async def verify(loaded: "Loaded", /, *, file: str, as_json: bool) -> None:
    """Check a report's quotes, sentences and links; sends no request.

    Says for each whether a kept page contains it. FILE is Markdown or plain text; - reads standard
    input.
    """
    async with _opened_corpus(loaded, as_json=as_json) as client:
        report = _report(file)
        show_progress("checking quotes")
        checked = await client.verify(report)
    print_outcome(checked, lambda: print_verdicts(checked), as_json=as_json)
    found = {each.verdict for each in (*checked.quotes, *checked.sentences, *checked.links)}
    if found - {QuoteVerdict.SUPPORTED, QuoteVerdict.NOT_CHECKED}:
        sys.exit(ExitCode.FAILED)


@corpus.command("clear")
@click.option("--yes", "agreed", is_flag=True, help="Skip the confirmation.")
@json_option
@working
async def clear(loaded: "Loaded", /, *, agreed: bool, as_json: bool) -> None:
    """Forget all pages; nothing stays on disk."""
    async with _opened_corpus(loaded, as_json=as_json) as client:
        number = (await client.corpus_status(StatusRequest(include_urls=False))).documents
        if number and not agreed:
            confirm(f"Forget {counted(number, 'page')}?")
        await (await client.corpus()).clear()
    if as_json:
        print_json({"removed": number})
    else:
        click.echo(f"{counted(number, 'page')} removed")


@asynccontextmanager
async def _opened(loaded: "Loaded") -> AsyncIterator["SearxClient"]:
    """Open a client that uses the stores; report if it has no corpus."""
    from searx_mcp.client.facade import persistent_client  # noqa: PLC0415 - no help needs it

    settings = loaded.settings
    is_shared = bool(settings.postgres.url.get_secret_value())
    if not settings.storage.corpus or (settings.state_folder() is None and not is_shared):
        setting = "storage.state" if settings.storage.corpus else "storage.corpus"
        print_notes([f"Pages are not kept after this command: {setting} is off."])
    # A person may read every page, as with `fetch`: the policy is for models.
    fetch = settings.fetch.model_copy(update={"policy": FetchPolicy.ANY})
    settings = settings.model_copy(update={"fetch": fetch})
    async with persistent_client(settings, origins=loaded.origins) as client:
        yield client


@asynccontextmanager
async def _opened_corpus(loaded: "Loaded", *, as_json: bool) -> AsyncIterator["SearxClient"]:
    """The same; print errors as JSON too, if requested."""
    with errors_as_json(as_json=as_json):
        async with _opened(loaded) as client:
            yield client


@contextmanager
def _written(output: str | None) -> Iterator[TextIO]:
    """Open standard output, or a private file that is written atomically."""
    if output is None:
        yield sys.stdout
        return
    path = Path(output)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        check_regular(path)
        make_private_file(draft)
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        draft.replace(path)
    except OSError as exc:
        raise InvalidArgumentError("output", f"{output} cannot be written: {exc.strerror}") from exc
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _report(file: str) -> str:
    text = read_argument(file, MAX_REPORT)
    if len(text) > MAX_REPORT:
        raise InvalidArgumentError(
            "file", f"standard input is longer than {MAX_REPORT:,} characters"
        )
    return text


def print_read(response: ReadResponse, *, budget: int | None) -> None:
    """Print the passages of a page, and its metadata on standard error.

    Args:
        response: of the page.
        budget: tokens; `None` if unlimited.
    """
    head, out = error_console(), console()
    head.print(plain_text(f"{response.title or '(no title)'}  {response.url}", style="bold"))
    if response.last_crawled:
        head.print(plain_text(f"fetched {response.last_crawled}", style="dim"))
    if response.metadata is not None:
        for name, value in response.metadata:
            if value != "":
                head.print(plain_text(f"{name.replace('_', ' ')}: {value}", style="dim"))
    print_notes([response.note] if response.note else [])
    for line in refusals(response):
        out.print(plain_text(line))
    shown = fitted(response, budget=budget)
    for before, each in zip(response.queries, shown.queries, strict=True):
        if len(response.queries) > 1:
            out.print(plain_text(f"\n{each.query}", style="bold"))
        for chunk in each.results:
            doubt = ", low confidence" if chunk.low_confidence else ""
            out.print(_head(f"{chunk.score:.2f}{doubt}", chunk.section_path))
            out.print(plain_text(chunk.table_head + chunk.text.strip("\n")))
        if not before.results:
            out.print("\nNo passages found.")
        _print_left_out(out, len(before.results) - len(each.results))


def print_evidence(response: EvidenceResponse, budget: int | None, passages: bool) -> None:  # noqa: FBT001 - as `Printing.show`
    """Print the best passage and each source's quotes, or all passages.

    Args:
        response: the evidence.
        budget: tokens; `None` if unlimited.
        passages: whether to show all passages.
    """
    out = console()
    shown = fitting(response, budget=budget, boundary="")
    if response.is_refused:
        out.print(plain_text(f"{verdict(response)}\n{NEXT}"))
    elif not response.evidence:
        out.print("Nothing found that answers the question.")
    for source in response.sources:
        evidence = [each for each in shown.evidence if each.source == source.number]
        quotes = [each for each in shown.citations if each.source == source.number]
        if not evidence:
            continue
        out.print()
        unread = "" if source.is_read else "  (not read: the search result's snippet)"
        out.print(
            plain_text(f"[{source.number}] {source.title or '(no title)'}{unread}", style="bold")
        )
        out.print(plain_text(f"    {source.url}", style="cyan"))
        for copy in source.copies:
            out.print(plain_text(f"    = {copy}", style="dim"))
        best = (
            [] if response.is_refused else [each for each in evidence if each is shown.evidence[0]]
        )
        if passages:
            _print_passages(out, evidence)
        elif best:
            _print_passages(out, best)
            _print_quotes(out, [quote for quote in quotes if quote.text not in best[0].text])
        else:
            _print_quotes(out, quotes, otherwise=evidence[0].text)
    _print_left_out(out, len(response.evidence) - len(shown.evidence))
    print_notes(response.notes)
    error_console().print(plain_text(_figures(response), style="dim"))


def _print_passages(out: Console, evidence: Sequence[Evidence]) -> None:
    for each in evidence:
        beside = ", next to the one above" if each.is_adjacent else ""
        doubt = ", low confidence" if each.low_confidence and not each.is_adjacent else ""
        out.print(_head(f"{each.score:.2f}{beside}{doubt}", each.section_path))
        out.print(plain_text(each.table_head + each.text.strip("\n")))


def _print_left_out(out: Console, count: int) -> None:
    if count:
        out.print(
            plain_text(f"\n{counted(count, 'more passage')} left out for lack of room", style="dim")
        )


def _print_quotes(out: Console, quotes: Sequence[Citation], *, otherwise: str = "") -> None:
    if quotes:
        out.print()
    for quote in quotes[:_QUOTES]:
        section = f"  § {quote.section}" if quote.section else ""
        out.print(plain_text(f'    "{quote.text}"{section}'))
    if left_out := len(quotes[_QUOTES:]):
        out.print(plain_text(f"    {left_out} more with --passages", style="dim"))
    if not quotes and otherwise:
        out.print(plain_text(f"    {_cut(' '.join(otherwise.split()), _SHOWN)}"))


def _figures(response: EvidenceResponse) -> str:
    stats = response.stats
    parts = [
        f"{stats.timing.total:.0f} ms",
        counted(stats.documents_searched, "page") + " searched",
    ]
    if stats.urls_ingested:
        parts.append(f"{stats.urls_ingested} fetched")
    if stats.iterations:
        parts.append(f"{counted(stats.iterations, 'link')} followed")
    if stats.citations_dropped:
        parts.append(f"{counted(stats.citations_dropped, 'quote')} dropped")
    if stats.stop_reason:
        parts.append(f"stopped: {stats.stop_reason}")
    return ", ".join(parts)


def print_ingested(response: IngestResponse) -> None:
    """Print the result for each page; failures go to standard error."""
    for page in response.pages:
        if error := page.error or (page.in_memory and _LOST):
            print_prose(error_console(), f"{page.url}: {error}", style="red")
            continue
        new = f", {page.new_chunks} new" if page.is_changed else ", unchanged"
        kept = f"{counted(page.chunks, 'chunk')}{new}" if page.chunks else "nothing kept"
        note = f". {page.note}" if page.note else ""
        print_prose(console(), f"{page.url}: {kept}{note}")


def print_status(status: CorpusStatus) -> None:
    """Print the contents of the corpus."""
    out = console()
    if not status.documents:
        empty = "The corpus is empty; `searx-mcp corpus add URL` keeps a page."
        unknown = f"{status.source_url} is not kept; `searx-mcp corpus add` reads and keeps it."
        out.print(plain_text(unknown if status.source_url else empty))
        return
    table = plain_table("page", "chunks", "tokens", "fetched", "title")
    for page in status.urls:
        fetched = page.fetched_at[:16].replace("T", " ")
        facts = [f"{page.chunks:,}", f"{page.tokens:,}", fetched, _cut(page.title, _QUOTE)]
        if out.width < WIDE:
            out.print(plain_text(page.url, style="bold"))  # to be copied, so never wrapped
            told = "{3}, fetched {2}, chunks: {0}, tokens: {1}".format(*facts)
            print_prose(out, told.removeprefix(", "), indent="  ")
        else:
            table.add_row(*map(plain_text, (page.url, *facts)))
    if table.rows:
        out.print(table)
    sums = [
        counted(status.documents, "page"),
        counted(status.chunks, "chunk"),
        counted(status.tokens, "token"),
        f"{status.bytes / _MEGA:,.1f} MB",
    ]
    if status.embedding:
        sums.append(f"vectors of {status.embedding}: {status.embedded:,}")
    print_prose(out, ", ".join(sums))


def print_verdicts(report: VerifyReport) -> None:
    """Print a row for each quote, sentence and link of a report, in its order."""
    checked = sorted((*report.quotes, *report.sentences, *report.links), key=lambda each: each.line)
    out = console()
    if not checked:
        out.print("The report has no quotes and no links.")
        return
    table = plain_table("line", "verdict", "quote, sentence or link", "found in, or what differs")
    for each in checked:
        table.add_row(
            str(each.line),
            plain_text(each.verdict.value, style=_STYLES[each.verdict]),
            plain_text(_cut(each.text, _QUOTE) or each.url),
            plain_text("\n".join(filter(None, (*each.found_in, each.difference)))),
        )
    out.print(table)
    tallies = {"quotes": report.quotes, "sentences": report.sentences, "links": report.links}
    out.print(plain_text("; ".join(f"{name}: {_tally(each)}" for name, each in tallies.items())))


def _tally(checked: Sequence[CheckedQuote]) -> str:
    verdicts = [each.verdict for each in checked]
    counts = [
        f"{verdicts.count(verdict)} {verdict}" for verdict in QuoteVerdict if verdict in verdicts
    ]
    return ", ".join(counts) or "none"


def _head(facts: str, path: Sequence[str]) -> Text:
    return plain_text(f"\n{facts}" + (f"  § {' > '.join(path)}" if path else ""), style="dim")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


read = command(
    READ_PAGE,
    Printing(
        lambda response, budget, _: print_read(response, budget=budget),
        failure=lambda error, raw: fetch_error_data(error, str(raw.get("url", ""))),
    ),
    _opened,
)
answer = command(
    ANSWER,
    Printing(
        print_evidence,
        failure=lambda error, raw: search_error_data(error, str(raw.get("query", ""))),
        has_passages=True,
    ),
    _opened,
)
for _command in (
    command(
        INGEST,
        Printing(
            lambda response, _, __: print_ingested(response),
            is_whole=True,
            is_failed=lambda response: any(page.error or page.in_memory for page in response.pages),
        ),
        _opened,
    ),
    command(
        CORPUS_STATUS,
        Printing(lambda status, _, __: print_status(status), is_whole=True),
        _opened,
    ),
    command(SEARCH_CORPUS, Printing(print_evidence, has_passages=True), _opened),
):
    corpus.add_command(_command)

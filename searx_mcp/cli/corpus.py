"""`read`, `answer` and the commands under `corpus`: call the client, print the result."""

import json
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click

from searx_mcp.arguments import parse_corpus
from searx_mcp.cli.corpus_output import (
    print_evidence,
    print_ingested,
    print_read,
    print_status,
    print_verdicts,
)
from searx_mcp.cli.options import Printing, command
from searx_mcp.cli.output import (
    confirm,
    errors_as_json,
    json_option,
    plain_text,
    print_json,
    print_notes,
    print_outcome,
    read_argument,
    show_progress,
)
from searx_mcp.cli.running import Commands, ExitCode, working
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.checked import QuoteVerdict
from searx_mcp.evidence.requests import IngestRequest, StatusRequest
from searx_mcp.evidence.values import EvidenceResponse
from searx_mcp.fetch.config import FetchPolicy
from searx_mcp.files import check_regular, make_private_file
from searx_mcp.models.spelling import counted
from searx_mcp.render.errors import fetch_error_data, search_error_data
from searx_mcp.verbs.evidence import ANSWER, CORPUS_STATUS, INGEST, READ_PAGE, SEARCH_CORPUS

if TYPE_CHECKING:
    from searx_mcp.client.facade import SearxClient
    from searx_mcp.settings.sources import Loaded

MAX_REPORT: Final = 4_000_000
"""Maximum bytes of a report; a character takes up to four."""


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


def _show_evidence(response: EvidenceResponse, budget: int | None, passages: bool) -> None:  # noqa: FBT001 - as `Printing.show`
    print_evidence(response, budget=budget, passages=passages)


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
        _show_evidence,
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
    command(SEARCH_CORPUS, Printing(_show_evidence, has_passages=True), _opened),
):
    corpus.add_command(_command)


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

"""`doctor` and `selfcheck`: print the checks, each failure with its one fix."""

import asyncio
import json
import locale
import sys
import textwrap
from functools import partial
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from searx_mcp.cli.instances import opened_admin
from searx_mcp.cli.logs import leave_out
from searx_mcp.cli.output import console, plain_table, plain_text, print_outcome, show_progress
from searx_mcp.cli.running import ExitCode, as_typed, loaded, run
from searx_mcp.client.facade import SearxClient
from searx_mcp.content.clean import clean
from searx_mcp.errors import SettingsError
from searx_mcp.ops.doctor.checks import Check, CheckName, CheckStatus, Diagnosis, title
from searx_mcp.ops.doctor.doctor import Doctor, misconfiguration
from searx_mcp.ops.selfcheck import SelfCheck, bundled_vectors, prove_guard
from searx_mcp.settings.sources import Loaded

_WIDTH: Final = 80
_NARROWEST: Final = 20
_INDENT: Final = "  "
_NAME_WIDTH: Final = max(len(title(name)) for name in CheckName)
_MARKS: Final = {
    CheckStatus.OK: ("✓", "+", "green"),
    CheckStatus.WARNING: ("!", "!", "yellow"),
    CheckStatus.FAILED: ("✗", "x", "red"),
    CheckStatus.SKIPPED: ("-", "-", "dim"),
}
"""The symbol of a status, its replacement on a terminal without Unicode, and its style."""


@click.command()
@click.argument("url", required=False)
@click.option(
    "--own", is_flag=True, help="Treat the instance as yours even if its address is public."
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.pass_context
def doctor(context: click.Context, /, *, url: str | None, own: bool, as_json: bool) -> None:
    """Find out why searches fail, and how to fix it.

    URL is an instance; without it, checks all of your own, or access to the public ones. Sends no
    search, except with --own: one request for JSON, which counts against a limiter.
    """
    try:
        settings = loaded(context)
    except SettingsError as error:
        diagnosis = misconfiguration(error)
    else:
        with as_typed(context):
            diagnosis = run(_examine(settings, url, own=own))
    print_outcome(diagnosis, lambda: _print_diagnosis(diagnosis), as_json=as_json)
    if not diagnosis.healthy:
        sys.exit(ExitCode.FAILED)


async def _examine(settings: Loaded, url: str | None, *, own: bool) -> Diagnosis:
    leave_out("storage.degraded")
    progress = show_progress("checking this machine")
    doctor = Doctor(settings, partial(opened_admin, settings), progress=progress)
    return await doctor.examine(url, own=own)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def selfcheck(*, as_json: bool) -> None:
    """Check that private addresses cannot be fetched.

    Runs the guard over a table of known tricks; sends no request.
    """
    show_progress("checking addresses")
    # Only a selector loop connects in a way that can be redirected.
    found = run(
        prove_guard(
            bundled_vectors(), lambda settings, dialling: SearxClient(settings, dialling=dialling)
        ),
        loop_factory=asyncio.SelectorEventLoop,
    )
    if as_json:
        # Addresses contain characters that terminals must not get, so everything beyond ASCII is escaped.
        click.echo(json.dumps(found.model_dump(mode="json"), indent=2))
    else:
        _print_proof(found)
    if not found.passed:
        sys.exit(ExitCode.FAILED)


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    out = console()
    # Whether the terminal, or the reader of the pipe, probably supports more than ASCII.
    has_unicode = "utf" in locale.getencoding().casefold() and not out.is_dumb_terminal
    column = 0 if has_unicode else 1
    width = min(out.width, _WIDTH)
    for examination in diagnosis.examinations:
        out.print(plain_text(examination.subject, style="bold"))
        for check in examination.checks:
            _print_check(out, check, mark=_MARKS[check.status][column], width=width)
        out.print()
    out.print(plain_text(diagnosis.summary, style="bold"))


def _print_check(out: Console, check: Check, *, mark: str, width: int) -> None:
    style = _MARKS[check.status][-1]
    head = f"{_INDENT}{mark} {title(check.name):{_NAME_WIDTH}}  "
    first, *rest = _wrapped(clean(check.detail), width - len(head)) or [""]
    out.print(Text.assemble((head, style), first))
    for line in rest:
        out.print(Text(" " * len(head) + line))
    sentence, *literal = clean(check.fix).split("\n") if check.fix else ("",)
    indent = _INDENT * 2
    for line in _wrapped(sentence, width - len(indent)):
        out.print(Text(indent + line, style="bold"))
    for line in literal:  # to be copied, so never wrapped
        out.print(Text(f"{indent}{_INDENT}{line}"))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, max(width, _NARROWEST), break_long_words=False, break_on_hyphens=False
    )


def _print_proof(found: SelfCheck) -> None:
    counts = ("refused", "allowed", "wrong")
    table = plain_table("kind", *counts, numbers=counts)
    for kind in found.kinds:
        style = "red" if kind.wrong else ""
        cells = (kind.kind, str(kind.refused), str(kind.allowed), str(kind.wrong))
        table.add_row(*cells, style=style)
    out = console()
    out.print(table)
    for each in found.wrong:
        out.print(Text(f"{each.id}: {each.url!a}", style="red"))
        out.print(Text(f"  {each.why}; expected {each.expected}, got {each.came_to}"))
    if found.error_texts > 1:
        out.print(
            Text("Error messages for forbidden addresses differ, which reveals what exists.", "red")
        )
    out.print()
    failed = f"{len(found.wrong)} of {found.vectors} cases failed."
    summary = f"All {found.vectors} cases passed." if found.passed else failed
    out.print(Text(summary, style="bold"))

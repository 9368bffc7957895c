"""The doctor on a terminal: a list of checks, each failure with its one fix."""

import json
import locale
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from searx_mcp.cli import output
from searx_mcp.cli.instances import opened_admin
from searx_mcp.content.clean import clean
from searx_mcp.errors import SettingsError
from searx_mcp.models.service import Progress
from searx_mcp.ops.doctor.checks import Check, CheckName, CheckStatus, Diagnosis, title
from searx_mcp.ops.doctor.doctor import Doctor, misconfiguration
from searx_mcp.render.public import scrub
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
"""The mark of a status, the one a terminal without Unicode shows, and its style."""


async def doctor(
    loaded: Loaded | SettingsError, url: str | None, *, own: bool, as_json: bool
) -> bool:
    """Examine and print.

    Args:
        loaded: the settings, or why they cannot be read.
        url: the instance to examine; all own ones, or the way to the public ones, if it is `None`.
        own: whether the instance is the user's although it has a public address.
        as_json: print JSON instead of a list.

    Returns:
        Whether no check failed.

    Raises:
        InvalidArgumentError: `url` is no address.
    """
    if isinstance(loaded, SettingsError):
        diagnosis = misconfiguration(loaded)
    else:
        with _progress() as progress:
            diagnosis = await Doctor(
                loaded, partial(opened_admin, loaded), progress=progress
            ).examine(url, own=own)
    if as_json:
        data = scrub(diagnosis.model_dump(mode="json"))
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        _print(diagnosis)
    return diagnosis.healthy


def _print(diagnosis: Diagnosis) -> None:
    out = output.console()
    column = 0 if _can_show_marks(out) else 1
    width = min(out.width, _WIDTH)
    for examination in diagnosis.examinations:
        out.print(Text(clean(examination.subject), style="bold"))
        for check in examination.checks:
            _print_check(out, check, mark=_MARKS[check.status][column], width=width)
        out.print()
    out.print(Text(clean(diagnosis.summary), style="bold"))


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
    for line in literal:  # to be copied, so never broken
        out.print(Text(f"{indent}{_INDENT}{line}"))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, max(width, _NARROWEST), break_long_words=False, break_on_hyphens=False
    )


def _can_show_marks(out: Console) -> bool:
    """Whether a terminal, or whoever reads the pipe, is likely to know more than ASCII."""
    return "utf" in locale.getencoding().casefold() and not out.is_dumb_terminal


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A line on standard error that says what is looked at, when a person is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    with output.error_console().status("looking around") as status:
        yield lambda message: status.update(Text(clean(message)))

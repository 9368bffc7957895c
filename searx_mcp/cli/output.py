"""Plain text, tables, JSON and progress, as every command prints them.

Texts from instances and pages are never read as markup, and nothing in them acts on the terminal.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from searx_mcp.content.clean import clean
from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError

if TYPE_CHECKING:
    from searx_mcp.models.service import Progress

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


@contextmanager
def show_progress(message: str = "") -> "Iterator[Progress | None]":
    """A line on standard error that says what is going on, when a person is looking.

    Args:
        message: what it says at first.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with error_console().status(message) as status:
        yield lambda step: status.update(plain_text(step))


def print_json(data: Mapping[str, Any]) -> None:
    """Print data for a program."""
    from searx_mcp.render.public import scrub  # noqa: PLC0415 - what tables do not need

    click.echo(json.dumps(scrub(data), ensure_ascii=False, indent=2, allow_nan=False))


def error_data(error: SearxMcpError, **more: object) -> dict[str, Any]:
    """An error for programs.

    Args:
        error: what is wrong.
        **more: what the command tells besides.
    """
    data: dict[str, Any] = {
        "error_type": error.code.value,
        "error_details": f"{error.message.rstrip('.')}. {error.advice}".rstrip(),
        **more,
    }
    if isinstance(error, InvalidArgumentError | SettingsError):
        data["field"] = error.field
    return data


def print_notes(notes: Iterable[str]) -> None:
    """Print what a person should know besides, on standard error."""
    for note in notes:
        error_console().print(plain_text(f"Note: {note}", style="yellow"))


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


def duration(seconds: float) -> str:
    """A length of time in the largest unit that fits."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"

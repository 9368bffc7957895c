"""Plain text, tables, JSON and progress, as every command prints them.

Texts from instances and pages are never read as markup, and nothing in them acts on the terminal.
"""

import json
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from searx_mcp.cli.running import say, spinner, wrapped
from searx_mcp.content.clean import clean
from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError

if TYPE_CHECKING:
    from searx_mcp.models.progress import Progress

WIDE: Final = 110
"""Columns from which on a table shows all it has."""
_NARROWEST: Final = 12
"""Columns that an address is never cut below."""
_GAP: Final = "  "
_PIPE_WIDTH = 200
"""Columns of a table where no terminal says how many there are."""


class _Console(Console):
    """A console that lets the command end when the reader has gone."""

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


def show_progress(message: str, limit: float | None = None) -> "Progress | None":
    """Say on standard error what is going on, until something is printed.

    Args:
        message: what is said at first.
        limit: seconds that it may take; `None` if that is not known.

    Returns:
        What says more, or `None` where no terminal shows it.
    """
    shown = spinner()
    if shown is None:
        return None

    def show(step: str, limit: float | None = None) -> None:
        line = plain_text(" ".join(step.split()))
        line.truncate(shown.room, overflow="ellipsis")
        shown.update(line.plain, limit)

    show(message, limit)
    return show


@contextmanager
def show_steps(message: str) -> "Iterator[Progress]":
    """Say on standard error each step of a long task: with its time when it has ended, or else when it begins.

    A terminal shows what is going on, too; elsewhere each step is one line. What stands behind a colon is a
    detail of its step.

    Args:
        message: what is said at first.
    """
    show = show_progress(message)
    step, begun = "", 0.0

    def ended() -> None:
        if step and show:
            click.echo(f"{step}  {time.perf_counter() - begun:.1f} s", err=True)

    def progress(said: str) -> None:
        nonlocal step, begun
        if (named := clean(said.partition(": ")[0])) != step:
            ended()
            step, begun = named, time.perf_counter()
            if not show:
                say(step)
        if show:
            show(said)

    yield progress
    ended()


def read_input(most: int) -> str:
    """Read standard input.

    Args:
        most: characters; of a longer text, one more is read.
    """
    if sys.stdin.isatty():
        say("Reading standard input; press Ctrl-D to end it.")
    return sys.stdin.read(most + 1)


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
        print_prose(error_console(), f"Note: {note}", style="yellow")


def print_prose(out: Console, text: str, *, style: str = "", indent: str = "") -> None:
    """Print a sentence from any source, wrapped between words on a terminal."""
    out.print(plain_text(wrapped(clean(text), out.file, indent=indent), style=style))


def plain_table(*headers: str) -> Table:
    """A table without lines, whose first column is never broken."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, header in enumerate(headers):
        table.add_column(header, overflow="fold", no_wrap=number == 0)
    return table


def noted_table(
    headers: Sequence[str], rows: Iterable[tuple[Sequence[Text], str]], *, width: int
) -> RenderableType:
    """A table whose rows have a note each: in a column of its own, or below the row if there is no room.

    Args:
        headers: of the columns, that of the note last.
        rows: cells and note, in their order.
        width: columns there are.
    """
    rows = list(rows)
    if width >= WIDE:
        table = plain_table(*headers)
        for cells, note in rows:
            table.add_row(*cells, plain_text(note))
        return table
    shown = [[Text(name, "bold") for name in headers[:-1]], *(list(cells) for cells, _ in rows)]
    notes = ["", *(note for _, note in rows)]
    sizes = [max(cell.cell_len for cell in column) for column in zip(*shown, strict=True)]
    room = width - sum(sizes[1:]) - len(_GAP) * (len(sizes) - 1)
    sizes[0] = min(sizes[0], max(room, _NARROWEST))
    lines = []
    for cells, note in zip(shown, notes, strict=True):
        for cell, size in zip(cells, sizes, strict=True):
            cell.truncate(size, overflow="ellipsis", pad=True)
        lines.append(Text(_GAP).join(cells))
        lines[-1].rstrip()
        filled = textwrap.wrap(
            clean(note), width - len(_GAP), break_long_words=False, break_on_hyphens=False
        )
        lines += [Text(f"{_GAP}{line}", "dim") for line in filled]
    return Text("\n").join(lines)


def host(url: str) -> Text:
    """An instance's address without what all of them share."""
    return plain_text(url.removeprefix("https://").rstrip("/"))


def plain_text(content: str, *, style: str = "") -> Text:
    """Text from any source, as plain text without control sequences."""
    return Text(clean(content), style=style)


def duration(seconds: float) -> str:
    """A length of time in the largest unit that fits."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"

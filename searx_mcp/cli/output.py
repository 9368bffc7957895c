"""Plain text, tables, JSON and progress, shared by all commands.

Texts from instances and pages are never parsed as markup, and cannot control the terminal.
"""

import json
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from searx_mcp.cli.running import say, spinner, wrapped
from searx_mcp.content.clean import clean
from searx_mcp.content.json_layout import laid_out
from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError
from searx_mcp.files import read_text

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import JustifyMethod

    from searx_mcp.models.attempt import Attempt, PastOutcome
    from searx_mcp.models.progress import Progress

WIDE: Final = 110
"""Columns from which a table shows all columns."""
_NARROWEST: Final = 12
"""Minimum columns of an address."""
_GAP: Final = "  "
_PIPE_WIDTH = 200
"""Columns of a table if there is no terminal."""


json_option = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")


class _Console(Console):
    """A console that lets the command end when the reader has gone."""

    @override
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Return the console on standard output; in a pipe, tables are as wide as necessary."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return _Console(highlight=False, soft_wrap=True, width=width)


def error_console() -> Console:
    """Return the console on standard error; in a pipe likewise."""
    width = None if sys.stderr.isatty() else _PIPE_WIDTH
    return _Console(stderr=True, highlight=False, soft_wrap=True, width=width)


def show_progress(message: str, limit: float | None = None) -> "Progress | None":
    """Show progress on standard error until something else is printed.

    Args:
        message: the first text.
        limit: maximum seconds; `None` if unknown.

    Returns:
        A function that changes the text, or `None` if there is no terminal.
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
    """Print each step of a long task on standard error.

    A step is printed with its duration when it ends, or else when it starts.

    A terminal also shows the current step; elsewhere each step is one line. The text after a colon is a
    detail of its step.

    Args:
        message: the first text.
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


def read_argument(file: str, most: int) -> str:
    """Read the file that the argument `file` names; `-` is standard input.

    Args:
        file: path of the file.
        most: maximum bytes of a file; of a longer standard input, one character more is read.

    Raises:
        InvalidArgumentError: it cannot be read, or is not UTF-8 text.
    """
    try:
        if file != "-":
            return read_text(Path(file), most)
        if sys.stdin.isatty():
            say("Reading standard input; press Ctrl-D to end it.")
        return sys.stdin.read(most + 1)
    except OSError as exc:
        raise InvalidArgumentError("file", f"{file} cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidArgumentError("file", f"{file} is not UTF-8 text") from exc


def confirm(question: str) -> None:
    """Ask a person to agree to a deletion.

    Args:
        question: of the person.

    Raises:
        InvalidArgumentError: nobody can answer.
        click.Abort: the person does not agree.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidArgumentError(
            "--yes", "is required without a terminal", advice="Nothing was deleted."
        )
    click.confirm(question, abort=True, err=True)


def print_json(data: Mapping[str, Any]) -> None:
    """Print data for a program."""
    from searx_mcp.render.structured import scrub  # noqa: PLC0415 - no table needs it

    click.echo(laid_out(json.dumps(scrub(data), ensure_ascii=False, allow_nan=False)))


def print_outcome(outcome: "BaseModel", show: Callable[[], None], *, as_json: bool) -> None:
    """Print an outcome: as JSON for a program, or as `show` prints it for a person."""
    if as_json:
        print_json(outcome.model_dump(mode="json"))
    else:
        show()


def error_data(error: SearxMcpError, **more: object) -> dict[str, Any]:
    """Convert an error for programs.

    Args:
        error: the error.
        **more: further fields of the command.
    """
    data: dict[str, Any] = {
        "error_type": error.code.value,
        "error_details": f"{error.message.rstrip('.')}. {error.advice}".rstrip(),
        **more,
    }
    if isinstance(error, InvalidArgumentError | SettingsError):
        data["field"] = error.field
    return data


@contextmanager
def errors_as_json(
    *, as_json: bool, convert: Callable[[SearxMcpError], Mapping[str, Any]] = error_data
) -> Iterator[None]:
    """Print an error of the block as JSON too, if a program reads standard output.

    Args:
        as_json: whether a program does.
        convert: converts the error.
    """
    try:
        yield
    except SearxMcpError as error:
        if as_json:
            print_json(convert(error))
        raise


def print_notes(notes: Iterable[str]) -> None:
    """Print notes for a person on standard error."""
    for note in notes:
        print_prose(error_console(), f"Note: {note}", style="yellow")


def print_prose(out: Console, text: str, *, style: str = "", indent: str = "") -> None:
    """Print a sentence from any source, wrapped between words on a terminal."""
    out.print(prose(out, text, style=style, indent=indent))


def prose(out: Console, text: str, *, style: str = "", indent: str = "") -> Text:
    """Return a sentence from any source as `print_prose` prints it."""
    return plain_text(wrapped(clean(text), out.file, indent=indent), style=style)


def plain_table(*headers: str, numbers: Collection[str] = ()) -> Table:
    """Return a table without lines, whose first column is never wrapped.

    Args:
        *headers: of the columns.
        numbers: headers of the columns that are aligned on the right.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, header in enumerate(headers):
        justify: JustifyMethod = "right" if header in numbers else "left"
        table.add_column(header, justify=justify, overflow="fold", no_wrap=number == 0)
    return table


def print_columns(out: Console, rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table into a pipe as `plain_table` looks there; rich takes a millisecond to lay out a row.

    Args:
        out: no terminal.
        rows: headers and cells, without line breaks.
    """
    lines = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, strict=True)
        out.file.write("  ".join(set_cell_size(cell, width) for cell, width in cells) + "\n")


def noted_table(
    headers: Sequence[str], rows: Iterable[tuple[Sequence[Text], str]], *, width: int
) -> RenderableType:
    """Return a table with a note for each row: in its own column, or below the row if there is no room.

    Args:
        headers: of the columns, that of the note last.
        rows: cells and note, in their order.
        width: available columns.
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


def requests_table(
    name: str, requests: Iterable[tuple[Text, "Attempt | PastOutcome"]], *, width: int
) -> RenderableType:
    """Return a table with one row per request to an instance.

    Args:
        name: header of the first column.
        requests: each with its cell of the first column, in their order.
        width: available columns.
    """
    rows = (
        (
            (
                first,
                Text(request.format),
                Text(request.verdict.replace("_", " ")),
                Text(str(request.status_code or "")),
                Text(str(request.elapsed_ms)),
            ),
            request.detail,
        )
        for first, request in requests
    )
    return noted_table((name, "format", "verdict", "status", "ms", "detail"), rows, width=width)


def host(url: str) -> Text:
    """Return an instance's address without the parts that all of them share."""
    return plain_text(url.removeprefix("https://").rstrip("/"))


def plain_text(content: str, *, style: str = "") -> Text:
    """Return text from any source as plain text without control sequences."""
    return Text(clean(content), style=style)


def duration(seconds: float) -> str:
    """Return a duration in the largest unit that fits."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"

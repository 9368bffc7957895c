"""What is kept on this machine: looking at it, and deleting it."""

import json
import sys
from contextlib import aclosing
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from searx_mcp.cli import output
from searx_mcp.client.stores import open_state
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.ops.local_files import KeptFiles, Purged, kept_files, purge
from searx_mcp.settings.sources import Loaded
from searx_mcp.storage import sqlite_pages as pages
from searx_mcp.storage.sqlite_pages import FILE_NAME as PAGES_NAME
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store

_WARNING = (
    "Instances remember what was asked of them although this machine will not: for up to 30 days "
    "some will refuse."
)
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_KILO = 1_000


def show(loaded: Loaded, *, config: Path, now: float, as_json: bool) -> None:
    """Print every file that is kept."""
    kept = kept_files(loaded.settings.state_folder(), config=config, now=now)
    if as_json:
        _print_json(kept.model_dump(mode="json"))
    else:
        _print_table(kept)


async def delete(loaded: Loaded, *, everything: bool, agreed: bool, as_json: bool) -> None:
    """Delete what was learned and read, after asking on a terminal.

    Raises:
        InvalidArgumentError: there is nobody to ask.
        StorageError: the state or the pages cannot be deleted.
    """
    settings, folder = loaded.settings, loaded.settings.state_folder()
    if not agreed and not _is_agreed(folder):
        raise InvalidArgumentError(
            "--yes", "is needed where nobody can be asked", advice="Nothing was deleted."
        )
    # Also the pages of before they were switched off, so it is not the settings that say where.
    kept_pages = pages.open_store(
        folder / PAGES_NAME if folder else None,
        max_bytes=settings.fetch.cache_size,
        max_age=settings.fetch.cache_max_age,
    )
    async with (
        aclosing(open_store(folder / FILE_NAME if folder else None)) as state,
        aclosing(kept_pages),
    ):
        purged = await purge(folder, state, kept_pages, everything=everything)
    if settings.redis.url.get_secret_value():
        async with aclosing(open_state(settings)) as shared:
            await shared.purge()
        emptied = (*purged.emptied, "the server of redis.url")
        purged = purged.model_copy(update={"emptied": emptied})
    if as_json:
        _print_json(purged.model_dump(mode="json"))
    else:
        _print_purged(purged)


def _is_agreed(folder: Path | None) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    where = folder or "the memory of this process"
    question = f"Delete what was learned and read in {where}? {_WARNING}"
    return click.confirm(question, abort=True, err=True)


def _print_table(kept: KeptFiles) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("file", no_wrap=True)  # to be copied
    for name in ("size", "written", "what"):
        table.add_column(name, justify="right" if name == "size" else "left", overflow="fold")
    for file in kept.files:
        cells = (file.path, _size(file.size), f"{_age(file.age)} ago", file.what)
        table.add_row(*(Text(cell) for cell in cells))
    out = output.console()
    if kept.files:
        out.print(table)
    if kept.folder is None:
        out.print("Nothing outlives a process: storage.state is off.")
    elif not any(file.path.startswith(kept.folder) for file in kept.files):
        out.print(Text(f"Nothing is kept yet in {kept.folder}"))
    else:
        out.print(
            Text(f"{_size(kept.size)} in all; `searx-mcp purge` deletes what was learned and read.")
        )


def _print_purged(purged: Purged) -> None:
    out = output.console()
    for verb, paths in (("Emptied", purged.emptied), ("Deleted", purged.deleted)):
        for path in paths:
            out.print(Text(f"{verb} {path}"))
    for path, why in purged.left.items():
        out.print(Text(f"Left {path}: {why}"))
    if purged.emptied:
        out.print(_WARNING)
    elif not purged.deleted:
        out.print("There was nothing to delete.")


def _size(count: int) -> str:
    return f"{count} B" if count < _KILO else f"{count / _KILO:,.0f} kB"


def _age(seconds: float) -> str:
    for length, name in _UNITS:
        if (number := int(seconds // length)) > 0:
            return f"{number} {name}{'s' if number > 1 else ''}"
    return "less than a minute"


def _print_json(data: dict[str, object]) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))

"""`config`, `paths` and `purge`: print the settings and the stored files, and delete those."""

import json
import os
import time
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from searx_mcp.cli.output import (
    WIDE,
    confirm,
    console,
    plain_table,
    plain_text,
    print_json,
    print_prose,
)
from searx_mcp.cli.running import check, loaded, working
from searx_mcp.content.json_layout import laid_out
from searx_mcp.settings.sources import Loaded, SettingRow, effective, settings_file

if TYPE_CHECKING:
    from searx_mcp.ops.local_files import KeptFiles, Purged
    from searx_mcp.settings.values import Settings

_WARNING = (
    "Public instances still count the searches you already made: for up to 30 days some may refuse "
    "more."
)
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_KILO = 1_000
_LONG_VALUE = 60
"""Columns at which a longer value of a setting is wrapped."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the settings as JSON.")
@click.pass_context
def config(context: click.Context, /, *, as_json: bool) -> None:
    """Show every setting, its value and its origin."""
    read = loaded(context)
    check(read, _check_server)
    rows = effective(read.settings, read.origins)
    if as_json:
        print_json({row.key: {"value": row.value, "origin": row.origin} for row in rows})
    else:
        print_settings(rows)


def _check_server(settings: "Settings") -> None:
    """Check settings that only a server needs, and that perhaps only its user can read."""
    if settings.server.traces:
        from searx_mcp.server.spans import check_libraries  # noqa: PLC0415 - seldom set

        check_libraries()
    if settings.http.tokens_file:
        from searx_mcp.server.web.tokens_file import TokensFile  # noqa: PLC0415 - seldom set

        TokensFile(Path(settings.http.tokens_file).expanduser())


def print_settings(rows: Iterable[SettingRow]) -> None:
    """Print the settings with values that can be copied into the file: as a table, if there is room for one."""
    out = console()
    table = plain_table("setting", "value", "from")
    table.columns[1].max_width = _LONG_VALUE  # a list of networks must not push the origins away
    for row in rows:
        style = "dim" if row.origin == "default" else ""
        value = (
            row.value if isinstance(row.value, str) else json.dumps(row.value, ensure_ascii=False)
        )
        if out.width < WIDE:
            out.print(plain_text(f"{row.key} = {value} ({row.origin})", style=style))
        else:
            cells = (plain_text(cell) for cell in (row.key, value, row.origin))
            table.add_row(*cells, style=style)
    if table.rows:
        out.print(table)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
@click.pass_context
def paths(context: click.Context, /, *, as_json: bool) -> None:
    """Show the files kept on this machine.

    Each with its size, its age and what it holds.
    """
    from searx_mcp.ops.local_files import kept_files  # noqa: PLC0415 - no setting needs the stores

    named = context.find_root().params["config"]
    path, _ = settings_file(Path(named) if named else None, os.environ)
    folder = loaded(context).settings.state_folder()
    kept = kept_files(folder, config=path, now=time.time())  # noqa: TID251 - file times are of this clock
    if as_json:
        _print_json(kept.model_dump(mode="json"))
    else:
        _print_table(kept)


@click.command()
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also delete the list of public instances and the keys.",
)
@click.option("--yes", "agreed", is_flag=True, help="Skip the confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@working
async def purge(loaded: Loaded, *, everything: bool, agreed: bool, as_json: bool) -> None:
    """Delete what was learned and read.

    This covers budgets, states of instances, your choices, cached pages and the corpus. Running
    servers start over. Your settings and your own instance stay.
    """
    from searx_mcp.client.stores import open_corpus, open_state  # noqa: PLC0415 - no setting needs the stores
    from searx_mcp.evidence.storage import sqlite as sqlite_corpus  # noqa: PLC0415 - as above
    from searx_mcp.ops.local_files import delete_kept  # noqa: PLC0415 - as above
    from searx_mcp.storage import (  # noqa: PLC0415 - as above
        sqlite_pages,
        sqlite_state,
    )

    settings, folder = loaded.settings, loaded.settings.state_folder()
    if not agreed:
        where = folder or "the memory of this process"
        confirm(f"Delete what was learned and read in {where}? {_WARNING}")
    # Include pages from before the cache was switched off, whatever the settings say now.
    kept_pages = sqlite_pages.open_store(
        folder / sqlite_pages.FILE_NAME if folder else None,
        max_bytes=settings.fetch.cache_size,
        max_age=settings.fetch.cache_max_age,
    )
    kept_corpus = sqlite_corpus.SqliteCorpusStore(
        folder / sqlite_corpus.FILE_NAME if folder else None,
        namespace="default",
        max_bytes=settings.corpus.max_size,
        max_age=settings.corpus.max_age,
    )
    async with (
        aclosing(
            sqlite_state.open_store(folder / sqlite_state.FILE_NAME if folder else None)
        ) as state,
        aclosing(kept_pages),
        aclosing(kept_corpus),
    ):
        purged = await delete_kept(folder, state, kept_pages, kept_corpus, everything=everything)
    if settings.redis.url.get_secret_value():
        async with aclosing(open_state(settings)) as shared:
            await shared.purge()
        purged = purged.emptying("the server of redis.url")
    if settings.postgres.url.get_secret_value() and settings.storage.corpus:
        async with aclosing(open_corpus(settings, folder, "default")) as shared_corpus:
            await shared_corpus.purge()
        purged = purged.emptying("the server of postgres.url")
    if as_json:
        _print_json(purged.model_dump(mode="json"))
    else:
        _print_purged(purged)


def _print_table(kept: "KeptFiles") -> None:
    out, table = console(), plain_table("file", "size", "written", "what", numbers=("size",))
    for file in kept.files:
        size, written = _size(file.size), f"{_age(file.age)} ago"
        if out.width < WIDE:
            out.print(Text(file.path, "bold"))  # to be copied, so never wrapped
            print_prose(out, f"{size}, written {written}. {file.what}", indent="  ")
        else:
            table.add_row(*map(Text, (file.path, size, written, file.what)))
    if table.rows:
        out.print(table)
    if kept.folder is None:
        print_prose(out, "Nothing is stored: storage.state is off.")
    elif not any(file.path.startswith(kept.folder) for file in kept.files):
        out.print(Text(f"Nothing stored yet in {kept.folder}"))
    else:
        total = f"{_size(kept.size)} in all; `searx-mcp purge` deletes what was learned and read."
        print_prose(out, total)


def _print_purged(purged: "Purged") -> None:
    out = console()
    for verb, paths in (("Emptied", purged.emptied), ("Deleted", purged.deleted)):
        for path in paths:
            out.print(Text(f"{verb} {path}"))
    for path, why in purged.left.items():
        print_prose(out, f"Kept {path}: {why}")
    if purged.emptied:
        print_prose(out, _WARNING)
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
    # Unmodified paths: cleaned ones would not name a file.
    click.echo(laid_out(json.dumps(data, ensure_ascii=False)))

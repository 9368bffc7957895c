"""What the `instances` commands do: ask the client's admin, print what comes back."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Unpack

import click
from rich.console import Group
from rich.live import Live

from searx_mcp.cli import output
from searx_mcp.cli.calls import print_json, show_progress
from searx_mcp.cli.instance_pages import print_details, refresh_lines, trial_lines
from searx_mcp.cli.instance_tables import (
    budget_table,
    check_table,
    forecast,
    month_line,
    pool_table,
)
from searx_mcp.client.facade import remembering_client
from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError
from searx_mcp.files import read_text
from searx_mcp.models.administration import Change, Ledger
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceState, PoolReport, SortKey, Tier
from searx_mcp.models.request import SearchArguments
from searx_mcp.ops.instance_admin import InstanceAdmin
from searx_mcp.ops.instance_export import MAX_TEXT
from searx_mcp.ops.instance_reports import Selection
from searx_mcp.settings.sources import Loaded

WATCH_INTERVAL: Final = 2.0
"""Seconds between two drawings of a watched list."""
_AROUND: Final = 6
"""Lines around the rows of a watched list: headers, footers and the prompt."""


async def show_list(
    loaded: Loaded,
    *,
    sort: str | None,
    reverse: bool,
    states: Sequence[str],
    tiers: Sequence[str],
    host: str,
    usable: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """Print the pool, once or again and again."""
    selection = Selection(
        sort=SortKey(sort) if sort else None,
        reverse=reverse,
        states=[InstanceState(state.replace("-", "_")) for state in states],
        tiers=[Tier(tier) for tier in tiers],
        host=host,
        usable=usable,
    )
    if watch and (as_json or not sys.stdout.isatty()):
        raise InvalidArgumentError(
            "watch",
            "redraws a terminal, and this is none",
            advice="Leave it out; `--json` once is what a program wants.",
        )
    async with opened_admin(loaded, as_json=as_json) as admin:
        if watch:
            await _watch(admin, selection)
            return
        report = await admin.list(selection)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        print_pool(report)


def print_pool(report: PoolReport) -> None:
    """Print the pool as a table, with its notes on standard error."""
    out = output.console()
    if report.instances:
        out.print(pool_table(report.instances, width=out.width))
    else:
        out.print("No instance to show.")
    for line in _about(report):
        out.print(output.plain_text(line, style="dim"))
    for note in report.notes:
        output.error_console().print(output.plain_text(f"Note: {note}", style="yellow"))


async def show_one(loaded: Loaded, host: str, *, as_json: bool) -> None:
    """Print everything that is known of one instance."""
    async with opened_admin(loaded, as_json=as_json) as admin:
        details = await admin.show(host)
        now = admin.now()
    if as_json:
        print_json(details.model_dump(mode="json"))
    else:
        print_details(output.console(), details, now)


async def check(loaded: Loaded, hosts: Sequence[str], *, as_json: bool) -> None:
    """Probe instances and print what they answered."""
    async with (
        opened_admin(loaded, as_json=as_json) as admin,
        show_progress("checking") as progress,
    ):
        checked = await admin.check(hosts, progress=progress)
    if as_json:
        print_json(checked.model_dump(mode="json"))
        return
    out = output.console()
    out.print(check_table(checked, width=out.width))
    alive = sum(check.alive for check in checked.checks)
    out.print(output.plain_text(f"{alive} of {len(checked.checks)} answer.", style="dim"))
    if checked.offline:
        click.echo(
            "Nobody answers: this machine seems to be offline. It is held against nobody.", err=True
        )


async def refresh(loaded: Loaded, *, as_json: bool) -> None:
    """Fetch the list of public instances and print what came of it."""
    async with opened_admin(loaded, as_json=as_json) as admin, show_progress("fetching the list"):
        refreshed = await admin.refresh()
    if as_json:
        print_json(refreshed.model_dump(mode="json"))
    else:
        _echo(refresh_lines(refreshed))


async def change(loaded: Loaded, verb: str, subject: str, *, as_json: bool) -> None:
    """Change the pool and print what holds now.

    Args:
        loaded: the settings.
        verb: `add`, `remove`, `block`, `unblock` or `reset`.
        subject: an address or a host.
        as_json: whether a program reads it.
    """
    async with opened_admin(loaded, as_json=as_json) as admin:
        changed: Change = await getattr(admin, verb)(subject)
    if as_json:
        print_json(changed.model_dump(mode="json"))
        return
    click.echo(changed.message if changed.changed else f"Nothing changed: {changed.message}")
    for note in changed.notes:
        click.echo(note, err=True)


async def test(
    loaded: Loaded,
    host: str,
    query: str,
    *,
    form: str | None,
    as_json: bool,
    **arguments: Unpack[SearchArguments],
) -> None:
    """Search once at one instance and print what came of it."""
    async with (
        opened_admin(loaded, as_json=as_json) as admin,
        show_progress(f"searching at {host}"),
    ):
        trial = await admin.test(host, query, format=Format(form) if form else None, **arguments)
    if as_json:
        print_json(trial.model_dump(mode="json"))
    else:
        _echo(trial_lines(trial))


async def export(loaded: Loaded, *, file: Path | None) -> None:
    """Write what was chosen and learned, to a file or standard output."""
    async with opened_admin(loaded) as admin:
        exported = await admin.export()
    text = json.dumps(exported.model_dump(mode="json"), ensure_ascii=False, indent=2)
    if file is None:
        click.echo(text)
        return
    _write(file, f"{text}\n")
    chosen = sum(map(len, exported.choices.values()))
    click.echo(f"{file}: {chosen} choices, {len(exported.records)} instances", err=True)


async def import_(loaded: Loaded, file: str, *, as_json: bool) -> None:
    """Add what an export holds and print what was new."""
    async with opened_admin(loaded, as_json=as_json) as admin:
        imported = await admin.import_(_read(file))
    if as_json:
        print_json(imported.model_dump(mode="json"))
        return
    for verb, values in (("Added", imported.added), ("Blocked", imported.blocked)):
        _echo(f"{verb} {value}" for value in values)
    click.echo(
        f"Newer news of {imported.learned} instances, older of {imported.known}. Budgets are as they"
        " were."
    )


async def budget(loaded: Loaded, *, everything: bool, as_json: bool) -> None:
    """Print what public instances allow, and for how long at this pace."""
    async with opened_admin(loaded, as_json=as_json) as admin:
        ledger = await admin.budget()
    if as_json:
        print_json(ledger.model_dump(mode="json"))
    else:
        _print_ledger(ledger, everything=everything)


def _print_ledger(ledger: Ledger, *, everything: bool) -> None:
    out = output.console()
    if not ledger.instances:
        out.print("No public instance is in the pool; your own have no budget.")
        return
    month = ledger.month
    if month is not None:
        out.print(
            output.plain_text(
                f"Together: {month.spent} of {month.limit} searches used in 30 days,"
                f" {month.left or 'none'} may be used now; {month.pace:.1f} a day over the last week,"
                " at this pace: "
            ).append_text(forecast(month, ledger.at))
        )
    shown = [line for line in ledger.instances if everything or line.spent]
    if shown:
        out.print(budget_table(shown, now=ledger.at, width=out.width))
    if rest := len(ledger.instances) - len(shown):
        out.print(
            output.plain_text(
                f"{rest} {'more' if shown else 'instances'} were not asked in 30 days; --all shows"
                " them.",
                style="dim",
            )
        )
    for note in ledger.notes:
        output.error_console().print(output.plain_text(f"Note: {note}", style="yellow"))


async def _watch(admin: InstanceAdmin, selection: Selection) -> None:
    out = output.console()
    with Live(console=out, screen=True, auto_refresh=False) as live:
        while True:
            report = await admin.list(selection)
            room = max(1, out.height - _AROUND)
            rest = len(report.instances) - room
            lines = [*_about(report), *report.notes]
            if rest > 0:
                lines.insert(0, f"… and {rest} more; a taller window or a filter shows them.")
            table = pool_table(report.instances[:room], width=out.width)
            live.update(
                Group(table, *(output.plain_text(line, style="dim") for line in lines)),
                refresh=True,
            )
            await asyncio.sleep(WATCH_INTERVAL)


def _about(report: PoolReport) -> Iterable[str]:
    if report.catalog_source:
        yield f"Public instances: {report.catalog_source}; {report.catalog_age_days} days old"
    if report.month:
        yield month_line(report.month)


@asynccontextmanager
async def opened_admin(loaded: Loaded, *, as_json: bool = False) -> AsyncIterator[InstanceAdmin]:
    """The admin of a client that remembers; an error is printed as JSON too where that is wanted."""
    try:
        async with remembering_client(loaded.settings, origins=loaded.origins) as client:
            yield client.admin
    except SearxMcpError as error:
        if as_json:
            print_json(_error_data(error))
        raise


def _error_data(error: SearxMcpError) -> dict[str, Any]:
    data: dict[str, Any] = {
        "error_type": error.code.value,
        "error_details": f"{error.message.rstrip('.')}. {error.advice}".rstrip(),
        "retry_after": error.retry_after,
    }
    if isinstance(error, InvalidArgumentError | SettingsError):
        data["field"] = error.field
    return data


def _read(file: str) -> str:
    try:
        return sys.stdin.read(MAX_TEXT + 1) if file == "-" else read_text(Path(file), MAX_TEXT)
    except OSError as exc:
        raise InvalidArgumentError("file", f"{file} cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidArgumentError("file", f"{file} is not UTF-8 text") from exc


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as exc:
        raise InvalidArgumentError("output", f"{file} cannot be written: {exc.strerror}") from exc


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)

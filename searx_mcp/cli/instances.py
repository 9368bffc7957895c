"""The commands under `instances`: call the client's admin, print the result."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

import click

from searx_mcp.cli.instance_output import (
    about_pool,
    check_table,
    pool_table,
    print_details,
    print_pool,
    print_quota,
)
from searx_mcp.cli.output import (
    console,
    error_data,
    errors_as_json,
    json_option,
    plain_text,
    print_outcome,
    read_argument,
    show_progress,
)
from searx_mcp.cli.process import loading
from searx_mcp.cli.running import Commands, Deferred, ExitCode, say, working
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceState, SortKey, Tier
from searx_mcp.models.spelling import counted

if TYPE_CHECKING:
    from searx_mcp.http.body import Response
    from searx_mcp.models.administration import Change, Checked, Imported, Refresh, Trial
    from searx_mcp.models.request import SearchArguments
    from searx_mcp.ops.instance_admin import InstanceAdmin
    from searx_mcp.ops.instance_reports import Selection
    from searx_mcp.settings.sources import Loaded

WATCH_INTERVAL: Final = 2.0
"""Seconds between two refreshes of a watched list."""
_AROUND: Final = 6
"""Lines around the rows of a watched list: headers, footers and the prompt."""

_STATES: Final = [state.replace("_", "-") for state in InstanceState]


@click.group(cls=Commands)
def instances() -> None:
    """Manage the pool of instances.

    Safe while servers run: they notice changes within 15 seconds. HOST is a host name, with a port if
    there is one, or a URL.
    """


instances.add_command(
    Deferred(
        "searx_mcp.cli.own:own",
        "Run SearXNG on this machine.",
    )
)


@instances.command("list")
@click.option(
    "-s",
    "--sort",
    type=click.Choice([key.value for key in SortKey]),
    help="Sort by this, best first.",
)
@click.option("-r", "--reverse", is_flag=True, help="Reverse the order.")
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    type=click.Choice(_STATES),
    help=f"Only instances in this state; repeatable. One of {', '.join(_STATES)}.",
)
@click.option(
    "--tier",
    "tiers",
    multiple=True,
    type=click.Choice([tier.value for tier in Tier], case_sensitive=False),
    help="Only instances of this tier; repeatable.",
)
@click.option("--host", default="", metavar="TEXT", help="Only addresses that contain TEXT.")
@click.option("--usable", is_flag=True, help="Only instances that can be asked now.")
@click.option(
    "--all", "everything", is_flag=True, help="Show every row, not just 20 on a terminal."
)
@click.option("-w", "--watch", is_flag=True, help="Refresh every 2 seconds until Ctrl-C.")
@json_option
@working
async def show_list(
    loaded: "Loaded",
    *,
    sort: str | None,
    reverse: bool,
    states: Sequence[str],
    tiers: Sequence[str],
    host: str,
    usable: bool,
    everything: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """List the pool; sends no request."""
    from searx_mcp.ops.instance_reports import Selection  # noqa: PLC0415 - no help needs the pool

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
            "needs a terminal",
            advice="Leave it out; programs use `--json`.",
        )
    async with opened_admin(loaded, as_json=as_json) as admin:
        if watch:
            await _watch(admin, selection)
            return
        show_progress("reading the pool")
        report = await admin.list(selection)
    print_outcome(report, lambda: print_pool(report, everything=everything), as_json=as_json)


@instances.command("show")
@click.argument("host")
@json_option
@working
async def show_one(loaded: "Loaded", *, host: str, as_json: bool) -> None:
    """Show everything known about one instance."""
    async with opened_admin(loaded, as_json=as_json) as admin:
        show_progress("reading the pool")
        details = await admin.show(host)
        now = admin.now()
    print_outcome(details, lambda: print_details(console(), details, now), as_json=as_json)


@instances.command("budget")
@click.option("--all", "everything", is_flag=True, help="Also instances without recent requests.")
@json_option
@working
async def budget(loaded: "Loaded", *, everything: bool, as_json: bool) -> None:
    """Show the budgets of public instances and when they run out."""
    async with opened_admin(loaded, as_json=as_json) as admin:
        show_progress("reading the budgets")
        quota = await admin.budget()
    print_outcome(quota, lambda: print_quota(quota, everything=everything), as_json=as_json)


def _add_change(verb: str, argument: str, sentence: str) -> None:
    @instances.command(verb, help=sentence)
    @click.argument("subject", metavar=argument)
    @json_option
    @working
    async def change(loaded: "Loaded", *, subject: str, as_json: bool) -> None:
        from searx_mcp.cli.logs import leave_out  # noqa: PLC0415 - no help needs it

        leave_out("storage.degraded")
        async with opened_admin(loaded, as_json=as_json) as admin:
            changed = await getattr(admin, verb)(subject)
        print_outcome(changed, lambda: _print_change(changed), as_json=as_json)


def _print_change(changed: "Change") -> None:
    click.echo(changed.message if changed.changed else f"Nothing changed: {changed.message}")
    for note in changed.notes:
        say(note)


_add_change("add", "URL", "Add an instance of your own.")
_add_change("remove", "HOST", "Remove an instance you added.")
_add_change("block", "HOST", "Never use a public instance.")
_add_change("unblock", "HOST", "Allow a blocked instance again.")
_add_change("reset", "HOST", "Forget an instance's state; its budget stays.")


@instances.command("check")
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@json_option
@working
async def check(loaded: "Loaded", *, hosts: tuple[str, ...], as_json: bool) -> None:
    """Check whether instances are up, without searching.

    All unless named. Requests /healthz, /config and robots.txt, which do not count against budgets.
    """
    async with opened_admin(loaded, as_json=as_json) as admin:
        progress = show_progress("checking")
        checked = await admin.check(hosts, progress=progress)
    print_outcome(checked, lambda: _print_checked(checked), as_json=as_json)
    if not any(check.alive for check in checked.checks):
        sys.exit(ExitCode.FAILED)


def _print_checked(checked: "Checked") -> None:
    out = console()
    alive = sum(check.alive for check in checked.checks)
    if not checked.offline:
        out.print(check_table(checked, width=out.width))
    out.print(plain_text(f"{alive} of {len(checked.checks)} are up.", style="dim"))
    if checked.offline:
        say("None is up: this machine seems to be offline, so it does not count against them.")


@instances.command("refresh")
@json_option
@working
async def refresh(loaded: "Loaded", *, as_json: bool) -> None:
    """Fetch the list of public instances now."""
    async with opened_admin(loaded, as_json=as_json) as admin:
        show_progress("fetching the list")
        refreshed = await admin.refresh()
    print_outcome(refreshed, lambda: _echo(refresh_lines(refreshed)), as_json=as_json)
    if refreshed.problem:
        sys.exit(ExitCode.FAILED)


@instances.command("test")
@click.argument("host")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option("--format", "form", type=click.Choice(["json", "html"]), help="Format to request.")
@click.option("-c", "--category", metavar="NAME", help="Category to search; default general.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the raw answer to FILE, query and cookies included.",
)
@json_option
@working
async def test(
    loaded: "Loaded",
    *,
    host: str,
    words: tuple[str, ...],
    form: str | None,
    save: Path | None,
    as_json: bool,
    **arguments: "Unpack[SearchArguments]",
) -> None:
    """Run one search at one instance.

    A real search: it counts against the instance's budget.
    """
    if save is not None:
        _write(save, b"", "save")  # before the search, which costs budget
    raw: list[Response] = []
    async with opened_admin(loaded, as_json=as_json) as admin:
        show_progress(f"searching at {host}")
        trial = await admin.test(
            host,
            " ".join(words),
            format=Format(form) if form else None,
            keep=raw.append,
            **arguments,
        )
    print_outcome(trial, lambda: _echo(trial_lines(trial)), as_json=as_json)
    if save is None:
        return
    if not raw:
        say(f"No complete answer came: {save} is empty.")
        return
    _write(save, _as_sent(raw[0]), "save")
    say(
        f"{save} holds the raw answer: it can contain the query, the instance's address and cookies."
        " Read it before you share it."
    )


@instances.command("export")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; default standard output.",
)
@click.option("--json", is_flag=True, expose_value=False, help="Always JSON.")
@working
async def export(loaded: "Loaded", *, output: Path | None) -> None:
    """Export your choices and what was learned, as JSON.

    For import on another machine. Contains no queries and no budget use.
    """
    async with opened_admin(loaded) as admin:
        exported = await admin.export()
    text = json.dumps(exported.model_dump(mode="json"), ensure_ascii=False, indent=2)
    if output is None:
        click.echo(text)
        return
    _write(output, f"{text}\n".encode(), "output")
    chosen = sum(map(len, exported.choices.values()))
    records = counted(len(exported.records), "instance")
    click.echo(f"{output}: {counted(chosen, 'choice')}, {records}", err=True)


@instances.command("import")
@click.argument("file")
@json_option
@working
async def import_(loaded: "Loaded", *, file: str, as_json: bool) -> None:
    """Add the contents of an export; nothing is lost.

    FILE was written by `export`; - reads standard input. Newer records win, budgets stay.
    """
    from searx_mcp.ops.instance_export import MAX_TEXT  # noqa: PLC0415 - no help needs the pool

    async with opened_admin(loaded, as_json=as_json) as admin:
        imported = await admin.import_(read_argument(file, MAX_TEXT))
    print_outcome(imported, lambda: _print_imported(imported), as_json=as_json)


def _print_imported(imported: "Imported") -> None:
    for verb, values in (("Added", imported.added), ("Blocked", imported.blocked)):
        _echo(f"{verb} {value}" for value in values)
    click.echo(
        f"Records: {imported.learned} newer, {imported.known} older and skipped. Budgets have not"
        " changed."
    )


def trial_lines(trial: "Trial") -> Iterator[str]:
    """Yield lines on a real search: its outcome, its cost and the rest of the budget."""
    status = "" if trial.status_code is None else f", status {trial.status_code}"
    yield (
        f"{trial.verdict.replace('_', ' ')}: {trial.rows_used} of {trial.rows_seen} rows read"
        f" in {trial.elapsed_ms} ms ({trial.format.upper()}{status})"
    )
    if trial.detail:
        yield trial.detail
    counts = (
        (trial.answers, "answer", "answers"),
        (trial.infoboxes, "infobox", "infoboxes"),
        (trial.suggestions, "suggestion", "suggestions"),
        (trial.unresponsive_engines, "engine without an answer", "engines without an answer"),
    )
    if around := ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n):
        yield around
    if not trial.cost:
        yield (
            "Cost: none; your own instances have no budget."
            if trial.left is None
            else "Cost: none; no search was sent."
        )
        return
    left = "any number" if trial.left is None else str(trial.left)
    month = "" if trial.month_left is None else f", {trial.month_left} across all public instances"
    yield f"Cost: {trial.cost} request. Left now: {left} at this instance{month}."


def refresh_lines(refresh: "Refresh") -> Iterator[str]:
    """Yield lines on a fetched list."""
    if refresh.problem:
        yield f"The list was not updated: {refresh.problem}"
    if refresh.listed:
        yield f"{refresh.listed} listed, {refresh.kept} kept, {refresh.in_pool} in the pool."
    for reason, count in sorted(refresh.dropped.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count} dropped: {reason.replace('_', ' ')}"
    if not refresh.problem:
        yield "The list has changed." if refresh.changed else "The list has not changed."


@asynccontextmanager
async def opened_admin(
    loaded: "Loaded", *, as_json: bool = False
) -> AsyncIterator["InstanceAdmin"]:
    """Open the admin of a client that uses the stores; print errors as JSON too, if requested."""
    with loading():
        from searx_mcp.client.facade import persistent_client  # noqa: PLC0415 - no help needs it

    with errors_as_json(
        as_json=as_json, convert=lambda error: error_data(error, retry_after=error.retry_after)
    ):
        async with persistent_client(loaded.settings, origins=loaded.origins) as client:
            yield client.admin


async def _watch(admin: "InstanceAdmin", selection: "Selection") -> None:
    from rich.console import Group  # noqa: PLC0415 - for this option alone
    from rich.live import Live  # noqa: PLC0415 - as above

    out = console()
    with Live(console=out, screen=True, auto_refresh=False) as live:
        while True:
            report = await admin.list(selection)
            room = max(1, out.height - _AROUND)
            rest = len(report.instances) - room
            lines = [*about_pool(report), *report.notes]
            if rest > 0:
                lines.insert(0, f"… and {rest} more; use a taller window or a filter.")
            table = pool_table(report.instances[:room], width=out.width)
            live.update(
                Group(table, *(plain_text(line, style="dim") for line in lines)),
                refresh=True,
            )
            await asyncio.sleep(WATCH_INTERVAL)


def _write(file: Path, data: bytes, option: str) -> None:
    try:
        file.write_bytes(data)
    except OSError as exc:
        raise InvalidArgumentError(option, f"{file} cannot be written: {exc.strerror}") from exc


def _as_sent(answer: "Response") -> bytes:
    """Return an answer's status and headers, an empty line, and the decoded body."""
    headers = (f"{name}: {value}" for name, value in answer.headers.items())
    head = "\n".join([f"HTTP {answer.status}", *headers, "", ""])
    return head.encode("utf-8", "surrogateescape") + answer.body


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)

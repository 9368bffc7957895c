"""The commands under `instances own`: run SearXNG on this machine, and print its state."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any, Final

import click

from searx_mcp.cli.instance_output import print_engines
from searx_mcp.cli.output import (
    console,
    error_data,
    errors_as_json,
    json_option,
    print_json,
    print_outcome,
    show_progress,
    show_steps,
)
from searx_mcp.cli.running import Commands, say, working
from searx_mcp.client.stores import open_state
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.own_instance import (
    Done,
    NativeInstance,
    NativeInstanceDown,
    NativeInstanceUp,
    NativeState,
)
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.native import NATIVE_TIMEOUT, NativeOptions, NativeRunner, open_native
from searx_mcp.settings.sources import Loaded

_DONE: Final = {
    Done.CREATED: "Installed and running.",
    Done.STARTED: "Started.",
    Done.UPDATED: "Running the new version.",
    Done.UNCHANGED: "Already running.",
}

_version = click.option(
    "--version",
    metavar="VERSION",
    help="latest, a commit, or the path of a source archive.",
)
_timeout = click.option(
    "--timeout",
    type=click.FloatRange(1, 3_600),
    metavar="SECONDS",
    default=NATIVE_TIMEOUT,
    show_default="300",
    help="Time limit including downloads.",
)


@click.group(cls=Commands)
def own() -> None:
    """Run SearXNG on this machine, without Docker or root."""


@own.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    metavar="N",
    help="Port on 127.0.0.1; default 8888 or the next free one.",
)
@_version
@_timeout
@json_option
@working
async def up(
    loaded: Loaded,
    *,
    port: int | None,
    version: str | None,
    timeout: float,  # noqa: ASYNC109 - the user's limit for the whole command
    as_json: bool,
) -> None:
    """Start it and use it for searches.

    Installs it first if needed, and waits until it answers.
    """
    report = await bring_up(loaded, NativeOptions(version, port, timeout), as_json=as_json)
    print_outcome(report, lambda: _print_up(report), as_json=as_json)
    if report.registered and not as_json:
        click.echo("Searches use it from now on; running servers notice within 15 seconds.")


async def bring_up(loaded: Loaded, options: NativeOptions, *, as_json: bool) -> NativeInstanceUp:
    """Install and start the instance, with each step on standard error.

    Args:
        loaded: the settings of this run.
        options: of the user.
        as_json: whether a program reads standard output, and gets errors there.
    """
    async with _opened(loaded, as_json=as_json, in_steps=True) as runner:
        return await runner.up(options)


@own.command()
@_version
@_timeout
@json_option
@working
async def update(
    loaded: Loaded,
    *,
    version: str | None,
    timeout: float,  # noqa: ASYNC109 - the user's limit for the whole command
    as_json: bool,
) -> None:
    """Switch to the newest version if it works.

    The new version is tried next to the one in use.
    """
    async with _opened(loaded, as_json=as_json, in_steps=True) as runner:
        report = await runner.update(NativeOptions(version, None, timeout))
    print_outcome(report, lambda: _print_up(report), as_json=as_json)


@own.command()
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(1, 10_000),
    metavar="N",
    default=50,
    show_default=True,
    help="Number of lines.",
)
@json_option
@working
async def log(loaded: Loaded, *, lines: int, as_json: bool) -> None:
    """Show the last lines of its log."""
    async with _opened(loaded, as_json=as_json) as runner:
        written = await runner.log(lines)
    if as_json:
        print_json({"lines": list(written)})
        return
    for line in written:
        click.echo(line)
    if not written:
        say("No log: no instance is installed, or it has not written anything yet.")


@own.command()
@json_option
@working
async def status(loaded: Loaded, *, as_json: bool) -> None:
    """Show its version, address and failing engines."""
    async with _opened(loaded, as_json=as_json) as runner:
        report = await runner.status()
    print_outcome(report, lambda: _print_status(report), as_json=as_json)


def _print_status(report: NativeInstance) -> None:
    _print_instance(report)
    if report.engines:
        print_engines(console(), report.engines)
    if report.state is not NativeState.RUNNING:
        click.echo("Start it with `searx-mcp instances own up`.")


@own.command()
@click.option("--keep-settings", is_flag=True, help="Keep its settings file for the next `up`.")
@json_option
@working
async def down(loaded: Loaded, *, keep_settings: bool, as_json: bool) -> None:
    """Stop and remove it."""
    async with _opened(loaded, as_json=as_json) as runner:
        report = await runner.down(keep_settings=keep_settings)
    print_outcome(report, lambda: _print_down(report), as_json=as_json)


@asynccontextmanager
async def _opened(
    loaded: Loaded, *, as_json: bool, in_steps: bool = False
) -> AsyncIterator[NativeRunner]:
    """Open what runs the instance.

    Args:
        loaded: the settings of this run.
        as_json: whether a program reads standard output, and gets errors there.
        in_steps: whether a person gets a line for each step.
    """
    first = "looking for the instance"
    shown = show_steps(first) if in_steps and not as_json else nullcontext(show_progress(first))
    with errors_as_json(as_json=as_json, convert=_error_data), shown as progress:
        try:
            async with open_native(
                loaded.settings, open_state(loaded.settings), progress=progress or _say_nothing
            ) as runner:
                yield runner
        except OwnInstanceError as error:
            if error.log and not as_json:
                click.echo("Last lines of its log:", err=True)
                for line in error.log:
                    click.echo(f"| {line}", err=True)
            raise


def _say_nothing(_: str) -> None:
    pass


def _error_data(error: SearxMcpError) -> dict[str, Any]:
    if not isinstance(error, OwnInstanceError):
        return error_data(error)
    return error_data(error, reason=error.reason.value, log=list(error.log))


def _print_up(report: NativeInstanceUp) -> None:
    click.echo(_DONE[report.done])
    _print_instance(report)


def _print_instance(report: NativeInstance) -> None:
    rows = _rows(report)
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")
    if report.log:
        click.echo("\n".join(["log", *(f"| {line}" for line in report.log)]))
    for note in report.notes:
        say(f"Note: {note}")


def _rows(report: NativeInstance) -> dict[str, str]:
    """Return the facts about an instance as lines for a person."""
    age = "" if report.age_days is None else f", {report.age_days} days old"
    process = f" ({report.pid})" if report.pid else ""
    rows = {
        "url": report.url or "none",
        "process": f"{report.state}{process}",
        "version": f"{report.version}{age}" if report.version else "none",
        "answers": "yes" if report.healthy else "no",
        "used by searches": "yes" if report.registered else "no",
        "settings": report.settings or "none",
    }
    if report.memory:
        rows["memory"] = f"{report.memory / 1e6:.0f} MB"
    if report.failing:
        shown = (f"{name} ({reason})" for name, reason in report.failing.items())
        rows["failing engines"] = ", ".join(shown)
    if report.missing:
        rows["missing engines"] = ", ".join(report.missing)
    if isinstance(report, NativeInstanceUp) and report.seconds:
        steps = (f"{name} {seconds:.1f} s" for name, seconds in report.seconds.items())
        rows["took"] = ", ".join(steps)
    return rows


def _print_down(report: NativeInstanceDown) -> None:
    click.echo("Removed the instance." if report.removed else "No instance is installed.")
    if report.unregistered:
        click.echo(f"Searches no longer use {report.unregistered}.")
    if report.settings:
        click.echo(f"Kept {report.settings}")

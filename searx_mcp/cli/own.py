"""An instance of one's own in a container: what its commands print."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import click
from rich.text import Text

from searx_mcp.cli import output
from searx_mcp.cli.instance_pages import print_engines
from searx_mcp.client.own.errors import ContainerError
from searx_mcp.client.own.opening import open_runner
from searx_mcp.client.own.runner import Pull, Runner, UpOptions
from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError
from searx_mcp.models.own_instance import (
    ContainerState,
    Done,
    OwnInstance,
    OwnInstanceDown,
)
from searx_mcp.models.service import Progress
from searx_mcp.render.public import scrub
from searx_mcp.settings.sources import Loaded

_DONE: Final = {
    Done.CREATED: "It was made and runs.",
    Done.STARTED: "It was stopped and runs again.",
    Done.UPDATED: "It was made anew of the newest image and runs.",
    Done.UNCHANGED: "It runs already.",
}


async def up(
    loaded: Loaded,
    *,
    engine: str | None,
    port: int | None,
    image: str | None,
    pull: str,
    timeout: float,  # noqa: ASYNC109 - the user's, for all of it
    as_json: bool,
) -> None:
    """Run the instance and print it."""
    options = UpOptions(port=port, image=image, pull=Pull(pull), timeout=timeout)
    async with _runner(loaded, engine, as_json=as_json) as runner:
        report = await runner.up(options)
    if as_json:
        _print_json(report.model_dump(mode="json"))
        return
    click.echo(_DONE[report.done])
    _print_instance(report)
    if report.registered:
        click.echo("Searches use it from now on, also those of running servers, within 15 seconds.")


async def status(loaded: Loaded, *, engine: str | None, as_json: bool) -> None:
    """Print how the instance is."""
    async with _runner(loaded, engine, as_json=as_json) as runner:
        report = await runner.status()
    if as_json:
        _print_json(report.model_dump(mode="json"))
        return
    _print_instance(report)
    if report.engines:
        print_engines(output.console(), report.engines)
    if report.state is not ContainerState.RUNNING:
        click.echo("Run it with `searx-mcp instances own up`.")


async def down(loaded: Loaded, *, engine: str | None, keep_settings: bool, as_json: bool) -> None:
    """Remove the instance and print what was done."""
    async with _runner(loaded, engine, as_json=as_json) as runner:
        report = await runner.down(keep_settings=keep_settings)
    if as_json:
        _print_json(report.model_dump(mode="json"))
    else:
        _print_down(report)


@asynccontextmanager
async def _runner(loaded: Loaded, engine: str | None, *, as_json: bool) -> AsyncIterator[Runner]:
    """A runner that says what it does while a person is looking; errors are printed as wanted."""
    try:
        with _progress() as progress:
            async with open_runner(loaded.settings, engine=engine, progress=progress) as runner:
                yield runner
    except SearxMcpError as error:
        if as_json:
            _print_json(_error_data(error))
        elif isinstance(error, ContainerError) and error.log:
            click.echo("The container's last lines:", err=True)
            for line in error.log:
                click.echo(f"| {line}", err=True)
        raise


@contextmanager
def _progress() -> Iterator[Progress]:
    """A line on standard error that says what is going on, when a person is looking."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with output.error_console().status("") as line:
        yield lambda message: line.update(Text(message))


def _print_instance(report: OwnInstance) -> None:
    rows = {
        "url": report.url or "none",
        "container": f"{report.container} ({report.engine}), {report.state}",
        "image": report.image or "none",
        "answers": "yes" if report.healthy else "no",
        "used by searches": "yes" if report.registered else "no",
        "settings": report.settings or "none",
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")
    for note in report.notes:
        click.echo(f"Note: {note}", err=True)


def _print_down(report: OwnInstanceDown) -> None:
    if report.removed:
        click.echo(f"Removed the container {report.container} ({report.engine}).")
    else:
        click.echo("There is no container.")
    if report.unregistered:
        click.echo(f"Searches use {report.unregistered} no longer.")
    if report.settings:
        click.echo(f"Kept {report.settings}")


def _error_data(error: SearxMcpError) -> dict[str, Any]:
    """An error for programs: `error_type`, `error_details`, and where they apply `reason`, `log`, `field`."""
    data: dict[str, Any] = {
        "error_type": error.code.value,
        "error_details": f"{error.message.rstrip('.')}. {error.advice}".rstrip(),
    }
    if isinstance(error, ContainerError):
        data |= {"reason": error.reason.value, "log": list(error.log)}
    if isinstance(error, InvalidArgumentError | SettingsError):
        data["field"] = error.field
    return data


def _print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps(scrub(data), ensure_ascii=False, indent=2, allow_nan=False))

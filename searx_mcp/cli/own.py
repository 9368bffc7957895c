"""An instance of one's own: what its commands print."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Final

import click
from rich.text import Text

from searx_mcp.cli import output
from searx_mcp.cli.instance_pages import print_engines
from searx_mcp.client.stores import open_state
from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError
from searx_mcp.models.own_instance import (
    ContainerState,
    Done,
    NativeInstance,
    NativeInstanceDown,
    NativeInstanceUp,
    NativeState,
    OwnInstance,
    OwnInstanceDown,
    OwnInstanceUp,
)
from searx_mcp.models.service import Progress
from searx_mcp.ops.own.container import TIMEOUT, ContainerRunner, Pull, UpOptions
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.native import NATIVE_TIMEOUT, NativeOptions, NativeRunner
from searx_mcp.ops.own.opening import (
    CONTAINER,
    NATIVE,
    chosen_engine,
    open_container,
    open_native,
)
from searx_mcp.render.public import scrub
from searx_mcp.settings.sources import Loaded

_DONE: Final = {
    Done.CREATED: "It is installed and runs.",
    Done.STARTED: "It was started and runs.",
    Done.UPDATED: "It runs with the new version.",
    Done.UNCHANGED: "It runs already.",
}


async def up(
    loaded: Loaded,
    *,
    engine: str | None,
    port: int | None,
    version: str | None,
    image: str | None,
    pull: str | None,
    timeout: float | None,  # noqa: ASYNC109 - the user's, for all of it
    as_json: bool,
) -> None:
    """Run the instance and print it."""
    with _reported(as_json=as_json) as progress:
        report: OwnInstanceUp | NativeInstanceUp
        async with _opened(loaded, engine, progress) as runner:
            if isinstance(runner, NativeRunner):
                _refuse(NATIVE, image=image, pull=pull)
                options = NativeOptions(version, port, timeout or NATIVE_TIMEOUT)
                report = await runner.up(options)
            else:
                _refuse(engine or CONTAINER, version=version)
                wanted = UpOptions(
                    port=port,
                    image=image,
                    pull=Pull(pull or Pull.MISSING),
                    timeout=timeout or TIMEOUT,
                )
                report = await runner.up(wanted)
    _print_up(report, as_json=as_json)
    if report.registered and not as_json:
        click.echo("Searches use it from now on, also those of running servers, within 15 seconds.")


async def update(
    loaded: Loaded,
    *,
    version: str | None,
    timeout: float | None,  # noqa: ASYNC109 - the user's, for all of it
    as_json: bool,
) -> None:
    """Run another version of the instance and print it."""
    options = NativeOptions(version, None, timeout or NATIVE_TIMEOUT)
    with _reported(as_json=as_json) as progress:
        async with _opened(loaded, None, progress) as runner:
            if not isinstance(runner, NativeRunner):
                raise InvalidArgumentError(
                    "engine",
                    "the instance runs in a container",
                    advice="Run `searx-mcp instances own up --pull always`.",
                )
            report = await runner.update(options)
    _print_up(report, as_json=as_json)


async def status(loaded: Loaded, *, engine: str | None, as_json: bool) -> None:
    """Print how the instance is."""
    with _reported(as_json=as_json) as progress:
        async with _opened(loaded, engine, progress) as runner:
            report: OwnInstance | NativeInstance = await runner.status()
    if as_json:
        _print_json(report.model_dump(mode="json"))
        return
    _print_instance(report)
    if report.engines:
        print_engines(output.console(), report.engines)
    if report.state not in {ContainerState.RUNNING, NativeState.RUNNING}:
        click.echo("Run it with `searx-mcp instances own up`.")


async def log(loaded: Loaded, *, lines: int) -> None:
    """Print the last lines that the instance wrote."""
    with _reported(as_json=False) as progress:
        async with _opened(loaded, None, progress) as runner:
            written = await runner.log(lines)
    for line in written:
        click.echo(line)


async def down(loaded: Loaded, *, engine: str | None, keep_settings: bool, as_json: bool) -> None:
    """Remove the instance and print what was done."""
    with _reported(as_json=as_json) as progress:
        async with _opened(loaded, engine, progress) as runner:
            report: OwnInstanceDown | NativeInstanceDown = await runner.down(
                keep_settings=keep_settings
            )
    if as_json:
        _print_json(report.model_dump(mode="json"))
    else:
        _print_down(report)


@contextmanager
def _reported(*, as_json: bool) -> Iterator[Progress]:
    """Say what is done while a person is looking; errors are printed as wanted."""
    try:
        with _progress() as progress:
            yield progress
    except SearxMcpError as error:
        if as_json:
            _print_json(_error_data(error))
        elif isinstance(error, OwnInstanceError) and error.log:
            click.echo("The last lines it wrote:", err=True)
            for line in error.log:
                click.echo(f"| {line}", err=True)
        raise


def _opened(
    loaded: Loaded, engine: str | None, progress: Progress
) -> AbstractAsyncContextManager[NativeRunner | ContainerRunner]:
    """What runs the instance that is meant."""
    chosen = chosen_engine(loaded.settings, engine)
    if chosen == NATIVE:
        return open_native(loaded.settings, open_state(loaded.settings), progress=progress)
    name = None if chosen == CONTAINER else chosen
    state = open_state(loaded.settings)
    return open_container(loaded.settings, state, engine=name, progress=progress)


def _refuse(engine: str, **options: str | None) -> None:
    """Refuse options that mean nothing to the engine."""
    for name, value in options.items():
        if value is not None:
            raise InvalidArgumentError(name, f"means nothing with the engine {engine}")


@contextmanager
def _progress() -> Iterator[Progress]:
    """A line on standard error that says what is going on, when a person is looking."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with output.error_console().status("") as line:
        yield lambda message: line.update(Text(message))


def _print_up(report: OwnInstanceUp | NativeInstanceUp, *, as_json: bool) -> None:
    if as_json:
        _print_json(report.model_dump(mode="json"))
        return
    click.echo(_DONE[report.done])
    _print_instance(report)


def _print_instance(report: OwnInstance | NativeInstance) -> None:
    rows = _native_rows(report) if isinstance(report, NativeInstance) else _container_rows(report)
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")
    if isinstance(report, NativeInstance) and report.log:
        click.echo("\n".join(["log", *(f"| {line}" for line in report.log)]))
    for note in report.notes:
        click.echo(f"Note: {note}", err=True)


def _container_rows(report: OwnInstance) -> dict[str, str]:
    return {
        "url": report.url or "none",
        "container": f"{report.container} ({report.engine}), {report.state}",
        "image": report.image or "none",
        "answers": "yes" if report.healthy else "no",
        "used by searches": "yes" if report.registered else "no",
        "settings": report.settings or "none",
    }


def _native_rows(report: NativeInstance) -> dict[str, str]:
    """What a person reads of an instance; a row for each thing that is known."""
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
        rows["engines that fail"] = ", ".join(shown)
    if report.missing:
        rows["engines it lacks"] = ", ".join(report.missing)
    if isinstance(report, NativeInstanceUp) and report.seconds:
        steps = (f"{name} {seconds:.1f} s" for name, seconds in report.seconds.items())
        rows["took"] = ", ".join(steps)
    return rows


def _print_down(report: OwnInstanceDown | NativeInstanceDown) -> None:
    if isinstance(report, NativeInstanceDown):
        click.echo("Removed the instance." if report.removed else "There is no instance.")
    elif report.removed:
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
    if isinstance(error, OwnInstanceError):
        data |= {"reason": error.reason.value, "log": list(error.log)}
    if isinstance(error, InvalidArgumentError | SettingsError):
        data["field"] = error.field
    return data


def _print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps(scrub(data), ensure_ascii=False, indent=2, allow_nan=False))

"""The commands under `instances own`: run SearXNG on this machine, and print how it is."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Final

import click

from searx_mcp.cli.instance_output import print_engines
from searx_mcp.cli.output import console, error_data, print_json, show_progress
from searx_mcp.cli.running import working
from searx_mcp.client.stores import open_state
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
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
from searx_mcp.settings.sources import Loaded

_DONE: Final = {
    Done.CREATED: "It is installed and runs.",
    Done.STARTED: "It was started and runs.",
    Done.UPDATED: "It runs with the new version.",
    Done.UNCHANGED: "It runs already.",
}

_engine = click.option(
    "--engine",
    type=click.Choice(["native", "container", "docker", "podman"]),
    help="A process (native), or a container of this engine; else what there is, or native.",
)
_version = click.option(
    "--version",
    metavar="VERSION",
    help="latest, a commit, or the path of a source archive or folder.",
)
_timeout = click.option(
    "--timeout",
    type=click.FloatRange(1, 3_600),
    metavar="SECONDS",
    help="Until it must answer, fetching included; 300, or 120 of a container.",
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")


@click.group()
def own() -> None:
    """Run SearXNG on this machine, as a process of yours or in a container."""


@own.command()
@_engine
@click.option(
    "--port", type=click.IntRange(1, 65_535), help="Port of 127.0.0.1; else 8888 or the next."
)
@_version
@click.option("--image", help="Image of a container; else the official one.")
@click.option(
    "--pull",
    type=click.Choice(["missing", "always", "never"]),
    help="When the image is fetched; with always, a container that is there is made anew.",
)
@_timeout
@_as_json
@working
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
    """Run it, wait until it answers, and let searches use it."""
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


@own.command()
@_version
@_timeout
@_as_json
@working
async def update(
    loaded: Loaded,
    *,
    version: str | None,
    timeout: float | None,  # noqa: ASYNC109 - the user's, for all of it
    as_json: bool,
) -> None:
    """Try the newest version beside the one in use, and switch to it if it serves as well."""
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


@own.command()
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="How many.",
)
@working
async def log(loaded: Loaded, *, lines: int) -> None:
    """Show the last lines that it wrote."""
    with _reported(as_json=False) as progress:
        async with _opened(loaded, None, progress) as runner:
            written = await runner.log(lines)
    for line in written:
        click.echo(line)


@own.command()
@_engine
@_as_json
@working
async def status(loaded: Loaded, *, engine: str | None, as_json: bool) -> None:
    """Show its version, its address, whether it answers, and which engines fail."""
    with _reported(as_json=as_json) as progress:
        async with _opened(loaded, engine, progress) as runner:
            report: OwnInstance | NativeInstance = await runner.status()
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    _print_instance(report)
    if report.engines:
        print_engines(console(), report.engines)
    if report.state not in {ContainerState.RUNNING, NativeState.RUNNING}:
        click.echo("Run it with `searx-mcp instances own up`.")


@own.command()
@_engine
@click.option("--keep-settings", is_flag=True, help="Leave its settings file for the next up.")
@_as_json
@working
async def down(loaded: Loaded, *, engine: str | None, keep_settings: bool, as_json: bool) -> None:
    """Stop and remove it, and let searches use it no longer."""
    with _reported(as_json=as_json) as progress:
        async with _opened(loaded, engine, progress) as runner:
            report: OwnInstanceDown | NativeInstanceDown = await runner.down(
                keep_settings=keep_settings
            )
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print_down(report)


@contextmanager
def _reported(*, as_json: bool) -> Iterator[Progress]:
    """Say what is done while a person is looking; errors are printed as wanted."""
    try:
        with show_progress() as progress:
            yield progress or (lambda _: None)
    except SearxMcpError as error:
        log: tuple[str, ...] = ()
        more: dict[str, object] = {}
        if isinstance(error, OwnInstanceError):
            log = error.log
            more = {"reason": error.reason.value, "log": list(log)}
        if as_json:
            print_json(error_data(error, **more))
        elif log:
            click.echo("The last lines it wrote:", err=True)
            for line in log:
                click.echo(f"| {line}", err=True)
        raise


def _opened(
    loaded: Loaded, engine: str | None, progress: Progress
) -> AbstractAsyncContextManager[NativeRunner | ContainerRunner]:
    """The runner of the instance that is meant."""
    settings = loaded.settings
    chosen = chosen_engine(settings, engine)
    state = open_state(settings)
    if chosen == NATIVE:
        return open_native(settings, state, progress=progress)
    name = None if chosen == CONTAINER else chosen
    return open_container(settings, state, engine=name, progress=progress)


def _refuse(engine: str, **options: str | None) -> None:
    """Refuse options that mean nothing to the engine."""
    for name, value in options.items():
        if value is not None:
            raise InvalidArgumentError(name, f"means nothing with the engine {engine}")


def _print_up(report: OwnInstanceUp | NativeInstanceUp, *, as_json: bool) -> None:
    if as_json:
        print_json(report.model_dump(mode="json"))
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
    """The rows of an instance for a person, one for each thing that is known."""
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

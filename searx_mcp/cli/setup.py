"""`setup`: connect an MCP client to this server, or print how."""

import os
import sys
from pathlib import Path
from typing import Final

import click

from searx_mcp.cli.output import error_data, print_json, print_notes, show_progress
from searx_mcp.cli.own import up
from searx_mcp.cli.running import run, say
from searx_mcp.errors import (
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    UnavailableReason,
)
from searx_mcp.ops.setup.clients import CLIENTS, NAME, ClientId, config_file, snippet
from searx_mcp.ops.setup.setup import (
    SetupDone,
    SetupReport,
    installed_from,
    server_command,
    set_up,
    undo,
)
from searx_mcp.settings.sources import ENV_FILE_VARIABLE, FILE_VARIABLE
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import OpenSourcesMode

_DONE: Final = {
    SetupDone.ADDED: "Added “{name}” to {title}.",
    SetupDone.UPDATED: "Updated “{name}” in {title}.",
    SetupDone.UNCHANGED: "“{name}” is already in {title}.",
    SetupDone.REMOVED: "Removed “{name}” from {title}.",
    SetupDone.ABSENT: "“{name}” is not in {title}. Nothing to undo.",
}
_OWN: Final = "Searches go to public instances, a few a day. Install your own SearXNG now?"
_OWN_LATER: Final = (
    "Searches go to public instances, a few a day. For unlimited searches, install your own SearXNG:"
    " searx-mcp instances own up"
)


@click.command()
@click.argument(
    "client", metavar="CLIENT", type=click.Choice([client.value for client in ClientId])
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Set a variable for the server, such as SEARXNG_URL; without =VALUE, from this shell.",
)
@click.option("--file", metavar="PATH", help="Edit this file, such as .vscode/mcp.json.")
@click.option("--print", "prints", is_flag=True, help="Print the configuration; change nothing.")
@click.option("--undo", "undoes", is_flag=True, help="Remove the server from the client.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.pass_context
def setup(
    context: click.Context,
    /,
    *,
    client: str,
    variables: tuple[str, ...],
    file: str | None,
    prints: bool,
    undoes: bool,
    as_json: bool,
) -> None:
    """Connect an MCP client to this server.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf or zed. Starts the server once,
    then adds it to the client's configuration. Other entries, comments and formatting stay as they
    are; a backup is kept.
    """
    chosen = ClientId(client)
    home = Path.home()
    place = (
        Path(file).expanduser().absolute()
        if file
        else config_file(chosen, system=sys.platform, environ=os.environ, home=home)
    )
    try:
        env = _given(context) | dict(map(_variable, variables))
        command = server_command(os.environ, source=installed_from())
        if prints:
            click.echo(snippet(chosen, command, env))
            say(f"Add this to {place}")
            return
        if undoes:
            report = undo(chosen, place)
        else:
            show_progress("starting the server once")
            report = run(
                set_up(
                    chosen, place, command=command, env=env, environ=os.environ, ready=_see_ready
                )
            )
    except SearxMcpError as error:
        if as_json:
            print_json(error_data(error))
        raise
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    _print(report)
    if report.has_own_instance is False and sys.platform != "win32":
        _offer(context)


async def _see_ready(settings: Settings) -> None:
    """Return if a server with these settings can search, or its remote service answers.

    Raises:
        SearxMcpError: it cannot.
    """
    if settings.remote.url:
        from searx_mcp.remote.client import RemoteClient  # noqa: PLC0415 - no help needs it

        async with RemoteClient(settings) as remote:
            await remote.offered()
        return
    from searx_mcp.client.facade import persistent_client  # noqa: PLC0415 - no help needs it

    async with persistent_client(settings, background=False) as client:
        report = await client.instances()
    has_sources = settings.open_sources.mode is not OpenSourcesMode.OFF or any(
        provider.key.get_secret_value()
        for provider in (settings.providers.google, settings.providers.brave)
    )
    if not (report.instances or has_sources):
        raise NoInstancesError(
            "The server would start, but has nothing to search with. Nothing was changed",
            reason=UnavailableReason.NOTHING_CONFIGURED,
        )


def _given(context: click.Context) -> dict[str, str]:
    """The options of the command line that the server needs, too."""
    options = context.find_root().params
    named = {FILE_VARIABLE: options["config"], ENV_FILE_VARIABLE: options["env_file"]}
    return {name: str(Path(path).absolute()) for name, path in named.items() if path}


def _variable(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name or "\0" in given:
        raise InvalidArgumentError("--env", f"{given!r} is not NAME=VALUE")
    if equals:
        return name, value
    if name not in os.environ:
        raise InvalidArgumentError(
            "--env", f"this shell has no variable {name}", advice=f"Use --env {name}=VALUE."
        )
    return name, os.environ[name]


def _print(report: SetupReport) -> None:
    title, _, _, then = CLIENTS[report.client]
    click.echo(_DONE[report.done].format(name=NAME, title=title))
    rows = {
        "file": report.file,
        "backup": report.backup,
        "starts": " ".join(report.command),
        "sets": ", ".join(report.variables),
        "server": report.server and f"{report.server} answered",
    }
    for name, value in rows.items():
        if value:
            click.echo(f"  {name:<6}  {value}")
    print_notes(report.notes)
    if report.server:
        click.echo(then)


def _offer(context: click.Context) -> None:
    """Offer to install an instance, where a user can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(_OWN_LATER)
    elif click.confirm(_OWN, err=True):
        context.invoke(
            up,
            engine=None,
            port=None,
            version=None,
            image=None,
            pull=None,
            timeout=None,
            as_json=False,
        )

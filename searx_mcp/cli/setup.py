"""`setup`: connect an MCP client to this server, or print how."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from searx_mcp.cli.output import (
    error_data,
    errors_as_json,
    json_option,
    plain_text,
    print_notes,
    print_outcome,
    show_progress,
)
from searx_mcp.cli.own import bring_up
from searx_mcp.cli.running import loaded, run, say
from searx_mcp.errors import (
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    UnavailableReason,
)
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.native import NativeOptions
from searx_mcp.ops.setup.clients import (
    CLIENTS,
    NAME,
    ClientId,
    config_file,
    installed_clients,
    snippet,
)
from searx_mcp.ops.setup.setup import (
    FirstSearch,
    SetupDone,
    SetupReport,
    has_own_instance,
    installed_from,
    server_command,
    set_up,
    undo,
)
from searx_mcp.settings.sources import ENV_FILE_VARIABLE, FILE_VARIABLE
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import OpenSourcesMode

if TYPE_CHECKING:
    from searx_mcp.service import Service

_DONE: Final = {
    SetupDone.ADDED: "Added “{name}” to {title}.",
    SetupDone.UPDATED: "Updated “{name}” in {title}.",
    SetupDone.UNCHANGED: "“{name}” is already in {title}.",
    SetupDone.REMOVED: "Removed “{name}” from {title}.",
    SetupDone.ABSENT: "“{name}” is not in {title}. Nothing to undo.",
}
_OWN: Final = "Run your own SearXNG too? It has no limits."
_OWN_LATER: Final = (
    "Searches go to public instances, a few a day. For unlimited searches, install your own SearXNG:"
    " searx-mcp instances own up"
)
_QUERY: Final = "SearXNG metasearch engine"
"""The query of the one search; it reveals nothing about the user."""


@click.command()
@click.argument(
    "client",
    required=False,
    type=click.Choice([client.value for client in ClientId]),
    metavar="[CLIENT]",
)
@click.option(
    "--own/--no-own",
    default=None,
    help="Install and start your own SearXNG first; a terminal asks.",
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
@json_option
@click.pass_context
def setup(
    context: click.Context,
    /,
    *,
    client: str | None,
    own: bool | None,
    variables: tuple[str, ...],
    file: str | None,
    prints: bool,
    undoes: bool,
    as_json: bool,
) -> None:
    """Connect an MCP client to this server, with your own SearXNG if you like.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf or zed; without it, a terminal offers
    those that are installed. Starts the server and searches once, then adds the server to the client's
    configuration. Other entries, comments and formatting stay as they are; a backup is kept.
    """
    with errors_as_json(as_json=as_json):
        if undoes and (prints or own):
            other = "--print" if prints else "--own"
            raise InvalidArgumentError("--undo", f"cannot be combined with {other}")
        chosen, place = _target(client, file)
        env = _given(context) | dict(map(_variable, variables))
        command = server_command(os.environ, source=installed_from())
        if own is None and not (as_json or prints or undoes or sys.platform == "win32"):
            own = _wants_own(chosen, place, env)
    if prints:
        click.echo(snippet(chosen, command, env))
        say(f"Add this to {place}")
        return
    if own and not undoes:
        _bring_up(context, chosen, as_json=as_json)
    with errors_as_json(as_json=as_json):
        if undoes:
            report = undo(chosen, place)
        else:
            show_progress("starting the server, and searching once")
            report = run(
                set_up(
                    chosen,
                    place,
                    command=command,
                    env=env,
                    environ=os.environ,
                    search=_search_once,
                )
            )
    print_outcome(report, lambda: _print(report), as_json=as_json)
    lacks_own = report.has_own_instance is False and own is None and sys.platform != "win32"
    if lacks_own and not as_json:
        say(_OWN_LATER)


def _target(client: str | None, file: str | None) -> tuple[ClientId, Path]:
    """Return the client and its configuration."""
    system, home = sys.platform, Path.home()
    chosen = (
        ClientId(client)
        if client
        else _offered(installed_clients(system=system, environ=os.environ, home=home))
    )
    if file:
        return chosen, Path(file).expanduser().absolute()
    return chosen, config_file(chosen, system=system, environ=os.environ, home=home)


def _offered(found: Sequence[ClientId]) -> ClientId:
    """Let the user choose among the installed clients."""
    if not (found and _is_terminal()):
        raise InvalidArgumentError(
            "CLIENT",
            f"is missing; installed here: {', '.join(found)}" if found else "is missing",
            advice=f"Name one: {', '.join(ClientId)}.",
        )
    choice = click.Choice([client.value for client in found])
    return ClientId(click.prompt("Connect which client?", type=choice, default=found[0], err=True))


def _is_terminal() -> bool:
    """Return whether a person can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _wants_own(client: ClientId, file: Path, env: Mapping[str, str]) -> bool | None:
    """Ask whether the user wants an own instance; `None` if nobody can answer, or there is one."""
    if not _is_terminal() or has_own_instance(client, file, env=env, environ=os.environ):
        return None
    return click.confirm(_OWN, default=True, err=True)


def _bring_up(context: click.Context, client: ClientId, *, as_json: bool) -> None:
    """Install and start the user's own instance, and print its address."""
    try:
        report = run(bring_up(loaded(context), NativeOptions(), as_json=as_json))
    except OwnInstanceError:
        say(f"Nothing was changed. `searx-mcp setup {client} --no-own` connects without it.")
        raise
    say(f"Your own SearXNG answers at {report.url}")


async def _search_once(settings: Settings) -> FirstSearch:
    """Search with these settings, as the server would.

    Raises:
        SearxMcpError: there is nothing to search with, or the remote service does not answer.
    """
    if settings.remote.url:
        from searx_mcp.remote.client import RemoteClient  # noqa: PLC0415 - no help needs it

        async with RemoteClient(settings) as remote:
            await remote.offered()
            return await _first(remote, settings)
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
        return await _first(client, settings)


async def _first(service: "Service", settings: Settings) -> FirstSearch:
    from searx_mcp.arguments import parse_search  # noqa: PLC0415 - as above

    wanted = {"query": _QUERY, "results_count": 1, "fetch_content": False}
    try:
        found = await service.search(parse_search(wanted, defaults=settings.search_defaults()))
    except SearxMcpError as error:
        return FirstSearch(query=_QUERY, problem=str(error_data(error)["error_details"]))
    if not found.results:
        return FirstSearch(query=_QUERY, problem="The search found nothing.")
    first = found.results[0]
    return FirstSearch(
        query=_QUERY, title=first.title, url=first.url, answered_by=found.instance_used
    )


def _given(context: click.Context) -> dict[str, str]:
    """Return the options of the command line that the server needs, too."""
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
    if (search := report.search) and search.title:
        click.echo(plain_text(f"  found   {search.title} ({search.url})").plain)
        click.echo(f"  asked   {search.answered_by}")
    print_notes(report.notes)
    if search and search.problem:
        print_notes([f"A search did not work yet. {search.problem}"])
    if report.server:
        click.echo(then)

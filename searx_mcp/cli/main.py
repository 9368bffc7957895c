"""The `searx-mcp` command: its subcommands and exit codes.

Without arguments it serves MCP on standard input and output, which is what a host starts; on a
terminal, where nobody speaks MCP, it shows its help. What only one command needs is imported by
that command: a server must answer before a table library is imported.
"""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from searx_mcp import __version__
from searx_mcp.cli.instance_commands import instances_group
from searx_mcp.cli.own_commands import own_group
from searx_mcp.cli.running import run
from searx_mcp.cli.streams import close_streams, complete_streams, output_problem, say
from searx_mcp.errors import (
    DeadlineError,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    SettingsError,
)
from searx_mcp.models.argument import Declared, arguments_of
from searx_mcp.models.request import FetchRequest, SearchRequest
from searx_mcp.settings.sources import Loaded, load, settings_file

_Command = TypeVar("_Command", bound=Callable[..., Any])

EPILOG = (
    "Exit codes: 0 done; 1 the page could not be read, or another failure; 2 a wrong argument; "
    "3 no instance could serve; 4 the time was over; 5 a wrong setting; 130 interrupted; 143 ended."
)

_GRACE: Final = 1.5
"""Seconds in which a server that was told to end closes its browsers, workers and files."""


class ExitCode(IntEnum):
    """What the command exits with."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNAVAILABLE = 3
    DEADLINE = 4
    SETTINGS = 5
    INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; never shows a traceback for what a user can cause.

    Args:
        arguments: of the command line; those of the process unless given.
    """
    code: int = ExitCode.FAILED
    failure: BaseException | None = None
    try:
        code = _code(arguments)
    except* OSError as group:  # other failures than of standard output are translated at their edge
        failure = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    failure = close_streams() or failure
    if isinstance(failure, OSError):
        say(f"searx-mcp: {output_problem(failure)}")
        code = code or ExitCode.FAILED
    if code:
        sys.exit(code)


def _code(arguments: Sequence[str] | None) -> int:
    try:
        complete_streams()
    except SearxMcpError as exc:
        return fail(exc)
    output = sys.stdout
    try:
        cli.main(arguments, prog_name="searx-mcp", standalone_mode=False)
    except click.ClickException as exc:
        with contextlib.suppress(OSError):
            exc.show()
        return exc.exit_code
    except SearxMcpError as exc:
        return fail(exc)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except SystemExit as exc:
        if sys.stdout is not output:  # click puts another in the place of one that nobody reads
            raise BrokenPipeError from None
        return int(exc.code or 0)
    return ExitCode.DONE


def exit_code(error: SearxMcpError) -> ExitCode:
    """The exit code that stands for an error."""
    match error:
        case InvalidArgumentError():
            return ExitCode.USAGE
        case SettingsError():
            return ExitCode.SETTINGS
        case NoInstancesError():
            return ExitCode.UNAVAILABLE
        case DeadlineError():
            return ExitCode.DEADLINE
        case _:
            return ExitCode.FAILED


def fail(error: SearxMcpError) -> ExitCode:
    """Say what is wrong on standard error, and give the exit code."""
    say(f"searx-mcp: {error.message}")
    if error.quoted:
        say(f"           {error.quoted}")
    advice = error.advice
    if error.time_limit is not None and not advice:
        from searx_mcp.render.errors import time_advice  # noqa: PLC0415 - only this failure needs it

        advice = time_advice(error)
    if advice:
        say(advice)
    return exit_code(error)


def loaded(context: click.Context) -> Loaded:
    """The settings of this run, read once."""
    root = context.find_root()
    if root.obj is None:
        path = root.params["config"]
        root.obj = load(path=Path(path) if path else None, environ=os.environ)
    settings: Loaded = root.obj
    return settings


@click.group(
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--config", metavar="PATH", help="Configuration file to read.")
@click.version_option(__version__, prog_name="searx-mcp")
@click.pass_context
def cli(context: click.Context, config: str | None) -> None:
    """Web search for AI agents over a pool of SearXNG instances.

    Without a command: serve MCP over standard input and output.
    """
    del config  # read by loaded()
    level = os.environ.get("SEARX_MCP_LOG_LEVEL", "WARNING").upper()
    if level not in logging.getLevelNamesMapping():
        raise SettingsError(
            "SEARX_MCP_LOG_LEVEL",
            f"{level[:20]!r} is not a log level",
            origin="environment",
            advice="Use DEBUG, INFO, WARNING, ERROR or CRITICAL.",
        )
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    if context.invoked_subcommand is None:
        if sys.stdin.isatty():
            click.echo(context.get_help())
        else:
            context.invoke(stdio)


@cli.command()
@click.pass_context
def stdio(context: click.Context) -> None:
    """Serve MCP over standard input and output."""
    settings = loaded(context).settings
    from searx_mcp.server.app import build_server, serve  # noqa: PLC0415 - 0.4 s only servers need

    run(serve(build_server(settings)), within=_GRACE)


def _arguments(request: type[SearchRequest | FetchRequest]) -> Callable[[_Command], _Command]:
    """Give a command the arguments of a tool; they arrive as texts and flags."""

    def decorate(command: _Command) -> _Command:
        for name, declared in reversed([*arguments_of(request).items()]):
            command = _argument(name, declared)(command)
        return command

    return decorate


def _argument(name: str, declared: Declared) -> Callable[[_Command], _Command]:
    argument, field = declared.argument, declared.field
    option = name.replace("_", "-")
    spellings = [f"-{argument.short}"] if argument.short else []
    if field.annotation is bool:
        both = f"--{option}/--no-{option}" if field.default else f"--{option}"
        return click.option(both, is_flag=True, default=None, help=declared.help)
    if not argument.metavar:
        return click.argument(name, required=field.is_required())
    return click.option(
        *spellings,
        f"--{option}",
        metavar=argument.metavar,
        multiple=argument.repeated,
        help=declared.help,
    )


@cli.command()
@_arguments(SearchRequest)
@click.option("--profile", metavar="NAME", help="Profile whose arguments fill what is not named.")
@click.option("--pages", is_flag=True, help="Show the pages' Markdown, not only summaries.")
@click.option("--json", "as_json", is_flag=True, help="Print the response as JSON.")
@click.pass_context
def search(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - texts and flags by name
    """Search the web and read the result pages."""
    from searx_mcp.cli import calls  # noqa: PLC0415 - imports what searching needs

    shown = {name: options.pop(name) for name in ("profile", "pages", "as_json")}
    run(calls.search(loaded(context), _given(options), **shown))


@cli.command()
@_arguments(FetchRequest)
@click.option("--json", "as_json", is_flag=True, help="Print the page as JSON.")
@click.pass_context
def fetch(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - texts and flags by name
    """Read one page, PDF, feed or source file as Markdown."""
    from searx_mcp.cli import calls  # noqa: PLC0415 - imports what fetching needs

    as_json = options.pop("as_json")
    run(calls.fetch(loaded(context), _given(options), as_json=as_json))


instances = instances_group(loaded, run)
cli.add_command(instances)
instances.add_command(own_group(loaded, run))


@cli.command()
@click.argument("query")
@click.pass_context
def suggest(context: click.Context, query: str) -> None:
    """Show how an own instance would complete a query; public ones are not asked."""
    from searx_mcp.cli import calls  # noqa: PLC0415 - imports what asking needs

    run(calls.suggest(loaded(context), query))


@cli.command("config")
@click.option("--json", "as_json", is_flag=True, help="Print the settings as JSON.")
@click.pass_context
def show_config(context: click.Context, as_json: bool) -> None:  # noqa: FBT001 - click calls by name
    """Show every setting, its value and where it comes from."""
    from searx_mcp.cli import calls  # noqa: PLC0415 - imports the table library

    calls.config(loaded(context), as_json=as_json)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
@click.pass_context
def paths(context: click.Context, as_json: bool) -> None:  # noqa: FBT001 - click calls by name
    """Show every file that is kept on this machine, with size and age."""
    from searx_mcp.cli import files  # noqa: PLC0415 - imports the table library

    named = context.find_root().params["config"]
    config, _ = settings_file(Path(named) if named else None, os.environ)
    files.show(loaded(context), config=config, now=time.time(), as_json=as_json)  # noqa: TID251 - file times are of this clock


@cli.command()
@click.option(
    "--all", "everything", is_flag=True, help="The list of public instances and the keys too."
)
@click.option("--yes", "agreed", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.pass_context
def purge(context: click.Context, /, **options: bool) -> None:
    """Delete what was learned and read: budgets, states of instances, your choices, captured pages.

    Servers may be running: they begin anew. Your settings and an own instance stay.
    """
    from searx_mcp.cli import files  # noqa: PLC0415 - imports the store

    run(files.delete(loaded(context), **options))


@cli.command()
@click.argument("url", required=False)
@click.option("--own", is_flag=True, help="The instance is mine although its address is public.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.pass_context
def doctor(context: click.Context, /, url: str | None, **options: bool) -> None:
    """Find out what keeps searches from working, and how to mend it; searches nowhere.

    URL is an instance; without one, all of your own are looked at, or the way to the public ones.
    With --own, one with a public address is asked for JSON, which its limiter counts.
    """
    from searx_mcp.cli.doctor import doctor as examine  # noqa: PLC0415 - imports what searching needs

    try:
        settings: Loaded | SettingsError = loaded(context)
    except SettingsError as error:
        settings = error
    if not run(examine(settings, url, **options)):
        sys.exit(ExitCode.FAILED)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def selfcheck(as_json: bool) -> None:  # noqa: FBT001 - click calls by name
    """Prove that pages are not fetched from private addresses; needs no network and sends nothing."""
    from searx_mcp.cli.selfcheck import run_selfcheck  # noqa: PLC0415 - imports the whole client

    # Only a selector loop connects in a way that can be led elsewhere.
    if not run(run_selfcheck(as_json=as_json), loop_factory=asyncio.SelectorEventLoop):
        sys.exit(ExitCode.FAILED)


@cli.command()
def demo() -> None:
    """Search and read on this machine alone: five instances, four of them in trouble."""
    from searx_mcp.cli.demo import play  # noqa: PLC0415 - imports the public doubles

    run(play())


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """What the user named; `parse_search` and `parse_fetch` check it, and pass over `None`."""
    return {name: value for name, value in options.items() if value != ()}

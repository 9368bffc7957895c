"""The `searx-mcp` command: its subcommands, those that serve MCP, and exit codes.

Without arguments it serves MCP, on standard input and output by default, which is what a host starts; on a
terminal, where no MCP client is, it shows its help. Each command imports what only it needs: a server must
answer before a table library is imported, and help needs no settings.
"""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from searx_mcp import __version__
from searx_mcp.cli.process import HeldOutput, close_streams, end_as_usual, loading
from searx_mcp.cli.running import (
    Commands,
    Deferred,
    ExitCode,
    Session,
    check,
    held,
    loaded,
    output_problem,
    run,
    say,
)
from searx_mcp.errors import (
    DeadlineError,
    FetchError,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    SettingsError,
)

if TYPE_CHECKING:
    from searx_mcp.server.app import Server
    from searx_mcp.settings.values import Settings

_ENV_FILE: Final = "SEARX_MCP_ENV_FILE"
_LOG_LEVELS: Final = ("SEARX_MCP_LOG_LEVEL", "MCP_LOG_LEVEL")
_CLOSED: Final = "Redirect it to /dev/null to discard the output."
_TOLD: Final = frozenset({"-h", "--help", "--version"})
"""Options that are handled before any command is called."""
_COMPLETION: Final = "_SEARX_MCP_COMPLETE"
"""The variable with which a shell requests completions; the answer goes to standard output."""
_SERVERS: Final = (None, "stdio", "serve")
"""Commands that serve; without any, `serve` does."""
_NEAR: Final = 0.75
"""Minimum similarity of a proposed name: of 60 wrong names, the misspelt ones reach it and no others."""
_TELLING: Final = 4
"""Minimum letters that identify the word of a name that they begin."""

_GRACE: Final = 1.5
"""Seconds in which an ending server closes its browsers, workers and files."""
_EXPOSED: Final = (
    "searx-mcp: WARNING: anyone who can reach this address can search and read pages through this"
    " machine: no token is required (--allow-unauthenticated)."
)

EPILOG = (
    "Exit codes: 0 success; 1 the page could not be read, or another failure; 2 wrong argument; "
    "3 no instance could serve; 4 timed out; 5 wrong setting; 130 interrupted; 143 terminated."
)


def main(
    arguments: Sequence[str] | None = None,
    *,
    output: HeldOutput | None = None,
) -> None:
    """Run the command; never show a traceback for what a user can cause.

    Args:
        arguments: of the command line; by default, those of the process.
        output: standard output, if it is held: only commands that do not serve MCP may write to it.
    """
    code: int = ExitCode.FAILED
    failure: BaseException | None = None
    try:
        code = _code(arguments, output)
    except* (
        OSError
    ) as group:  # failures of anything but standard output are translated where they occur
        failure = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    failure = close_streams() or failure
    if isinstance(failure, OSError):
        say(f"searx-mcp: {output_problem(failure)}")
        code = code or ExitCode.FAILED
    if code:
        sys.exit(code)


def _code(arguments: Sequence[str] | None, output: HeldOutput | None) -> int:
    if output is not None and not output.is_open:
        return fail(SearxMcpError("standard output is closed", advice=_CLOSED))
    is_told = _TOLD.intersection(sys.argv if arguments is None else arguments)
    if output is not None and (is_told or _COMPLETION in os.environ):
        output.release()
    stream, session = sys.stdout, Session(output)
    try:
        cli.main(arguments, prog_name="searx-mcp", standalone_mode=False, obj=session)
    except click.ClickException as exc:
        with contextlib.suppress(OSError):
            _show(exc)
        return exc.exit_code
    except SearxMcpError as exc:
        if session.as_json and session.loaded is None:  # later errors are printed by the command
            from searx_mcp.cli.output import error_data, print_json  # noqa: PLC0415 - only programs read it

            print_json(error_data(exc))
        return fail(exc)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except SystemExit as exc:
        if sys.stdout is not stream:  # click replaces a stream whose reader has gone
            raise BrokenPipeError from None
        return int(exc.code or 0)
    return ExitCode.DONE


def _show(error: click.ClickException) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None and error.message == context.get_help():  # of a group without a command
        click.echo(error.message, err=True)
        return
    say(f"searx-mcp: {_message(error, context)}")
    if context is not None:
        click.echo(f"{context.get_usage()}\nTry `{context.command_path} --help`.", err=True)


def _message(error: click.ClickException, context: click.Context | None) -> str:
    """Return what is wrong, with the name that was probably meant; click proposes others, as all begin with dashes."""
    wanted: str = getattr(error, "command_name", "")  # since click 8.4
    known: dict[str, str] = {}
    if context is not None and isinstance(error, click.NoSuchOption):
        wanted = error.option_name.lstrip("-").replace("_", "-")
        for option in context.command.get_params(context):
            if isinstance(option, click.Option):
                known |= {each.lstrip("-"): each for each in (*option.opts, *option.secondary_opts)}
                known |= dict.fromkeys(getattr(option, "others", ()), option.opts[-1])
    elif context is not None and isinstance(context.command, click.Group):
        known = {name: name for name in context.command.commands}
    if not wanted:
        return error.format_message()
    from searx_mcp.models.spelling import near  # noqa: PLC0415 - only this error needs it

    meant = near(wanted, known, least=_NEAR)
    if not meant and len(wanted) >= _TELLING:
        parts = ((name, part) for name in known for part in (name, *name.split("-")))
        meant = next((name for name, part in parts if part.startswith(wanted)), "")
    return f"{error.message}{f' Did you mean {known[meant]}?' if meant else ''}"


def exit_code(error: SearxMcpError) -> ExitCode:
    """Return the exit code of an error."""
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
    """Print what is wrong on standard error, and return the exit code."""
    advice, where = error.advice, ""
    if isinstance(error, FetchError) or (error.time_limit is not None and not advice):
        from searx_mcp.content.clean import clean  # noqa: PLC0415 - only these failures need it
        from searx_mcp.models.request import MAX_TIMEOUT  # noqa: PLC0415 - as above
        from searx_mcp.render.errors import advice_on, retry_advice  # noqa: PLC0415 - as above
        from searx_mcp.urls.hosts import host_in  # noqa: PLC0415 - as above

        again = "" if error.retry_after is None else retry_advice(error)
        advice = f"{again} {advice_on(error, MAX_TIMEOUT)}".strip()
        host = clean(host_in(error.url)) if isinstance(error, FetchError) else ""
        where = f"{host}: " if host and host not in error.message else ""
    say(f"searx-mcp: {where}{error.message}")
    if error.quoted:
        say(f"           {error.quoted}")
    if advice:
        say(advice)
    return exit_code(error)


@click.command()
@click.pass_context
def stdio(context: click.Context) -> None:
    """Serve MCP over standard input and output."""
    _serve_stdio(loaded(context).settings, held(context))


@click.command()
@click.option("--transport", metavar="NAME", help="stdio or streamable-http.")
@click.option("--host", metavar="ADDRESS", help="Address to listen on for HTTP; default 127.0.0.1.")
@click.option("--port", metavar="N", help="Port for HTTP; default 8765, 0 picks a free one.")
@click.option(
    "--allow-unauthenticated",
    is_flag=True,
    help="Serve without a token on an address that is not loopback.",
)
@click.pass_context
def serve(
    context: click.Context,
    *,
    transport: str | None = None,
    host: str | None = None,
    port: str | None = None,
    allow_unauthenticated: bool = False,
) -> None:
    """Serve MCP over standard input and output, or over HTTP.

    The setting `server.transport` chooses unless --transport does; --host and --port mean HTTP.
    """
    if transport is None and (host or port):
        transport = "streamable-http"
    if transport == "stdio" and (host or port):
        raise InvalidArgumentError(
            "--host" if host else "--port", "is for HTTP; leave it or --transport stdio out"
        )
    given = {"server.transport": transport, "http.host": host, "http.port": port}
    read = loaded(context, given)
    settings = read.settings
    if settings.server.transport == "stdio":
        _serve_stdio(settings, held(context))
    elif settings.remote.url:
        raise SettingsError(
            "remote.url",
            "only a server on standard input and output can use a remote service",
            advice="Connect clients to that service directly, or leave remote.url empty.",
        )
    else:
        # Only a server reads the tokens file, which other users of this machine may not be able to read.
        check(read, lambda usable: _serve_http(usable, allow_unauthenticated=allow_unauthenticated))


def _serve_stdio(settings: "Settings", output: HeldOutput) -> None:
    async def work() -> None:
        # Inside the loop, so that a signal is handled during 0.4 s of imports.
        server = _built(settings)
        from searx_mcp.server.app import serve_stdio  # noqa: PLC0415 - as above
        from searx_mcp.server.events import lifetime  # noqa: PLC0415 - only servers need it

        with lifetime("stdio", profile=settings.server.profile) as start:
            start("")
            await serve_stdio(server, output.descriptor, greeted=server.backend.begin)

    run(work(), within=_GRACE)


@loading()
def _built(settings: "Settings") -> "Server":
    from searx_mcp.server.app import build_server  # noqa: PLC0415 - 0.4 s only servers need

    return build_server(settings)


def _serve_http(settings: "Settings", *, allow_unauthenticated: bool) -> None:
    from searx_mcp.server.events import lifetime  # noqa: PLC0415 - as above
    from searx_mcp.server.http import serve_http, stop_seconds  # noqa: PLC0415 - as above
    from searx_mcp.server.web.connections import LIMITS, raise_descriptors  # noqa: PLC0415 - as above
    from searx_mcp.server.web.policy import is_loopback  # noqa: PLC0415 - as above

    is_exposed = not (is_loopback(settings.http.host) or settings.http.wants_token)

    async def work() -> None:
        with lifetime("streamable-http", profile=settings.server.profile) as start:

            def listening(url: str) -> None:
                if is_exposed:
                    say(_EXPOSED)
                say(f"searx-mcp: listening on {url}")
                start(url)

            await serve_http(
                _built(settings),
                settings.http,
                allow_unauthenticated=allow_unauthenticated,
                listening=listening,
                limits=raise_descriptors(LIMITS),
            )

    run(work(), within=stop_seconds(settings.http) + _GRACE)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--config", metavar="PATH", help="Configuration file.")
@click.option("--env-file", metavar="PATH", help="File with environment variables, such as .env.")
@click.option("--remote", metavar="URL", help="Serve MCP through the remote service at this URL.")
@click.version_option(__version__, prog_name="searx-mcp")
@click.pass_context
def cli(
    context: click.Context, config: str | None, env_file: str | None, remote: str | None
) -> None:
    """Web search for AI agents over a pool of SearXNG instances.

    To begin: searx-mcp setup connects your agent. Without a command: serve MCP, over standard input and output
    unless configured otherwise.
    """
    del config  # read by loaded()
    if remote and context.invoked_subcommand not in (*_SERVERS, "config"):
        raise click.UsageError(
            "--remote is only for serving MCP; other commands search from this machine."
        )
    import logging  # noqa: PLC0415 - neither version nor completion needs it

    from searx_mcp.cli.logs import configure, share_terminal  # noqa: PLC0415 - as above

    variables: Mapping[str, str] = os.environ
    lines: Mapping[str, str] = {}
    if env_file or _ENV_FILE in os.environ:
        from searx_mcp.settings.sources import with_file  # noqa: PLC0415 - as above

        with contextlib.suppress(SettingsError):  # loaded() raises it, which programs can read
            variables, lines = with_file(os.environ, Path(env_file) if env_file else None)
    name = next(filter(variables.get, _LOG_LEVELS), "")
    usual = "INFO" if context.invoked_subcommand in _SERVERS else "WARNING"
    level = variables.get(name, usual).upper()
    if level not in logging.getLevelNamesMapping():
        raise SettingsError(
            name,
            f"{level[:20]!r} is not a log level",
            origin=lines.get(name, "environment"),
            advice="Use DEBUG, INFO, WARNING, ERROR or CRITICAL.",
        )
    configure(level)
    is_alone = context.invoked_subcommand is None
    shows_help = is_alone and sys.stdin.isatty()
    if shows_help or context.invoked_subcommand not in _SERVERS:
        end_as_usual()
        session = context.ensure_object(Session)
        if session.output is not None:
            session.output.release()
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            from searx_mcp.cli.spinner import Spinner  # noqa: PLC0415 - only a terminal shows it

            session.spinner = context.with_resource(Spinner(sys.stderr))
            share_terminal(session.spinner.aside)
            session.spinner.update("loading")
    if shows_help:
        click.echo(context.get_help())
    elif is_alone:
        context.invoke(serve)


for _command in (
    serve,
    stdio,
    Deferred("searx_mcp.cli.setup:setup", "Connect an MCP client to this server."),
    Deferred("searx_mcp.cli.calls:search", "Search the web and read the result pages."),
    Deferred("searx_mcp.cli.calls:fetch", "Read one page, PDF, feed or source file as Markdown."),
    Deferred("searx_mcp.cli.corpus:read", "Find the passages of a page that answer questions."),
    Deferred(
        "searx_mcp.cli.corpus:answer",
        "Collect evidence for a question from pages and their links.",
    ),
    Deferred("searx_mcp.cli.corpus:corpus", "Manage the pages kept for questions."),
    Deferred("searx_mcp.cli.instances:instances", "Manage the pool of instances."),
    Deferred(
        "searx_mcp.cli.calls:suggest",
        "Show your own instance's suggestions for a query.",
    ),
    Deferred("searx_mcp.cli.files:config", "Show every setting, its value and its origin."),
    Deferred(
        "searx_mcp.cli.files:paths",
        "Show the files kept on this machine.",
    ),
    Deferred(
        "searx_mcp.cli.files:purge",
        "Delete what was learned and read.",
    ),
    Deferred("searx_mcp.cli.token:token", "Create a token for an HTTP server."),
    Deferred(
        "searx_mcp.cli.doctor:doctor",
        "Find out why searches fail, and how to fix it.",
    ),
    Deferred(
        "searx_mcp.cli.doctor:selfcheck",
        "Check that private addresses cannot be fetched.",
    ),
    Deferred(
        "searx_mcp.cli.demo:demo",
        "Run two searches against fake instances; no network.",
    ),
):
    cli.add_command(_command)

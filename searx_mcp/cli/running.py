"""Runs a command: its settings, its work, and its errors."""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import click
from typing_extensions import override

from searx_mcp.cli.process import Ending, HeldOutput, loading
from searx_mcp.errors import InvalidArgumentError, SettingsError

if TYPE_CHECKING:
    import asyncio

    from searx_mcp.cli.spinner import Spinner
    from searx_mcp.settings.sources import Loaded
    from searx_mcp.settings.values import Settings

P = ParamSpec("P")
T = TypeVar("T")

_OPTIONS: Final = {
    "remote.url": "--remote",
    "server.transport": "--transport",
    "http.host": "--host",
    "http.port": "--port",
}
"""The options that are settings."""
_NARROWEST: Final = 20
"""Minimum columns of a wrapped line."""


class ExitCode(IntEnum):
    """Exit codes of the command; `docs/reference/cli.md` shows the text below each."""

    DONE = 0
    """Success, including a search without results."""
    FAILED = 1
    """The page could not be read, a check failed, or another failure."""
    USAGE = 2
    """A wrong argument."""
    UNAVAILABLE = 3
    """No instance could serve the search."""
    DEADLINE = 4
    """Timed out."""
    SETTINGS = 5
    """A wrong setting."""
    INTERRUPTED = 130
    """Interrupted with Ctrl-C; 143 after SIGTERM."""


@dataclass(slots=True)
class Session:
    """The state of one run of the command.

    Attributes:
        output: standard output while nothing may write to it by name; `None` if a program runs the command in
            its own process.
        loaded: the settings, once they have been read.
        as_json: whether the command prints JSON.
        spinner: while a terminal shows one.
    """

    output: HeldOutput | None = None
    loaded: "Loaded | None" = None
    as_json: bool = False
    spinner: "Spinner | None" = None


class Deferred(click.Command):
    """A command whose module is imported when it is called.

    Args:
        place: of the command, as `module:name`.
        help: its line in the list of commands.
    """

    def __init__(self, place: str, help: str) -> None:  # noqa: A002 - click's word
        module, _, name = place.partition(":")
        super().__init__(name.rstrip("_"), help=help)
        self._module, self._attribute = module, name

    @override
    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the command itself, which is called in place of this one."""
        with loading():
            command: click.Command = getattr(import_module(self._module), self._attribute)
        return command.make_context(info_name, args, parent, **extra)


class Commands(click.Group):
    """A group whose list of commands wraps sentences instead of cutting them."""

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a row for each command."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(sys.maxsize)) for name, each in commands if each]
            )


@loading()
def loaded(context: click.Context, overrides: Mapping[str, object] | None = None) -> "Loaded":
    """Return the settings of this run, read once.

    Args:
        context: of the command.
        overrides: options of the command that are settings, by dotted name; `None` counts as not given.
    """
    root = context.find_root()
    session = root.ensure_object(Session)
    if session.loaded is None:
        session.as_json = bool(context.params.get("as_json"))
        from pathlib import Path  # noqa: PLC0415 - no help needs settings

        from searx_mcp.cli.logs import hide  # noqa: PLC0415 - as above
        from searx_mcp.settings.sources import load  # noqa: PLC0415 - as above

        path, env_file = root.params["config"], root.params["env_file"]
        found = load(
            path=Path(path) if path else None,
            environ=os.environ,
            overrides={"remote.url": root.params["remote"], **(overrides or {})},
            env_file=Path(env_file) if env_file else None,
            options=_OPTIONS,
        )
        hide(found.settings)
        from searx_mcp.client.usable import check_usable  # noqa: PLC0415 - as above

        check(found, check_usable)
        session.loaded = found
    return session.loaded


def check(read: "Loaded", usable: Callable[["Settings"], None]) -> None:
    """Check that the settings are usable, and add its origin to the error about one that is not."""
    try:
        usable(read.settings)
    except SettingsError as error:
        raise SettingsError(
            error.field,
            error.message.removeprefix(f"{error.field}: "),
            origin=error.origin or read.origins.get(error.field, "").removeprefix("default"),
            advice=error.advice,
        ) from error


def held(context: click.Context) -> HeldOutput:
    """Return the standard output of a server, which nothing else may write to."""
    session = context.find_root().ensure_object(Session)
    if session.output is None:
        session.output = HeldOutput()
    return session.output


def spinner() -> "Spinner | None":
    """Return the spinner of the running command, if it has one."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_root().ensure_object(Session).spinner


def working(
    work: Callable[Concatenate["Loaded", P], Coroutine[Any, Any, None]],
) -> Callable[P, None]:
    """Make work the callback of a command, which receives the settings and runs it to its end."""

    @functools.wraps(work)
    def callback(*args: P.args, **kwargs: P.kwargs) -> None:
        context = click.get_current_context()
        settings = loaded(context)
        with as_typed(context):
            run(work(settings, *args, **kwargs))

    return callback


@contextlib.contextmanager
def as_typed(context: click.Context) -> Iterator[None]:
    """Name wrong arguments as the command line does."""
    try:
        yield
    except InvalidArgumentError as error:
        typed = ((_typed(name, context.command), wrong) for name, wrong in error.problems)
        error.message = error.told(": ".join(one) for one in typed)
        raise


def _typed(name: str, command: click.Command) -> str:
    """Return the name of an argument in the command line's spelling."""
    # If an option and a positional argument stand for the same field, name the positional one.
    for parameter in sorted(command.params, key=lambda each: isinstance(each, click.Option)):
        shown = parameter.human_readable_name.strip("[].")
        if name in {parameter.name, shown.lower()}:
            return parameter.opts[-1] if isinstance(parameter, click.Option) else shown
    return name


def run(
    work: Coroutine[Any, Any, T],
    *,
    within: float | None = None,
    loop_factory: "Callable[[], asyncio.AbstractEventLoop] | None" = None,
) -> T:
    """Run `work` to its end, or cancel it at a signal; a second signal does not wait for that.

    Args:
        work: of a command.
        within: seconds in which cancelled work must have ended. A server sets them: it ends even if the shell
            that started it in the background ignores the signal.
        loop_factory: as for `asyncio.Runner`.

    Raises:
        SystemExit: a signal ended it.
    """
    import asyncio  # noqa: PLC0415 - neither help nor version needs it

    ending = Ending(within)
    with asyncio.Runner(loop_factory=loop_factory) as runner, ending.heard(runner.get_loop()):
        try:
            return runner.run(ending.watch(work))
        finally:
            if ending.code:
                # Whatever the cancelled work raises, this is the reason.
                raise SystemExit(ending.code)


def say(text: str) -> None:
    """Write a line on standard error, if anyone can read it."""
    with contextlib.suppress(OSError):
        click.echo(wrapped(text, sys.stderr), err=True)


def wrapped(text: str, stream: IO[str], *, indent: str = "") -> str:
    """Wrap a sentence between words, as a terminal would break it anywhere.

    Anything longer than a line, such as an address or a path, is not broken.

    Args:
        text: one line.
        stream: the target; only a terminal has a line length.
        indent: of each line.
    """
    if not stream.isatty():
        return f"{indent}{text}"
    import shutil  # noqa: PLC0415 - only a terminal needs it
    import textwrap  # noqa: PLC0415 - as above

    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def output_problem(failure: OSError) -> str:
    """Explain for a person why something could not be written."""
    if isinstance(failure, BrokenPipeError):
        return "standard output was closed by its reader"
    what = failure.filename or "standard output"
    return f"{what} cannot be written: {failure.strerror}"

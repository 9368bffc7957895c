"""Commands for the verbs of the service, with the arguments of their tools."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import click

from searx_mcp.cli.output import error_data, errors_as_json, print_json, show_progress
from searx_mcp.cli.running import ExitCode, working
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.argument import Declared, arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.response import dumped
from searx_mcp.verbs.verb import RequestT, ResponseT, Room, Verb

if TYPE_CHECKING:
    from searx_mcp.service import Service
    from searx_mcp.settings.sources import Loaded

_Command = TypeVar("_Command", bound=Callable[..., Any])
_QUESTION: Final = "query"
_PAGES: Final = "url"


def arguments(
    request: type[Frozen], *, without: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """Add the arguments of a tool to a command; they arrive as texts and flags.

    A question is given as words after an address, quoted or not.

    Args:
        request: whose fields they are.
        without: fields to leave out, because a repeated option covers them.
    """

    def decorate(command: _Command) -> _Command:
        declared = arguments_of(request)
        if question := declared.get(_QUESTION):
            required = question.field.is_required()
            metavar = "QUERY..." if required else "[QUERY]..."
            command = click.argument("words", nargs=-1, required=required, metavar=metavar)(command)
        for name, each in reversed([*declared.items()]):
            if name not in without and (name != _QUESTION or each.argument.metavar):
                command = _argument(name, each)(command)
        return command

    return decorate


def given(options: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that the user gave; parsing checks them, and ignores `None`.

    Addresses among the words of a question are pages for its answer, if a command takes several. If it takes one, the
    question may come first.
    """
    named = {name: value for name, value in options.items() if value != ()}
    words, pages, further = (_several(options, name) for name in ("words", _PAGES, _QUESTION))
    named.pop("words", None)
    addresses = [word for word in words if word.lower().startswith(("http://", "https://"))]
    others = [word for word in words if word not in addresses]
    page = options.get(_PAGES)
    if isinstance(page, tuple):
        words = others
        named |= {_PAGES: [*addresses, *pages]} if addresses else {}
    elif isinstance(page, str) and "://" not in page and len(addresses) == 1:
        named[_PAGES], words = addresses[0], [page, *others]
    if words:
        question = " ".join(words)
        named[_QUESTION] = [question, *further] if further else question
    return named


def _several(options: Mapping[str, object], name: str) -> list[str]:
    values = options.get(name)
    return [*values] if isinstance(values, tuple) else []


@dataclass(frozen=True, slots=True)
class Printing(Generic[ResponseT]):
    """How a command prints.

    Attributes:
        show: prints a response for a person, with the call's tokens and whether whole passages are wanted.
        failure: converts an error for programs, with the arguments as typed.
        is_whole: whether programs get every field.
        is_failed: whether the command fails although there is a response.
        has_passages: whether whole passages can be requested.
        printed: what `--json` prints.
    """

    show: Callable[[ResponseT, int | None, bool], None]
    failure: Callable[[SearxMcpError, Mapping[str, object]], Mapping[str, Any]] = lambda error, _: (
        error_data(error)
    )
    is_whole: bool = False
    is_failed: Callable[[ResponseT], bool] = lambda _: False
    has_passages: bool = False
    printed: str = "outcome"


def command(
    verb: Verb[RequestT, ResponseT],
    printing: Printing[ResponseT],
    opened: "Callable[[Loaded], AbstractAsyncContextManager[Service]]",
    *,
    parse: Callable[[Mapping[str, object]], RequestT] | None = None,
) -> click.Command:
    """Create the command of a verb.

    Args:
        verb: the operation.
        printing: of its result.
        opened: opens the service, with the settings of this run.
        parse: parses a request, if a person may ask for more than others.
    """
    told = verb.command
    if told is None:
        raise TypeError(verb.tool)

    @working
    async def work(
        loaded: "Loaded", /, *, as_json: bool, passages: bool = False, **options: object
    ) -> None:
        raw = given(options)
        with errors_as_json(as_json=as_json, convert=lambda error: printing.failure(error, raw)):
            request = parse(raw) if parse else verb.parse(raw, loaded.settings)
            async with opened(loaded) as client:
                limit = verb.seconds(request) or (verb.usual and verb.usual(loaded.settings))
                response = await verb.act(client, request, show_progress(told.doing, limit))
        budget: int | None = getattr(request, "max_tokens", None)
        if not as_json:
            printing.show(response, budget, passages)
        elif printing.is_whole:
            print_json(dumped(response))
        else:
            print_json(verb.writing().data(response, Room(budget=budget)))
        if printing.is_failed(response):
            sys.exit(ExitCode.FAILED)

    help_json = f"Print the {printing.printed} as JSON."
    made = click.option("--json", "as_json", is_flag=True, help=help_json)(work)
    if printing.has_passages:
        whole = "Show whole passages, not only quotes."
        made = click.option("--passages", is_flag=True, help=whole)(made)
    made = arguments(verb.request, without=told.without)(made)
    return click.command(told.name.rpartition(" ")[2], help=told.help)(made)


class _Option(click.Option):
    """An option with the names that other tools give it, which an error about an unknown one proposes."""

    def __init__(self, *declared: Any, others: Sequence[str], **more: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*declared, **more)
        self.others = others


def _argument(name: str, declared: Declared) -> Callable[[_Command], _Command]:
    argument, field = declared.argument, declared.field
    option = name.replace("_", "-")
    spellings = [f"-{argument.short}"] if argument.short else []
    others = [each.replace("_", "-") for each in argument.names]
    told = f"{declared.help} Repeatable." if argument.repeated else declared.help
    if field.annotation is bool:
        both = f"--{option}/--no-{option}" if field.default else f"--{option}"
        return click.option(both, is_flag=True, default=None, help=told, cls=_Option, others=others)
    if not argument.metavar:
        number = -1 if argument.repeated else 1
        return click.argument(name, nargs=number, required=field.is_required())
    return click.option(
        *spellings,
        f"--{option}",
        cls=_Option,
        others=others,
        metavar=argument.metavar,
        multiple=argument.repeated,
        help=told,
    )

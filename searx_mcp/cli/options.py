"""The arguments of a tool as those of its command."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import click

from searx_mcp.models.argument import Declared, arguments_of
from searx_mcp.models.base import Frozen

_Command = TypeVar("_Command", bound=Callable[..., Any])


def arguments(
    request: type[Frozen], *, without: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """Give a command the arguments of a tool; they arrive as texts and flags.

    Args:
        request: whose fields they are.
        without: those that say in another way what a repeated option says.
    """

    def decorate(command: _Command) -> _Command:
        for name, declared in reversed([*arguments_of(request).items()]):
            if name not in without:
                command = _argument(name, declared)(command)
        return command

    return decorate


def given(options: Mapping[str, object]) -> dict[str, object]:
    """The arguments that the user named; what parses them checks them, and passes over `None`."""
    return {name: value for name, value in options.items() if value != ()}


def _argument(name: str, declared: Declared) -> Callable[[_Command], _Command]:
    argument, field = declared.argument, declared.field
    option = name.replace("_", "-")
    spellings = [f"-{argument.short}"] if argument.short else []
    told = f"{declared.help} Repeatable." if argument.repeated else declared.help
    if field.annotation is bool:
        both = f"--{option}/--no-{option}" if field.default else f"--{option}"
        return click.option(both, is_flag=True, default=None, help=told)
    if not argument.metavar:
        number = -1 if argument.repeated else 1
        return click.argument(name, nargs=number, required=field.is_required())
    return click.option(
        *spellings,
        f"--{option}",
        metavar=argument.metavar,
        multiple=argument.repeated,
        help=told,
    )

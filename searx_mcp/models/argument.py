"""A field of a request as an argument of a tool: the one declaration that every front goes by.

What is published to models, the options of the command, the keywords of the module and the tables
of the documentation come from it.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic.fields import FieldInfo

from searx_mcp.models.base import Frozen
from searx_mcp.models.coercion import Limits, Reader
from searx_mcp.models.spelling import folded

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_NO_READERS: Final[Mapping[str, Reader]] = MappingProxyType({})


class Argument(NamedTuple):
    """A field of a request as an argument of a tool: how it is written, and what is said of it.

    Attributes:
        read: takes what a caller wrote and the limits of the field; gives the field's value.
        help: what a person is told of it, on the command line and in the documentation; a name in braces
            stands for one of the limits.
        metavar: what stands for the value on the command line; empty for what stands there without a
            name, and for what takes no value.
        short: its short name on the command line.
        repeated: whether a person names it once for each of several values.
        schema: what a model is told besides what the field says; `None` of a key takes it out, and
            `None` in place of all keeps the argument from models: it is understood, and not worth
            the words in every conversation.
        names: other names, as other servers and APIs have them for the same: Brave, DuckDuckGo,
            Exa, Firecrawl, Tavily, the reference fetch server, other servers for SearXNG.
        otherwise: readers by further names, whose values mean something else.
        by_person: whether only a person may give it.
        wanted: the advice to a call that names neither it nor another argument with the same advice; empty for
            what may be left out.
    """

    read: Reader
    help: str
    metavar: str = ""
    short: str = ""
    repeated: bool = False
    schema: Mapping[str, object] | None = _NOTHING
    names: tuple[str, ...] = ()
    otherwise: Mapping[str, Reader] = _NO_READERS
    by_person: bool = False
    wanted: str = ""


class Declared(NamedTuple):
    """An argument, its field, the bounds of the field, and what reads a value by each name, folded."""

    argument: Argument
    field: FieldInfo
    limits: Limits
    readers: Mapping[str, Reader]

    @property
    def help(self) -> str:
        """The words that a person reads of it."""
        return self.argument.help.format_map(self.limits._asdict())


@cache
def arguments_of(request: type[Frozen]) -> Mapping[str, Declared]:
    """List the arguments that a request is made of, by name, in their order."""
    declared = {}
    for name, field in request.model_fields.items():
        bounds = {
            rule: bound
            for rule in ("ge", "le", "max_length", "pattern")
            for mark in field.metadata
            if (bound := getattr(mark, rule, None)) is not None
        }
        for argument in (mark for mark in field.metadata if isinstance(mark, Argument)):
            readers = dict.fromkeys(map(folded, (name, *argument.names)), argument.read)
            declared[name] = Declared(
                argument, field, Limits(**bounds), readers | dict(argument.otherwise)
            )
    return declared

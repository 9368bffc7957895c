"""A field of a request as an argument of a tool: one declaration for all fronts.

The schemas for models, the options of the command, the keywords of the module and the tables of the
documentation are made from it.
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
    """A field of a request as an argument of a tool: how to parse it, and its texts.

    Attributes:
        read: takes what a caller wrote and the bounds of the field; returns the field's value.
        help: description for a person, on the command line and in the documentation; a name in braces stands
            for one of the bounds.
        metavar: placeholder of the value on the command line; empty for positional arguments and flags.
        short: its short name on the command line.
        repeated: whether the option is repeated for several values.
        schema: additions to the field's schema for models; `None` for a key removes it, and `None` instead of
            all hides the argument from models: it is understood, but not worth the words in every
            conversation.
        names: aliases, the names in other servers and APIs: Brave, DuckDuckGo, Exa, Firecrawl, Tavily, the
            reference fetch server, other servers for SearXNG.
        otherwise: readers for further names, whose values have another meaning.
        by_person: whether only a person may give it.
        wanted: advice for a call that names neither this nor another argument with the same advice; empty if
            it is optional.
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
    """An argument, its field, the field's bounds, and the reader for each folded name."""

    argument: Argument
    field: FieldInfo
    limits: Limits
    readers: Mapping[str, Reader]

    @property
    def help(self) -> str:
        """The description for a person."""
        return self.argument.help.format_map(self.limits._asdict())


@cache
def arguments_of(request: type[Frozen]) -> Mapping[str, Declared]:
    """Return the arguments of a request by name, in order."""
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

"""Conversion of arguments that another project specifies into ours.

A model declares every argument that is accepted. A field without effect here is accepted and ignored, a field with
only one supported value is a `Literal`, and any other name is refused.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from searx_mcp.arguments import SearchDefaults, parse_fetch, parse_search
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import MAX_TIMEOUT, SearchRequest
from searx_mcp.models.spelling import shown
from searx_mcp.server.rest.errors import status_of

DEFAULT_CHARS: Final = 200_000
"""Characters of a page unless the call sets a number; specified by that project."""
_MIN_TIMEOUT: Final = 5.0
"""Shortest timeout of a `FetchRequest`."""
_BOOLEAN: Final = re.compile(r"\b(True|False)\b")
_UNION_MEMBERS: Final = frozenset({"str", "int", "float", "bool"})
"""Members of a union, which pydantic appends to the path of a wrong field."""


class Foreign(Frozen):
    """Arguments that another project specifies; further spellings are not accepted."""

    model_config = ConfigDict(hide_input_in_errors=True)


def _refuse_number(value: object) -> object:
    """Refuse a number in place of a boolean; pydantic would accept 0 and 1.

    Raises:
        ValueError: the value is a number.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - pydantic reports it
    return value


NO_NUMBER: Final = BeforeValidator(_refuse_number)
AlwaysOn: TypeAlias = Annotated[Literal[True], NO_NUMBER] | None
"""A feature that cannot be turned off."""
NotOffered: TypeAlias = Annotated[Literal[False], NO_NUMBER] | None
"""A feature that is not offered and may be turned off."""
ForeignT = TypeVar("ForeignT", bound=Foreign)


def read(model: type[ForeignT], raw: Mapping[str, Any]) -> ForeignT:
    """Validate the arguments of a call.

    Args:
        model: model of the arguments.
        raw: arguments as the caller sent them.

    Raises:
        InvalidArgumentError: some arguments are unknown, missing, wrong or not offered; the error names all of them.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        found: dict[str, str] = {}
        for problem in exc.errors(include_url=False, include_input=False):
            found.setdefault(_name(problem), _reason(problem))
    raise InvalidArgumentError.of([InvalidArgumentError(*each) for each in found.items()])


def to_search(
    arguments: Foreign, names: Mapping[str, str], extra: Mapping[str, Any], defaults: SearchDefaults
) -> SearchRequest:
    """Convert arguments to a search request.

    Args:
        arguments: arguments of the caller.
        names: our name of each field that is also an argument of ours.
        extra: further arguments, by our names.
        defaults: values of arguments that are absent.

    Raises:
        InvalidArgumentError: some arguments are wrong; the error has the caller's names for them.
    """
    with _with_their_names(arguments, names):
        return parse_search({**_our_arguments(arguments, names), **extra}, defaults=defaults)


def to_fetch(
    arguments: Foreign, names: Mapping[str, str], extra: Mapping[str, Any]
) -> FetchRequest:
    """Convert arguments to a request for a page, like `to_search`."""
    with _with_their_names(arguments, names):
        return parse_fetch(
            {"max_chars": DEFAULT_CHARS, **_our_arguments(arguments, names), **extra}
        )


def page_timeout(seconds: float) -> float:
    """Clamp the timeout of a page, in seconds, to what a `FetchRequest` accepts."""
    return min(max(seconds, _MIN_TIMEOUT), MAX_TIMEOUT)


def status_for(error: SearxMcpError) -> int:
    """Return the HTTP status of an error; 400 for wrong arguments, where our own routes have 422."""
    return 400 if isinstance(error, InvalidArgumentError) else status_of(error)


def _our_arguments(arguments: Foreign, names: Mapping[str, str]) -> dict[str, Any]:
    given = ((ours, getattr(arguments, theirs)) for theirs, ours in names.items())
    return {ours: value for ours, value in given if value is not None}


@contextmanager
def _with_their_names(arguments: Foreign, names: Mapping[str, str]) -> Iterator[None]:
    fields = type(arguments).model_fields
    their_names = {ours: fields[theirs].alias or theirs for theirs, ours in names.items()}
    try:
        yield
    except InvalidArgumentError as error:
        raise InvalidArgumentError.of(
            [InvalidArgumentError(their_names.get(name, name), why) for name, why in error.problems]
        ) from None


def _name(problem: ErrorDetails) -> str:
    """Return the path of a wrong field, without list indexes and members of a union."""
    parts: list[str] = []
    for part in problem["loc"]:
        if not isinstance(part, str):
            break
        parts.append(shown(part)[1:-1])
    last = parts[-1] if parts else ""
    is_member = last in _UNION_MEMBERS or "[" in last
    return ".".join(parts[:-1] if is_member and len(parts) > 1 else parts) or "body"


_REASONS: Final = {
    "extra_forbidden": "is not offered here",
    "missing": "is missing",
    "model_type": "must be an object",
    "tuple_type": "must be a list",
}
"""What pydantic would say as of Python, by its type of the problem."""


def _reason(problem: ErrorDetails) -> str:
    if told := _REASONS.get(problem["type"]):
        return told
    if problem["type"] == "literal_error":
        allowed = str(problem["ctx"]["expected"])
        only = "" if " or " in allowed else " here"
        return f"must be {_BOOLEAN.sub(lambda found: found[0].lower(), allowed)}{only}"
    text = problem["msg"].removeprefix("Value error, ")
    return text[:1].lower() + text[1:]

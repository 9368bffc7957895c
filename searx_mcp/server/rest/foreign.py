"""Arguments as another project specifies them, made into ours.

A model says all of them: a field that changes nothing here is read and ignored, one of which a single value is
honoured is a `Literal`, and any other name is refused.
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
from searx_mcp.server.rest.tools import DEFAULT_CHARS

_LEAST_SECONDS: Final = 5.0
"""Of a `FetchRequest`."""
_BOOLEAN: Final = re.compile(r"\b(True|False)\b")
_KINDS: Final = frozenset({"str", "int", "float", "bool"})
"""Names of the kinds of a union, which stand behind the name of the field that is wrong."""


class Foreign(Frozen):
    """Arguments that another project specifies; read as its model says, without further spellings."""

    model_config = ConfigDict(hide_input_in_errors=True)


def _exact(value: object) -> object:
    """Refuse numbers for what is true or false; pydantic takes them for that.

    Raises:
        ValueError: it is one.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - as all that is wrong
    return value


EXACT: Final = BeforeValidator(_exact)
Yes: TypeAlias = Annotated[Literal[True], EXACT] | None
"""What cannot be declined."""
No: TypeAlias = Annotated[Literal[False], EXACT] | None
"""What is not offered, and may be declined."""
ForeignT = TypeVar("ForeignT", bound=Foreign)


def read(model: type[ForeignT], raw: Mapping[str, Any]) -> ForeignT:
    """Read the arguments of a call.

    Args:
        model: what they may be.
        raw: as the caller wrote them.

    Raises:
        InvalidArgumentError: some are unknown, missing, wrong or not offered here; names them.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        found: dict[str, str] = {}
        for problem in exc.errors(include_url=False, include_input=False):
            found.setdefault(_name(problem), _reason(problem))
    raise InvalidArgumentError.of([InvalidArgumentError(*each) for each in found.items()])


def to_search(
    asked: Foreign, names: Mapping[str, str], more: Mapping[str, Any], defaults: SearchDefaults
) -> SearchRequest:
    """Make a search of what was asked.

    Args:
        asked: by the caller.
        names: fields of `asked`, each with the argument of ours that it is.
        more: further arguments, by our names.
        defaults: what is taken where neither says anything.

    Raises:
        InvalidArgumentError: some are wrong; by the names as the caller knows them.
    """
    with _told_as_written(asked, names):
        return parse_search({**_ours(asked, names), **more}, defaults=defaults)


def to_fetch(asked: Foreign, names: Mapping[str, str], more: Mapping[str, Any]) -> FetchRequest:
    """Make a request for a page of what was asked, as `to_search` does."""
    with _told_as_written(asked, names):
        return parse_fetch({"max_chars": DEFAULT_CHARS, **_ours(asked, names), **more})


def for_a_page(seconds: float) -> float:
    """The seconds that a call names for a page, within what one may have."""
    return min(max(seconds, _LEAST_SECONDS), MAX_TIMEOUT)


def status_for(error: SearxMcpError) -> int:
    """The HTTP status of an error; unlike with our own routes, 400 for wrong arguments."""
    return 400 if isinstance(error, InvalidArgumentError) else status_of(error)


def _ours(asked: Foreign, names: Mapping[str, str]) -> dict[str, Any]:
    given = ((ours, getattr(asked, theirs)) for theirs, ours in names.items())
    return {ours: value for ours, value in given if value is not None}


@contextmanager
def _told_as_written(asked: Foreign, names: Mapping[str, str]) -> Iterator[None]:
    fields = type(asked).model_fields
    written = {ours: fields[theirs].alias or theirs for theirs, ours in names.items()}
    try:
        yield
    except InvalidArgumentError as error:
        raise InvalidArgumentError.of(
            [InvalidArgumentError(written.get(name, name), why) for name, why in error.problems]
        ) from None


def _name(problem: ErrorDetails) -> str:
    """The path of what is wrong, without places in lists and the kinds of a union."""
    parts: list[str] = []
    for part in problem["loc"]:
        if not isinstance(part, str):
            break
        parts.append(shown(part)[1:-1])
    last = parts[-1] if parts else ""
    is_kind = last in _KINDS or "[" in last
    return ".".join(parts[:-1] if is_kind and len(parts) > 1 else parts) or "body"


def _reason(problem: ErrorDetails) -> str:
    match problem["type"]:
        case "extra_forbidden":
            return "is not offered here"
        case "missing":
            return "is missing"
        case "literal_error":
            allowed = str(problem["ctx"]["expected"])
            only = "" if " or " in allowed else " here"
            return f"must be {_BOOLEAN.sub(lambda found: found[0].lower(), allowed)}{only}"
        case _:
            text = problem["msg"].removeprefix("Value error, ")
            return text[:1].lower() + text[1:]

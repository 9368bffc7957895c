"""The requests, and how the calls of a model are compared with those that serve them.

A call is compared as the server understands it, so that every spelling it forgives is forgiven here. What a request
names must be named. What narrows a search must not be made up; anything else may be.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from searx_mcp.arguments import SearchDefaults, parse_corpus, parse_fetch, parse_search
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.requests import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.base import Frozen
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.spelling import shown

_TABLE: Final = Path(__file__).parent / "requests.toml"
_PARSERS: Final[Mapping[str, Callable[[Mapping[str, object]], Frozen]]] = {
    "web_search": partial(parse_search, defaults=SearchDefaults()),
    "web_fetch": parse_fetch,
    "read_page": partial(parse_corpus, ReadRequest),
    "answer": partial(parse_corpus, AnswerRequest),
    "search_corpus": partial(parse_corpus, CorpusSearchRequest),
    "corpus_status": partial(parse_corpus, StatusRequest),
    "ingest": partial(parse_corpus, IngestRequest),
}
_NARROWING: Final = frozenset(
    {
        *("category", "language", "safe_search", "time_range", "engines", "source"),
        *("allowed_domains", "blocked_domains", "page", "offset"),
        *("url", "section", "cursor", "constraints", "source_url", "source_urls"),
    }
)
"""Arguments that keep something from being found or read."""
_JOINED: Final = {"queries": "query", "urls": "url"}
"""Arguments that are further values of another one."""


class Call(Frozen):
    """A call that serves a request.

    Attributes:
        tool: its name.
        arguments: one way to write them, in the names of the schema.
        words: of arguments that are free text, what must occur in them, in any case; `a|b` is either of both.
        either: by argument, values that are as good.
        least: by argument, how many values there must be.
        free: arguments that may have any value, or none.
    """

    tool: str
    arguments: Mapping[str, Any]
    words: Mapping[str, tuple[str, ...]] = {}
    either: Mapping[str, tuple[Any, ...]] = {}
    least: Mapping[str, int] = {}
    free: tuple[str, ...] = ()


class Earlier(Frozen):
    """What came before a request: what the user said, the call that was made, and its result."""

    says: str
    tool: str
    arguments: Mapping[str, Any]
    result: str


class Request(Frozen):
    """What a user says, and the calls that serve it.

    Attributes:
        says: in the user's words.
        calls: any of them will do; none if no tool is needed.
        earlier: what came before.
    """

    says: str
    calls: tuple[Call, ...] = ()
    earlier: Earlier | None = None

    @property
    def tool(self) -> str:
        """The tool of the first call; empty if none is needed."""
        return self.calls[0].tool if self.calls else ""

    @property
    def tools(self) -> frozenset[str]:
        """The tools that it cannot be put without."""
        names = [self.tool, self.earlier.tool if self.earlier else ""]
        return frozenset(filter(None, names))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A call that a model made.

    Attributes:
        tool: the name that it gave.
        arguments: by name; `None` if they are no JSON object.
    """

    tool: str
    arguments: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a choice compares.

    Attributes:
        request: what was said.
        is_tool_right: whether the first call has a right tool, or there is none and none is needed.
        flaw: what is wrong; empty if nothing is.
        has_answer: whether the model's server gave any.
    """

    request: Request
    is_tool_right: bool
    flaw: str = ""
    has_answer: bool = True


def read_requests(path: Path = _TABLE) -> tuple[Request, ...]:
    """Read the table.

    Raises:
        pydantic.ValidationError: a request has an unknown or a missing field.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Request.model_validate(row) for row in table["request"])


def judge(request: Request, chosen: Sequence[Chosen]) -> Verdict:
    """Compare what a model called with what serves the request.

    The first call decides on the tool. Further calls of the same tool count as values of the same call: two
    searches side by side serve as one call with two queries does.
    """
    first = chosen[0].tool if chosen else ""
    right = [call for call in request.calls if call.tool == first]
    if not request.calls or not right:
        is_right = not request.calls and not chosen
        flaw = "" if is_right else f"{shown(first) if first else 'no tool'} was called"
        return Verdict(request, is_right, flaw)
    given = [each.arguments for each in chosen if each.tool == first]
    flaws = [_flaw(call, given) for call in right]
    return Verdict(request, is_tool_right=True, flaw="" if "" in flaws else flaws[0])


def values(tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """The values of a call as the server understands them, defaults too.

    Raises:
        InvalidArgumentError: the server would refuse it.
        ValueError: likewise.
    """
    request = _PARSERS[tool](arguments)
    found = dict(request)
    if isinstance(request, SearchRequest):
        found["query"] = tuple(search.query for search in request.searches)
    elif isinstance(request, ReadRequest):
        found["query"] = request.questions
    elif isinstance(request, AnswerRequest):
        found["url"] = request.addresses
    return {name: value for name, value in found.items() if name not in _JOINED}


def _flaw(call: Call, given: Sequence[Mapping[str, object] | None]) -> str:
    """Say what is wrong with the arguments of some calls of the right tool; empty if nothing is."""
    try:
        parsed = [values(call.tool, arguments) for arguments in given if arguments is not None]
    except (InvalidArgumentError, ValueError) as error:
        return f"refused: {error}"
    if len(parsed) < len(given):
        return "arguments that are no JSON object"
    wanted = values(call.tool, call.arguments)
    named = {_JOINED.get(name, name) for name in call.arguments}
    for name in sorted((named | (_NARROWING & wanted.keys())) - {*call.free}):
        got = [each[name] for each in parsed]
        if len(_united(got)) < call.least.get(name, 0):
            return f"{name}: fewer than {call.least[name]}"
        if name in call.words:
            if missing := _missing(call.words[name], _united(got)):
                return f"{name} has nothing of {missing}"
        else:
            other = [
                values(call.tool, {**call.arguments, name: v}) for v in call.either.get(name, ())
            ]
            right = [_plain(wanted[name]), *(_plain(each[name]) for each in other)]
            if _plain(tuple(_united(got)) if isinstance(got[0], tuple) else got[0]) not in right:
                return f"{name}: {shown(got[0])} instead of {shown(wanted[name])}"
    return ""


def _united(got: Sequence[object]) -> list[object]:
    """All values of an argument of several calls, each once."""
    parts = [value if isinstance(value, tuple) else (value,) for value in got]
    return list(dict.fromkeys(part for some in parts for part in some))


def _missing(words: Sequence[str], texts: Sequence[object]) -> str:
    said = "\n".join(map(str, texts)).casefold()
    return next(
        (each for each in words if not any(word.casefold() in said for word in each.split("|"))), ""
    )


def _plain(value: object) -> object:
    """What two values have in common that mean the same: no order, no slash at the end."""
    if isinstance(value, tuple):
        return frozenset(map(_plain, value))
    return value.rstrip("/") if isinstance(value, str) else value

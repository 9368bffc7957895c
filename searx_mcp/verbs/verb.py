"""The declaration of a tool, and how its results are formatted."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from searx_mcp.models.base import Frozen
from searx_mcp.models.request import MAX_TIMEOUT, MAX_TOKENS
from searx_mcp.settings.server import ServerConfig
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from searx_mcp.errors import SearxMcpError
    from searx_mcp.models.progress import Progress
    from searx_mcp.service import Service

RequestT = TypeVar("RequestT", bound=Frozen)
ResponseT = TypeVar("ResponseT", bound=Frozen)


class Effect(Enum):
    """The side effects of a tool, as a host tells its user."""

    READS = "reads the web"
    KEEPS = "reads pages of the web and keeps them here"
    LOOKS = "looks at kept pages alone"


@dataclass(frozen=True, slots=True)
class RestRoute:
    """The REST route of a tool.

    Attributes:
        name: unique; in logs and in the OpenAPI document.
        path: of the route.
        summary: one sentence for a person.
        statuses: of responses other than 200, in addition to those of the guard.
        method: HTTP method.
        streams: whether progress is available as server-sent events.
        has_whole: whether `whole=true` returns every field.
    """

    name: str
    path: str
    summary: str
    statuses: tuple[int, ...]
    method: Literal["GET", "POST"] = "POST"
    streams: bool = True
    has_whole: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """The command of a tool.

    Attributes:
        name: below `searx-mcp`; with its group's name before it, if it is in one.
        help: its first sentence is shown in the list of commands.
        doing: the first message on a terminal.
        without: arguments of the tool that a repeatable option replaces.
    """

    name: str
    help: str
    doing: str = "reading"
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A tool as MCP clients see it.

    Attributes:
        title: for a person.
        description: for a model: use for, not for, returns, next. Other tools are in braces, and a sentence
            is omitted if one of them is not published.
        purpose: a clause for the server's instructions.
        schema: of the arguments.
        effect: its side effects.
        most_tokens: maximum that a call can request.
        small: the description in the profile `small`; the same unless given.
        small_arguments: arguments of the schema in the profile `small`; all unless given.
        reads_on: the tool that continues its results.
        is_twofold: whether its clients need both text and structured content, whatever is known of them.
    """

    title: str
    description: str
    purpose: str
    schema: Callable[[Settings], dict[str, Any]]
    effect: Effect
    most_tokens: Callable[[ServerConfig], int] = lambda _: MAX_TOKENS
    small: str = ""
    small_arguments: frozenset[str] = frozenset()
    reads_on: Tool = Tool.WEB_FETCH
    is_twofold: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """The limits of a result, and its context.

    Attributes:
        budget: tokens; `None` for no limit.
        boundary: of the fences around untrusted text; empty if a program reads the result.
        fetch: the published name of `web_fetch`; empty if it is not published.
        finds: the published name of `search_corpus`; empty if it is not published.
        longest: maximum seconds of a call; the advice never exceeds it.
        is_remote: whether another service has performed the call.
    """

    budget: int | None = None
    boundary: str = ""
    fetch: str = Tool.WEB_FETCH
    finds: str = ""
    longest: float = MAX_TIMEOUT
    is_remote: bool = False


@dataclass(frozen=True, slots=True)
class Asked(Generic[RequestT]):
    """A call with its raw arguments.

    Attributes:
        raw: the arguments as the caller wrote them.
        request: parsed from them; `None` if they are wrong.
    """

    raw: Mapping[str, Any]
    request: RequestT | None = None

    def text(self, name: str) -> str:
        """Return an argument as the caller wrote it; empty if it is not a string."""
        value = self.raw.get(name)
        return value if isinstance(value, str) else ""


Failed = tuple[str, Mapping[str, Any]]
"""A failure as text for a model, and as data."""


def _usual_tokens(request: Frozen, server: ServerConfig) -> int:
    named: int | None = getattr(request, "max_tokens", None)
    return named or server.response_token_budget


def _never(_: object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Writing(Generic[RequestT, ResponseT]):
    """How the results of a tool are formatted.

    Attributes:
        responses: models of its results; the first is that of most calls.
        text: formats a result for a model, within the limits.
        data: formats it for a program, within the limits.
        failed: formats why a call failed.
        otherwise: advice if a call ran out of time.
        tokens: the budget of a call's result, if a model reads it.
        is_empty: whether nothing was found.
        output: model of the data, if it is not a response.
    """

    responses: tuple[type[ResponseT], ...]
    text: Callable[[ResponseT, Room], str]
    data: Callable[[ResponseT, Room], Mapping[str, Any]]
    failed: "Callable[[SearxMcpError, Asked[RequestT], Room], Failed]"
    otherwise: str = ""
    tokens: Callable[[RequestT, ServerConfig], int] = _usual_tokens
    is_empty: Callable[[ResponseT], bool] = _never
    output: "type[BaseModel] | None" = None

    def fitted(self, request: RequestT, room: Room, _: Settings) -> tuple[RequestT, Room]:
        """Adapt a request and the tokens of its result to each other; return both."""
        known = {"max_tokens": room.budget, "for_model": True}
        update = {name: known[name] for name in known.keys() & type(request).model_fields}
        return request.model_copy(update=update), room

    def both(
        self, asked: Asked[RequestT], response: ResponseT, room: Room
    ) -> tuple[str, Callable[[], Mapping[str, Any]]]:
        """Format a result in both forms, the second one lazily."""
        del asked
        return self.text(response, room), lambda: self.data(response, room)


@dataclass(frozen=True, slots=True)
class Verb(Generic[RequestT, ResponseT]):
    """One operation of the service, for every front.

    Attributes:
        tool: its name and its limits by tokens and settings.
        request: the model of its arguments.
        parse: parses a caller's raw arguments into a request.
        act: performs it.
        writing: imports its formatting; no server start waits for that.
        usual: seconds of a call that names none; unless given, all available seconds.
        has_limits: whether a call without seconds has other limits, which seconds of its own would lift.
        least: minimum seconds of a request.
        published: in MCP; `None` if it is not.
        route: in REST; `None` if it has none.
        command: on the command line; `None` if it has none.
    """

    tool: Tool
    request: type[RequestT]
    parse: Callable[[Mapping[str, object], Settings], RequestT]
    act: "Callable[[Service, RequestT, Progress | None], Awaitable[ResponseT]]"
    writing: Callable[[], Writing[RequestT, ResponseT]]
    usual: Callable[[Settings], float] | None = None
    has_limits: bool = False
    least: float = 0.0
    published: Published | None = None
    route: RestRoute | None = None
    command: Command | None = None

    def seconds(self, request: RequestT) -> float | None:
        """Return the seconds that a call sets; `None` if it sets none."""
        named: float | None = getattr(request, "timeout", None)
        return named

    @property
    def is_timed(self) -> bool:
        """Whether a call can set its seconds."""
        return "timeout" in self.request.model_fields

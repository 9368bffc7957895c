"""A tool as one declaration, and how its results are written."""

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
    """What a tool does to the world, as a host tells its user."""

    READS = "reads the web"
    KEEPS = "reads pages of the web and keeps them here"
    LOOKS = "looks at kept pages alone"


@dataclass(frozen=True, slots=True)
class Route:
    """The REST route of a tool.

    Attributes:
        name: unique; in logs and in the OpenAPI document.
        path: of the route.
        summary: one sentence for a person.
        statuses: of other answers than 200, besides those of the guard.
        method: of HTTP.
        streams: whether progress can be had as server-sent events.
        has_whole: whether `whole=true` gives every field.
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
        name: below `searx-mcp`; with the name of its group before it, if it is in one.
        help: its first sentence is in the list of commands.
        doing: what it says at first on a terminal.
        without: arguments of the tool that a repeated option says in another way.
    """

    name: str
    help: str
    doing: str = "reading"
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A tool as clients of MCP see it.

    Attributes:
        title: for a person.
        description: for a model: use for, not for, returns, next. Other tools stand in braces, and a sentence
            is left out where one of them is not published.
        purpose: a clause for the instructions of the server.
        schema: of the arguments.
        effect: what it does to the world.
        most_tokens: that a call can ask for.
        small: the description in the profile `small`; the same unless given.
        small_arguments: those of its schema there; all unless given.
        reads_on: the tool that continues its results.
        is_twofold: whether its clients want both text and structured content, whatever is known of them.
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
    """What a result has room for, and where it stands.

    Attributes:
        budget: tokens; `None` for no limit.
        boundary: of the fences around what strangers wrote; empty where a program reads the result.
        fetch: the published name of `web_fetch`; empty where it is not published.
        finds: that of `search_corpus`, likewise.
        longest: seconds that a call may have; more are never advised.
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
    """A call as it was made.

    Attributes:
        raw: the arguments as the caller wrote them.
        request: made of them; `None` if they are wrong.
    """

    raw: Mapping[str, Any]
    request: RequestT | None = None

    def text(self, name: str) -> str:
        """An argument as the caller wrote it; empty if it is no text."""
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
    """How the results of a tool are written.

    Attributes:
        responses: the models of its results; the first is that of most calls.
        text: writes a result for a model, within the room.
        data: writes it for a program, likewise.
        failed: writes why a call failed.
        otherwise: advice where the time of a call was too short.
        tokens: of the result of a call, where a model reads it.
        is_empty: whether nothing was found.
        output: the model of the data, if that is not a response.
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
        """Tell a request the tokens of its result; give both as they fit each other."""
        if "max_tokens" in type(request).model_fields:
            request = request.model_copy(update={"max_tokens": room.budget})
        return request, room

    def both(
        self, asked: Asked[RequestT], response: ResponseT, room: Room
    ) -> tuple[str, Callable[[], Mapping[str, Any]]]:
        """Write a result in both forms, the second when it is called for."""
        del asked
        return self.text(response, room), lambda: self.data(response, room)


@dataclass(frozen=True, slots=True)
class Verb(Generic[RequestT, ResponseT]):
    """One thing that the service does, for every front.

    Attributes:
        tool: its name, and what tokens and settings allow.
        request: the model of its arguments.
        parse: makes a request of arguments as a caller wrote them.
        act: does it.
        writing: loads how its results are written; no start waits for that.
        usual: seconds of a call that names none; unless given, it takes all that there are.
        has_limits: whether a call that names no seconds has further limits, which seconds of its own would lift.
        least: seconds that a request must have.
        published: in MCP; `None` if it is not.
        route: in REST; `None` if it has none.
        command: of the command line; `None` if it has none.
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
    route: Route | None = None
    command: Command | None = None

    def seconds(self, request: RequestT) -> float | None:
        """The seconds that a call names; `None` if it names none."""
        named: float | None = getattr(request, "timeout", None)
        return named

    @property
    def is_timed(self) -> bool:
        """Whether a call can name its seconds."""
        return "timeout" in self.request.model_fields

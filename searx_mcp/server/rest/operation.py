"""A REST operation as data: its route, handler and description, and the tool that it belongs to."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from starlette.requests import Request

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.render.error_body import ErrorBody
from searx_mcp.server.backend import Backend
from searx_mcp.server.rest.encoding import is_small
from searx_mcp.server.supervision import ProgressListener
from searx_mcp.settings.tools import Tool


@dataclass(frozen=True, slots=True)
class Text:
    """A response body that is not JSON.

    Attributes:
        content: complete text.
        media_type: media type with its parameters.
        headers: response headers besides the usual ones.
    """

    content: str
    media_type: str
    headers: tuple[tuple[str, str], ...] = ()


Content: TypeAlias = Mapping[str, Any] | Sequence[Any] | Text
Body: TypeAlias = Content | Callable[[], Content]
"""A response body, or a function that builds it in a thread: many pages take tens of milliseconds."""


def body(found: object, build: Callable[[], Content]) -> Body:
    """Build a small body at once; for a large one, return the function that builds it.

    Args:
        found: value that the body is built from.
        build: builds the body.
    """
    return build() if is_small(found) else build


def body_of(answer: BaseModel) -> Body:
    """Return the JSON of an answer without its absent fields, like `body`."""
    return body(answer, lambda: answer.model_dump(mode="json", by_alias=True, exclude_none=True))


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an operation.

    Attributes:
        backend: performs the call.
        arguments: arguments as the caller sent them.
        listener: receives progress, if the caller wants it.
        is_whole: whether to return every field of the response, as the thin client needs.
        allowed: operations that the caller may use.
    """

    backend: Backend
    arguments: Mapping[str, Any]
    listener: ProgressListener | None
    is_whole: bool = False
    allowed: Sequence["Operation"] = ()

    @property
    def limit(self) -> float:
        """Seconds that the call may take."""
        return self.backend.settings.server.tool_timeout


@dataclass(frozen=True, slots=True)
class Operation:
    """A route, its handler, and what OpenAPI publishes about it.

    Attributes:
        name: unique name, in logs and in the OpenAPI document.
        method: HTTP method.
        path: path of the route.
        summary: one sentence for a person.
        request: model of the arguments, of which further spellings are accepted; `None` for none.
        responses: models of the body with status 200.
        statuses: other statuses, besides those of the guard.
        perform: handler of a call.
        tool: tool that a token and the settings must allow; `None` for everybody.
        streams: whether a client may get progress as server-sent events.
        has_whole: whether `whole=true` returns every field.
        takes_form: whether a POST has a form, whose arguments may also be in the query.
        error: model of the body of an error.
        error_response: returns the status and body of an error, if they differ from those of our own routes.
        read_arguments: returns the arguments of a request that has them elsewhere than in a JSON object, a form or a query.
        media_types: media types with status 200.
    """

    name: str
    method: Literal["GET", "POST"]
    path: str
    summary: str
    request: type[Frozen] | None
    responses: tuple[type[BaseModel], ...]
    statuses: tuple[int, ...]
    perform: Callable[[Call], Awaitable[Body]]
    tool: Tool | None = None
    streams: bool = False
    has_whole: bool = False
    takes_form: bool = False
    error: type[BaseModel] = ErrorBody
    error_response: Callable[[SearxMcpError], tuple[int, Mapping[str, Any]]] | None = None
    read_arguments: Callable[[Request], Mapping[str, Any]] | None = None
    media_types: tuple[str, ...] = ("application/json",)

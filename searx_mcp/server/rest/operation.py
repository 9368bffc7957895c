"""One REST operation as data: its handler, its description, and the tool that it belongs to."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from starlette.requests import Request

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.render.error_body import ErrorBody
from searx_mcp.server.app import Backend
from searx_mcp.server.rest.written import is_small
from searx_mcp.server.supervision import ProgressListener
from searx_mcp.settings.tools import Tool


@dataclass(frozen=True, slots=True)
class Text:
    """The body of an answer that is no JSON.

    Attributes:
        content: whole.
        media_type: with its parameters.
        headers: of the answer, besides the usual ones.
    """

    content: str
    media_type: str
    headers: tuple[tuple[str, str], ...] = ()


Made: TypeAlias = Mapping[str, Any] | Sequence[Any] | Text
Body: TypeAlias = Made | Callable[[], Made]
"""The body of an answer, or what makes it outside the event loop: many pages take tens of milliseconds."""


def body(found: object, make: Callable[[], Made]) -> Body:
    """Make the body of an answer if it is small, else give back what makes it.

    Args:
        found: what the body is made of.
        make: makes it.
    """
    return make() if is_small(found) else make


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an operation.

    Attributes:
        backend: performs it.
        arguments: of the body or the query, as the caller wrote them.
        listener: is told how it goes; `None` for nobody.
        is_whole: whether the caller wants the response with every field, as a thin client does.
        allowed: the operations that the caller may use.
    """

    backend: Backend
    arguments: Mapping[str, Any]
    listener: ProgressListener | None
    is_whole: bool = False
    allowed: Sequence["Operation"] = ()

    @property
    def limit(self) -> float:
        """Seconds that it may take."""
        return self.backend.settings.server.tool_timeout


@dataclass(frozen=True, slots=True)
class Operation:
    """A route, and what is published of it.

    Attributes:
        name: unique; in logs and in the OpenAPI document.
        method: of HTTP.
        path: of the route.
        summary: one sentence for a person.
        request: the model of the arguments; `None` for none. More spellings of them are understood.
        responses: the models of the body of an answer with status 200.
        statuses: of other answers, besides those of the guard.
        perform: does it.
        tool: whose use it is, for what tokens and settings allow; `None` for everybody.
        streams: whether progress can be had as server-sent events.
        has_whole: whether `whole=true` gives every field.
        takes_form: whether the body of a POST is a form, and the query has arguments, too.
        error: the model of the body where it fails.
        told: the status and the body of an error, where they are not those of all operations.
        reads: takes the arguments out of a request, where they are neither a JSON object, a form nor a query.
        media_types: of answers with status 200.
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
    told: Callable[[SearxMcpError], tuple[int, Mapping[str, Any]]] | None = None
    reads: Callable[[Request], Mapping[str, Any]] | None = None
    media_types: tuple[str, ...] = ("application/json",)

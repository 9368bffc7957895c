"""What a server says of itself: its pool, what a client may use of it, and whether it is ready."""

from searx_mcp import __version__
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.service import Progress
from searx_mcp.models.spelling import shown
from searx_mcp.models.wire import dumped
from searx_mcp.server.rest.operation import Body, Call
from searx_mcp.server.supervision import supervise


class RouteReport(Frozen):
    """A route that a client may use.

    Attributes:
        method: of HTTP.
        path: of the route.
        streams: whether progress can be had as server-sent events.
    """

    method: str
    path: str
    streams: bool = False


class Capabilities(Frozen):
    """What a client may use of a server, with the token that it has sent.

    Attributes:
        name: of the program.
        version: of the program.
        max_seconds: that a call may take, whatever it names.
        max_body_bytes: of a request.
        routes: in the order of the documentation.
    """

    name: str = "searx-mcp"
    version: str = __version__
    max_seconds: float
    max_body_bytes: int
    routes: tuple[RouteReport, ...]


async def instances(call: Call) -> Body:
    """Report the pool; makes no request."""
    _refuse_arguments(call)

    async def work(_: Progress) -> PoolReport:
        return await call.backend.instances()

    report = await supervise(call.listener, call.limit, work, otherwise="")
    return lambda: dumped(report)


async def capabilities(call: Call) -> Body:
    """Tell what the caller may use."""
    _refuse_arguments(call)
    settings = call.backend.settings
    told = Capabilities(
        max_seconds=call.limit,
        max_body_bytes=settings.http.max_body_size,
        routes=tuple(
            RouteReport(method=each.method, path=each.path, streams=each.streams)
            for each in call.allowed
        ),
    )
    return lambda: told.model_dump(mode="json")


def _refuse_arguments(call: Call) -> None:
    for name in call.arguments:
        raise InvalidArgumentError(shown(name)[1:-1], "is unknown; this route takes no arguments")

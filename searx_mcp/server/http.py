"""The MCP server over HTTP: the ASGI app with the routes of all its fronts, and uvicorn to serve it."""

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from typing_extensions import override

from searx_mcp.errors import ErrorCode, SettingsError
from searx_mcp.models.instance import PoolReport
from searx_mcp.server.app import Server
from searx_mcp.server.backend import Backend
from searx_mcp.server.compat import external, firecrawl, jina, searxng, tavily
from searx_mcp.server.dashboard.routes import dashboard_routes
from searx_mcp.server.metrics import Metrics, Readiness
from searx_mcp.server.rest import openapi, operation, tools
from searx_mcp.server.rest.endpoint import Endpoint
from searx_mcp.server.rest.operation import Operation
from searx_mcp.server.web.access import Access
from searx_mcp.server.web.connections import LIMITS, BoundedConnection, ServerLimits, ServingConfig
from searx_mcp.server.web.guard import Guard
from searx_mcp.server.web.policy import (
    DASHBOARD_PATH,
    HEALTH_PATH,
    MCP_PATH,
    METRICS_PATH,
    READY_PATH,
    Policy,
)
from searx_mcp.server.web.sessions import McpSessions
from searx_mcp.server.web.shares import Clients
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.table import VERBS
from searx_mcp.verbs.verb import RestRoute, Verb

__all__ = ["OPERATIONS", "ServerLimits", "http_app", "serve_http", "stop_seconds"]

_BACKLOG: Final = 4_096
"""Connections that may wait to be accepted, if the kernel allows; further ones retry after a second."""
_GRACE: Final = 0.5
"""Seconds to respond to calls that were ended, and again for clients to read the responses."""


def http_app(server: MCPServer[Any], config: HttpConfig, limits: ServerLimits = LIMITS) -> Guard:
    """Return the ASGI app: MCP under `/mcp`, REST under `/v1`, the dashboard at `/`, and three paths for monitoring.

    `/healthz` reports that the process responds, `/readyz` that there is an instance to query, and `/metrics` what
    the server does. An app serves one lifespan; build a new one for the next.

    Args:
        server: server from `searx_mcp.server.app.build_server`.
        config: settings of hosts, origins and tokens.
        limits: limits on sessions, bodies and requests in flight.

    Raises:
        SettingsError: the tokens file is unusable.
    """
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=config.max_body_size,
        session_idle_timeout=limits.session_idle,
        max_sessions=None,  # the SDK would refuse new ones; Sessions ends old ones
        # The guard checks hosts and origins for every route.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.redirect_slashes = False
    app.router.routes.append(Route(HEALTH_PATH, _health, methods=["GET"]))
    access = Access(config, server.backend.settings if isinstance(server, Server) else None)
    if isinstance(server, Server):
        app.router.routes.append(
            Route(READY_PATH, Readiness(server.backend).respond, methods=["GET"])
        )
        app.router.routes.append(
            Route(METRICS_PATH, Metrics(server.backend).respond, methods=["GET"])
        )
        app.router.routes.extend(rest_routes(server.backend))
        app.router.routes.extend(dashboard_routes(server.backend, access))
    app.add_exception_handler(HTTPStatus.NOT_FOUND, _not_found)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _wrong_method)
    clients = Clients(config.proxies)
    sessions = McpSessions(app, server.session_manager, limits.sessions, clients)
    return Guard(
        sessions,
        Policy.of(config),
        access,
        limits.body,
        clients=clients,
        max_requests=limits.connections,
    )


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _not_found(_: Request, __: Exception) -> Response:
    error = {
        "code": ErrorCode.NOT_FOUND.value,
        "message": (
            f"Nothing here: the dashboard is at {DASHBOARD_PATH}, MCP at {MCP_PATH}, REST under /v1"
            f" and the health check at {HEALTH_PATH}."
        ),
    }
    return JSONResponse({"error": error}, HTTPStatus.NOT_FOUND)


async def _wrong_method(request: Request, _: Exception) -> Response:
    # Starlette names only the methods of the first route with this path.
    methods: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    allowed = ", ".join(sorted(methods))
    error = {
        "code": ErrorCode.INVALID_ARGUMENT.value,
        "message": f"Method not allowed here; use {allowed}.",
    }
    return JSONResponse({"error": error}, HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": allowed})


class _Server(uvicorn.Server):
    """Serves without signal handlers, reports when it listens, and ends open streams at a stop.

    Args:
        guard: app to serve.
        config: settings of tokens, proxies and the stop.
        limits: limits on connections, and the time of a stop.
        on_listening: called once clients can connect.
    """

    def __init__(
        self,
        guard: Guard,
        config: HttpConfig,
        limits: ServerLimits,
        on_listening: Callable[[], None],
    ) -> None:
        clients, stop = Clients(config.proxies), limits.stop + 2 * _GRACE
        self._serving = ServingConfig(guard, limits, stop, clients, wants_token=config.wants_token)
        super().__init__(self._serving)
        self._guard = guard
        self._drain, self._stop_seconds = config.drain, limits.stop
        self._on_listening = on_listening

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio uses its backlog for the queue and for the accepts per turn; here they differ.
            listener.listen(_BACKLOG)
        self._on_listening()

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        self._guard.stop()
        self._serving.is_stopping = True
        if self._drain:
            await asyncio.sleep(self._drain)
        timers = (
            loop.call_later(self._stop_seconds, self._guard.end_all),
            loop.call_later(self._stop_seconds + _GRACE, self._abort),
        )
        try:
            await self._accept_waiting(sockets or [])
            await super().shutdown(sockets)
        finally:
            for timer in timers:
                timer.cancel()

    async def _accept_waiting(self, listeners: list[socket.socket]) -> None:
        """Stop listening, but serve the connections in the backlog, which the kernel would reset."""
        waiting = [connection for listener in listeners for connection in _accept_all(listener)]
        for server in self.servers:
            server.close()
        loop, config, state = asyncio.get_running_loop(), self._serving, self.lifespan.state
        for connection in waiting:
            with contextlib.suppress(OSError):  # the client has gone
                await loop.connect_accepted_socket(
                    lambda: BoundedConnection(config, self.server_state, state), connection
                )

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _accept_all(listener: socket.socket) -> Iterator[socket.socket]:
    """Yield the connections in the backlog of a listener."""
    with contextlib.suppress(OSError):  # no more
        while True:
            connection, _ = listener.accept()
            connection.setblocking(False)  # noqa: FBT003 - the signature of socket
            yield connection


def stop_seconds(config: HttpConfig) -> float:
    """Return the seconds that `serve_http` takes at most to stop serving, without closing the backend."""
    return config.drain + LIMITS.stop + 2 * _GRACE


async def serve_http(
    server: MCPServer[Any],
    config: HttpConfig,
    *,
    allow_unauthenticated: bool = False,
    listening: Callable[[str], None] | None = None,
    limits: ServerLimits = LIMITS,
) -> None:
    """Serve until cancelled, then for `http.drain` more seconds; running calls get `limits.stop` seconds to end.

    Args:
        server: server from `searx_mcp.server.app.build_server`.
        config: settings of the address, hosts, origins and tokens.
        allow_unauthenticated: whether other machines may connect without a token.
        listening: called with the URL of the endpoint once clients can connect.
        limits: limits on what clients may use.

    Raises:
        SettingsError: the address is unusable or needs a token, or the tokens file is unusable.
    """
    app = http_app(server, config, limits)
    listener = await _bind(config, allow_unauthenticated=allow_unauthenticated)
    url = _url(listener)

    def on_listening() -> None:
        if isinstance(server, Server):
            server.backend.begin()
        if listening is not None:
            listening(url)

    serving = _Server(app, config, limits, on_listening)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(serving.serve([listener]))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            serving.should_exit = True
            await asyncio.shield(task)
            raise


async def _bind(config: HttpConfig, *, allow_unauthenticated: bool) -> socket.socket:
    """Open a listening socket at the address of the settings.

    Raises:
        SettingsError: the address is unusable or needs a token.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(
            config.host, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as exc:
        raise SettingsError(
            "http.host",
            f"{config.host!r} is neither an address nor a name of this machine",
            advice="Use 127.0.0.1 for this machine alone.",
        ) from exc
    family, _, _, _, address = min(found, key=lambda row: row[0] != socket.AF_INET)
    is_local = ipaddress.ip_address(address[0]).is_loopback
    if not (is_local or config.wants_token or allow_unauthenticated):
        raise SettingsError(
            "http.token",
            f"other machines can reach {config.host}, but there is no token",
            advice="Set MCP_AUTH_TOKEN to 16 characters or more, or listen on 127.0.0.1.",
        )
    try:
        listener = socket.create_server(
            address[:2],
            family=family,
            backlog=_BACKLOG,
            dualstack_ipv6=address[0] == "::" and socket.has_dualstack_ipv6(),
        )
    except OSError as exc:
        raise _address_error(config, exc) from exc
    # asyncio sets TCP_NODELAY only on a socket that names its protocol. Without it, each response waits 40 ms for the
    # client to acknowledge the head.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, listener.detach())


def _address_error(config: HttpConfig, exc: OSError) -> SettingsError:
    match exc.errno:
        case errno.EADDRINUSE:
            return SettingsError(
                "http.port",
                f"another program listens on port {config.port} of {config.host}",
                advice="Stop it, or choose another port with --port; 0 picks a free one.",
            )
        case errno.EACCES:
            return SettingsError(
                "http.port",
                f"port {config.port} requires privileges that this process does not have",
                advice="Choose one above 1023, with a proxy in front if clients need another.",
            )
        case _:
            return SettingsError(
                "http.host",
                f"{config.host} is not an address of this machine",
                advice="Use 127.0.0.1 for this machine alone, or 0.0.0.0 for all its addresses.",
            )


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{MCP_PATH}"


_SEARCH_STATUSES: Final = (422, 500, 503, 504)
_FETCH_STATUSES: Final = (422, 424, 500, 504)
_LOCAL_STATUSES: Final = (422, 500, 504)


def _operation(verb: Verb[Any, Any], route: RestRoute) -> Operation:
    """Return the operation that performs a verb."""
    return Operation(
        name=route.name,
        method=route.method,
        path=route.path,
        summary=route.summary,
        request=verb.request,
        responses=verb.writing().responses,
        statuses=route.statuses,
        perform=partial(operation.perform, verb),
        tool=verb.tool,
        streams=route.streams,
        has_whole=route.has_whole,
    )


OPERATIONS: Final = (
    Operation(
        name="tools_web_search",
        method="POST",
        path="/v1/tools/web_search",
        summary="Search the web.",
        request=tools.WebSearchBody,
        responses=(tools.WebSearchAnswer,),
        statuses=_SEARCH_STATUSES,
        perform=tools.web_search,
        tool=Tool.WEB_SEARCH,
    ),
    Operation(
        name="tools_web_fetch",
        method="POST",
        path="/v1/tools/web_fetch",
        summary="Read a page as Markdown, or continue one.",
        request=tools.WebFetchBody,
        responses=(tools.WebFetchAnswer,),
        statuses=_FETCH_STATUSES,
        perform=tools.web_fetch,
        tool=Tool.WEB_FETCH,
    ),
    *(_operation(verb, verb.route) for verb in VERBS if verb.route is not None),
    Operation(
        name="instances",
        method="GET",
        path="/v1/instances",
        summary="Report the instances and open sources; sends no request.",
        request=None,
        responses=(PoolReport,),
        statuses=_LOCAL_STATUSES,
        perform=operation.instances,
    ),
    Operation(
        name="capabilities",
        method="GET",
        path="/v1/capabilities",
        summary="Report the version and the routes that the caller may use.",
        request=None,
        responses=(operation.Capabilities,),
        statuses=_LOCAL_STATUSES,
        perform=operation.capabilities,
    ),
    Operation(
        name="openapi",
        method="GET",
        path="/openapi.json",
        summary="Describe the routes that the caller may use, as OpenAPI 3.1.",
        request=None,
        responses=(openapi.OpenApi,),
        statuses=(422, 500),
        perform=openapi.openapi,
    ),
    *searxng.OPERATIONS,
    *tavily.OPERATIONS,
    *firecrawl.OPERATIONS,
    *external.OPERATIONS,
    *jina.OPERATIONS,
)


def rest_routes(backend: Backend) -> list[Route]:
    """Return the routes of a server; `server.tools`, if set, limits them to those of its tools.

    Args:
        backend: performs the calls.
    """
    tools_allowed = backend.settings.server.tools or tuple(Tool)
    offered = [each for each in OPERATIONS if each.tool is None or each.tool in tools_allowed]
    return [
        Route(
            each.path.replace("}", ":path}"),  # an address contains slashes
            Endpoint(each, backend, offered),
            methods=[each.method],
            name=each.name,
        )
        for each in offered
    ]

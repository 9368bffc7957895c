"""The MCP server over Streamable HTTP: the ASGI app, whether it can serve calls now, and uvicorn that serves it."""

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Final

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from typing_extensions import override

from searx_mcp.errors import ErrorCode, SettingsError
from searx_mcp.server.app import Backend, Server
from searx_mcp.server.dashboard.routes import dashboard_routes
from searx_mcp.server.events import note_unopened
from searx_mcp.server.metrics import Metrics
from searx_mcp.server.routes import rest_routes
from searx_mcp.server.web.access import Access
from searx_mcp.server.web.connections import LIMITS, BoundedConnection, Limits, ServingConfig
from searx_mcp.server.web.guard import Guard
from searx_mcp.server.web.policy import (
    DASHBOARD_PATH,
    HEALTH_PATH,
    MCP_PATH,
    METRICS_PATH,
    READY_PATH,
    Policy,
)
from searx_mcp.server.web.sessions import Sessions
from searx_mcp.server.web.shares import Clients
from searx_mcp.settings.server import HttpConfig

_BACKLOG: Final = 4_096
"""Connections that wait to be accepted, as far as the kernel allows; of more, each loses a second."""
_LAST_WORDS: Final = 0.5
"""Seconds to answer calls that were cut off, and again for clients that do not read it."""


def http_app(server: MCPServer[Any], config: HttpConfig, limits: Limits = LIMITS) -> Guard:
    """The ASGI app: MCP under `/mcp`, REST under `/v1`, a dashboard at `/`, and three paths for monitors.

    `/healthz` reports that the process responds, `/readyz` that there is an instance to ask, `/metrics`
    what the server does. The app serves one lifespan; make a new one for another.

    Args:
        server: of `searx_mcp.server.app.build_server`.
        config: who may reach it.
        limits: of its sessions and bodies.

    Raises:
        SettingsError: the token file cannot be used.
    """
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=config.max_body_size,
        session_idle_timeout=limits.session_idle,
        max_sessions=None,  # the library would refuse new ones
        # The guard checks hosts and origins for every route.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.redirect_slashes = False
    app.router.routes.append(Route(HEALTH_PATH, _health, methods=["GET"]))
    access = Access(config, server.backend.settings if isinstance(server, Server) else None)
    if isinstance(server, Server):
        app.router.routes.append(
            Route(READY_PATH, Readiness(server.backend).answer, methods=["GET"])
        )
        app.router.routes.append(
            Route(METRICS_PATH, Metrics(server.backend).answer, methods=["GET"])
        )
        app.router.routes.extend(rest_routes(server.backend))
        app.router.routes.extend(dashboard_routes(server.backend, access))
    app.add_exception_handler(HTTPStatus.NOT_FOUND, _not_found)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _wrong_method)
    clients = Clients(config.proxies)
    sessions = Sessions(app, server.session_manager, limits.sessions, clients)
    return Guard(
        sessions, Policy.of(config), access, limits.body, clients=clients, most=limits.connections
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
    # The library names only the methods of the first route with this path.
    methods: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.path == request.url.path:
            methods |= route.methods or set()
    allowed = ", ".join(sorted(methods))
    error = {
        "code": ErrorCode.INVALID_ARGUMENT.value,
        "message": f"Method not allowed here; use {allowed}.",
    }
    return JSONResponse({"error": error}, HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": allowed})


class _Server(uvicorn.Server):
    """Serves without touching the signals of the process, reports when it does, and ends its streams."""

    def __init__(
        self, guard: Guard, config: HttpConfig, limits: Limits, listening: Callable[[], None]
    ) -> None:
        clients, stop = Clients(config.proxies), limits.stop + 2 * _LAST_WORDS
        self._serving = ServingConfig(guard, limits, stop, clients, wants_token=config.wants_token)
        super().__init__(self._serving)
        self._guard = guard
        self._drain, self._seconds = config.drain, limits.stop
        self._listening = listening

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_BACKLOG)  # asyncio lets as many wait as it accepts at a time
        self._listening()

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        self._guard.stop()
        self._serving.is_stopping = True
        if self._drain:
            await asyncio.sleep(self._drain)
        timers = (
            loop.call_later(self._seconds, self._guard.cut),
            loop.call_later(self._seconds + _LAST_WORDS, self._drop),
        )
        try:
            await self._take_waiting(sockets or [])
            await super().shutdown(sockets)
        finally:
            for timer in timers:
                timer.cancel()

    async def _take_waiting(self, listeners: list[socket.socket]) -> None:
        """Stop listening, and serve the connections in the backlog, which the system would reset."""
        waiting = [each for listener in listeners for each in _connected(listener)]
        for server in self.servers:
            server.close()
        loop, config, state = asyncio.get_running_loop(), self._serving, self.lifespan.state
        for connection in waiting:
            with contextlib.suppress(OSError):  # it is gone
                await loop.connect_accepted_socket(
                    lambda: BoundedConnection(config, self.server_state, state), connection
                )

    def _drop(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _connected(listener: socket.socket) -> Iterator[socket.socket]:
    """The connections in the backlog of a listener."""
    with contextlib.suppress(OSError):  # there are no more
        while True:
            connection, _ = listener.accept()
            connection.setblocking(False)  # noqa: FBT003 - as the socket has it
            yield connection


def stop_seconds(config: HttpConfig, limits: Limits = LIMITS) -> float:
    """Seconds in which `serve_http` ends once cancelled, without what its server closes then."""
    return config.drain + limits.stop + 2 * _LAST_WORDS


async def serve_http(
    server: MCPServer[Any],
    config: HttpConfig,
    *,
    allow_unauthenticated: bool = False,
    listening: Callable[[str], None] | None = None,
    limits: Limits = LIMITS,
) -> None:
    """Serve until cancelled, and for `http.drain` more; then running calls have `Limits.stop` seconds to end.

    Args:
        server: of `searx_mcp.server.app.build_server`.
        config: where to listen, and who may reach it.
        allow_unauthenticated: whether others than this machine may reach it without a token.
        listening: is told the URL of the endpoint once clients can connect.
        limits: what clients may take.

    Raises:
        SettingsError: it cannot listen there, may not without a token, or cannot read the token file.
    """
    app = http_app(server, config, limits)
    listener = await _bound(config, allow_unauthenticated=allow_unauthenticated)
    url = _url(listener)

    def is_listening() -> None:
        if isinstance(server, Server):
            server.backend.begin()
        if listening is not None:
            listening(url)

    serving = _Server(app, config, limits, is_listening)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(serving.serve([listener]))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            serving.should_exit = True
            await asyncio.shield(task)
            raise


async def _bound(config: HttpConfig, *, allow_unauthenticated: bool) -> socket.socket:
    """Open the socket that the settings name.

    Raises:
        SettingsError: the address cannot be used, or not without a token.
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
        raise _unusable(config, exc) from exc
    # asyncio lets a connection send without delay if its socket names the protocol; else each answer waits
    # 40 ms for its head to be acknowledged.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, listener.detach())


def _unusable(config: HttpConfig, exc: OSError) -> SettingsError:
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


_KEPT: Final = 5.0
"""Seconds for which an answer is reused: the path needs no token, and each check reads a database."""
_LIMIT: Final = 4.0
"""Seconds for a check, besides the timeout of Redis; probes wait for ten or so at most."""


class Readiness:
    """Answers `/readyz`: 200 if there is an instance to ask, 503 if not. It sends no request.

    A shared server that is away changes nothing, since each process goes on by itself; otherwise all would be taken
    out of service at once.

    Args:
        backend: knows the pool.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._turn = asyncio.Lock()
        self._looked_at: float | None = None
        self._code = ""

    async def answer(self, _: Request) -> Response:
        """Answer one request."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            if self._looked_at is None or now - self._looked_at >= _KEPT:
                self._code = await self._missing()
                self._looked_at = now
        if self._code:
            # The details go to the log: this path needs no token.
            return JSONResponse({"status": "not ready", "code": self._code}, 503)
        return JSONResponse({"status": "ready"})

    async def _missing(self) -> str:
        try:
            async with asyncio.timeout(_LIMIT + self._backend.settings.redis.timeout):
                report = await self._backend.instances()
        except Exception as exc:  # noqa: BLE001 - whatever it is, the pool cannot be read
            note_unopened(exc)
            return ErrorCode.INTERNAL
        return "" if report.instances else ErrorCode.NO_INSTANCES_AVAILABLE

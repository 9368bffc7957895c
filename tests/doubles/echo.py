"""A server that answers whatever passes its checks with the body of the request."""

import asyncio
from typing import Any

from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typing_extensions import override

_METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD"]


class EchoServer(MCPServer[None]):
    """Echoes in place of MCP, below every path; it has no other routes than those of `http_app`.

    Args:
        held: if given, no request is answered before.
    """

    def __init__(self, held: asyncio.Event | None = None) -> None:
        super().__init__("echo")
        self._held = held

    @override
    def streamable_http_app(self, **options: Any) -> Starlette:
        app = super().streamable_http_app(**options)
        app.router.routes.insert(0, Route("/{path:path}", self._echo, methods=_METHODS))
        return app

    async def _echo(self, request: Request) -> Response:
        if self._held is not None:
            await self._held.wait()
        return Response(await request.body())

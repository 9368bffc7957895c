"""Room for new sessions of the handshake protocol.

Few clients end their sessions, and some open one for each call. Without room, new clients would be refused until
old sessions have ended by their time.
"""

import math

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from searx_mcp.server.web.policy import MCP_PATH

_NAME = MCP_SESSION_ID_HEADER.encode()


class Sessions:
    """Ends the session that has been idle for longest when there is no room for another.

    Args:
        app: serves MCP.
        manager: of its sessions.
    """

    def __init__(self, app: ASGIApp, manager: StreamableHTTPSessionManager) -> None:
        self._app = app
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_mcp = scope["type"] == "http" and scope["path"] == MCP_PATH
        if is_mcp and all(name != _NAME for name, _ in scope["headers"]):
            self._make_room()
        await self._app(scope, receive, send)

    def _make_room(self) -> None:
        held = self._manager._server_instances  # noqa: SLF001 - the library only refuses the new one
        if len(held) < (self._manager.max_sessions or math.inf):
            return
        # Of a session with a request or a stream, the time of its end is infinite.
        ends = {
            name: scope.deadline
            for name, transport in held.items()
            if (scope := transport.idle_scope) is not None and scope.deadline < math.inf
        }
        if ends:
            oldest = held.pop(min(ends, key=ends.__getitem__))
            if oldest.idle_scope is not None:
                oldest.idle_scope.cancel()

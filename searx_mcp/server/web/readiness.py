"""Whether a server can do its work now, for whoever sends it requests: a balancer, an orchestrator."""

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from searx_mcp.errors import ErrorCode
from searx_mcp.server.app import Backend
from searx_mcp.server.events import note_unopened

_KEPT: Final = 5.0
"""Seconds for which an answer stands: everybody may ask, and looking takes a database."""
_LIMIT: Final = 4.0
"""Seconds to look, besides those that a server has which is shared; a probe waits for some ten at most."""


class Readiness:
    """Answers `/readyz`: 200 if there is anything to ask, 503 if not. It makes no request.

    A server that is shared and away changes nothing, since each process goes on by itself: else all would be taken out of
    service at once.

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
            # What exactly is wrong is for the log: this path has no token.
            return JSONResponse({"status": "not ready", "code": self._code}, 503)
        return JSONResponse({"status": "ready"})

    async def _missing(self) -> str:
        try:
            async with asyncio.timeout(_LIMIT + self._backend.settings.redis.timeout):
                report = await self._backend.instances()
        except Exception as exc:  # noqa: BLE001 - whatever it is, it cannot be opened
            note_unopened(exc)
            return ErrorCode.INTERNAL
        return "" if report.instances else ErrorCode.NO_INSTANCES_AVAILABLE

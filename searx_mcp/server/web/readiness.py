"""Whether a server can serve calls now, for balancers and orchestrators."""

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from searx_mcp.errors import ErrorCode
from searx_mcp.server.app import Backend
from searx_mcp.server.events import note_unopened

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

"""Server-sent events: the progress of a call, then its result or its error (HTML standard, 9.2)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.types import Send

from searx_mcp.server.rest.written import encoded

EVENTS: Final = "text/event-stream"

_PAUSE: Final = 15.0
"""Seconds between comments that keep proxies from closing a quiet stream; many wait 60, some 30."""
_HEADERS: Final = (
    (b"content-type", EVENTS.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
)


class EventStream:
    """An answer of events, each with JSON in one line; it begins with the first event.

    Attributes:
        is_begun: whether the response has begun.
        size: bytes sent.

    Args:
        send: takes the answer.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._turn = asyncio.Lock()
        self.is_begun = False
        self.size = 0

    @asynccontextmanager
    async def kept_alive(self) -> AsyncIterator[None]:
        """Keep the stream from going quiet while the block runs."""
        async with asyncio.TaskGroup() as group:
            comments = group.create_task(self._comment())
            try:
                yield
            finally:
                comments.cancel()

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send a progress event."""
        del total  # unknown
        await self._write(event("progress", encoded({"progress": progress, "message": message})))

    async def end(self, last: bytes) -> None:
        """Send the last event.

        Args:
            last: as of `event`.
        """
        await self._write(last, is_last=True)

    async def _comment(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            await self._write(b":\n\n")

    async def _write(self, body: bytes, *, is_last: bool = False) -> None:
        async with self._turn:
            if not self.is_begun:
                await self._send(
                    {"type": "http.response.start", "status": 200, "headers": [*_HEADERS]}
                )
                self.is_begun = True
            self.size += len(body)
            await self._send({"type": "http.response.body", "body": body, "more_body": not is_last})


def event(name: str, data: bytes) -> bytes:
    """Write an event.

    Args:
        name: `progress`, `result` or `error`.
        data: JSON, in which line breaks are escaped.
    """
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)

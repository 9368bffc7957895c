"""Servers that know how many requests wait for their answer."""

import asyncio
from typing import Any, Final

from typing_extensions import override

from searx_mcp.testing.loopback import LoopbackServer

_PATIENCE: Final = 60
"""Seconds until what would wait for ever fails."""


class Watched(LoopbackServer):
    """Knows how many requests wait for an answer; one whose client leaves does not any more.

    Attributes:
        waiting: their number now.
    """

    waiting = 0

    @override
    async def handle(self, request: Any) -> Any:
        self.waiting += 1
        try:
            return await super().handle(request)
        finally:
            self.waiting -= 1
            async with self._arrival:
                self._arrival.notify_all()

    async def until_waiting(self, number: int) -> None:
        """Wait until so many wait for an answer."""
        async with asyncio.timeout(_PATIENCE), self._arrival:
            await self._arrival.wait_for(lambda: self.waiting == number)

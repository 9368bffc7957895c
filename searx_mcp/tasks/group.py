"""Work that outlives a caller."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Self

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""Starts a coroutine as a task of the client, with which it ends."""


class Tasks:
    """The one task group for work that outlives a caller; leaving it cancels what is left."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for task in self._running:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start `work` as a task of the group."""
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

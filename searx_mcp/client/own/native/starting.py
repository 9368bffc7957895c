"""Starting what is installed, and waiting until it answers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from searx_mcp.client.own.errors import NativeError
from searx_mcp.client.own.native.folder import NativeFolder, written
from searx_mcp.client.own.native.launcher import PORT_TAKEN
from searx_mcp.client.own.native.process import Child, NativeProcess, Plan
from searx_mcp.models.own_instance import Installed, NativeFailure

_POLL: Final = 0.05
"""Seconds between two looks at an instance that is starting."""
LOG_LINES: Final = 20
"""Lines of the log that an error carries."""


class Starting:
    """Starts versions of an instance.

    Args:
        folder: where they are.
        is_alive: whether the instance at a base URL answers, soon.
        environ: the variables of this process.
        idle: seconds without a search after which an instance ends; 0 for never.
    """

    def __init__(
        self,
        folder: NativeFolder,
        *,
        is_alive: Callable[[str], Awaitable[bool]],
        environ: Mapping[str, str],
        idle: float,
    ) -> None:
        self._folder = folder
        self._is_alive = is_alive
        self._environ = environ
        self._idle = idle

    def start(self, process: NativeProcess, installed: Installed, *, port: int) -> Child:
        """Start a version as `process`; it ends at once where that one runs.

        Raises:
            NativeError: `not_writable` or `disk_full`.
        """
        plan = Plan(
            source=self._folder.source(installed.folder),
            environment=self._folder.environment(installed.folder),
            settings=self._folder.settings,
            port=port,
            idle=self._idle,
        )
        with written(self._folder.path):
            return process.start(plan, self._environ)

    async def serve(
        self, process: NativeProcess, installed: Installed, *, port: int, deadline: float
    ) -> str:
        """Start a version, and give its base URL once it answers.

        Whoever started it, it is the instance: of two that are started at once, one runs.

        Args:
            process: which process it becomes.
            installed: the version.
            port: of 127.0.0.1; 0 for any.
            deadline: instant on the running loop's clock by which it must answer.

        Raises:
            NativeError: `port_taken`, `exited`, `not_ready`, `not_writable` or `disk_full`.
        """
        loop = asyncio.get_running_loop()
        child = self.start(process, installed, port=port)  # 5 ms, and never in a thread left behind
        while True:
            running, code = process.find(), child.code
            if running is not None and running.port:
                url = installed.model_copy(update={"port": running.port}).url
                if await self._is_alive(url):
                    return url
            elif code == PORT_TAKEN:
                raise port_taken(port)
            elif code is not None and not process.is_held:
                raise self._not_up(process, NativeFailure.EXITED)
            if loop.time() >= deadline:
                raise self._not_up(process, NativeFailure.NOT_READY)
            await asyncio.sleep(_POLL)

    def _not_up(self, process: NativeProcess, reason: NativeFailure) -> NativeError:
        exited = reason is NativeFailure.EXITED
        return NativeError(
            "SearXNG ended by itself."
            if exited
            else "SearXNG was started, and does not answer in time.",
            reason=reason,
            advice=(
                f"Correct {self._folder.settings} or delete it, then try again."
                if exited
                else "Give it more seconds with --timeout."
            ),
            log=process.log_tail(LOG_LINES),
        )


def port_taken(port: int) -> NativeError:
    """The error for a port that another program has."""
    return NativeError(
        f"Port {port} is taken by another program.",
        reason=NativeFailure.PORT_TAKEN,
        advice="Choose another one: `searx-mcp instances own up --port N`.",
    )

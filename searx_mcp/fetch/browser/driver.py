"""The driver: a program of the library's, between this process and Chromium."""

import asyncio
import contextlib
import logging
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, Final, Self

from playwright.async_api import Error, Playwright, async_playwright

from searx_mcp.errors import SettingsError

START_TIMEOUT: Final = 20.0
"""Seconds to start: on a busy machine ten times what it needs."""

GRACE: Final = 2.0
"""Seconds to end when it is asked to."""

_TRANSPORTS: Final = ("playwright._impl.transport", "playwright._impl._transport")  # as of 1.50
_OF_MANAGER: Final = ("_client._transport", "_connection._transport")  # likewise

_log = logging.getLogger("searx_mcp.fetch")


class Driver:
    """A driver that was started.

    Attributes:
        playwright: what it is told through.
    """

    def __init__(self, playwright: Playwright, process: asyncio.subprocess.Process | None) -> None:
        self.playwright = playwright
        self._process = process

    @classmethod
    async def start(cls) -> Self:
        """Start it.

        Raises:
            SettingsError: it does not start.
        """
        # Neither the timeout nor a cancellation may cut this short: it would be left running.
        starting = asyncio.ensure_future(cls._started())
        try:
            async with asyncio.timeout(START_TIMEOUT):
                return await asyncio.shield(starting)
        except BaseException as exc:
            await asyncio.wait({starting}, timeout=GRACE)
            if not starting.done():
                starting.cancel()
            elif not starting.cancelled() and starting.exception() is None:
                await starting.result().stop()
            if isinstance(exc, (Error, TimeoutError)):
                _log.debug("fetch.browser_driver_failed", exc_info=exc)
                raise SettingsError(
                    "fetch.browser",
                    "the driver of the browser does not start",
                    advice=(
                        "Install the extra anew: pip install --force-reinstall 'searx-mcp[browser]'."
                    ),
                ) from exc
            raise

    async def stop(self) -> None:
        """End it, and with it its browsers; what does not end when asked to is killed."""
        # One that is gone fails in any way.
        with contextlib.suppress(Exception):
            async with asyncio.timeout(GRACE):
                await self.playwright.stop()
                return
        with contextlib.suppress(Exception):
            if self._process is not None:
                self._process.kill()
                async with asyncio.timeout(GRACE):
                    await self._process.wait()

    @classmethod
    async def _started(cls) -> Self:
        manager = async_playwright()
        with _silent():
            playwright = await manager.start()
        transport = _transport(manager)
        if transport is not None:
            # The library hears of its end in a future that it reads only while it starts.
            transport.on_error_future.add_done_callback(_read)
        return cls(playwright, getattr(transport, "_proc", None))


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Let the driver inherit no standard error: what it says is its own failures, with stacks."""
    name = "_get_stderr_fileno"
    modules = [module for each in _TRANSPORTS if (module := sys.modules.get(each)) is not None]
    before = [(module, getattr(module, name)) for module in modules if hasattr(module, name)]
    for module, _ in before:
        setattr(module, name, lambda: subprocess.DEVNULL)
    try:
        yield
    finally:
        for module, function in before:
            setattr(module, name, function)


def _transport(manager: object) -> Any:  # noqa: ANN401 - it is private to the library
    for path in _OF_MANAGER:
        with contextlib.suppress(AttributeError):
            return attrgetter(path)(manager)
    return None


def _read(failure: asyncio.Future[object]) -> None:
    if not failure.cancelled():
        failure.exception()

"""Rendering pages: the browser, the gateway and the visit put together."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override
from yarl import URL

from searx_mcp.errors import ContentError, ErrorCode, TransportError
from searx_mcp.fetch.browser.interface import PageRenderer, Rendered
from searx_mcp.fetch.browser.keeper import Keeper
from searx_mcp.fetch.browser.program import check_support, find_program
from searx_mcp.net.gateway.gateway import Gateway
from searx_mcp.tasks.group import Spawn

if TYPE_CHECKING:
    from searx_mcp.fetch.browser.chromium import Chromium

PAGES_AT_ONCE: Final = 2
"""Each is a process that takes a core while its scripts run."""

IDLE_TIME: Final = 60.0
"""Seconds an unused browser is kept."""

MAX_MEMORY: Final = 1536 * 1024 * 1024
"""Bytes that the processes of the browser may take for themselves, where the kernel tells. A script can
fill gigabytes in a second; Chromium itself limits the heap of JavaScript objects alone."""


class Renderer(PageRenderer):
    """Renders pages in one Chromium, started for the first and ended when it is idle.

    Every page has a context and a gateway of its own, which end with it: pages share no cookies, no
    storage, no connections, and no budget. A page that does not end as it should takes the browser
    with it; the next one gets a new browser.
    """

    def __init__(
        self,
        make_gateway: Callable[[], Gateway],
        *,
        spawn: Spawn,
        program: str = "",
        verify: bool = True,
        pages_at_once: int = PAGES_AT_ONCE,
        idle_time: float = IDLE_TIME,
        max_memory: int = MAX_MEMORY,
    ) -> None:
        """Describe a renderer; nothing is looked for or started yet.

        Args:
            make_gateway: makes the way to the net of one page, not yet open.
            spawn: starts a coroutine as a task of the client.
            program: the value of `fetch.browser_path`.
            verify: whether certificates must be valid.
            pages_at_once: pages that are rendered at the same time; others wait.
            idle_time: seconds an unused browser is kept.
            max_memory: bytes that the browser may take, on Linux.
        """
        self._make_gateway = make_gateway
        self._program = program
        self._verify = verify
        self._spawn = spawn
        self._max_memory = max_memory
        self._places = asyncio.Semaphore(pages_at_once)
        self._keeper: Keeper[Chromium] = Keeper(self._start, spawn=spawn, idle_time=idle_time)

    @override
    async def render(
        self, url: URL, *, user_agent: str, deadline: float, max_bytes: int
    ) -> Rendered:
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout_at(deadline):
                    await stack.enter_async_context(self._places)
                    gateway = await stack.enter_async_context(self._make_gateway())
                    lease = await stack.enter_async_context(self._keeper.lend())
            except TimeoutError as exc:
                raise TransportError(
                    "The browser was not ready in time.", code=ErrorCode.TIMEOUT, url=str(url)
                ) from exc
            from searx_mcp.fetch.browser.visit import Visit  # noqa: PLC0415 - an extra

            visit = Visit(
                lease.running.browser,
                gateway,
                url,
                user_agent=user_agent,
                verify=self._verify,
                spawn=self._spawn,
            )
            try:
                return await visit.run(deadline=deadline, max_bytes=max_bytes)
            except ContentError as exc:
                if lease.running.is_overfull:
                    raise ContentError(
                        "The page takes more memory than it may.",
                        code=ErrorCode.EXTRACTION_FAILED,
                        url=str(url),
                    ) from exc
                raise
            finally:
                lease.is_sound = visit.is_closed

    @override
    async def aclose(self) -> None:
        await self._keeper.aclose()

    async def _start(self) -> "Chromium":
        check_support()
        program = await asyncio.to_thread(find_program, self._program)
        module: Any = await asyncio.to_thread(
            import_module, "searx_mcp.fetch.browser.chromium"
        )  # an extra, and slow to import
        chromium: Chromium = await module.Chromium.start(program, max_memory=self._max_memory)
        return chromium

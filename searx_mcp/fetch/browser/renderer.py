"""Renders pages: finds the browser, and joins it with the gateway and the visit.

One browser starts on demand, and ends when it is idle or no longer trusted.
"""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from yarl import URL

from searx_mcp.errors import ContentError, ErrorCode, SettingsError, TransportError
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.http.gateway import Gateway
from searx_mcp.tasks import Spawn

if TYPE_CHECKING:
    from searx_mcp.fetch.browser.chromium import Chromium

PAGES_AT_ONCE: Final = 2
"""Each is a process that uses one core while its scripts run."""

IDLE_TIME: Final = 60.0
"""Seconds an idle browser is kept."""

MAX_MEMORY: Final = 1536 * 1024 * 1024
"""Private bytes of the browser's processes, where the kernel reports them. A script can fill gigabytes
in a second, and Chromium limits only the JavaScript heap."""

CLOSE_TIMEOUT: Final = 10.0
"""Seconds for a browser and all its processes to end; each step has its own limit."""

_NAMES: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "msedge",
)

_PLACES: Final = {
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        "C:/Program Files/Google/Chrome/Application/chrome.exe",
        "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
        "C:/Program Files/Microsoft/Edge/Application/msedge.exe",
    ),
}
"""Where installers put it on systems that do not add it to the PATH."""


def check_support() -> None:
    """Check that the browser driver is installed.

    Raises:
        SettingsError: it is not installed.
    """
    if find_spec("playwright") is None:
        raise SettingsError(
            "fetch.browser",
            "running page scripts needs a library that is not installed",
            advice="Install the extra: pip install 'searx-mcp[browser]'.",
        )


def find_program(configured: str, *, path: str | None = None, platform: str = sys.platform) -> Path:
    """Find the browser.

    Args:
        configured: the value of `fetch.browser_path`; empty to search the system.
        path: searched instead of the PATH.
        platform: as `sys.platform`.

    Raises:
        SettingsError: there is none.
    """
    if configured:
        program = Path(configured).expanduser()
        if not program.is_file():
            raise SettingsError(
                "fetch.browser_path",
                "no such program",
                advice="Set the path of Chromium or Chrome, or leave it empty.",
            )
        return program
    for name in _NAMES:
        if found := shutil.which(name, path=path):
            return Path(found)
    for place in _PLACES.get(platform, ()):
        if Path(place).is_file():
            return Path(place)
    raise SettingsError(
        "fetch.browser_path",
        "Chromium was not found",
        advice="Install it (Debian: apt-get install chromium), or set its path.",
    )


class RunningBrowser(Protocol):
    """A running browser."""

    @property
    def is_alive(self) -> bool:
        """True while it is known to respond."""
        ...

    async def watch(self) -> None:
        """Return when it has to be stopped."""
        ...

    async def aclose(self) -> None:
        """End it, within a time limit."""
        ...


R = TypeVar("R", bound=RunningBrowser)


@dataclass(slots=True)
class BorrowedBrowser(Generic[R]):
    """A borrowed browser.

    Attributes:
        running: the browser.
        is_sound: set by the borrower after closing its page. Otherwise the page may still be running, and the
            browser is not used again.
    """

    running: R
    is_sound: bool = False


class _Life(Generic[R]):
    """One browser from start to end.

    Attributes:
        ready: the browser, or why it did not start.
        over: set to end it.
        users: number of borrowers.
        is_retired: whether nobody may borrow it again.
    """

    def __init__(self) -> None:
        self.ready: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()
        self.users = 0
        self.is_retired = False
        self.timer: asyncio.TimerHandle | None = None

    @property
    def can_serve(self) -> bool:
        """True if it can be borrowed."""
        if self.is_retired or self.over.is_set():
            return False
        return not self.ready.done() or self.ready.result().is_alive


class Keeper(Generic[R]):
    """Lends one browser to all callers at once, and keeps it for a while afterwards.

    The browser lives in its own task: cancelling a borrower neither interrupts its start nor waits for
    its end.
    """

    def __init__(
        self, start: Callable[[], Awaitable[R]], *, spawn: Spawn, idle_time: float
    ) -> None:
        """Configure the keeper; nothing is started yet.

        Args:
            start: starts a browser; leaves nothing behind when cancelled.
            spawn: starts a coroutine as a task in the owner's task group.
            idle_time: seconds after which an unused browser ends.
        """
        self._start = start
        self._spawn = spawn
        self._idle_time = idle_time
        self._newest: _Life[R] | None = None
        self._lives: dict[asyncio.Task[None], _Life[R]] = {}
        self._is_closed = False

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[BorrowedBrowser[R]]:
        """Lend a browser for the duration of the block.

        Raises:
            SettingsError: it did not start.
        """
        life = self._borrow()
        lease: BorrowedBrowser[R] | None = None
        try:
            lease = BorrowedBrowser(await asyncio.shield(life.ready))
            yield lease
        finally:
            self._return(life, is_sound=lease is None or lease.is_sound)

    async def aclose(self) -> None:
        """End all browsers within `CLOSE_TIMEOUT`, and what is then still starting within as long again.

        It may be called more than once.
        """
        self._is_closed = True
        for life in self._lives.values():
            life.over.set()
        if self._lives:
            _, late = await asyncio.wait(self._lives, timeout=CLOSE_TIMEOUT)
            for task in late:
                task.cancel()
            if late:  # their owner would cancel them again, in the middle of cleaning up
                await asyncio.wait(late, timeout=CLOSE_TIMEOUT)

    def _borrow(self) -> _Life[R]:
        if self._is_closed:
            raise _closed()
        life = self._newest
        if life is None or not life.can_serve:
            if life is not None:
                self._retire(life)
            life = self._newest = _Life()
            task = self._spawn(self._live(life))
            self._lives[task] = life
            task.add_done_callback(self._bury)
        life.users += 1
        if life.timer is not None:
            life.timer.cancel()
            life.timer = None
        return life

    def _return(self, life: _Life[R], *, is_sound: bool) -> None:
        life.users -= 1
        if not is_sound:
            self._retire(life)
        elif not life.users and life.is_retired:
            life.over.set()
        elif not life.users:
            loop = asyncio.get_running_loop()
            life.timer = loop.call_later(self._idle_time, life.over.set)

    def _retire(self, life: _Life[R]) -> None:
        life.is_retired = True
        if not life.users:
            life.over.set()

    async def _live(self, life: _Life[R]) -> None:
        try:
            running = await self._start()
        except Exception as exc:  # noqa: BLE001 - handed to every borrower, not swallowed
            life.is_retired = True
            life.ready.set_exception(exc)
            life.ready.exception()  # marks the exception as retrieved: the last borrower may be gone
            return
        watching = self._spawn(running.watch())
        watching.add_done_callback(lambda _: self._dismiss(life))
        try:
            life.ready.set_result(running)
            await life.over.wait()
        finally:
            watching.cancel()
            await running.aclose()

    def _bury(self, task: asyncio.Task[None]) -> None:
        life = self._lives.pop(task)
        life.is_retired = True
        if not life.ready.done():  # cancelled, perhaps before it started; its borrowers were not
            life.ready.set_exception(_closed())
            life.ready.exception()

    def _dismiss(self, life: _Life[R]) -> None:
        life.is_retired = True
        life.over.set()


def _closed() -> RuntimeError:
    return RuntimeError("the renderer is closed")


class Renderer:
    """Renders pages in one Chromium, which starts for the first page and ends when idle.

    Every page has its own context and gateway, which end with it: pages share no cookies, storage,
    connections or budget. If a page does not close properly, its browser ends too, and the next page
    starts a new one.
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
        """Configure the renderer; nothing is searched for or started yet.

        Args:
            make_gateway: creates the gateway of one page, not yet open.
            spawn: starts a coroutine as a task of the client.
            program: the value of `fetch.browser_path`.
            verify: whether certificates must be valid.
            pages_at_once: pages rendered at the same time; others wait.
            idle_time: seconds an idle browser is kept.
            max_memory: bytes that the browser may use, on Linux.
        """
        self._make_gateway = make_gateway
        self._program = program
        self._verify = verify
        self._spawn = spawn
        self._max_memory = max_memory
        self._places = asyncio.Semaphore(pages_at_once)
        self._keeper: Keeper[Chromium] = Keeper(self._start, spawn=spawn, idle_time=idle_time)

    async def render(
        self, url: URL, *, user_agent: str, deadline: float, max_bytes: int
    ) -> ReceivedPage:
        """Load a page, run its scripts, and read it once it has settled.

        The answer holds the DOM at that time, without the doctype, frames and shadow trees; the final address,
        after redirects and scripts; the status of the document, errors included, or 0 if unknown; no headers;
        and notes for the caller.

        Args:
            url: an http or https address that the policy allows; its fragment is kept.
            user_agent: sent with all its requests.
            deadline: loop time by which rendering ends.
            max_bytes: limit of the HTML, in UTF-8.

        Raises:
            SettingsError: the browser or its driver is missing or does not start.
            PolicyError: the page, or an address it led to, may not be fetched.
            TransportError: it could not be reached or rendered in time.
            ContentError: it is not a page, or the browser could not handle it.
        """
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
                        "The page exceeds the memory limit.",
                        code=ErrorCode.EXTRACTION_FAILED,
                        url=str(url),
                    ) from exc
                raise
            finally:
                lease.is_sound = visit.is_closed

    async def aclose(self) -> None:
        """End the browser and all its processes; may be called more than once."""
        await self._keeper.aclose()

    async def _start(self) -> "Chromium":
        check_support()
        program = await asyncio.to_thread(find_program, self._program)
        # An optional extra, slow to import.
        module: Any = await asyncio.to_thread(import_module, "searx_mcp.fetch.browser.chromium")
        chromium: Chromium = await module.Chromium.start(program, max_memory=self._max_memory)
        return chromium

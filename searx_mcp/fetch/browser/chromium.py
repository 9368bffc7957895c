"""One Chromium process: starting it, stopping it, and limiting its memory.

The Playwright driver, a separate program, sits between Chromium and this process. All network paths but
the gateway are closed at start: `docs/decisions/browser.md` says what each switch closes, and how that was
checked.
"""

import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from playwright.async_api import Browser, Error, Playwright, async_playwright

from searx_mcp.errors import SettingsError
from searx_mcp.tasks import wait_out

NOWHERE: Final = "http://gateway.invalid:9"
"""Proxy for traffic that belongs to no page: a name that never resolves (RFC 6761, section 6.4)."""

BYPASS: Final = "<-loopback>"
"""Cancels Chromium's default of bypassing the proxy for loopback."""

_HEAP: Final = 512
"""Megabytes of JavaScript heap per renderer, which ends when it needs more."""

SWITCHES: Final = (
    # Only the gateway's own address resolves; the gateway looks up all names.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # Without this, WebRTC sends UDP past any proxy. The second is its name in older releases.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--deny-permission-prompts",
    "--disable-notifications",
    "--disable-speech-api",
    # Otherwise a frame of another site gets its own process, and a page may have a thousand. There are no
    # cookies or logins here that sites could steal from each other.
    "--disable-site-isolation-trials",
    "--disable-gpu",
    "--disable-3d-apis",
    # They contribute no text.
    "--blink-settings=imagesEnabled=false,dnsPrefetchingEnabled=false",
    "--disable-remote-fonts",
    "--autoplay-policy=user-gesture-required",
    f"--js-flags=--max-old-space-size={_HEAP}",
)

UNWANTED_SWITCHES: Final = (
    # Defaults that Playwright adds for testing one's own pages.
    "--disable-popup-blocking",
    "--disable-ipc-flooding-protection",
    "--enable-unsafe-swiftshader",
)

START_TIMEOUT: Final = 20.0
LAUNCH_TIMEOUT: Final = 20.0
"""Seconds for the driver, and then the browser, to start: ten times what each takes on a busy machine."""

GRACE: Final = 2.0
"""Seconds for Chromium to end when asked to, and for the driver to notice."""

_WATCH_INTERVAL: Final = 0.25
"""Seconds between two memory checks."""

_SWEEP_INTERVAL: Final = 0.02

# The driver creates it; nothing else is deleted.
_PROFILE: Final = re.compile(r"--user-data-dir=(.+[/\\]playwright_chromiumdev_profile-\w+) ")

_ENVIRONMENT: Final = (
    "DBUS_SESSION_BUS_ADDRESS",
    "HOME",
    "LANG",
    "LOCALAPPDATA",
    "PATH",
    "PROGRAMFILES",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "XDG_RUNTIME_DIR",
)
"""Environment variables that Chromium inherits: no settings, tokens or proxies."""

_TRANSPORTS: Final = ("playwright._impl.transport", "playwright._impl._transport")  # as of 1.50

_ours: Final[ContextVar[list[Any]]] = ContextVar("_ours")
"""Where a start collects its transports; not set in starts of other users of the library."""

_PROC: Final = Path("/proc")

# proc(5): in `stat`, the name may contain anything; after it come the state, the parent and the group.
# In `statm`, the second field counts resident pages, the third those backed by files, such as the
# program, which all processes share.
_GROUP: Final = 2
_RESIDENT, _OF_FILES = 1, 2

_log = logging.getLogger("searx_mcp.fetch")


class Driver:
    """A running Playwright driver.

    Attributes:
        playwright: its API.
    """

    def __init__(self, playwright: Playwright, process: asyncio.subprocess.Process | None) -> None:
        self.playwright = playwright
        self._process = process

    @classmethod
    async def start(cls) -> Self:
        """Start it.

        Raises:
            SettingsError: it did not start.
        """
        transports: list[Any] = []
        # A timeout or a cancellation in here would leave the driver running.
        starting = asyncio.ensure_future(_connected(transports))
        starting.add_done_callback(_read)
        try:
            async with asyncio.timeout(START_TIMEOUT):
                playwright = await asyncio.shield(starting)
        except BaseException as exc:
            # There is no browser yet that it would have to end.
            if (process := _process(transports)) is None:
                starting.cancel()
            else:
                await _end_driver(process)
            await wait_out(asyncio.wait({starting}), GRACE)
            if isinstance(exc, (Error, TimeoutError)):
                _log.debug("fetch.browser_driver_failed", exc_info=exc)
                raise SettingsError(
                    "fetch.browser",
                    "the browser driver did not start",
                    advice=(
                        "Reinstall the extra: pip install --force-reinstall 'searx-mcp[browser]'."
                    ),
                ) from exc
            raise
        return cls(playwright, _process(transports))

    async def stop(self, *, grace: float = GRACE) -> None:
        """End it and its browsers; kill it if it does not end when asked to, or if this is cancelled.

        Args:
            grace: seconds for it to end.
        """
        try:
            # A driver that is gone may fail in any way.
            with contextlib.suppress(Exception):
                async with asyncio.timeout(grace):
                    await self.playwright.stop()
        finally:
            if self._process is not None:
                await _end_driver(self._process)


async def _connected(transports: list[Any]) -> Playwright:
    _observe()
    _ours.set(transports)
    return await async_playwright().start()


@cache
def _observe() -> None:
    """Observe the transports that start here: they know the driver's process before it responds.

    Their drivers do not inherit standard error, where they would write stack traces of their own failures.
    """
    for module in filter(None, map(sys.modules.get, _TRANSPORTS)):
        connect, descriptor = module.PipeTransport.connect, module._get_stderr_fileno  # noqa: SLF001 - see there

        async def observed(transport: Any, connect: Any = connect) -> None:  # noqa: ANN401 - of the library
            if (transports := _ours.get(None)) is not None:
                transports.append(transport)
                # The library reports the driver's end in a future that it reads only during the start.
                transport.on_error_future.add_done_callback(_read)
            await connect(transport)

        def silent(descriptor: Callable[[], int | None] = descriptor) -> int | None:
            return descriptor() if _ours.get(None) is None else subprocess.DEVNULL

        module.PipeTransport.connect = observed
        module._get_stderr_fileno = silent  # type: ignore[attr-defined]  # noqa: SLF001 - the library has no option for it


def _process(transports: list[Any]) -> asyncio.subprocess.Process | None:
    return next((getattr(transport, "_proc", None) for transport in transports), None)


async def _end_driver(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await wait_out(process.wait(), GRACE)


def _read(failure: asyncio.Future[Any]) -> None:
    if not failure.cancelled():
        failure.exception()


def private_memory(group: int, *, proc: Path = _PROC) -> int | None:
    """Return the private memory of a process group in bytes, or `None` if unknown.

    Processes that end in the meantime do not count.

    Args:
        group: process group number.
        proc: the proc file system, on Linux.
    """
    try:
        folders = [entry.path for entry in os.scandir(proc) if entry.name.isdigit()]
    except OSError:
        return None
    if not folders:
        return None
    pages = sum(_pages(folder) for folder in folders if _group(folder) == group)
    return pages * os.sysconf("SC_PAGE_SIZE")


def _group(folder: str) -> int | None:
    try:
        said = Path(folder, "stat").read_bytes()
        return int(said.rpartition(b")")[2].split()[_GROUP])
    except (OSError, ValueError, IndexError):
        return None


def _pages(folder: str) -> int:
    try:
        counts = Path(folder, "statm").read_bytes().split()
        return int(counts[_RESIDENT]) - int(counts[_OF_FILES])
    except (OSError, ValueError, IndexError):
        return 0


class Chromium:
    """A running browser and its driver.

    Attributes:
        browser: creates contexts.
        is_overfull: whether it was killed for using too much memory.
    """

    def __init__(
        self,
        driver: Driver,
        browser: Browser,
        *,
        folders: tuple[str, str],
        process_id: int,
        max_memory: int,
    ) -> None:
        self.browser = browser
        self.is_overfull = False
        self._driver = driver
        self._folders = folders
        self._process_id = process_id
        self._max_memory = max_memory

    @classmethod
    async def start(cls, program: Path, *, max_memory: int) -> Self:
        """Start the driver and the browser.

        Args:
            program: path of the browser.
            max_memory: private bytes that its processes may use.

        Raises:
            SettingsError: one of them did not start.
        """
        # Chromium leaves files behind when it is killed. In a thread, a cancellation would lose the folder.
        folder = tempfile.mkdtemp(prefix="searx-mcp-")
        driver: Driver | None = None
        try:
            driver = await Driver.start()
            browser = await driver.playwright.chromium.launch(
                executable_path=program,
                headless=True,
                args=SWITCHES,
                ignore_default_args=UNWANTED_SWITCHES,
                chromium_sandbox=not _is_root(),
                env={**_environment(os.environ), "TMPDIR": folder},
                proxy={"server": NOWHERE, "bypass": BYPASS},
                timeout=LAUNCH_TIMEOUT * 1_000,
            )
            process_id, profile = await _particulars(browser)
        except BaseException as exc:
            try:
                if driver is not None:
                    # Only the driver knows the profile of a browser that is starting.
                    await driver.stop(grace=LAUNCH_TIMEOUT)
            finally:
                await _remove(folder)
            if isinstance(exc, Error):
                _log.debug("fetch.browser_failed", exc_info=exc)
                raise _not_started(exc.message) from exc
            raise
        return cls(
            driver,
            browser,
            folders=(folder, profile),
            process_id=process_id,
            max_memory=max_memory,
        )

    @property
    def is_alive(self) -> bool:
        """True while the driver is connected to it."""
        return self.browser.is_connected()

    async def watch(self) -> None:
        """Wait until it uses too much memory, then kill it; wait for ever if its memory is unknown."""
        while True:
            await asyncio.sleep(_WATCH_INTERVAL)
            used = await asyncio.to_thread(private_memory, self._process_id)
            if used is not None and used > self._max_memory:
                _log.debug("fetch.browser_too_large bytes=%d", used)
                self.is_overfull = True
                _kill(self._process_id)
                return

    async def aclose(self) -> None:
        """End it; kill whatever does not end when asked to."""
        has_ended = False
        try:
            async with asyncio.timeout(GRACE):
                await self.browser.close()
            has_ended = True
        except (Error, TimeoutError) as exc:
            _log.debug("fetch.browser_killed", exc_info=exc)
        finally:
            # Each step is taken, even if this is cancelled again.
            async with contextlib.AsyncExitStack() as ending:
                ending.push_async_callback(_remove, *self._folders)
                ending.push_async_callback(self._driver.stop)
                ending.push_async_callback(self._sweep)
                if not has_ended:
                    _kill(self._process_id)

    async def _sweep(self) -> None:
        # The driver deletes the profile and other files after the browser ends, unless it is stopped first.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while await asyncio.to_thread(os.path.exists, self._folders[1]):  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(_SWEEP_INTERVAL)


async def _particulars(browser: Browser) -> tuple[int, str]:
    """Return the browser's process number and profile folder."""
    session = await browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    command = (await session.send("SystemInfo.getInfo"))["commandLine"]
    await session.detach()
    number = next(int(entry["id"]) for entry in processes if entry["type"] == "browser")
    profile = _PROFILE.search(command)
    return number, profile[1] if profile else ""


async def _remove(*folders: str) -> None:
    for folder in filter(None, folders):
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _not_started(said: str) -> SettingsError:
    advice = "Start it by hand to see why, or set another program in fetch.browser_path."
    if "No usable sandbox" in said:
        advice = (
            "Its sandbox needs unprivileged user namespaces: allow them, such as with its"
            " package's AppArmor profile or the container's seccomp profile."
        )
    return SettingsError("fetch.browser", "Chromium did not start", advice=advice)


def _is_root() -> bool:
    # In that case, Chromium refuses to use its sandbox.
    return sys.platform != "win32" and os.geteuid() == 0


def _environment(environ: Mapping[str, str]) -> dict[str, str | float | bool]:
    return {name: environ[name] for name in _ENVIRONMENT if name in environ}


def _kill(process_id: int) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            os.kill(process_id, signal.SIGTERM)
        elif os.getpgid(process_id) == process_id:
            os.killpg(process_id, signal.SIGKILL)
        else:
            os.kill(process_id, signal.SIGKILL)

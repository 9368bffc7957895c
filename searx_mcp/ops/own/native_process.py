"""The process of an instance: finding it by its lock, starting it detached from us, ending it."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.files import read_bytes, read_text
from searx_mcp.models.own_instance import Installed, NativeFailure
from searx_mcp.ops.own import launcher
from searx_mcp.ops.own.failures import OwnInstanceError, exited, port_taken, written
from searx_mcp.ops.own.installation import NativeFolder, python_of, without_secrets

LOG_LINES: Final = 20
"""Lines of the log in an error."""

_POLL: Final = 0.04
"""Seconds between two checks of an instance that is starting or ending."""

_GRACE: Final = 3.0
"""Seconds it has to end when asked to, and again when killed; waitress takes 10 ms."""

_MAX_RUN: Final = 4_096

_LONGEST_LINE: Final = 300

_HANDED_ON: Final = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that SearXNG inherits. Others would change its settings: `SEARXNG_PORT`."""


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """A process that holds the lock.

    Attributes:
        pid: of the process.
        port: of its server; 0 while it starts.
        source: folder of the SearXNG source that it runs.
        since: Unix seconds at which it wrote these.
    """

    pid: int
    port: int
    source: str
    since: float


@dataclass(frozen=True, slots=True)
class StartPlan:
    """How to start an instance.

    Attributes:
        source: folder of the SearXNG source.
        environment: folder of its environment.
        settings: its settings file.
        port: of 127.0.0.1; 0 for any.
        idle: seconds without a search after which it ends; 0 for never.
    """

    source: Path
    environment: Path
    settings: Path
    port: int
    idle: float = 0.0


class NativeProcess:
    """The process whose files are in one folder; its lock ensures that there is at most one.

    Args:
        folder: with `run.lock`, `run.json`, the log and its temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "log.txt"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def is_held(self) -> bool:
        """Return whether a process holds the lock: it runs, starts or hangs."""
        import fcntl  # noqa: PLC0415 - POSIX alone, as SearXNG is

        try:
            with (self._folder / "run.lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def find(self) -> RunningInstance | None:
        """Return the process that holds the lock, even before it has written its data, or `None`."""
        path = self._folder / "run.json"
        if not self.is_held:
            return None
        try:
            said = json.loads(read_bytes(path, _MAX_RUN))
            running = RunningInstance(
                pid=int(said["pid"]),
                port=int(said.get("port", 0)),
                source=str(said.get("source", "")),  # another version of ours may have started it
                since=path.stat().st_mtime,
            )
            # The file of a killed process stays until the next one writes its own.
            is_it = running.pid > 1 and launcher.birth(running.pid) == said["birth"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return running if is_it else None

    def start(self, plan: StartPlan, environ: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        """Start it, detached from us and our terminal; it ends at once if another one runs.

        It outlives us. A thread waits for it, so that it does not stay a zombie while we live.

        Args:
            plan: how to start it.
            environ: our environment variables; it inherits a few of them.

        Raises:
            OSError: it could not be started.
        """
        temporary = self._folder / "tmp"
        temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
        script = self._folder / "launcher.py"
        # A copy: our own package may be updated or removed while the instance runs.
        draft = script.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        draft.write_bytes(Path(launcher.__file__).read_bytes())
        draft.replace(script)
        handed_on = {name: environ[name] for name in _HANDED_ON if name in environ}
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        log = os.open(self._log, flags, 0o600)
        try:
            started = subprocess.Popen(  # noqa: S603 - an interpreter and a script of ours
                [
                    *(str(python_of(plan.environment)), "-I", str(script), str(self._folder)),
                    *(str(plan.source), str(plan.port), str(plan.idle)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={
                    "PATH": os.defpath,
                    **handed_on,
                    "SEARXNG_SETTINGS_PATH": str(plan.settings),
                    "TMPDIR": str(temporary),
                    "HOME": str(self._folder),
                },
                start_new_session=True,
            )
        finally:
            os.close(log)
        threading.Thread(target=started.wait, daemon=True).start()
        self._child = started
        return started

    async def stop(self) -> bool:
        """End it, and return whether it has ended; does nothing if none runs."""
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            running = self.find()
            if running is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(running.pid, number)
            elif self._child is not None:  # it may not hold the lock yet
                self._child.send_signal(number)
            if await self._is_released():
                return True
        return False

    def memory(self, pid: int) -> int | None:
        """Return the bytes of memory that a process uses; `None` where the system does not say."""
        try:
            text = read_text(Path(f"/proc/{pid}/smaps_rollup"), _MAX_RUN)
        except OSError:
            return None
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name == "Pss":
                return int(value.split()[0]) * 1_024
        return None

    def log_tail(self, lines: int) -> tuple[str, ...]:
        """Return its last lines, oldest first, without secrets."""
        text = ""
        with contextlib.suppress(OSError):
            for path in (self._log.with_suffix(".old.txt"), self._log):
                if path.is_file():
                    text += read_text(path, 4 * launcher.LOG_SIZE)
        return tuple(
            clean_line(without_secrets(line), _LONGEST_LINE) for line in text.splitlines()[-lines:]
        )

    async def _is_released(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self.is_held or (self._child and self._child.returncode is None):  # noqa: ASYNC110 - another process's lock sets no event
                    await asyncio.sleep(_POLL)
                return True
        return False


class Starting:
    """Starts versions of an instance.

    Args:
        folder: of the versions.
        is_alive: returns whether the instance at a base URL answers quickly.
        environ: environment variables of this process.
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

    def start(
        self, process: NativeProcess, installed: Installed, *, port: int
    ) -> "subprocess.Popen[bytes]":
        """Start a version as `process`; it ends at once if that one already runs.

        Raises:
            OwnInstanceError: `not_writable` or `disk_full`.
        """
        plan = StartPlan(
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
        """Start a version, and return its base URL once it answers.

        It does not matter which process started it: of two concurrent starts, one runs.

        Args:
            process: the process it becomes.
            installed: the version.
            port: of 127.0.0.1; 0 for any.
            deadline: loop time by which it must answer.

        Raises:
            OwnInstanceError: `port_taken`, `exited`, `not_ready`, `not_writable` or `disk_full`.
        """
        loop = asyncio.get_running_loop()
        child = self.start(
            process, installed, port=port
        )  # 5 ms, and never in a thread that outlives us
        while True:
            running, code = process.find(), child.returncode
            if running is not None and running.port:
                url = installed.model_copy(update={"port": running.port}).url
                if await self._is_alive(url):
                    return url
            elif code == launcher.PORT_TAKEN:
                raise port_taken(port)
            elif code is not None and not process.is_held:
                raise self._not_up(process, NativeFailure.EXITED)
            if loop.time() >= deadline:
                raise self._not_up(process, NativeFailure.NOT_READY)
            await asyncio.sleep(_POLL)

    def _not_up(self, process: NativeProcess, reason: NativeFailure) -> OwnInstanceError:
        log = process.log_tail(LOG_LINES)
        if reason is NativeFailure.EXITED:
            return exited(log, self._folder.settings)
        return OwnInstanceError(
            "SearXNG was started but did not answer in time.",
            reason=reason,
            advice="Allow more time with --timeout.",
            log=log,
        )

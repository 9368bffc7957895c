"""An own instance as a process of this machine: up, status, update, down, log."""

import asyncio
import os
import shlex
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from searx_mcp.errors import InvalidArgumentError, SettingsError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.models.own_instance import (
    Done,
    Installed,
    NativeFailure,
    NativeInstance,
    NativeInstanceDown,
    NativeInstanceUp,
    NativeState,
)
from searx_mcp.models.progress import Progress
from searx_mcp.ops.own.failures import OwnInstanceError, written
from searx_mcp.ops.own.installation import NativeFolder, missing_engines
from searx_mcp.ops.own.loopback import Probe, Tried, free_port
from searx_mcp.ops.own.native_process import LOG_LINES, NativeProcess, Starting
from searx_mcp.ops.own.packages import CONSTRAINTS, Installation, proxy_text, variables
from searx_mcp.ops.own.source import COMMIT, LATEST, PINNED, PINNED_TREE, Sources, UnpackedSource
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.pool.engine_care import engine_reports
from searx_mcp.settings.values import Settings
from searx_mcp.storage.state import StateStore
from searx_mcp.urls.address import AllowList

NATIVE_TIMEOUT: Final = 300.0
"""Default seconds until an instance must answer; with pip it took 20 here."""
_SHOWN_LINES: Final = 5
_PATIENCE: Final = 60.0
"""Seconds that `down` waits for another process of ours to finish."""
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """The user's options for `up` and `update`.

    Attributes:
        version: `latest`, a commit, or the path of an archive; by default, the tested one.
        port: of 127.0.0.1; by default, a free one.
        timeout: seconds until the instance must answer, download included.
    """

    version: str | None = None
    port: int | None = None
    timeout: float = NATIVE_TIMEOUT


class _Steps:
    """Reports each step and the duration of the one before."""

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self.notes: list[str] = []
        self._progress = progress
        self._name = ""
        self._begun = 0.0

    def begin(self, name: str, text: str) -> None:
        """Begin a step, which ends the one before."""
        now = asyncio.get_running_loop().time()
        if self._name:
            spent = self.seconds.get(self._name, 0.0) + now - self._begun
            self.seconds[self._name] = round(spent, 3)
        self._name, self._begun = name, now
        if name:
            self._progress(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeRunner:
    """Runs SearXNG as a process of this machine, and lets searches use it.

    There is one such instance. Every method raises `OwnInstanceError` with a remedy if it fails; unfinished
    work is then undone, as on cancellation.

    Attributes:
        folder: for its files.
        state: where it is registered as an own instance.
        sources: source of SearXNG.
        probe: makes requests to it.
        starting: starts it.
        network: the proxy and CA certificates, for packages and engines.
        configured: base URLs of the own instances in the settings.
        environ: environment variables of this process.
        progress: called with each step.
        clock: Unix seconds.
    """

    folder: NativeFolder
    state: StateStore
    sources: Sources
    probe: Probe
    starting: Starting
    network: NetworkConfig
    configured: tuple[str, ...]
    environ: Mapping[str, str]
    progress: Progress
    clock: Callable[[], float]

    @property
    def process(self) -> NativeProcess:
        """The process of the instance, whether it runs or not."""
        return NativeProcess(self.folder.run)

    async def up(self, options: NativeOptions) -> NativeInstanceUp:
        """Install it if necessary, start it if necessary, make one search, and register it.

        Raises:
            OwnInstanceError: as for every method.
            InvalidArgumentError: there is no such version, or another one is installed.
            StorageError: it runs, but cannot be registered now.
        """
        _check_system()
        deadline = asyncio.get_running_loop().time() + options.timeout
        steps = _Steps(self.progress)
        async with self.folder.changed(deadline), AsyncExitStack() as undo:
            before, installed = self.folder.recorded, self.folder.installed
            if installed is not None and options.version is not None:
                await self._check_same(installed, options.version, deadline, steps)
            if installed is None:
                done, installed = Done.CREATED, await self._create(options, deadline, steps, undo)
            else:
                done = await self._needed(installed, options.port)
                if done is Done.STARTED and options.port:
                    installed = installed.model_copy(update={"port": free_port(options.port)})
            if done is not Done.UNCHANGED:
                undo.push_async_callback(self.process.stop)
                await self._serve(installed, deadline, steps)
            tried = await self._try(installed.url, steps)
            steps.notes.append(tried.detail)
            self.folder.switch(installed)
            undo.pop_all()
            if before is not None and before.url != installed.url:
                await self.state.choose(InstanceChoice.OWN, before.url, chosen=False)
            await self.state.choose(InstanceChoice.OWN, installed.url, chosen=True)
            return await self._finished(done, steps)

    async def update(self, options: NativeOptions) -> NativeInstanceUp:
        """Try another version beside the one in use, and switch if it works.

        Raises:
            OwnInstanceError: as for every method.
            InvalidArgumentError: there is no such version.
        """
        _check_system()
        deadline = asyncio.get_running_loop().time() + options.timeout
        steps = _Steps(self.progress)
        async with self.folder.changed(deadline):
            old = self.folder.installed
            if old is None:
                raise OwnInstanceError(
                    "No instance is installed.",
                    reason=NativeFailure.NOT_INSTALLED,
                    advice="Run `searx-mcp instances own up`.",
                )
            async with AsyncExitStack() as undo:
                undo.enter_context(_kept())
                name, source = await self._unpack(options.version or LATEST, deadline, steps, undo)
                if source.tree == old.tree:
                    return await self._finished(Done.UNCHANGED, steps)
                new = await self._equip(name, source, old.port, deadline, steps)
                await self._compare(old, new, deadline, steps)
                undo.push_async_callback(self._resume, old)
                self.folder.switch(new)
                await self._end()
                await self._serve(new, deadline, steps)
                undo.pop_all()
            self.folder.remove_version(old.folder)
            return await self._finished(Done.UPDATED, steps)

    async def status(self) -> NativeInstance:
        """Report the state of the instance."""
        installed = self.folder.recorded
        chosen = (await self.state.choices())[InstanceChoice.OWN]
        notes = [self.state.problem]
        if installed is None:
            return NativeInstance(state=NativeState.ABSENT, notes=tuple(filter(None, notes)))
        running = await asyncio.to_thread(self.process.find)
        url = installed.url
        is_healthy = running is not None and await self.probe.is_alive(url)
        if self.folder.installed is None:
            notes.append("Its Python is gone: `searx-mcp instances own up` reinstalls it.")
        listed = await self.probe.engines(url) if is_healthy else ()
        settings = self.folder.settings_text()
        now = self.clock()
        record = (await self.state.load(now)).get(url)
        return NativeInstance(
            state=NativeState.RUNNING if running else NativeState.STOPPED,
            version=installed.version,
            age_days=int((now - installed.released_at) // _DAY),
            url=url,
            healthy=is_healthy,
            registered=url in self.configured or (url in chosen and not self.state.problem),
            pid=running.pid if running else None,
            memory=self.process.memory(running.pid) if running else None,
            failing=await self.probe.failing(url) if is_healthy else {},
            missing=missing_engines(settings, listed) if listed else (),
            settings=str(self.folder.settings) if settings else None,
            engines=engine_reports(record.engines, now) if record else (),
            # SearXNG logs every engine that does not answer: that is not its own failure.
            log=() if is_healthy else await self.log(_SHOWN_LINES),
            notes=tuple(filter(None, notes)),
        )

    async def log(self, lines: int) -> tuple[str, ...]:
        """Return the last lines of its log, oldest first."""
        return await asyncio.to_thread(self.process.log_tail, lines)

    async def down(self, *, keep_settings: bool = False) -> NativeInstanceDown:
        """Stop and remove it, and unregister it; does nothing if there is none.

        Args:
            keep_settings: whether to keep its settings file for the next `up`.

        Raises:
            OwnInstanceError: as for every method.
            StorageError: it is gone, but cannot be unregistered now.
        """
        if not self.folder.path.exists():
            return NativeInstanceDown(removed=False)
        deadline = asyncio.get_running_loop().time() + _PATIENCE
        async with self.folder.changed(deadline):
            url = (installed := self.folder.recorded) and installed.url
            self.folder.forget_current()  # first, so that no search starts it
            changed = url and await self.state.choose(InstanceChoice.OWN, url, chosen=False)
            self.progress("stopping")
            await self._end()
            await asyncio.to_thread(self.folder.remove, keep_settings=keep_settings)
        settings = self.folder.settings
        return NativeInstanceDown(
            removed=installed is not None,
            unregistered=url if changed else None,
            settings=str(settings) if settings.is_file() else None,
        )

    async def _check_same(
        self, installed: Installed, version: str, deadline: float, steps: _Steps
    ) -> None:
        """Refuse a version whose files differ from the installed one."""
        if version == installed.commit:
            return
        if not COMMIT.fullmatch(version):
            steps.begin("source", f"comparing SearXNG {version} with the installed version")
            source = await self.sources.get(version, None, deadline=deadline)
            if source.tree == installed.tree:
                return
        raise InvalidArgumentError(
            "version",
            f"{installed.version} is installed",
            advice=f"Run `searx-mcp instances own update --version {shlex.quote(version)}`.",
        )

    async def _create(
        self, options: NativeOptions, deadline: float, steps: _Steps, undo: AsyncExitStack
    ) -> Installed:
        """Install it if there is no installed version that can be started."""
        if not self.folder.settings.exists():
            undo.callback(self.folder.remove, keep_settings=False)
        await self._end()
        port = free_port(options.port)
        name, source = await self._unpack(options.version or PINNED, deadline, steps, undo)
        return await self._equip(name, source, port, deadline, steps)

    async def _needed(self, installed: Installed, port: int | None) -> Done:
        """Determine what to do with the installed version; end one that must be restarted."""
        running = self.process.find()
        if running is not None and port in {None, installed.port}:
            is_changed = self.folder.settings.stat().st_mtime > running.since
            is_other = running.source != str(self.folder.source(installed.folder))
            if not (is_changed or is_other) and await self.probe.is_alive(installed.url):
                return Done.UNCHANGED
        if running is not None:
            await self._end()
        return Done.STARTED

    async def _unpack(
        self, version: str, deadline: float, steps: _Steps, undo: AsyncExitStack
    ) -> tuple[str, UnpackedSource]:
        self.folder.tidy()
        self.folder.prepare(proxy_text(self.network))
        name = self.folder.make_version()
        undo.callback(self.folder.remove_version, name)
        steps.begin(
            "source", f"fetching SearXNG {version[:12] if COMMIT.fullmatch(version) else version}"
        )
        with written(self.folder.path):
            source = await self.sources.get(version, self.folder.source(name), deadline=deadline)
        return name, source

    async def _equip(
        self, name: str, source: UnpackedSource, port: int, deadline: float, steps: _Steps
    ) -> Installed:
        installation = Installation(
            python=sys.executable,
            environ=variables(self.environ, self.network),
            deadline=deadline,
            progress=lambda text: steps.begin("environment", text),
        )
        requirements = self.folder.source(name) / "requirements.txt"
        # Other commits need other package versions, which nobody has tested.
        constraints = CONSTRAINTS if source.tree == PINNED_TREE else None
        environment = self.folder.environment(name)
        steps.notes.append(await installation.make(environment, requirements, constraints))
        return Installed(
            folder=name,
            version=source.version,
            commit=source.commit,
            tree=source.tree,
            released_at=source.released_at,
            port=port,
        )

    async def _serve(self, installed: Installed, deadline: float, steps: _Steps) -> None:
        steps.begin("start", "starting SearXNG")
        await self.starting.serve(self.process, installed, port=installed.port, deadline=deadline)

    async def _try(self, url: str, steps: _Steps) -> Tried:
        steps.begin("search", "searching once")
        tried = await self.probe.search(url)
        if not tried.works:
            raise OwnInstanceError(
                f"SearXNG is running but does not answer a search: {tried.detail}",
                reason=NativeFailure.NOT_READY,
                advice=f"Correct {self.folder.settings} or delete it, then try again.",
                log=self.process.log_tail(LOG_LINES),
            )
        return tried

    async def _compare(
        self, old: Installed, new: Installed, deadline: float, steps: _Steps
    ) -> None:
        """Run the new version beside the old one, and refuse it if it serves less."""
        trial = NativeProcess(self.folder.trial(new.folder))
        try:
            steps.begin("trial", "trying the new version next to the old one")
            url = await self.starting.serve(trial, new, port=0, deadline=deadline)
            tried = await self._try(url, steps)
            if not tried.results and (await self.probe.search(old.url)).results:
                raise OwnInstanceError(
                    f"SearXNG {new.version} found nothing, but {old.version} does: {tried.detail}",
                    reason=NativeFailure.NOT_READY,
                    advice="Try again in a few days.",
                )
        finally:
            await trial.stop()

    async def _resume(self, old: Installed) -> None:
        """Undo an update: start the old version again."""
        await self.process.stop()
        self.folder.switch(old)
        self.starting.start(self.process, old, port=old.port)

    async def _end(self) -> None:
        if not await self.process.stop():
            raise OwnInstanceError(
                "The instance's process cannot be stopped.",
                reason=NativeFailure.NOT_READY,
                advice="Stop it by hand: `searx-mcp instances own status` shows its process ID.",
            )

    async def _finished(self, done: Done, steps: _Steps) -> NativeInstanceUp:
        steps.begin("", "")
        now = await self.status()
        values = now.model_dump() | {"notes": (*now.notes, *filter(None, steps.notes))}
        return NativeInstanceUp.model_validate({**values, "done": done, "seconds": steps.seconds})


@asynccontextmanager
async def open_native(
    settings: Settings, state: StateStore, *, progress: Progress
) -> AsyncIterator[NativeRunner]:
    """Open a `NativeRunner` on the state shared by all processes of the user.

    Args:
        settings: of downloads, packages and files.
        state: the shared store; closed at the end.
        progress: called with each step.

    Raises:
        SettingsError: nothing is stored on disk, so no server would know of the instance.
    """
    if (kept := settings.state_folder()) is None:
        raise SettingsError(
            "storage.state",
            "your own instance is recorded in the state, which is off",
            advice="Turn it on, or run SearXNG by hand and set SEARXNG_URL to its address.",
        )
    folder, environ = NativeFolder(kept / NATIVE_FOLDER), os.environ
    allow = AllowList.parse(settings.fetch.allow_private)
    async with Sessions(settings.network, allow=allow) as sessions, aclosing(state):
        probe = Probe(sessions)
        yield NativeRunner(
            folder=folder,
            state=state,
            sources=Sources(lambda: sessions.pages, settings.own.source),
            probe=probe,
            starting=Starting(
                folder, is_alive=probe.is_alive, environ=environ, idle=settings.own.idle
            ),
            network=settings.network,
            configured=settings.instances.own,
            environ=environ,
            clock=time.time,  # noqa: TID251 - compared with the date of a release
            progress=progress,
        )


@contextmanager
def _kept() -> Iterator[None]:
    """Add to a failed update's error that the version in use is unchanged."""
    try:
        yield
    except OwnInstanceError as error:
        error.advice = f"The old version stays. {error.advice}"
        raise


def _check_system() -> None:
    if sys.platform == "win32":
        raise OwnInstanceError(
            "SearXNG does not run on Windows; it needs a Unix system.",
            reason=NativeFailure.UNSUPPORTED,
            advice="Run searx-mcp in WSL (https://learn.microsoft.com/windows/wsl/install), or run"
            " SearXNG with Docker and pass its address to `searx-mcp instances add`.",
        )

"""Files of an own instance: its settings, versions and environments."""

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from searx_mcp.files import make_private_file, make_private_folder, read_text
from searx_mcp.models.own_instance import Installed, NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError, disk_full, written
from searx_mcp.ops.own.settings_file import native_settings

VERSIONS: Final = "versions"
"""Name of the folder inside its own, with a folder for each version."""
ROOM: Final = 157_286_400
"""Bytes that must be free: a version takes up 106 million, and pip more while it installs."""
_MAX_RECORD: Final = 16_384
_MAX_SETTINGS: Final = 1_048_576
_POLL: Final = 0.1
"""Seconds between two looks whether another process of ours has done its work."""


class NativeFolder:
    """Files of an instance: its settings, its versions, and which of them is in use.

    All of it is for the user alone.

    Args:
        path: of the folder; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.settings = self.path / "settings.yml"
        self.run = self.path / "run"
        self._versions = self.path / VERSIONS
        self._current = self.path / "current.json"
        # Beside the folder, which `remove` removes while others wait for their turn.
        self._lock = self.path.with_suffix(".lock")

    @property
    def recorded(self) -> Installed | None:
        """The version that was installed last, or `None`."""
        try:
            return Installed.model_validate_json(read_text(self._current, _MAX_RECORD))
        except (OSError, ValidationError):
            return None

    @property
    def installed(self) -> Installed | None:
        """The version that can be started, or `None`."""
        found = self.recorded
        # An interpreter that was updated or removed takes its environments with it.
        is_whole = found is not None and python_of(self.environment(found.folder)).exists()
        return found if is_whole else None

    def source(self, version: str) -> Path:
        """The source of a version, by the name of its folder."""
        return self._versions / version / "source"

    def environment(self, version: str) -> Path:
        """The environment of a version, by the name of its folder."""
        return self._versions / version / "environment"

    def trial(self, version: str) -> Path:
        """The folder of a process that tries a version, by the name of its folder."""
        return self._versions / version / "trial"

    def prepare(self, proxy: str) -> None:
        """Make the folder, and the settings unless they are there.

        Args:
            proxy: through which engines are asked; empty for none.

        Raises:
            OwnInstanceError: `not_writable` or `disk_full`.
        """
        with written(self.path):
            for folder in (self.path.parent, self.path, self._versions, self.run):
                make_private_folder(folder)
            self.path.chmod(0o700)
            if not self.settings.exists():
                make_private_file(self.settings)
                text = native_settings(secrets.token_hex(32), proxy=proxy)
                self.settings.write_text(text, encoding="utf-8")

    def settings_text(self) -> str:
        """The settings as they are; empty if they cannot be read."""
        with contextlib.suppress(OSError):
            return read_text(self.settings, _MAX_SETTINGS)
        return ""

    def make_version(self) -> str:
        """Make the folder of a version, and give its name.

        Raises:
            OwnInstanceError: `not_writable`, or `disk_full`: looked at before, since installers that run
                out of room fail in many words.
        """
        name = secrets.token_hex(6)
        with written(self.path):
            if shutil.disk_usage(self._versions).free < ROOM:
                raise disk_full()
            make_private_folder(self.trial(name))
        return name

    def switch(self, installed: Installed) -> None:
        """Say which version is in use from now on."""
        with written(self.path):
            draft = self._current.with_suffix(".new")
            draft.write_text(installed.model_dump_json(), encoding="utf-8")
            draft.replace(self._current)

    def remove_version(self, name: str) -> None:
        """Remove a version and what it left."""
        shutil.rmtree(self._versions / name, ignore_errors=True)

    def tidy(self) -> None:
        """Remove the versions that are not in use: an update or an `up` was cut off."""
        installed = self.installed
        with contextlib.suppress(OSError):
            for folder in self._versions.iterdir():
                if installed is None or folder.name != installed.folder:
                    self.remove_version(folder.name)

    def forget_current(self) -> None:
        """Say that nothing is in use, so that no search starts it."""
        self._current.unlink(missing_ok=True)

    def remove(self, *, keep_settings: bool) -> None:
        """Remove everything, but perhaps the settings; harmless when nothing is there."""
        if not keep_settings:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for folder in (self._versions, self.run):
            shutil.rmtree(folder, ignore_errors=True)
        self.forget_current()

    @asynccontextmanager
    async def changed(self, deadline: float) -> AsyncIterator[None]:
        """Keep other processes of ours from changing anything meanwhile.

        Args:
            deadline: instant on the running loop's clock by which it must be our turn.

        Raises:
            OwnInstanceError: `busy`, or `not_writable`.
        """
        import fcntl  # noqa: PLC0415 - POSIX alone, as SearXNG is

        with written(self.path):
            make_private_folder(self.path.parent)
            lock = self._lock.open("ab")
        with lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as exc:
                    if asyncio.get_running_loop().time() >= deadline:
                        raise _busy() from exc
                await asyncio.sleep(_POLL)
            yield


def python_of(environment: Path) -> Path:
    """The interpreter of an environment."""
    return environment / "bin" / "python"


def _busy() -> OwnInstanceError:
    return OwnInstanceError(
        "Another process is installing or updating the instance.",
        reason=NativeFailure.BUSY,
        advice="Wait for it, then try again.",
    )

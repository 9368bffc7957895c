"""The folder of an instance in a container: its settings file, and where it is published."""

import contextlib
import secrets
import shutil
from pathlib import Path
from typing import Final

from searx_mcp.errors import SettingsError
from searx_mcp.files import make_private_folder, read_text
from searx_mcp.models.instance import base_url
from searx_mcp.ops.own.settings_file import settings_yaml

FOLDER_NAME: Final = "own-instance"
"""Name of the folder inside the state folder."""
_MAX_URL: Final = 4_096


class OwnFolder:
    """Files of an instance in a container.

    The folder is for the user alone. The settings file in it may be read by all who get there: the
    engine mounts it by itself, and inside the container another user than ours may have to read it.

    Args:
        path: of the folder; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._url = self._path / "url"
        self._settings = self._path / "settings.yml"

    @property
    def settings(self) -> Path | None:
        """Path of the settings file, or `None` if there is none."""
        return self._settings if self._settings.is_file() else None

    @property
    def url(self) -> str | None:
        """Base URL of the instance that was set up last, or `None`."""
        with contextlib.suppress(OSError, ValueError):
            return base_url(read_text(self._url, _MAX_URL).strip())
        return None

    def prepare(self, url: str) -> Path:
        """Note where the instance is published, and write its settings unless they are there.

        Returns:
            The path of the settings file.

        Raises:
            SettingsError: the folder cannot be written to.
        """
        try:
            for folder in (self._path.parent, self._path):
                make_private_folder(folder)
            self._path.chmod(0o700)
            self._url.write_text(f"{url}\n", encoding="utf-8")
            if not self._settings.exists():
                text = settings_yaml(secrets.token_hex(32))
                self._settings.write_text(text, encoding="utf-8", newline="\n")
                self._settings.chmod(0o644)
        except OSError as exc:
            raise SettingsError(
                "storage.folder",
                f"{self._path} cannot be written to: {exc.strerror}",
                advice="Make it writable, or name another folder.",
            ) from exc
        return self._settings

    def forget(self, *, keep_settings: bool) -> None:
        """Delete what `prepare` made; harmless when nothing is there."""
        self._url.unlink(missing_ok=True)
        if not keep_settings:
            shutil.rmtree(self._path, ignore_errors=True)

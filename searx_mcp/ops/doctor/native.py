"""Checks of the instance that `instances own up` made: whether it runs, is up to date and whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from searx_mcp.models.own_instance import Installed
from searx_mcp.ops.doctor.course import Finding, doubtful, fine, skipped
from searx_mcp.ops.doctor.engines import listed_engines
from searx_mcp.ops.own.installation import FOLDER_NAME, NativeFolder
from searx_mcp.ops.own.native_process import NativeProcess
from searx_mcp.ops.own.settings_file import missing_engines

MOST_DAYS: Final = 60
"""Days after which a version is old: in a month 3 to 23 commits of SearXNG mend engines."""

_DAY: Final = 86_400
_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class Native:
    """The instance, as its folder tells of it.

    Attributes:
        installed: what is installed.
        settings: the text of its settings file.
        is_running: whether its process is there.
    """

    installed: Installed
    settings: str
    is_running: bool

    def check_process(self) -> Finding:
        """Say whether it runs."""
        if self.is_running:
            return fine("It runs as a process of this machine.")
        return doubtful(
            "It does not run; the next search starts it.",
            "Start it now, and see what it says.\nsearx-mcp instances own up",
        )

    def check_version(self, config: str, now: float) -> Finding:
        """Compare its age with how often engines are mended, and its engines with its settings.

        Args:
            config: the text of its `/config`; empty if it is not known.
            now: Unix seconds.
        """
        installed = self.installed
        listed = [each.name for each in listed_engines(config)]
        if not listed:
            return skipped("Its /config does not list its engines.")
        missing = missing_engines(self.settings, listed)
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            return doubtful(
                f"It lacks engines that its settings keep: {', '.join(missing[:_SHOWN])}{more}.",
                "SearXNG leaves out what it does not know or could not start: remove their names from"
                " its settings, or try another version.\nsearx-mcp instances own update",
            )
        days = int((now - installed.released_at) // _DAY)
        if days > MOST_DAYS:
            return doubtful(
                f"{installed.version} is {days} days old; engines follow the sites they read.",
                "Update it; the old version stays if the new one serves less."
                "\nsearx-mcp instances own update",
            )
        return fine(f"{installed.version} is {days} days old and has every engine it should.")


def native_instance(folder: Path | None) -> Native | None:
    """The instance whose files are in a state folder, or `None` if there is none."""
    if folder is None:
        return None
    files = NativeFolder(folder / FOLDER_NAME)
    installed = files.recorded
    if installed is None:
        return None
    return Native(installed, files.settings_text(), NativeProcess(files.run).is_held)

"""Which program is Chromium on this machine, and whether it can be driven."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from searx_mcp.errors import SettingsError

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
"""Where installers put it on systems that do not put it on the path."""


def check_support() -> None:
    """Check that what drives the browser is installed.

    Raises:
        SettingsError: it is not.
    """
    if find_spec("playwright") is None:
        raise SettingsError(
            "fetch.browser",
            "running the scripts of pages needs a library that is not installed",
            advice="Install the extra: pip install 'searx-mcp[browser]'.",
        )


def find_program(configured: str, *, path: str | None = None, platform: str = sys.platform) -> Path:
    """Find the browser.

    Args:
        configured: the value of `fetch.browser_path`; empty to look for the system's.
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
                "there is no such program",
                advice="Name the program of Chromium or Chrome, or leave it empty.",
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
        "Chromium is not installed where it was looked for",
        advice="Install it, on Debian with apt-get install chromium, or name its program.",
    )

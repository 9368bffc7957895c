"""This machine: configuration, data folder, clock, and the instance that `instances own up` made."""

import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from searx_mcp.errors import SettingsError
from searx_mcp.files import network_filesystem
from searx_mcp.models.instance import InstanceReport
from searx_mcp.models.own_instance import Installed
from searx_mcp.models.spelling import counted
from searx_mcp.ops.doctor.checks import (
    Finding,
    broken,
    doubtful,
    fine,
    skipped,
)
from searx_mcp.ops.doctor.engines import listed_engines, shortened
from searx_mcp.ops.own.installation import NativeFolder, missing_engines
from searx_mcp.ops.own.native_process import NativeProcess
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.settings.sources import DEFAULT
from searx_mcp.sources.open.config import GOOGLE_ENDS, ProvidersConfig, ProvidersMode

MOST_DAYS: Final = 60
"""Days from which a version is old: each month 3 to 23 commits of SearXNG fix engines."""
CLOCK_TOLERANCE: Final = 300.0
"""Seconds by which clocks may differ: budgets of minutes and hours are not affected."""
LITTLE_SPACE: Final = 50 * 1_048_576
"""Bytes that must be free; the state of a year is far smaller, and SQLite needs room for its log."""
_CONTAINER_SIGNS: Final = (".dockerenv", "run/.containerenv")
"""Files that Docker and podman create in every container."""
_DAY: Final = 86_400


def in_container(root: Path = Path("/")) -> bool:
    """Return whether this process runs in a container of Docker or podman."""
    return any((root / sign).exists() for sign in _CONTAINER_SIGNS)


def check_configuration(origins: Mapping[str, str]) -> Finding:
    """Report where the settings come from; they have been read successfully by now."""
    sources = Counter(origin for origin in origins.values() if origin != DEFAULT)
    if not sources:
        return fine("All settings are at their defaults.")
    return fine(f"{counted(sources.total(), 'setting')} from {', '.join(sorted(sources))}.")


def misconfigured(error: SettingsError) -> Finding:
    """Report which setting is invalid, and where it was set."""
    place = error.origin.removeprefix("file ") or "the configuration"
    fix = error.advice or f"Correct or remove {error.field} in {place}."
    return broken(_sentence(error.message), fix)


def check_contact(contact: str) -> Finding:
    """Report whether operators of open sources can reach the user, which they expect."""
    if contact:
        return fine(f"Open sources that ask for a contact get {contact}.")
    return doubtful(
        "Requests to open sources have no contact address: Wikipedia,"
        " Commons and Crossref allow fewer, crates.io may refuse.",
        "Set an email address or web page where their operators can reach you.\n"
        '[open_sources]\ncontact = "you@example.org"',
    )


def check_providers(
    providers: ProvidersConfig, rows: Sequence[InstanceReport], now: float
) -> Finding | None:
    """Report which keyed providers have a key and the rest of their budgets; `None` if none has a key.

    No request is sent, since that costs money: a search shows whether a key is valid.

    Args:
        providers: the `[providers]` table.
        rows: those that are completely configured.
        now: Unix seconds.
    """
    google, brave = providers.google, providers.brave
    if not (google.key.get_secret_value() or brave.key.get_secret_value()):
        return None
    if providers.mode is ProvidersMode.OFF:
        return fine("Keys are set, but providers.mode is off: keyed providers are not used.")
    said = [f"{row.source} has a key, {_allowance(row)}" for row in rows]
    if google.key.get_secret_value() and not google.search_engine_id:
        # GOOGLE_API_KEY may be set for another program.
        said.append("google has a key but no search_engine_id, so it is not used")
    detail = f"{'; '.join(said)}."
    refusing = [row for row in rows if row.retry_after and row.budget_left]
    if (
        any(row.source == "google" for row in rows)
        and datetime.fromtimestamp(now, UTC).date() >= GOOGLE_ENDS
    ):
        return doubtful(
            f"{detail} Google ended its API on {GOOGLE_ENDS}.",
            "Remove GOOGLE_API_KEY; Brave's API is an alternative.",
        )
    if refusing:
        hosts = ", ".join(row.url for row in refusing)
        return doubtful(
            f"{detail} In cooldown: {hosts}",
            f"Look up the reason; it may be a wrong key.\nsearx-mcp instances show {refusing[0].url}",
        )
    return fine(detail)


def _allowance(row: InstanceReport) -> str:
    return f"{row.budget_left:,} requests left" if row.budget_left else "and its budget is spent"


def check_data_folder(folder: Path | None, problem: str) -> Finding:
    """Check the state's folder, which the store has opened by now.

    Args:
        folder: of the state; `None` in memory.
        problem: of the store; empty if all is well.
    """
    if problem:
        reason, _, advice = problem.removesuffix(".").rpartition(". ")
        return broken(_sentence(reason or problem), _sentence(advice))
    if folder is None:
        return fine("The state is kept in memory, as configured.")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return broken(
            f"{folder} is not a writable folder.",
            f"Make it writable for this user.\nmkdir -p {folder} && chmod u+rwx {folder}",
        )
    if kind := network_filesystem(folder):
        return broken(
            f"{folder} is on a network file system ({kind}).",
            'Set a folder on a local disk in the configuration.\n[storage]\nfolder = "/var/lib/searx-mcp"',
        )
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        return doubtful(
            f"The disk of {folder} has {free / 1e6:.0f} MB left.", "Free up space on that disk."
        )
    return fine(f"{folder} can be written; {free / 1e9:.1f} GB are free.")


def check_clock(offsets: Mapping[str, float]) -> Finding:
    """Compare the clock with those of the hosts that answered.

    Args:
        offsets: seconds by which a host's clock is ahead of ours, by host.
    """
    if not offsets:
        return skipped("No server answered with a date.")
    host, offset = min(offsets.items(), key=lambda item: abs(item[1]))
    if abs(offset) <= CLOCK_TOLERANCE:
        return fine(f"It agrees with that of {host}.")
    return doubtful(
        f"It is {abs(offset) / 60:.0f} minutes {'behind' if offset > 0 else 'ahead of'} that of"
        f" {host}.",
        "Correct the clock that is wrong; on Linux, permanently:\ntimedatectl set-ntp true",
    )


@dataclass(frozen=True, slots=True)
class Native:
    """The own instance, according to its folder.

    Attributes:
        installed: what is installed.
        settings: the text of its settings file.
        is_running: whether its process is running.
    """

    installed: Installed
    settings: str
    is_running: bool

    def check_process(self) -> Finding:
        """Report whether it is running."""
        if self.is_running:
            return fine("It runs as a process of this machine.")
        return doubtful(
            "Not running; the next search starts it.",
            "Start it now and look at the output.\nsearx-mcp instances own up",
        )

    def check_version(self, config: str, now: float) -> Finding:
        """Compare its age with how often engines are fixed, and its engines with its settings.

        Args:
            config: the text of its `/config`; empty if unknown.
            now: Unix seconds.
        """
        installed = self.installed
        listed = [each.name for each in listed_engines(config)]
        if not listed:
            return skipped("Its /config does not list its engines.")
        missing = missing_engines(self.settings, listed)
        if missing:
            return doubtful(
                f"Engines in its settings are missing: {shortened(missing)}.",
                "SearXNG drops engines it does not know or could not start:"
                " remove them from its settings or try another version.\nsearx-mcp instances own update",
            )
        days = int((now - installed.released_at) // _DAY)
        if days > MOST_DAYS:
            return doubtful(
                f"{installed.version} is {days} days old; engines must keep up with the sites they read.",
                "Update it; the old version stays if the new one does worse."
                "\nsearx-mcp instances own update",
            )
        return fine(f"{installed.version} is {days} days old and has every engine it should.")


def native_instance(folder: Path | None) -> Native | None:
    """Return the instance in a state folder, or `None` if there is none."""
    if folder is None:
        return None
    files = NativeFolder(folder / NATIVE_FOLDER)
    installed = files.recorded
    if installed is None:
        return None
    return Native(installed, files.settings_text(), NativeProcess(files.run).is_held)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."

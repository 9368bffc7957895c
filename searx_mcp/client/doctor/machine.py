"""Checks of this machine: configuration, data folder, clock."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from searx_mcp.client.doctor.course import Finding, broken, doubtful, fine, skipped
from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import DEFAULT
from searx_mcp.storage.filesystem import network_filesystem

CLOCK_TOLERANCE: Final = 300.0
"""Seconds by which clocks may differ: budgets of minutes and hours do not notice that."""

LITTLE_SPACE: Final = 50 * 1_048_576
"""Bytes; the state of a year is far smaller, and SQLite wants room for its log."""

_CONTAINER_SIGNS: Final = (".dockerenv", "run/.containerenv")
"""Files that Docker and podman put into every container."""


def in_container(root: Path = Path("/")) -> bool:
    """Whether this process runs in a container of Docker or podman."""
    return any((root / sign).exists() for sign in _CONTAINER_SIGNS)


def check_configuration(origins: Mapping[str, str]) -> Finding:
    """Say where the settings come from; that they could be read is known by now."""
    sources = Counter(origin for origin in origins.values() if origin != DEFAULT)
    if not sources:
        return fine("No setting differs from its default.")
    count = sources.total()
    return fine(f"{count} {'settings' if count > 1 else 'setting'} from {_listed(sources)}.")


def misconfigured(error: SettingsError) -> Finding:
    """Say which setting cannot be used, and where it stands."""
    place = error.origin.removeprefix("file ") or "the configuration"
    fix = error.advice or f"Correct or remove {error.field} in {place}."
    return broken(_sentence(error.message), fix)


def check_contact(contact: str) -> Finding:
    """Say whether operators of open sources can reach whoever runs this program; they judge by it."""
    if contact:
        return fine(f"Operators of open sources who ask for one are told {contact}.")
    return doubtful(
        "Open sources are asked without a contact: Wikipedia, Commons and Crossref allow less,"
        " crates.io may refuse.",
        "Name a mail address or page of yours, by which their operators reach you.\n"
        '[open_sources]\ncontact = "you@example.org"',
    )


def check_data_folder(folder: Path | None, problem: str) -> Finding:
    """Look at the folder of the state, which the store has opened by now.

    Args:
        folder: where the state is kept; `None` in memory.
        problem: what the store says about it; empty if all is well.
    """
    if problem:
        reason, _, advice = problem.removesuffix(".").rpartition(". ")
        return broken(_sentence(reason or problem), _sentence(advice))
    if folder is None:
        return fine("The state is kept in memory, as configured.")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return broken(
            f"{folder} is not a folder that can be written.",
            f"Make it one for this user.\nmkdir -p {folder} && chmod u+rwx {folder}",
        )
    if kind := network_filesystem(folder):
        return broken(
            f"{folder} is on a network file system ({kind}).",
            'Name a folder on a local disk in the configuration.\n[storage]\nfolder = "/var/lib/searx-mcp"',
        )
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        return doubtful(
            f"The disk of {folder} has {free / 1e6:.0f} MB left.", "Make room on that disk."
        )
    return fine(f"{folder} can be written; {free / 1e9:.1f} GB are free.")


def check_clock(offsets: Mapping[str, float]) -> Finding:
    """Compare the clock with those of the hosts that answered.

    Args:
        offsets: seconds by which a host's clock is ahead of ours, by host.
    """
    if not offsets:
        return skipped("Nobody answered with a date.")
    host, offset = min(offsets.items(), key=lambda item: abs(item[1]))
    if abs(offset) <= CLOCK_TOLERANCE:
        return fine(f"It agrees with that of {host}.")
    return doubtful(
        f"It is {abs(offset) / 60:.0f} minutes {'behind' if offset > 0 else 'ahead of'} that of"
        f" {host}.",
        "Set the clock that is wrong; on Linux, for good:\ntimedatectl set-ntp true",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."

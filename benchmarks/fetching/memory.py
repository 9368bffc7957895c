"""What a process takes of the machine's memory, as Linux counts it. Standard library only."""

from pathlib import Path
from typing import Final

_SELF: Final = Path("/proc/self")
_RESET_PEAK: Final = "5"  # proc(5)

IS_MEASURED: Final = (_SELF / "status").exists() and (_SELF / "clear_refs").exists()
"""Whether the system says; only Linux does in this form."""


def resident() -> float:
    """The megabytes that are in memory now."""
    return megabytes("VmRSS")


def peak() -> float:
    """The most megabytes that were in memory since `forget_peak`."""
    return megabytes("VmHWM")


def forget_peak(process: Path = _SELF) -> None:
    """Count the peak from here on.

    Args:
        process: its folder in `/proc`.
    """
    (process / "clear_refs").write_text(_RESET_PEAK)


def megabytes(name: str, process: Path = _SELF) -> float:
    """A figure of a process.

    Args:
        name: its name in proc_pid_status(5).
        process: its folder in `/proc`.
    """
    for line in (process / "status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1_024
    raise RuntimeError(f"no {name} in {process}")

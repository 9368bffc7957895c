"""What a process takes of the machine's memory, as Linux counts it. Standard library only."""

from pathlib import Path
from typing import Final

_STATUS: Final = Path("/proc/self/status")
_CLEAR: Final = Path("/proc/self/clear_refs")
_RESET_PEAK: Final = "5"  # proc(5)

IS_MEASURED: Final = _STATUS.exists() and _CLEAR.exists()
"""Whether the system says; only Linux does in this form."""


def resident() -> float:
    """The megabytes that are in memory now."""
    return _megabytes("VmRSS")


def peak() -> float:
    """The most megabytes that were in memory since `forget_peak`."""
    return _megabytes("VmHWM")


def forget_peak() -> None:
    """Count the peak from here on."""
    _CLEAR.write_text(_RESET_PEAK)


def _megabytes(name: str) -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1_024
    raise RuntimeError(f"no {name} in {_STATUS}")

"""Lengths and sizes as SearXNG writes them, so that rows of instances and of open sources read alike."""

from datetime import timedelta
from typing import Final

_MAX_SECONDS: Final = 10**9
"""Over 30 years; longer is no length of anything."""
_UNIT: Final = 1024
_UNITS: Final = ("kiB", "MiB", "GiB")


def length(seconds: float | None) -> str:
    """A duration as `0:45:32`; empty if unknown."""
    if seconds is None or not 0 < seconds <= _MAX_SECONDS:
        return ""
    return str(timedelta(seconds=round(seconds)))


def size(count: float | None) -> str:
    """So many bytes as `1.50 MiB`; empty if unknown."""
    if count is None or count < 0:
        return ""
    if count < _UNIT:
        return f"{count:g} Bytes"
    for unit in _UNITS:
        count /= _UNIT
        if count < _UNIT:
            return f"{count:.2f} {unit}"
    return f"{count / _UNIT:.2f} TiB"

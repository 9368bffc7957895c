"""Lengths and sizes as SearXNG writes them, so that rows of both kinds read alike."""

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


def size(count: int | None) -> str:
    """So many bytes as `1.50 MiB`; empty if unknown."""
    if not count:
        return ""
    if count < _UNIT:
        return f"{count} Bytes"
    amount = float(count)
    for unit in _UNITS:
        amount /= _UNIT
        if amount < _UNIT:
            return f"{amount:.2f} {unit}"
    return f"{amount / _UNIT:.2f} TiB"
